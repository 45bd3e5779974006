"""Agreement: pairs of fits that should give the same labels, on made domains and, with LPJT_DATA, on real ones."""

import re
from collections.abc import Sequence

import numpy as np

from attack.numbers.comparisons import COMPARISONS, Answer, Comparison, draws
from attack.numbers.tasks import SETTINGS, kinds
from attack.part import Outcome, Part

DETAIL = re.compile(r"labels (?P<share>[0-9.]+), distributions (?P<difference>[0-9.e+-]+)")


def judge(comparison: Comparison, one: Answer, other: Answer, *, drawn: bool) -> tuple[bool, str]:
    """Whether two answers agree within the bounds of a comparison, and how far they do, in words."""
    share = float(np.mean(one.labels == other.labels))
    difference = float(np.abs(one.distributions - other.distributions).max())
    least = comparison.drawn if drawn and comparison.drawn is not None else comparison.labels
    agree = share >= least and (comparison.difference is None or difference <= comparison.difference)
    return agree, f"labels {share:.4f}, distributions {difference:.1e}"


def run(number: int) -> Outcome:
    """One comparison on one task in one setting."""
    comparison = COMPARISONS[number % len(COMPARISONS)]
    rng = np.random.default_rng([number, 14])
    makers = kinds()
    task = (comparison.task or makers[number // len(COMPARISONS) % len(makers)])(rng)
    setting = str(rng.choice(list(SETTINGS)))
    one, other = comparison.run(task, dict(SETTINGS[setting]), rng)
    agree, detail = judge(comparison, one, other, drawn=draws(SETTINGS[setting]))
    if agree:
        return Outcome("fine", detail, comparison.title)
    return Outcome("failed", f"{task.kind}, {setting}: {detail}", comparison.title)


def measures(group: str, outcomes: Sequence[Outcome]) -> dict[str, str]:
    """How far the fits of a comparison agree, over all of its cases, and the bound."""
    found = [match for outcome in outcomes if (match := DETAIL.search(outcome.detail))]
    bounds = {comparison.title: comparison for comparison in COMPARISONS}
    if not found or group not in bounds:
        return {}
    shares = [float(match["share"]) for match in found]
    bound = bounds[group]
    least = f"{100 * bound.labels:g} %" + (
        "" if bound.drawn is None else f" ({100 * bound.drawn:g} % where folds are drawn)"
    )
    least += "" if bound.difference is None else f", differences up to {bound.difference:g}"
    return {
        "equal labels, mean": f"{100 * np.mean(shares):.2f} %",
        "least": f"{100 * min(shares):.2f} %",
        "largest difference of a distribution": f"{max(float(match['difference']) for match in found):.1e}",
        "asked for": f"{least}: {bound.reason}",
    }


# A case takes ten seconds of a processor; the limit is for a machine that does much else, and still ends a hang.
PART = Part("numbers", "Agreement", cases=1200, slice=12, run=run, seconds=900.0, measures=measures)
