"""Landmark weights, Eq. (23), on rows in blocks: the method of `core.landmarks`, step by step.

Only sums over groups (classes of domains) leave a block: class sums of embedded rows for the gradient, and for the
projection onto the capped simplices what Newton's method needs to know of each group. A program that fits one task is
solved by one.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lpjt.core import alternation
from lpjt.core.moments import mmd_coefficients
from lpjt.distributed import landmark_blocks as of_block
from lpjt.distributed import tasks
from lpjt.distributed.blocks import Blocks
from lpjt.distributed.landmark_blocks import Excess
from lpjt.distributed.moments import label_counts

TINY = np.finfo(float).tiny

#: As in `core.landmarks`: passes at most, passes between two looks at the gap, and what the gap may be.
_MAX_ITER, _LOOK, _TOL = 500, 10, 1e-5

#: Candidates for each group's threshold in one round of the search for the lowest vertex, and rounds.
_CANDIDATES, _ROUNDS = 256, 6


def weigh(problem, settings, Z, labels, weights):
    """Weights of all rows, by domain, and the relative gap of the solution; the old ones where landmarks are off."""
    if settings.landmark_ratio is None:
        return weights, 0.0
    n_rows = sum(X.n_rows for X in Z)
    if tasks.fits_one_task(n_rows, 6 * Z[0].row_bytes):
        return _weigh_whole(problem, settings, Z, labels, weights)
    program = _Program(problem, settings, Z, labels)
    new, objective, gap = program.solve(weights)
    kept = zip(weights, new, problem.is_target, strict=True)
    new = tuple(old if is_target and not settings.weigh_target else fresh for old, fresh, is_target in kept)
    return new, gap / max(objective, TINY)


def _weigh_whole(problem, settings, Z, labels, weights):
    """All domains in one task, by the routine for arrays in memory."""
    lists = [[node for blocks in many for node in blocks.nodes] for many in (Z, labels, weights)]
    sizes = tuple(X.n_rows for X in Z)
    n_blocks = tuple(len(X.nodes) for X in Z)
    whole = tasks.call(
        weigh_whole,
        *lists,
        n_blocks=n_blocks,
        settings=settings,
        is_target=problem.is_target,
        n_classes=problem.n_classes,
    )
    new, start = [], 0
    for X, size in zip(Z, sizes, strict=True):
        ends = (start + X.offsets).tolist()
        nodes = [tasks.call(of_block.take_weights, whole, start=a, stop=b) for a, b in pairwise(ends)]
        new.append(Blocks(nodes, X.sizes, 8))
        start += size
    gap = tasks.call(of_block.take_gap, whole)
    tasks.persist([node for blocks in new for node in blocks.nodes] + [gap])
    return tuple(new), tasks.compute([gap])[0]


def weigh_whole(Z, labels, weights, *, n_blocks, settings, is_target, n_classes):
    """Weights of all rows, stacked, and their gap: `core.alternation`'s step 5."""
    ends = np.cumsum(n_blocks)[:-1]
    parts = [[np.concatenate(of_one) for of_one in _split(many, ends)] for many in (Z, labels, weights)]
    problem = alternation.Problem(tuple(parts[0]), tuple(parts[1]), is_target, n_classes)
    marks = alternation.weigh_landmarks(problem, settings, *parts)
    return of_block.Marks(np.concatenate(marks.weights), marks.gap / max(marks.objective, TINY))


def _split(values, ends):
    starts = [0, *ends.tolist(), len(values)]
    return [values[a:b] for a, b in pairwise(starts)]


@dataclass(slots=True, eq=False)
class _Point:
    """Weights of all blocks, and the class sums of the weighted rows of each domain."""

    nodes: list[Blocks]
    sums: np.ndarray  # (n_domains, 1 + n_classes, d)


class _Program:
    """1/2 w'Bw over the rows of all blocks; see `core.landmarks._Program`."""

    def __init__(self, problem, settings, Z, labels):
        self.ratio = settings.landmark_ratio
        self.n_domains, self.n_classes = len(Z), problem.n_classes
        nodes = [y.sum_of(label_counts, n_classes=self.n_classes) for y in labels]
        all_counts = tasks.compute(nodes)
        counts = [c[1:] for c in all_counts]
        self.K = mmd_coefficients(counts, problem.is_target, conditional_cross=settings.landmark_cross)
        self.mass = self.ratio * np.array(all_counts, dtype=float)  # (n_domains, 1 + n_classes), unlabelled first
        sizes = [np.concatenate([[X.n_rows], np.maximum(c, 1)]) for X, c in zip(Z, counts, strict=True)]
        self.scale = 1.0 / (self.ratio * np.array(sizes, dtype=float))  # of class sums, to means
        self.rows = [
            X.each(of_block.prepare, y, counts=c, own=self.K[i, i, 1:], ratio=self.ratio, row_bytes=X.row_bytes)
            for i, (X, y, c) in enumerate(zip(Z, labels, counts, strict=True))
        ]
        tasks.persist([node for blocks in self.rows for node in blocks.nodes])
        self.floor = self._floor(Z)
        self.lipschitz = 1.0
        self.lipschitz = self._largest_curvature(Z)
        self.tau = np.zeros_like(self.mass)

    def _floor(self, Z):
        n = sum(X.n_rows for X in Z)
        diagonal, norms = sum(tasks.compute([rows.sum_of(of_block.scales) for rows in self.rows]))
        return 1e-3 * (diagonal / n or norms / n / n or 1.0)

    def pulled(self, sums):
        """What the low-rank part of the gradient multiplies rows with, (n_domains, 1 + n_classes, d)."""
        return np.einsum("ijc,jcd->icd", self.K, sums * self.scale[:, :, None]) * self.scale[:, :, None]

    def _largest_curvature(self, Z, n_steps=15):
        """Largest eigenvalue in the metric, by power iteration from the same start as in memory, with a margin."""
        start, x = 0, []
        for X, rows in zip(Z, self.rows, strict=True):
            firsts = (start + X.offsets).tolist()
            x.append([tasks.call(of_block.wave, node, start=firsts[p]) for p, node in enumerate(rows.nodes)])
            start += X.n_rows
        vectors = [Blocks(nodes, X.sizes, 8) for nodes, X in zip(x, Z, strict=True)]
        largest = 1.0
        for step in range(n_steps + 1):
            found = self._each_sum(of_block.rooted_sums, vectors, floor=self.floor)
            length = max(float(np.sqrt(sum(f.square for f in found))), TINY)
            largest = length if step else largest
            pulled = self.pulled(np.array([f.sums for f in found]) / length)
            vectors = [
                rows.each(of_block.rooted_gradient, v, pulled=pulled[i], length=length, floor=self.floor)
                for i, (rows, v) in enumerate(zip(self.rows, vectors, strict=True))
            ]
            tasks.persist([node for v in vectors for node in v.nodes])
        return 1.1 * largest or 1.0

    def _each_sum(self, function, vectors, **constants):
        """Sum over the blocks of each domain of a function of its rows and a vector."""
        return tasks.compute(
            [
                rows.sum_of(function, v, n_classes=self.n_classes, **constants)
                for rows, v in zip(self.rows, vectors, strict=True)
            ]
        )

    def solve(self, weights):
        """Weights, the objective, its gap: `core.landmarks._accelerate`."""
        w = self._project([blocks.each(of_block.copy_of) for blocks in weights], None).point
        ahead, momentum, objective, gap = w, 1.0, np.inf, np.inf
        for n_iter in range(1, _MAX_ITER + 1):
            step = self._project(self._descend(ahead), (ahead, w))
            if step.uphill > 0:
                momentum = 1.0
            following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            ahead = self._extrapolate(step.point, w, (momentum - 1) / following)
            w, momentum = step.point, following
            if n_iter % _LOOK == 0 or n_iter == _MAX_ITER:
                objective, gap = self._gap(w)
                if gap <= _TOL * max(objective, TINY):
                    break
        return tuple(w.nodes), objective, gap

    def _descend(self, ahead):
        """A gradient step, not yet feasible."""
        pulled = self.pulled(ahead.sums)
        moved = [
            rows.each(of_block.descend, v, pulled=pulled[i], floor=self.floor, lipschitz=self.lipschitz)
            for i, (rows, v) in enumerate(zip(self.rows, ahead.nodes, strict=True))
        ]
        tasks.persist([node for v in moved for node in v.nodes])
        return moved

    def _extrapolate(self, new, old, factor):
        nodes = [a.each(of_block.extrapolate, b, factor=factor) for a, b in zip(new.nodes, old.nodes, strict=True)]
        tasks.persist([node for v in nodes for node in v.nodes])
        return _Point(nodes, new.sums + factor * (new.sums - old.sums))

    def _project(self, v, before):
        """`core.landmarks.project_capped`: Newton steps inside a bracket, from the last multipliers on."""
        metric = {"floor": self.floor, "lipschitz": self.lipschitz}
        low, high = self._brackets(v, metric)
        tau = np.clip(self.tau, low, high)
        for _ in range(100):
            found = self._excess(v, before, tau, metric)
            excess = np.array([f.mass for f in found]) - self.mass
            if np.all(np.abs(excess) <= 1e-13 * np.maximum(self.mass, 1.0)):
                break
            low, high = np.where(excess > 0, tau, low), np.where(excess < 0, tau, high)
            slope = np.array([f.slope for f in found])
            newton = tau + np.divide(excess, slope, out=np.full_like(tau, np.inf), where=slope > 0)
            inside = (newton > low) & (newton < high)
            tau = np.where(excess == 0, tau, np.where(inside, newton, (low + high) / 2))
        self.tau = tau
        nodes = [
            rows.each(of_block.clip_weights, part, tau=tau[i], **metric)
            for i, (rows, part) in enumerate(zip(self.rows, v, strict=True))
        ]
        tasks.persist([node for part in nodes for node in part.nodes])
        return _Step(_Point(nodes, np.array([f.sums for f in found])), sum(f.uphill for f in found))

    def _brackets(self, v, metric):
        found = self._each_sum(of_block.bracket, v, **metric)
        low, high = (np.array([getattr(f, name) for f in found]) for name in ("low", "high"))
        empty = self.mass == 0
        return np.where(empty, 0.0, low), np.where(empty, 0.0, high)

    def _excess(self, v, before, tau, metric) -> list[Excess]:
        sums = []
        for i, (rows, part) in enumerate(zip(self.rows, v, strict=True)):
            others = (None, None) if before is None else (before[0].nodes[i], before[1].nodes[i])
            sums.append(rows.sum_of(of_block.excess, part, *others, tau=tau[i], n_classes=self.n_classes, **metric))
        return tasks.compute(sums)

    def _gap(self, w):
        """Objective and Frank-Wolfe gap at the weights."""
        pulled = self.pulled(w.sums)
        ranked = [
            rows.each(of_block.rank_gradient, v, pulled=pulled[i], n_classes=self.n_classes)
            for i, (rows, v) in enumerate(zip(self.rows, w.nodes, strict=True))
        ]
        tasks.persist([node for part in ranked for node in part.nodes])
        found = tasks.compute([part.sum_of(of_block.range_of_gradient) for part in ranked])
        low, high = (np.array([getattr(f, name) for f in found]) for name in ("low", "high"))
        lowest = self._lowest_vertex(ranked, np.where(self.mass > 0, low, 0.0), np.where(self.mass > 0, high, 0.0))
        product = sum(f.product for f in found)
        return product / 2, product - lowest

    def _lowest_vertex(self, ranked, low, high):
        """Smallest product of the gradient with a feasible point, by its dual: one threshold a group.

        mass tau - sum max(tau - gradient, 0) is concave in tau; its maximum is bracketed ever more closely.
        """
        best = np.full(low.shape, -np.inf)
        for _ in range(_ROUNDS):
            share = np.linspace(0.0, 1.0, _CANDIDATES)
            tau = low[..., None] + (high - low)[..., None] * share
            below = np.array(
                tasks.compute([part.sum_of(of_block.sum_below, tau=tau[i]) for i, part in enumerate(ranked)])
            )
            value = self.mass[..., None] * tau - below
            place = value.argmax(axis=-1)
            best = np.maximum(best, value.max(axis=-1))
            low = np.take_along_axis(tau, np.maximum(place - 1, 0)[..., None], axis=-1)[..., 0]
            high = np.take_along_axis(tau, np.minimum(place + 1, _CANDIDATES - 1)[..., None], axis=-1)[..., 0]
        return float(best.sum())


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    point: _Point
    uphill: float
