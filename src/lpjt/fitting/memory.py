"""How a fit keeps within a memory limit: the size of its blocks, and coordinates in a file if they must be."""

import re
from collections.abc import Sequence
from dataclasses import replace

from lpjt._threads import n_threads
from lpjt.core.blocks import AnyRows, is_sparse, stays_sparse
from lpjt.core.clusters import SEARCH_WIDTH
from lpjt.core.directions import OVERSAMPLED
from lpjt.core.objective import LISTED, LISTED_APPROXIMATELY
from lpjt.core.ridge import MAX_CENTRES
from lpjt.domains import Domain, Domains
from lpjt.fitting.candidate import bound_coordinates, max_coordinates
from lpjt.fitting.candidates import CANDIDATE_COORDINATES
from lpjt.fitting.plan import SHARD_ROWS, Plan
from lpjt.fitting.refine import TAUGHT_ROWS
from lpjt.fitting.samples import SECOND_ROWS, bound_rows

#: Entries of the smallest and of the largest block of rows.
SMALLEST, LARGEST = 2**17, 2**24

#: Copies of a block that exist at once: scaled rows, their squares, a product.
COPIES = 4

#: Bytes per unlabelled row of the propagation: of its solver, per class, and of its graph.
SOLVER_BYTES_PER_CLASS, GRAPH_BYTES = 9 * 8, 1200

#: Fewest rows that share one graph: with fewer, rows would lose too many of their neighbours to other shards.
FEWEST_SHARED = 62_500

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}


def read_limit(limit: str | int) -> int:
    """Bytes of a limit such as "4GB", "512 MiB" or 4e9 as an int."""
    if not isinstance(limit, str):
        return int(limit)
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]I?|)B?\s*", limit.upper())
    if match is None or not float(match[1]):
        raise ValueError(f"memory_limit={limit!r} is not a size. Give e.g. '4GB', '512MB' or a number of bytes.")
    return int(float(match[1]) * _UNITS[match[2]])


def within_memory(
    plan: Plan, domains: Domains, limit: str | int | None, *, whole: Domains, labels_here: bool = True
) -> Plan:
    """Plan whose block size, and whose place for coordinates, suit the limit; the same plan if there is none.

    Parameters
    ----------
    plan : Plan
    domains : Domains
        Rows that are learned from.
    limit : str, int or None
        Memory that the fit may use beyond its input.
    whole : Domains
        All rows; the same rows as those of `domains`, not copies, if every row is learned from.
    labels_here : bool
        Whether all rows are labelled in the caller's memory, not by a cluster.

    Returns
    -------
    Plan
    """
    if limit is None:
        return plan
    allowed = read_limit(limit)
    everything = domains.all
    ranks = bound_coordinates(everything, plan)
    itemsize = max(d.X.dtype.itemsize for d in everything)
    least = _learning(everything, len(domains.sources), ranks, plan, len(domains.classes))
    least += _copies(domains, whole) + _choosing(everything, ranks, plan, len(domains.classes))
    coordinates = sum(d.X.shape[0] * rank * d.X.dtype.itemsize for d, rank in zip(everything, ranks, strict=True))
    each = itemsize * COPIES * n_threads()  # of an entry: every thread has a block
    smallest = SMALLEST * each
    if labels_here:
        plan = _with_shards(plan, whole, allowed - smallest)
        least = max(least, _labelling(whole, plan))
    if least + smallest > allowed:
        raise ValueError(
            f"memory_limit={limit!r} is too small: this fit needs at least {_words(least + smallest)} beyond its input "
            f"({_words(least)} for matrices, neighbours and labels, the rest for a block of rows). Set it to that, or "
            "lower sample_size, n_coordinates or n_components."
        )
    on_disk = least + coordinates + smallest > allowed
    left = allowed - least - (0 if on_disk else coordinates)
    entries = int(left / each)
    return replace(plan, on_disk=on_disk, block_entries=min(LARGEST, max(SMALLEST, entries)))


def _learning(everything: Sequence[Domain], n_sources: int, ranks: list[int], plan: Plan, n_classes: int) -> int:
    """Bytes that Algorithm 1 holds at once beside coordinates and blocks, in the largest of its three stages."""
    settings = plan.settings
    approximate = settings.search == "approximate"
    listed = max(LISTED_APPROXIMATELY if approximate else LISTED, 4 * settings.n_neighbors) * (8 if approximate else 16)
    rows = [d.X.shape[0] for d in everything]
    lists = listed * sum(rows)
    widths = {d.X.shape[1] for d in everything}
    principal = max(_principal([d.X for d in everything if d.X.shape[1] == w], plan) for w in widths)
    # Neighbours: the search's own copy of the rows; two lists while one is cut.
    searched = sum(n * 4 * min(rank, SEARCH_WIDTH) for n, rank in zip(rows, ranks, strict=True)) if approximate else 0
    # Iterations: matrices of Eq. (21); class graphs, embeddings of three iterations; distributions, solver, graph.
    each = 96 * settings.n_neighbors + 6 * 8 * settings.n_components
    solver = SOLVER_BYTES_PER_CLASS * n_classes + GRAPH_BYTES
    iterations = 8 * 7 * sum(ranks) ** 2 + each * sum(rows) + solver * sum(rows[n_sources:])
    stacked = sum(n * rank * 8 for n, rank in zip(rows, ranks, strict=True)) if n_sources > 1 else 0
    return lists + max(principal, searched + lists + stacked, iterations)


def _principal(parts: Sequence[AnyRows], plan: Plan) -> int:
    """Bytes that the search for the principal directions of the domains of one width holds at once."""
    width = parts[0].shape[1]
    if not (plan.kernel.is_linear and stays_sparse(parts)):
        # Second moments, one for each thread, their eigenvectors and the workspace of both.
        return 8 * (3 + n_threads()) * width**2
    n, entries = (sum(size) for size in zip(*((X.shape[0], _stored(X)) for X in parts), strict=True))
    size = (max_coordinates(plan, parts) or width) + OVERSAMPLED
    # Scores of the stored entries, their squares and places; products on both sides, and the workspace of both.
    return 4 * 8 * entries + 4 * 8 * (n + width) * min(size, n, width)


def _stored(X: AnyRows) -> int:
    return int(X.nnz) if is_sparse(X) else X.shape[0] * X.shape[1]


def _choosing(everything: Sequence[Domain], ranks: list[int], plan: Plan, n_classes: int) -> int:
    """Bytes of the candidates, of which every thread works on one view, and of the last regression."""
    found = 0
    if plan.chooses:
        n = sum(min(d.X.shape[0], bound_rows(SECOND_ROWS, n_classes)) for d in everything)
        rank = max(CANDIDATE_COORDINATES, plan.settings.n_components)
        problems = n * (8 * rank + 16 * LISTED) * len(plan.views) * len(plan.kernels)
        found += problems + n_threads() * (8 * 7 * (2 * rank) ** 2 + n * (4 * max(d.X.shape[1] for d in everything)))
    if plan.refine:
        n = sum(min(d.X.shape[0], TAUGHT_ROWS) for d in everything)
        found += 8 * n * (2 * max(ranks) + 2 * min(n, MAX_CENTRES) + 2 * n_classes)
    return found


def _copies(domains: Domains, whole: Domains) -> int:
    """Bytes of the rows that were copied to learn from: samples, and all that came from a cluster."""
    parts = zip(domains.all, whole.all, strict=True)
    return sum(few.X.shape[0] * few.X.shape[1] * few.X.dtype.itemsize for few, d in parts if few.X is not d.X)


def _with_shards(plan: Plan, domains: Domains, allowed: int) -> Plan:
    """The plan with the largest shards, halved as often as needed, that are labelled within the memory allowed."""
    shard_rows = SHARD_ROWS
    while _labelling(domains, plan) > allowed and shard_rows // 2 >= FEWEST_SHARED:
        shard_rows //= 2
        plan = replace(plan, shard_rows=shard_rows)
    return plan


def _labelling(domains: Domains, plan: Plan) -> int:
    """Bytes of the embeddings and distributions of all rows, and of the graph and solver of one shard."""
    n_known, n_unknown = (sum(d.X.shape[0] for d in side) for side in (domains.sources, domains.targets))
    n_classes, n_components = len(domains.classes), plan.settings.n_components
    held = 4 * n_components * (n_known + n_unknown) + 8 * n_classes * n_unknown
    known, unknown = (min(n, plan.shard_rows or SHARD_ROWS) for n in (n_known, n_unknown))
    shard = 4 * 4 * n_components * (known + unknown) + (SOLVER_BYTES_PER_CLASS * n_classes + GRAPH_BYTES) * unknown
    return held + shard


def _words(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:.2f}GB" if n_bytes >= 1e9 else f"{-(-n_bytes // 10**6)}MB"
