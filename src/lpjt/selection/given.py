"""Evidence from target labels that the caller gave: how often candidates find a label that is hidden from them."""

import numpy as np

from lpjt._typing import Array, Codes, Mask

#: Weight in a candidate's score of the share of given labels that it finds, if they are many, and the number of them at
#: which it has half of that weight.
GIVEN_WEIGHT, GIVEN_HALF = 1.0, 20

#: Upper bound on the share of rows on which two candidates differ, for the standard error of a difference.
DIFFER = 0.4

#: What a hidden label is worth as a trial of the labels of the fit: it is found, or not, by candidates with half of the
#: labels and few iterations.
TRIAL = 0.4

#: Deviations of the normal distribution within which it lies nine times in ten.
NINE_IN_TEN = 1.645


def split_given(y: Codes) -> tuple[Codes, ...]:
    """Positions of the given labels, `y` >= 0, in at most two halves, class by class: each is hidden once."""
    known = np.flatnonzero(y >= 0)
    known = known[np.argsort(y[known], kind="stable")]
    return tuple(np.sort(half) for half in (known[::2], known[1::2]) if len(half))


def evidence_of_given(answers: Codes, labels: Codes) -> tuple[Array, Array]:
    """Share of the given labels that each candidate finds, (m,), and what it adds to the candidate's score, (m,).

    Parameters
    ----------
    answers : int array, (m, g)
        What each candidate says of the rows while their labels are hidden from it.
    labels : int array, (g,)
        The given labels.
    """
    found: Array = (answers == labels).mean(axis=1)
    return found, given_weight(len(labels)) * found


def given_weight(n: int) -> float:
    """Weight of the share of `n` given labels that a candidate finds, in its score; small while `n` is."""
    return GIVEN_WEIGHT * n**2 / (n**2 + GIVEN_HALF**2)


def given_noise(n: int) -> float:
    """Two standard errors of the difference of what `n` given labels add to the scores of two candidates."""
    return 2 * given_weight(n) * float(np.sqrt(DIFFER / n)) if n else 0.0


def update_estimate(estimate: tuple[float, float, float], right: Mask, claimed: Array) -> tuple[float, float, float]:
    """An estimated accuracy and its interval, after a look at the rows whose labels are given.

    Rows that are given a label are often those in doubt, so that the share found among them says little by itself. What
    counts is how far it is from the share that the confidence of the same rows claims. The estimate moves by this
    difference times t / (t + c), as the mean of a beta distribution does after t trials, where c is the number of
    trials that the interval before was worth; a row counts as `TRIAL` of one. The interval keeps its width: narrowed in
    the same way, it missed the accuracy too often in trials.

    Parameters
    ----------
    estimate : tuple of float
        Accuracy, low and high, from evidence that needs no target label.
    right : bool array, (g,)
        Whether the label of each row was found while it was hidden.
    claimed : array, (g,)
        Confidence in what was found.
    """
    value, low, high = estimate
    half = max(high - value, value - low, 1e-3)
    worth = max(value * (1 - value) * (NINE_IN_TEN / half) ** 2 - 1, 1.0)
    share = TRIAL * len(right) / (TRIAL * len(right) + worth)
    value = float(np.clip(value + share * (right.mean() - claimed.mean()), 0.0, 0.99))
    return value, max(value - half, 0.0), min(value + half, 1.0)
