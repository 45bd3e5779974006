"""A pytest plugin for `tools/mutants.py`: which lines each test runs, and only the tests asked for, in their order.

Asked for by environment variables. `MUTANTS_RECORD` names the file to write: seconds by test, tests by file and line,
modules of other packages; `MUTANTS_WATCH` the folder whose lines count. `MUTANTS_SELECT` names a file of test ids.
"""

import json
import os
import sys
import threading
from collections.abc import Generator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest


class Recorder:
    """Collects lines per test through `sys.settrace`, and how long each test took."""

    def __init__(self, watch: str, out: Path) -> None:
        self.watch, self.out = watch + os.sep, out
        self.now: set[tuple[str, int]] = set()
        self.of_test: dict[str, set[tuple[str, int]]] = {}
        self.of_setup: dict[str, set[tuple[str, int]]] = {}  # by test file: a fixture may serve all its tests
        self.tests: dict[str, float] = {}

    def trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Follow the frames of watched files alone."""
        del argument
        if event == "line":
            self.now.add((frame.f_code.co_filename, frame.f_lineno))
        return self.trace if event == "line" or frame.f_code.co_filename.startswith(self.watch) else None

    def watched(self, into: set[tuple[str, int]]) -> Generator[None, Any, Any]:
        """Trace one phase of a test."""
        self.now = into
        threading.settrace(self.trace)
        sys.settrace(self.trace)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Lines of fixtures count for every test of the file."""
        return (yield from self.watched(self.of_setup.setdefault(item.nodeid.split("::")[0], set())))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Lines of the test itself."""
        return (yield from self.watched(self.of_test.setdefault(item.nodeid, set())))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Sum the seconds of all phases."""
        self.tests[report.nodeid] = self.tests.get(report.nodeid, 0.0) + report.duration

    def pytest_sessionfinish(self) -> None:
        """Write what was seen."""
        lines: dict[str, dict[int, list[str]]] = {}
        for test in self.tests:
            seen = self.of_test.get(test, set()) | self.of_setup.get(test.split("::")[0], set())
            for path, line in sorted(seen):
                lines.setdefault(os.path.relpath(path), {}).setdefault(line, []).append(test)
        tree = os.getcwd() + os.sep
        ours = {
            name for name, module in sys.modules.items() if (getattr(module, "__file__", "") or tree).startswith(tree)
        }
        modules = [name for name in sys.modules if name not in ours | {__name__}]
        self.out.write_text(json.dumps({"tests": self.tests, "lines": lines, "modules": modules}))


def pytest_configure(config: pytest.Config) -> None:
    """Record only where asked."""
    if "MUTANTS_RECORD" in os.environ:
        recorder = Recorder(os.environ["MUTANTS_WATCH"], Path(os.environ["MUTANTS_RECORD"]))
        config.pluginmanager.register(recorder)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests asked for. Ids on the command line would not do: an import error would then be a usage error."""
    if "MUTANTS_SELECT" in os.environ:
        wanted = {test: place for place, test in enumerate(json.loads(Path(os.environ["MUTANTS_SELECT"]).read_text()))}
        items[:] = sorted((item for item in items if item.nodeid in wanted), key=lambda item: wanted[item.nodeid])
