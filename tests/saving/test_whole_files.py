"""The one place that writes results: whole files, kept modes, links that stay, devices that are not replaced."""

import errno
import os
import re
import resource
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from lpjt import _whole_files
from lpjt._whole_files import check_writable, replacing, write_whole

posix = pytest.mark.skipif(os.name != "posix", reason="modes, links and FIFOs are those of POSIX")
linux = pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="/proc/self/fd is Linux's")
root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a link away")


@pytest.fixture(params=["without a name", "with a name"], autouse=True)
def way(request, monkeypatch):
    """Both ways of writing: a file that has no name until it is complete, and, where there are none, a hidden one."""
    if request.param == "with a name":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    return request.param


def write_and(path, do, *, overwrite=False):
    """Write, and do something before the end of the block."""
    with replacing(path, overwrite=overwrite) as file:
        file.write(b"ours")
        do()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_when_it_is_complete(tmp_path, way):
    path = tmp_path / "out.csv"
    with replacing(path) as file:
        file.write(b"half")
        file.flush()
        assert not path.exists()
        hidden = names(tmp_path)
        assert len(hidden) == (way == "with a name")
        file.write(b" and half")
    assert path.read_bytes() == b"half and half"
    assert names(tmp_path) == ["out.csv"]


def test_hidden_names_cannot_be_guessed(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    seen = set()
    for _ in range(5):
        with replacing(tmp_path / "out.csv", overwrite=True):
            seen |= {name for name in names(tmp_path) if name.endswith(".part")}
    assert len(seen) == 5
    assert not any(str(os.getpid()) in name for name in seen)


@pytest.mark.parametrize("error", [KeyError("lost"), KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left")])
def test_an_error_leaves_what_was_there(tmp_path, error):
    path = tmp_path / "out.csv"
    path.write_text("old")

    def fail():
        raise error

    with pytest.raises((type(error), OSError)):
        write_and(path, fail, overwrite=True)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["out.csv"]


def test_an_existing_file_is_kept(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")
    with pytest.raises(FileExistsError, match=r"out.csv exists and was kept. .*overwrite=True \(or --force\)"):
        write_whole(path, "new")
    assert path.read_text() == "old"


def test_a_file_that_came_meanwhile_is_kept(tmp_path):
    path = tmp_path / "out.csv"
    with pytest.raises(FileExistsError, match="exists and was kept"):
        write_and(path, lambda: path.write_text("theirs"))
    assert path.read_text() == "theirs"
    assert names(tmp_path) == ["out.csv"]


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
def test_the_mode_is_kept(tmp_path, mode):
    path = tmp_path / "out.csv"
    path.write_text("old")
    path.chmod(mode)
    write_whole(path, "new", overwrite=True)
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", mode)


@posix
def test_a_private_file_is_private_from_the_first_byte(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")
    path.chmod(0o600)
    with replacing(path, overwrite=True) as file:
        assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == 0o600


@posix
def test_a_new_file_has_the_usual_mode(tmp_path):
    write_whole(tmp_path / "out.csv", "new")
    (tmp_path / "usual").touch()
    assert (tmp_path / "out.csv").stat().st_mode == (tmp_path / "usual").stat().st_mode


@posix
@root
def test_the_owner_is_kept(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")
    os.chown(path, 12345, 12346)
    write_whole(path, "new", overwrite=True)
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 12346)


@posix
@pytest.mark.parametrize("there", [True, False], ids=["to a file", "to nothing"])
def test_a_link_is_followed_and_stays(tmp_path, there):
    target, link = tmp_path / "elsewhere" / "data.csv", tmp_path / "out.csv"
    target.parent.mkdir()
    link.symlink_to(target)
    if there:
        target.write_text("old")
        with pytest.raises(FileExistsError, match="exists and was kept"):
            write_whole(link, "new")
    write_whole(link, "new", overwrite=there)
    assert link.is_symlink()
    assert target.read_text() == "new"


@posix
@root
def test_a_link_that_another_user_planted_is_refused(tmp_path):
    (tmp_path / "secret").write_text("old")
    link = tmp_path / "out.csv"
    link.symlink_to(tmp_path / "secret")
    os.chown(link, 12345, 12345, follow_symlinks=False)
    with pytest.raises(PermissionError, match=r"a link of another user. Choose another name"):
        write_whole(link, "new", overwrite=True)
    assert (tmp_path / "secret").read_text() == "old"


@posix
def test_a_fifo_is_written_to(tmp_path):
    fifo, read = tmp_path / "out.csv", []
    os.mkfifo(fifo)
    reader = threading.Thread(target=lambda: read.append(fifo.read_bytes()))
    reader.start()
    write_whole(fifo, "new")  # nothing is overwritten, so nothing has to be allowed
    reader.join(10)
    assert read == [b"new"]
    assert stat.S_ISFIFO(fifo.stat().st_mode)


@posix
def test_devices_are_written_to():
    write_whole("/dev/null", "new")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


WRITE_TO_STDOUT = "print('first'); from lpjt._whole_files import write_whole; write_whole('/dev/stdout', 'second\\n')"


@linux
@pytest.mark.parametrize("place", ["file", "pipe"])
def test_standard_output_is_written_to_where_it_is_a_file_too(tmp_path, place):
    out = (tmp_path / "out.txt").open("w+") if place == "file" else subprocess.PIPE
    child = subprocess.run([sys.executable, "-c", WRITE_TO_STDOUT], stdout=out, text=True, check=True)
    said = (tmp_path / "out.txt").read_text() if place == "file" else child.stdout
    assert said == "first\nsecond\n"


@posix
def test_archives_go_to_a_fifo_too(tmp_path):
    fifo, read = tmp_path / "rows.npz", []
    os.mkfifo(fifo)
    reader = threading.Thread(target=lambda: read.append(fifo.read_bytes()))
    reader.start()
    with replacing(fifo) as file:
        np.savez(file, a=np.arange(3))
    reader.join(10)
    assert read[0][:2] == b"PK"


@posix
def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(IsADirectoryError, match=r"this is a directory. Name a file in it"):
        check_writable(tmp_path, overwrite=True)
    with pytest.raises(FileNotFoundError, match=r"does not exist. Create it first"):
        check_writable(tmp_path / "no" / "out.csv", overwrite=True)
    import socket

    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        with pytest.raises(FileExistsError, match="not a file"):
            check_writable(tmp_path / "socket", overwrite=True)


def test_names_of_250_characters(tmp_path):
    path = tmp_path / ("n" * 246 + ".csv")
    write_whole(path, "old")
    write_whole(path, "new", overwrite=True)
    assert path.read_text() == "new"


@posix
def test_a_full_disk_is_told_with_the_name_and_the_remedy(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, before[1]))
    try:
        with pytest.raises(OSError, match=r"out.csv could not be written: .*too large. What was there is unchanged. M"):
            write_whole(path, b"x" * 100_000, overwrite=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["out.csv"]


KILLED = """
import os, signal, sys
from lpjt._whole_files import replacing
with replacing(sys.argv[1], overwrite=True) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@linux
def test_a_kill_leaves_nothing_behind(tmp_path, way):
    if way == "with a name":
        pytest.skip("a file with a name stays, and hinders nobody")
    path = tmp_path / "out.csv"
    path.write_text("old")
    child = subprocess.run([sys.executable, "-c", KILLED, str(path)])
    assert child.returncode == -9
    assert path.read_text() == "old"
    assert names(tmp_path) == ["out.csv"]


def test_a_file_system_without_links(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    monkeypatch.setattr(_whole_files.os, "link", refuse)
    write_whole(tmp_path / "out.csv", "new")
    assert (tmp_path / "out.csv").read_text() == "new"
    other = tmp_path / "other.csv"
    with pytest.raises(FileExistsError, match="exists and was kept"):
        write_and(other, lambda: other.write_text("theirs"))
    assert other.read_text() == "theirs"


#: Other ways to write, and the modules that have a reason to: rows with locks of their own, downloads that are resumed,
#: and a switch of the kernel.
OTHER_WAYS = re.compile(
    r"\.write_text\(|\.write_bytes\(|os\.replace\(|\.rename\(|open\([^)]*[\"'][wax]b?[\"']|NamedTemp"
)
WITH_A_REASON = {"_whole_files.py", "study/store.py", "datasets/download.py", "study/meter.py", "saving/archive.py"}
WITH_A_REASON |= {"isolated/parts.py"}  # in a private directory that is removed


def test_nothing_else_writes_files():
    package = Path(_whole_files.__file__).parent
    code = {path.relative_to(package).as_posix(): path.read_text(encoding="utf-8") for path in package.rglob("*.py")}
    others = {name for name, text in code.items() if any(_writes(line) for line in text.splitlines())}
    assert others <= WITH_A_REASON, f"{sorted(others - WITH_A_REASON)} should write by lpjt._whole_files"


def _writes(line):
    return OTHER_WAYS.search(line) and not line.lstrip().startswith((">>>", "...", "#"))
