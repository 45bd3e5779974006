"""The last labels: a kernel ridge regression, taught by the iterations and by the consensus of the candidates."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lpjt._typing import Array, Codes
from lpjt.classifiers import Predictor, Reweighted, Tempered, temper
from lpjt.core.moments import class_proportions
from lpjt.core.objective import Problem
from lpjt.core.propagation import normalise_rows
from lpjt.core.ridge import KernelRidge, fit_kernel_ridge
from lpjt.domains import Domains
from lpjt.fitting.plan import Outcome
from lpjt.fitting.trial import Lessons, Trial
from lpjt.selection.doubts import doubt_uninformed, widen_for_one_class, widen_for_scale
from lpjt.selection.evidence import every_few
from lpjt.selection.shift import shift_factors
from lpjt.selection.trust import Trust, find_temperature

#: Upper bound on the rows per domain that teach the regression.
TAUGHT_ROWS = 5000

#: Share of the labels of the whole fit beside the consensus of all candidates, if they have as many votes as it, and
#: beside one of the regression: where the target has other class proportions than the source, and where they are alike.
#: The fit has all rows, coordinates and iterations, but is in one view only, and leans more on its class proportions.
SHARE_SHIFTED, SHARE_ALIKE = 0.5, 1.0

#: Half of the interval of an estimate that rests on the confidence alone.
UNSURE = 0.3


@dataclass(frozen=True, slots=True, eq=False)
class Refined:
    """Last labels of the targets, and the regressions behind them."""

    distributions: list[Array]  # (n_j, n_classes) per target
    regressions: tuple[KernelRidge, ...]  # per domain; domains of one width share one
    share: float  # of the labels of the iterations beside one of the regression
    factors: Array | None = None  # (n_classes,) of the class masses, if the caller named proportions


def refine_labels(
    problem: Problem,
    widths: Sequence[int],
    distributions: Sequence[Array] | None,
    trial: Trial | None,
    proportions: Array | None = None,
    *,
    unit_length: bool = True,
) -> Refined:
    """Labels of a regression on the coordinates, which the labelled rows, the iterations and the consensus teach.

    Propagation follows neighbours in an embedding that earlier labels have shaped; the regression is smooth in the
    coordinates, which no label has shaped, and takes the consensus from the sampled rows to all others. A target row
    teaches it the labels of the iterations by the share that the votes of the candidates leave them (`Trial.credit`),
    and the consensus by the rest; its confidence is its weight. The answer is averaged with what taught it: the
    regression alone may be poor in the view of the fit.

    Parameters
    ----------
    problem : Problem
    widths : sequence of int
        Columns of each domain before any reduction.
    distributions : list of arrays, (n_j, n_classes), or None
        Of each target, from the last iteration; None if there was none.
    trial : Trial or None
        The candidates, if any were tried.
    proportions : array, (n_classes,), or None
        Of the target, if the caller named them: the labels are drawn to them.
    unit_length : bool
        Whether the regression scales rows to unit length.

    Returns
    -------
    Refined
    """
    share = 0.0 if distributions is None else _share_of_fit(distributions, trial)
    lessons = None if trial is None else trial.lessons_of([len(y) for y in problem.labels[problem.n_sources :]])
    taught = _taught(problem, distributions, lessons, share)
    by_width = {width: _learn(problem, taught, [w == width for w in widths], unit_length) for width in set(widths)}
    regressions = tuple(by_width[width] for width in widths)
    labels = []
    for j, rows in enumerate(problem.rows[problem.n_sources :]):
        F = regressions[problem.n_sources + j].distributions_of(rows)
        if distributions is not None:
            F += share * distributions[j]
        if lessons is not None:
            positions, lesson = lessons[j]
            F[positions] += (1 - share) * lesson
        labels.append(normalise_rows(F))
    factors = None
    if proportions is not None:
        mass = np.vstack(labels).mean(axis=0)
        factors = np.divide(proportions, mass, out=np.zeros(len(mass)), where=mass > 0)
        labels = [normalise_rows(F * factors) for F in labels]
    known = problem.labels[problem.n_sources :]
    return Refined([keep_known(F, y) for F, y in zip(labels, known, strict=True)], regressions, share, factors)


def _share_of_fit(distributions: Sequence[Array], trial: Trial | None) -> float:
    """Share of the labels of the whole fit beside one of the regression."""
    if trial is None:
        return SHARE_SHIFTED
    return (trial.shift * SHARE_SHIFTED + (1 - trial.shift) * SHARE_ALIKE) * trial.credit(distributions)


def calibrate(outcome: Outcome, domains: Domains) -> Outcome:
    """The outcome with its estimated accuracy, and with distributions whose mean confidence is that accuracy.

    In between, calibrated distributions are brought to class proportions of their own, as far as there is reason to
    believe that the target has others than the source (`selection.shift`). Only after a choice among candidates:
    without their agreement there is nothing to calibrate by, and the estimate is the mean confidence, with a wide
    interval.
    """
    unknown = [F[d.y < 0] for F, d in zip(outcome.distributions, domains.targets, strict=True)]
    if outcome.trial is None:
        stacked = np.vstack(unknown)
        value = float(stacked.max(axis=1).mean()) if len(stacked) else 1.0
        return replace(outcome, trust=Trust(value, max(value - UNSURE, 0.0), min(value + UNSURE, 1.0)))
    trial: Trial = outcome.trial
    of_source = class_proportions([d.y for d in domains.sources], domains.weights, len(domains.classes))
    untold = len(np.unique(np.concatenate([d.y[d.y >= 0] for d in domains.targets]))) < 2
    trust = _first_trust(trial, outcome.distributions, of_source, sum(map(len, unknown)), untold)
    value, facts = trust.accuracy, trust.facts
    temperature, shift = find_temperature(unknown, value, temper), None
    belief = trial.belief(outcome.distributions, of_source)
    if belief:
        first = temperature
        given = list(zip(outcome.distributions, (d.y for d in domains.targets), strict=True))
        found = shift_factors(np.vstack([keep_known(temper(F, first), y) for F, y in given]), of_source, belief)
        facts = trial.facts([keep_known(shift_proportions(F, first, found), y) for F, y in given])
        # Calibrated again: a temperature after the factors is the same as one before them and their power.
        again = find_temperature(unknown, value, lambda F, t: shift_proportions(F, first * t, found ** (1 / t)))
        temperature, shift = first * again, found ** (1 / again)
    pairs = zip(outcome.distributions, domains.targets, strict=True)
    distributions = tuple(keep_known(shift_proportions(F, temperature, shift), d.y) for F, d in pairs)
    return replace(
        outcome,
        distributions=distributions,
        predictors=tuple(
            _calibrated(predictor, temperature, shift if i >= len(domains.sources) else None)
            for i, predictor in enumerate(outcome.predictors)
        ),
        shift=shift,
        trust=_doubted(replace(trust, temperature=temperature, facts=facts), trial, distributions, of_source, untold),
    )


def _first_trust(trial: Trial, distributions: Sequence[Array], of_source: Array, n_rows: int, untold: bool) -> Trust:
    """Trust in the labels of `n_rows` rows before they are calibrated.

    `untold` says that no given target labels tell of other classes: none is given, or all are of one class.
    """
    facts = trial.facts(distributions)
    estimate, uninformed = trial.estimate(facts, n_rows), False
    if untold:
        found = _proportions(distributions, len(of_source))
        estimate, uninformed = doubt_uninformed(estimate, facts.information, found, of_source)
    return Trust(*estimate, facts=facts, uninformed=uninformed)


def _doubted(trust: Trust, trial: Trial, distributions: Sequence[Array], of_source: Array, untold: bool) -> Trust:
    """Trust in the last labels: the interval reaches down for what the agreement of candidates does not show."""
    dependence, one_class = trial.scale_dependence(distributions), False
    low = widen_for_scale(trust.accuracy, trust.low, dependence)
    if untold:
        low, one_class = widen_for_one_class(low, _proportions(distributions, len(of_source)), of_source)
    return replace(trust, low=low, scale_dependence=dependence, one_class=one_class)


def _proportions(distributions: Sequence[Array], n_classes: int) -> Array:
    """Proportions of the likeliest classes of all rows, (n_classes,)."""
    labels = np.concatenate([F.argmax(axis=1) for F in distributions])
    return np.bincount(labels, minlength=n_classes) / len(labels)


def shift_proportions(F: Array, temperature: float, shift: Array | None) -> Array:
    """Distributions, (n, n_classes), at a temperature, then with their classes weighed by `shift`, if given."""
    F = temper(F, temperature)
    return F if shift is None else normalise_rows(F * shift)


def _calibrated(predictor: Predictor, temperature: float, shift: Array | None) -> Predictor:
    tempered = Tempered(predictor, temperature)
    return tempered if shift is None else Reweighted(tempered, shift)


def keep_known(F: Array, y: Codes) -> Array:
    """Distributions, (n, n_classes), one-hot where the label is known, in place."""
    F[y >= 0] = np.eye(F.shape[1])[y[y >= 0]]
    return F


def _taught(
    problem: Problem, distributions: Sequence[Array] | None, lessons: Lessons | None, share: float
) -> list[Array]:
    """Distributions of the rows of each domain, (n_i, n_classes), by which they teach; zero for rows that do not."""
    eye = np.eye(problem.n_classes)
    taught: list[Array] = [eye[y * (y >= 0)] * (y >= 0)[:, None] for y in problem.labels]
    for j, of_target in enumerate(taught[problem.n_sources :]):
        unknown = problem.labels[problem.n_sources + j] < 0
        if distributions is not None:
            of_target[unknown] = distributions[j][unknown]
        if lessons is not None:
            rows, lesson = lessons[j]
            rows, lesson = rows[unknown[rows]], lesson[unknown[rows]]
            of_target[rows] = share * of_target[rows] + (1 - share) * lesson
    return taught


def _learn(problem: Problem, taught: Sequence[Array], chosen: Sequence[bool], unit_length: bool) -> KernelRidge:
    """Regression on the coordinates of the chosen domains, which have one width."""
    teaching = [
        every_few(np.flatnonzero(Y.any(axis=1)), TAUGHT_ROWS) if is_chosen else np.empty(0, dtype=np.int64)
        for Y, is_chosen in zip(taught, chosen, strict=True)
    ]
    stacked = np.vstack([X[places] for X, places in zip(problem.rows, teaching, strict=True) if len(places)])
    Y = np.vstack([Y[places] for Y, places in zip(taught, teaching, strict=True)])
    weights = Y.max(axis=1)
    if problem.weights is not None:
        weights *= np.concatenate([w[places] for w, places in zip(problem.weights, teaching, strict=True)])
    return fit_kernel_ridge(stacked, Y, weights, unit_length=unit_length)
