"""Which tables, protocols, methods and seeds docs/results.md shows, and the jobs that they need."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lpjt.datasets import find_table
from lpjt.study.runs.measure import Job
from lpjt.study.runs.plan import expand_tables, methods_of, plan_jobs
from lpjt.study.text import canonical_json

FREE, PUBLISHED, ORACLE = "label-free", "published", "oracle"


@dataclass(frozen=True, slots=True)
class PageTable:
    """What the page shows of a table: protocols, each with its methods (None: all that suit), and seeds."""

    section: str
    protocols: Mapping[str, Sequence[str] | None] = field(default_factory=lambda: {FREE: None})
    seeds: tuple[int, ...] | None = None


_UNLABELLED, _FEW, _NO_SHIFT = "One width, no target labels", "A few target labels", "No shift"
_WITH_DEFAULT = [*(method.name for method in methods_of(find_table("surf"), None, FREE)), "LPJT (default)"]
_WITH_LANDMARKS = [*_WITH_DEFAULT, "LPJT (landmarks)"]
_PRINTED_PIE = ["1-NN", "SVM", "PCA", "GFK", "SA", "TCA", "JDA", "TJM", "JGSA", "LPJT (paper)", "LPJT (code)"]
_LABELLED = ["1-NN", "JDA", "JGSA", "SVMt", "Propagation", "PCA+SVM", "CDLS", "SHFA", "LPJT"]
_SEARCHED = ["JDA", "JGSA", "LPJT"]

TABLES = {
    "digits": PageTable(_UNLABELLED, {FREE: _WITH_LANDMARKS, PUBLISHED: None, ORACLE: _SEARCHED}),
    "pie": PageTable(_UNLABELLED, {FREE: _WITH_DEFAULT, PUBLISHED: _PRINTED_PIE}),
    "surf": PageTable(_UNLABELLED, {FREE: _WITH_LANDMARKS, PUBLISHED: None, ORACLE: _SEARCHED}),
    "efficientnet": PageTable(_UNLABELLED, {FREE: _WITH_LANDMARKS}),
    "efficientnet-unit": PageTable(_UNLABELLED),
    "coil": PageTable(_UNLABELLED, {FREE: _WITH_DEFAULT, PUBLISHED: None}),
    "googlenet": PageTable(_UNLABELLED, {FREE: _WITH_DEFAULT}),
    "amazon": PageTable(_UNLABELLED, {FREE: _WITH_DEFAULT}),
    "digits-few": PageTable(_FEW, {FREE: _LABELLED}, seeds=(0, 1, 2)),
    "surf-efficientnet": PageTable(_FEW, seeds=(0, 1, 2)),
    "surf-googlenet": PageTable(_FEW, seeds=(0, 1, 2)),
    "googlenet-efficientnet": PageTable(_FEW, seeds=(0, 1, 2)),
    "cdls-demo": PageTable(_FEW),
    "halves-same": PageTable(_NO_SHIFT),
    "halves-proportions": PageTable(_NO_SHIFT),
    "halves-missing": PageTable(_NO_SHIFT),
}
MAIN = ("digits", "pie", "surf", "efficientnet")

#: Run last, so that most of the page is there early.
_SLOW = ("LSSA", "OT")


def jobs_of(name: str, protocol: str) -> list[Job]:
    """Jobs of a table of the page under a protocol."""
    table = TABLES[name]
    return plan_jobs(expand_tables([name]), methods=table.protocols[protocol], seeds=table.seeds, protocol=protocol)


def page_jobs(tables: Sequence[str] = tuple(TABLES)) -> list[Job]:
    """Jobs of the page: the tables under each of their protocols, the main ones first and what is slow last.

    A method whose reference recommends what its paper prints for a set is run once: the label-free row serves for both.
    """
    jobs: list[Job] = []
    known = set()
    for name in tables:
        for protocol in TABLES[name].protocols:
            for job in jobs_of(name, protocol):
                same = (job.table, job.pair, job.method, job.seed, canonical_json(job.parameters))
                if protocol != PUBLISHED or same not in known:
                    jobs.append(job)
                    known.add(same)
    return sorted(jobs, key=lambda job: (job.protocol == ORACLE, job.table not in MAIN, job.method in _SLOW))
