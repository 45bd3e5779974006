"""Exact nearest rows, block against blocks. Ties go to the smaller row number, whatever the order of the blocks."""

from dataclasses import dataclass

import numpy as np

from lpjt.core.neighbors import nearest_rows
from lpjt.distributed import tasks
from lpjt.distributed.blocks import Blocks, fold


@dataclass(frozen=True, slots=True, eq=False)
class Lists:
    """Nearest rows of each row of a block, nearest first; infinitely far and -1 where there are fewer."""

    indices: np.ndarray  # (m, k) row numbers among all candidates
    squared: np.ndarray  # (m, k) squared distances
    codes: np.ndarray  # (m, k) their labels where candidates came with labels, else (m, 0)


#: Bytes of one entry of a list: a row number, a distance, a label.
ENTRY_BYTES = 20


def search(queries: Blocks, candidates: Blocks, k, *, same=False, codes: Blocks | None = None) -> Blocks:
    """`Lists` of the k nearest candidates of each query, exact: O(n_queries n_candidates width) time.

    Parameters
    ----------
    queries, candidates : Blocks of arrays, (m, width)
    k : int
    same : bool
        The queries are the candidates: a row is not its own neighbour.
    codes : Blocks of int arrays, (m,), optional
        Labels of the candidates, which then come with the lists.
    """
    k = min(k, candidates.n_rows - same)
    starts = tuple(candidates.offsets[:-1].tolist())
    nodes = []
    for p, node in enumerate(queries.nodes):
        own = starts[p] if same else None
        labels = () if codes is None else (codes,)
        first = p * len(candidates.nodes) // len(queries.nodes)
        nodes.append(fold(search_group, None, [node], candidates, *labels, first=first, k=k, starts=starts, own=own))
    return Blocks(nodes, queries.sizes, ENTRY_BYTES * k)


def search_group(lists, queries, blocks, codes=None, *, numbers, k, starts, own):
    """Lists after some more blocks of candidates; `own` is the number of the first query where it is a candidate."""
    candidates, ids = stack_group(blocks, numbers, starts)
    itself = own is not None and any(starts[q] == own for q in numbers)
    near = nearest_rows(queries, candidates, k + itself)
    found, squared = ids[near.indices], near.squared
    labels = np.empty((len(queries), 0), np.int32)
    if codes is not None:
        labels = np.concatenate(codes)[near.indices]
    if itself:
        squared = np.where(found == own + np.arange(len(queries))[:, None], np.inf, squared)
    return merge(lists, Lists(found, squared, labels), k)


def stack_group(blocks, numbers, starts):
    """Rows of some blocks, one under the other (one search for all is faster than one for each), and their numbers."""
    ids = [starts[q] + np.arange(len(block)) for block, q in zip(blocks, numbers, strict=True)]
    return (blocks[0] if len(blocks) == 1 else np.concatenate(blocks)), np.concatenate(ids)


def merge(first, second, k):
    """The k nearest of two lists, padded to k where both are short."""
    if first is not None:
        second = Lists(
            np.hstack([first.indices, second.indices]),
            np.hstack([first.squared, second.squared]),
            np.hstack([first.codes, second.codes]),
        )
    order = np.lexsort((second.indices, second.squared), axis=1)[:, :k]
    indices, squared = (np.take_along_axis(part, order, axis=1) for part in (second.indices, second.squared))
    codes = np.take_along_axis(second.codes, order, axis=1) if second.codes.shape[1] else second.codes
    lacking = k - order.shape[1]
    if lacking > 0:
        indices = np.pad(indices, ((0, 0), (0, lacking)), constant_values=-1)
        squared = np.pad(squared, ((0, 0), (0, lacking)), constant_values=np.inf)
        codes = np.pad(codes, ((0, 0), (0, lacking)), constant_values=-1) if codes.shape[1] else codes
    return Lists(np.where(np.isinf(squared), -1, indices), squared, codes)


def search_by_class(asked: Blocks, rows: Blocks, labels: Blocks, which, k, *, own) -> dict:
    """Nodes of `Lists`, by block, of rows whose list of any class was too short: `core.graphs._search_by_class`.

    Parameters
    ----------
    asked : Blocks of `Asked`
    rows, labels : Blocks
        Of the whole domain.
    which : list of int
        Blocks in which rows are asked for.
    own : bool
        Among the rows of their own class, or of all others.
    """
    starts = tuple(rows.offsets[:-1].tolist())
    return {
        p: fold(search_group_by_class, None, [asked.nodes[p]], rows, labels, first=p, k=k, starts=starts, own=own)
        for p in which
    }


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """Rows of a block that are asked for."""

    places: np.ndarray  # (a,) in the block
    rows: np.ndarray  # (a, width)
    labels: np.ndarray  # (a,)
    start: int  # number of the block's first row in its domain


def ask(rows, labels, short, *, start):
    """The rows of a block that are marked."""
    places = np.flatnonzero(short)
    return Asked(places, rows[places], labels[places], start)


def search_group_by_class(lists, asked, blocks, labels, *, numbers, k, starts, own):
    """Lists of the asked rows after some more blocks of candidates."""
    rows, ids = stack_group(blocks, numbers, starts)
    y = np.concatenate(labels)
    indices = np.full((len(asked.places), k), -1, dtype=np.int64)
    squared = np.full((len(asked.places), k), np.inf)
    for c in np.unique(asked.labels):
        queries = np.flatnonzero(asked.labels == c)
        candidates = np.flatnonzero((y == c) if own else (y >= 0) & (y != c))
        if not len(candidates):
            continue
        near = nearest_rows(asked.rows[queries], rows[candidates], k + own)
        found = ids[candidates[near.indices]]
        itself = found == (asked.start + asked.places[queries])[:, None]
        best = merge(None, _without_labels(found, np.where(itself, np.inf, near.squared)), k)
        indices[queries], squared[queries] = best.indices, best.squared
    return merge(lists, _without_labels(indices, squared), k)


def _without_labels(indices, squared):
    return Lists(indices, squared, np.empty((len(indices), 0), np.int32))


def look_up_labels(lists: Blocks, labels: Blocks) -> Blocks:
    """Labels of the listed rows, (m, k), by block; labels travel, one number a row."""
    starts = labels.offsets
    nodes = [
        fold(look_up_group, None, [node], labels, first=p, starts=tuple(starts.tolist()))
        for p, node in enumerate(lists.nodes)
    ]
    return Blocks(nodes, lists.sizes, lists.row_bytes / 4)


def look_up_group(found, lists, labels, *, numbers, starts):
    """Labels of the listed rows after some more blocks of labels."""
    found = np.full(lists.indices.shape, -1, dtype=np.int32) if found is None else found.copy()
    for place, q in enumerate(numbers):
        inside = (lists.indices >= starts[q]) & (lists.indices < starts[q + 1])
        found[inside] = labels[place][lists.indices[inside] - starts[q]]
    return found


def count_pointers(lists: Blocks, labels: Blocks, targets: Blocks, n_classes) -> Blocks:
    """For each target row how many rows of each class have it as nearest, (m, n_classes) sparse, by target block.

    With it the reverse agreement of a labelling is a sum over target blocks, and nothing travels again.
    """
    nodes = [
        fold(
            count_group,
            None,
            [],
            lists,
            labels,
            first=p * len(lists.nodes) // len(targets.nodes),
            start=int(targets.offsets[p]),
            size=targets.sizes[p],
            n_classes=n_classes,
        )
        for p in range(len(targets.nodes))
    ]
    return Blocks(nodes, targets.sizes, 16)


def count_group(counts, lists, labels, *, numbers, start, size, n_classes):
    """Pointers to one block of targets, from some more blocks of sources."""
    from scipy import sparse

    total = sparse.csr_array((size, n_classes), dtype=np.int64) if counts is None else counts
    for near, y in zip(lists, labels, strict=True):
        place = near.indices[:, 0] - start
        inside = (place >= 0) & (place < size)
        ones = np.ones(int(inside.sum()), dtype=np.int64)
        total = total + sparse.csr_array((ones, (place[inside], y[inside])), shape=(size, n_classes))
    return total.tocsr()


def persist_lists(*many: Blocks):
    """Keep several blocks on the workers, in one submission."""
    tasks.persist([node for blocks in many for node in blocks.nodes])
