"""Weighing candidates: every term against loops, and what each constant is for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lpjt.selection import choice
from lpjt.selection.choice import (
    Ground,
    ViewFacts,
    balance_families,
    label_return,
    label_separation,
    prior_votes,
    view_kinship,
    view_mixing,
    vote_shares,
    weigh_candidates,
)
from lpjt.selection.evidence import shared_information

FAMILIES = ("nearest", "linear", "linear", "adapted", "adapted", "adapted")


def random_case(seed=0, n=30, n_source=20, n_classes=3, families=FAMILIES, *, local=0.7, linear=0.9, n_views=2):
    """Labellings that agree more often than not, with what they are judged by: the arguments of `weigh_candidates`."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, size=n)
    noise = rng.integers(0, n_classes, size=(len(families), n))
    labellings = np.where(rng.random(size=noise.shape) < 0.7, truth, noise)
    ground = Ground(
        nearest=tuple((np.arange(n) + rng.integers(1, n, size=n)) % n for _ in range(n_views)),
        reverse=tuple(rng.integers(0, n, size=n_source) for _ in range(n_views)),
        y_reverse=rng.integers(0, n_classes, size=n_source),
        local=local,
        linear=linear,
    )
    views = [ViewFacts(*facts) for facts in rng.random((len(families), 3)).tolist()]
    return labellings, list(families), views, ground, n_classes


def naive_information(labels, others):
    """Shared information of two labellings over the entropy of the first, summed over pairs of classes."""
    n, total, own = len(labels), 0.0, 0.0
    for a in set(labels):
        p = sum(x == a for x in labels) / n
        own -= p * np.log(p)
        for b in set(others):
            q = sum(x == b for x in others) / n
            both = sum(x == a and z == b for x, z in zip(labels, others, strict=True)) / n
            total += both * np.log(both / (p * q)) if both else 0.0
    return total / own if own else 0.0


def naive_weighing(labellings, families, views, ground, n_classes):
    """Every part of the evidence as loops over candidates, views and rows."""
    m, n = len(labellings), len(labellings[0])
    say = {"nearest": 0.5, "linear": 1.0, "adapted": 1.0}
    prior = [say[f] / families.count(f) for f in families]
    prior = [p / sum(prior) for p in prior]
    votes = [prior[k] * np.exp(views[k].mixing / 0.25) for k in range(m)]
    votes = [v / sum(votes) for v in votes]
    parts = {name: [] for name in ("separation", "reverse", "kinship", "clarity", "agreement", "score")}
    for i in range(m):
        y = labellings[i]
        same = [naive_information(y, [y[near[r]] for r in range(n)]) for near in ground.nearest]
        back = [naive_information([y[row] for row in near], ground.y_reverse) for near in ground.reverse]
        agreed = sum(votes[k] for r in range(n) for k in range(m) if labellings[k][r] == y[r]) / n
        separation, reverse = sum(same) / len(same), sum(back) / len(back) if back else 0.0
        score = ground.local * (separation + reverse) + 0.5 * views[i].kinship + views[i].clarity + agreed
        if families[i] != "adapted":
            score += 0.03
        if families[i] == "linear" and ground.linear > ground.local:
            score += (ground.linear - ground.local) * (1 - ground.local)
        values = (separation, reverse, views[i].kinship, views[i].clarity, agreed, score)
        for name, value in zip(parts, values, strict=True):
            parts[name].append(value)
    weight = [prior[i] * np.exp(parts["score"][i] / 0.2) for i in range(m)]
    parts["weight"] = [w / sum(weight) for w in weight]
    parts["consensus"] = np.zeros((n, n_classes))
    for i in range(m):
        for r in range(n):
            parts["consensus"][r, labellings[i][r]] += parts["weight"][i]
    return parts


PARTS = ("separation", "reverse", "kinship", "clarity", "agreement", "score", "weight", "consensus")


@pytest.mark.parametrize("linear", [0.5, 0.9])
@pytest.mark.parametrize("seed", range(4))
def test_every_part_is_that_of_the_loops(seed, linear):
    case = random_case(seed, linear=linear)
    found, expected = weigh_candidates(*case), naive_weighing(*case)
    for name in PARTS:
        assert_allclose(getattr(found, name), expected[name], rtol=1e-10, err_msg=name)
    assert found.best == int(np.argmax(expected["score"]))
    assert_allclose(found.weight.sum(), 1, rtol=1e-12)
    assert_allclose(found.consensus.sum(axis=1), 1, rtol=1e-12)


def test_without_a_reverse_search_it_counts_for_nothing():
    labellings, families, views, ground, n_classes = random_case()
    empty = Ground(ground.nearest, (), ground.y_reverse, ground.local, ground.linear)
    case = (labellings, families, views, empty, n_classes)
    found, expected = weigh_candidates(*case), naive_weighing(*case)
    assert_array_equal(found.reverse, 0)
    for name in PARTS:
        assert_allclose(getattr(found, name), expected[name], rtol=1e-10, err_msg=name)


def test_order_of_candidates_does_not_matter():
    labellings, families, views, ground, n_classes = random_case()
    order = np.random.default_rng(1).permutation(len(families))
    found = weigh_candidates(labellings, families, views, ground, n_classes)
    moved = [[part[i] for i in order] for part in (families, views)]
    again = weigh_candidates(labellings[order], *moved, ground, n_classes)
    for name in PARTS[:-1]:
        assert_allclose(getattr(again, name), getattr(found, name)[order], rtol=1e-10, err_msg=name)
    assert_allclose(again.consensus, found.consensus, atol=1e-12)
    assert order[again.best] == found.best


def test_names_of_classes_do_not_matter():
    labellings, families, views, ground, n_classes = random_case()
    renamed = np.array([2, 0, 1])
    other = Ground(ground.nearest, ground.reverse, renamed[ground.y_reverse], ground.local, ground.linear)
    found = weigh_candidates(labellings, families, views, ground, n_classes)
    again = weigh_candidates(renamed[labellings], families, views, other, n_classes)
    for name in PARTS[:-1]:
        assert_allclose(getattr(again, name), getattr(found, name), rtol=1e-12, err_msg=name)
    assert_allclose(again.consensus[:, renamed], found.consensus, atol=1e-12)


def test_one_candidate_has_all_weight():
    labellings, _, _, ground, n_classes = random_case()
    found = weigh_candidates(labellings[:1], ["nearest"], [ViewFacts(0.2, 0.4)], ground, n_classes)
    assert_array_equal(found.weight, [1])
    assert_array_equal(found.consensus, np.eye(n_classes)[labellings[0]])
    assert_allclose(found.agreement, 1)


# --------------------------------------------------------------------------------------------------
# Constants


def flat_ground(n=10, *, local=0.0, linear=0.0, reverse=()):
    """Evidence that is the same for all candidates of one labelling."""
    return Ground(((np.arange(n) + 1) % n,), reverse, np.zeros(4, dtype=int), local, linear)


def weights_of(labellings, families, kinship=None, mixing=None, clarity=None, **ground):
    nothing = [0.0] * len(families)
    views = [ViewFacts(*facts) for facts in zip(kinship or nothing, mixing or nothing, clarity or nothing, strict=True)]
    return weigh_candidates(np.asarray(labellings), families, views, flat_ground(**ground), 2)


def test_a_family_has_the_same_say_however_large_it_is():
    def totals(families):
        prior = balance_families(families)
        return {f: prior[[g == f for g in families]].sum() for f in set(families)}

    few = totals(["nearest", "linear", "adapted"])
    many = totals(["nearest", "linear", "adapted", *["adapted"] * 7, "linear"])
    for family, share in {"nearest": 0.2, "linear": 0.4, "adapted": 0.4}.items():
        assert_allclose([few[family], many[family]], share, rtol=1e-12)
    assert_allclose(balance_families(["adapted", "adapted"]), 0.5)  # absent families have no share
    assert_allclose(balance_families(["nearest", "adapted", "nearest"]), [1 / 6, 2 / 3, 1 / 6])


def test_families_differ_in_their_say_before_any_evidence():
    found = weights_of([[0] * 10] * 2, ["nearest", "linear"])
    assert_allclose(found.score[0], found.score[1])
    assert_allclose(found.weight, [1 / 3, 2 / 3], rtol=1e-10)


def test_copies_of_a_wrong_candidate_do_not_outvote_the_others():
    right, wrong = [0] * 10, [1] * 10
    found = weights_of([right, *[wrong] * 9], ["linear", *["nearest"] * 9])
    assert_allclose(found.agreement[[0, 1]], [2 / 3, 1 / 3])
    assert found.best == 0
    assert_array_equal(found.consensus.argmax(axis=1), 0)


def test_a_candidate_agrees_with_its_own_vote_though_its_labels_are_new():
    labellings, families, views, ground, n_classes = random_case()
    prior = prior_votes(families, [view.mixing for view in views])
    first = weigh_candidates(labellings, families, views, ground, n_classes)
    again = labellings.copy()
    again[-1, ::3] = (again[-1, ::3] + 1) % n_classes
    given = {"votes": first.votes, "before": {len(families) - 1: (prior[-1], labellings[-1])}}
    found = weigh_candidates(again, families, views, ground, n_classes, **given)
    # By hand: its own vote goes with it, and those of the others stay.
    rows = np.arange(labellings.shape[1])
    own = np.zeros_like(first.votes)
    own[rows, labellings[-1]] = prior[-1]
    expected = prior[-1] + (first.votes - own)[rows, again[-1]].mean()
    assert_allclose(found.agreement, [*first.agreement[:-1], expected], rtol=1e-12)
    assert_allclose(found.score[:-1], first.score[:-1], rtol=1e-12)
    assert_array_equal(found.votes, first.votes)


def test_sharpness_turns_scores_into_weights():
    found = weights_of([[0] * 10] * 2, ["adapted"] * 2, kinship=[0.4, 0.0])  # scores differ by 0.2, one sharpness
    assert_allclose(found.score[0] - found.score[1], 0.2, rtol=1e-10)
    assert_allclose(found.weight[0] / found.weight[1], np.e, rtol=1e-8)


def test_scores_far_apart_give_no_overflow():
    with np.errstate(over="raise", invalid="raise"):
        found = weights_of([[0] * 10] * 2, ["adapted"] * 2, kinship=[1e3, 0.0])
    assert_allclose(found.weight, [1, 0], atol=1e-12)


def test_kinship_weighs_half():
    found = weights_of([[0] * 10] * 2, ["adapted"] * 2, kinship=[0.8, 0.2])
    assert_allclose(found.score[0] - found.score[1], 0.3, rtol=1e-10)
    assert_array_equal(found.kinship, [0.8, 0.2])


def test_clarity_weighs_in_full():
    found = weights_of([[0] * 10] * 2, ["adapted"] * 2, clarity=[0.9, 0.7])
    assert_allclose(found.score[0] - found.score[1], 0.2, rtol=1e-10)
    assert_array_equal(found.clarity, [0.9, 0.7])


def test_separation_and_return_weigh_as_much_as_neighbours_tell():
    # Rows are joined to the next one: in the first labelling, blocks of five, the label of a row tells that of the next
    # in eight of ten cases; in the second, pairs of rows, it tells nothing. Source rows tell all of both labellings.
    labellings, near = np.array([[0] * 5 + [1] * 5, [0, 0, 1, 1, 0, 0, 1, 1, 0, 1]]), np.array([0, 1, 7, 9])
    y_reverse = np.array([0, 0, 1, 1])
    told = naive_information(labellings[0], np.roll(labellings[0], -1))
    less = naive_information(labellings[1], np.roll(labellings[1], -1))
    for local in (0.0, 0.6):
        ground = Ground(((np.arange(10) + 1) % 10,), (near,), y_reverse, local, 0.0)
        found = weigh_candidates(labellings, ["adapted"] * 2, [ViewFacts()] * 2, ground, 2)
        assert_allclose(found.separation, [told, less], atol=1e-12)
        assert_allclose(found.reverse, 1)
        assert_allclose(found.score - found.agreement, local * (np.array([told, less]) + 1), atol=1e-12)


def test_unadapted_candidates_start_with_a_bonus():
    for family in ("nearest", "linear"):
        found = weights_of([[0] * 10] * 2, [family, "adapted"])
        assert_allclose(found.score[0] - found.score[1], 0.03, rtol=1e-9)


@pytest.mark.parametrize(("local", "linear", "gain"), [(0.5, 0.9, 0.2), (0.9, 0.5, 0.0), (0.7, 0.7, 0.0), (1, 1, 0)])
def test_linear_candidates_gain_only_where_linear_is_better_than_local(local, linear, gain):
    found = weights_of([[0] * 10] * 3, ["nearest", "linear", "adapted"], local=local, linear=linear)
    assert_allclose(found.score[1] - found.score[0], gain, atol=1e-12)
    assert_allclose(found.score[0] - found.score[2], 0.03, rtol=1e-9)


def test_a_view_in_which_the_domains_mix_outvotes_those_in_which_they_do_not():
    right, wrong = [0] * 10, [1] * 10
    labellings, families = [right, *[wrong] * 4], ["linear"] * 5
    assert weights_of(labellings, families).best > 0  # where all mix alike, the many win
    found = weights_of(labellings, families, mixing=[0.9, 0.1, 0.2, 0.1, 0.0])
    assert found.best == 0
    assert found.agreement[0] > 0.8 > 0.2 > found.agreement[1]
    assert_array_equal(found.consensus.argmax(axis=1), 0)


def test_mixing_counts_for_votes_alone():
    found = weights_of([[0] * 10] * 2, ["adapted"] * 2, mixing=[1.0, 0.0])  # the same labels: nobody to outvote
    assert_allclose(found.weight, 0.5, rtol=1e-12)


def test_votes_fall_by_e_for_each_unit_of_mixing():
    families = ["nearest", "linear", "linear"]
    votes = prior_votes(families, [0.75, 0.5, 0.25])
    assert_allclose(votes.sum(), 1, rtol=1e-12)
    assert_allclose(votes[1] / votes[2], np.e, rtol=1e-10)
    assert_allclose(votes[0] / votes[1], np.e, rtol=1e-10)  # both have half a say each
    assert_allclose(prior_votes(families, [0.3] * 3), balance_families(families), rtol=1e-12)
    assert_allclose(prior_votes(families, [1.75, 1.5, 1.25]), votes, rtol=1e-10)  # only differences count


def test_every_family_has_a_say():
    assert set(choice.FAMILIES) == {"nearest", "linear", "adapted"}


# --------------------------------------------------------------------------------------------------
# Parts


def test_vote_shares_by_hand():
    found = vote_shares(np.array([[0, 1, 2], [0, 0, 2], [1, 1, 2]]), np.array([0.5, 0.3, 0.2]), 4)
    assert_allclose(found, [[0.8, 0.2, 0, 0], [0.3, 0.7, 0, 0], [0, 0, 1, 0]], atol=1e-12)


def test_kinship_by_hand():
    nearest_labels = np.array([[0, 0], [1, 0], [1, 1]])  # of three target rows: two nearest source rows
    # Source rows 0, 1, 2 go to target rows 0, 1, 1 and come back with labels 0, 1, 1: two of three keep theirs.
    # Five of six source rows near a target row have the label of the nearest, which is one of the two.
    found = view_kinship(nearest_labels, np.array([0, 1, 1]), np.array([0, 1, 0]))
    assert_allclose(found, (2 / 3 + 5 / 6) / 2)
    assert view_kinship(np.array([[0, 0], [1, 1]]), np.array([0, 1]), np.array([0, 1])) == 1.0
    assert_allclose(view_kinship(np.array([[0, 1], [1, 0]]), np.array([1, 0]), np.array([0, 1])), 0.25)


def test_labels_that_are_all_the_same_tell_nothing():
    around = (np.arange(6) + 1) % 6
    assert label_separation(np.zeros(6, dtype=int), [around], 3) == 0
    assert label_return(np.full(6, 2), [around], np.array([0, 1, 2, 0, 1, 2]), 3) == 0
    assert label_return(np.arange(3), [], np.array([0, 1]), 3) == 0  # no view compares the domains


def test_separation_by_hand():
    pairs = np.array([1, 0, 3, 2])
    assert_allclose(label_separation(np.array([0, 0, 1, 1]), [pairs], 2), 1.0)
    labels, across = np.array([0, 0, 0, 1]), np.array([3, 3, 3, 0])
    assert_allclose(label_separation(labels, [across], 2), naive_information(labels, labels[across]))
    both = label_separation(labels, [across, pairs], 2)
    assert_allclose(both, (label_separation(labels, [across], 2) + label_separation(labels, [pairs], 2)) / 2)


def test_information_needs_no_table_of_all_pairs_of_classes():
    labels = np.array([3, 3, 99_999, 99_999])
    assert_allclose(shared_information(labels, labels[::-1], 100_000), 1.0)
    assert shared_information(labels, np.array([7, 8, 7, 8]), 100_000) == 0.0
    assert shared_information(np.array([], dtype=int), np.array([], dtype=int), 3) == 0.0


def test_merged_classes_separate_more_rows_but_tell_less():
    """What the share of rows with a neighbour of their label cannot see: six classes, of which three are merged."""
    rng = np.random.default_rng(0)
    y, noisy = np.repeat(np.arange(6), 50), rng.random(300) < 0.2
    labels = np.where(noisy, rng.integers(0, 6, size=300), y)
    merged = np.where(labels < 4, 0, labels)
    near = np.concatenate([rng.permutation(np.flatnonzero(y == c)) for c in range(6)])
    assert np.mean(merged[near] == merged) > np.mean(labels[near] == labels)
    assert label_separation(labels, [near], 6) > label_separation(merged, [near], 6)


def test_source_rows_of_classes_that_the_target_lacks_do_no_harm():
    """Labels of a target with two of five classes: right ones tell all, ones spread over five classes tell less."""
    y_source, truth = np.repeat(np.arange(5), 20), np.repeat([0, 1], 50)
    rng = np.random.default_rng(0)
    near = np.where(y_source < 2, 50 * y_source + rng.integers(0, 50, size=100), rng.integers(0, 100, size=100))
    spread = rng.integers(0, 5, size=100)
    assert label_return(truth, [near], y_source, 5) > label_return(spread, [near], y_source, 5) + 0.1


def test_mixing_by_hand():
    own = (np.array([[1.0, 4.0], [1.0, 4.0]]), np.array([[1.0, 9.0], [1.0, 9.0], [9.0, 16.0]]))
    others = (np.array([[2.0, 3.0], [5.0, 6.0]]), np.array([[4.0, 25.0], [0.5, 2.0], [1.0, 2.0]]))
    # Of the two nearest rows of all: one and none are foreign for the source, one, one and two for the target. Classes
    # have 1 + 2 and 1 + 1 rows, so of the other rows of its class, a row would expect these shares to be foreign:
    source, target = 2 / 2 + 1 / 1, 1 / 2 + 1 / 2 + 1 / 1
    found = view_mixing(own, others, np.array([0, 1]), np.array([0, 0, 1]), 2)
    assert_allclose(found, np.sqrt((0.5 + 0.0) / source * (0.5 + 0.5 + 1.0) / target))


def test_equal_distances_count_as_of_the_same_domain():
    ones = (np.ones((2, 2)), np.ones((2, 2)))
    y = np.array([0, 0])
    assert view_mixing(ones, ones, y, y, 1) == 0.0


def mixing_of(source, target, y, k=5):
    """`view_mixing` of rows, by all distances."""

    def squared(A, B):
        return np.square(A[:, None] - B[None]).sum(axis=2)

    between = squared(source, target)
    own = tuple(np.sort(squared(A, A), axis=1)[:, 1 : k + 1] for A in (source, target))
    others = tuple(np.sort(D, axis=1)[:, :k] for D in (between, between.T))
    return view_mixing(own, others, y, y[between.argmin(axis=0)], int(y.max()) + 1)


def gaussian_classes(seed, n=300, n_classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, size=n)
    return 8 * np.eye(n_classes, 4)[y] + rng.normal(size=(n, 4)), y


@pytest.mark.parametrize("seed", range(3))
def test_halves_of_one_gaussian_mix_and_domains_far_apart_do_not(seed):
    rows = np.random.default_rng(seed).normal(size=(400, 3))
    y = np.zeros(200, dtype=int)
    assert_allclose(mixing_of(rows[:200], rows[200:], y), 1, atol=0.1)
    assert mixing_of(rows[:200], rows[200:] + 50, y) == 0.0
    assert 0.05 < mixing_of(rows[:200], rows[200:] + np.array([1.5, 0, 0]), y) < 0.9


@pytest.mark.parametrize("seed", range(3))
def test_classes_that_are_cut_do_not_change_the_mixing_much(seed):
    rows, y = gaussian_classes(seed)
    source, target, of_source, of_target = rows[:150], rows[150:], y[:150], y[150:]
    whole = mixing_of(source, target, of_source)
    assert_allclose(whole, 1, atol=0.1)
    assert_allclose(mixing_of(source, target[of_target < 2], of_source), whole, atol=0.08)
    few = (of_target > 0) | (np.arange(150) % 4 == 0)
    assert_allclose(mixing_of(source, target[few], of_source), whole, atol=0.08)


def test_mixing_does_not_depend_on_names_or_order():
    rows, y = gaussian_classes(0)
    source, target, of_source = rows[:150], rows[150:] + 0.5, y[:150]
    found = mixing_of(source, target, of_source)
    order = np.random.default_rng(1).permutation(150)
    assert_allclose(mixing_of(source[order], target[order], of_source[order]), found, rtol=1e-12)
    assert_allclose(mixing_of(source, target, np.array([2, 0, 1])[of_source]), found, rtol=1e-12)
