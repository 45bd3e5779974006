"""`make attack`: run every part to its number of cases, go on after an interrupt, and print one table.

The exit code is 1 when a case has failed.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from attack.part import Part
from attack.parts import MODULES, load
from attack.runner import run_cases
from attack.store import Store, Tally
from attack.summary import SUMMARY, write_summary

ROOT = Path(__file__).parents[2]


def run_part(
    part: Part, store: Store, *, cases: int, seconds: float | None, workers: int, failed: bool = False
) -> Tally:
    """Run what is not stored yet of a part's first cases, or has `failed` if asked to, and count all of them."""
    tally, begin = Tally(), time.monotonic()
    stored = {number: outcome for number, outcome in store.read(part.name).items() if number < cases}
    if failed:
        stored = {number: outcome for number, outcome in stored.items() if outcome.kind != "failed"}
    for number, outcome in stored.items():
        tally.add(number, outcome)
    for done, (number, outcome) in enumerate(
        run_cases(load, part.name, [n for n in range(cases) if n not in stored], workers), 1 + len(stored)
    ):
        store.append(part.name, number, outcome)
        tally.add(number, outcome)
        if outcome.kind == "failed":
            print(f"  {part.name} {number} {outcome.group}: {outcome.detail}", file=sys.stderr)
        if done % 100 == 0:
            print(f"  {part.name}: {done:,} of {cases:,}, {time.monotonic() - begin:.0f} s", file=sys.stderr)
        if seconds is not None and time.monotonic() - begin > seconds:
            break
    return tally


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts that are named, or all."""
    parser = argparse.ArgumentParser(prog="attack", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"some of: {', '.join(MODULES)} (all by default)")
    parser.add_argument("--cases", type=int, help="cases of each part, instead of those of the long run")
    parser.add_argument("--seconds", type=float, help="end each part after this time; another run goes on")
    parser.add_argument("--again", action="store_true", help="forget what is stored of these parts")
    parser.add_argument("--failed", action="store_true", help="run the cases that failed once more, too")
    parser.add_argument("--case", type=int, help="run this one case here, with its traceback")
    parser.add_argument("--workers", type=int, default=0, help="processes at once, instead of one per processor")
    parser.add_argument("--summary", action="store_true", help=f"run nothing; count what is stored, in {SUMMARY.name}")
    parser.add_argument("--store", type=Path, default=ROOT / "build" / "attack")
    given = parser.parse_args(arguments)
    store, names = Store(given.store), given.parts or list(MODULES)
    if given.summary:
        print(f"{SUMMARY}: {', '.join(write_summary(store, names, load)) or 'nothing is stored'}.")
        return 0
    if given.case is not None:
        print(*(load(name).run(given.case) for name in names), sep="\n")
        return 0
    tallies = {}
    for name in names:
        if given.again:
            store.forget(name)
        part = load(name)
        cases = part.cases if given.cases is None else given.cases
        tallies[name] = run_part(
            part, store, cases=cases, seconds=given.seconds, workers=given.workers, failed=given.failed
        )
    print(f"{'part':34} {'fine':>8} {'refused':>8} {'failed':>8}")
    for name, tally in tallies.items():
        for group, counts in sorted(tally.counts.items()):
            title = load(name).title + (f", {group}" if group else "")
            print(f"{title:34} {counts['fine']:8,} {counts['refused']:8,} {counts['failed']:8,}")
    return int(any(tally.failures for tally in tallies.values()))


if __name__ == "__main__":
    sys.exit(main())
