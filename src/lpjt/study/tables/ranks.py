"""Ranks of methods over many pairs: Friedman's test, and Nemenyi's critical difference.

J. Demsar. Statistical comparisons of classifiers over multiple data sets. JMLR, 2006.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

#: Level of both tests.
LEVEL = 0.05

#: Fewest methods and pairs that are ranked.
FEWEST_METHODS, FEWEST_RANKED = 3, 5


@dataclass(frozen=True, slots=True)
class Ranking:
    """Mean ranks of methods, best first."""

    ranks: dict[str, float]  # 1 is the best; ties have the mean of their ranks
    n_pairs: int
    p: float  # of Friedman's test: all methods are alike
    difference: float  # mean ranks that are closer cannot be told apart, by Nemenyi's test

    @property
    def level_with_best(self) -> tuple[str, ...]:
        """Methods whose mean rank is within the critical difference of the best, which comes first."""
        best = min(self.ranks.values())
        return tuple(method for method, rank in self.ranks.items() if rank - best < self.difference)

    @property
    def groups(self) -> list[tuple[str, str]]:
        """First and last method of each longest run of methods that cannot be told apart; runs of one are left out."""
        names, values = list(self.ranks), np.array(list(self.ranks.values()))
        ends = [int(np.searchsorted(values, start + self.difference)) - 1 for start in values]
        longest = [(i, end) for i, end in enumerate(ends) if end > i and (i == 0 or end > ends[i - 1])]
        return [(names[i], names[end]) for i, end in longest]


def rank_methods(scores: Mapping[str, Mapping[str, float]]) -> Ranking | None:
    """Rank methods by their scores on pairs, ``{pair: {method: score}}``; higher is better.

    Methods without a score on every pair are left out. None where fewer than three methods or five pairs are left.
    """
    methods = _in_every(scores.values())
    if len(methods) < FEWEST_METHODS or len(scores) < FEWEST_RANKED:
        return None
    from scipy.stats import friedmanchisquare, rankdata, studentized_range

    table = np.array([[of_pair[method] for method in methods] for of_pair in scores.values()])
    means = rankdata(-np.round(table, 9), axis=1).mean(axis=0)
    k, n = len(methods), len(table)
    alike = bool((table == table[:, :1]).all())  # the statistic divides by zero
    p = 1.0 if alike else float(friedmanchisquare(*table.T).pvalue)
    difference = float(studentized_range.ppf(1 - LEVEL, k, np.inf) / np.sqrt(2) * np.sqrt(k * (k + 1) / (6 * n)))
    order = np.argsort(means, kind="stable")
    return Ranking({methods[i]: float(means[i]) for i in order}, n, p, difference)


def _in_every(parts: Iterable[Mapping[str, float]]) -> list[str]:
    """Methods that every part has, in the order of the first."""
    first, *others = list(parts) or [{}]
    return [method for method in first if all(method in part for part in others)]
