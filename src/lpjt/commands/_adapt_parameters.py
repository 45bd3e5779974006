"""``--set name=value``: every parameter of `LPJT` from the command line."""

import ast
import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from lpjt.classifiers import make_classifier
from lpjt.estimator import LPJT
from lpjt.kernels import make_kernel

_WORDS = {"true": True, "false": False, "none": None}
_NOT_HERE = {"callback"}  # a function


def read_settings(pairs: Iterable[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Values by name from texts such as "max_iter=5"; numbers, true, false, none, lists and dicts are read as such.

    Parameters
    ----------
    pairs : iterable of str
    given : mapping
        Parameters that have been set by an option of their own.
    """
    known = [name for name in LPJT().get_params(deep=False) if name not in _NOT_HERE]
    settings: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = (part.strip() for part in pair.partition("="))
        if not equals or not name:
            raise ValueError(f"--set {pair!r} is not of the form name=value, e.g. --set max_iter=5.")
        if name.split("__")[0] not in known:
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
            hint = f"nearest: {', '.join(near)}" if near else f"known: {', '.join(known)}"
            raise ValueError(f"--set {pair!r}: LPJT has no parameter {name!r} that can be given here ({hint}).")
        if name in given or name in settings:
            raise ValueError(f"--set {pair!r}: {name} is given twice. Give it once.")
        settings[name] = read_value(text)
    return settings


def read_value(text: str) -> Any:
    """A text as the value that it looks like: a number, true, false, none, a list or a dict; otherwise itself."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def make_model(parameters: Mapping[str, Any]) -> LPJT:
    """An `LPJT` with these parameters, also those of its classifier and kernel (classifier__n_neighbors)."""
    nested = {name: value for name, value in parameters.items() if "__" in name}
    model = LPJT(**{name: value for name, value in parameters.items() if name not in nested})
    owners = {name.split("__")[0] for name in nested}
    if "classifier" in owners:
        model.set_params(classifier=make_classifier(model.classifier))
    if "kernel" in owners:
        if model.kernel == "auto":
            raise ValueError("--set kernel__...: the kernel is chosen by the fit. Name it too, e.g. --kernel rbf.")
        model.set_params(kernel=make_kernel(model.kernel))
    return model.set_params(**nested)
