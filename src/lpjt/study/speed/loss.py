"""Whether a fit does more than it did: counted work beside the stored one, and memory that grows too fast."""

from collections.abc import Iterator, Mapping, Sequence

from lpjt.study.speed.results import Record, Result
from lpjt.study.speed.sheets import exponent, number
from lpjt.study.tables.sheet import MISSING, Sheet

#: Work that grew by more than this factor is a loss.
LOSS = 1.3

#: A primitive is judged if it has at least this share of all operations, before or now. A sparse operation takes about
#: ten times as long as one of a product of matrices, so that a small share of the operations is not one of the time.
LEAST_SHARE = 0.002

#: Memory that grows with a higher power of the rows is taken to grow with their square.
MEMORY_EXPONENT = 1.5

CALLS, ALL = "calls", "all operations"

Totals = dict[str, tuple[int, float]]  # by primitive: calls, operations


def by_primitive(counts: Mapping[str, Sequence[float]]) -> Totals:
    """Calls and operations of each primitive, whatever module asked for them."""
    found: Totals = {}
    for name, (calls, operations) in counts.items():
        primitive = name.partition(" in ")[0]
        before = found.get(primitive, (0, 0.0))
        found[primitive] = int(before[0] + calls), before[1] + operations
    return found


def losses(record: Record, stored: Record | None) -> Iterator[str]:
    """In words, every primitive of a fit whose work grew by more than 30 %."""
    if stored is None or "work" not in stored or record["status"] != "ok":
        return
    now, then = by_primitive(record["work"]), by_primitive(stored["work"])
    for name, new, old in _pairs(now, then):
        if new > LOSS * old:
            times = f"{new / old:.2f} times" if old else "none before,"
            where = "" if name in (CALLS, ALL) else f", most of it in {_grown(record['work'], stored['work'], name)}"
            yield f"{record['label']}: {name}: {times} the stored work ({new:,.0f} instead of {old:,.0f}{where})"


def _pairs(now: Totals, then: Totals) -> Iterator[tuple[str, float, float]]:
    """Names of what is judged, and its amount now and then."""
    sums = [sum(operations for _, operations in totals.values()) for totals in (now, then)]
    yield ALL, sums[0], sums[1]
    n_calls = [float(sum(calls for calls, _ in totals.values())) for totals in (now, then)]
    yield CALLS, n_calls[0], n_calls[1]
    for name in sorted(set(now) | set(then)):
        new, old = (totals.get(name, (0, 0.0))[1] for totals in (now, then))
        if max(new / max(sums[0], 1.0), old / max(sums[1], 1.0)) >= LEAST_SHARE:
            yield name, new, old


def _grown(now: Mapping[str, Sequence[float]], then: Mapping[str, Sequence[float]], primitive: str) -> str:
    """The module in which the operations of a primitive grew most."""
    grown = {
        name.partition(" in ")[2]: amounts[1] - then.get(name, (0, 0.0))[1]
        for name, amounts in now.items()
        if name.startswith(f"{primitive} in ")
    }
    return max(grown, key=grown.__getitem__)


def stored_by_size(stored: Result | None) -> dict[int, Record]:
    """Stored records of fits that succeeded, by their rows per domain."""
    return {record["size"]: record for record in (stored or {"records": []})["records"] if record["status"] == "ok"}


def work_sheet(result: Result, stored: Result | None) -> Sheet:
    """Operations of each primitive, in billions, beside the stored ones, and the ratio of both."""
    before = stored_by_size(stored)
    rows: list[tuple[str, ...]] = []
    for record in result["records"]:
        if record["status"] != "ok" or "work" not in record:
            continue
        now, then = by_primitive(record["work"]), by_primitive(before.get(record["size"], {}).get("work", {}))
        for name in now:
            calls, operations = now[name]
            old = then.get(name, (0, 0.0))
            ratio = f"{operations / old[1]:.2f}" if old[1] else MISSING
            amounts = (number(operations / 1e9), number(old[1] / 1e9) if then else MISSING)
            rows.append((record["label"], name, *amounts, ratio, f"{calls:,}", f"{old[0]:,}" if then else MISSING))
    headings = ("data", "work", "billions", "stored", "ratio", "calls", "stored")
    return Sheet("Counted operations, beside those stored", headings, rows)


def work_faults(result: Result, stored: Result | None) -> list[str]:
    """Losses of all sizes; a change of packages is named, as other packages may need other iterations."""
    before = stored_by_size(stored)
    found = [words for record in result["records"] for words in losses(record, before.get(record["size"]))]
    then, now = (_versions(list(records)) for records in (before.values(), result["records"]))
    changed = [f"{name} {then[name]} to {now[name]}" for name in then if name in now and now[name] != then[name]]
    return [*found, f"Since the record was stored: {', '.join(changed)}."] if found and changed else found


def _versions(records: Sequence[Record]) -> dict[str, str]:
    return next((record["versions"] for record in records if record.get("versions")), {})


def memory_fault(result: Result) -> str | None:
    """What is wrong with the memory of a quick run; None where it is in order. Time is never at fault."""
    failed = [record for record in result["records"] if record["status"] != "ok"]
    if failed:
        return f"{failed[0]['label']}: {failed[0]['status']}. {failed[0]['message']}"
    sizes = sorted(record["size"] for record in result["records"])
    # The smallest sizes have memory that does not grow at all, and would hide what does.
    slope = exponent(result, "peak_bytes", sizes[len(sizes) // 4])
    if slope is not None and slope > MEMORY_EXPONENT:
        return f"Peak memory grows with the rows to the power {slope:.2f}, above {MEMORY_EXPONENT}: an n x n matrix?"
    return None
