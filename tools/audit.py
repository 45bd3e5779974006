"""`make audit`: known vulnerabilities of the packages that lpjt needs, by pip-audit, where its service answers.

pip-audit is installed in build/audit, once. If it cannot be, or if the service does not answer, that is said, and the
exit code is 0: nothing is known then. It is 1 if a vulnerability is known.
"""

import argparse
import json
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]

#: A service that is not there should not be waited for.
SECONDS = 300


def requirements() -> list[str]:
    """Requirements of the package and of its extras for users."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [one for name in ("cli", "report", "hdf5", "data") for one in project["optional-dependencies"][name]]
    return [*project["dependencies"], *extras]


def run(command: Sequence[str], *, seconds: float = SECONDS) -> subprocess.CompletedProcess[str]:
    """A command's answer; one that takes too long has the code -1."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, -1, "", f"no answer within {seconds:.0f} s")


def find_program(folder: Path) -> Path | None:
    """pip-audit in an environment of its own; None if it cannot be installed."""
    program = folder / "bin" / "pip-audit"
    if program.exists():
        return program
    made = run([sys.executable, "-m", "venv", str(folder)])
    if made.returncode == 0:
        run([str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "pip-audit"])
    return program if program.exists() else None


def read_answer(text: str) -> list[dict[str, Any]] | None:
    """What is known of each package; None if this is no answer of pip-audit."""
    try:
        packages: list[dict[str, Any]] = json.loads(text)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return None
    return packages


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask, and say what is known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "audit")
    given = parser.parse_args(arguments)
    program = find_program(given.folder)
    if program is None:
        print("pip-audit could not be installed, so nothing is known. Try again with a network.")
        return 0
    wanted = given.folder / "requirements.txt"
    wanted.write_text("\n".join(requirements()), encoding="utf-8")
    answer = run([str(program), "-r", str(wanted), "-f", "json", "--progress-spinner", "off"])
    found = read_answer(answer.stdout)
    if found is None:
        last = (answer.stderr.strip().splitlines() or ["it said nothing"])[-1]
        print(f"pip-audit has no answer, so nothing is known ({last[:200]}). Try again with a network.")
        return 0
    judged = [package for package in found if "vulns" in package]
    skipped = sorted(package["name"] for package in found if "vulns" not in package)
    if not judged:
        print(f"The service knows none of {len(skipped)} packages, so nothing is known. Try again with a network.")
        return 0
    known = [(package, finding["id"]) for package in judged for finding in package["vulns"]]
    for package, vulnerability in known:
        print(f"{package['name']} {package['version']}: {vulnerability}")
    rest = f"; not judged: {', '.join(skipped)}" if skipped else ""
    print(f"{len(known)} known vulnerabilities in {len(judged)} packages{rest}.")
    return int(bool(known))


if __name__ == "__main__":
    sys.exit(main())
