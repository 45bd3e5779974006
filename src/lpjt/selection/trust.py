"""How far to trust labels of the target, without any of its labels: estimated accuracy, calibration, absent classes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from lpjt._typing import Array, Mask, Values
from lpjt.selection.doubts import OTHER_PROPORTIONS, SCALE_DECIDES
from lpjt.selection.given import NINE_IN_TEN

#: A class of the source is taken to be absent from the target if it has less than this share of the rows that the
#: source's proportions would give it.
ABSENT_SHARE = 0.1

#: Below this estimated accuracy, and below this agreement of the candidates, labels come with a warning.
LOW_ACCURACY, LOW_AGREEMENT = 0.6, 0.5

#: Temperatures between which a calibration looks.
COLDEST, HOTTEST = 0.05, 20.0


@dataclass(frozen=True, slots=True)
class Facts:
    """What the labels of a fit rest on; shares, each in [0, 1]."""

    agreement: float  # mean share of all candidates, balanced by family, that give a row the label of the fit
    adapted: float  # mean share of rows to which two adapted candidates give the same label
    certainty: float  # mean share of the consensus that the likeliest class of a row has
    clarity: float = 1.0  # accuracy on the source of classifiers that leave the row out, in the view that was chosen
    information: float = 1.0  # how far labels of the chosen candidate tell those of near rows, see `weigh_candidates`


@dataclass(frozen=True, slots=True)
class Trust:
    """Estimated accuracy of the labels of the unlabelled target rows, in [0, 1]."""

    accuracy: float
    low: float
    high: float
    temperature: float = 1.0  # by which the distributions were calibrated
    facts: Facts | None = None  # None if no candidates were tried
    scale_dependence: float = 0.0  # how far class proportions depend on the scaling of columns, in [0, 1]
    one_class: bool = False  # whether candidates agree by chance alone, see `widen_for_one_class`
    uninformed: bool = False  # whether labels tell nothing of those of near rows, see `doubt_uninformed`


def estimate_accuracy(facts: Facts, n_classes: int, n_rows: float = np.inf) -> tuple[float, float, float]:
    """Estimated accuracy, and an interval that is meant to hold the true one nine times in ten.

    A linear mix of two facts, whose weights were fitted to tasks of the development half of the suite of
    docs/robustness.md; the page shows both halves. Of many classes several share the votes for a row whose label is
    right all the same, so that a lack of certainty counts for less. More facts (separation of the target, unadapted
    candidates, what classifiers reach on the source) fit known kinds of data closer and are further off on others: with
    one kind of data left out at a time, the error of these was the smallest. But labels are hardly better than what
    classifiers reach on the source itself, which bounds the estimate from above.

    The interval is wide in the middle of the scale, where the same evidence was found with good labels and with bad
    ones, where classes overlap on the source, and if there are few rows, some of which are right by luck.

    Parameters
    ----------
    facts : Facts
    n_classes : int
    n_rows : int, optional
        Number of rows that got a label; many by default.
    """
    value = INTERCEPT + sum(weight * getattr(facts, name) for name, weight in WEIGHTS.items())
    value += DILUTED * (1 - facts.certainty) * float(np.log(max(n_classes / FEW_CLASSES, 1.0)))
    least = 1.0 / n_classes
    value = float(np.clip(value, least, 0.99))
    half = NARROWEST + WIDENING * float(np.sqrt(value * (1 - value)))
    luck = sampling_error(value, n_rows)
    low, high = (value + side * float(np.hypot(min(half, room), luck)) for side, room in ((-1, value), (1, 1 - value)))
    value = min(value, max(facts.clarity + CLEARER, least))
    low = min(low, facts.clarity - NARROWEST)
    return value, float(np.clip(low, 0.0, value)), float(np.clip(high, value, 1.0))


#: Weights of the estimate.
INTERCEPT = -0.365
WEIGHTS = {"certainty": 1.045, "adapted": 0.375}

#: Weight of what certainty lacks, times the logarithm of the number of classes over this many of them, beyond these.
DILUTED, FEW_CLASSES = 0.13, 10

#: The estimate is at most this much above what classifiers reach on the source: a target may have the easier classes.
CLEARER = 0.1

#: Half of the interval of an estimate of 1, and how much it grows with the deviation of a row that is right or wrong.
NARROWEST, WIDENING = 0.05, 0.4


def sampling_error(share: float, n: float) -> float:
    """Half of Wilson's interval of a share that is seen in n draws, which holds the true share nine times in ten."""
    z = NINE_IN_TEN
    return z * float(np.sqrt(share * (1 - share) / max(n, 1) + (z / (2 * max(n, 1))) ** 2)) / (1 + z**2 / max(n, 1))


def find_temperature(distributions: Sequence[Array], accuracy: float, temper: Callable[[Array, float], Array]) -> float:
    """Temperature at which the mean confidence of distributions, (n_j, n_classes) each, is the estimated accuracy.

    By Brent's method: the mean confidence falls as the temperature rises.
    """
    F = np.vstack(distributions)
    if not len(F) or F.shape[1] < 2:
        return 1.0

    def excess(log_temperature: float) -> float:
        return float(temper(F, float(np.exp(log_temperature))).max(axis=1).mean()) - accuracy

    cold, hot = float(np.log(COLDEST)), float(np.log(HOTTEST))
    if excess(cold) <= 0:
        return COLDEST
    if excess(hot) >= 0:
        return HOTTEST
    # A dozen steps instead of the thirty of a bisection: each reads all distributions.
    return float(np.exp(brentq(excess, cold, hot, xtol=1e-9)))


def find_absent(proportions: Array, of_source: Array) -> Mask:
    """Whether each class seems to be absent from the target, (n_classes,), from proportions of its labels."""
    return proportions < ABSENT_SHARE * of_source


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """A fit in words, and what the words rest on."""

    summary: str
    alarms: tuple[str, ...]  # the sentences of the summary that deserve a warning
    proportions: Array  # (n_classes,) of the labels of the target
    absent: Mask  # (n_classes,) whether the target seems to lack the class


def judge(trust: Trust, *, adapted: bool, view: str, proportions: Array, of_source: Array, classes: Values) -> Verdict:
    """Describe a fit in a few plain sentences.

    Parameters
    ----------
    trust : Trust
    adapted : bool
    view : str
        How columns were scaled.
    proportions, of_source : arrays, (n_classes,)
        Of the target's labels and of the source's.
    classes : array, (n_classes,)
    """
    how = "The labels come from adaptation" if adapted else "The labels come from the source without adaptation"
    sentences = [f"{how}; columns were {_VIEWS.get(view, view)}."]
    sentences.append(
        f"Estimated accuracy: {100 * trust.accuracy:.0f} %, between {100 * trust.low:.0f} and {100 * trust.high:.0f} %."
    )
    alarms = []
    distance = float(np.abs(proportions - of_source).sum()) / 2
    if distance > OTHER_PROPORTIONS:
        sentences.append(
            f"The target seems to have other class proportions than the source: {100 * distance:.0f} % of the rows "
            "would have to change class."
        )
    is_absent = find_absent(proportions, of_source)
    absent = classes[is_absent]
    if len(absent):
        names = ", ".join(map(str, absent[:5])) + (", ..." if len(absent) > 5 else "")
        sentences.append(f"{len(absent)} of {len(classes)} classes seem to be absent from the target: {names}.")
        alarms.append(sentences[-1])
    if trust.facts is not None and trust.facts.agreement < LOW_AGREEMENT:
        sentences.append(
            f"The candidates disagree: on average {100 * trust.facts.agreement:.0f} % of them give a row its label."
        )
        alarms.append(sentences[-1])
    if trust.scale_dependence > SCALE_DECIDES:
        sentences.append(
            f"Scaled by the source's statistics, {100 * trust.scale_dependence:.0f} % of the rows would change class: "
            "columns shifted, or class proportions did. If columns did not shift, fit with scaling='source'; to be "
            "sure, label a few target rows (y_target)."
        )
        alarms.append(sentences[-1])
    if trust.one_class:
        sentences.append(
            "Nearly all rows got one class, and on one class candidates agree even where they are wrong: if other "
            "classes may be there, label a few target rows (y_target)."
        )
        alarms.append(sentences[-1])
    if trust.uninformed:
        sentences.append(
            "Labels tell nothing of those of near rows: nearly all rows got the source's most frequent class, or "
            "classes at random. To be sure, label a few target rows (y_target)."
        )
        alarms.append(sentences[-1])
    if trust.accuracy < LOW_ACCURACY:
        sentences.append("Trust is low: check some labels by hand, or label a few target rows (y_target).")
        alarms.append(sentences[-1])
    return Verdict(" ".join(sentences), tuple(alarms), proportions, is_absent)


_VIEWS = {
    "standard-length": "scaled by each domain's own mean and deviation, and rows kept their lengths",
    "source-length": "scaled by the source's mean and deviation, and rows kept their lengths",
    "joint-length": "scaled by the mean and deviation of all domains together, and rows kept their lengths",
    "standard": "scaled by each domain's own mean and deviation",
    "source": "scaled by the source's mean and deviation",
    "joint": "scaled by the mean and deviation of all domains together",
    "unit": "scaled so that every row has unit length",
    "paper": "scaled as in the paper",
    "none": "not scaled",
}
