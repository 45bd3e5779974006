"""What all tests need: interrupts, one thread per worker, and real data only where a test is marked."""

import os
import signal
import threading

import pytest
from sklearn import config_context

from lpjt.isolated.process import IN_PROCESS


def pytest_configure(config):
    """Take interrupts as any program does: a shell that runs the tests in the background has them ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if getattr(config.option, "numprocesses", None):  # workers side by side, each with all cores, would be slower
        os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_runtest_setup(item):
    """Skip what needs real data where there is none."""
    if item.get_closest_marker("data") and not os.environ.get("LPJT_DATA"):
        pytest.skip("LPJT_DATA does not name a directory of real data")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Hide the real data from tests not marked `data`, so that the marker is on every test that reads them.

    Files are read in this process, by the same readers, but for tests marked `isolated`: an interpreter for every file
    takes half a second. scikit-learn's settings, and what Ctrl-C does, are those of before after every test.
    """
    handler = signal.getsignal(signal.SIGINT)
    hidden = None if item.get_closest_marker("data") else os.environ.pop("LPJT_DATA", None)
    in_process = os.environ.pop(IN_PROCESS, None)
    if not item.get_closest_marker("isolated"):
        os.environ[IN_PROCESS] = "1"
    try:
        with config_context():  # what a test sets ends with it; importing skada turns metadata routing on
            return (yield)
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, handler)  # the command line sets its own
        if hidden is not None:
            os.environ["LPJT_DATA"] = hidden
        os.environ.pop(IN_PROCESS, None)
        if in_process is not None:
            os.environ[IN_PROCESS] = in_process
