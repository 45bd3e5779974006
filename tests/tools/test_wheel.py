"""The wheel has the same bytes whoever builds it, and a change of the sources changes it."""

import shutil
import subprocess
import sys

import pytest

import wheel

pytestmark = pytest.mark.slow


def can_build():
    """Whether pip finds what it builds with: a registry, or what is installed."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "hatchling>=1.24", "-d"]
    return lambda folder: subprocess.run([*command, str(folder)], capture_output=True, check=False).returncode == 0


@pytest.fixture
def builds(tmp_path):
    if not can_build()(tmp_path / "backend"):
        pytest.skip("pip cannot reach a registry for the build backend")


def test_two_builds_have_the_same_bytes(builds, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")  # what the caller has set does not count
    assert wheel.main(["--check", "--out", str(tmp_path / "dist")]) == 0
    said = capsys.readouterr().out
    assert ", twice" in said
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    built = next((tmp_path / "dist").glob("lpjt-*.whl"))
    assert wheel.checksum(wheel.build(tmp_path / "again")) == wheel.checksum(built)
    assert wheel.checksum(built) in said


def test_other_sources_make_another_wheel(builds, tmp_path):
    first = wheel.build(tmp_path / "first")
    root = tmp_path / "changed"
    root.mkdir()
    for name in wheel.SOURCES:
        source = wheel.ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, root / name)
    with (root / "src" / "lpjt" / "demo.py").open("a") as file:
        file.write("# one more line\n")
    assert wheel.checksum(wheel.build(tmp_path / "second", root=root)) != wheel.checksum(first)
