"""What a user would pick instead: the methods, which of them are run, and the picture of accuracy against time."""

import numpy as np
import pytest

from lpjt.study.figures import tradeoff
from lpjt.study.pages import performance
from lpjt.study.speed import instead, methods, plans
from lpjt.study.speed.data import even_counts, make_pair
from lpjt.study.speed.results import open_store
from speed_records import failure, fit_record, result_of, run, write_result

FEW = even_counts(120, 3)


@pytest.mark.parametrize("method", instead.INSTEAD, ids=lambda method: method.name)
def test_every_alternative_labels_the_target(method):
    for module in method.needs:
        pytest.importorskip(module, reason="an extra")
    pair = make_pair(source=FEW, target=FEW, width=30)
    labels = np.asarray(method.fit(pair.X_source, pair.y_source, pair.X_target, method.parameters).labels)
    assert labels.shape == pair.y_target.shape
    assert np.mean(labels == pair.y_target) > 0.4, "three classes"


def test_coral_gives_the_source_the_covariance_of_the_target():
    rng = np.random.default_rng(0)
    X, X_target = (rng.normal(size=(100, 5)) @ rng.normal(size=(5, 5)) for _ in range(2))
    A = instead.recolouring(X, X_target)
    C_source, C_target = (np.cov(rows.T) + np.eye(5) for rows in (X, X_target))
    np.testing.assert_allclose(A.T @ C_source @ A, C_target, rtol=1e-9, atol=1e-9)


def test_optional_peers_are_left_out_where_they_are_missing(monkeypatch):
    def find(name):
        if name in ("umap", "kalelinear", "adapt.feature_based"):
            raise ImportError(name)

    monkeypatch.setattr(methods.importlib, "import_module", find)
    names = methods.check_installed(methods.PEERS)
    assert {"LPJT", "linear SVM, unadapted", "CORAL + logistic regression", "skada TCA"} < set(names)
    assert not {"UMAP + k-NN", "kalelinear ARRLS", "ADAPT CORAL"} & set(names)


def test_some_peers_are_planned_by_name():
    plan = plans.plan_peers((1000,), methods=["LPJT", "linear SVM, unadapted"])
    assert [task.method for task in plan.tasks] == ["LPJT", "linear SVM, unadapted"]
    assert 100_000 in plans.PEER_ROWS
    refused = run("peers", "--methods", "LPJT; magic")
    assert refused.exit_code == 2
    assert "no peer is called 'magic'" in " ".join(refused.output.split())


def peers_result():
    records = [
        fit_record("1,000 rows", "LPJT", 1000, seconds=2.0, accuracy=90.0),
        fit_record("1,000 rows", "skada TCA", 1000, seconds=20.0, accuracy=40.0),
        fit_record("1,000 rows", "skada SA", 1000, seconds=0.1, accuracy=70.0),
        fit_record("1,000 rows", "dense transcription", 1000, seconds=99.0, accuracy=88.0),
        fit_record("100,000 rows", "LPJT", 100_000, seconds=100.0, accuracy=92.0),
        fit_record("100,000 rows", "skada SA", 100_000, seconds=9.0, accuracy=75.0),
        failure("100,000 rows", "timeout", size=100_000) | {"method": "skada TCA"},
    ]
    return result_of("peers", records)


def test_the_picture_shows_what_ended_and_names_what_did_not(tmp_path):
    pytest.importorskip("matplotlib", reason="the page has a plot")
    result = peers_result()
    assert [r["method"] for r in tradeoff.shown_records(result, 1000)] == ["LPJT", "skada TCA", "skada SA"]
    assert tradeoff.left_out(result) == ["Not in the panel of 100,000 rows: skada TCA (timeout)."]
    result["records"][0]["load"] = 7.5
    assert "busy with other work at 1,000 rows (load 7.5 to 7.5)" in tradeoff.left_out(result)[0]
    few = result_of("peers", [r for r in result["records"] if r["size"] == 1000])
    few["records"][0].pop("load")
    assert tradeoff.left_out(few) == ["Not in the panel of 100,000 rows: not measured."]
    assert not tradeoff.draw_tradeoff(result_of("peers", [fit_record(method="LPJT", size=1000)]), tmp_path / "no.png")
    write_result(result, tmp_path)
    page = tmp_path / "docs" / "performance.md"
    written = performance.write_page(performance.read_results(open_store(tmp_path)), page)
    assert written[1].name == "tradeoff.png"
    assert written[1].read_bytes().startswith(b"\x89PNG")
    text = page.read_text(encoding="utf-8")
    assert "](figures/tradeoff.png)" in text
    assert "- Not in the panel of 100,000 rows: skada TCA (timeout)." in text


def test_names_of_points_at_the_same_height_do_not_overlap():
    found = tradeoff.spread_out([0.1, 0.5, 0.5, 0.51, 0.9], 0.05)
    assert np.diff(found).min() > 0.05 - 1e-9
    assert found[0] == 0.1
    assert found[-1] == 0.9
    assert np.mean(found[1:4]) == pytest.approx(np.mean([0.5, 0.5, 0.51]))
