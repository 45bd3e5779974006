"""docs/scaling.md: what a distributed fit costs, from measured constants.

``python -m lpjt.study.pages.scaling`` measures them, stores them and writes the page; ``--page`` writes the page alone.
"""

import argparse
import json
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lpjt.distributed.results import POOLED
from lpjt.distributed.tasks import GROUP_BYTES
from lpjt.selection.plain import LEARNT_FROM

#: From the root of the repository.
STORED, PAGE = Path("results/speed/scaling.json"), Path("docs/scaling.md")

Constants = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """What the page works out: half of the rows are source, half target."""

    rows: float = 1e8
    columns: int = 2048
    rank: int = 512
    components: int = 20
    classes: int = 10
    workers: int = 100
    cores: int = 8  # of a worker
    network: float = 1.25e9  # bytes a second into a worker: 10 Gbit/s
    block: int = 131_072  # rows: 256 MB of coordinates in float32

    @property
    def half(self) -> float:
        """Rows of a domain."""
        return self.rows / 2

    @property
    def blocks(self) -> float:
        """Blocks of a domain."""
        return self.half / self.block

    @property
    def all_cores(self) -> int:
        """Cores of all workers."""
        return self.workers * self.cores

    def exchange(self, row_bytes: int, rows: float | None = None) -> float:
        """Tasks by which the blocks of a domain see this many rows of others."""
        rows = self.half if rows is None else rows
        of_group = max(1, GROUP_BYTES // (row_bytes * self.block))
        return self.blocks * -(-rows / self.block // of_group)


def page_text(constants: Constants, case: Case | None = None) -> str:
    """The page, as Markdown."""
    case = case or Case()
    parts = (_head, _memory, _traffic, _time, _bottleneck, _small)
    return "\n\n".join(part(constants, case) for part in parts) + "\n"


def quantity(value: float, unit: str) -> str:
    """A number with about three digits, in the unit that suits it."""
    scales = {
        "B": ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (0, "B")),
        "s": ((86400, "days"), (3600, "hours"), (60, "minutes"), (1, "seconds"), (1e-3, "ms"), (1e-6, "µs"), (0, "ns")),
    }
    least, name = next(scale for scale in scales[unit] if value >= scale[0])
    number = value / (least or {"B": 1, "s": 1e-9}[unit])
    return f"{number:,.0f} {name}" if number >= 100 else f"{number:.3g} {name}"


def paragraph(text: str) -> str:
    """Text in lines of at most 120 characters."""
    return textwrap.fill(" ".join(text.split()), 119, break_long_words=False, break_on_hyphens=False)


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table."""
    lines: list[Sequence[Any]] = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def _head(constants: Constants, case: Case) -> str:
    small = f"""What comes to the caller does not grow with the rows: column statistics, matrices of the width or of the
        coordinates, sums by class, and samples of at most {LEARNT_FROM:,} rows per domain, by which scaling and shift
        are judged, and of {POOLED:,} rows in all, whose votes label rows never seen. A block sees others in groups
        of at most {quantity(GROUP_BYTES, "B")}; a linear system or a landmark program that fits that limit is solved by
        one task, a larger one step by step on all workers."""
    works_out = f"""This page works out {case.rows:,.0f} rows of {case.columns:,} columns (float32, half source, half
        target, {case.classes} classes, {case.components} components, {case.rank} coordinates, blocks of
        {case.block:,} rows) on {case.workers} workers of {case.cores} cores with {quantity(case.network, "B")}/s into
        each, from constants measured on one core ({constants["machine"]})."""
    return f"""# Beyond one machine

<!-- Written by lpjt.study.pages.scaling (make scaling-report). Do not edit: no figure here is typed by hand. -->

`LPJT().fit(X, y, X_target)` takes Dask arrays (`pip install 'lpjt[dask]'`) and gives Dask arrays back: rows stay in
their blocks, on whatever cluster the current `Client` names, or on the threads of this process where there is none.

```python
import dask.array as da
from distributed import Client
from lpjt import LPJT

client = Client("tcp://scheduler:8786")  # or LocalCluster(); without a client, threads
X = da.from_zarr("source.zarr").rechunk((100_000, -1))
X_target = da.from_zarr("target.zarr").rechunk((100_000, -1))
model = LPJT().fit(X, y, X_target)  # y: a Dask array or an array in memory
model.transduction_.to_zarr("labels.zarr")  # a Dask array, held by the workers
model.predict(more_rows)  # lazy for Dask arrays, at once for arrays in memory
```

`examples/dask_cluster.py` runs on two worker processes of one machine. The projections agree with those of the fit in
memory (with `neighbors="exact"`) to 1e-6 in the subspace and the labels on 99.9 % of the rows. The tests hold it to
that, and kill a worker in mid-fit to see that nothing changes: every task is pure and all it needs is in the graph, so
that the scheduler makes lost blocks again.

{paragraph(small)}

{paragraph(works_out)}"""


def _memory(constants: Constants, case: Case) -> str:
    kept = constants["bytes"]
    each = case.rows / case.workers
    rows = [[name, quantity(value, "B"), quantity(value * each, "B")] for name, value in kept.items()]
    total = sum(kept.values())
    rows.append(["all of it", quantity(total, "B"), quantity(total * each, "B")])
    matrices, samples = 3 * 8 * (2 * case.rank) ** 2, 2 * LEARNT_FROM * 4 * case.columns
    besides = f"""Besides, a task holds its own block and one group of others, twice while they
        are stacked: {quantity(3 * GROUP_BYTES, "B")} or so for each thread. The input is read block by block and not
        kept: {quantity(4 * case.columns * case.rows, "B")} stay where they are. The caller holds
        {quantity(matrices, "B")} of matrices and {quantity(samples, "B")} of samples."""
    return f"""## Memory

{table(["kept on the workers", "per row", "on each worker"], rows)}

{paragraph(besides)}"""


def traffic(constants: Constants, case: Case) -> tuple[dict[str, float], dict[str, float]]:
    """Bytes into one worker: once, and in each iteration."""
    edges, again = constants["edges"], sum(share > 0 for share in constants["short"].values())
    once = {"coordinates, for the lists of nearest rows": 4 * case.rank * case.rows}
    each = {
        "labels, for the class graphs": 8 * case.half,
        "edges, for the symmetry of the graphs": 2 * (edges["class"] + edges["propagation"]) * case.half,
        "coordinates, for the graphs' scatter": 2 * 4 * case.rank * case.half,
        "coordinates, for rows whose list is too short": again * 4 * case.rank * case.half,
        "embedded rows, for the propagation": 4 * case.components * case.rows,
        "conjugate gradients": constants["steps"] * 8 * case.classes * case.half,
    }
    return once, each


def _traffic(constants: Constants, case: Case) -> str:
    once, each = traffic(constants, case)
    own = max(1.0, case.blocks / case.workers)
    rows = [
        [
            name,
            how,
            quantity(value, "B"),
            quantity(value / case.network, "s"),
            quantity(own * value / case.network, "s"),
        ]
        for how, of in (("once", once), ("per iteration", each))
        for name, value in of.items()
    ]
    travel = f"""Blocks travel whole. For each exchange a worker sees each block of the others at best once, where its
        own blocks use it at the same time, and at worst once for each of its own blocks of a domain, {own:.1f} here.
        With rows in no particular order nearly every block has a neighbour in every other, so that sending only the
        rows that are wanted would save little until there are more blocks than neighbours."""
    return f"""## Traffic

{paragraph(travel)}

{table(["what", "how often", "into each worker", "time at best", "at worst"], rows)}

Between two worker processes of the measured machine {quantity(constants["between workers"], "B")}/s passed."""


def core_seconds(constants: Constants, case: Case) -> tuple[dict[str, float], dict[str, float]]:
    """Core seconds by stage: once, and in each iteration."""
    row, pair = constants["rows"], constants["pairs"]
    once = {
        "statistics, coordinates": (row["statistics"] + row["second moments"] + row["coordinates"]) * case.rows,
        "lists of nearest rows": pair["lists"] * 2 * case.half**2,
    }
    each = {
        "moments and embedding": sum(row[name] for name in ("class sums", "spread", "embedding")) * case.rows,
        "class graphs and their scatter": (row["class graphs"] + row["graph scatter"]) * case.half,
        "rows whose list is too short": sum(constants["short"].values()) * pair["lists"] * case.half**2,
        "nearest rows of the propagation": pair["labels"] * 2 * case.half**2,
        "graphs of the propagation": row["propagation graph"] * case.half,
        "conjugate gradients": constants["steps"] * row["step of conjugate gradients"] * case.half,
    }
    return once, each


#: Stages whose time grows with the square of the rows.
QUADRATIC = ("lists of nearest rows", "rows whose list is too short", "nearest rows of the propagation")


def n_tasks(constants: Constants, case: Case) -> float:
    """Tasks of an iteration: those of each block, and those by which blocks see others."""
    scatters, searches = 2 * case.exchange(4 * case.rank), 2 * case.exchange(4 * case.rank)
    labels = case.exchange(4 * case.components, case.rows)
    step = 3 * case.blocks + case.exchange(8 * case.classes)
    return constants["tasks"] * case.blocks + scatters + searches + labels + constants["steps"] * step


def _time(constants: Constants, case: Case) -> str:
    once, each = core_seconds(constants, case)
    rows = [
        [name, how, quantity(value / case.all_cores, "s")]
        for how, of in (("once", once), ("per iteration", each))
        for name, value in of.items()
    ]
    total = (sum(once.values()) + constants["passes"] * sum(each.values())) / case.all_cores
    tasks = n_tasks(constants, case)
    within, between = (f"{100 * constants['short'][name]:.2g} %" for name in ("within", "between"))
    in_all = f"""With {constants["passes"]} iterations and {constants["steps"]:.0f} steps of conjugate gradients in
        each, as the digits of the example take, that is {quantity(total, "s")}. Rows whose list of nearest rows has too
        few of their own class, or of others, are searched for again: {within} and {between} of the digits; where
        classes are far apart it is nearly all of them. The scheduler, at {quantity(constants["task"], "s")} per
        task here, adds {quantity(tasks * constants["task"], "s")} per iteration for {tasks:,.0f} tasks."""
    return f"""## Time

{table(["stage", "how often", f"on {case.all_cores:,} cores"], rows)}

{paragraph(in_all)}"""


def crossover(constants: Constants, case: Case) -> float:
    """Rows from which on the searches take longer than everything else."""
    once, each = core_seconds(constants, case)
    weighed = {**once, **{name: constants["passes"] * value for name, value in each.items()}}
    quadratic = sum(weighed[name] for name in QUADRATIC)
    return case.rows * (sum(weighed.values()) - quadratic) / quadratic


def in_a_day(constants: Constants, case: Case) -> float:
    """Rows whose searches take all cores a day."""
    once, each = core_seconds(constants, case)
    searches = once[QUADRATIC[0]] + constants["passes"] * (each[QUADRATIC[1]] + each[QUADRATIC[2]])
    return case.rows * (86400 * case.all_cores / searches) ** 0.5


def _bottleneck(constants: Constants, case: Case) -> str:
    pair, predict = constants["pairs"], constants["rows"]["predict"]
    exact = f"""The search for nearest rows is exact, block against block: {quantity(pair["lists"], "s")} on one core
        for a pair of rows in {case.rank} coordinates, {quantity(pair["labels"], "s")} in {case.components} components.
        Everything else is linear in the rows. From about {round(crossover(constants, case), -3):,.0f} rows on the
        searches take longer than the other arithmetic, whatever the number of cores; {case.all_cores:,} cores search
        {round(in_a_day(constants, case), -6):,.0f} rows in a day."""
    beyond = f"""Beyond that, learn from some rows and label the others: a fit on every hundredth row, then
        `model.predict` on the Dask array of all of them, which is linear in the rows ({quantity(predict, "s")} a row on
        one core, {quantity(predict * case.rows / case.all_cores, "s")} for all of them here) and needs no exchange at
        all."""
    return f"""## What grows with the square

{paragraph(exact)}

{paragraph(beyond)}

```python
model = LPJT().fit(X[::100].rechunk((100_000, -1)), y[::100], X_target[::100].rechunk((100_000, -1)))
model.predict(X_target).to_zarr("labels.zarr")
```

The approximate search of `neighbors="approximate"` is for arrays in memory; a distributed fit refuses it."""


def _small(constants: Constants, case: Case) -> str:
    cluster, memory = (quantity(constants["fit"][name], "s") for name in ("cluster", "memory"))
    worth = f"""An answer of the cluster takes {quantity(constants["answer"], "s")} here, a task
        {quantity(constants["task"], "s")}, and an iteration is {constants["answers"]:.0f}
        answers and {constants["tasks"]:.0f} tasks per block: the digits of the example take {cluster} on two
        workers and {memory} in memory. What fits one machine is faster there. Many small blocks cost tasks, so rechunk
        them to a share of the limit of {quantity(GROUP_BYTES, "B")}."""
    return f"""## When it is worth it

{paragraph(worth)}

- A chunk of unknown size, a block that is not as wide as its chunks say, a value that is not finite, a cluster without
  workers: each is an error before anything is learnt, with its remedy.
- `classifier="propagation"` and `"harmonic"`, landmarks, several sources and targets, some labelled target rows: all
  that works on blocks. Kernels, other classifiers and domains of different widths need the rows in memory, and the
  error says so.
- Where no shift is found, the classifier of the source is learnt from the sample of {LEARNT_FROM:,} rows, as in memory.
- An interrupt lets go of everything the workers hold for the fit. Start a `LocalCluster` in a `with` block, as the
  example does, and its workers and their scratch files go, too.
- A fitted model whose arrays a cluster holds is not pickled: `model.transduction_ = model.transduction_.compute()` and
  the like bring them to memory first."""


def main() -> None:
    """Measure the constants unless told not to, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m lpjt.study.pages.scaling", description=__doc__)
    parser.add_argument("--page", action="store_true", help="write the page alone, from the stored constants")
    if not parser.parse_args().page:
        from lpjt.study.speed.scaling import measure_constants

        STORED.write_text(json.dumps(measure_constants(), indent=2, sort_keys=True) + "\n")
    PAGE.write_text(page_text(json.loads(STORED.read_text())))


if __name__ == "__main__":
    main()
