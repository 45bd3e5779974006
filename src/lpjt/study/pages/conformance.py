"""docs/conformance.md, from stored rows; ``python -m lpjt.study.pages.conformance`` also runs what is installed."""

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from lpjt._whole_files import write_whole
from lpjt.conformance import describe_checks
from lpjt.conformance._domains import EASY, KEPT, SAME
from lpjt.study.conformance.peers import OF_THE_ADAPTER, PACKAGES
from lpjt.study.conformance.run import CONFORMANCE, DIRECTORY, installed, run
from lpjt.study.pages.machines import machines_section
from lpjt.study.store import Row, Store
from lpjt.study.tables.sheet import Sheet

PAGE = Path("docs/conformance.md")

_INTRODUCTION = f"""\
# Conformance

<!-- Written by `python -m lpjt.study.pages.conformance` from results/conformance. Do not edit. -->

`lpjt.check_da_estimator` asks of any domain adaptation estimator what does not depend on its method: rows in another
order get the same labels, inputs are left alone, unlabelled rows do not teach, strings are labels. It is public, so
that other libraries can use it:

```python
from lpjt import check_da_estimator
from lpjt.baselines import NearestNeighbor

results = check_da_estimator(NearestNeighbor(), on_fail=None)
```

This page has what came out for the estimators of lpjt, skada, ADAPT, POT and kalelinear, with their default parameters
except for a number of components. All checks use small, easy domains: three Gaussian classes in six columns, and a
target that is moved a little. *The same labels* means {100 * SAME:.0f} % of them. *Labelled* means that
{100 * KEPT:.0f} % are right, where the nearest source row is right for at least {100 * EASY:.0f} %.

How to read it:

- The suite was written by the authors of lpjt, who knew what their own estimators do. A failed check says that an
  estimator does not do what the check asks for, not that it is a bad method: many make no such promise. Balanced
  optimal transport, for one, assumes equal class proportions by design, and cannot pass `label_shift` and
  `missing_class`.
- skada's estimators are called as they are, on one stack with `sample_domain`. Those of ADAPT, POT and kalelinear are
  behind adapters of a few lines (`lpjt.study.conformance.peers`), so that checks of the interface itself
  ({", ".join(f"`{name.removeprefix('check_')}`" for name in sorted(OF_THE_ADAPTER))}) are not made. ADAPT's have a
  logistic regression inside; transports and transformers are followed by the nearest neighbour.
- CDLS, SHFA, TargetPropagation and TargetSVM learn from labelled target rows, and get three per class.

```console
$ pip install 'lpjt[bench]'                                     # skada and POT; lpjt[peers] for all
$ python -m lpjt.study.pages.conformance                        # what is installed, then this page
$ python -m lpjt.study.pages.conformance --only skada --only POT
$ python -m lpjt.study.pages.conformance --page                 # this page, from what is stored
```
"""


def write_page(rows: Sequence[Row], page: Path = PAGE) -> Path:
    """Write the page from stored rows."""
    sections = [
        _INTRODUCTION,
        "## Summary\n",
        _summary(rows),
        *_failures(rows),
        "## Checks\n",
        _checks(),
        _machines(rows),
    ]
    page.parent.mkdir(parents=True, exist_ok=True)
    write_whole(page, "\n".join(sections), overwrite=True)
    return page


def _summary(rows: Sequence[Row]) -> str:
    lines = []
    for library in PACKAGES:
        own = [row for row in rows if row["library"] == library]
        if not own:
            lines.append((library, "not installed when this page was written", *[""] * 4))
            continue
        names = list(dict.fromkeys(row["estimator"] for row in own))
        clean = sum(all(row["status"] != "failed" for row in own if row["estimator"] == name) for name in names)
        counts = [sum(row["status"] == status for row in own) for status in ("passed", "failed", "skipped")]
        lines.append((library, str(len(names)), str(clean), *map(str, counts)))
    headings = ("library", "estimators", "without a failed check", "checks passed", "failed", "skipped")
    return Sheet("Summary", headings, lines).to_markdown()


def _failures(rows: Sequence[Row]) -> Iterator[str]:
    yield "## What failed\n"
    for library in PACKAGES:
        failed = [row for row in rows if row["library"] == library and row["status"] == "failed"]
        if not failed:
            continue
        yield f"### {library}\n"
        by_check: dict[tuple[str, str], list[str]] = {}
        for row in failed:
            by_check.setdefault((row["check"], _shortened(row["message"])), []).append(row["estimator"])
        yield (
            "\n".join(
                ["| check | estimators | what came out |", "|:--|:--|:--|"]
                + [
                    f"| `{check}` | {', '.join(names)} | {message} |"
                    for (check, message), names in sorted(by_check.items())
                ]
            )
            + "\n"
        )


def _shortened(message: str, width: int = 160) -> str:
    text = message.removeprefix("AssertionError: ").replace("|", "\\|").replace("<", "&lt;").replace("`", "'")
    return text if len(text) <= width else text[: width - 1] + "…"


def _checks() -> str:
    lines = [f"| `{name.removeprefix('check_')}` | {what} |" for name, what in describe_checks().items()]
    return "\n".join(["| check | what it asks for |", "|:--|:--|", *lines]) + "\n"


def _machines(rows: Sequence[Row]) -> str:
    records = (
        (
            row["library"],
            {"date": row["started"], "machine": json.loads(row["machine"]), "versions": json.loads(row["versions"])},
        )
        for row in rows
    )
    return machines_section(records, named="library")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the suite on what is installed, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m lpjt.study.pages.conformance", description=__doc__)
    parser.add_argument("--page", action="store_true", help="run nothing; write the page from stored rows")
    parser.add_argument("--only", action="append", choices=PACKAGES, help="only this library; repeat for more")
    given = parser.parse_args(arguments)
    if not given.page:
        wanted = given.only or list(PACKAGES)
        for library in wanted:
            if not installed(library):
                print(f"{library}: not installed; what is stored is kept.")
        for subject in run(wanted):
            print(f"{subject.library} {subject.name}: done")
    print(f"Written: {write_page(Store(DIRECTORY, CONFORMANCE).rows())}.")


if __name__ == "__main__":
    main()
