"""Runs, problems and methods in small, for the tests of the runner; children import them, so they are no tests."""

import os
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import dataclass
from types import ModuleType

import numpy as np

from lpjt.study.runs.measure import Job, measure


def make_job(number=0, *, method="Nearest mean", protocol="label-free", grid=None, table="toys", **parameters):
    return Job(table, f"{number:02d} to 99", method, number, protocol, parameters, grid)


def make_row(job, accuracy=50.0, **values):
    """A whole row without a run."""
    scores = {"accuracy": accuracy, "balanced_accuracy": accuracy, "per_class_accuracy": "{}"}
    return job.row_without_result(status="ok", message="", seconds=0.01) | scores | {"checksum": "0"} | values


@dataclass(frozen=True)
class ToyProblem:
    """Two classes on a line, the target a little to the right; the rows at `given` are labelled."""

    seed: int
    given: tuple = ()
    checksum: str = "abc123"

    def __post_init__(self):
        rng = np.random.default_rng(self.seed)
        y = np.repeat([0, 1], 30)
        for name, shift in (("source", 0.0), ("target", 0.3)):
            object.__setattr__(self, f"X_{name}", rng.normal(2.0 * y + shift, 0.7)[:, None])
            object.__setattr__(self, f"y_{name}", y)

    @property
    def scored(self):
        mask = np.ones(60, dtype=bool)
        mask[list(self.given)] = False
        return mask

    @property
    def y_given(self):
        if not self.given:
            return None
        return np.where(self.scored, None, self.y_target)


class NearestMean:
    """Labels by the nearer class mean, moved by `offset`."""

    def __init__(self, offset=0.0):
        self.offset = offset

    def fit(self, X, y, X_target, y_target=None):
        self.seen = y_target
        means = np.array([X[y == label].mean() for label in (0, 1)])
        self.transduction_ = np.abs(X_target - self.offset - means).argmin(axis=1)
        self.n_iter_ = 3
        return self


class Talkative(NearestMean):
    def fit(self, X, y, X_target, y_target=None):
        for _ in range(3):
            warnings.warn("not\nconverged", UserWarning, stacklevel=2)
        return super().fit(X, y, X_target, y_target)


class Broken(NearestMean):
    def fit(self, X, y, X_target, y_target=None):
        if self.offset >= 0:
            raise ValueError(f"offset\n{self.offset} will not do")
        return super().fit(X, y, X_target, y_target)


class Constant(NearestMean):
    def fit(self, X, y, X_target, y_target=None):
        self.transduction_ = np.zeros(len(X_target), dtype=int)
        return self


class Short(NearestMean):
    def fit(self, X, y, X_target, y_target=None):
        self.transduction_ = np.zeros(3)
        return self


class Hungry(NearestMean):
    """Holds `offset` megabytes for a moment."""

    def fit(self, X, y, X_target, y_target=None):
        block = np.ones(int(self.offset) << 17)
        block[0] = 0
        del block
        self.offset = 0.0
        return super().fit(X, y, X_target, y_target)


METHODS = {
    "Nearest mean": NearestMean,
    "Talkative": Talkative,
    "Broken": Broken,
    "Constant": Constant,
    "Short": Short,
    "Hungry": Hungry,
}


def toy_modules():
    """Stand-ins for the modules that `measure` gets problems and methods from."""
    datasets, methods = ModuleType("lpjt.datasets"), ModuleType("lpjt.study.runs.methods")

    def load_problem(table, pair, seed=0):
        if table == "absent":
            raise FileNotFoundError("absent.mat is not here. Fetch it.")
        return ToyProblem(seed, given=tuple(range(0, 60, 6)) if table == "few" else ())

    def make_method(name, parameters, seed):
        return METHODS[name](**parameters)

    datasets.load_problem, methods.make_method = load_problem, make_method
    return {module.__name__: module for module in (datasets, methods)}


def measure_toy(job):
    """`measure` on the small problems, in a child."""
    sys.modules.update(toy_modules())
    return measure(job)


def behave(job):
    """Do what the parameters of the job say."""
    todo = job.parameters
    time.sleep(todo.get("sleep", 0))
    if "exit" in todo:
        os._exit(todo["exit"])
    if "signal" in todo:
        os.kill(os.getpid(), todo["signal"])
    if "raise" in todo:
        raise RuntimeError(todo["raise"])
    if "child" in todo:
        # Inherits no pipe, but does inherit the process group.
        process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        write_pid(todo["child"], process.pid)
        if todo.get("wait"):
            process.wait()
    if "pid" in todo:
        write_pid(todo["pid"], os.getpid())
        time.sleep(60)
    if todo.get("threads"):
        return make_row(job, message=str(see_threads()))
    if todo.get("surroundings"):
        return make_row(job, message=f"{os.environ.get('LPJT_TEST_WORD')} {os.getcwd()} {os.getpid()}")
    return make_row(job, accuracy=float(job.seed * 7 % 100))


def see_threads():
    import sklearn.cluster  # noqa: F401  (loads OpenMP)
    from threadpoolctl import threadpool_info

    pools = {pool["num_threads"] for pool in threadpool_info()}
    variables = {os.environ[name] for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    return sorted(pools), sorted(variables)


def write_pid(path, pid):
    with open(f"{path}.new", "w") as file:
        file.write(str(pid))
    os.replace(f"{path}.new", path)


def is_alive(pid):
    """Whether a process runs; one that ended and was not waited for yet does not."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def small_jobs(n=12, sleep=0.02):
    return [make_job(number, sleep=sleep) for number in range(n)]


def append_for_ever(path):
    """Append and merge until killed; row numbers only grow."""
    from lpjt.study.store import Store

    store = Store(path)
    first = len(store.rows())
    for number in range(first, first + 10**6):
        store.append(make_row(make_job(number)))
        if number % 3 == 0:
            store.compact()


def append_some(path, first, n):
    from lpjt.study.store import Store

    store = Store(path)
    for number in range(first, first + n):
        store.append(make_row(make_job(number)))
        if number % 4 == 0:
            store.compact()


def main(path, n_jobs, kind):
    """A program that runs jobs and says so; the tests kill it, or interrupt it."""
    from lpjt.study.runner import run_jobs
    from lpjt.study.store import Store

    def say(event):
        print(event.kind, event.job.seed, event.done, flush=True)

    if kind == "small":
        jobs = small_jobs()
    else:
        jobs = [make_job(number, pid=f"{path}-{number}.pid") for number in range(n_jobs)]
    try:
        run_jobs(jobs, Store(path), n_jobs=n_jobs, on_event=say, run=behave)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        sys.exit(130)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
