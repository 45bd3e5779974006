"""Which runs a table needs: pairs, methods, seeds and a protocol become jobs."""

from collections.abc import Iterable, Sequence

from lpjt.benchmarks.measure import Job
from lpjt.benchmarks.methods import METHODS, PROTOCOLS, Method, find_method, make_method
from lpjt.datasets import TABLES, TableSpec, find_pair, find_table

#: Several tables under one name.
GROUPS = {
    "compare": "every method on digits and on three pairs of PIE, without and with a few target labels",
    "results": "all tables of docs/results.md",
}

_THREE_OF_PIE = ("05 to 07", "27 to 09", "29 to 05")
_RESULTS = (
    "digits", "pie", "surf", "efficientnet", "coil", "amazon", "googlenet",
    "digits-few", "surf-efficientnet", "surf-googlenet", "googlenet-efficientnet", "cdls-demo",
    "halves-same", "halves-proportions", "halves-missing",
)  # fmt: skip

#: Variants of LPJT are asked for by name, but for the presets under the protocol in which they stand for it.
_PRESETS = ("LPJT (paper)", "LPJT (code)")
_VARIANTS = (*_PRESETS, "LPJT (landmarks)")
_N_SEEDS = 5


def expand_tables(names: Sequence[str]) -> list[tuple[TableSpec, tuple[str, ...]]]:
    """Tables, each with the pairs wanted, from names of tables and groups."""
    wanted: list[tuple[TableSpec, tuple[str, ...]]] = []
    for name in names:
        if name == "compare":
            for table in ("digits", "pie", "digits-few", "pie-few"):
                spec = find_table(table)
                wanted.append((spec, _THREE_OF_PIE if table.startswith("pie") else spec.pairs))
        elif name == "results":
            wanted += [(TABLES[table], TABLES[table].pairs) for table in _RESULTS]
        else:
            spec = find_table(name)
            wanted.append((spec, spec.pairs))
    return wanted


def plan_jobs(
    tables: Iterable[tuple[TableSpec, Sequence[str]]],
    *,
    methods: Sequence[str] | None = None,
    pairs: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None,
    protocol: str = "label-free",
) -> list[Job]:
    """One job for each run, in the order in which the tables show them.

    Parameters
    ----------
    tables : of (table, pairs)
    methods : names, or None for every method that the table is for
    pairs : names to keep, or None
    seeds : of the splits and of what the methods draw; None is 0 to 4 where labelled rows are drawn, and 0 elsewhere
    protocol : {"label-free", "published", "oracle"}

    Returns
    -------
    list of Job
    """
    if protocol not in PROTOCOLS:
        raise ValueError(f"There is no protocol {protocol!r}. Known: {', '.join(PROTOCOLS)}.")
    jobs = []
    for table, of_table in tables:
        chosen = [find_pair(table.name, pair) for pair in pairs] if pairs else list(of_table)
        drawn = range(_n_seeds(table)) if seeds is None else seeds
        for method in methods_of(table, methods, protocol):
            jobs += [make_job(table, pair, method, seed, protocol) for pair in chosen for seed in drawn]
    return jobs


def methods_of(table: TableSpec, names: Sequence[str] | None, protocol: str) -> list[Method]:
    """Methods of a table: those that are named and suit it, or all that say something under the protocol.

    The presets of LPJT follow the paper or its authors' program, so they stand in for it where references' own
    parameters are used, and nowhere else; the oracle has methods with something to search alone.
    """
    if names:
        methods = [find_method(name) for name in names]
        suited = [method for method in methods if method.suits(table)]
        if not suited:
            why = "labelled target rows" if table.kind in ("homogeneous", "no-shift") else "domains of one width"
            raise ValueError(f"{', '.join(names)}: the table {table.name!r} has none, they need {why}.")
        return suited
    if table.kind == "no-shift":
        return [METHODS[name] for name in ("1-NN", "SVM", "LPJT")]
    suited = [method for method in METHODS.values() if method.suits(table)]
    if protocol == "published":
        return [method for method in suited if method.name in _PRESETS or not method.name.startswith("LPJT")]
    if protocol == "oracle":
        return [method for method in suited if method.grid]
    return [method for method in suited if method.name not in _VARIANTS]


def _n_seeds(table: TableSpec) -> int:
    return _N_SEEDS if table.seeded and table.kind != "no-shift" else 1


def make_job(table: TableSpec, pair: str, method: Method, seed: int, protocol: str) -> Job:
    """The job of one run, with the value of every parameter: a default that changes makes another job of it."""
    grid = method.settings() if protocol == "oracle" else None
    model = make_method(method.name, method.parameters(table, pair, protocol), seed)
    parameters = {name: value for name, value in model.get_params(deep=False).items() if name != "random_state"}
    return Job(table.name, pair, method.name, seed, protocol, parameters, grid)
