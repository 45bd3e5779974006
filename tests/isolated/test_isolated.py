"""A child process reads, under limits; whatever happens to it, the caller gets arrays or an error with a remedy."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lpjt.isolated import Answer, RefusedError, SparseParts, UnreadableError, limits_for, process, read_isolated
from lpjt.isolated.child import limit
from lpjt.isolated.limits import GIB

pytestmark = [
    pytest.mark.isolated,
    pytest.mark.skipif(sys.platform == "win32", reason="signals and limits of POSIX"),
]


@pytest.fixture
def npz(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.arange(6.0).reshape(2, 3), names=np.array(["a", "b"]))
    return tmp_path / "a.npz"


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """An own directory for temporary files, which must be empty in the end."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    yield tmp_path / "temporary"
    assert list((tmp_path / "temporary").iterdir()) == []


def in_the_child(monkeypatch, code):
    """Run this code in the child in place of its reader."""
    monkeypatch.setattr(
        process, "_BOOT", f"import json, os, sys\nrequest = json.loads(sys.stdin.buffer.read())\n{code}"
    )


def test_arrays_come_back_as_they_are(npz, temporary):
    answer = read_isolated(npz, "npz")
    assert isinstance(answer, Answer)
    assert_array_equal(answer.values["X"], np.arange(6.0).reshape(2, 3))
    assert answer.values["names"].tolist() == ["a", "b"]


def test_the_child_does_not_import_the_estimator(npz, monkeypatch):
    """What makes it start in a fraction of a second."""
    code = process._BOOT.partition("; ")[2]
    check = "; sys.exit(7 if 'sklearn' in sys.modules or 'pandas' in sys.modules or 'scipy' in sys.modules else 8)"
    in_the_child(monkeypatch, code.partition("; ")[2] + "; os.remove(request['folder'] + '/manifest.json')" + check)
    with pytest.raises(UnreadableError, match="code 8"):
        read_isolated(npz, "npz")


def test_a_crash_of_the_reader_is_an_error_of_this_file(npz, temporary, monkeypatch):
    in_the_child(monkeypatch, "os.kill(os.getpid(), 11)")
    with pytest.raises(RefusedError, match=r"crashed the library that reads it \(SIGSEGV\).*nothing else is affected"):
        read_isolated(npz, "npz")


def test_a_reader_that_never_ends_is_ended(npz, temporary, monkeypatch):
    in_the_child(monkeypatch, "import time; time.sleep(600)")
    monkeypatch.setenv("LPJT_READ_SECONDS", "1.5")
    begin = time.monotonic()
    with pytest.raises(RefusedError, match=r"takes longer than the 2 s .* allow more: LPJT_READ_SECONDS=<seconds>"):
        read_isolated(npz, "npz")
    assert time.monotonic() - begin < 60


def test_ctrl_c_ends_the_child(npz, temporary, monkeypatch):
    in_the_child(monkeypatch, f"open({str(npz.with_suffix('.pid'))!r}, 'w').write(str(os.getpid())); "
                 f"os.kill(os.getppid(), {signal.SIGINT.value}); import time; time.sleep(600)")  # fmt: skip
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # workers of pytest ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            read_isolated(npz, "npz")
    finally:
        signal.signal(signal.SIGINT, before)
    pid = int(npz.with_suffix(".pid").read_text())
    with pytest.raises(ChildProcessError):  # killed and waited for: another process may have its number already
        os.waitpid(pid, os.WNOHANG)


def test_a_child_that_says_nothing_is_told_with_its_last_line(npz, temporary, monkeypatch):
    in_the_child(monkeypatch, "sys.exit('no numpy here')")
    with pytest.raises(UnreadableError, match="code 1: no numpy here"):
        read_isolated(npz, "npz")


def test_without_a_child_the_error_says_how_to_read(npz, temporary, monkeypatch):
    monkeypatch.setattr(process.spawn, "get_executable", lambda: "/nonexistent/python")
    with pytest.raises(RefusedError, match="LPJT_READ_IN_PROCESS=1"):
        read_isolated(npz, "npz")
    monkeypatch.setenv("LPJT_READ_IN_PROCESS", "1")
    assert_array_equal(read_isolated(npz, "npz").values["X"], np.arange(6.0).reshape(2, 3))


def test_limits_follow_the_size_and_the_environment(monkeypatch):
    monkeypatch.setattr("lpjt.isolated.limits._physical_memory", lambda: 64 * GIB)
    assert limits_for(1000).memory == 2 * GIB
    assert limits_for(2**28).memory == 25 * GIB
    assert limits_for(2**35).memory == 64 * GIB  # no more than the machine has
    assert limits_for(10 * 2**20).seconds == 320
    monkeypatch.setenv("LPJT_READ_MEMORY", "0.5")
    monkeypatch.setenv("LPJT_READ_SECONDS", "7")
    assert (limits_for(2**40).memory, limits_for(2**40).seconds) == (GIB // 2, 7)
    for wrong in ("much", "-1", "0", "nan", "inf"):
        monkeypatch.setenv("LPJT_READ_MEMORY", wrong)
        with pytest.raises(RefusedError, match=f"LPJT_READ_MEMORY='{wrong}' in the environment is no positive number"):
            limits_for(1)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="address space is limited on Linux")
def test_memory_is_limited_in_the_child():
    code = (
        "import numpy as np; from lpjt.isolated.child import limit; limit(2**26, 100); np.ones(2**23); "
        "\ntry: np.ones(2**27)\nexcept MemoryError: print('limited')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ})
    assert done.stdout == "limited\n", done.stderr
    assert limit.__doc__


def test_no_room_in_the_temporary_directory(npz, temporary, monkeypatch):
    monkeypatch.setenv("LPJT_READ_IN_PROCESS", "1")

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(RefusedError, match=r"no room for its content in the temporary directory .* TMPDIR"):
        read_isolated(npz, "npz")


def test_the_current_directory_is_not_imported_from(npz, tmp_path, monkeypatch):
    (tmp_path / "numpy.py").write_text("raise SystemExit('taken over')")
    monkeypatch.chdir(tmp_path)
    assert "X" in read_isolated(npz, "npz").values


def test_nothing_of_a_file_is_unpickled(tmp_path, temporary):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "executed"),)

    np.savez(tmp_path / "a.npz", X=np.ones(2), evil=np.array([Trap()], dtype=object))
    answer = read_isolated(tmp_path / "a.npz", "npz")
    assert answer.values["evil"].what == "pickled"
    assert not (tmp_path / "executed").exists()


def test_sparse_parts_come_back_unchecked(tmp_path):
    """The caller checks them, because it is the caller who uses them."""
    parts = {"data": np.ones(3), "indices": np.array([10**6, 1, 2]), "indptr": np.array([0, 1, 2, 3])}
    np.savez(tmp_path / "a.npz", format=np.array(b"csr"), shape=np.array([3, 20]), **parts)
    found = read_isolated(tmp_path / "a.npz", "npz").values[""]
    assert isinstance(found, SparseParts)
    assert found.arrays["indices"][0] == 10**6


def test_paths_of_any_type_in_the_search_path_and_long_limits(npz, monkeypatch):
    monkeypatch.syspath_prepend("unused")
    monkeypatch.setattr(sys, "path", [Path("unused"), *sys.path])  # as notebooks do
    monkeypatch.setenv("LPJT_READ_SECONDS", "3000000")
    assert set(read_isolated(npz, "npz").values) == {"X", "names"}
