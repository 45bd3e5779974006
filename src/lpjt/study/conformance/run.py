"""Run the suite on what is installed, one row per estimator and check."""

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from lpjt.conformance import check_da_estimator
from lpjt.study.conformance.peers import OF_THE_ADAPTER, PACKAGES, Subject, subjects
from lpjt.study.machine import machine, utc_now, versions
from lpjt.study.store import Format, Row, Store
from lpjt.study.text import canonical_json, one_line

#: Where results are kept, from the root of the repository.
DIRECTORY = Path("results/conformance")

#: One check of one estimator.
CONFORMANCE = Format(
    "conformance-1",
    {
        "key": "string", "library": "string", "estimator": "string", "check": "string", "target_labels": "int64",
        "status": "string", "message": "string", "machine": "string", "versions": "string", "started": "string",
    },
    ("library", "estimator", "check", "key"),
)  # fmt: skip

_LIBRARIES = ("lpjt", "skada", "adapt", "POT", "kalelinear", "scikit-learn", "numpy", "scipy")


def installed(library: str) -> bool:
    """Whether a library of the page can be imported here."""
    return find_spec(PACKAGES[library]) is not None


def run(libraries: Sequence[str], directory: Path = DIRECTORY) -> Iterator[Subject]:
    """Check the estimators of these libraries, those that are installed, and store what came out."""
    store = Store(directory, CONFORMANCE)
    for subject in subjects():
        if subject.library in libraries and installed(subject.library):
            for row in check(subject):
                store.append(row)
            yield subject
    known = {(subject.library, subject.name) for subject in subjects()}
    gone = [row["key"] for row in store.rows() if (row["library"], row["estimator"]) not in known]
    store.compact(forget=gone)


def check(subject: Subject) -> Iterator[Row]:
    """Rows of one estimator; checks of the interface alone are left out behind an adapter of ours."""
    results = check_da_estimator(subject.make(), target_labels=subject.target_labels, on_fail=None)
    for result in results:
        name, error = result["check_name"], result["exception"]
        if subject.adapted and name in OF_THE_ADAPTER:
            continue
        yield {
            "key": f"{subject.library} {subject.name} {name}",
            "library": subject.library,
            "estimator": subject.name,
            "check": name.removeprefix("check_"),
            "target_labels": subject.target_labels,
            "status": result["status"],
            "message": "" if error is None else one_line(error),
            "machine": canonical_json(machine()),
            "versions": canonical_json(versions(_LIBRARIES)),
            "started": utc_now(),
        }
