"""The rows that candidates label: few in the first round, and more in the second."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lpjt._typing import Codes
from lpjt.domains import Domains
from lpjt.fitting.sampling import draw_sample

#: Upper bounds on the rows per domain that candidates label in each round, and on those per class if there are many
#: classes: enough to rank candidates, then enough for the finalists to be accurate. The last ones bound the cost with
#: hundreds of classes, of which each column takes its time.
FIRST_ROWS, SECOND_ROWS = (800, 10, 2500), (1500, 22, 3500)


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Rows that candidates label: few in the first round, and in the second one more, which hold the few."""

    few: Domains
    more: Domains
    within: tuple[Codes | None, ...]  # positions of the rows of `few` among those of `more`; None for all
    positions: tuple[Codes | None, ...]  # of the rows of `more` in each domain; None for all

    @property
    def of_few(self) -> tuple[Codes | None, ...]:
        """Positions of the rows of `few` in each domain; None for all."""
        pairs = zip(self.positions, self.within, strict=True)
        return tuple(w if p is None else p if w is None else p[w] for p, w in pairs)

    @property
    def few_targets(self) -> Codes:
        """Positions of the target rows of `few` among the stacked target rows of `more`."""
        found, start = [], 0
        for d, w in zip(self.more.targets, self.within[len(self.more.sources) :], strict=True):
            found.append(start + (np.arange(d.X.shape[0]) if w is None else w))
            start += d.X.shape[0]
        return np.concatenate(found)


def draw_samples(domains: Domains, random_state: np.random.RandomState) -> Samples:
    """Draw the rows of both rounds, class by class where they have labels."""
    n_few, n_more = (bound_rows(bounds, len(domains.classes)) for bounds in (FIRST_ROWS, SECOND_ROWS))
    positions = tuple(draw_sample(d.y, n_more, random_state) for d in domains.all)
    more = take_rows(domains, positions)
    within = tuple(draw_sample(d.y, n_few, random_state) for d in more.all)
    return Samples(take_rows(more, within), more, within, positions)


def bound_rows(bounds: tuple[int, int, int], n_classes: int) -> int:
    """Rows per domain: the first bound, more if that many per class need them, up to the last; two of each class."""
    rows, per_class, most = bounds
    return max(rows, min(per_class * n_classes, most), 2 * n_classes)


def all_rows(domains: Domains) -> Samples:
    """All rows in both rounds."""
    everything = (None,) * len(domains.all)
    return Samples(domains, domains, everything, everything)


def take_rows(domains: Domains, sample: Sequence[Codes | None]) -> Domains:
    """The domains with some of their rows."""
    n = len(domains.sources)
    few = [
        d if rows is None else d.with_rows(d.X[rows], d.y[rows], rows)
        for d, rows in zip(domains.all, sample, strict=True)
    ]
    return replace(domains, sources=tuple(few[:n]), targets=tuple(few[n:]))
