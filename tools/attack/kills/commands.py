"""The commands that are killed, what they read, and what they write."""

import multiprocessing.util
import os
import re
import shutil
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

_MODULE = """
from lpjt.datasets import DataFile, DataSet, Domain

MADE = DataSet(
    "made", "Two made domains", "made", {name: Domain(name, name, (DataFile(f"{name}.csv"),), rows=60)
    for name in ("north", "south")}, (5,), 3, "original", "nobody", "public domain", "made by the attack",
)
"""


@dataclass(frozen=True, slots=True)
class Command:
    """Arguments of ``lpjt``, in which {inputs} and {out} are directories, and the files that it writes."""

    name: str
    arguments: tuple[str, ...]
    files: tuple[str, ...]
    store: str | None = None  # directory of stored rows, which a second run goes on from


_ADAPT = ("adapt", "{inputs}/source.csv", "{inputs}/target.csv", "-o", "{out}/labels.csv", "--force", "-q")
COMMANDS = (
    Command(
        "predict",
        ("predict", "{inputs}/model.lpjt", "{inputs}/target.csv", "-o", "{out}/labels.csv", "--force", "--proba"),
        ("labels.csv",),
    ),
    Command(
        "adapt",
        (*_ADAPT, "--model", "{out}/model.lpjt", "--ask", "3"),
        ("labels.csv", "model.lpjt", "labels-ask.csv"),
    ),
    Command(
        "reproduce",
        ("reproduce", "made", "--methods", "1-NN,SVM", "--jobs", "2", "--store", "{out}/rows", "-o", "{out}/table.md",
         "--force"),
        ("table.md",),
        "rows",
    ),
    Command("search", (*_ADAPT, "--search", "--no-candidates", "--classifier", "nn"), ("labels.csv",)),
    Command("report", (*_ADAPT, "--no-candidates", "--report", "{out}/page.html"), ("labels.csv", "page.html")),
)  # fmt: skip


def fill_in(command: Command, out: Path) -> list[str]:
    """The arguments with the directories in their places."""
    return [one.format(inputs=inputs(), out=out) for one in command.arguments]


@cache
def inputs() -> Path:
    """A directory with all that the commands read, made once and removed when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="lpjt-attack-"))
    multiprocessing.util.Finalize(None, shutil.rmtree, (folder, True), exitpriority=1)
    _write(folder / "source.csv", seed=0, label=True)
    _write(folder / "target.csv", seed=1, ids=True)
    site = folder / "site"
    (site / "made_sets-1.0.dist-info").mkdir(parents=True)
    (site / "made_sets.py").write_text(_MODULE)
    information = site / "made_sets-1.0.dist-info"
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: made-sets\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[lpjt.datasets]\nmade = made_sets:MADE\n")
    (folder / "data" / "made").mkdir(parents=True)
    for seed, name in enumerate(("north", "south")):
        _write(folder / "data" / "made" / f"{name}.csv", seed=seed, label=True, classes="012")
    _save_model(folder)
    return folder


def environment() -> dict[str, str]:
    """Of a command: the made data sets, and one thread."""
    paths = os.pathsep.join([str(inputs() / "site"), *sys.path])
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    return {**os.environ, **threads, "PYTHONPATH": paths, "LPJT_DATA": str(inputs() / "data"), "COLUMNS": "120"}


def normalized(path: Path) -> bytes:
    """What must be equal in two runs: all but times and the directory; raises where a model is not whole."""
    content = path.read_bytes()
    if path.suffix == ".html":
        return re.sub(rb"Made [^.<]*|lpjt adapt [^\n<]*|took [0-9.]+ seconds", b"", content)
    if path.suffix == ".lpjt":
        from lpjt import load

        load(path)  # compares all checksums
        with zipfile.ZipFile(path) as archive:
            return b"".join(archive.read(name) for name in sorted(archive.namelist()) if name.endswith(".npy"))
    return content


def stored_rows(folder: Path) -> dict[str, Mapping[str, Any]]:
    """Stored rows by key; raises where one is not whole."""
    from lpjt.study.store import Store

    return {row["key"]: row for row in Store(folder).rows()}


def _write(path: Path, *, seed: int, label: bool = False, ids: bool = False, classes: str = "abc") -> None:
    rng, n = np.random.default_rng(seed), 60
    y = np.arange(n) % 3
    X = 4 * np.eye(3, 5)[y] + rng.normal(size=(n, 5)) + 0.3 * seed
    columns = {"id": [f"row{i}" for i in range(n)]} if ids else {}
    columns |= {f"f{j}": [f"{value:.4f}" for value in X[:, j]] for j in range(5)}
    columns |= {"label": [classes[code] for code in y]} if label else {}
    lines = [",".join(columns), *map(",".join, zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")


def _save_model(folder: Path) -> None:
    from lpjt import LPJT
    from lpjt.files import read_domain

    source, target = read_domain(folder / "source.csv"), read_domain(folder / "target.csv", role="target")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LPJT(candidates=None, random_state=0).fit(source.X, source.y, target.X)
    model.save(folder / "model.lpjt")
