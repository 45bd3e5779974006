"""Doubts about labels on which candidates agree all the same, and how far the interval of the estimate reaches then."""

import numpy as np

from lpjt._typing import Array

#: Proportions differ noticeably if their total variation distance is above this.
OTHER_PROPORTIONS = 0.2

#: Class proportions depend on how columns are scaled if the source's statistics would give more than this share of the
#: rows another class.
SCALE_DECIDES = 0.2

#: Candidates agree by chance if two rows, drawn at random, have the same label with more than this probability.
AGREE_BY_CHANCE = 0.9

#: Labels tell nothing of those of near rows if the information that they share is at most this.
NO_INFORMATION = 0.02

#: How far below the share that chance would explain an interval reaches.
BELOW_CHANCE = 0.05


def widen_for_scale(value: float, low: float, dependence: float) -> float:
    """Lower end of the interval of an estimated accuracy, if class proportions may depend on how columns are scaled.

    Should the proportions that the source's statistics give be the true ones, at least that share of the labels that
    they differ by is wrong.

    Parameters
    ----------
    value, low : float
        Estimated accuracy, and the lower end by the agreement of the candidates.
    dependence : float
        Total variation distance between both class proportions, in [0, 1].
    """
    return max(min(low, value - dependence), 0.0) if dependence > SCALE_DECIDES else low


def widen_for_one_class(low: float, found: Array, of_source: Array) -> tuple[float, bool]:
    """Lower end of the interval of an estimated accuracy where nearly all rows got one class, and whether they did.

    Candidates that give all rows one class agree, right or wrong, so that their agreement is no evidence: such a target
    may lack the other classes, or have moved out of their reach. In the second case its classes may be those of the
    source, and a row is right with the probability that it has the one class.

    Parameters
    ----------
    low : float
        By the agreement of the candidates.
    found, of_source : arrays, (n_classes,)
        Proportions of the labels and of the source.
    """
    distance = float(np.abs(found - of_source).sum()) / 2
    alone = bool(found @ found > AGREE_BY_CHANCE) and distance > OTHER_PROPORTIONS
    return (min(low, max(float(found @ of_source) - BELOW_CHANCE, 0.0)), True) if alone else (low, False)


def doubt_uninformed(
    estimate: tuple[float, float, float], information: float, found: Array, of_source: Array
) -> tuple[tuple[float, float, float], bool]:
    """An estimate and its interval where labels tell nothing of those of near rows, and whether they do not.

    Where one class has nearly all rows of the source, candidates that give it to all rows of the target agree, and the
    target seems to have the source's proportions. It may as well have others: then a row is right by chance. The
    estimate is the middle of both. Of other proportions than the source's, `widen_for_one_class` takes care.

    Parameters
    ----------
    estimate : tuple of float
        Accuracy, low and high.
    information : float
        As in `Facts`.
    found, of_source : arrays, (n_classes,)
        Proportions of the labels and of the source.
    """
    value, low, high = estimate
    if information > NO_INFORMATION or float(np.abs(found - of_source).sum()) / 2 > OTHER_PROPORTIONS:
        return estimate, False
    chance = min(1.0 / len(of_source), value)
    return ((value + chance) / 2, min(low, max(chance - BELOW_CHANCE, 0.0)), high), True
