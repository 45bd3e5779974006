"""The report of every kind of fit: what is in it, and what never is."""

import re
import sys

import numpy as np
import pytest
from pages import HOSTILE, fit, hostile, plain, points, read, sections, shapes

from problems import shifted_pair

pytest.importorskip("jinja2", reason="reports need jinja2")

EVERYTHING = ["map", "check", "classes", "confidence", "look", "shift", "choice", "iterations", "origin"]


@pytest.fixture(scope="module")
def whole():
    model, X, y, X_target, y_target = plain()
    return model.report(X=X, y=y, X_target=X_target, y_true=y_target)


def test_with_rows_and_labels_the_page_has_every_section(whole):
    assert sections(whole) == EVERYTHING


def test_without_rows_the_page_has_what_the_fit_kept():
    model = plain()[0]
    assert sections(model.report()) == ["classes", "confidence", "look", "choice", "iterations", "origin"]


def test_the_first_screen_says_what_how_far_and_what_to_worry_about(whole):
    model = plain()[0]
    words = read(whole)[1]
    low, high = model.estimated_accuracy_interval_
    start = words[: words.index("Both domains, before and after")]
    assert f"{100 * model.estimated_accuracy_:.0f} %" in start
    assert f"between {100 * low:.0f} and {100 * high:.0f} %" in start
    assert "What was transferred" in start
    assert "What to worry about" in start
    accuracy = np.mean(model.transduction_ == plain()[4])
    assert f"{100 * accuracy:.1f} % are right" in start


@pytest.mark.parametrize("name", list(shapes()))
def test_every_kind_of_fit_has_a_page(name):
    model, rows = shapes()[name]
    bare, full = model.report(), model.report(**rows)
    assert sections(bare)[-1] == sections(full)[-1] == "origin"
    for page in (bare, full):
        assert "nan" not in read(page)[1].lower().split()
        assert "None" not in read(page)[1].replace("Seed None", "").split("Origin")[0]
    wanted = {
        "several": {"map", "check", "shift"},
        "widths": {"map", "check"},
        "no target": {"map"},
        "stack": {"map", "check", "shift"},
        "target alone": {"map"},
        "labels alone": {"check", "classes"},
    }.get(name, {"map", "classes", "shift"})
    assert wanted <= set(sections(full))


def test_domains_of_different_widths_are_drawn_by_themselves_before():
    model, rows = shapes()["widths"]
    found = points(model.report(**rows))
    assert len(found["panels"]) == 3
    source, target, after = (np.array([x is not None for x in xs]) for xs, _ in found["panels"])
    assert (source ^ target).all()
    assert after.all()


def test_given_labels_are_not_scored():
    model, rows = shapes()["widths"]
    free = rows["y_target"] == -1
    words = read(model.report(**rows))[1]
    accuracy = np.mean(model.transduction_[free] == rows["y_true"][free])
    assert f"{100 * accuracy:.1f} % of {free.sum()} rows are right" in words


def test_no_string_of_the_data_becomes_markup():
    model, rows = hostile()
    page = model.report(**rows, title=HOSTILE[0], command=HOSTILE[1])
    tags, words = read(page)
    assert not [tag for tag, _ in tags if tag in {"img", "iframe", "object"}]
    assert not [name for _, attributes in tags for name in attributes if name.startswith("on")]
    assert sum(tag == "script" for tag, _ in tags) == 2
    assert "<script>alert(1)</script>" in words  # as text
    assert "{{ 7 * 7 }}" in words
    assert "‮" not in page
    assert "x" * 100 not in page
    assert HOSTILE[0] in points(page)["classes"] or "…" in points(page)["classes"][0]


def test_the_page_asks_for_nothing(whole):
    bare = whole.replace("http://www.w3.org/2000/svg", "")
    assert not re.findall(r"https?:|[\"'(]//", bare)
    assert "@import" not in bare
    assert "url(" not in bare
    assert [a.get("href") for tag, a in read(whole)[0] if tag == "link"] == ["data:,"]


def test_five_thousand_rows_take_less_than_two_megabytes_and_more_are_sampled():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 6000)
    X = rng.normal(size=(6000, 8)) + 3 * np.eye(4, 8)[y]
    model = fit(X[:2000], y[:2000], X[2000:] + 1, candidates=None, max_iter=2)
    page = model.report(X=X[:2000], y=y[:2000], X_target=X[2000:] + 1, layout="pca")
    assert len(page.encode()) < 2e6
    assert len(points(page)["ids"]) == 5000
    assert "5,000 rows of 6,000, drawn at random." in read(page)[1]


def test_drawings_and_tables_have_names_for_those_who_do_not_see_them(whole):
    tags, _ = read(whole)
    assert all(a.get("aria-label") for tag, a in tags if tag == "svg")
    assert all(a.get("role") == "img" for tag, a in tags if tag == "svg")
    assert all(a.get("scope") in {"col", "row"} for tag, a in tags if tag == "th")
    ids = [a["id"] for _, a in tags if "id" in a]
    assert len(ids) == len(set(ids))
    assert {a["href"][1:] for tag, a in tags if tag == "a"} <= set(ids)
    assert {a["aria-labelledby"] for _, a in tags if "aria-labelledby" in a} <= set(ids)


def test_the_file_is_written_whole_and_an_existing_one_is_kept(tmp_path):
    model = plain()[0]
    path = tmp_path / "report.html"
    page = model.report(path)
    assert path.read_text(encoding="utf-8") == page
    with pytest.raises(FileExistsError, match=r"report.html exists and was kept. .*overwrite=True"):
        model.report(path, title="other")
    assert path.read_text(encoding="utf-8") == page
    model.report(path, title="other", overwrite=True)
    assert "other" in path.read_text(encoding="utf-8")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(IsADirectoryError, match="is a directory"):
        model.report(tmp_path)
    with pytest.raises(FileNotFoundError, match="does not exist"):
        model.report(tmp_path / "no" / "report.html")


def test_titles_commands_files_ids_and_columns_are_shown(tmp_path):
    model, X, y, X_target, _ = plain()
    file = tmp_path / "source.csv"
    file.write_bytes(b"abc")
    ids = [f"plate {i}" for i in range(len(X_target))]
    columns = [f"sensor {j}" for j in range(X.shape[1])]
    page = model.report(
        X=X, y=y, X_target=X_target, title="My title", command="lpjt adapt a b", files=[file], ids=ids, columns=columns
    )
    words = read(page)[1]
    assert "My title" in words
    assert "lpjt adapt a b" in words
    assert "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" in words
    assert "plate " in words
    assert "sensor " in words
    assert set(points(page)["columns"][0]) <= set(columns)
    bare = read(model.report(X=X, y=y, X_target=X_target))[1]
    assert "model = LPJT(random_state=0).fit(X, y, X_target)" in bare
    assert not {"plate", "sensor", "My"} & set(bare.split())


def test_layout_and_max_rows_act():
    model, X, y, X_target, _ = plain()
    rows = {"X": X, "y": y, "X_target": X_target}
    near, flat = (points(model.report(**rows, layout=name, max_rows=40)) for name in ("tsne", "pca"))
    assert len(near["ids"]) == len(flat["ids"]) == 40
    assert near["panels"] != flat["panels"]


def test_the_same_model_gives_the_same_page():
    model, X, y, X_target, _ = plain()
    first, second = (model.report(X=X, y=y, X_target=X_target) for _ in range(2))
    made = re.compile(r"Made [^.]*\.")
    assert made.sub("", first) == made.sub("", second)


def test_a_report_changes_no_model_and_no_rows():
    model, X, y, X_target, _ = plain()
    before, names = X.copy(), sorted(vars(model))
    model.report(X=X, y=y, X_target=X_target)
    np.testing.assert_array_equal(before, X)
    assert sorted(vars(model)) == names


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ({"X_target": np.zeros((3, 5))}, "X_target has 3 rows .* Give a report the rows that were given to fit"),
        ({"ids": ["a"]}, "ids has 1 entries"),
        ({"columns": ["a"]}, "columns has 1 names"),
        ({"layout": "umap"}, "layout='umap' is not one of 'tsne', 'pca'"),
        ({"max_rows": 1}, "max_rows=1 leaves no rows to draw"),
        ({"sample_domain": [0, -1]}, "sample_domain marks the rows of one stack"),
        ({"X": {"a": np.zeros((4, 5))}}, "X has no domain 'source' of the fit"),
    ],
)
def test_errors_name_the_value_and_the_remedy(rows, words):
    X, y, X_target, _ = shifted_pair(width=5)
    model = fit(X, y, X_target, candidates=None)
    with pytest.raises(ValueError, match=words):
        model.report(**rows)


def test_without_jinja_one_sentence_says_what_to_install(monkeypatch, tmp_path):
    from lpjt.report.page import environment

    monkeypatch.setitem(sys.modules, "jinja2", None)
    environment.cache_clear()
    with pytest.raises(ImportError, match=r"pip install 'lpjt\[report\]'"):
        plain()[0].report(tmp_path / "report.html")
    environment.cache_clear()


def test_a_notebook_shows_the_verdict_above_the_diagram():
    model, _ = hostile()
    shown = model._repr_html_()
    assert "estimated accuracy" in shown
    assert "<script>alert(1)" not in shown
    assert shown.index("estimated accuracy") < shown.index("sk-top-container")
    assert model._repr_mimebundle_()["text/html"].startswith("<div")
    fresh = type(model)()
    assert "estimated accuracy" not in fresh._repr_html_()


def test_columns_in_another_order_keep_their_names_and_values():
    pandas = pytest.importorskip("pandas", reason="frames need pandas")
    X, y, X_target, _ = shifted_pair(width=3)
    frame, other = (
        pandas.DataFrame(X, columns=list("abc")),
        pandas.DataFrame(X_target[:, [2, 0, 1]], columns=list("cab")),
    )
    found = points(fit(frame, y, other, candidates=None).report(X=frame, y=y, X_target=other))
    row = found["domain"].index(1)
    for name, value in zip(found["columns"][1], found["values"][row], strict=True):
        assert float(value) == pytest.approx(other.loc[int(found["ids"][row]), name], rel=1e-3)


@pytest.mark.parametrize("width", [1, 2])
def test_few_columns_are_drawn(width):
    X, y, X_target, _ = shifted_pair(width=width)
    page = fit(X, y, X_target, candidates=None).report(X=X, y=y, X_target=X_target)
    assert "map" in sections(page)


def test_few_rows_and_many_classes_have_a_page():
    X, y, X_target, y_target = shifted_pair(n_source=160, n_target=120, n_classes=40, width=30)
    page = fit(X, y, X_target, candidates=None).report(X=X, y=y, X_target=X_target, y_true=y_target)
    words = read(page)[1]
    assert "and 16 more" in words
    assert "10 smaller classes are not shown" in words
    small = fit(X[[0, 1, 40, 41]], y[[0, 1, 40, 41]], X_target[:3], candidates=None)
    assert "map" in sections(small.report(X=X[[0, 1, 40, 41]], y=y[[0, 1, 40, 41]], X_target=X_target[:3]))


def test_dask_rows_are_refused_with_the_remedy():
    dask_array = pytest.importorskip("dask.array", reason="lazy rows need dask")
    model, X, *_ = plain()
    with pytest.raises(ValueError, match=r"X is a Dask collection.* or leave the rows out"):
        model.report(X=dask_array.from_array(X))


def test_a_page_has_no_command_to_a_terminal():
    """A page is also looked at with cat and less; a title or a command line may hold anything."""
    model, X, y, X_target, _ = plain()
    ids = [f"row\x1b[31m{i}\x9b" for i in range(len(X_target))]
    page = model.report(X=X, y=y, X_target=X_target, ids=ids, title="red \x1b[31m", command="lpjt \x07 adapt \u202e")
    assert not set(page) & set("\x1b\x9b\x07\u202e\r")
    assert "red \\u001b[31m" in page
    assert points(page)["ids"]
