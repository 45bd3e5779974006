"""The benches: what each of them measures, and what has to be there for it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lpjt.bench.data import even_counts, visda_shape
from lpjt.bench.methods import PEERS, check_installed
from lpjt.bench.store import machine
from lpjt.bench.task import Record, Task

#: Rows a domain of the growth, of its quick form, and of the comparison with peers.
GROWTH_ROWS = (1000, 4000, 16_000, 64_000, 128_000, 256_000, 512_000, 1_000_000)
QUICK_ROWS = (1000, 2000, 4000, 8000)
PEER_ROWS = (500, 1000, 2000, 4000, 8000)

WIDTH, N_CLASSES = 256, 10
WIDE = {"rows": 500, "width": 4096}
MANY_CLASSES = 345
ROWS_EACH = 100  # of the many classes; a tenth of it in the quick form

#: What peers may use, so that one that needs more fails by itself.
MEMORY_CAP = 12 * 10**9

#: The transcription is given so much more time than the others: its labels are wanted at 4,000 rows.
DENSE_PATIENCE = 12

#: Pairs on which exact and approximate neighbours are compared.
NEIGHBOR_PAIRS: dict[str, tuple[str, ...]] = {
    "digits": ("MNIST to USPS", "USPS to MNIST"),
    "pie": ("05 to 07", "05 to 29", "07 to 05", "09 to 27", "27 to 29", "29 to 09"),
}
#: Large enough for the approximate search to run as it is: 70,000 and 9,298 digits.
FULL_PAIRS: dict[str, tuple[str, ...]] = {"digits-full": ("MNIST to USPS", "USPS to MNIST")}
PIE_PAIR = "05 to 07"

LABELS = {"growth": "{:,} rows", "wide": "wide", "classes": "many classes", "visda": "VisDA shape"}

TEN_PASSES = (
    "LPJT with its defaults but for max_iter=10 and tol=0, which ends a fit before the tenth pass only where no label "
    "changes any more."
)


@dataclass(frozen=True, slots=True)
class Plan:
    """A bench: its tasks, what they mean, and what becomes of their records."""

    bench: str  # names the file of its results: trials have files of their own, and no place on the page
    tasks: list[Task]
    note: str
    finish: Callable[[list[Record]], list[Record]] = list


def plan_growth(rows: Sequence[int] = GROWTH_ROWS, *, quick: bool = False, timeout: float | None = None) -> Plan:
    """Rows a domain from few to many, then wide rows and many classes."""
    limits = _limits(timeout)
    few, many = even_counts(WIDE["rows"], N_CLASSES), [ROWS_EACH // 10 if quick else ROWS_EACH] * MANY_CLASSES
    tasks = [
        *(_made("LPJT", n, **limits) for n in rows),
        Task(LABELS["wide"], "LPJT", {"source": few, "target": few, "width": WIDE["width"]}, **limits),
        Task(LABELS["classes"], "LPJT", {"source": many, "target": many, "width": WIDTH}, **limits),
    ]
    return Plan("growth-quick" if quick else "growth", tasks, TEN_PASSES)


def plan_quick(rows: Sequence[int] = QUICK_ROWS) -> Plan:
    """The few small sizes that continuous integration looks at."""
    return Plan("quick", [_made("LPJT", n, **_limits(None)) for n in rows], TEN_PASSES)


def plan_visda(scale: float = 1.0, *, timeout: float | None = None) -> Plan:
    """VisDA-2017's rows and classes, 2048 wide, float32, made."""
    if not 0 < scale <= 1:
        raise ValueError(f"--scale {scale:g} is not a share of VisDA's rows. Give a number above 0, at most 1.")
    label = LABELS["visda"] if scale == 1 else f"{LABELS['visda']}, {scale:g} of its rows"
    return Plan(
        "visda" if scale == 1 else "visda-trial",
        [Task(label, "LPJT", visda_shape(scale), **_limits(timeout))],
        TEN_PASSES,
    )


def plan_pie() -> Plan:
    """PIE, pose 05 to 07: 3332 and 1629 faces of 1024 pixels, 68 people, 100 components."""
    _check_data({"pie": (PIE_PAIR,)})
    task = Task(f"PIE {PIE_PAIR}", "LPJT", {"table": "pie", "pair": PIE_PAIR}, {"n_components": 100})
    return Plan("pie", [task], f"100 components. {TEN_PASSES}")


def plan_peers(rows: Sequence[int] = PEER_ROWS, *, timeout: float = 600.0) -> Plan:
    """Every peer at every size, side by side."""
    _limits(timeout)
    check_installed(PEERS)
    compared = {"LPJT, as printed", "dense transcription"}
    tasks = [
        _made(
            name,
            n,
            timeout=timeout * (DENSE_PATIENCE if name == "dense transcription" else 1),
            memory_cap=MEMORY_CAP,
            with_labels=name in compared,
        )
        for n in rows
        for name in PEERS
    ]
    note = (
        "20 components where a method has them, at most 10 passes, each library's own defaults otherwise and the "
        "nearest neighbour after its map. 'LPJT, as printed' has the setting of the dense transcription: landmarks, "
        "unit rows, harmonic labels, exact neighbours, no safeguard, 5 passes. A run may take "
        f"{timeout:g} s (the transcription {timeout * DENSE_PATIENCE:g} s) and {MEMORY_CAP / 1e9:g} GB."
    )
    return Plan("peers", tasks, note, _with_agreement)


def plan_neighbors(*, full: bool = False) -> Plan:
    """Exact against approximate neighbours, on real pairs; `full` adds those on which the search is never exact."""
    wanted = NEIGHBOR_PAIRS | (FULL_PAIRS if full else {})
    _check_data(wanted)
    tasks = [
        Task(f"{table} {pair}", "LPJT", {"table": table, "pair": pair}, {"neighbors": how, "tol": 1e-3})
        for table, pairs in wanted.items()
        for pair in pairs
        for how in ("exact", "approximate")
    ]
    note = (
        "LPJT with its defaults but for `neighbors`. Small domains are searched exactly whatever is asked for: where "
        "hardly an approximate search was made, equal accuracies say nothing about what it costs."
    )
    return Plan("neighbors", tasks, note)


def _limits(timeout: float | None) -> dict[str, Any]:
    """Time that a fit of LPJT may take, and nine tenths of the machine's memory, so that no other process pays."""
    if timeout is not None and not timeout > 0:
        raise ValueError(f"--timeout {timeout:g} leaves no time to run in. Give seconds above 0.")
    memory = machine()["memory_bytes"]
    return {"timeout": timeout, "memory_cap": None if memory is None else int(0.9 * memory)}


def _made(method: str, n: int, **more: Any) -> Task:
    """A task on made rows of the common width and number of classes, n a domain."""
    if n < 10 * N_CLASSES:
        raise ValueError(f"--rows {n}: the made classes want {10 * N_CLASSES} rows a domain at least.")
    counts = even_counts(n, N_CLASSES)
    data = {"source": counts, "target": counts, "width": WIDTH}
    return Task(LABELS["growth"].format(n), method, data, size=n, **more)


def _check_data(pairs: dict[str, tuple[str, ...]]) -> None:
    """Fail before the first run where a file is missing; the error says how to get it."""
    from lpjt.datasets import locate

    for table, names in pairs.items():
        for name in names:
            locate(table, name)


def _with_agreement(records: list[Record]) -> list[Record]:
    """Give the transcription's records the share of rows, in per cent, that LPJT labels alike."""
    printed = {r["size"]: r.get("labels") for r in records if r["method"] == "LPJT, as printed"}
    for record in records:
        ours, theirs = printed.get(record["size"]), record.get("labels")
        if record["method"] == "dense transcription" and ours and theirs:
            same = sum(a == b for a, b in zip(ours, theirs, strict=True))
            record["agreement"] = 100 * same / len(ours)
    return records
