"""One run as one row: its key, its scores, its memory, and what it says when it fails."""

import json
import subprocess
import sys
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

import study_runs
from lpjt.study.meter import Peak
from lpjt.study.runs.measure import Job, measure, score
from lpjt.study.store import RUNS
from lpjt.study.text import canonical_json
from study_runs import ToyProblem, make_job, toy_modules


@pytest.fixture(autouse=True)
def _toys(monkeypatch):
    for name, module in toy_modules().items():
        monkeypatch.setitem(sys.modules, name, module)


def naive_scores(truth, labels, scored):
    """Row by row, sharing nothing with `score`."""
    right, by_class = 0, {}
    for label, guess, counts in zip(truth, labels, scored, strict=True):
        if counts:
            right += int(label == guess)
            by_class.setdefault(label, []).append(label == guess)
    rates = {name: 100 * sum(hits) / len(hits) for name, hits in by_class.items()}
    return 100 * right / sum(map(int, scored)), sum(rates.values()) / len(rates), rates


def test_row_has_the_columns_of_the_store_and_the_scores_of_a_naive_count():
    job = make_job(4, offset=0.3)
    row = measure(job)
    assert list(row) == list(RUNS.columns)
    problem = ToyProblem(4)
    model = study_runs.NearestMean(0.3).fit(problem.X_source, problem.y_source, problem.X_target)
    accuracy, balanced, by_class = naive_scores(problem.y_target, model.transduction_, problem.scored)
    assert 50 < accuracy < 100
    assert_allclose(row["accuracy"], accuracy)
    assert_allclose(row["balanced_accuracy"], balanced)
    assert_allclose(list(json.loads(row["per_class_accuracy"]).values()), list(by_class.values()), atol=1e-4)
    assert (row["status"], row["message"], row["n_iter"], row["n_tried"]) == ("ok", "", 3, 1)
    assert (row["table"], row["pair"], row["method"], row["seed"]) == ("toys", "04 to 99", "Nearest mean", 4)
    assert row["parameters"] == '{"offset":0.3}'
    assert row["checksum"] == "abc123"
    assert 0 < row["seconds"] < 5
    assert row["started"].endswith("+00:00")
    always = {"lpjt", "python", "numpy", "scipy", "scikit-learn", "platform"}
    assert set(json.loads(row["versions"])) - {"torch"} == always


def test_unequal_classes_tell_accuracy_and_balanced_accuracy_apart():
    truth = np.array(["a", "a", "a", "b"], dtype=object)
    scores = score(truth, np.array(["a", "a", "a", "a"]), np.ones(4, dtype=bool))
    assert (scores["accuracy"], scores["balanced_accuracy"]) == (75.0, 50.0)
    assert scores["per_class_accuracy"] == '{"a":100.0,"b":0.0}'


def test_rows_whose_label_is_given_do_not_count_and_others_are_not_shown(monkeypatch):
    seen = []
    fit = study_runs.NearestMean.fit

    def watched(self, X, y, X_target, y_target=None):
        seen.append(y_target)
        return fit(self, X, y, X_target, y_target)

    monkeypatch.setattr(study_runs.NearestMean, "fit", watched)
    row = measure(make_job(1, table="few"))
    problem = ToyProblem(1, given=tuple(range(0, 60, 6)))
    assert [label is not None for label in seen[0]] == (~problem.scored).tolist()
    labels = study_runs.NearestMean().fit(problem.X_source, problem.y_source, problem.X_target).transduction_
    assert_allclose(row["accuracy"], naive_scores(problem.y_target, labels, problem.scored)[0])


def test_oracle_keeps_the_best_setting_and_the_first_of_equals():
    row = measure(make_job(4, protocol="oracle", grid=({"offset": 9.0}, {"offset": 0.3}, {"offset": -9.0})))
    alone = {offset: measure(make_job(4, offset=offset))["accuracy"] for offset in (9.0, 0.3, -9.0)}
    assert row["accuracy"] == alone[0.3] == max(alone.values())
    assert (row["parameters"], row["n_tried"], row["status"]) == ('{"offset":0.3}', 3, "ok")
    equals = make_job(4, method="Constant", protocol="oracle", grid=({"offset": 2.0}, {"offset": 1.0}))
    assert measure(equals)["parameters"] == '{"offset":2.0}'


def test_oracle_settings_are_merged_onto_the_parameters():
    job = make_job(protocol="oracle", grid=({}, {"offset": 2}), offset=1, method="Constant")
    assert job.settings() == [{"offset": 1}, {"offset": 2}]
    assert measure(job)["parameters"] == '{"offset":1}'


def test_oracle_passes_over_settings_that_fail_and_counts_them():
    job = make_job(method="Broken", protocol="oracle", grid=tuple({"offset": value} for value in (2, -1, 1)))
    row = measure(job)
    assert (row["status"], row["parameters"], row["n_tried"]) == ("ok", '{"offset":-1}', 3)
    assert row["message"] == "2 of 3 settings failed, the first: ValueError: offset 2 will not do"


def test_oracle_fails_when_every_setting_does():
    row = measure(make_job(method="Broken", protocol="oracle", grid=({"offset": 2}, {"offset": 1})))
    assert (row["status"], row["accuracy"]) == ("failed", None)
    assert "all 2 settings of the grid failed, the first: ValueError: offset 2 will not do" in row["message"]


@pytest.mark.parametrize(
    ("job", "message"),
    [
        (make_job(method="Broken", offset=7), "ValueError: offset 7 will not do"),
        (make_job(table="absent"), "FileNotFoundError: absent.mat is not here. Fetch it."),
        (make_job(method="Unheard"), "KeyError: 'Unheard'"),
        (make_job(method="Short"), "ValueError: The method gave labels of shape (3,) for 60 target rows."),
        (make_job(other=1), "TypeError: NearestMean.__init__() got an unexpected keyword argument 'other'"),
    ],
)
def test_failed_run_is_a_row_with_the_error_in_one_line(job, message):
    row = measure(job)
    assert list(row) == list(RUNS.columns)
    assert row["status"] == "failed"
    assert (row["accuracy"], row["balanced_accuracy"], row["per_class_accuracy"]) == (None, None, None)
    assert row["message"] == message
    assert row["seconds"] >= 0


def test_warnings_are_told_once_in_one_line_and_do_not_escape():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        row = measure(make_job(method="Talkative"))
    assert (row["status"], row["message"]) == ("ok", "UserWarning: not converged")


def test_message_has_an_end():
    row = make_job().row_without_result(status="failed", message="word " * 10_000)
    assert len(row["message"]) == 1000
    assert row["message"].endswith("…")


def test_nothing_to_score_is_said():
    with pytest.raises(ValueError, match=r"No target row is left to score: every label is given"):
        score([1, 2], [1, 2], [False, False])


def test_key_is_the_same_in_another_process_and_for_another_order_of_names():
    job = Job("pie", "05 to 07", "JDA", 3, "oracle", {"b": 1, "a": [1.5, None]}, ({"c": True}, {}))
    same = Job("pie", "05 to 07", "JDA", 3, "oracle", {"a": [1.5, None], "b": np.int64(1)}, ({"c": True}, {}))
    code = f"from lpjt.study.runs.measure import Job; print({job!r}.key)"
    elsewhere = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert job.key == same.key == elsewhere
    assert len(job.key) == 16
    assert int(job.key, 16) >= 0
    assert {job, same} == {job}


def test_key_differs_with_every_field():
    base = ("pie", "05 to 07", "JDA", 3, "oracle", {"a": 1}, ({"c": 1},))
    others = [
        ("surf", *base[1:]),
        (*base[:1], "05 to 09", *base[2:]),
        (*base[:2], "TCA", *base[3:]),
        (*base[:3], 4, *base[4:]),
        (*base[:4], "published", {"a": 1}, None),
        (*base[:5], {"a": 2}, base[6]),
        (*base[:6], ({"c": 2},)),
        (*base[:6], None),
    ]
    assert len({Job(*fields).key for fields in [base, *others]}) == 9


def test_unknown_protocol_and_a_grid_without_the_oracle_are_refused():
    with pytest.raises(ValueError, match=r"protocol='best' is none of label-free, oracle, published"):
        make_job(protocol="best")
    with pytest.raises(ValueError, match=r"A grid of 1 settings was given under the protocol 'label-free'"):
        make_job(grid=({"offset": 1},))


def test_parameters_that_are_no_json_are_refused_by_name():
    with pytest.raises(TypeError, match=r"cannot be written as JSON. Give plain values"):
        canonical_json({"a": object()})


def test_peak_memory_counts_what_was_freed_again_and_not_what_came_before():
    before = np.ones(12_500_000)  # 100 MB, held
    del before
    peak = Peak()
    peak.start()
    block = np.ones(6_250_000)  # 50 MB
    del block
    assert 40e6 < peak.stop() < 65e6
    peak.start()
    assert peak.stop() < 15e6
