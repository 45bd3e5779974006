"""Which scaling suits the domains, before anything is projected."""

import numpy as np
from scipy import sparse

from lpjt.classifiers import Propagation
from lpjt.core import coordinates
from lpjt.core.blocks import stack_rows
from lpjt.selection import evidence
from lpjt.selection.evidence import every_few

#: So many rows of each domain are looked at, and for so many of them nearest rows are sought among these. Thinner
#: domains would not do: with fewer rows of a class others come nearer, in one scaling more than in another.
MAX_ROWS, ASKED = 4000, 1000


class Scalings:
    """Scalings of the domains, each by itself, found once for each kind."""

    def __init__(self, domains):
        self.domains = domains
        self._found: dict = {}

    def of(self, kind):
        """Scaling of each domain, sources first."""
        if kind not in self._found:
            everything = [*self.domains.sources, *self.domains.targets]
            self._found[kind] = tuple(coordinates.fit_scaling(d.X, kind) for d in everything)
        return self._found[kind]

    def of_sources(self, kind):
        """One scaling for the rows of all sources together."""
        if len(self.domains.sources) == 1:
            return self.of(kind)[0]
        return coordinates.joint_scaling([d.X for d in self.domains.sources], kind)


def choose_scaling(domains, kinds, scalings):
    """Name of the scaling under which the source's classes are separate and the first labels of the target agree.

    Each scaling is judged by three shares, none of which needs a target label: source rows whose nearest other source
    row has their label; source rows whose nearest target row is given their label; and the mutual information of
    target rows and first labels. Where widths differ only the first is to be had, of every domain's labelled rows.

    Parameters
    ----------
    domains : Domains
    kinds : tuple of str
        As for `core.coordinates.fit_scaling`. The first is taken where rows are sparse.
    scalings : Scalings
    """
    everything = [*domains.sources, *domains.targets]
    if len(kinds) == 1 or any(sparse.issparse(d.X) for d in everything):
        return kinds[0]
    if len({d.X.shape[1] for d in everything}) > 1:
        return max(kinds, key=lambda kind: sum(map(_separation, everything, scalings.of(kind))))
    y = np.concatenate([every_few(d.y, MAX_ROWS) for d in domains.sources])
    rows = [every_few(d.X, MAX_ROWS) for d in everything]
    n_sources = len(domains.sources)

    def merit(kind):
        scaled = list(map(_scaled, rows, scalings.of(kind)))
        return _merit(stack_rows(scaled[:n_sources]), y, stack_rows(scaled[n_sources:]), len(domains.classes))

    return max(kinds, key=merit)


def _merit(source, y, target, n_classes):
    F = Propagation().start(source, np.eye(n_classes)[y], target)
    nearest = evidence.nearest_targets(every_few(source, ASKED), target)
    reverse = evidence.reverse_agreement(nearest, F.argmax(axis=1), every_few(y, ASKED))
    return evidence.mutual_information(F) + reverse + evidence.class_separation(source, y, n_asked=ASKED)


def _separation(domain, scaling):
    """Separation of the classes among the labelled rows of one domain; 0 where there are none to compare."""
    known = np.flatnonzero(domain.y >= 0)
    if len(known) < 2:
        return 0.0
    known = every_few(known, MAX_ROWS)
    return evidence.class_separation(_scaled(domain.X[known], scaling), domain.y[known], n_asked=ASKED)


def _scaled(rows, scaling):
    """Scaled rows in float32: shares are compared here, and searches take half the time."""
    return coordinates.scale_to_float32(rows, scaling)
