"""Labels without adaptation: whether there is a shift at all, and the classifier to use if there is none."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from lpjt.classifiers import FittedClassifier
from lpjt.core import coordinates
from lpjt.core.blocks import row_blocks, stack_rows
from lpjt.core.directions import leading_directions
from lpjt.core.neighbors import nearest_rows
from lpjt.core.propagation import unit_rows
from lpjt.selection.evidence import domain_mixing, every_few

#: Below the first value of `domain_mixing`, by nearest-neighbour labels, the domains are apart, and better labels are
#: not worth their cost; above the second, by the better labels, the domains are one. Set between what halves of one
#: real domain have, whatever their class proportions, and what pairs of different domains have.
CLEARLY_APART, AS_ONE = 0.6, 0.88

#: Upper bounds on the rows per domain used to test for a shift, in cross-validation, and to learn from without a shift.
TESTED_ROWS, VALIDATED_ROWS, LEARNED_ROWS = 2000, 5000, 20_000


@dataclass(frozen=True, slots=True, eq=False)
class Unshifted:
    """A target that cannot be told from the source, and its labels."""

    name: str
    predictor: Any
    scaling: coordinates.Scaling
    distributions: tuple
    mixing: float


def find_unshifted(domains, scalings_of, *, random_state):
    """Look for a shift between the domains within classes.

    Parameters
    ----------
    domains : Domains
    scalings_of : callable
        Gives the scaling of all sources together for a kind.
    random_state : numpy RandomState

    Returns
    -------
    Unshifted or None
        None where there is a shift, or where widths differ, so that there is no telling.
    """
    everything = [*domains.sources, *domains.targets]
    if len({d.X.shape[1] for d in everything}) > 1 or any(sparse.issparse(d.X) for d in everything):
        return None
    if any((d.y >= 0).any() for d in domains.targets):
        return None  # labelled target rows say more than this statistic
    # The sources' statistics for both: the target's own would move its classes wherever their proportions differ.
    scalings = {kind: scalings_of(kind) for kind in ("standard", "unit")}
    (X, y), (X_target, _) = (_some_rows(side, TESTED_ROWS) for side in (domains.sources, domains.targets))
    # Some rows, and float32, are enough to tell domains apart by.
    rows, target = (coordinates.scale_to_float32(part, scalings["standard"]) for part in (X, X_target))
    nearest = y[nearest_rows(target, rows, 1).indices[:, 0]]
    if domain_mixing(rows, y, target, nearest) < CLEARLY_APART:
        return None
    X, y = _some_rows(domains.sources, LEARNED_ROWS)
    name, kind, model = _best_on_source({k: coordinates.scale_rows(X, s) for k, s in scalings.items()}, y, random_state)
    predictor = FittedClassifier(model, len(domains.classes))
    parts = [_distributions(d.X, predictor, scalings[kind]) for d in domains.targets]
    X_target, F = _some_rows(domains.targets, LEARNED_ROWS, parts)
    rows, target = (coordinates.scale_rows(part, scalings[kind]) for part in (X, X_target))
    mixing = domain_mixing(rows, y, target, F.argmax(axis=1))
    if mixing < AS_ONE:
        return None
    return Unshifted(name, predictor, scalings[kind], tuple(parts), mixing)


def _some_rows(side, at_most, values=None):
    """At most so many raw rows of each domain of a side, and their labels, or other values that they have."""
    values = [d.y for d in side] if values is None else values
    return (
        stack_rows([every_few(d.X, at_most) for d in side]),
        np.concatenate([every_few(value, at_most) for value in values]),
    )


def _distributions(X, predictor, scaling):
    """Distributions of all rows, a block at a time."""
    return np.vstack([predictor.distributions_of(coordinates.scale_rows(X[rows], scaling)) for rows in row_blocks(X)])


def pca_neighbor(known_rows, labels, unknown_rows, n_classes, n_components):
    """Start of the authors' code: nearest neighbour on unit rows of the known rows' principal directions.

    As there, the directions are those of the centred rows, but the rows themselves are not centred.
    """
    (axes,) = principal_axes([known_rows], n_components)
    model = KNeighborsClassifier(n_neighbors=1).fit(unit_rows(known_rows @ axes), labels)
    return np.eye(n_classes)[model.predict(unit_rows(unknown_rows @ axes))]


def principal_axes(parts, n_components):
    """Principal directions, (width, n_components), for each part; parts of one width share theirs."""
    axes = {}
    for width in {part.shape[1] for part in parts}:
        rows = [part for part in parts if part.shape[1] == width]
        n = sum(len(part) for part in rows)
        mean = sum(part.sum(axis=0, dtype=np.float64) for part in rows) / n
        scatter = sum((part - mean).T @ (part - mean) for part in rows)
        _, axes[width] = leading_directions(np.asarray(scatter, dtype=np.float64), max_rank=n_components)
    return tuple(axes[part.shape[1]] for part in parts)


def _best_on_source(rows_of, y, random_state):
    """Name, scaling and model of what is best by cross-validation on the source, which is fair where nothing shifts.

    `rows_of` has the source's rows under each kind of scaling; nearest neighbour and a linear SVM are tried on each.
    """
    models = {
        "nearest neighbour": KNeighborsClassifier(n_neighbors=1),
        "a linear SVM": LinearSVC(dual="auto", random_state=random_state),
    }
    chosen = np.sort(random_state.permutation(len(y))[:VALIDATED_ROWS])
    counts = np.bincount(y[chosen])
    n_folds = min(3, int(counts[counts > 0].min()))
    best = ("nearest neighbour", "standard")
    if n_folds > 1:
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=random_state.randint(2**31 - 1))
        scores = {
            (name, kind): cross_val_score(model, rows[chosen], y[chosen], cv=folds).mean()
            for name, model in models.items()
            for kind, rows in rows_of.items()
        }
        best = max(scores, key=scores.__getitem__)
    return *best, clone(models[best[0]]).fit(rows_of[best[1]], y)
