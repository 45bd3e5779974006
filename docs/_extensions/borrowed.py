"""Which methods of the classes in the reference come from scikit-learn: their pages leave them out."""

import re
from importlib import import_module
from pathlib import Path

INDEX = Path(__file__).parents[1] / "api" / "index.rst"


def listed_names():
    """Full names of all that the reference lists, such as "lpjt.baselines.JDA"."""
    tables = re.findall(r":nosignatures:\n\n((?:   .+\n)+)", INDEX.read_text("utf-8"))
    return [f"lpjt.{name}" for table in tables for name in table.split()]


def find(name):
    """The object of a full name."""
    module, _, last = name.rpartition(".")
    return getattr(import_module(module), last)


def borrowed_methods():
    """Full names of methods that the classes inherit, unchanged, from scikit-learn or from Python."""
    classes = {name: found for name in listed_names() if isinstance(found := find(name), type)}
    return [
        f"{name}.{method}"
        for name, found in classes.items()
        for method in dir(found)
        if not str(getattr(getattr(found, method), "__module__", None)).startswith("lpjt")
    ]
