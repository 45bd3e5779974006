"""Files from strangers: damaged files of every format that is read, model files included, bombs, links and devices.

Every case writes one file, made from its number, and reads it as a user would, by `read_domain`, `read_known_labels`,
the loaders of data sets or `lpjt.load`. It is fine if valid arrays come back, refused if an error of ours names the
file and the remedy; a crash, a hang, an error of somebody else, a changed input or a file left behind is a failure.

Formats that lpjt reads in a child process are read in one here too, by the same function under the same kind of limits
(smaller: `MEMORY_GIB`, `SECONDS`). To be quick it is a fork of the worker, and a new interpreter, as in use, in every
`FRESH_EVERY`-th case.
"""

import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import numpy as np

from attack.files import models, odd, seeds
from attack.files.forked import run_forked
from attack.files.judge import judge
from attack.files.mutate import mutate
from attack.part import Outcome, Part
from lpjt.isolated import process

#: Limits of a child here; those in use are wider.
MEMORY_GIB, SECONDS = 0.25, 20

#: Address space of the worker itself beyond what it has after its imports, in bytes.
_WORKER_MEMORY = 4 * 2**30

#: One case in so many is read as in use, by a new interpreter; a prime, so that every format has its turn.
FRESH_EVERY = 503

#: One case in so many is a bomb, a link, or something that is no ordinary file; a prime too.
_ODD_EVERY = 53

_FRESH = process.run_child

#: Where cases are written: in memory if the system offers it. Making and removing the directories of a case takes a
#: third of its time on a disk.
_MEMORY = Path("/dev/shm")
_PLACE = str(_MEMORY) if os.access(_MEMORY, os.W_OK | os.X_OK) else tempfile.gettempdir()


def run(number: int) -> Outcome:
    """One case."""
    _prepare()
    rng = np.random.default_rng([14, number])
    process.run_child = _FRESH if number % FRESH_EVERY == 0 else run_forked
    with tempfile.TemporaryDirectory(prefix="attack-", dir=_PLACE) as folder:
        place = Path(folder) / "case"
        place.mkdir()
        tempfile.tempdir = str(Path(folder) / "tmp")
        Path(tempfile.tempdir).mkdir()
        try:
            with _one_moment():
                if number % _ODD_EVERY == 1:
                    group, read, path = odd.make(number // _ODD_EVERY, place, rng)
                else:
                    group, read, path = _mutated(number, place, rng)
            return judge(group, read, path, Path(tempfile.tempdir))
        finally:
            tempfile.tempdir = None
            process.run_child = _FRESH


def _mutated(number: int, place: Path, rng: np.random.Generator) -> tuple[str, Callable[[Path], object], Path]:
    """A damaged file of the format whose turn it is."""
    makers = [*seeds.FORMATS, *models.FORMATS]
    form = makers[number % len(makers)]
    path = place / f"case{form.suffix}"
    path.write_bytes(form.damage(rng) if form.damage is not None else mutate(form.seed(rng), rng, form.layers))
    return form.group, form.read, path


@contextmanager
def _one_moment() -> Iterator[None]:
    """Stop the clock while a file is made: MATLAB, gzip and zip files hold the time, and a case must be repeatable."""
    now = time.gmtime(1.7e9)
    with (
        mock.patch("time.time", return_value=1.7e9),
        mock.patch("time.localtime", return_value=now),
        mock.patch("time.asctime", return_value=time.asctime(now)),
    ):
        yield


def _prepare() -> None:
    """Limits of this process and of its children, once."""
    os.environ["LPJT_READ_MEMORY"], os.environ["LPJT_READ_SECONDS"] = str(MEMORY_GIB), str(SECONDS)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if soft == resource.RLIM_INFINITY:
        in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (in_use + _WORKER_MEMORY, hard))


PART = Part("files", "Files", cases=100_000, slice=200, run=run, seconds=300.0, cases_per_process=5_000)
