"""Whether the types of every public name are complete, as pyright sees them; `make lint` runs it.

Counts the public names of `MODULES` and the members of public classes, also those that they inherit from a class of
this package. scikit-learn declares no types, so pyright does not know the bases of estimators: this alone is no fault.
"""

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

PACKAGE = "lpjt"
MODULES = (
    "lpjt",
    "lpjt.baselines",
    "lpjt.classifiers",
    "lpjt.datasets",
    "lpjt.deep",
    "lpjt.kernels",
    "lpjt.onnx",
    "lpjt.plot",
    "lpjt.saving",
)

#: What pyright says of a class whose base it does not know.
OF_BASES = ("Type of metaclass unknown", "Type of base class")


def verify() -> list[dict[str, Any]]:
    """Every symbol of the package, with pyright's diagnostics."""
    command = [sys.executable, "-m", "pyright", "--verifytypes", PACKAGE, "--ignoreexternal", "--outputjson"]
    # pyright looks for packages in the environment of the first python of the path.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PATH": path}, check=False)
    try:
        symbols: list[dict[str, Any]] = json.loads(done.stdout)["typeCompleteness"]["symbols"]
    except (ValueError, KeyError):
        raise SystemExit(f"pyright could not verify {PACKAGE}:\n{done.stdout}{done.stderr}") from None
    return symbols


def public_names(modules: Iterable[str] = MODULES) -> set[str]:
    """Full names of what the modules export, where it is exported and where it is defined, and of its base classes."""
    names = set()
    for module in map(importlib.import_module, modules):
        public = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
        for name in public:
            names.add(f"{module.__name__}.{name}")
            thing = getattr(module, name)
            homes = thing.__mro__ if isinstance(thing, type) else [thing] if callable(thing) else []
            names |= {f"{home.__module__}.{home.__qualname__}" for home in homes if hasattr(home, "__qualname__")}
    return {name for name in names if name.startswith(f"{PACKAGE}.")}


def is_public(name: str, public: set[str]) -> bool:
    """Whether a symbol is one of the public names or a member of one."""
    return name in public or name.rpartition(".")[0] in public


def faults(symbol: Mapping[str, Any]) -> list[str]:
    """What the annotations of a symbol lack."""
    messages = [diagnostic["message"] for diagnostic in symbol["diagnostics"]]
    # "Partially unknown" without an "Unknown" is a type whose parts are all declared, except a base.
    found = [m for m in messages if not m.startswith(OF_BASES) and ("partially unknown" not in m or "Unknown" in m)]
    return found or (["its type is inferred, not declared"] if symbol["isTypeAmbiguous"] else [])


def main() -> None:
    """Print what is incomplete, and fail if anything is."""
    public = public_names()
    checked = [symbol for symbol in verify() if is_public(symbol["name"], public)]
    incomplete = {symbol["name"]: found for symbol in checked if (found := faults(symbol))}
    for name, found in sorted(incomplete.items()):
        print(f"{name}: {'; '.join(found)}")
    if not checked:
        raise SystemExit("pyright found no public name.")
    complete = len(checked) - len(incomplete)
    print(f"Types of public names: {complete} of {len(checked)} complete ({100 * complete / len(checked):.1f} %).")
    raise SystemExit(1 if incomplete else 0)


if __name__ == "__main__":
    main()
