"""The figures of docs/results.md: runs what is not stored yet, then writes the page from the stored rows.

Rows are in benchmarks/results, one a run; remove the directory to compute everything anew. Broken off at any moment,
the next call goes on.
"""

import argparse
import os
import sys
import time
from pathlib import Path

from page import MAIN, ORACLE, PUBLISHED, TABLES, write_page

from lpjt.benchmarks.measure import canonical_json
from lpjt.benchmarks.plan import expand_tables, plan_jobs
from lpjt.benchmarks.runner import Event, run_jobs
from lpjt.benchmarks.store import Store

#: Run last, so that most of the page is there early.
SLOW = ("LSSA", "OT")
STORE = Path(__file__).with_name("results")


def planned(tables: list[str]):
    """Jobs of the page: the tables under each of their protocols, the main ones first and what is slow last.

    A method whose reference recommends what its paper prints for a set is run once: the label-free row serves for both.
    """
    jobs, known = [], set()
    for name in tables:
        table = TABLES[name]
        for protocol, methods in table.protocols.items():
            for job in plan_jobs(expand_tables([name]), methods=methods, seeds=table.seeds, protocol=protocol):
                same = (job.table, job.pair, job.method, job.seed, canonical_json(job.parameters))
                if protocol != PUBLISHED or same not in known:
                    jobs.append(job)
                    known.add(same)
    return sorted(jobs, key=lambda job: (job.protocol == ORACLE, job.table not in MAIN, job.method in SLOW))


def report(event: Event) -> None:
    if event.kind == "end":
        row = event.row
        said = f"{row['accuracy']:.2f}" if row["status"] == "ok" else f"{row['status']}: {row['message']}"
        print(
            f"{event.done}/{event.total} {row['table']} {row['pair']} seed {row['seed']} {row['protocol']} "
            f"{row['method']}: {said} ({row['seconds'] or 0:.1f} s)",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"all, or some of {', '.join(TABLES)}")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at once")
    parser.add_argument("--timeout", type=float, default=900, help="seconds after which a run is ended")
    parser.add_argument("--retry-failed", action="store_true", help="run again what failed before")
    parser.add_argument("--page", action="store_true", help="run nothing, write the page from the stored rows")
    arguments = parser.parse_args()
    unknown = set(arguments.tables) - set(TABLES)
    if unknown:
        parser.error(f"no table {', '.join(sorted(unknown))}; there are {', '.join(TABLES)}")
    store = Store(STORE)
    if not arguments.page:
        if not os.environ.get("LPJT_DATA"):
            sys.exit("Set LPJT_DATA to the directory of the data sets.")
        start = time.perf_counter()
        jobs = planned(arguments.tables or list(TABLES))
        run_jobs(
            jobs,
            store,
            n_jobs=arguments.jobs,
            timeout=arguments.timeout,
            retry_failed=arguments.retry_failed,
            on_event=report,
        )
        print(f"{len(jobs)} runs in {time.perf_counter() - start:.0f} s")
    current = {job.key for job in planned(list(TABLES))}
    for line in write_page([row for row in store.rows() if row["key"] in current]):
        print(line)


if __name__ == "__main__":
    main()
