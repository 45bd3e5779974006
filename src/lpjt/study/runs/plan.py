"""Which runs a table needs: pairs, methods, seeds and a protocol become jobs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lpjt.datasets import TABLES, TableSpec, find_pair, find_table
from lpjt.study.runs.measure import Job
from lpjt.study.runs.methods import METHODS, PROTOCOLS, Method, find_method, make_method

#: Several tables under one name.
GROUPS = {"compare": "every method on digits and on three pairs of PIE, some with a few target labels"}

_THREE_OF_PIE = ("05 to 07", "27 to 09", "29 to 05")

#: Variants of LPJT are asked for by name, except the constructors under the protocol in which they stand for it.
_PRESETS = ("LPJT (paper)", "LPJT (code)")
_VARIANTS = (*_PRESETS, "LPJT (landmarks)", "LPJT (default)")
_N_SEEDS = 5


@dataclass(frozen=True, slots=True)
class TableSelection:
    """What to run of a table: pairs, and where a group says so methods and seeds."""

    table: TableSpec
    pairs: tuple[str, ...]
    methods: tuple[str, ...] | None = None  # None: every method that the table is for
    seeds: tuple[int, ...] | None = None  # None: 0 to 4 where labelled rows are drawn, and 0 elsewhere


def expand_tables(names: Sequence[str]) -> list[TableSelection]:
    """What the names of tables and groups stand for."""
    selections: list[TableSelection] = []
    for name in names:
        if name == "compare":
            selections += _compared()
        else:
            spec = find_table(name)
            selections.append(TableSelection(spec, spec.pairs))
    return selections


def _compared() -> list[TableSelection]:
    """Digits and three pairs of PIE: methods without target labels, then those that need them and LPJT, one seed."""
    labelled = (*(method.name for method in METHODS.values() if method.needs_target_labels), "LPJT")
    selections = []
    for name, pairs in (("digits", TABLES["digits"].pairs), ("pie", _THREE_OF_PIE)):
        selections += [
            TableSelection(TABLES[name], pairs),
            TableSelection(TABLES[f"{name}-few"], pairs, labelled, (0,)),
        ]
    return selections


def plan_jobs(
    tables: Iterable[TableSelection],
    *,
    methods: Sequence[str] | None = None,
    pairs: Sequence[str] | None = None,
    seeds: Sequence[int] | None = None,
    protocol: str = "label-free",
) -> list[Job]:
    """One job for each run, in the order in which the tables show them.

    Parameters
    ----------
    tables : of TableSelection
    methods, pairs, seeds
        What to run instead of the tables' own choice; None leaves it to them.
    protocol : {"label-free", "published", "oracle"}

    Returns
    -------
    list of Job
    """
    if protocol not in PROTOCOLS:
        raise ValueError(f"There is no protocol {protocol!r}. Known: {', '.join(PROTOCOLS)}.")
    tables = list(tables)
    by_table = _pairs_of(tables, pairs)
    jobs = []
    for selection, chosen in zip(tables, by_table, strict=True):
        table = selection.table
        drawn = seeds if seeds is not None else selection.seeds or range(_n_seeds(table))
        for method in methods_of(table, methods or selection.methods, protocol):
            jobs += [make_job(table, pair, method, seed, protocol) for pair in chosen for seed in drawn]
    if not jobs:
        raise ValueError(_why_nothing([selection.table for selection in tables], methods or ()))
    return jobs


def _pairs_of(tables: Sequence[TableSelection], names: Sequence[str] | None) -> list[list[str]]:
    """Pairs of each table; a name must be a pair of one of them, not necessarily of all."""
    if not names:
        return [list(selection.pairs) for selection in tables]
    found: list[list[str]] = [[] for _ in tables]
    for name in names:
        errors = []
        for selection, chosen in zip(tables, found, strict=True):
            try:
                chosen.append(find_pair(selection.table.name, name))
            except ValueError as error:
                errors.append(error)
        if len(errors) == len(tables):
            raise errors[0]
    return found


def _why_nothing(tables: Sequence[TableSpec], methods: Sequence[str]) -> str:
    reasons = []
    for method in map(find_method, methods):
        needed = "labelled target rows" if method.needs_target_labels else "domains of one width"
        reasons.append(f"{method.name} needs {needed}")
    where = ", ".join(f"'{table.name}'" for table in tables)
    return f"Nothing to run: {'; '.join(reasons) or 'no method suits'}, which {where} has not."


def methods_of(table: TableSpec, names: Sequence[str] | None, protocol: str) -> list[Method]:
    """Methods of a table: those that are named and suit it, or all that say something under the protocol.

    Methods whose extras are not installed are left out unless they are named; `missing_note` says so.
    The constructors of LPJT follow the paper or its authors' program, so they stand in for it where references' own
    parameters are used, and nowhere else; the oracle has methods with something to search alone.
    """
    if names:
        return [method for method in map(find_method, names) if method.suits(table)]
    if table.kind == "no-shift":
        return [METHODS[name] for name in ("1-NN", "SVM", "LPJT")]
    suited = [method for method in METHODS.values() if method.suits(table) and method.is_installed()]
    if protocol == "published":
        return [method for method in suited if method.name in _PRESETS or not method.name.startswith("LPJT")]
    if protocol == "oracle":
        return [method for method in suited if method.grid]
    return [method for method in suited if method.name not in _VARIANTS]


def missing_note(tables: Iterable[TableSelection], methods: Sequence[str] | None) -> str:
    """Which methods are left out because their extras are not installed, and the remedy; empty if there are none."""
    if methods:
        return ""
    chosen = [
        selection.table for selection in tables if selection.methods is None and selection.table.kind != "no-shift"
    ]
    missing = [m for m in METHODS.values() if not m.is_installed() and any(map(m.suits, chosen))]
    if not missing:
        return ""
    extras = dict.fromkeys(extra for method in missing for extra in method.extra.split(","))
    names = ", ".join(method.name for method in missing)
    return f"Left out: {names}. They need more packages: `pip install 'lpjt[{','.join(extras)}]'`."


def _n_seeds(table: TableSpec) -> int:
    return _N_SEEDS if table.seeded and table.kind != "no-shift" else 1


def make_job(table: TableSpec, pair: str, method: Method, seed: int, protocol: str) -> Job:
    """The job of one run, with the value of every parameter: a default that changes makes another job of it."""
    grid = method.settings() if protocol == "oracle" else None
    parameters = method.parameters(table, pair, protocol)
    if "variant" not in parameters:  # which stands for the values of all others
        model = make_method(method.name, parameters, seed)
        parameters = {name: value for name, value in model.get_params(deep=False).items() if name != "random_state"}
    return Job(table.name, pair, method.name, seed, protocol, parameters, grid)
