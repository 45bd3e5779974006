"""What became of the reading of one file."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from attack.part import Outcome
from lpjt.datasets.loading import LabelledRows
from lpjt.files import FileDomain, FileError
from lpjt.saving import ModelFileError

#: A refusal tells the reader to do one of these.
_REMEDY = re.compile(
    r"\b(allow|ask|change|check|choose|copy|correct|create|encode|fetch|fill|fit|get|give|install|keep|leave|make|name|"
    r"number|omit|read|remove|replace|save|say|set|split|transpose|upgrade|use|write)\b",
    re.IGNORECASE,
)


class PredictedError(Exception):
    """A model that was read raised an ordinary error in `predict`."""


def judge(group: str, read: Callable[[Path], object], path: Path, temporary: Path) -> Outcome:
    """The outcome of a reading."""
    before = path.read_bytes() if os.path.isfile(path) and path.stat().st_size < 2**22 else b""
    try:
        found = read(path)
    except (FileError, ModelFileError) as error:
        wrong = _wrong_words(str(error), path)
        outcome = Outcome("failed" if wrong else "refused", wrong or _label(str(error)), group)
    except PredictedError as error:
        outcome = Outcome("refused", f"predict: {error}", group)
    except Exception as error:
        return Outcome("failed", f"{type(error).__name__}: {' '.join(str(error).split())[:300]}", group)
    else:
        wrong = _wrong_arrays(found)
        outcome = Outcome("failed" if wrong else "fine", wrong, group)
    if left := [entry.name for entry in temporary.iterdir()]:
        return Outcome("failed", f"left behind: {left}", group)
    if before and path.read_bytes() != before:
        return Outcome("failed", "the input was changed", group)
    return outcome


def _label(message: str) -> str:
    """What ended a child, to count by; nothing of ordinary refusals."""
    words = {"it crashed the library": "crash", "takes more memory than": "memory", "takes longer than": "time"}
    return next((label for word, label in words.items() if word in message), "")


def _wrong_words(message: str, path: Path) -> str:
    """What a refusal lacks; nothing if it is one line that names the file and the remedy."""
    if not message.startswith(f"{path}: "):
        return f"does not begin with the file: {message[:300]!r}"
    rest = message[len(str(path)) :].replace(str(path), "")
    if "\n" in message or not _REMEDY.search(re.sub(r"\([^()]*\)", "", rest)):
        return f"no remedy, or several lines: {rest[:300]!r}"
    return ""


def _wrong_arrays(found: object) -> str:
    """What is wrong with the arrays that were read."""
    if isinstance(found, LabelledRows | FileDomain):
        X, y = found.X, found.y
        if not isinstance(found, LabelledRows) and found.is_table:
            return "" if len(X) and (y is None or len(y) == len(X)) else f"a table of {len(X)} rows"
        if y is not None and len(y) != X.shape[0]:
            return f"{len(y)} labels for {X.shape[0]} rows"
        if isinstance(found, FileDomain) and found.ids is not None and len(found.ids) != X.shape[0]:
            return f"{len(found.ids)} ids for {X.shape[0]} rows"
        return _wrong_matrix(X)
    return "" if found is not None else "nothing was read"


def _wrong_matrix(X: Any) -> str:
    if sparse.issparse(X):
        try:
            X.check_format(full_check=True)
        except ValueError as error:
            return f"an invalid sparse matrix: {error}"
        if (np.diff(X.indptr) < 0).any():
            return "an invalid sparse matrix: pointers that decrease"
        values, shape = X.data, X.shape
    else:
        values, shape = np.asarray(X), np.shape(X)
    if len(shape) != 2 or 0 in shape or values.dtype.kind not in "biuf":
        return f"a matrix of shape {shape} and type {values.dtype}"
    return "" if values.dtype.kind != "f" or np.isfinite(values).all() else "cells that are not finite"
