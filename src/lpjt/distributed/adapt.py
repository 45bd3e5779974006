"""Algorithm 1 on Dask arrays that came through the door, and which of its passes to return."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

import numpy as np

from lpjt.classifiers import Propagation
from lpjt.core.alternation import Clock
from lpjt.distributed import alternation, neighbors, propagation, results, tasks
from lpjt.distributed.alternation import State
from lpjt.distributed.blocks import Blocks, spread_rows
from lpjt.distributed.coordinates import make_maps
from lpjt.distributed.evidence import Summary, summarise
from lpjt.distributed.limits import refuse
from lpjt.distributed.moments import label_counts
from lpjt.distributed.problem import Part, Problem, to_coordinates
from lpjt.distributed.samples import LazyScalings, sample_domains
from lpjt.fitting.adapt import COLLAPSED, MARGIN, drive, explain
from lpjt.fitting.plan import Outcome, Plan
from lpjt.fitting.trial import COMPARED_ROWS
from lpjt.selection import plain
from lpjt.selection.scaling import MAX_ROWS, choose_scaling


@dataclass(slots=True, eq=False)
class Trial:
    """A fit under way; as `fitting.trial.Trial`, with blocks for arrays of rows."""

    scaling: str
    maps: tuple
    problem: Problem
    start: list[Blocks]
    first: Summary  # of the start
    passes: Iterator[State]
    records: list = field(default_factory=list)
    last: State | None = None
    best: State | None = None

    def advance(self):
        """Take one more pass and weigh it."""
        state = next(self.passes)
        weighed = state.summary.evidence
        if self.best is None or weighed.total > self.best.summary.evidence.total:
            self.best = state
        self.last = state
        names = "n_iter objective marginal_mmd conditional_mmd n_changed weight_change landmark_gap residual seconds"
        record = {name: getattr(state, name) for name in names.split()}
        self.records.append(
            {**record, "n_classes": state.summary.n_classes, "evidence": weighed.total, **asdict(weighed)}
        )
        return state


def adapt_distributed(domains, plan: Plan, on_record=None) -> Outcome:
    """Fit domains of Dask arrays on whatever scheduler is current; the counterpart of `fitting.adapt`.

    Parameters
    ----------
    domains : Domains
        Of `door.open_lazy_domains`, with at least one target.
    plan : Plan
    on_record : callable, optional
        Called with each pass's record.

    Returns
    -------
    Outcome
        Distributions and weights are Dask arrays, held by the workers.
    """
    tasks.need_dask()
    tasks.check_cluster()
    refuse(domains, plan)
    with tasks.released_on_failure():
        return _adapt(domains, plan, on_record)


def _adapt(domains, plan, on_record):
    clock = Clock()
    parts = make_parts(domains)
    scalings = LazyScalings(parts, len(domains.sources))
    if plan.safeguard:
        few = sample_domains(domains, parts, plain.LEARNT_FROM)
        unshifted = plain.find_unshifted(few, scalings.of_sources, random_state=plan.random_state)
        del few
        clock.lap("shift")
        if unshifted is not None:
            return results.keep_unshifted(parts, plan, unshifted, clock.laps)
    kind = plan.scalings[0]
    if len(plan.scalings) > 1:
        kind = choose_scaling(sample_domains(domains, parts, MAX_ROWS), plan.scalings, scalings)
    clock.lap("scaling")
    trial = _begin(domains, parts, plan, (kind, scalings.of(kind)), clock)
    steady = drive(trial, plan, sum(F.n_rows for F in trial.start), on_record)
    for record in trial.records:
        clock.add(record["seconds"])
    clock.skip()
    return _finish(trial, plan, steady, clock)


def make_parts(domains) -> list[Part]:
    """Nodes of the blocks of all domains, sources first, and how many rows of each block have which label."""
    n_classes = len(domains.classes)
    parts = []
    for d in (*domains.sources, *domains.targets):
        sizes = tuple(d.X.chunks[0])
        raw = Blocks(tasks.from_array(d.X), sizes, d.X.dtype.itemsize * d.X.shape[1])
        labels = Blocks(tasks.from_array(d.y), sizes, 8).each(as_codes).persist()
        parts.append((d, raw, labels))
    counted = iter(
        tasks.compute([tasks.call(label_counts, n, n_classes=n_classes) for _, _, y in parts for n in y.nodes])
    )
    return [
        Part(d.name, raw, d.X.shape[1], d.X.dtype, labels, np.array([next(counted) for _ in labels.nodes]))
        for d, raw, labels in parts
    ]


def as_codes(labels):
    """The labels of a block, so that later graphs need not hold those that came from memory."""
    return np.asarray(labels)


def _begin(domains, parts, plan, scaling, clock):
    """Prepare the passes of a plan under one kind of scaling."""
    kind, scalings = scaling
    maps = make_maps(parts, scalings, plan)
    ranks = tuple(part.width if m.basis is None else m.basis.shape[1] for part, m in zip(parts, maps, strict=True))
    rows = tuple(
        part.raw.each(to_coordinates, map_to=m, row_bytes=part.dtype.itemsize * rank)
        for part, m, rank in zip(parts, maps, ranks, strict=True)
    )
    tasks.persist([node for blocks in rows for node in blocks.nodes])
    n_sources = len(domains.sources)
    problem = Problem(
        rows,
        ranks,
        tuple(part.labels for part in parts),
        tuple(part.counts for part in parts),
        tuple(i >= n_sources for i in range(len(parts))),
        len(domains.classes),
    )
    clock.lap("coordinates")
    start = _first_labels(problem, plan)
    pointers = _pointers(problem, n_sources)
    labels = alternation.decide_labels(problem, start)
    first = summarise(problem, start, labels, None, pointers)
    clock.lap("start")
    passes = alternation.alternate(
        problem, plan.settings, _classifier(problem, plan), labels, pointers, max_iter=plan.max_iter
    )
    return Trial(kind, maps, problem, start, first, passes)


def _first_labels(problem, plan):
    """First distributions of each target: those of `fitting.start` for domains of one width, persisted."""
    rule: Propagation = plan.classifier
    sides = problem.sides(problem.rows, unit=rule.unit_rows and not rule.anchored)
    F = None
    if sides.unknown.n_rows:
        F = propagation.start(rule, sides) if rule.anchored else propagation.classify(rule, sides)
    start = list(problem.distributions(F))
    neighbors.persist_lists(*start)
    return start


def _classifier(problem, plan):
    def classify(Z):
        sides = problem.sides(Z, unit=plan.classifier.unit_rows)
        F = propagation.classify(plan.classifier, sides) if sides.unknown.n_rows else None
        return list(problem.distributions(F))

    return classify


def _pointers(problem, n_sources):
    """Which target rows are the nearest of a spread of source rows, for the evidence of each pass."""
    nodes, codes = [], []
    for X, y in zip(problem.rows[:n_sources], problem.labels[:n_sources], strict=True):
        nodes.append(tasks.call(stack, spread_rows(X, COMPARED_ROWS)))
        codes.append(tasks.call(stack, spread_rows(y, COMPARED_ROWS)))
    sizes = tuple(-(-X.n_rows // max(1, -(-X.n_rows // COMPARED_ROWS))) for X in problem.rows[:n_sources])
    queries = Blocks(nodes, sizes, problem.rows[0].row_bytes)
    targets = Blocks(
        [node for i in problem.targets for node in problem.rows[i].nodes],
        tuple(size for i in problem.targets for size in problem.rows[i].sizes),
        problem.rows[-1].row_bytes,
    )
    tasks.persist([*nodes, *codes])
    lists = neighbors.search(queries, targets, 1).persist()
    return neighbors.count_pointers(lists, Blocks(codes, sizes, 8), targets, problem.n_classes).persist()


def stack(parts):
    """Blocks one under the other."""
    return np.concatenate(parts)


def _finish(trial, plan, steady, clock):
    state = _best_pass(trial) if plan.safeguard else trial.last
    classes = trial.first.effective_classes, trial.last.summary.effective_classes
    messages = [] if state is trial.last else [explain(trial.records, state, classes)]
    shared: dict = {"history": trial.records, "messages": messages, "n_iter": len(trial.records)}
    if state is None:
        outcome = results.keep_first_labels(trial, plan, shared)
    else:
        shared["n_changed"] = None if steady or state is not trial.last else state.n_changed
        outcome = results.keep_pass(trial, state, plan, shared)
    clock.lap("predictor")
    outcome.seconds.update(clock.laps)
    return outcome


def _best_pass(trial):
    """The pass to return: the last, one with better evidence, or None where even that one has collapsed."""
    best, last = trial.best.summary, trial.last.summary
    chosen = trial.best if best.evidence.total - last.evidence.total > MARGIN else trial.last
    return None if chosen.summary.effective_classes < COLLAPSED * trial.first.effective_classes else chosen
