"""What a trial tells: positions of the consensus, the choice, the table and the facts; any input goes through."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from lpjt import LPJT
from lpjt.fitting.trial import Sampled
from problems import masked
from trials import INPUTS, X_TARGET, Y_TARGET, X, Y, hand_made

FAMILIES = ("nearest", "linear", "adapted", "adapted")


def test_the_consensus_is_split_by_targets_at_the_sampled_positions():
    consensus = np.random.default_rng(0).dirichlet([1, 1], size=7)
    trial = hand_made([1], ["adapted"], consensus=consensus, sample=(np.array([3, 9]), np.array([0, 4, 8]), None))
    (rows, first), (others, second) = trial.lessons_of([10, 4])
    assert_array_equal(rows, [0, 4, 8])
    assert_array_equal(first, consensus[:3])
    assert_array_equal(others, np.arange(4))
    assert_array_equal(second, consensus[3:])
    trial = hand_made([1], ["adapted"], consensus=consensus, sample=(None, None, None))  # two sources, one target
    ((rows, whole),) = trial.lessons_of([7])
    assert_array_equal(rows, np.arange(7))
    assert_array_equal(whole, consensus)


def test_a_larger_sample_teaches_if_there_is_one():
    lesson = Sampled((None, np.array([1, 5])), np.array([[0.2, 0.1], [0.3, 0.7]]))
    trial = replace(hand_made([1], ["adapted"], consensus=[[0.6, 0.4]], sample=(None, np.array([5]))), lesson=lesson)
    ((rows, found),) = trial.lessons_of([7])
    assert_array_equal(rows, [1, 5])
    assert_array_equal(found, lesson.values)


@pytest.mark.parametrize(("scores", "adapts"), [((0.5, 0.9, 0.1, 0.82), False), ((0.5, 0.9, 0.84, 0.1), True)])
def test_a_fit_adapts_unless_an_unadapted_candidate_is_better_by_a_margin(scores, adapts):
    assert hand_made([0.25] * 4, FAMILIES, scores=scores).adapts is adapts


def test_labels_have_credit_by_their_votes():
    votes = [[0.8, 0.2], [0.6, 0.4], [0.3, 0.7]]
    trial = hand_made([1], ["adapted"], consensus=votes, votes=votes, sample=(None, np.array([0, 2]), np.array([1])))

    def credit(*labels):
        F = np.eye(2)[list(labels)]
        return trial.credit([F[:3], F[3:]])

    assert_allclose(credit(0, 1, 0, 0, 1), 1.0)  # rows 0 and 2 of the first target and row 1 of the second: 0, 0, 1
    assert_allclose(credit(0, 1, 1, 0, 1), np.exp(-(0.2 / 3) / 0.1))
    assert_allclose(credit(1, 0, 1, 1, 0), np.exp(-(0.6 + 0.2 + 0.4) / 3 / 0.1))


def test_the_chosen_and_the_best_unadapted():
    trial = hand_made([0.25] * 4, FAMILIES, scores=[0.5, 0.9, 0.1, 0.3])
    assert trial.weighed.best == 1
    assert trial.chosen == 3  # the best of the adapted ones
    assert trial.best_unadapted is trial.settings[1]
    alone = hand_made([0.5, 0.5], ("nearest", "linear"), scores=[0.5, 0.9])
    assert alone.chosen == 1
    assert not alone.adapts


def test_the_table_has_the_best_first():
    trial = hand_made([0.1, 0.2, 0.3, 0.4], FAMILIES, scores=[0.5, 0.9, 0.1, 0.3])
    table = trial.table()
    assert [record["score"] for record in table] == [0.9, 0.5, 0.3, 0.1]
    assert [record["candidate"] for record in table] == ["linear", "1-NN", "LPJT", "LPJT"]
    assert [record["chosen"] for record in table] == [False, False, True, False]
    assert [record["weight"] for record in table] == [0.2, 0.1, 0.4, 0.3]
    assert [record["kinship"] for record in table] == [0.1, 0.0, 0.3, 0.2]
    assert [record["kernel"] for record in table] == [None, None, "linear", "linear"]
    assert [record["masses"] for record in table] == [None, None, "source", "source"]
    assert table[0]["view"] == "view 1"


def test_of_candidates_that_are_level_the_clearest_view_is_chosen():
    trial = hand_made([0.25] * 4, FAMILIES, scores=(0.5, 0.9, 0.84, 0.8))
    assert trial.chosen == 2
    clearest = replace(trial, weighed=replace(trial.weighed, clarity=np.array([0.9, 0.9, 0.6, 0.7])))
    assert clearest.chosen == 3
    behind = replace(clearest, weighed=replace(clearest.weighed, score=np.array([0.5, 0.9, 0.84, 0.7])))
    assert behind.chosen == 2


def test_of_candidates_that_are_level_the_one_that_agrees_with_the_consensus_is_chosen():
    consensus = [[0.8, 0.2], [0.7, 0.3], [0.9, 0.1], [0.5, 0.5]]
    labellings = [[1, 1, 1, 1], [1, 1, 1, 1], [0, 1, 0, 0], [0, 0, 0, 1]]  # the last one has 0.1 more of the consensus
    given = {"consensus": consensus, "labellings": labellings}
    trial = hand_made([0.25] * 4, FAMILIES, scores=(0.5, 0.9, 0.84, 0.8), **given)
    assert trial.chosen == 3
    for clarity, chosen in ((0.09, 3), (0.11, 2)):  # a clearer view counts as much
        clear = replace(trial, weighed=replace(trial.weighed, clarity=np.array([0, 0, clarity, 0.0])))
        assert clear.chosen == chosen


def test_facts_by_hand():
    votes = [[0.8, 0.2], [0.4, 0.6], [0.2, 0.8], [0.0, 1.0]]
    consensus = [[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.2, 0.8]]
    sample = (None, np.array([1, 3]), np.array([0, 2]))
    trial = hand_made([0.25] * 4, FAMILIES, consensus=consensus, votes=votes, sample=sample)
    whole = [np.full((4, 2), 0.5), np.full((3, 2), 0.5)]
    whole[0][[1, 3]], whole[1][[0, 2]] = [[0.7, 0.3], [0.8, 0.2]], [[0.1, 0.9], [0.6, 0.4]]  # labels 0, 0, 1, 0
    facts = trial.facts(whole)
    assert_allclose(facts.agreement, np.mean([0.8, 0.4, 0.8, 0.0]))
    # By candidates: 1-NN and linear, then two adapted ones.
    assert_allclose(facts.adapted, agreed(trial, 2, trial.labellings[3]))
    assert_allclose(facts.certainty, np.mean([0.9, 0.6, 0.7, 0.8]))


def test_scale_dependence_by_hand():
    labellings = [[0, 0, 0, 1], [0, 1, 1, 1], [0, 0, 1, 1], [1, 1, 1, 1]]
    trial = hand_made([0.25] * 4, FAMILIES, labellings=labellings, sample=(None, np.array([1, 3]), np.array([0, 2])))
    trial = replace(trial, mixing=0.84)
    whole = [np.eye(2)[[1, 0, 1, 0]], np.eye(2)[[0, 1, 1]]]  # labels 0, 0, 0, 1 of the sampled rows

    def dependence(*views, **changed):
        settings = tuple(replace(s, view=view) for s, view in zip(trial.settings, views, strict=True))
        return replace(trial, settings=settings, **changed).scale_dependence(whole)

    assert_allclose(dependence("standard", "source", "source", "source"), 0.5)  # 3/4 and 1/4: 1-NN has another view
    assert_allclose(dependence("source-length", "source", "source", "source"), 0.25)  # 3/4 and the mean, 1/2
    assert dependence("standard", "joint", "source", "source") == 0.0  # adapted candidates alone
    assert dependence("source", "source", "none", "none", held="labels were given") == 0.0
    assert dependence("source", "source", "none", "none") == 0.25
    assert dependence("source", "source", "none", "none", mixing=0.85) == 0.0


def agreed(trial, candidate, labels):
    return sum(a == b for a, b in zip(trial.labellings[candidate], labels, strict=True)) / len(labels)


def test_without_two_adapted_candidates_all_speak_for_them():
    trial = hand_made([0.3, 0.3, 0.4], ("nearest", "linear", "adapted"))
    labels = np.zeros(trial.labellings.shape[1], dtype=int)
    facts = trial.facts([np.eye(2)[labels]])
    assert_allclose(facts.adapted, np.mean([agreed(trial, i, labels) for i in range(3)]))


# --------------------------------------------------------------------------------------------------
# Whole fits


def distributions(*given, **parameters):
    """Distributions of each target."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = LPJT(**{"random_state": 0, "max_iter": 2, **parameters}).fit(*given).label_distributions_
    return list(found.values()) if isinstance(found, dict) else [found]


@pytest.mark.parametrize("name", INPUTS)
def test_any_input_has_distributions(name):
    given = INPUTS[name]
    parts = distributions(*given)
    targets = list(given[2].values()) if isinstance(given[2], dict) else [given[2]]
    assert [len(F) for F in parts] == [len(rows) for rows in targets]
    for F in parts:
        assert np.isfinite(F).all()
        assert F.min() >= 0
        assert_allclose(F.sum(axis=1), 1, atol=1e-6)


def test_sparse_rows_have_the_labels_of_dense_ones():
    dense = np.maximum(X, 0), Y, np.maximum(X_TARGET, 0)
    (expected,), (found,) = (
        distributions(*given) for given in (dense, (sparse.csr_array(dense[0]), Y, sparse.csr_array(dense[2])))
    )
    assert_allclose(found.sum(axis=1), 1, atol=1e-6)
    assert np.mean(found.argmax(axis=1) == expected.argmax(axis=1)) > 0.95


@pytest.mark.parametrize("sample_size", [None, 20])
def test_given_labels_are_one_hot_after_the_whole_fit(sample_size):
    given = masked(Y_TARGET, 2)
    (F,) = distributions(X, Y, X_TARGET, given, sample_size=sample_size)
    assert_array_equal(F[given >= 0], np.eye(3)[given[given >= 0]])
    assert_allclose(F.sum(axis=1), 1, atol=1e-6)


@pytest.mark.parametrize("sample_size", [None, 20])
def test_without_evidence_for_adaptation_the_labels_are_those_of_the_consensus(monkeypatch, sample_size):
    monkeypatch.setattr("lpjt.fitting.trial.ADAPT_MARGIN", -9.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LPJT(random_state=0, max_iter=1, sample_size=sample_size).fit(X, Y, X_TARGET, masked(Y_TARGET, 1))
    assert model.adapted_ is False
    F, given = model.label_distributions_, masked(Y_TARGET, 1)
    assert_allclose(F.sum(axis=1), 1, atol=1e-6)
    assert_array_equal(F[given >= 0], np.eye(3)[given[given >= 0]])
    found = model.predict_proba(X_TARGET)[given < 0].argmax(axis=1)  # by the regression, which the consensus teaches
    assert np.mean(found == F[given < 0].argmax(axis=1)) > 0.9
