"""Pure functions of blocks as a Dask graph, on whatever scheduler is current.

A `Node` is one call that has not been made, or, once persisted, its value in a worker's memory. All calls are pure and
everything they need is in the graph, so that the scheduler makes a lost value again wherever a worker dies.
"""

import sys
from collections.abc import Iterable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any
from uuid import uuid4
from weakref import WeakSet

#: A task sees other blocks in groups of at most so many bytes, and a system of at most so many is solved by one task.
#: It bounds what one worker holds besides its own blocks, whatever the number of rows.
GROUP_BYTES = 2**28

_FAN_IN = 8


#: Persisted nodes of the fit under way.
_HELD: ContextVar[WeakSet | None] = ContextVar("lpjt_held", default=None)


class Node:
    """A call of a function on other nodes, or the value it gave."""

    __slots__ = ("__weakref__", "graph", "inputs", "key", "task")

    def __init__(self, key, task=None, inputs=(), graph=None):
        self.key = key
        self.task = task
        self.inputs = inputs
        self.graph = graph  # of a persisted or foreign node: a Dask graph that holds its key


def call(function, *arguments, **constants) -> Node:
    """Node of ``function(*arguments, **constants)``.

    Parameters
    ----------
    function : callable
        Of a module, so that workers can import it; pure.
    *arguments : Node, list of Node, or None
    **constants
        Anything small; anything larger belongs in `constant`.
    """
    inputs: list[Node] = []
    task: list[Any] = [partial(function, **constants) if constants else function]
    for argument in arguments:
        if argument is None:
            task.append(None)
        elif isinstance(argument, Node):
            inputs.append(argument)
            task.append(argument.key)
        else:
            inputs.extend(argument)
            task.append([node.key for node in argument])
    return Node(f"lpjt-{function.__name__.strip('_')}-{uuid4().hex}", tuple(task), tuple(inputs))


def constant(value) -> Node:
    """Node of a value that many tasks share: sent to each worker once."""
    key = f"lpjt-constant-{uuid4().hex}"
    return Node(key, graph={key: value})


def from_array(array) -> list[Node]:
    """Nodes of the blocks of a Dask array, in row order."""
    import dask

    (array,) = dask.optimize(array)
    graph = dict(array.__dask_graph__())
    return [Node(key, graph=graph) for key in _flatten(array.__dask_keys__())]


def to_array(nodes: Sequence[Node], shapes, dtype):
    """Dask array of the blocks that persisted nodes hold, one under the other."""
    import dask.array as da
    from dask.delayed import Delayed

    blocks = [
        da.from_delayed(Delayed(node.key, dict(node.graph or {})), shape=shape, dtype=dtype)
        for node, shape in zip(nodes, shapes, strict=True)
    ]
    return da.concatenate(blocks, axis=0)


def persist(nodes: Iterable[Node]) -> None:
    """Have the nodes computed and kept by the workers for as long as the nodes live."""
    import dask

    wanted = [node for node in nodes if node.graph is None]
    if not wanted:
        return
    (held,) = dask.persist(_Batch(_graph_of(wanted), [node.key for node in wanted]))
    for node in wanted:
        node.graph = {node.key: held.graph[node.key]}
        node.task, node.inputs = None, ()
    held_nodes = _HELD.get()
    if held_nodes is not None:
        held_nodes.update(wanted)


def compute(nodes: Sequence[Node]) -> list:
    """Values of the nodes, which should be small."""
    import dask

    return dask.compute(_Batch(_graph_of(nodes), [node.key for node in nodes]))[0]


def total(nodes: Sequence[Node]) -> Node:
    """Sum of equal-shaped values, by a tree whose shape depends on the number of nodes alone."""
    level = list(nodes)
    while len(level) > 1:
        level = [call(add_up, level[i : i + _FAN_IN]) for i in range(0, len(level), _FAN_IN)]
    return level[0]


def add_up(values):
    """Sum in the order given."""
    result = values[0]
    for value in values[1:]:
        result = result + value
    return result


def groups_of(sizes: Sequence[int], row_bytes: float, first: int = 0) -> list[list[int]]:
    """Numbers of blocks in groups of at most `GROUP_BYTES`, from block `first` on and around.

    Each block starts with its own neighbourhood, so that not all of them ask the same worker at the same time.
    """
    groups: list[list[int]] = []
    held = float("inf")
    for step in range(len(sizes)):
        q = (first + step) % len(sizes)
        held += sizes[q] * row_bytes
        if held > GROUP_BYTES:
            groups.append([])
            held = sizes[q] * row_bytes
        groups[-1].append(q)
    return groups


def fits_one_task(n_rows: int, row_bytes: float) -> bool:
    """Whether so many rows may be held by one task together."""
    return n_rows * row_bytes <= GROUP_BYTES


@contextmanager
def released_on_failure():
    """Let go of everything that workers hold or compute for this block of code where it fails or is interrupted.

    A traceback keeps the frames of the fit alive, and they would keep its blocks.
    """
    token = _HELD.set(WeakSet())
    try:
        yield
    except BaseException:
        for node in list(_HELD.get() or ()):
            node.graph = None
        raise
    finally:
        _HELD.reset(token)


def check_cluster() -> None:
    """Refuse a cluster that has no worker, for which a fit would wait for ever; no cluster at all means threads."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return
    try:
        client = distributed.default_client()
    except ValueError:
        return
    if not client.scheduler_info()["workers"]:
        raise RuntimeError(
            f"The Dask cluster at {client.scheduler.address} has no workers, so that nothing would ever be computed. "
            "Start some, e.g. cluster.scale(2), and wait for them with client.wait_for_workers(1); or close the "
            "client to compute with threads of this process."
        )


def need_dask():
    """Import dask.array, or say how to get it."""
    try:
        import dask.array
    except ImportError as error:
        raise ImportError("dask is needed for a distributed fit. Install it: pip install 'lpjt[dask]'.") from error
    return dask.array


class _Batch:
    """A Dask collection of some keys of one graph, by Dask's protocol for collections."""

    def __init__(self, graph, keys):
        self.graph = graph
        self.keys = keys

    def __dask_graph__(self):
        return self.graph

    def __dask_keys__(self):
        return self.keys

    def __dask_tokenize__(self):
        return ("lpjt-batch", *self.keys)

    def __dask_postcompute__(self):
        return list, ()

    def __dask_postpersist__(self):
        return _rebuild, (self.keys,)

    @staticmethod
    def __dask_optimize__(graph, keys, **options):
        return graph

    @staticmethod
    def __dask_scheduler__(graph, keys, **options):
        from dask.threaded import get

        return get(graph, keys, **options)


def _rebuild(graph, keys, *, rename=None):
    return _Batch(dict(graph), keys)


def _graph_of(nodes):
    """Everything the nodes need: their own tasks, and the graphs of what is held already."""
    graph: dict = {}
    seen, foreign = set(), set()
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if node.key in seen:
            continue
        seen.add(node.key)
        if node.graph is None:
            graph[node.key] = node.task
            stack.extend(node.inputs)
        elif id(node.graph) not in foreign:  # blocks of one array share its graph
            foreign.add(id(node.graph))
            graph.update(node.graph)
    return graph


def _flatten(keys):
    for key in keys:
        if isinstance(key, list):
            yield from _flatten(key)
        else:
            yield key
