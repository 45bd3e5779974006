"""Which candidates to believe: evidence for several labellings of the same target rows, with few target labels or none.

A candidate is a way to label the target. No candidate is best everywhere: how columns are scaled (the view) and which
class masses are assumed decide more than any weight of the objective. So several are tried on a sample of the rows, and
what they agree on, weighed by evidence, is the *consensus*: it sets the class proportions of the whole fit, and takes
part in its labels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lpjt._typing import Array, Codes
from lpjt.core.ties import preferred_first
from lpjt.selection.evidence import shared_information
from lpjt.selection.given import evidence_of_given

#: The families of candidates, and the say of each: as many candidates as a family may have, together they have this
#: weight before any evidence. Without it, many similar candidates that are wrong together outvote the others.
FAMILIES = {"nearest": 0.5, "linear": 1.0, "adapted": 1.0}

#: Votes of a view in which the domains mix less by this much count less by a factor of e: where one view makes the
#: domains alike, the views that leave them apart would otherwise outvote it.
MIXING_UNIT = 0.25

#: A candidate whose score is lower by this much has a weight that is lower by a factor of e. Evidence cannot tell the
#: best candidate from other good ones, so the weights fall slowly.
SHARPNESS = 0.2

#: Weight of the view's kinship in the score, and what the score of an unadapted candidate starts with: where the
#: evidence is level, adaptation is not worth its risk. The other parts of the evidence weigh 1.
KINSHIP_WEIGHT, UNADAPTED_BONUS = 0.5, 0.03


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """What all candidates are judged by; found once, from rows and source labels alone."""

    nearest: tuple[Codes, ...]  # for each view: the nearest other target row of each target row, (n,)
    reverse: tuple[Codes, ...]  # for each view: the nearest target row of some source rows; empty if widths differ
    y_reverse: Codes  # labels of these source rows
    local: float  # accuracy of leave-one-out 1-NN on the labelled rows, in the best view
    linear: float  # accuracy of leave-one-out ridge regression on them, in the best view


@dataclass(frozen=True, slots=True)
class ViewFacts:
    """What a view tells before any labelling of the target; each in [0, 1], 0 if it cannot be told."""

    kinship: float = 0.0  # how well the view joins the domains, see `view_kinship`
    mixing: float = 0.0  # `view_mixing` times the kinship: how much votes of its candidates count for the agreement
    clarity: float = 0.0  # accuracy of leave-one-out 1-NN and ridge regression on the labelled rows, mean of both


@dataclass(frozen=True, slots=True, eq=False)
class Weighed:
    """Evidence for each of m candidates, each part in [0, 1], and what follows from it."""

    separation: Array  # (m,) see `label_separation`
    reverse: Array  # (m,) see `label_return`
    kinship: Array  # (m,) of the candidate's view, as in `ViewFacts`
    clarity: Array  # (m,) likewise
    agreement: Array  # (m,) mean share of the candidates, balanced by family, that give a row the same label
    score: Array  # (m,)
    weight: Array  # (m,) of each candidate in the consensus; sums to 1
    consensus: Array  # (n, n_classes) weighted share of the candidates that give each label
    votes: Array  # (n, n_classes) the same before any evidence, see `prior_votes`
    found: Array | None = None  # (m,) share of given target labels that the candidate finds; None if none is given

    @property
    def consent(self) -> float:
        """Mean share of the votes that the labels of the consensus have."""
        return float(self.votes[np.arange(len(self.votes)), self.consensus.argmax(axis=1)].mean())

    @property
    def best(self) -> int:
        """The candidate with the highest score."""
        return int(self.score.argmax())


def weigh_candidates(
    labellings: Codes,
    families: Sequence[str],
    views: Sequence[ViewFacts],
    ground: Ground,
    n_classes: int,
    *,
    votes: Array | None = None,
    before: Mapping[int, tuple[float, Codes]] | None = None,
    soft: Mapping[int, Array] | None = None,
    given: tuple[Codes, Codes] | None = None,
) -> Weighed:
    """Weigh labellings of the same rows against each other.

    The score is ``local (separation + return) + kinship / 2 + clarity + agreement``, plus a small bonus without
    adaptation. Clarity decides between views that are level otherwise. Neighbours count as far as they share their
    class at all, which the labelled rows tell (`Ground.local`). Where they often do not, and a linear classifier does
    better, linear candidates gain the difference.

    Parameters
    ----------
    labellings : int array, (m, n)
        Class codes of the n target rows by each of m candidates.
    families : sequence of str, (m,)
        "nearest", "linear" or "adapted", as in `FAMILIES`.
    views : sequence of ViewFacts, (m,)
        Of the view of each candidate.
    ground : Ground
    n_classes : int
    votes : array, (n, n_classes), optional
        Shares of votes that candidates are to agree with; by default those of the candidates themselves. Candidates
        that were made from earlier votes are judged by those: among themselves they agree, right or wrong.
    before : mapping of position to pair of float and int array, (n,), optional
        Weight of the vote that a candidate has among `votes`, and the labels that it voted for, if it has others now:
        it agrees with itself all the same, as those do whose labels are as they were.
    soft : mapping of position to array, (n, n_classes), optional
        Distributions that some of the candidates give to the consensus instead of their labels.
    given : pair of int arrays, (m, g) and (g,), optional
        What candidates say of rows whose label was hidden from them, and these labels: see `evidence_of_given`, which
        the score gains.

    Returns
    -------
    Weighed
    """
    prior = balance_families(families)
    if votes is None:
        votes = vote_shares(labellings, prior_votes(families, [view.mixing for view in views]), n_classes)
    rows = np.arange(labellings.shape[1])
    separated = np.array([label_separation(y, ground.nearest, n_classes) for y in labellings])
    returned = np.array([label_return(y, ground.reverse, ground.y_reverse, n_classes) for y in labellings])
    agreement = np.array([votes[rows, y].mean() for y in labellings])
    for i, (weight_before, labels_before) in (before or {}).items():
        agreement[i] += weight_before * np.mean(labellings[i] != labels_before)
    unadapted, linear = (np.array([f in group for f in families]) for group in (("nearest", "linear"), ("linear",)))
    kinship, clarity = (np.array([getattr(view, part) for view in views]) for part in ("kinship", "clarity"))
    score = ground.local * (separated + returned) + KINSHIP_WEIGHT * kinship + clarity + agreement
    score += UNADAPTED_BONUS * unadapted + max(ground.linear - ground.local, 0.0) * (1 - ground.local) * linear
    found = None
    if given is not None:
        found, gained = evidence_of_given(*given)
        score += gained
    weight = prior * np.exp((score - score.max()) / SHARPNESS)
    weight /= weight.sum()
    soft = soft or {}
    consensus = vote_shares(labellings, np.where([i in soft for i in range(len(weight))], 0.0, weight), n_classes)
    for i, F in soft.items():
        consensus += weight[i] * F
    return Weighed(separated, returned, kinship, clarity, agreement, score, weight, consensus, votes, found)


def label_separation(labels: Codes, nearest: Sequence[Codes], n_classes: int) -> float:
    """How far the label of a target row's nearest other row tells its own: shared information, mean over views.

    The share of rows whose nearest row has their label would do where all classes are there, but it rises when classes
    are merged, which is how most labels go wrong if there are many classes.

    Parameters
    ----------
    labels : int array, (n,)
    nearest : sequence of int arrays, (n,)
        Nearest other row of each row, for each view.
    n_classes : int
    """
    return float(np.mean([shared_information(labels, labels[near], n_classes) for near in nearest]))


def label_return(labels: Codes, reverse: Sequence[Codes], y_source: Codes, n_classes: int) -> float:
    """How far a source row's label tells the label of its nearest target row: shared information, mean over views.

    Source rows of classes that the target lacks do no harm here, unlike in the share of source rows whose nearest
    target row has their label. 0 if no view compares the domains.

    Parameters
    ----------
    labels : int array, (n,)
        Of the target rows.
    reverse : sequence of int arrays, (n_source,)
        Nearest target row of each source row, for each view.
    y_source : int array, (n_source,)
    n_classes : int
    """
    if not reverse:
        return 0.0
    return float(np.mean([shared_information(labels[near], y_source, n_classes) for near in reverse]))


def view_kinship(nearest_labels: Codes, reverse: Codes, y_source: Codes) -> float:
    """How well a view joins the domains, in [0, 1]: the mean of two shares that need no labelling.

    The share of source rows that keep their label on the way to their nearest target row and from there to its nearest
    source row; and the share of the other source rows near a target row that have the label of the nearest.

    Parameters
    ----------
    nearest_labels : int array, (n_target, k)
        Labels of the k nearest source rows of each target row, nearest first.
    reverse : int array, (n_source,)
        Nearest target row of each source row.
    y_source : int array, (n_source,)
    """
    cycle = np.mean(nearest_labels[reverse, 0] == y_source)
    pure = np.mean(nearest_labels == nearest_labels[:, :1])
    return float(cycle + pure) / 2


def view_mixing(
    own: tuple[Array, Array], others: tuple[Array, Array], y_source: Codes, nearest_labels: Codes, n_classes: int
) -> float:
    """How well the domains mix in a view: about 1 if they cannot be distinguished, near 0 if they are apart.

    Among the k nearest rows of a row, in both domains together, the share of rows of the other domain, over the share
    that is expected if the row's class is spread alike over both; the geometric mean of both domains' ratios. Labels of
    target rows are those of the nearest source row.

    Parameters
    ----------
    own : pair of arrays, (n_source, k) and (n_target, k)
        Squared distances of the nearest other rows of the same domain, for source and target rows.
    others : pair of arrays, (n_source, k) and (n_target, k)
        Squared distances of the nearest rows of the other domain.
    y_source : int array, (n_source,)
    nearest_labels : int array, (n_target,)
    n_classes : int
    """
    counts = [np.bincount(y, minlength=n_classes) for y in (y_source, nearest_labels)]
    ratios = []
    for side, y in enumerate((y_source, nearest_labels)):
        k = own[side].shape[1]
        together = preferred_first(others[side], own[side])
        foreign = (np.argsort(together, axis=1, kind="stable")[:, :k] < others[side].shape[1]).mean(axis=1)
        expected = counts[1 - side][y] / np.maximum(counts[0][y] + counts[1][y] - 1, 1)
        ratios.append(foreign.sum() / max(expected.sum(), 1e-9))
    return float(np.sqrt(ratios[0] * ratios[1]))


def prior_votes(families: Sequence[str], mixing: Sequence[float]) -> Array:
    """Weights of the candidates' votes, (m,), before any evidence for them: by family, and by mixing of the view."""
    votes = balance_families(families) * np.exp((np.asarray(mixing) - max(mixing)) / MIXING_UNIT)
    return votes / votes.sum()


def balance_families(families: Sequence[str]) -> Array:
    """Weights, (m,), that sum to 1 and give each family its say, shared equally by its candidates."""
    sizes = {family: list(families).count(family) for family in FAMILIES}
    prior = np.array([FAMILIES[family] / sizes[family] for family in families])
    return prior / prior.sum()


def vote_shares(labellings: Codes, weights: Array, n_classes: int) -> Array:
    """Weighted share of the candidates that give each row each label, (n, n_classes), from labellings, (m, n)."""
    shares = np.zeros((labellings.shape[1], n_classes))
    rows = np.arange(labellings.shape[1])
    for y, weight in zip(labellings, weights, strict=True):
        shares[rows, y] += weight
    return shares
