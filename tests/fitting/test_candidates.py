"""The candidates of a fit: which are tried, on which rows, and when none is."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lpjt import LPJT, Kernel
from lpjt._threads import threads
from lpjt.classifiers import with_masses
from lpjt.core import alternation, projection
from lpjt.domains import open_domains
from lpjt.fitting import candidates, samples, views
from lpjt.fitting.adapt import adapt
from lpjt.fitting.candidates import make_small, settle_masses, try_candidates
from lpjt.fitting.samples import FIRST_ROWS, SECOND_ROWS, bound_rows, take_rows
from lpjt.fitting.start import first_labels
from lpjt.fitting.trial import LEVEL
from lpjt.parameters import VIEWS, make_plan
from lpjt.selection.choice import ViewFacts, prior_votes, weigh_candidates
from lpjt.selection.scaling import Scalings
from lpjt.selection.shift import believe_proportions
from problems import masked
from trials import X_TARGET, Y_TARGET, X, Y, calls_of_iterate, opened, plan_for

#: A labelling of the 36 target rows.
HARD = np.eye(3)[np.arange(36) % 3]


@pytest.fixture(scope="module")
def tried():
    domains = opened()
    return try_candidates(domains, plan_for(domains))


def keys(trial):
    return [(s.family, s.view, s.masses, s.kernel and s.kernel.function) for s in trial.settings]


def test_first_round_has_every_view_kernel_and_mass(tried):
    expected = {("adapted", v, m, k) for v in VIEWS for m in ("source", "free") for k in ("linear", "rbf")}
    expected |= {(family, v, None, None) for v in VIEWS for family in ("nearest", "linear")}
    found = keys(tried[0].first)
    assert set(found) == expected
    assert len(found) == len(expected) + 1  # in the source's view there are two linear classifiers
    assert found.count(("linear", "source", None, None)) == 2
    assert tried[0].first.first is None


def test_second_round_has_finalists_and_all_unadapted(tried):
    trial, first = tried[0], tried[0].first
    unadapted = [i for i, s in enumerate(first.settings) if s.family != "adapted"]
    assert trial.settings[: len(unadapted)] == tuple(first.settings[i] for i in unadapted)
    assert_array_equal(trial.labellings[: len(unadapted)], first.labellings[unadapted])
    assert trial.weighed.votes is first.weighed.votes
    finalists = [(s.view, s.kernel.function) for s in trial.settings[len(unadapted) :]]
    assert len(finalists) == len(set(finalists)) == 4
    best = {}
    for (family, view, _, kernel), score in zip(keys(first), first.weighed.score, strict=True):
        if family == "adapted":
            best[view, kernel] = max(best.get((view, kernel), -1), score)
    assert set(finalists) == set(sorted(best, key=best.get, reverse=True)[:4])


def test_the_plan_is_that_of_the_chosen_candidate(tried):
    trial, plan = tried
    adapted = [i for i, s in enumerate(trial.settings) if s.family == "adapted"]
    chosen = trial.settings[trial.chosen]
    assert trial.chosen in adapted
    assert trial.weighed.score[trial.chosen] >= trial.weighed.score[adapted].max() - LEVEL
    assert plan.views == (chosen.view,)
    assert plan.kernel is chosen.kernel
    masses, proportions = settle_masses(plan_for(opened()), trial.first, opened())
    assert {trial.settings[i].masses for i in adapted} == {masses}
    assert_array_equal(plan.classifier.class_mass, True if proportions is None else proportions)


@pytest.mark.parametrize("n_kept", [3, 1])
def test_the_trial_tells_how_far_the_target_has_other_proportions(n_kept):
    kept = np.isin(Y_TARGET, np.unique(Y_TARGET)[:n_kept])
    domains = open_domains(X, Y, X_TARGET[kept])
    trial, _ = try_candidates(domains, plan_for(domains))
    consensus = trial.first.weighed.consensus
    proportions = [np.bincount(y, minlength=3) / len(y) for y in (consensus.argmax(axis=1), domains.sources[0].y)]
    expected = believe_proportions(*proportions, trial.first.weighed.consent, len(consensus))
    assert trial.shift == expected
    assert (trial.shift > 0.5) == (n_kept == 1)


def test_both_rounds_are_weighed_on_the_same_ground(tried):
    trial, first = tried[0], tried[0].first
    assert trial.ground is first.ground
    parts = zip(first.settings, first.weighed.kinship, first.weighed.clarity, strict=True)
    facts = {s.view: ViewFacts(kinship, clarity=clarity) for s, kinship, clarity in parts}
    for of_round, given in ((first, {}), (trial, {"votes": first.weighed.votes})):
        families, of_views = [s.family for s in of_round.settings], [facts[s.view] for s in of_round.settings]
        votes = given.get("votes", first.weighed.votes)
        expected = weigh_candidates(of_round.labellings, families, of_views, trial.ground, 3, votes=votes)
        assert_allclose(of_round.weighed.score, expected.score, rtol=1e-12)
        assert_allclose(of_round.weighed.weight, expected.weight, rtol=1e-12)
    assert_allclose(trial.weighed.consensus.sum(axis=1), 1, rtol=1e-6)


def test_finalists_agree_with_their_own_votes_though_their_labels_are_new(monkeypatch):
    mixing = {}

    def label(few, plan, view, scalings):
        found = views.label_view(few, plan, view, scalings)
        mixing[view] = found.mixing
        return found

    def new(problem, plan, domains, start=None, shared=None):
        return np.roll(HARD, 1, axis=1)

    monkeypatch.setattr(candidates, "label_view", label)
    monkeypatch.setattr(candidates, "iterate", new)
    domains = opened()
    trial, _ = try_candidates(domains, plan_for(domains))
    first, rows, n_changed = trial.first, np.arange(36), 0
    prior = prior_votes([s.family for s in first.settings], [mixing[s.view] for s in first.settings])
    best = {}
    for i in np.argsort(-first.weighed.score, kind="stable"):
        best.setdefault((first.settings[i].view, first.settings[i].kernel, first.settings[i].family), i)
    for s, y, agreement in zip(trial.settings, trial.labellings, trial.weighed.agreement, strict=True):
        expected = first.weighed.votes[rows, y].mean()
        if s.family == "adapted":
            number = best[s.view, s.kernel, s.family]
            changed = first.labellings[number] != y
            n_changed += changed.sum()
            expected += prior[number] * changed.mean()
        assert_allclose(agreement, expected, rtol=1e-12)
    assert n_changed


def test_finalists_give_the_consensus_their_distributions(monkeypatch):
    def soft(problem, plan, domains, start=None, shared=None):
        return np.tile([0.5, 0.3, 0.2], (sum(d.X.shape[0] for d in domains.targets), 1))

    monkeypatch.setattr("lpjt.fitting.candidates.iterate", soft)
    domains = opened()
    trial, _ = try_candidates(domains, plan_for(domains))
    adapted = np.array([s.family == "adapted" for s in trial.settings])
    assert (trial.labellings[adapted] == 0).all()
    weight = trial.weighed.weight
    expected = weight[adapted].sum() * np.tile([0.5, 0.3, 0.2], (36, 1))
    for w, y in zip(weight[~adapted], trial.labellings[~adapted], strict=True):
        expected[np.arange(36), y] += w
    assert_allclose(trial.weighed.consensus, expected, rtol=1e-10)
    assert_allclose(trial.lesson.values, expected, rtol=1e-10)


@pytest.mark.parametrize(("max_iter", "n_first", "n_second"), [(20, 2, 3), (2, 2, 2), (1, 1, 1)])
def test_rounds_have_few_iterations(monkeypatch, max_iter, n_first, n_second):
    """In the first round both class masses of ten problems share the first projection, at least."""
    solved, solve, plans, rules, advance = [], projection.solve_projection, [], [], views._advance
    monkeypatch.setattr(projection, "solve_projection", lambda *a, **k: solved.append(1) or solve(*a, **k))
    monkeypatch.setattr(views, "_advance", lambda *args: rules.extend(args[2]) or advance(*args))
    monkeypatch.setattr(candidates, "iterate", lambda problem, plan, *rest, **named: plans.append(plan) or HARD)
    domains = opened()
    try_candidates(domains, plan_for(domains, max_iter=max_iter))
    assert len(rules) == 20 * n_first
    assert len(solved) < 20 * n_first
    assert (len(solved) == 10) == (n_first == 1)
    assert [plan.max_iter for plan in plans] == [n_second] * 4


@pytest.mark.parametrize("max_iter", [1, 2])
def test_class_masses_share_the_first_labels_and_the_first_projection(max_iter):
    """The labels of each mass are those of its own iterations from the labels that all begin with."""
    kept = np.flatnonzero((np.arange(42) < 6) | (Y == 0))  # most source rows are of one class, so that masses matter
    domains = open_domains(X[kept], Y[kept], X_TARGET)
    plan = replace(make_small(plan_for(domains), max_iter), kernels=(Kernel("linear"),))
    found = views.label_view(domains, plan, "source", Scalings(domains))
    free = replace(plan, classifier=with_masses(plan.classifier, "free"))
    start, _ = first_labels(found.plain, (6, 6), free)
    of_masses = {}
    for setting, labels in zip(found.settings, found.labellings, strict=True):
        if setting.family == "adapted":
            own = replace(plan, kernel=setting.kernel, classifier=with_masses(plan.classifier, setting.masses))
            assert_array_equal(views.iterate(found.plain, own, domains, start).argmax(axis=1), labels)
            of_masses[setting.masses] = labels
    assert (of_masses["source"] != of_masses["free"]).any()


def test_masses_are_together_as_long_as_their_labels_are_equal():
    one, same, other = (np.array(F) for F in ([[0.9, 0.1], [0.2, 0.8]], [[0.6, 0.4], [0.3, 0.7]], [[0.4, 0.6]] * 2))
    assert views._with_equal_labels([[one], [other], [same]]) == [[0, 2], [1]]
    assert views._with_equal_labels([[one[:1], one[1:]], [same]]) == [[0, 1]]  # whatever targets the rows are of


@pytest.mark.parametrize("name", ["one source", "several targets"])
@pytest.mark.parametrize("n_first", [99, 12])
def test_finalists_go_on_from_their_own_labels_of_the_first_round(monkeypatch, name, n_first):
    monkeypatch.setattr(samples, "FIRST_ROWS", (n_first, 1, 99))
    starts, n_target = [], 36
    monkeypatch.setattr(candidates, "iterate", lambda *args, **named: starts.append(args[3]) or HARD)
    domains = opened(name)
    trial, _ = try_candidates(domains, plan_for(domains))
    first, sizes = trial.first, [d.X.shape[0] for d in domains.targets]
    known = np.zeros(n_target, dtype=bool)
    offset = 0
    for rows, size in zip(trial.sample[len(domains.sources) :], sizes, strict=True):
        known[offset + (np.arange(size) if rows is None else rows)] = True
        offset += size
    assert known.all() == (n_first == 99)
    finalists = [s for s in trial.settings if s.family == "adapted"]
    assert len(starts) == len(finalists) == 4
    of_setting = dict.fromkeys((s.view, s.kernel) for s in finalists)
    for s, labels, score in zip(first.settings, first.labellings, first.weighed.score, strict=True):
        last = of_setting.get((s.view, s.kernel), ...)
        if s.family == "adapted" and last is not ... and (last is None or score > last[0]):
            of_setting[s.view, s.kernel] = score, labels
    for start, (_, labels) in zip(starts, of_setting.values(), strict=True):
        assert [len(F) for F in start] == sizes
        stacked = np.vstack(start)
        assert_array_equal(stacked[known], np.eye(3)[labels])
        assert not stacked[~known].any()


@pytest.mark.parametrize("n_rows", [99, 12])
def test_the_whole_fit_goes_on_where_the_chosen_finalist_ended(monkeypatch, n_rows):
    """With its labels, for the iterations that are left; rows outside the sample have no label yet."""
    monkeypatch.setattr(samples, "SECOND_ROWS", (n_rows, 1, 99))
    starts, alternate = [], alternation.alternate

    def begin(problem, settings, classify, start, **named):
        starts.append((start, named["max_iter"]))
        return alternate(problem, settings, classify, start, **named)

    ends = []
    monkeypatch.setattr(
        candidates, "iterate", lambda *args, **named: ends.append(views.iterate(*args, **named)) or ends[-1]
    )
    domains = opened("several targets")
    plan = plan_for(domains, tol=0.0)
    with monkeypatch.context() as patched:
        patched.setattr(alternation, "alternate", begin)
        outcome = adapt(domains, plan)
    assert outcome.adapted
    trial, (start, max_iter) = outcome.trial, starts[-1]
    assert max_iter == 10 - 2 - 3
    place = [i for i, s in enumerate(trial.settings) if s.family == "adapted"].index(trial.chosen)
    expected = [np.zeros((20, 3)), np.zeros((16, 3))]
    parts = zip(expected, trial.lesson.of_targets([20, 16]), strict=True)
    rows = [(F, chosen) for F, (chosen, _) in parts]
    for (F, chosen), values in zip(rows, np.split(ends[place], [len(rows[0][1])]), strict=True):
        F[chosen] = values
    for found, wanted in zip(start, expected, strict=True):
        assert_array_equal(found, wanted)


@pytest.mark.parametrize(("max_iter", "left"), [(1, 1), (4, 2), (9, 5), (10, 5), (30, 25)])
def test_half_of_the_iterations_at_least_are_left_for_the_whole_fit(monkeypatch, max_iter, left):
    calls_of_iterate(monkeypatch)
    domains = opened()
    assert try_candidates(domains, plan_for(domains, max_iter=max_iter))[1].max_iter == left


@pytest.mark.parametrize(("given", "rank"), [(None, 5), (3, 3), (6, 5), ("auto", 5)])
def test_candidates_have_few_coordinates(monkeypatch, given, rank):
    monkeypatch.setattr(candidates, "CANDIDATE_COORDINATES", 5)
    first, _ = calls_of_iterate(monkeypatch)
    domains = opened()
    try_candidates(domains, plan_for(domains, n_coordinates=given, n_components=4, kernel="linear"))
    assert {part.shape[1] for problem, _ in first for part in problem.rows} == {rank}


@pytest.mark.parametrize(
    ("given", "n_rows", "expected"), [("auto", 99, 5), ("auto", 12, "auto"), (3, 99, 3), (6, 99, 6)]
)
def test_the_whole_fit_has_the_coordinates_of_candidates_if_they_had_its_rows(monkeypatch, given, n_rows, expected):
    monkeypatch.setattr(candidates, "CANDIDATE_COORDINATES", 5)
    monkeypatch.setattr(samples, "SECOND_ROWS", (n_rows, 1, 99))
    calls_of_iterate(monkeypatch)
    domains = opened()
    _, plan = try_candidates(domains, plan_for(domains, n_coordinates=given, n_components=4))
    assert plan.n_coordinates == expected


def test_each_kernel_has_coordinates_of_its_own(monkeypatch):
    first, second = calls_of_iterate(monkeypatch)
    domains = opened()
    plan = plan_for(domains)
    try_candidates(domains, plan)
    columns = {kernel: {p.rows[0].shape[1] for p, of in first if of.kernel is kernel} for kernel in plan.kernels}
    linear, rbf = columns.values()
    assert max(linear) == 6  # the rows' own
    assert min(rbf) > 20
    _, settled = try_candidates(domains, replace(plan, kernels=plan.kernels[1:]))
    assert settled.kernel is plan.kernels[1]
    assert all(problem.rows[0].shape[1] > 20 for problem, _ in second[-4:])


def test_second_round_has_random_numbers_of_its_own_for_each_candidate(monkeypatch):
    _, second = calls_of_iterate(monkeypatch)
    domains = opened("heterogeneous")
    try_candidates(domains, plan_for(domains))
    assert len({id(plan.random_state) for _, plan in second}) == len(second) > 1


def test_the_same_seed_gives_the_same_trial_on_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(samples, "FIRST_ROWS", (24, 1, 99))  # rows are drawn, too
    monkeypatch.setattr(samples, "SECOND_ROWS", (30, 1, 99))

    def run(n_jobs, seed=0):
        domains = opened()
        with threads(n_jobs):
            return try_candidates(domains, plan_for(domains, max_iter=1, random_state=seed))[0]

    one, two = run(1), run(2)
    assert_array_equal(two.sample[1], one.sample[1])
    assert_array_equal(two.lesson.positions[1], one.lesson.positions[1])
    assert_allclose(two.lesson.values, one.lesson.values, rtol=1e-9)
    assert_array_equal(two.first.labellings, one.first.labellings)
    assert_array_equal(two.labellings, one.labellings)
    assert_allclose(two.weighed.weight, one.weighed.weight, rtol=1e-12)
    assert not np.array_equal(run(1, seed=1).sample[1], one.sample[1])


# --------------------------------------------------------------------------------------------------
# Rows


@pytest.mark.parametrize(("per_class", "n_rows"), [(1, 15), (7, 21)])
def test_a_sample_is_labelled(monkeypatch, per_class, n_rows):
    monkeypatch.setattr(samples, "FIRST_ROWS", (15, per_class, 99))
    domains = open_domains(X, Y, {"a": X_TARGET, "b": X_TARGET[:10] - 1})
    trial, _ = try_candidates(domains, plan_for(domains, max_iter=1, kernel="linear"))
    of_source, of_large, of_small = trial.sample
    assert len(of_source) == len(of_large) == n_rows
    assert of_small is None
    assert trial.labellings.shape[1] == trial.weighed.consensus.shape[0] == n_rows + 10
    assert len(np.unique(of_large)) == n_rows
    assert_array_equal(np.bincount(Y[of_source]), n_rows // 3)
    assert len(trial.ground.y_reverse) == n_rows


def test_the_second_round_labels_more_rows(monkeypatch):
    monkeypatch.setattr(samples, "FIRST_ROWS", (15, 1, 99))
    monkeypatch.setattr(samples, "SECOND_ROWS", (24, 1, 99))
    domains = open_domains(X, Y, {"a": X_TARGET, "b": X_TARGET[:20] - 1})
    trial, _ = try_candidates(domains, plan_for(domains, max_iter=1, kernel="linear"))
    of_source, of_large, of_small = trial.lesson.positions
    assert len(of_source) == len(of_large) == 24
    assert of_small is None
    assert set(trial.sample[1]) < set(of_large)
    (rows, first), (others, second) = trial.lessons_of([36, 20])
    assert_array_equal(rows, of_large)
    assert_array_equal(others, np.arange(20))
    in_sample = np.isin(rows, trial.sample[1]), np.isin(others, trial.sample[2])
    assert_array_equal(np.vstack([first[in_sample[0]], second[in_sample[1]]]), trial.weighed.consensus)
    # The other rows have the votes of the finalists alone.
    adapted = trial.weighed.weight[trial.is_adapted].sum()
    assert_allclose(first[~in_sample[0]].sum(axis=1), adapted, rtol=1e-6)
    assert 0 < adapted < 1


def test_the_second_round_has_the_coordinates_of_the_first(monkeypatch):
    """Rows that were not in the first round are mapped as those that were, by no statistic of their own."""
    monkeypatch.setattr(samples, "FIRST_ROWS", (15, 1, 99))
    first, second = calls_of_iterate(monkeypatch)
    domains = opened()
    trial, _ = try_candidates(domains, plan_for(domains))
    finalists = [s for s in trial.settings if s.family == "adapted"]
    assert len(second) == len(finalists) == 4
    learned = [problem for problem, _ in first]
    for problem, _ in second:
        assert [len(rows) for rows in problem.rows] == [42, 36]
        few = [problem.rows[i][trial.sample[i]] for i in (0, 1)]
        assert any(
            of.rows[0].shape == few[0].shape
            and all(np.allclose(a, b, rtol=1e-9) for a, b in zip(few, of.rows, strict=True))
            for of in learned
        )


def test_sampled_rows_keep_their_labels_and_places():
    domains = open_domains(X, Y, X_TARGET, masked(Y_TARGET, 2))
    rows = np.array([1, 4, 5])
    few = take_rows(domains, (rows, None))
    assert_array_equal(few.sources[0].X, X[rows])
    assert_array_equal(few.sources[0].y, Y[rows])
    assert few.targets[0] is domains.targets[0]
    few = take_rows(domains, (None, rows))
    assert_array_equal(few.targets[0].X, X_TARGET[rows])
    assert_array_equal(few.targets[0].y, masked(Y_TARGET, 2)[rows])


@pytest.mark.parametrize("name", ["semi-supervised", "heterogeneous, semi-supervised"])
def test_given_labels_are_kept_in_every_labelling(name):
    domains = opened(name)
    trial, _ = try_candidates(domains, plan_for(domains, max_iter=1))
    given = masked(Y_TARGET, 2)
    assert {"nearest", "linear", "adapted"} == {s.family for s in trial.settings}
    for labels in (*trial.labellings, *trial.first.labellings):
        assert_array_equal(labels[given >= 0], given[given >= 0])


# --------------------------------------------------------------------------------------------------
# Fits without a choice


def untouched(*_):
    raise AssertionError("candidates were tried")


NO_CHOICE = {
    "paper": LPJT.paper(),
    "authors": LPJT.authors(),
    "no candidates": LPJT(candidates=None),
    "one view and one mass": LPJT(scaling="unit", target_proportions="source"),
    "one view and given proportions": LPJT(scaling="joint", target_proportions=[0.4, 0.3, 0.3]),
    "rows as they are": LPJT(scaling=None, target_proportions="free"),
}


@pytest.mark.parametrize("name", NO_CHOICE)
def test_fits_without_a_choice_try_no_candidate(monkeypatch, name):
    monkeypatch.setattr("lpjt.fitting.adapt.try_candidates", untouched)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = NO_CHOICE[name].set_params(random_state=0).fit(X, Y, X_TARGET)
    assert_allclose(model.label_distributions_.sum(axis=1), 1, atol=1e-6)


@pytest.mark.parametrize("given", [{}, {"scaling": "unit"}, {"target_proportions": "free"}])
def test_any_other_fit_tries_candidates(monkeypatch, given):
    monkeypatch.setattr("lpjt.fitting.adapt.try_candidates", untouched)
    with pytest.raises(AssertionError, match="candidates were tried"):
        LPJT(random_state=0, **given).fit(X, Y, X_TARGET)


def test_without_a_target_there_is_nothing_to_choose(monkeypatch):
    monkeypatch.setattr("lpjt.fitting.adapt.try_candidates", untouched)
    assert LPJT(random_state=0).fit(X, Y).score(X, Y) > 0.5


@pytest.mark.parametrize(("n_classes", "rows"), [(2, 15), (5, 15), (6, 18), (10, 30), (12, 30), (16, 32)])
def test_rows_of_a_round(n_classes, rows):
    # Fifteen, or three per class up to thirty, and always two of each class.
    assert bound_rows((15, 3, 30), n_classes) == rows


@pytest.mark.parametrize(("n_classes", "few", "more"), [(68, 800, 1500), (150, 1500, 3300), (345, 2500, 3500)])
def test_hundreds_of_classes_share_the_rows_of_a_round(n_classes, few, more):
    rounds = FIRST_ROWS, SECOND_ROWS
    assert [bound_rows(bounds, n_classes) for bounds in rounds] == [few, more]


@pytest.mark.parametrize("many", [False, True])
def test_the_second_round_is_shorter_with_many_classes(monkeypatch, many):
    monkeypatch.setattr(candidates, "MANY_CLASSES", 2 if many else 3)  # there are three
    monkeypatch.setattr(candidates, "FEWER_ITERATIONS", 2)
    plans = []
    monkeypatch.setattr(candidates, "iterate", lambda problem, plan, *rest, **named: plans.append(plan) or HARD)
    domains = opened()
    try_candidates(domains, plan_for(domains, max_iter=20))
    assert [plan.max_iter for plan in plans] == ([2] * 2 if many else [3] * 4)


def test_up_to_a_hundred_classes_the_second_round_is_whole():
    assert candidates.bound_second_round(100) == (3, 4)
    assert candidates.bound_second_round(101) == (3, 2)


@pytest.mark.parametrize(("asked", "expected"), [("auto", "exact"), ("exact", "exact"), ("approximate", "approximate")])
def test_the_few_rows_of_candidates_are_searched_exactly(asked, expected):
    domains = opened()
    plan = plan_for(domains, neighbor_search=asked)
    plan = replace(plan, settings=replace(plan.settings, search="approximate"))  # as for many rows
    assert candidates.make_small(plan, 2).settings.search == expected


def test_the_support_vector_machine_is_left_out_with_many_rows_and_classes(monkeypatch):
    domains = opened()
    n_linear = []
    for limit in (42 * 3, 42 * 3 - 1):
        monkeypatch.setattr("lpjt.fitting.views.MACHINE_ENTRIES", limit)
        trial, _ = try_candidates(domains, plan_for(domains))
        n_linear.append([s.family for s in trial.settings].count("linear"))
    assert n_linear == [6, 5]


@pytest.mark.parametrize(("n_components", "tried"), [("auto", True), (166, True), (167, False)])
def test_a_kernel_is_tried_if_its_rows_are_enough_for_the_components(n_components, tried):
    kernels = plan_for(opened(), n_components=n_components).kernels
    assert [kernel.function for kernel in kernels] == ["linear", "rbf"][: 1 + tried]
    assert not tried or kernels[1].max_rows == 500


@pytest.mark.parametrize(("n_classes", "tried"), [(83, True), (84, False)])
def test_a_kernel_is_tried_if_its_rows_are_enough_for_the_classes(n_classes, tried):
    given = LPJT().get_params(deep=False)
    plan = make_plan(given, classes=np.arange(n_classes), widths=[256, 256], n_rows=5000)
    assert (len(plan.kernels) == 2) == tried
