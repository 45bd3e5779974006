"""Constants of a distributed fit, measured on one core and on a cluster of two processes, for docs/scaling.md."""

import platform
import time
from collections.abc import Callable
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

from lpjt.classifiers import make_pool
from lpjt.core.coordinates import Coordinates, Scaling
from lpjt.distributed import coordinates, graphs, moments, neighbors, problem, propagation, statistics, systems, tasks
from lpjt.distributed.blocks import Blocks
from lpjt.distributed.results import POOLED
from lpjt.study.settings import make_lpjt

#: The blocks that are measured: rows, columns, coordinates, components, classes.
ROWS, COLUMNS, RANK, COMPONENTS, CLASSES = 4096, 2048, 512, 20, 10
LISTED, NEIGHBORS, VOTERS = 64, 5, 15

Constants = dict[str, Any]


def measure_constants() -> Constants:
    """Every constant of the page."""
    with threadpool_limits(1):
        constants = {**measure_blocks(), **measure_steps()}
    constants |= measure_cluster()
    constants["machine"] = f"{platform.machine()}, Python {platform.python_version()}, dask {dask.__version__}"
    return constants


def seconds(
    function: Callable[..., Any], *arguments: Any, clock: Callable[[], float] = time.process_time, **options: Any
) -> float:
    """Shortest of five calls, by default in seconds of one core, which other work on the machine does not lengthen."""
    times = []
    for _ in range(5):
        began = clock()
        function(*arguments, **options)
        times.append(clock() - began)
    return min(times)


def size_of(value: Any) -> int:
    """Bytes of the arrays of a value."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if hasattr(value, "indptr"):
        return value.data.nbytes + value.indices.nbytes + value.indptr.nbytes
    return sum(size_of(getattr(value, name)) for name in getattr(value, "__slots__", ()))


def measure_blocks() -> Constants:
    """Seconds per row of what is linear in the rows, seconds per pair of what is not, bytes per row of what is kept."""
    rng = np.random.default_rng(0)
    raw = rng.normal(size=(ROWS, COLUMNS)).astype(np.float32)
    basis = np.linalg.qr(rng.normal(size=(COLUMNS, RANK)))[0].astype(np.float32)
    scaling = Scaling(mean=raw.mean(axis=0), deviation=raw.std(axis=0), clip=3.0, unit_rows=True)
    X = problem.to_coordinates(raw, map_to=Coordinates(scaling, basis=basis))
    y = rng.integers(0, CLASSES, ROWS)
    P = rng.normal(size=(RANK, COMPONENTS))
    Z, ones = problem.project(X, P), np.ones(ROWS)
    counts = np.bincount(y, minlength=CLASSES)
    spread: dict[str, Any] = {"counts": counts, "own": np.ones(CLASSES), "ratio": 1.0}
    row = {
        "statistics": seconds(statistics.column_statistics, raw, row_sums=False),
        "second moments": seconds(coordinates.scaled_gram, raw, scaling=scaling),
        "coordinates": seconds(problem.to_coordinates, raw, map_to=Coordinates(scaling, basis=basis)),
        "class sums": seconds(moments.class_sums, X, y, ones, n_classes=CLASSES),
        "spread": seconds(moments.spread_gram, X, y, ones, **spread),
        "embedding": seconds(problem.project, X, P),
    }
    whole: dict[str, Any] = {"numbers": (0,), "starts": (0,), "own": 0}
    listed = neighbors.search_group(None, X, [X], k=LISTED, **whole)
    near = neighbors.search_group(None, Z, [Z], [y], k=VOTERS, **whole)
    pair = {
        "lists": seconds(neighbors.search_group, None, X, [X], k=LISTED, **whole) / ROWS**2,
        "labels": seconds(neighbors.search_group, None, Z, [Z], [y], k=VOTERS, **whole) / ROWS**2,
    }
    kept, class_edges = _measure_graphs(X, y, listed, row)
    system, edges = _measure_system(near, row)
    pool = rng.normal(size=(POOLED, COMPONENTS)), np.ones((POOLED, CLASSES))
    pooled = make_pool(*pool, n_neighbors=VOTERS, unit_rows=True)
    row["predict"] = seconds(pooled.distributions_of, Z)
    kept |= {
        "coordinates": size_of(X),
        "lists": size_of(listed),
        "embedding": size_of(Z),
        "nearest rows of the propagation": 2 * size_of(near),
        "systems of the propagation": 2 * size_of(system),
        "vectors of conjugate gradients": 6 * 8 * CLASSES * ROWS,
        "distributions, labels, weights": (8 * CLASSES + 16) * ROWS,
    }
    return {
        "rows": {name: value / ROWS for name, value in row.items()},
        "pairs": pair,
        "edges": {"class": class_edges, "propagation": edges},
        "bytes": {name: value / ROWS for name, value in kept.items()},
    }


def _measure_graphs(X: Any, y: Any, listed: Any, row: dict[str, float]) -> tuple[dict[str, int], float]:
    """Class graphs of a block by itself, and their scatters."""
    known = neighbors.look_up_group(None, listed, [y], numbers=(0,), starts=(0, ROWS))
    chosen = graphs.choose(listed, y, known, k=NEIGHBORS, own=True, start=0)
    edges = graphs.complete(chosen)
    pointing = graphs.edges_towards(None, edges, [edges], numbers=(0,))
    options: dict[str, Any] = {"weighting": "heat", "bandwidth": "auto", "n": ROWS, "known": False}
    W = graphs.join_edges(edges, pointing, graphs.measure(edges), **options)
    pulled = graphs.multiply_group(None, W, [X], numbers=(0,), starts=(0, ROWS))
    once = (
        seconds(neighbors.look_up_group, None, listed, [y], numbers=(0,), starts=(0, ROWS))
        + 2 * seconds(graphs.choose, listed, y, known, k=NEIGHBORS, own=True, start=0)
        + 2 * seconds(graphs.join_edges, edges, pointing, graphs.measure(edges), **options)
    )
    row["class graphs"] = once
    row["graph scatter"] = 2 * (
        seconds(graphs.multiply_group, None, W, [X], numbers=(0,), starts=(0, ROWS))
        + seconds(graphs.gram_of_block, X, W, pulled)
    )
    return {"class graphs": 2 * (size_of(edges) + size_of(W))}, size_of(edges) / ROWS


def _measure_system(near: Any, row: dict[str, float]) -> tuple[Any, float]:
    """One step of conjugate gradients on the graph of the propagation."""
    edges = propagation.list_edges(near, start=0)
    pointing = graphs.edges_towards(None, edges, [edges], numbers=(0,))
    options: dict[str, Any] = {"weighting": "heat", "bandwidth": "auto", "n": ROWS, "known": False}
    W = graphs.join_edges(edges, pointing, graphs.measure(edges), **options)
    votes = np.full((ROWS, CLASSES), 1.0 / CLASSES)
    system = propagation.anchored_system(W, votes, smoothing=0.8)
    state = systems.begin(system)
    u = systems.precondition(system, state)
    w = systems.multiply(None, system, None, [u], numbers=(0,), starts=(0, ROWS), own=0)
    scalars = systems.next_scalars(None, systems.dots(state, u, w), tol=1e-6)
    row["propagation graph"] = 2 * seconds(graphs.join_edges, edges, pointing, graphs.measure(edges), **options)
    row["step of conjugate gradients"] = (
        seconds(systems.precondition, system, state)
        + seconds(systems.multiply, None, system, None, [u], numbers=(0,), starts=(0, ROWS), own=0)
        + seconds(systems.dots, state, u, w)
        + seconds(systems.update, state, u, w, scalars)
    )
    return system, size_of(edges) / ROWS


def smeared_digits() -> tuple[Any, ...]:
    """Digits and digits smeared by a scanner, as in examples/dask_cluster.py."""
    X, y = load_digits(return_X_y=True)
    images = X[900:].reshape(-1, 8, 8)
    smeared = sum(np.roll(images, shift, axis=(1, 2)) for shift in [(0, 0), (0, 1), (1, 0), (1, 1)])
    return X[:900], y[:900], smeared.reshape(-1, 64)


def digits_in_blocks() -> tuple[Any, ...]:
    """The same in two blocks each: arguments of `fit`."""
    X, y, X_target = smeared_digits()
    return da.from_array(X, chunks=(450, -1)), y, da.from_array(X_target, chunks=(450, -1))


def measure_steps() -> Constants:
    """Of a fit of the digits: iterations, and what each has of steps, tasks, answers and short lists."""
    taken: list[int] = []
    short: dict[bool, list[float]] = {True: [], False: []}
    batches: list[int] = []
    held = tasks.GROUP_BYTES, systems._solve_in_steps, graphs._complete, tasks._graph_of

    def solve(blocks: Any, n_columns: int, tol: float, max_iter: int) -> Blocks:
        parts = tasks.compute(blocks.nodes)
        taken.append(_steps(parts, tol))
        whole = systems.solve_whole(parts, tol=tol, max_iter=max_iter)
        return Blocks([tasks.constant(part) for part in np.split(whole, blocks.offsets[1:-1])], blocks.sizes, 80)

    def complete(rows: Any, labels: Any, chosen: Any, counts: Any, settings: Any, *, own: bool) -> Any:
        short[own].append(sum(counts) / rows.n_rows)
        return held[2](rows, labels, chosen, counts, settings, own=own)

    def graph_of(nodes: Any) -> Any:
        graph = held[3](nodes)
        batches.append(sum(isinstance(task, tuple) for task in graph.values()))
        return graph

    fit = digits_in_blocks()
    systems._solve_in_steps, graphs._complete = solve, complete
    try:
        tasks.GROUP_BYTES = 0
        iterations = make_lpjt(random_state=0).fit(*fit).n_iter_
        tasks.GROUP_BYTES, tasks._graph_of = held[0], graph_of
        seen: list[tuple[int, int]] = []
        make_lpjt(random_state=0, callback=lambda _: seen.append((len(batches), sum(batches)))).fit(*fit)
    finally:
        tasks.GROUP_BYTES, systems._solve_in_steps, graphs._complete, tasks._graph_of = held
    (first, of_first), (last, of_last) = seen[0], seen[-1]
    return {
        "passes": iterations,
        "steps": sum(taken[1:]) / iterations,
        "short": {"within": float(np.mean(short[True])), "between": float(np.mean(short[False]))},
        "answers": (last - first) / (len(seen) - 1),
        "tasks": (of_last - of_first) / (len(seen) - 1) / fit[2].numblocks[0],
    }


def _steps(parts: Any, tol: float) -> int:
    """Steps that one system takes."""
    states = [systems.begin(s) for s in parts]
    scalars, starts = None, (0, *np.cumsum([len(s.degree) for s in parts]).tolist())
    numbers = tuple(range(len(parts)))
    while scalars is None or not scalars.done:
        ahead = [systems.precondition(system, state) for system, state in zip(parts, states, strict=True)]
        products = [
            systems.multiply(None, system, scalars, ahead, numbers=numbers, starts=starts, own=p)
            for p, system in enumerate(parts)
        ]
        sums = sum(systems.dots(*three) for three in zip(states, ahead, products, strict=True))
        scalars = systems.next_scalars(scalars, sums, tol=tol)
        states = [systems.update(s, u, w, scalars) for s, u, w in zip(states, ahead, products, strict=True)]
    return scalars.n_steps


def measure_cluster() -> Constants:
    """Seconds per task and per answer, and bytes per second between two workers, of a cluster on this machine."""
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        first, second = client.scheduler_info()["workers"]
        chain = client.submit(_next, 0)
        client.gather(chain)
        began = time.perf_counter()
        nodes = [tasks.constant(0)] * 4
        for _ in range(100):
            nodes = [tasks.call(_next, node) for node in nodes]
        tasks.compute(nodes)
        per_task = (time.perf_counter() - began) / 400
        answer = seconds(tasks.compute, [tasks.call(_next, tasks.constant(0))], clock=time.perf_counter)
        rates = []
        for size in (2**25, 2**25 + 8, 2**25 + 16):
            block = client.submit(np.ones, size, workers=[first])
            wait(block)
            began = time.perf_counter()
            wait(client.submit(len, block, workers=[second]))
            rates.append(8 * size / (time.perf_counter() - began))
        on_cluster = seconds(make_lpjt(random_state=0).fit, *digits_in_blocks(), clock=time.perf_counter)
    in_memory = seconds(make_lpjt(random_state=0).fit, *smeared_digits(), clock=time.perf_counter)
    return {
        "task": per_task,
        "answer": answer,
        "between workers": max(rates),
        "fit": {"cluster": on_cluster, "memory": in_memory},
    }


def _next(value: int) -> int:
    return value + 1
