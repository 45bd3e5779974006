"""Labels for a domain that has none, from one that has: Locality Preserving Joint Transfer."""

from __future__ import annotations

# Nothing is imported before the command line can answer Ctrl-C; checkers of types know this name, too.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from lpjt._warnings import TransferWarning
    from lpjt.classifiers import NuSVM, Propagation
    from lpjt.conformance import check_da_estimator
    from lpjt.estimator import LPJT
    from lpjt.kernels import Kernel
    from lpjt.onnx import to_onnx
    from lpjt.saving import ModelFileError, load
    from lpjt.search import LPJTSearch
    from lpjt.tables import TableAdapter

    __version__: str

__all__ = [
    "LPJT",
    "Kernel",
    "LPJTSearch",
    "ModelFileError",
    "NuSVM",
    "Propagation",
    "TableAdapter",
    "TransferWarning",
    "__version__",
    "check_da_estimator",
    "load",
    "to_onnx",
]

#: Public names and the modules that define them, imported with the first use: `lpjt --help` waits for neither numpy
#: nor scikit-learn.
_HOMES = {
    "LPJT": "lpjt.estimator",
    "Kernel": "lpjt.kernels",
    "LPJTSearch": "lpjt.search",
    "ModelFileError": "lpjt.saving",
    "NuSVM": "lpjt.classifiers",
    "Propagation": "lpjt.classifiers",
    "TableAdapter": "lpjt.tables",
    "TransferWarning": "lpjt._warnings",
    "check_da_estimator": "lpjt.conformance",
    "load": "lpjt.saving",
    "to_onnx": "lpjt.onnx",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "__version__":
        from importlib.metadata import version

        value: Any = version("lpjt")  # pyproject.toml has it
    elif name == "plot":
        value = import_module("lpjt.plot")
    elif name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module 'lpjt' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
