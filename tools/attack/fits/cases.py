"""One case from its number: two domains with one or two oddities, a setting, and new rows."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from attack.fits.containers import DTYPES, FRAMES, LAYOUTS, SPARSE, cast
from attack.fits.values import CHANGES, LABELS, Rows, draw_clear_rows, draw_rows, mark
from lpjt import LPJT, Kernel, LPJTSearch, NuSVM, Propagation, baselines

#: What a case is mainly about, and the row of the table it counts in.
GROUPS = ("values", "layouts", "sparse", "frames", "labels", "classes", "sizes")

#: Settings of `LPJT`; the first ones are drawn most.
SETTINGS: dict[str, Callable[[], Any]] = {
    "default": lambda: LPJT(),
    "one candidate": lambda: LPJT(candidates=None),
    "paper": lambda: LPJT.paper(),
    "authors": lambda: LPJT.authors(),
    **{f"scaling {s}": partial(LPJT, candidates=None, scaling=s) for s in ("standard", "unit", "none", "joint")},
    **{f"kernel {k}": partial(LPJT, candidates=None, kernel=k, scaling="none") for k in ("rbf", "poly", "chi2")},
    **{f"unit {k}": partial(LPJT, candidates=None, kernel=k) for k in ("cosine", "laplacian", "sigmoid")},
    "kernel rows": lambda: LPJT(kernel=Kernel("rbf", max_rows=4)),
    "svm": lambda: LPJT(classifier="svm"),
    "svm alone": lambda: LPJT(classifier=NuSVM(0.9), candidates=None, scaling="none"),
    "nn": lambda: LPJT(classifier="nn", candidates=None),
    "harmonic": lambda: LPJT(classifier="harmonic", candidates=None),
    "long rows": lambda: LPJT(classifier=Propagation(unit_length=False), candidates=None, scaling="none"),
    "landmarks": lambda: LPJT(landmark_ratio=0.5, candidates=None, graph_weights=1.0),
    "no safeguard": lambda: LPJT(candidates=None, safeguard=False, refine=False, coupling_weight=0.0),
    "pca-nn": lambda: LPJT(start="pca-nn", candidates=None, scaling="unit"),
    "free masses": lambda: LPJT(target_proportions="free"),
    "few coordinates": lambda: LPJT(n_coordinates=2, n_components=1),
    "sample": lambda: LPJT(sample_size=8, candidates=None),
    "large weights": lambda: LPJT(candidates=None, locality_weight=1e29, variance_weight=1e-29),
    "search": lambda: LPJTSearch(LPJT(candidates=None), {"scaling": ["unit", "none"], "n_neighbors": [1, 5]}),
}

#: Baselines, as they are by default.
BASELINES: dict[str, Callable[[], Any]] = {name: getattr(baselines, name) for name in baselines.__all__}

#: Other ways to hand rows over.
FORMS = ("plain", "plain", "plain", "weights", "stack", "sources", "alone")


@dataclass(slots=True)
class Case:
    """What is fitted, and what is asked of the fit."""

    group: str
    words: str  # what is odd, for the detail of a failure
    model: Any
    X: Any
    y: Any
    X_target: Any = None
    y_target: Any = None
    options: dict[str, Any] = field(default_factory=dict)
    new: Any = None  # rows of the target to predict, besides those of the fit
    truth: Any = None  # labels of the target rows, where they are beyond doubt
    plain: Any = None  # both domains in their usual size, where `truth` is given


def draw_case(number: int) -> Case:
    """The case of this number."""
    rng = np.random.default_rng([20_14, number])
    group = GROUPS[number % len(GROUPS)]
    name, make = _draw_setting(rng)
    if group == "sizes":
        return _sized(rng, name, make())
    rows = draw_rows(rng, many=group == "classes" and number % 350 == 5)
    words = [name]
    wrap = {"values": _odd_values, "layouts": _layout, "sparse": _sparse, "frames": _frame}.get(group)
    label = "integers" if group != "labels" else str(rng.choice(list(LABELS)))
    if group != "values" and rng.random() < 0.3:
        words.append(_odd_values(rng, rows))
    if wrap is not None:
        words.append(wrap(rng, rows))
    how = str(rng.choice(["none", "none", "none", "some", "few", "all"]))
    form = str(rng.choice(FORMS)) if name not in BASELINES else "plain"
    words += [label, f"y_target {how}", form]
    y_target = mark(rng, LABELS[label](rows.truth), rows.truth, how)
    case = Case(group, "; ".join(words), make(), rows.source, LABELS[label](rows.codes), rows.target, y_target)
    case.new = _new_rows(rng, rows)
    _put(rng, case, rows, form)
    if hasattr(case.model, "random_state"):
        case.model.set_params(random_state=0)
    return case


def _sized(rng: np.random.Generator, name: str, model: Any) -> Case:
    """Rows whose labels are beyond doubt, in sizes that are: the labels must not depend on the size."""
    rows = draw_clear_rows(rng)
    single = rng.random() < 0.5
    exponent = float(rng.uniform(-36, 36) if single else rng.uniform(-305, 305))
    source, target = (X * 10.0**exponent for X in (rows.source, rows.target))
    if single:
        source, target = source.astype(np.float32), target.astype(np.float32)
    if hasattr(model, "random_state"):
        model.set_params(random_state=0)
    few = np.where(np.arange(len(rows.truth)) % 4 == 0, rows.truth, -1)  # some methods need target labels
    words = f"{name}; times 1e{exponent:.1f}{' float32' if single else ''}"
    case = Case("sizes", words, model, source, rows.codes, target, few, new=target, truth=rows.truth)
    case.plain = rows.source, rows.target
    return case


def _draw_setting(rng: np.random.Generator) -> tuple[str, Callable[[], Any]]:
    if rng.random() < 0.15:
        name = str(rng.choice(list(BASELINES)))
        return name, BASELINES[name]
    places = np.arange(len(SETTINGS))
    shares = np.where(places < 4, 3.0, 1.0)
    name = list(SETTINGS)[int(rng.choice(places, p=shares / shares.sum()))]
    return name, SETTINGS[name]


def _odd_values(rng: np.random.Generator, rows: Rows) -> str:
    """Change both domains alike, or one of them, or each in its own way; in float32 or float64."""
    one, other = (str(rng.choice(list(CHANGES))) for _ in range(2))
    where = int(rng.integers(4))
    seed = int(rng.integers(2**31))
    with np.errstate(all="ignore"):
        if where != 1:
            rows.source = CHANGES[one](np.random.default_rng(seed), rows.source)
        if where != 2:
            rows.target = CHANGES[other if where == 3 else one](np.random.default_rng(seed), rows.target)
        single = rng.random() < 0.5
        if single:
            rows.source, rows.target = rows.source.astype(np.float32), rows.target.astype(np.float32)
    which = ("both", "target", "source", f"source, target {other}")[where]
    return f"{one} of {which}{' float32' if single else ''}"


def _layout(rng: np.random.Generator, rows: Rows) -> str:
    said = []
    for side in ("source", "target"):
        dtype, layout = (str(rng.choice(list(names))) for names in (DTYPES, LAYOUTS))
        if rng.random() < 0.7:
            dtype = str(rng.choice(DTYPES[:17]))
        X = cast(getattr(rows, side), dtype)
        setattr(rows, side, LAYOUTS[layout](rng, X))
        said.append(f"{side} {dtype} {layout}")
    return ", ".join(said)


def _sparse(rng: np.random.Generator, rows: Rows) -> str:
    said = []
    for side in ("source", "target"):
        kind = str(rng.choice(list(SPARSE)))
        if rng.random() < 0.4:
            kind = "csr"
        if np.any(getattr(rows, side)):
            setattr(rows, side, _broken(SPARSE[kind], getattr(rows, side)))
            said.append(f"{side} {kind}")
    return ", ".join(said)


def _broken(make: Callable[[Any], Any], X: Any) -> Any:
    try:
        return make(X)
    except (IndexError, ValueError):  # scipy itself refuses it, or there is no entry to break
        return X


def _frame(rng: np.random.Generator, rows: Rows) -> str:
    said = []
    for side in ("source", "target"):
        kind = str(rng.choice(list(FRAMES)))
        setattr(rows, side, FRAMES[kind](rng, getattr(rows, side)))
        said.append(f"{side} {kind}")
    return ", ".join(said)


def _new_rows(rng: np.random.Generator, rows: Rows) -> Any:
    """Rows of the target in another size or type, so far as the container has any."""
    if not isinstance(rows.target, np.ndarray) or rows.target.dtype.kind != "f":
        return rows.target
    with np.errstate(all="ignore"):
        changed = rows.target * rows.target.dtype.type(rng.choice([1, 1, 1, 1e3, 1e25, 1e-25, 1e200]))
    return np.where(np.isfinite(changed), changed, rows.target)


def _put(rng: np.random.Generator, case: Case, rows: Rows, form: str) -> None:
    """Hand the rows over in another form, where that can be done with them."""
    if form == "weights" and not isinstance(case.model, LPJTSearch):
        weights = rng.choice([0.0, 1.0, 1e-300, 1e300, 3.0], size=len(rows.codes), p=[0.1, 0.5, 0.02, 0.02, 0.36])
        case.options["sample_weight"] = weights
    elif form == "alone":
        case.X_target = case.y_target = case.new = None
    elif form == "sources":
        case.X, case.y = {"a": case.X, "b": case.X}, {"a": case.y, "b": case.y}
    elif form == "stack" and all(isinstance(X, np.ndarray) and X.ndim == 2 for X in (case.X, case.X_target)):
        y = np.asarray(case.y)
        if case.X.shape[1] != case.X_target.shape[1] or y.ndim != 1 or not _have_common_type(case.X, case.X_target):
            return
        given = np.full(len(rows.truth), None, dtype=object) if case.y_target is None else case.y_target
        case.options["sample_domain"] = np.repeat([1, -2], [len(y), len(given)])
        case.X, case.y = np.vstack([case.X, case.X_target]), np.concatenate([y.astype(object), given])
        case.X_target = case.y_target = None


def _have_common_type(one: Any, other: Any) -> bool:
    try:
        np.promote_types(one.dtype, other.dtype)
    except TypeError:  # dates and numbers, say: numpy itself stacks no such rows
        return False
    return True
