"""Class proportions of the target from the labels themselves, without target labels, and labels that agree with them.

Labels lean towards the classes of the source: where the target lacks a class, some rows get it all the same, and the
more classes are missing, the more rows. If posterior probabilities are calibrated, the proportions of the target are
found by expectation maximisation (Saerens, Latinne and Decaestecker, Neural Computation 2002; Alexandari, Kundaje and
Shrikumar, ICML 2020): weigh classes by proportions, take the proportions of the result, and repeat.
"""

import numpy as np

from lpjt._typing import Array
from lpjt.core.propagation import normalise_rows

#: Total variation between the proportions of labels and the true ones that wrong labels explain: this much times the
#: share of votes that labels lack, or that much times the fourth root of the number of classes if that is more: of many
#: classes, wrong labels pile up in a few.
NOISE, PILED = 0.4, 0.23

#: Beyond what wrong labels and the draw of the rows explain, found proportions gain belief up to this distance.
FURTHER = 0.1

#: Expected total variation of the proportions of n rows of C equal classes is about 0.4 sqrt(C / n); half of it counts.
SAMPLING = 0.2

#: Mean share of votes at which expectation maximisation begins to count, and at which it counts in full.
DOUBTED, TRUSTED = 0.45, 0.55

#: Least proportion of a class, so that a class can return.
LEAST_PROPORTION = 1e-4

#: Steps of the expectation maximisation, of which more gain nothing and exaggerate where labels are wrong; and rows per
#: class that keep the proportions of the source.
STEPS, KEPT_ROWS = 3, 0.3


def believe_proportions(found: Array, of_source: Array, consent: float, n_rows: int) -> float:
    """How far to believe that the target has the proportions that its labels have, in [0, 1].

    Only if they are further from the source's than wrong labels and the draw of the rows would make them: a target that
    has the source's proportions is labelled better with them.

    Parameters
    ----------
    found, of_source : arrays, (n_classes,)
        Proportions of the labels and of the source.
    consent : float
        Mean share of the candidates' votes that the labels have.
    n_rows : int
        Number of rows behind `found`.
    """
    distance = float(np.abs(found - of_source).sum()) / 2
    n_classes = len(found)
    chance = max(NOISE, PILED * n_classes**0.25) * (1 - consent) + SAMPLING * float(np.sqrt(n_classes / max(n_rows, 1)))
    return float(np.clip((distance - chance) / FURTHER, 0.0, 1.0))


def believe_distributions(consent: float) -> float:
    """How far expectation maximisation may build on calibrated distributions, in [0, 1].

    It takes them at their word, and exaggerates where they are wrong; so it wants more votes than class masses do.

    Parameters
    ----------
    consent : float
        Mean share of the candidates' votes that the labels have.
    """
    return float(np.clip((consent - DOUBTED) / (TRUSTED - DOUBTED), 0.0, 1.0))


def shift_factors(F: Array, of_source: Array, belief: float) -> Array:
    """Factors of the classes, (n_classes,), that bring calibrated distributions to proportions of their own.

    Maximum likelihood by expectation maximisation, with a few rows per class that keep the source's proportions, so
    that no class is lost for good. The factors are raised to the power `belief`: at 0 they are 1.

    Parameters
    ----------
    F : array, (n, n_classes)
        Calibrated distributions, which lean towards the source's proportions.
    of_source : array, (n_classes,)
    belief : float
        From `believe_proportions` and `believe_distributions`.

    Returns
    -------
    array, (n_classes,)
    """
    of_source = np.maximum(of_source, LEAST_PROPORTION)
    factors = np.ones(len(of_source))
    if not belief or not len(F):
        return factors
    kept = KEPT_ROWS * len(of_source)
    for _ in range(STEPS):
        masses = normalise_rows(F * factors).sum(axis=0)
        factors = ((masses + kept * of_source) / (len(F) + kept) / of_source) ** belief
    return factors
