"""Values as a tree of JSON, with arrays beside it, and back. Only what is listed here can be in a file.

A value is null, true, false, a whole number, a finite number, a text, a list, or an object with one key that says what
it is: ``{"tuple": [...]}``, ``{"array": "a3"}``, ``{"object": ["lpjt.kernels.Kernel", {...}]}``, and so on.
"""

import datetime
import math
from collections import UserList
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from lpjt._matrices import check_structure
from lpjt.saving.allowed import class_of, name_of
from lpjt.saving.errors import ModelFileError
from lpjt.saving.states import restore, state_of

#: Kinds of numpy dtypes that a file may hold: all but objects and records.
KINDS = "biufcSUmM"

#: Sparse classes; each is written as data, indices and indptr.
_SPARSE = {cls.__name__: cls for cls in (sparse.csr_array, sparse.csc_array, sparse.csr_matrix, sparse.csc_matrix)}

#: Most keys of one set or dict that are not texts; no model of ours has more than it has domains or classes.
MAX_KEYS = 10_000

#: Deepest nesting of values; beyond it a value holds itself.
MAX_DEPTH = 60


class Encoder:
    """Encodes values, and gathers their arrays: `arrays` has each array once, by its name."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self._seen: dict[int, tuple[np.ndarray, str]] = {}  # keeps the arrays, so that their ids stay theirs
        self._path: list[str] = []

    @property
    def place(self) -> str:
        """Where in the model the value is that is encoded now, such as "kernel.function"."""
        return ".".join(self._path)

    def encode(self, value: Any, depth: int = 0) -> Any:
        """The tree of a value."""
        if depth > MAX_DEPTH:
            raise ModelFileError("The model holds values nested too deeply, or one that holds itself.")
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if type(value) is list:
            return [self.encode(part, depth + 1) for part in value]
        if type(value) in (tuple, set, frozenset):
            return {type(value).__name__: [self.encode(part, depth + 1) for part in value]}
        if type(value) is dict:
            return {"dict": [[self.encode(part, depth + 1) for part in pair] for pair in value.items()]}
        return self._encode_other(value, depth + 1)

    def _encode_other(self, value: Any, depth: int) -> Any:
        if isinstance(value, np.ndarray):
            return self._encode_array(value, depth)
        if isinstance(value, np.generic):
            return {"scalar": [_checked_dtype(value.dtype).str, value.tobytes().hex()]}
        if type(value).__name__ in _SPARSE and sparse.issparse(value):
            parts = [self.encode(part, depth) for part in (value.data, value.indices, value.indptr)]
            return {"sparse": [type(value).__name__, list(value.shape), *parts]}
        if isinstance(value, slice):
            return {"slice": [self.encode(part, depth) for part in (value.start, value.stop, value.step)]}
        if isinstance(value, np.dtype):
            return {"dtype": value.str if value.str == "|O" else _checked_dtype(value).str}
        if isinstance(value, type) and issubclass(value, np.generic):
            return {"type": _checked_dtype(np.dtype(value)).str}
        if type(value) in (datetime.datetime, datetime.date):
            return {type(value).__name__: value.isoformat()}
        if isinstance(value, np.random.RandomState):
            return {"random_state": self.encode(value.get_state(legacy=False), depth)}
        if isinstance(value, UserList) and type(value).__module__.startswith("sklearn."):
            return self.encode(value.data, depth)  # columns of a remainder in scikit-learn 1.6: a list that warns
        name = name_of(value if isinstance(value, type) else type(value))
        if isinstance(value, type):
            raise ModelFileError(f"The class {name} itself cannot be kept in a model file; give an object of it.")
        return {"object": [name, {key: self._encode_named(key, part, depth) for key, part in state_of(value).items()}]}

    def _encode_named(self, name: str, value: Any, depth: int) -> Any:
        self._path.append(name)  # left there by an error, for `place`
        tree = self.encode(value, depth)
        self._path.pop()
        return tree

    def _encode_array(self, value: np.ndarray, depth: int) -> Any:
        if type(value) is not np.ndarray and not isinstance(value, np.memmap):
            raise ModelFileError(f"An array of the class {type(value).__name__} cannot be kept in a model file.")
        if value.dtype == object:
            items = value.ravel().tolist()
            if items and all(type(item) is str and not item.endswith("\0") for item in items):
                return {"text": self._keep(value.astype(str))}
            return {"objects": [list(value.shape), [self.encode(item, depth) for item in items]]}
        return {"array": self._keep(value)}

    def _keep(self, value: np.ndarray) -> str:
        if id(value) not in self._seen:
            _checked_dtype(value.dtype)
            name = f"a{len(self.arrays)}"
            self._seen[id(value)] = value, name
            # The order of the axes in memory is kept: a product in another order may differ in the last bit.
            contiguous = value.flags.c_contiguous or value.flags.f_contiguous
            self.arrays[name] = value if contiguous else np.array(value, order="K")
        return self._seen[id(value)][1]


class Decoder:
    """Decodes trees; `take` returns the array of a name."""

    def __init__(self, take: Callable[[str], np.ndarray]) -> None:
        self._take = take
        self.classes: set[str] = set()  # names of the classes of objects that were decoded
        self._kinds: dict[str, Callable[[Any], Any]] = {
            "float": lambda text: {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[text],
            "tuple": lambda items: tuple(map(self.decode, items)),
            "set": lambda items: set(_hashed([self.decode(item) for item in items])),
            "frozenset": lambda items: frozenset(_hashed([self.decode(item) for item in items])),
            "dict": self._dict,
            "array": self._take,
            "text": lambda name: self._take(name).astype(object),
            "objects": self._objects,
            "scalar": lambda parts: np.frombuffer(bytes.fromhex(parts[1]), dtype=read_dtype(parts[0]), count=1)[0],
            "sparse": self._sparse,
            "slice": lambda parts: slice(*map(self.decode, parts)),
            "dtype": lambda text: np.dtype(object) if text == "|O" else read_dtype(text),
            "type": lambda text: read_dtype(text).type,
            "datetime": datetime.datetime.fromisoformat,
            "date": datetime.date.fromisoformat,
            "random_state": self._random_state,
            "object": self._object,
        }

    def decode(self, tree: Any) -> Any:
        """The value of a tree."""
        if isinstance(tree, list):
            return [self.decode(part) for part in tree]
        if not isinstance(tree, dict):
            return tree
        if len(tree) != 1 or next(iter(tree)) not in self._kinds:
            raise ModelFileError(f"The file has a value of an unknown kind: {', '.join(tree) or 'none'}.")
        ((kind, content),) = tree.items()
        return self._kinds[kind](content)

    def _object(self, parts: Any) -> Any:
        name, state = parts
        self.classes.add(name)
        return restore(class_of(name), {key: self.decode(value) for key, value in state.items()})

    def _objects(self, parts: Any) -> np.ndarray:
        shape, items = parts
        if math.prod(shape) != len(items):
            raise ModelFileError(f"The file has {len(items)} values for an array of shape {tuple(shape)}.")
        found = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):
            found[i] = self.decode(item)
        return found.reshape(shape)

    def _dict(self, pairs: Any) -> dict[Any, Any]:
        keys = _hashed([self.decode(key) for key, _ in pairs])
        return {key: self.decode(value) for key, (_, value) in zip(keys, pairs, strict=True)}

    def _sparse(self, parts: Any) -> Any:
        name, shape, *arrays = parts
        found = _SPARSE[name](tuple(map(self.decode, arrays)), shape=tuple(shape))
        check_structure(found, "A part")  # compiled code trusts the indices
        return found

    def _random_state(self, tree: Any) -> np.random.RandomState:
        state = self.decode(tree)
        if not isinstance(state, dict) or state.get("bit_generator") != "MT19937":
            raise ModelFileError("The file has a state of random numbers of an unknown kind.")
        found = np.random.RandomState(0)
        found.set_state(state)
        return found


def _hashed(keys: list[Any]) -> list[Any]:
    """Keys of a set or dict. Numbers can be chosen to have one hash, which makes a table of many take forever."""
    if sum(not isinstance(key, str) for key in keys) > MAX_KEYS:
        raise ModelFileError(f"The file has a set or dict of more than {MAX_KEYS:,} keys that are not texts.")
    return keys


def read_dtype(text: Any) -> np.dtype:
    """The dtype of a text, such as "<f8", of numbers, texts or times."""
    try:
        dtype = np.dtype(text if isinstance(text, str) and len(text) < 20 else "?")
    except TypeError as error:
        raise ModelFileError(f"The file has an array of the unknown type {text!r}.") from error
    if dtype.str != text:
        raise ModelFileError(f"The file has an array of the unknown type {text!r}.")
    return _checked_dtype(dtype)


def _checked_dtype(dtype: Any) -> Any:
    if dtype.kind not in KINDS or dtype.hasobject:
        raise ModelFileError(f"An array of the type {dtype} cannot be in a model file, only numbers, texts and times.")
    return dtype
