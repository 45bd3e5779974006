"""Labels without adaptation: whether there is a shift at all, and the classifier to use if there is none."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from lpjt._typing import Array, Codes, Sparse
from lpjt.classifiers import FittedClassifier, Predictor
from lpjt.core.blocks import AnyRows, row_blocks, stack_rows, stays_sparse
from lpjt.core.directions import leading_directions
from lpjt.core.neighbors import nearest_rows
from lpjt.core.propagation import unit_rows
from lpjt.core.scaling import Scaling, scale_rows, scale_to_compare
from lpjt.domains import Domain, Domains
from lpjt.selection.evidence import domain_mixing, every_few

#: If `domain_mixing` by nearest-neighbour labels is below the first value, the domains are apart, and better labels are
#: not worth their cost; if by the better labels it is above the second, the domains are one. The values lie between
#: those of halves of one real domain, whatever their class proportions, and those of pairs of different domains.
CLEARLY_APART, AS_ONE = 0.6, 0.88

#: Upper bounds on the rows per domain used to test for a shift, in cross-validation, and to learn from without a shift.
TESTED_ROWS, VALIDATED_ROWS, LEARNED_ROWS = 2000, 5000, 20_000


@dataclass(frozen=True, slots=True, eq=False)
class Unshifted:
    """A target that cannot be distinguished from the source, and its labels."""

    name: str  # of the classifier, in words
    predictor: Predictor
    scaling: Scaling
    distributions: tuple[Array, ...]  # (n_j, n_classes) per target
    mixing: float


def find_unshifted(
    domains: Domains, scaling_of: Callable[[str], Scaling], *, random_state: np.random.RandomState
) -> Unshifted | None:
    """Test for a shift between the domains within classes.

    Parameters
    ----------
    domains : Domains
    scaling_of : callable
        Returns the scaling of all sources together for a kind.
    random_state : numpy RandomState

    Returns
    -------
    Unshifted or None
        None if there is a shift; also if it cannot be tested, because widths differ or sparse rows are
        too wide, and if target rows are labelled.
    """
    everything = domains.all
    too_wide = stays_sparse([d.X for d in everything], max_rows=LEARNED_ROWS)
    if too_wide or len({d.X.shape[1] for d in everything}) > 1:
        return None
    if any((d.y >= 0).any() for d in domains.targets):
        return None  # labelled target rows say more than this statistic
    # The sources' statistics for both: the target's own would move its classes if their proportions differ.
    scalings = {kind: scaling_of(kind) for kind in ("standard", "unit")}
    (X, y), (X_target, _) = (_some_rows(side, TESTED_ROWS) for side in (domains.sources, domains.targets))
    # Some rows, many of them in float32, are enough to distinguish domains.
    rows, target = (scale_to_compare(part, scalings["standard"]) for part in (X, X_target))
    nearest = y[nearest_rows(target, rows, 1).indices[:, 0]]
    if domain_mixing(rows, y, target, nearest) < CLEARLY_APART:
        return None
    X, y = _some_rows(domains.sources, LEARNED_ROWS)
    name, kind, model = _best_on_source({k: scale_rows(X, s) for k, s in scalings.items()}, y, random_state)
    predictor = FittedClassifier(model, len(domains.classes))
    parts = [_distributions(d.X, predictor, scalings[kind]) for d in domains.targets]
    X_target, F = _some_rows(domains.targets, LEARNED_ROWS, parts)
    rows, target = (scale_rows(part, scalings[kind]) for part in (X, X_target))
    mixing = domain_mixing(rows, y, target, F.argmax(axis=1))
    if mixing < AS_ONE:
        return None
    return Unshifted(name, predictor, scalings[kind], tuple(parts), mixing)


def _some_rows(
    side: Sequence[Domain], max_rows: int, values: Sequence[Any] | None = None
) -> tuple[Array | Sparse, Any]:
    """At most `max_rows` raw rows per domain of a side, and their labels, or other values that belong to the rows."""
    values = [d.y for d in side] if values is None else values
    return (
        stack_rows([every_few(d.X, max_rows) for d in side]),
        np.concatenate([every_few(value, max_rows) for value in values]),
    )


def _distributions(X: AnyRows, predictor: Predictor, scaling: Scaling) -> Array:
    """Distributions of all rows, block by block."""
    return np.vstack([predictor.distributions_of(scale_rows(X[rows], scaling)) for rows in row_blocks(X)])


def pca_neighbor(known_rows: Array, labels: Codes, unknown_rows: Array, n_classes: int, n_components: int) -> Array:
    """Start of the authors' code: nearest neighbour on unit rows of the known rows' principal directions.

    As there, the directions are those of the centred rows, but the rows themselves are not centred.
    """
    (axes,) = principal_axes([known_rows], [known_rows.shape[1]], n_components)
    model = KNeighborsClassifier(n_neighbors=1).fit(unit_rows(known_rows @ axes), labels)
    return np.eye(n_classes)[model.predict(unit_rows(unknown_rows @ axes))]


def principal_axes(parts: Sequence[Array], widths: Sequence[int], n_components: int) -> tuple[Array, ...]:
    """Principal directions, (columns, n_components), for each part; parts of domains of one width share theirs."""
    axes: dict[int, Array] = {}
    for width in set(widths):
        rows = [part for part, of_part in zip(parts, widths, strict=True) if of_part == width]
        n = sum(len(part) for part in rows)
        mean = sum(part.sum(axis=0, dtype=np.float64) for part in rows) / n
        scatter = sum((part - mean).T @ (part - mean) for part in rows)
        _, axes[width] = leading_directions(np.asarray(scatter, dtype=np.float64), max_rank=n_components)
    return tuple(axes[width] for width in widths)


def _best_on_source(
    rows_of: Mapping[str, Array], y: Codes, random_state: np.random.RandomState
) -> tuple[str, str, Any]:
    """Name, kind of scaling and fitted model of the best classifier by cross-validation on the source.

    Without a shift that is a fair test. `rows_of` has the rows of the source under each kind of scaling; nearest
    neighbour and a linear SVM are tried on each.
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
