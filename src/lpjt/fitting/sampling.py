"""Which rows of a large domain are learned from."""

import numpy as np

from lpjt._typing import Codes


def draw_sample(y: Codes, n_rows: int, random_state: np.random.RandomState) -> Codes | None:
    """Ascending positions of `n_rows` rows that represent all, or None if there are no more rows than that.

    Labelled rows are drawn class by class, in proportion to their number and at least one per class. Of a domain with
    labelled and unlabelled rows, labelled rows take up to half of the sample: usually all of them.

    Parameters
    ----------
    y : int array, (n,)
        Class codes, -1 where unlabelled.
    n_rows : int
    random_state : numpy RandomState
    """
    if len(y) <= n_rows:
        return None
    known, unknown = np.flatnonzero(y >= 0), np.flatnonzero(y < 0)
    n_known = min(len(known), max(n_rows // 2, n_rows - len(unknown)))
    chosen = [
        draw_by_class(known, y[known], n_known, random_state),
        random_state.choice(unknown, n_rows - n_known, replace=False) if n_rows > n_known else unknown[:0],
    ]
    return np.sort(np.concatenate(chosen))


def draw_by_class(rows: Codes, y: Codes, n_rows: int, random_state: np.random.RandomState) -> Codes:
    """`n_rows` of the rows, (n_rows,), drawn class by class in proportion to the classes' sizes, at least one each."""
    if n_rows >= len(rows):
        return rows
    order = random_state.permutation(len(rows))
    order = order[np.argsort(y[order], kind="stable")]
    _, starts, counts = np.unique(y[order], return_index=True, return_counts=True)
    quota = share_out(n_rows, counts)
    taken = np.concatenate([order[start : start + q] for start, q in zip(starts, quota, strict=True)])
    return rows[taken]


def share_out(n: int, counts: Codes) -> Codes:
    """`n` places shared out in proportion to `counts`, by largest remainders; at least one each if `n` allows it."""
    ideal = n * counts / counts.sum()
    quota = np.minimum(np.maximum(np.floor(ideal).astype(np.int64), 1), counts)
    while quota.sum() < n:
        quota[np.argmax(np.where(quota < counts, ideal - quota, -np.inf))] += 1
    while quota.sum() > n and quota.max() > 1:  # the smallest classes were given more than their share
        quota[np.argmax(np.where(quota > 1, quota - ideal, -np.inf))] -= 1
    return quota
