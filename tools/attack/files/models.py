"""Model files: damaged as any file, and forged, with every checksum made right after values or arrays were changed."""

import hashlib
import io
import json
import tempfile
import warnings
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lpjt
from attack.files.judge import PredictedError
from attack.files.mutate import mutate
from attack.files.seeds import Format, Rng
from lpjt.saving import save

_STRANGE: tuple[Any, ...] = (
    None, True, -1, 0, 2**31, 2**70, 1e308, "", "x" * 300, [], {}, {"tuple": []}, {"float": "nan"}, {"array": "a0"},
    {"array": "a1"}, {"text": "a0"}, {"objects": [[2], [1, 2]]}, {"dtype": "<f8"}, {"scalar": ["<i8", "ff" * 8]},
    {"sparse": ["csr_array", [3, 20], {"array": "a0"}, {"array": "a1"}, {"array": "a2"}]}, {"slice": [None, None, 0]},
    {"object": ["lpjt.kernels.Kernel", {}]}, {"object": ["sklearn.svm.NuSVC", {"nu": 2}]}, {"dict": [[1, 2], [1, 3]]},
)  # fmt: skip


def _rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    y = np.arange(36) % 3
    X = rng.normal(size=(36, 4)) + 3 * np.eye(3, 4)[y]
    return X, y, X[::-1] + 0.5


@cache
def _models() -> tuple[bytes, ...]:
    """Small models whose prediction is our own code, scikit-learn's compiled code, or both."""
    X, y, X_target = _rows()
    classifiers: list[Any] = ["propagation", "svm", KNeighborsClassifier(2, algorithm="kd_tree"), GaussianNB()]
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for classifier in classifiers:
            model = lpjt.LPJT(classifier=classifier, candidates=None, random_state=0, max_iter=2)
            found.append(_saved(model.fit(X, y, X_target)))
        model = make_pipeline(StandardScaler(), lpjt.LPJT(candidates=None, random_state=0, max_iter=2))
        found.append(_saved(model.fit(X, y, lpjt__X_target=X_target)))
    return tuple(found)


def _saved(model: Any) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.lpjt"
        save(model, path)
        return path.read_bytes()


def _forge(rng: Rng) -> bytes:
    """A model file with a value or an array exchanged, and the checksums of what it has now."""
    content = _models()[int(rng.integers(len(_models())))]
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    tree = json.loads(members["model.json"])
    for _ in range(int(rng.integers(1, 3))):
        (_change_value if rng.random() < 0.6 else _change_array)(tree, members, rng)
    for name, about in tree["arrays"].items():
        data = members[f"{name}.npy"]
        about |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    members["model.json"] = json.dumps(tree).encode()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
        archive.comment = hashlib.sha256(members["model.json"]).hexdigest().encode()
    return file.getvalue()


def _change_value(tree: Any, members: dict[str, bytes], rng: Rng) -> None:
    """Another value somewhere in the tree of the model, strange or from elsewhere in it."""
    places = list(_places(tree["model"]))
    holder, key = places[int(rng.integers(len(places)))]
    if rng.random() < 0.4:
        other, other_key = places[int(rng.integers(len(places)))]
        holder[key] = json.loads(json.dumps(other[other_key]))
    else:
        holder[key] = _STRANGE[int(rng.integers(len(_STRANGE)))]


def _places(value: Any) -> Any:
    pairs = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    )
    for key, part in pairs:
        yield value, key
        yield from _places(part)


def _change_array(tree: Any, members: dict[str, bytes], rng: Rng) -> None:
    """Another array under a name: of another size, of extreme values, or with damaged bytes."""
    names = list(tree["arrays"])
    name = names[int(rng.integers(len(names)))]
    draw = rng.random()
    try:
        array = np.load(io.BytesIO(members[f"{name}.npy"]))
    except (ValueError, OSError, MemoryError):  # damaged by the change before this one
        array, draw = np.empty(()), 1.0
    if draw < 0.4 and array.ndim:
        array = array[: int(rng.integers(len(array) + 1))] if rng.random() < 0.5 else np.concatenate([array, array])
    elif draw < 0.8 and array.size and array.dtype.kind in "iuf":
        array = array.copy()
        array.flat[int(rng.integers(array.size))] = int(rng.choice([-1, 0, 10**6, -(2**31), 2**31 - 1]))
    else:
        members[f"{name}.npy"] = mutate(members[f"{name}.npy"], rng)
        return
    file = io.BytesIO()
    np.save(file, array)
    members[f"{name}.npy"] = file.getvalue()
    tree["arrays"][name] |= {"shape": list(array.shape), "dtype": array.dtype.str}


def _load(path: Path) -> object:
    """The model, after it has predicted: whatever it is, that must not end the process."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        model = lpjt.load(path)
        try:
            model.predict(_rows()[2])
        except MemoryError as error:
            raise PredictedError("MemoryError") from error
        except Exception as error:
            raise PredictedError(type(error).__name__) from error
    return model


@cache
def _contents() -> frozenset[bytes]:
    return frozenset(_json(io.BytesIO(content)) for content in _models())


def _json(file: Any) -> bytes:
    with zipfile.ZipFile(file) as archive:
        return archive.read("model.json")


def _refuse_damage(path: Path) -> object:
    """The model of a damaged file, which must be one of those that were saved: checksums cover all that matters."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = lpjt.load(path)
    if _json(path) not in _contents():
        raise ValueError("a damaged model was read as another one")
    return model


def _seed(rng: Rng) -> bytes:
    return _models()[int(rng.integers(len(_models())))]


FORMATS = (
    Format("model", ".lpjt", _seed, _refuse_damage),
    Format("model, forged", ".lpjt", _seed, _load, (), _forge),
)
