"""The benches: what each of them measures, and what has to be there for it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lpjt.study.machine import memory_bytes
from lpjt.study.settings import NEIGHBOR_SEARCHES, SAMPLES, UNTIL_STEADY, WITHOUT_SAFEGUARD
from lpjt.study.speed.data import even_counts, visda_shape
from lpjt.study.speed.methods import PEERS, check_installed
from lpjt.study.speed.results import Measurement

#: Rows per domain of the growth, of its quick form, and of the comparison with peers.
GROWTH_ROWS = (1000, 4000, 16_000, 64_000, 128_000, 256_000, 512_000, 1_000_000)
QUICK_ROWS = (1000, 2000, 4000, 8000)
PEER_ROWS = (500, 1000, 2000, 4000, 8000, 100_000)

#: Rows per domain at which a fit on a sample is compared with one that iterates on every row.
SAMPLE_ROWS = (16_000, 32_000, 64_000)

#: Rows per domain at which a search is compared with one fit.
SEARCH_ROWS = (2000,)

WIDTH, N_CLASSES = 256, 10
WIDE = {"rows": 500, "width": 4096}
MANY_CLASSES = 345
ROWS_EACH = 100  # of the many classes; a tenth of it in the quick form

#: What peers may use, so that one that needs more fails by itself.
MEMORY_CAP = 12 * 10**9

#: The transcription is given this many times the time of the others: its labels are needed at 4,000 rows.
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

TEN_ITERATIONS = (
    "LPJT with its defaults but for max_iter=10 and tol=0: it ends before the last iteration only where no label "
    "changes any more. With candidates, five of the ten are those of the candidate that the fit goes on from."
)


@dataclass(frozen=True, slots=True)
class Plan:
    """A bench: its measurements and what they mean."""

    bench: str  # trials have names of their own, and no place on the page
    tasks: list[Measurement]
    note: str


#: A fit that chooses nothing, beside which the cost of the candidates is measured.
ONE_SETTING, UNCHOSEN = "one setting", dict(WITHOUT_SAFEGUARD)


def make_plan(bench: str, tasks: Iterable[Measurement], note: str) -> Plan:
    """A bench of measurements in their order."""
    numbered = [replace(task, bench=bench, place=place, note=note) for place, task in enumerate(tasks)]
    return Plan(bench, numbered, note)


def plan_growth(rows: Sequence[int] = GROWTH_ROWS, *, quick: bool = False, timeout: float | None = None) -> Plan:
    """Increasing numbers of rows per domain, then wide rows, then many classes."""
    bounds = limits(timeout)
    few, many = even_counts(WIDE["rows"], N_CLASSES), [ROWS_EACH // 10 if quick else ROWS_EACH] * MANY_CLASSES
    tasks = [
        *(made("LPJT", n, **bounds) for n in rows),
        Measurement(LABELS["wide"], "LPJT", {"source": few, "target": few, "width": WIDE["width"]}, **bounds),
        Measurement(LABELS["classes"], "LPJT", {"source": many, "target": many, "width": WIDTH}, **bounds),
    ]
    return make_plan("growth-quick" if quick else "growth", tasks, TEN_ITERATIONS)


def plan_quick(rows: Sequence[int] = QUICK_ROWS) -> Plan:
    """The few small sizes that continuous integration looks at; their work is counted."""
    return make_plan("quick", [made("LPJT, counted", n, **limits(None)) for n in rows], TEN_ITERATIONS)


def plan_visda(scale: float = 1.0, *, timeout: float | None = None) -> Plan:
    """VisDA-2017's rows and classes, 2048 wide, float32, made."""
    if not 0 < scale <= 1:
        raise ValueError(f"--scale {scale:g} is not a share of VisDA's rows. Give a number above 0, at most 1.")
    label = LABELS["visda"] if scale == 1 else f"{LABELS['visda']}, {scale:g} of its rows"
    return make_plan(
        "visda" if scale == 1 else "visda-trial",
        [
            Measurement(label, "LPJT", visda_shape(scale), **limits(timeout)),
            Measurement(f"{label}, {ONE_SETTING}", "LPJT", visda_shape(scale), UNCHOSEN, **limits(timeout)),
        ],
        TEN_ITERATIONS,
    )


def plan_pie() -> Plan:
    """PIE, pose 05 to 07: 3332 and 1629 faces of 1024 pixels, 68 people, 100 components."""
    _check_data({"pie": (PIE_PAIR,)})
    label, problem, given = f"PIE {PIE_PAIR}", {"table": "pie", "pair": PIE_PAIR}, {"n_components": 100}
    tasks = [
        Measurement(label, "LPJT", problem, given),
        Measurement(f"{label}, {ONE_SETTING}", "LPJT", problem, {**given, **UNCHOSEN}),
    ]
    return make_plan("pie", tasks, f"100 components. {TEN_ITERATIONS}")


def plan_peers(
    rows: Sequence[int] = PEER_ROWS, *, timeout: float = 600.0, methods: Sequence[str] | None = None
) -> Plan:
    """Every peer, or some by name, at every size, side by side; optional ones only if installed."""
    limits(timeout)
    unknown = [name for name in methods or () if name not in PEERS]
    if unknown:
        raise ValueError(f"--methods: no peer is called {unknown[0]!r}. There are: {'; '.join(PEERS)}.")
    names = check_installed(PEERS if methods is None else methods)
    tasks = [
        made(
            name,
            n,
            timeout=timeout * (DENSE_PATIENCE if name == "dense transcription" else 1),
            memory_cap=MEMORY_CAP,
            compare_with="LPJT, as printed" if name == "dense transcription" else None,
        )
        for n in rows
        for name in names
    ]
    note = (
        "20 components where another method has them, at most 10 iterations, each library's own defaults otherwise and "
        "the nearest neighbour after its map; ADAPT and CORAL have a logistic regression, UMAP 15 neighbours, and "
        "these, kalelinear and the linear SVM get z-scores. 'LPJT, as printed' has the setting of the dense "
        "transcription: landmarks, unit rows, harmonic labels, exact neighbours, no safeguard, 5 iterations. A run may "
        "take "
        f"{timeout:g} s (the transcription {timeout * DENSE_PATIENCE:g} s) and {MEMORY_CAP / 1e9:g} GB."
    )
    return make_plan("peers", tasks, note)


def plan_neighbors(*, full: bool = False) -> Plan:
    """Exact against approximate neighbours, on real pairs; `full` adds those on which the search is never exact."""
    compared = NEIGHBOR_PAIRS | (FULL_PAIRS if full else {})
    _check_data(compared)
    tasks = [
        Measurement(f"{table} {pair}", "LPJT", {"table": table, "pair": pair}, dict(parameters))
        for table, pairs in compared.items()
        for pair in pairs
        for parameters in NEIGHBOR_SEARCHES.values()
    ]
    note = (
        "LPJT with its defaults but for `neighbor_search`. Small domains are searched exactly whatever is asked for: "
        "where hardly an approximate search was made, equal accuracies say nothing about what it costs."
    )
    return make_plan("neighbors", tasks, note)


def plan_sample(rows: Sequence[int] = SAMPLE_ROWS, *, timeout: float | None = None) -> Plan:
    """Every row against a sample, on the same rows."""
    bounds = limits(timeout)
    tasks = [made("LPJT", n, parameters=dict(parameters), **bounds) for n in rows for parameters in SAMPLES.values()]
    note = (
        "LPJT with its defaults, max_iter=10 and tol=0: once with sample_size=None, which iterates on every row, and "
        "once with the default, which learns on a sample and then labels every row over the graph of all of them."
    )
    return make_plan("sample", tasks, note)


def plan_search(rows: Sequence[int] = SEARCH_ROWS, *, timeout: float | None = None) -> Plan:
    """One fit, and a search among thirty settings, on the same rows."""
    bounds = limits(timeout)
    tasks = [made(name, n, parameters=dict(UNTIL_STEADY), **bounds) for n in rows for name in ("LPJT", "LPJTSearch")]
    note = (
        "LPJT with its defaults, and LPJTSearch among thirty settings (components, variance weight, neighbours of the "
        "propagation), which ends with a fit of the best one on all rows."
    )
    return make_plan("search", tasks, note)


def limits(timeout: float | None) -> dict[str, Any]:
    """Time that a fit of LPJT may take, and nine tenths of the machine's memory, so that no other process pays."""
    if timeout is not None and not timeout > 0:
        raise ValueError(f"--timeout {timeout:g} leaves no time to run in. Give seconds above 0.")
    memory = memory_bytes()
    return {"timeout": timeout, "memory_cap": None if memory is None else int(0.9 * memory)}


def made(method: str, n: int, **more: Any) -> Measurement:
    """A measurement on made rows of the common width and number of classes, n per domain."""
    if n < 10 * N_CLASSES:
        raise ValueError(f"--rows {n}: the made classes need at least {10 * N_CLASSES} rows per domain.")
    counts = even_counts(n, N_CLASSES)
    data = {"source": counts, "target": counts, "width": WIDTH}
    return Measurement(LABELS["growth"].format(n), method, data, size=n, **more)


def _check_data(pairs: dict[str, tuple[str, ...]]) -> None:
    """Fail before the first run where a file is missing; the error says how to get it."""
    from lpjt.datasets import locate

    for table, names in pairs.items():
        for name in names:
            locate(table, name)
