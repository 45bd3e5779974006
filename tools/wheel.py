"""`make wheel`: build the wheel from the files of the repository; `--check` builds it twice and compares the bytes.

Nothing that a caller has set enters it: the time of the files in the wheel is fixed, and so are their modes. The second
build is made in another folder, by another umask, time zone and time.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]

#: What a wheel is made of.
SOURCES = ("src", "pyproject.toml", "README.md", "LICENSE")

#: Time of every file in the wheel, the first that a zip can have: 1980-01-01. The caller's own setting does not count.
EPOCH = "315532800"


def build(folder: Path, *, umask: int = 0o022, zone: str = "UTC", root: Path = ROOT) -> Path:
    """Build the wheel of a copy of the sources in `folder`; returns its path."""
    copy = folder / "copy"
    copy.mkdir(parents=True)
    for name in SOURCES:
        if (root / name).is_dir():
            shutil.copytree(root / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.py[cod]"))
        else:
            shutil.copy(root / name, copy / name)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--no-deps", "--no-cache-dir"]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": EPOCH, "TZ": zone}
    answer = subprocess.run(
        [*command, "-w", str(folder / "out"), str(copy)], env=environment, umask=umask, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if answer.returncode:
        raise SystemExit(f"The wheel could not be built:\n{answer.stderr.strip()}")
    return next((folder / "out").glob("*.whl"))


def checksum(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, and compare if asked to; the exit code is 1 if the bytes differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="build twice, and compare the bytes")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where the wheel goes")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        wheel = build(Path(name) / "one")
        if given.check:
            again = build(Path(name) / "two, elsewhere", umask=0o077, zone="Asia/Tokyo")
            if checksum(wheel) != checksum(again):
                print(f"Two builds of {wheel.name} differ: {checksum(wheel)} and {checksum(again)}.")
                return 1
        given.out.mkdir(parents=True, exist_ok=True)
        shutil.copy(wheel, given.out / wheel.name)
        print(f"{given.out / wheel.name}: SHA-256 {checksum(wheel)}" + (", twice" if given.check else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
