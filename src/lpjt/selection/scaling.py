"""Which scaling suits the domains, before anything is projected."""

import numpy as np
from scipy import sparse

from lpjt.classifiers import Propagation
from lpjt.core import coordinates
from lpjt.selection import evidence
from lpjt.selection.evidence import every_few

#: So many rows of each domain are looked at.
MAX_ROWS = 4000


def choose_scaling(domains, kinds):
    """Name of the scaling under which the source's classes are separate and the first labels of the target agree.

    Each scaling is judged by three shares, none of which needs a target label: source rows whose nearest other source
    row has their label; source rows whose nearest target row is given their label; and the mutual information of
    target rows and first labels. Where widths differ only the first is to be had, of every domain's labelled rows.

    Parameters
    ----------
    domains : Domains
    kinds : tuple of str
        As for `core.coordinates.fit_scaling`. The first is taken where rows are sparse.
    """
    everything = [*domains.sources, *domains.targets]
    if len(kinds) == 1 or any(sparse.issparse(d.X) for d in everything):
        return kinds[0]
    if len({d.X.shape[1] for d in everything}) > 1:
        return max(kinds, key=lambda kind: sum(_separation(d, kind) for d in everything))
    y = np.concatenate([every_few(d.y, MAX_ROWS) for d in domains.sources])
    return max(kinds, key=lambda kind: _merit(domains, y, kind))


def _merit(domains, y, kind):
    source, target = (
        np.vstack([_scaled(d, every_few(d.X, MAX_ROWS), kind) for d in side])
        for side in (domains.sources, domains.targets)
    )
    F = Propagation().start(source, np.eye(len(domains.classes))[y], target)
    nearest = evidence.nearest_targets(source, target)
    reverse = evidence.reverse_agreement(nearest, F.argmax(axis=1), y)
    return evidence.mutual_information(F) + reverse + evidence.class_separation(source, y)


def _separation(domain, kind):
    """Separation of the classes among the labelled rows of one domain; 0 where there are none to compare."""
    known = np.flatnonzero(domain.y >= 0)
    if len(known) < 2:
        return 0.0
    known = every_few(known, MAX_ROWS)
    return evidence.class_separation(_scaled(domain, domain.X[known], kind), domain.y[known])


def _scaled(domain, rows, kind):
    """Rows under a scaling of their domain, in float32: shares are compared here, and searches take half the time."""
    return coordinates.scale_rows(rows, coordinates.fit_scaling(domain.X, kind)).astype(np.float32)
