"""The fit on a cluster of two worker processes: the same labels, whatever happens to a worker; nothing is left over."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("distributed")

import dask
import dask.array as da
import psutil
from distributed import Client, LocalCluster

from lazy import agreement, lazy, overlapping, sine
from problems import one_setting

pytestmark = pytest.mark.slow

EXAMPLE = Path(__file__).parents[2] / "examples" / "dask_cluster.py"


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with (
        dask.config.set(temporary_directory=str(tmp_path_factory.mktemp("scratch"))),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def problem():
    return overlapping(1000, 900)


@pytest.fixture(scope="module")
def undisturbed(client, problem):
    """A fit on the cluster; its labels and weights are gathered, for workers come and go."""
    model = fit(problem)
    model.kept = model.transduction_.compute(), model.weights_source_.compute()
    return model


def fit(problem, **parameters):
    X, y, X_target, _ = problem
    rows, target = lazy(X, 500), lazy(X_target, 450)
    return one_setting(n_components=6, landmark_ratio=0.5, sample_size=600, random_state=0, **parameters).fit(
        rows, y, target
    )


def test_two_workers_agree_with_memory(undisturbed, problem):
    X, y, X_target, _ = problem
    in_memory = one_setting(n_components=6, landmark_ratio=0.5, sample_size=600, random_state=0).fit(X, y, X_target)
    assert sine(in_memory, undisturbed) < 1e-6
    assert agreement(in_memory, undisturbed) >= 0.999
    assert isinstance(undisturbed.transduction_, da.Array)
    np.testing.assert_array_equal(undisturbed.predict(lazy(X_target, 500)), undisturbed.predict(X_target))


def test_a_pickle_of_what_a_cluster_holds_is_refused_until_it_is_computed(undisturbed):
    with pytest.raises(TypeError, match=r"model\.\w+ = model\.\w+\.compute\(\)"):
        pickle.dumps(undisturbed)


@pytest.mark.parametrize("when", ["after an iteration", "while fitting"])
def test_a_killed_worker_changes_nothing(client, undisturbed, problem, when):
    victims = sorted(client.run(os.getpid).values())  # worker processes of this test's own cluster
    assert len(victims) == 2
    killed = []

    def kill(record=None):
        if not killed:
            killed.append(victims[0])
            os.kill(victims[0], signal.SIGKILL)

    timer = threading.Timer(0.5, kill)
    began = time.monotonic()
    if when == "after an iteration":
        model = fit(problem, callback=kill)
    else:
        timer.start()
        model = fit(problem)
        timer.join()
    labels, weights = model.transduction_.compute(), model.weights_source_.compute()
    assert time.monotonic() - began < 60
    assert killed
    np.testing.assert_array_equal(labels, undisturbed.kept[0])
    np.testing.assert_array_equal(weights, undisturbed.kept[1])
    client.wait_for_workers(2, timeout=30)


def test_a_cluster_without_workers_is_refused_at_once(problem):
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=None) as cluster,
        Client(cluster),
        pytest.raises(RuntimeError, match=r"has no workers.*wait_for_workers"),
    ):
        fit(problem)


def example(tmp_path):
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    return subprocess.Popen(
        [sys.executable, "-u", str(EXAMPLE)],
        env=environment,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_the_example_runs_and_leaves_nothing(tmp_path):
    output = example(tmp_path).communicate(timeout=100)[0]
    assert "Equal to the labels of the fit in memory: 100.0 %." in output
    assert not list(tmp_path.iterdir())


def test_an_interrupt_leaves_no_worker_and_no_file(tmp_path):
    child = example(tmp_path)
    assert child.stdout is not None
    for line in child.stdout:
        if "iteration 1" in line:
            break
    workers = psutil.Process(child.pid).children(recursive=True)
    assert len(workers) >= 2
    os.killpg(child.pid, signal.SIGINT)  # what a terminal does for Ctrl-C
    output = child.communicate(timeout=60)[0]
    assert child.returncode != 0
    assert "KeyboardInterrupt" in output
    _, alive = psutil.wait_procs(workers, timeout=20)
    assert not [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]
    assert not list(tmp_path.iterdir())
