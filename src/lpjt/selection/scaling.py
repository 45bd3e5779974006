"""Which scaling suits the domains, before anything is projected."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from lpjt._typing import Array, Codes
from lpjt.classifiers import Propagation
from lpjt.core.blocks import AnyRows, stack_rows, stays_sparse
from lpjt.core.neighbors import nearest_others
from lpjt.core.scaling import Scaling, fit_scaling, joint_scaling, keep_lengths, scale_to_compare
from lpjt.domains import Domain, Domains
from lpjt.selection import evidence
from lpjt.selection.evidence import every_few

#: Upper bounds on the rows per domain that are compared, and on those of them whose nearest rows are sought. Fewer rows
#: would bias the choice: as a class gets sparser, other classes come nearer, in one scaling more than in another.
MAX_ROWS, MAX_QUERIES = 4000, 1000

#: Views in which several domains are standardised by the same statistics.
SHARED_VIEWS = ("source", "joint")

#: Views of z-scores, and what their names end with if rows keep their lengths.
Z_SCORES, KEPT = ("standard", *SHARED_VIEWS), "-length"

#: Lengths of rows matter if unit length takes this share of the labelled rows away from a nearest neighbour of their
#: class, and more of them than chance does by this many standard deviations.
LENGTH_SHARE, LENGTH_DEVIATIONS = 0.015, 2.0


class Scalings:
    """Scalings of each domain in each view, computed once."""

    def __init__(self, domains: Domains) -> None:
        self.domains = domains
        self._found: dict[str, tuple[Scaling, ...]] = {}

    def of(self, kind: str) -> tuple[Scaling, ...]:
        """Scaling of each domain, sources first, in the view `kind`.

        "source" standardises by the statistics of the sources, "joint" by those of all domains, always among domains
        of one width; a target that no source shares its width with has its own statistics. Any other kind is as in
        `core.scaling.fit_scaling`, by each domain's own statistics. A name that ends in "-length" is the view of the
        same name with the lengths of the rows kept.
        """
        if kind.endswith(KEPT) and kind not in self._found:
            self._found[kind] = tuple(map(keep_lengths, self.of(kind.removesuffix(KEPT))))
        if kind not in self._found:
            everything = self.domains.all
            if kind in SHARED_VIEWS:
                by_width = {width: self._shared(kind, width) for width in {d.X.shape[1] for d in everything}}
                self._found[kind] = tuple(by_width[d.X.shape[1]] for d in everything)
            else:
                self._found[kind] = tuple(fit_scaling(d.X, kind, d.factor) for d in everything)
        return self._found[kind]

    def _shared(self, kind: str, width: int) -> Scaling:
        alike = [d for d in self.domains.all if d.X.shape[1] == width]
        sources = [d for d in self.domains.sources if d.X.shape[1] == width]
        return joint_scaling([d.X for d in (kind == "source" and sources) or alike], "standard", alike[0].factor)

    def of_sources(self, kind: str) -> Scaling:
        """One scaling for the rows of all sources together."""
        if len(self.domains.sources) == 1:
            return self.of(kind)[0]
        first, *_ = self.domains.sources
        return joint_scaling([d.X for d in self.domains.sources], kind, first.factor)

    @cached_property
    def lengths_matter(self) -> bool:
        """Whether the lengths of rows tell classes apart, see `lengths_matter`."""
        return lengths_matter(self.domains, self)


def lengths_matter(domains: Domains, scalings: Scalings) -> bool:
    """Whether the lengths of rows tell classes apart: unit length separates the labelled rows worse than z-scores do.

    Counts the labelled rows whose nearest other row of the same domain has their label under one of the two and not
    under the other; where lengths say nothing, both happen as often (the sign test of McNemar).
    """
    everything = domains.all
    if stays_sparse([d.X for d in everything], max_rows=MAX_ROWS):
        return False
    lost = gained = n = 0
    pairs = zip(everything, scalings.of("standard"), scalings.of("standard" + KEPT), strict=True)
    for domain, unit, kept in pairs:
        known = every_few(np.flatnonzero(domain.y >= 0), MAX_QUERIES)
        if len(known) < 2:
            continue
        X, y = domain.X[known], domain.y[known]
        right = [y[nearest_others(_scaled(X, s), 1).indices[:, 0]] == y for s in (unit, kept)]
        lost += int((right[1] & ~right[0]).sum())
        gained += int((right[0] & ~right[1]).sum())
        n += len(known)
    return lost - gained > max(LENGTH_SHARE * n, LENGTH_DEVIATIONS * float(np.sqrt(lost + gained)))


def with_lengths(views: Sequence[str]) -> tuple[str, ...]:
    """The views with the lengths of the rows kept; without the one of unit rows."""
    return tuple(view + KEPT if view in Z_SCORES else view for view in views if view != "unit")


def choose_scaling(domains: Domains, kinds: Sequence[str], scalings: Scalings) -> str:
    """Name of the scaling that separates the source classes best and whose first target labels agree best with them.

    Each scaling is judged by three numbers, none of which needs a target label: the share of source rows whose nearest
    other source row has their label; the share of source rows whose nearest target row is given their label; and the
    mutual information of target rows and first labels. If widths differ, only the first is available, for the
    labelled rows of each domain.

    Parameters
    ----------
    domains : Domains
    kinds : sequence of str
        As for `core.scaling.fit_scaling`. The first is used if rows are sparse and too wide to be compared.
    scalings : Scalings
    """
    everything = domains.all
    if len(kinds) == 1 or stays_sparse([d.X for d in everything], max_rows=MAX_ROWS):
        return kinds[0]
    if len({d.X.shape[1] for d in everything}) > 1:
        return max(kinds, key=lambda kind: sum(map(_separation, everything, scalings.of(kind))))
    y = np.concatenate([every_few(d.y, MAX_ROWS) for d in domains.sources])
    rows = [every_few(d.X, MAX_ROWS) for d in everything]
    n_sources = len(domains.sources)

    def merit(kind: str) -> float:
        scaled = list(map(_scaled, rows, scalings.of(kind)))
        return _merit(stack_rows(scaled[:n_sources]), y, stack_rows(scaled[n_sources:]), len(domains.classes))

    return max(kinds, key=merit)


def _merit(source: Array, y: Codes, target: Array, n_classes: int) -> float:
    F = Propagation().start(source, np.eye(n_classes)[y], target)
    nearest = evidence.nearest_targets(every_few(source, MAX_QUERIES), target)
    reverse = evidence.reverse_agreement(nearest, F.argmax(axis=1), every_few(y, MAX_QUERIES))
    return evidence.mutual_information(F) + reverse + evidence.class_separation(source, y, max_queries=MAX_QUERIES)


def _separation(domain: Domain, scaling: Scaling) -> float:
    """Separation of the classes among the labelled rows of one domain; 0 if there are none to compare."""
    known = every_few(np.flatnonzero(domain.y >= 0), MAX_ROWS)
    if len(known) < 2:
        return 0.0
    return evidence.class_separation(_scaled(domain.X[known], scaling), domain.y[known], max_queries=MAX_QUERIES)


def _scaled(rows: AnyRows, scaling: Scaling) -> Array:
    """Scaled rows, many of them in float32: exact enough to compare shares, in half the time of a search."""
    return scale_to_compare(rows, scaling)
