"""Figures as read off the stored results, in words, and whether they keep their limits."""

from collections.abc import Callable, Mapping

from lpjt.study.speed.plans import LABELS, ONE_SETTING
from lpjt.study.speed.results import Record, Result
from lpjt.study.speed.sheets import JUDGED, exponent, neighbor_cost, number, paired_records, sample_cost, search_fits
from lpjt.study.speed.sheets_more import floor_times

Results = Mapping[str, Result | None]
Finding = tuple[str, bool | None]  # in words, and whether the goal is met; None where it cannot be said

FULL_DIGITS = "digits-full MNIST to USPS"
#: Rows per domain from which a fit on a cluster says whether a goal is met.
CLUSTER_ROWS = 1_000_000

UNMEASURED: Finding = ("not measured yet", None)


def _record(results: Results, bench: str, **values: object) -> Record | None:
    """The record of a bench that has these values; None where there is none."""
    found = (results.get(bench) or {"records": []})["records"]
    return next((r for r in found if all(r.get(name) == value for name, value in values.items())), None)


def of_passes(bench: str, label: str, limit: float) -> Callable[[Results], Finding]:
    """Passes of X'X of a fit, and its iterations."""

    def read(results: Results) -> Finding:
        record = _record(results, bench, label=label)
        if record is None:
            return UNMEASURED
        if record["status"] != "ok":
            return record["status"], False
        said = f"{number(record['passes'])} passes, {record['n_iter']} iterations"
        return said if record["adapted"] else f"{said}, not adapted", record["passes"] <= limit

    return read


def of_seconds(label: str, limit: float, memory: float | None = None) -> Callable[[Results], Finding]:
    """Seconds of a fit of the growth, and its peak memory in bytes where that has a limit, too."""

    def read(results: Results) -> Finding:
        record = _record(results, "growth", label=label)
        if record is None:
            return UNMEASURED
        if record["status"] != "ok":
            return record["status"], False
        said, met = f"{number(record['seconds'])} s", record["seconds"] <= limit
        if memory is not None:
            said, met = f"{said}, {number(record['peak_bytes'] / 1e9)} GB", met and record["peak_bytes"] <= memory
        return said, met

    return read


def of_choice(bench: str, label: str, limit: float) -> Callable[[Results], Finding]:
    """Time of a fit with candidates, in fits of one setting, in the same run."""

    def read(results: Results) -> Finding:
        chosen, single = (_record(results, bench, label=each) for each in (label, f"{label}, {ONE_SETTING}"))
        if chosen is None or single is None:
            return UNMEASURED
        if (chosen["status"], single["status"]) != ("ok", "ok"):
            return "a fit failed", None
        fits = chosen["seconds"] / single["seconds"]
        return f"{number(fits)} fits", fits <= limit

    return read


def visda_peak(results: Results) -> Finding:
    """Peak memory of VisDA's shape beyond its input."""
    record = _record(results, "visda", label=LABELS["visda"])
    if record is None:
        return UNMEASURED
    share = record.get("peak_share")
    return (record["status"], False) if share is None else (number(share), share <= 0.3)


def growth(results: Results) -> Finding:
    """Exponent of the time between the sizes that are judged."""
    stored = results.get("growth")
    ends = [_record(results, "growth", size=n) for n in JUDGED]
    if stored is None or None in ends:
        return UNMEASURED
    failed = [r["status"] for r in ends if r is not None and r["status"] != "ok"]
    if failed:
        return failed[0], False
    slope = exponent(stored, "seconds", *JUDGED)
    return UNMEASURED if slope is None else (f"{slope:.2f}", slope <= 1.05)


def dense_speed(results: Results) -> Finding:
    """How many times faster than the dense transcription."""
    ours, theirs = (_record(results, "peers", method=m, size=4000) for m in ("LPJT, as printed", "dense transcription"))
    if ours is None or theirs is None:
        return UNMEASURED
    if ours["status"] != "ok" or not theirs["seconds"]:
        return f"{ours['status']}, {theirs['status']}", None
    times = theirs["seconds"] / ours["seconds"]
    if theirs["status"] == "ok":
        return f"{number(times)} times", times >= 100
    # Ended by the clock, it would have taken longer; a failure before says nothing.
    ended = theirs["status"] == "timeout"
    return f"over {number(times)} times ({theirs['status']})", True if ended and times >= 100 else None


def dense_labels(results: Results) -> Finding:
    """Per cent of rows labelled as by the dense transcription."""
    record = _record(results, "peers", method="dense transcription", size=4000)
    if record is None:
        return UNMEASURED
    share = record.get("agreement")
    return (record["status"], None) if share is None else (f"{share:.2f} %", share >= 99)


def faster_than(method: str) -> Callable[[Results], Finding]:
    """How many times faster than a peer, at both sizes."""

    def read(results: Results) -> Finding:
        words, met = [], []
        for size in (2000, 4000):
            ours, theirs = (_record(results, "peers", method=m, size=size) for m in ("LPJT", method))
            if ours is None or theirs is None:
                return UNMEASURED
            if ours["status"] != "ok":
                return ours["status"], False
            if theirs["status"] != "ok":
                words.append(f"{size:,}: {theirs['status']}")
                met.append(True)
                continue
            words.append(f"{size:,}: {number(theirs['seconds'] / ours['seconds'])} times")
            met.append(ours["seconds"] < theirs["seconds"])
        return "; ".join(words), all(met)

    return read


def full_digits(results: Results) -> Finding:
    """Seconds and accuracy of full MNIST to full USPS."""
    stored = results.get("neighbors")
    pairs = {label: found for label, *found in paired_records(stored)} if stored else {}
    if FULL_DIGITS not in pairs:
        return UNMEASURED
    record = pairs[FULL_DIGITS][1]  # the approximate search, which "auto" chooses here
    if record["status"] != "ok":
        return record["status"], False
    said = f"{number(record['seconds'])}, {record['n_iter']} iterations, {record['accuracy']:.1f} % right"
    return said, record["seconds"] < 60


def of_neighbors(*tables: str) -> Callable[[Results], Finding]:
    """Accuracy that approximate neighbours cost, over the pairs of some tables."""

    def read(results: Results) -> Finding:
        stored = results.get("neighbors")
        if stored is None:
            return UNMEASURED
        pairs = [found for label, *found in paired_records(stored) if label.split(" ")[0] in tables]
        failed = [r["status"] for pair in pairs for r in pair if r["status"] != "ok"]
        if failed or not pairs:
            return failed[0] if failed else UNMEASURED[0], None
        costs = [cost for pair in pairs if (cost := neighbor_cost(*pair)) is not None]
        if not costs:
            return "nothing: no pair is large enough for an approximate search", None
        mean = sum(costs) / len(costs)
        said = f"{mean:+.2f}, at most {max(costs):+.2f} of a pair ({len(costs)} of {len(pairs)} pairs searched so)"
        return said, mean < 0.5

    return read


def sample(results: Results) -> Finding:
    """Accuracy that learning on a sample costs."""
    stored = results.get("sample")
    if stored is None:
        return UNMEASURED
    pairs = [(label, sample_cost(*found)) for label, *found in paired_records(stored)]
    costs = {label: cost for label, cost in pairs if cost is not None}
    if not pairs or len(costs) < len(pairs):
        return "a fit failed" if pairs else UNMEASURED[0], None
    return ", ".join(f"{cost:+.2f} ({label})" for label, cost in costs.items()), max(map(abs, costs.values())) <= 0.5


def search(results: Results) -> Finding:
    """Time of a search in fits."""
    fit, search = (_record(results, "search", method=method, size=2000) for method in ("LPJT", "LPJTSearch"))
    if fit is None or search is None:
        return UNMEASURED
    fits = search_fits(fit, search)
    return ("a fit failed", None) if fits is None else (f"{number(fits)} fits", fits <= 6)


def of_figure(bench: str, name: str, limit: float, unit: str, **values: object) -> Callable[[Results], Finding]:
    """A figure of one record, and its limit."""

    def read(results: Results) -> Finding:
        record = _record(results, bench, **values)
        if record is None:
            return UNMEASURED
        if record["status"] != "ok":
            return record["status"], False
        return f"{number(record[name])}{unit}", record[name] <= limit

    return read


def of_times(bench: str, ours: str, theirs: str, limit: float, size: int) -> Callable[[Results], Finding]:
    """Time of one method in that of another, on the same rows in the same bench."""

    def read(results: Results) -> Finding:
        fit, other = (_record(results, bench, method=method, size=size) for method in (ours, theirs))
        if fit is None or other is None:
            return UNMEASURED
        times = floor_times(fit, other)
        return ("a run failed", None) if times is None else (f"{number(times)} times", times <= limit)

    return read


def disk(results: Results) -> Finding:
    """Peak memory of the largest file; met only where that has the 20 GB that are asked for."""
    found = [r for r in (results.get("disk") or {"records": []})["records"] if r["status"] == "ok"]
    if not found:
        return UNMEASURED
    record = max(found, key=lambda r: r["input_bytes"])
    peak, size = record["peak_bytes"] / 1e9, record["input_bytes"] / 1e9
    said = f"{peak:.2f} GB of {size:.1f} GB, {number(record['reads'])} reads"
    return said, peak <= 2 if size >= 19.9 or peak > 2 else None


def of_cluster(says: Callable[[Record], str], meets: Callable[[Record], bool]) -> Callable[[Results], Finding]:
    """A figure of the largest fit on a cluster, in words; met only where it has the million rows that are asked for."""

    def read(results: Results) -> Finding:
        records = (results.get("cluster") or {"records": []})["records"]
        if not records:
            return UNMEASURED
        record = max(records, key=lambda r: r["size"])
        if record["status"] != "ok":
            return record["status"], False
        met = meets(record)
        return f"{says(record)} ({record['size']:,} rows)", met if record["size"] >= CLUSTER_ROWS or not met else None

    return read
