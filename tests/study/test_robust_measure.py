"""One task of the robustness suite: what is measured, what is stored, and how a broken-off run goes on."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import lpjt
from lpjt.study.robust import data, measure, unadapted
from lpjt.study.robust.data import DomainPair
from lpjt.study.robust.measure import calibration_error, measure_task, read_model
from lpjt.study.robust.tasks import open_store
from lpjt.study.runner import run_jobs
from lpjt.study.store import ROBUST
from robust_rows import StandIn, behave, make_row, make_task


class TransferWarning(UserWarning):
    """Stands in for the one of the package."""


@pytest.fixture(autouse=True)
def surroundings(monkeypatch, tmp_path):
    """A cache of its own, one thread, and the warning whether the package has it or not."""
    monkeypatch.setenv("LPJT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr(lpjt, "TransferWarning", TransferWarning, raising=False)


@pytest.fixture
def store(tmp_path):
    return open_store(tmp_path / "robust")


def small_pair():
    """Three classes in the source; of ten target rows, all of classes 0 and 1, the stand-in labels eight rightly."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 3)) + 5 * np.eye(3)[y]
    y_target = np.repeat([0, 1], 5)
    X_target = np.column_stack([np.where(y_target, 1.0, -1.0), rng.normal(size=(10, 2))])
    X_target[[0, 9], 0] *= -1
    return DomainPair(X, y, X_target, y_target)


def use(monkeypatch, model, pair=None):
    """Let the suite fit this model on this pair; the parameters that it was asked for."""
    asked = {}
    monkeypatch.setattr(measure, "make_variant", lambda **parameters: asked.update(parameters) or model)
    monkeypatch.setattr(measure, "open_task", lambda task: pair or small_pair())
    return asked


def test_a_row_has_the_figures_of_the_fit(monkeypatch, store):
    asked = use(monkeypatch, StandIn(TransferWarning, absent=(1, 2)))
    row = measure_task(make_task(parameters={"random_state": 0}))
    assert (row["status"], asked) == ("ok", {"random_state": 0}), row["message"]
    expected = {
        "n_source": 60, "n_target": 10, "accuracy": 80.0, "confidence": 90.0, "calibration_error": 10.0,
        "estimated_accuracy": 80.0, "interval_low": 70.0, "interval_high": 85.0, "estimate_error": 0.0,
        "candidate": "standard, equal, rbf", "n_absent": 1, "n_absent_found": 2, "n_absent_right": 1, "n_warnings": 1,
    }  # fmt: skip
    assert {name: row[name] for name in expected} == pytest.approx(expected)
    assert (row["covered"], row["adapted"], row["checksum"]) == (True, True, small_pair().checksum)
    assert row["message"] == "TransferWarning: the target lacks classes; UserWarning: something else"
    assert 0 < row["seconds"] < 5
    store.append(row)
    assert store.rows() == [row]


@pytest.mark.parametrize(("interval", "covered"), [((0.7, 0.79), False), ((0.81, 0.9), False), ((0.79, 0.81), True)])
def test_an_interval_covers_the_accuracy_or_does_not(monkeypatch, interval, covered):
    class Elsewhere(StandIn):
        def fit(self, *args):
            super().fit(*args)
            self.estimated_accuracy_, self.estimated_accuracy_interval_ = np.mean(interval), interval

    use(monkeypatch, Elsewhere())
    row = measure_task(make_task())
    assert row["covered"] is covered
    assert row["estimate_error"] == pytest.approx(abs(100 * np.mean(interval) - 80))


def test_a_model_without_a_chosen_candidate_or_an_absent_class_is_read():
    pair = small_pair()
    model = StandIn(absent=(), candidates=[{"view": "unit", "masses": "free", "kernel": "linear", "chosen": False}])
    said = read_model(model.fit(pair.X_source, pair.y_source, pair.X_target), [])
    assert (said["candidate"], said["absent_classes"], said["n_warnings"]) == (None, [], 0)


def test_a_task_that_raises_is_a_failed_row(monkeypatch, store):
    class Broken(StandIn):
        def fit(self, *args):
            raise ValueError("no\nluck")

    use(monkeypatch, Broken())
    row = measure_task(make_task("thinned"))
    assert (row["status"], row["message"], row["accuracy"]) == ("failed", "ValueError: no luck", None)
    assert (row["task"], row["part"]) == ("SURF C-A, thinned", "development")
    assert set(row) == set(ROBUST.columns)
    store.append(row)


def test_without_adaptation_is_the_better_of_two_on_rows_standardised_by_the_source():
    pair = small_pair()
    mean, deviation = pair.X_source.mean(axis=0), pair.X_source.std(axis=0)
    X, X_target = (pair.X_source - mean) / deviation, (pair.X_target - mean) / deviation
    nearest = pair.y_source[((X_target[:, None] - X) ** 2).sum(axis=2).argmin(axis=1)]
    svm = LinearSVC(random_state=0, tol=0.1).fit(X, pair.y_source)
    expected = [100 * np.mean(nearest == pair.y_target), 100 * svm.score(X_target, pair.y_target)]
    found = unadapted.unadapted_accuracies(pair)
    assert [found["nearest_accuracy"], found["svm_accuracy"]] == pytest.approx(expected)
    assert found["unadapted_accuracy"] == max(expected)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_kept_svm_labels_as_the_fitted_one_and_is_not_fitted_again(monkeypatch, tmp_path, n_classes):
    pair = small_pair()
    rows = pair.y_source < n_classes
    X, y = pair.X_source[rows], pair.y_source[rows]
    first = unadapted.linear_svm(X, y)
    (file,) = (tmp_path / "cache" / "robust").iterdir()

    def fit(*_):
        raise AssertionError("fitted again")

    monkeypatch.setattr(LinearSVC, "fit", fit)
    again = unadapted.linear_svm(X, y)
    np.testing.assert_array_equal(again.predict(pair.X_target), first.predict(pair.X_target))
    with pytest.raises(AssertionError, match="fitted again"):
        unadapted.linear_svm(X + 1e-9, y)
    with pytest.raises(AssertionError, match="fitted again"):
        unadapted.linear_svm(X, y[::-1].copy())
    assert list(file.parent.iterdir()) == [file]


def test_without_a_cache_directory_nothing_is_kept(monkeypatch, tmp_path):
    monkeypatch.setattr(unadapted, "cache_directory", lambda: None)
    pair = small_pair()
    assert unadapted.linear_svm(pair.X_source, pair.y_source).score(pair.X_source, pair.y_source) > 0.9
    assert not (tmp_path / "cache").exists()


def naive_calibration_error(confidence, right):
    """Bin by bin, as the definition has it."""
    total = 0.0
    for b in range(10):
        inside = [i for i, c in enumerate(confidence) if b / 10 < c <= (b + 1) / 10 or (b == 0 and c == 0)]
        if inside:
            accuracy = sum(bool(right[i]) for i in inside) / len(inside)
            mean = sum(confidence[i] for i in inside) / len(inside)
            total += len(inside) / len(confidence) * abs(accuracy - mean)
    return total


@pytest.mark.parametrize("seed", range(5))
def test_calibration_error_agrees_with_the_loop(seed):
    rng = np.random.default_rng(seed)
    confidence = rng.beta(4, 2, size=300)
    right = rng.random(300) < confidence**2
    assert calibration_error(confidence, right) == pytest.approx(naive_calibration_error(confidence, right), abs=1e-12)


@pytest.mark.parametrize(
    ("confidence", "right", "expected"),
    [
        ([1.0, 1.0], [True, True], 0.0),
        ([1.0, 1.0], [True, False], 0.5),
        ([0.0, 1.0], [False, False], 0.5),
        ([0.55, 0.59], [True, False], 0.07),  # one bin: mean 0.57 against 0.5
        ([0.59, 0.65], [True, False], 0.53),  # two bins: 0.41 and 0.65, half the rows each
        ([0.6, 0.61], [True, False], 0.505),  # 0.6 belongs to the bin below
    ],
)
def test_calibration_error_of_hand_made_values(confidence, right, expected):
    assert calibration_error(np.array(confidence), np.array(right)) == pytest.approx(expected)


def test_a_real_task_runs_from_its_data_to_its_row(monkeypatch):
    class NearestLabels(StandIn):
        def fit(self, X, y, X_target, y_target=None):
            super().fit(X, y, X_target)
            scaler = StandardScaler().fit(X)
            labels = KNeighborsClassifier(1).fit(scaler.transform(X), y).predict(scaler.transform(X_target))
            self.transduction_ = labels

    monkeypatch.setattr(measure, "make_variant", lambda **_: NearestLabels())
    task = make_task("halves", family="Digits 8x8", source="UCI", max_rows=300)
    row = measure_task(task)
    assert row["status"] == "ok", row["message"]
    assert (row["task"], row["n_source"], row["n_target"]) == ("Digits 8x8 UCI, halves", 150, 150)
    assert row["accuracy"] == row["nearest_accuracy"] > 80
    assert row["checksum"] == data.open_task(task).checksum


def test_a_run_that_broke_off_goes_on_and_ends_with_the_same_rows(store, tmp_path):
    tasks = [make_task(kind, target=target) for target in "AW" for kind in ("whole", "thinned")]
    expected = open_store(tmp_path / "expected")
    run_jobs(tasks, expected, run=behave)

    def break_off(event):
        if event.kind == "end":
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        run_jobs(tasks, store, run=behave, on_event=break_off)
    assert [row["task"] for row in store.rows()] == ["SURF C-A, whole"]
    events = []
    run_jobs(tasks, store, run=behave, on_event=events.append)
    assert [event.kind for event in events if event.kind != "start"] == ["skip", "end", "end", "end"]
    results = [[(row["task"], row["accuracy"]) for row in kept.rows()] for kept in (store, expected)]
    assert results[0] == results[1]


def test_the_store_keeps_every_column(store):
    rows = [make_row(make_task(kind), covered=False, candidate=None) for kind in ("whole", "cut to 30 %")]
    for row in rows:
        store.append(row)
    store.compact()
    assert {row["key"]: row for row in store.rows()} == {row["key"]: row for row in rows}
