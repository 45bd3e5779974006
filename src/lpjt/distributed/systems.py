"""Conjugate gradients on a matrix in row blocks, for many right-hand sides.

Chronopoulos and Gear's arrangement: one product and one sum over all blocks a step, so that a step is a handful of
tasks a block. Many steps are one graph; what a step needs to know of all blocks is a task of that graph, too. A system
that fits one task (`tasks.GROUP_BYTES`) is solved by one, for then the scheduler would take longer than the numbers.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import sparse

from lpjt.classifiers import TOLERANCE
from lpjt.core import propagation
from lpjt.distributed import tasks
from lpjt.distributed.blocks import Blocks, fold
from lpjt.distributed.tasks import Node

TINY = np.finfo(float).tiny

#: Tasks of one graph at most, by which the steps between two looks at the residual are chosen.
_GRAPH_TASKS, _STEPS = 4000, 24


@dataclass(frozen=True, slots=True, eq=False)
class System:
    """Rows of ``(D - smoothing W) F = right`` of one block."""

    W: sparse.csr_array  # (m, n)
    degree: np.ndarray  # (m,)
    right: np.ndarray  # (m, n_columns)
    smoothing: float


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    F: np.ndarray
    R: np.ndarray
    P: np.ndarray
    S: np.ndarray  # A P


@dataclass(frozen=True, slots=True, eq=False)
class _Scalars:
    """What a step needs to know of all blocks, a number a column each."""

    gamma: np.ndarray
    alpha: np.ndarray
    beta: np.ndarray
    norm: np.ndarray  # of the right-hand side
    residual: float  # the largest, relative
    n_steps: int
    done: bool


def solve(systems: Blocks, n_columns, *, tol=TOLERANCE, max_iter=2000) -> Blocks:
    """Solutions, (m, n_columns), by block, floored at zero.

    Rows that no path joins to a right-hand side stay at zero by themselves: from zero, the method never leaves the
    components that the right-hand side touches.

    Parameters
    ----------
    systems : Blocks of `System`, persisted
    n_columns : int
    """
    row_bytes = systems.row_bytes + 6 * 8 * n_columns
    if tasks.fits_one_task(systems.n_rows, row_bytes):
        whole = tasks.call(solve_whole, systems.nodes, tol=tol, max_iter=max_iter)
        ends = systems.offsets.tolist()
        nodes = [tasks.call(take_slice, whole, start=start, stop=stop) for start, stop in pairwise(ends)]
        return Blocks(nodes, systems.sizes, 8 * n_columns).persist()
    return _solve_in_steps(systems, n_columns, tol, max_iter)


def solve_whole(systems, *, tol, max_iter):
    """The whole system in one task."""
    degree = np.maximum(np.concatenate([s.degree for s in systems]), TINY)
    W = sparse.vstack([s.W for s in systems], format="csr")
    A = (sparse.diags_array(degree) - systems[0].smoothing * W).tocsr()
    right = np.concatenate([s.right for s in systems])
    return np.maximum(propagation.conjugate_gradients(A, right, tol=tol, max_iter=max_iter).values, 0.0)


def take_slice(values, *, start, stop):
    """Some neighbouring rows, copied."""
    return values[start:stop].copy()


def _solve_in_steps(systems, n_columns, tol, max_iter):
    states = [tasks.call(begin, node) for node in systems.nodes]
    ahead, products, scalars = _product(systems, states, None, n_columns, tol)
    per_step = len(products) * (3 + len(tasks.groups_of(systems.sizes, 8 * n_columns)))
    taken = 0
    while True:
        for _ in range(min(_STEPS, max(1, _GRAPH_TASKS // per_step), max_iter - taken)):
            states = [tasks.call(update, *nodes, scalars) for nodes in zip(states, ahead.nodes, products, strict=True)]
            ahead, products, scalars = _product(systems, states, scalars, n_columns, tol)
            taken += 1
        tasks.persist([*states, *ahead.nodes, *products, scalars])
        if tasks.compute([tasks.call(is_done, scalars)])[0] or taken >= max_iter:
            return Blocks([tasks.call(answer, s) for s in states], systems.sizes, 8 * n_columns).persist()


def _product(systems, states, scalars, n_columns, tol) -> tuple[Blocks, list[Node], Node]:
    """Blocks of u, the preconditioned residual; nodes of A u; the node of the next scalars."""
    starts = tuple(systems.offsets.tolist())
    ahead = systems.each(precondition, Blocks(states, systems.sizes, 0), row_bytes=8 * n_columns)
    products = [
        fold(multiply, None, [system, scalars], ahead, first=p, starts=starts, own=p)
        for p, system in enumerate(systems.nodes)
    ]
    sums = tasks.total([tasks.call(dots, *nodes) for nodes in zip(states, ahead.nodes, products, strict=True)])
    return ahead, products, tasks.call(next_scalars, scalars, sums, tol=tol)


def begin(system):
    """State of a block at the start, from zero."""
    zero = np.zeros_like(system.right)
    return _State(zero, system.right, zero, zero)


def precondition(system, state):
    """The residual over the diagonal."""
    return state.R / np.maximum(system.degree, TINY)[:, None]


def multiply(result, system, scalars, blocks, *, numbers, starts, own):
    """(D - smoothing W) u of block `own` after some more blocks of u; nothing once the solution is there."""
    result = np.zeros_like(system.right) if result is None else result.copy()
    if scalars is not None and scalars.done:
        return result
    for u, q in zip(blocks, numbers, strict=True):
        result -= system.smoothing * (system.W[:, starts[q] : starts[q + 1]] @ u)
        if q == own:
            result += np.maximum(system.degree, TINY)[:, None] * u
    return result


def dots(state, u, w):
    """(r, u), (A u, u) and (r, r) of a block, (3, n_columns)."""
    return np.array([(state.R * u).sum(axis=0), (w * u).sum(axis=0), (state.R * state.R).sum(axis=0)])


def next_scalars(last, sums, *, tol):
    """Step lengths from the sums over all blocks; columns far below the tolerance rest."""
    gamma, delta, squares = sums
    if last is not None and last.done:
        return last
    norm = np.maximum(np.sqrt(squares), TINY) if last is None else last.norm
    relative = np.sqrt(squares) / norm
    beta = np.zeros_like(gamma) if last is None else gamma / np.maximum(last.gamma, TINY)
    curvature = delta
    if last is not None:
        curvature = delta - np.divide(beta * gamma, last.alpha, out=np.zeros_like(gamma), where=last.alpha > 0)
        # By rounding alone: begin that column afresh.
        beta, curvature = np.where(curvature > 0, beta, 0.0), np.where(curvature > 0, curvature, delta)
    moving = (relative > 0.01 * tol) & (curvature > 0)
    alpha = np.divide(gamma, curvature, out=np.zeros_like(gamma), where=moving)
    residual = float(relative.max(initial=0.0)) if last is not None else np.inf
    n_steps = 0 if last is None else last.n_steps + 1
    done = n_steps > 0 and residual < tol
    return _Scalars(gamma, alpha, np.where(moving, beta, 0.0), norm, residual, n_steps, done)


def update(state, u, w, scalars):
    """One step of a block."""
    if scalars.done:
        return state
    P = u + scalars.beta * state.P
    S = w + scalars.beta * state.S
    return _State(state.F + scalars.alpha * P, state.R - scalars.alpha * S, P, S)


def is_done(scalars):
    """Whether the residual is small enough."""
    return scalars.done


def answer(state):
    """The solution, floored at zero."""
    return np.maximum(state.F, 0.0)
