"""What a child hands back: arrays as npy files, and one JSON file that says what they are. Nothing is pickled."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

MANIFEST = "manifest.json"


class RefusedError(ValueError):
    """A file is not read; the message, without the name of the file, says why and what to do."""


class UnreadableError(Exception):
    """What a parser said about a file that it could not read."""


class SparseParts(NamedTuple):
    """A sparse matrix as it is in a file; nobody has checked yet that its parts fit together."""

    format: str  # of scipy: "csr", "csc", "bsr", "coo" or "dia"
    shape: tuple[int, ...]
    arrays: dict[str, np.ndarray]  # data, indices, ... by the names of scipy's attributes


class Other(NamedTuple):
    """A value that is neither numbers nor texts, and is not handed back."""

    what: str  # such as "pickled"
    shape: tuple[int, ...] = ()


Value = np.ndarray | SparseParts | Other


class Answer(NamedTuple):
    """Content of a file."""

    values: dict[str, Value]
    about: dict[str, Any]  # plain values: names of sheets, cells of a workbook


def write_answer(folder: Path, answer: Answer) -> None:
    """Write the arrays and then the manifest, which is complete or missing."""
    names = (f"{number}.npy" for number in range(10**9))

    def keep(array: np.ndarray) -> str:
        name = next(names)
        np.save(folder / name, array, allow_pickle=False)
        return name

    values: dict[str, Any] = {}
    for key, value in answer.values.items():
        if isinstance(value, SparseParts):
            arrays = {name: keep(part) for name, part in value.arrays.items()}
            values[key] = {"sparse": value.format, "shape": value.shape, "arrays": arrays}
        elif isinstance(value, Other):
            values[key] = {"other": value.what, "shape": value.shape}
        else:
            values[key] = {"array": keep(value)}
    write_manifest(folder, {"status": "read", "values": values, "about": answer.about})


def write_manifest(folder: Path, content: Mapping[str, Any]) -> None:
    """Write what became of the reading."""
    partial = folder / f"{MANIFEST}.part"
    partial.write_text(json.dumps(content), encoding="ascii")
    partial.rename(folder / MANIFEST)


def read_answer(folder: Path, content: Mapping[str, Any]) -> Answer:
    """The arrays that a manifest names, read into memory."""

    def take(name: str) -> np.ndarray:
        array: np.ndarray = np.load(folder / Path(name).name, allow_pickle=False)
        return array

    values: dict[str, Value] = {}
    for key, value in content["values"].items():
        if "sparse" in value:
            arrays = {name: take(part) for name, part in value["arrays"].items()}
            values[key] = SparseParts(value["sparse"], tuple(value["shape"]), arrays)
        elif "other" in value:
            values[key] = Other(value["other"], tuple(value["shape"]))
        else:
            values[key] = take(value["array"])
    return Answer(values, content["about"])
