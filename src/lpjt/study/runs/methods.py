"""Every method of the tables: how it is made, which tables it can do, and its parameters under each protocol.

Three ways of choosing parameters, and a table never mixes them:

``label-free``
    One setting of each method for all data, its estimator's default: for the methods of comparison the value that their
    reference recommends, for LPJT the default of `lpjt.LPJT` without candidates. No target label is looked at.
``published``
    The values that a method's reference prints for that very set. They were chosen there with target labels.
``oracle``
    The best of a grid by target accuracy, as the paper did: an upper bound that nobody without target labels reaches.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from typing import Any

from lpjt.datasets import TableSpec
from lpjt.datasets.registry import nearest
from lpjt.registry import Registry
from lpjt.study.settings import AUTHORS, ORACLE_GRID, PAPER, PAPER_PARAMETERS, WITH_LANDMARKS

PROTOCOLS = {
    "label-free": "one default of each method for all data; target labels serve the score alone",
    "published": "each reference's own parameters for the set, chosen there with target labels",
    "oracle": "parameters searched with target labels, as the paper did: an upper bound",
}


@dataclass(frozen=True, slots=True, eq=False)
class Method:
    """One column of a table.

    The estimator has scikit-learn's parameters, `fit(X, y, X_target, y_target=None)` and `transduction_`, the labels of
    all target rows. It takes the parameter `scaling` unless `scales_itself`, and `random_state` where it draws.
    """

    name: str
    estimator: str  # "module:name" of a class, or of a function that makes an estimator
    fixed: Mapping[str, Any] = field(default_factory=dict)  # in every protocol
    published: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by "table/pair", table, or "*" for all
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)  # of the oracle: every combination is tried
    needs_target_labels: bool = False
    any_widths: bool = False
    scales_itself: bool = False  # chooses its scaling, instead of taking the one that the literature has for the set
    unit_rows: bool = False  # its reference's program scales rows to unit length after any other scaling
    extra: str = ""  # the extras of this package that it needs, with commas between

    def suits(self, table: TableSpec) -> bool:
        """Whether the method can do a table at all."""
        if self.needs_target_labels and table.kind not in ("few", "heterogeneous"):
            return False
        return self.any_widths or table.kind != "heterogeneous"

    def is_installed(self) -> bool:
        """Whether the packages of its extras are there; a table of all methods leaves it out where they are not."""
        return all(find_spec(_PACKAGES[extra]) is not None for extra in self.extra.split(",") if extra in _PACKAGES)

    def parameters(self, table: TableSpec, pair: str, protocol: str) -> dict[str, Any]:
        """Parameters of one run, the scaling among them, so that a stored row says all."""
        given = dict(self.fixed)
        if not self.scales_itself:
            kind = table.normalisation
            given["scaling"] = _UNIT.get(kind, kind) if self.unit_rows else kind
        if protocol == "published":
            known = (f"{table.name}/{pair}", table.name, "*")
            given |= next((self.published[key] for key in known if key in self.published), {})
        return given

    def settings(self) -> tuple[dict[str, Any], ...]:
        """Every setting of the oracle's grid; one empty setting for a method without a grid."""
        names = list(self.grid)
        return tuple(dict(zip(names, values, strict=True)) for values in product(*self.grid.values()))


#: The package of an extra whose absence leaves a method out.
_PACKAGES = {"deep": "torch", "ot": "ot"}

#: Rows of unit length after the literature's scaling.
_UNIT = {"sum-zscore": "paper", "none": "unit"}

#: JDA's paper has rows of unit length in its table of PIE.
_JDA_FACES = {"pie": {"scaling": "unit"}}

#: Pairs of SURF for which the program of GFK has 10 dimensions and not 20.
_TEN_DIMENSIONS = ("W to D", "D to W", "W to A", "A to W", "C to D", "D to C")

_DIMENSIONS = (10, 20, 40, 80, 120)
#: In one setting: candidates would bring methods of comparison into it.
_LPJT = "lpjt.study.settings:make_lpjt"


def _few_labels(name: str, estimator: str, **more: Any) -> Method:
    return Method(name, estimator, needs_target_labels=True, any_widths=True, **more)


def _deep(name: str, extra: str = "deep") -> Method:
    return Method(name, f"lpjt.deep:{name}", scales_itself=True, extra=extra)


_ALL = [
    Method("1-NN", "lpjt.baselines:NearestNeighbor", published=_JDA_FACES),
    Method(
        "SVM", "lpjt.baselines:LinearSVM", published={"pie": {"form": "nu-svm"}}, grid={"C": (0.01, 0.1, 1.0, 10.0)}
    ),
    Method(
        "PCA",
        "lpjt.baselines:PCASVM",
        fixed={"classifier": "nn"},
        published=_JDA_FACES,
        grid={"n_components": _DIMENSIONS},
    ),
    Method("PCA+SVM", "lpjt.baselines:PCASVM", grid={"n_components": _DIMENSIONS}, any_widths=True),
    # The paper's table of PIE comes out with the nu-SVM that its authors' program has, for SA and for the SVM itself.
    Method(
        "SA",
        "lpjt.baselines:SA",
        published={"pie": {"classifier": "nu-svm"}},
        grid={"n_components": _DIMENSIONS},
    ),
    Method("SDA", "lpjt.baselines:SDA", grid={"n_components": _DIMENSIONS}),
    Method("LSSA", "lpjt.baselines:LSSA", grid={"n_components": _DIMENSIONS}),
    Method(
        "GFK",
        "lpjt.baselines:GFK",
        published={
            "digits": {"n_components": 100},
            "pie": {"n_components": 100},
            "coil": {"n_components": 100},
            **{f"surf/{pair}": {"n_components": 10} for pair in _TEN_DIMENSIONS},
        },
        grid={"n_components": _DIMENSIONS},
    ),
    Method("CORAL", "lpjt.baselines:CORAL"),
    Method("OT", "lpjt.baselines:OptimalTransport", grid={"reg": (0.01, 0.1, 1.0), "reg_cl": (0.01, 0.1, 1.0)}),
    Method(
        "TCA",
        "lpjt.baselines:TCA",
        published={"surf": {"regularization": 1.0}, **_JDA_FACES},
        grid={"n_components": _DIMENSIONS, "regularization": (0.01, 0.1, 1.0)},
        unit_rows=True,
    ),
    Method(
        "JDA",
        "lpjt.baselines:JDA",
        published={"surf": {"kernel": "linear", "regularization": 1.0}, **_JDA_FACES},
        grid={"n_components": (20, 60, 100), "regularization": (0.01, 0.1, 1.0)},
        unit_rows=True,
    ),
    Method(
        "TJM",
        "lpjt.baselines:TJM",
        published={"pie": {"n_components": 100}},
        grid={"n_components": (20, 60, 100), "regularization": (0.01, 0.1, 1.0)},
        unit_rows=True,
    ),
    Method(
        "JGSA",
        "lpjt.baselines:JGSA",
        grid={"n_components": (20, 30, 100), "variance_weight": (0.1, 1.0), "discrimination_weight": (0.01, 0.1)},
        any_widths=True,
        unit_rows=True,
    ),
    Method("MEDA", "lpjt.baselines:MEDA", grid={"n_components": (20, 40, 60)}),
    Method("LSC", "lpjt.baselines:LSC", grid={"n_neighbors": (5, 10, 20), "smoothing": (0.8, 0.9)}, unit_rows=True),
    Method("RTML", "lpjt.baselines:RTML", grid={"denoising_weight": (0.1, 1.0, 10.0), "corruption": (0.3, 0.5, 0.7)}),
    Method("pUnDA", "lpjt.baselines:PUnDA", grid={"margin_weight": (0.1, 1.0, 10.0), "alignment_weight": (0.1, 1.0)}),
    Method("SPL", "lpjt.baselines:SPL", grid={"pca_components": (32, 64, 128, 256)}, unit_rows=True),
    Method("CLGA", "lpjt.baselines:CLGA", grid={"n_neighbors": (5, 10, 20)}, unit_rows=True),
    Method("AGE-CS", "lpjt.baselines:AGECS", grid={"graph_weight": (0.1, 5.0), "n_neighbors": (8, 32)}, unit_rows=True),
    *map(_deep, ("SourceOnly", "DDC", "DAN", "DANN", "DHN", "WDAN", "SimNet", "MCD", "CDAN")),
    _deep("DeepJDOT", "deep,ot"),
    _few_labels("SVMt", "lpjt.baselines:TargetSVM", grid={"C": (0.01, 0.1, 1.0, 10.0)}),
    _few_labels("Propagation", "lpjt.baselines:TargetPropagation", grid={"n_neighbors": (5, 15, 30)}),
    _few_labels("CDLS", "lpjt.baselines:CDLS", grid={"n_components": (50, 100)}),
    # A thousand unlabelled rows instead of two thousand: a third of the time.
    _few_labels("SHFA", "lpjt.baselines:SHFA", fixed={"max_unlabeled": 1000}, grid={"kernel": ("rbf", "linear")}),
    Method("LPJT", _LPJT, grid=ORACLE_GRID, any_widths=True, scales_itself=True),
    # As users have it; its candidates are weighed against 1-NN and linear classifiers, so it is run where it is named.
    Method("LPJT (default)", "lpjt:LPJT", any_widths=True, scales_itself=True),
    Method("LPJT (landmarks)", _LPJT, fixed=WITH_LANDMARKS, any_widths=True, scales_itself=True),
    Method(
        "LPJT (paper)",
        _LPJT,
        fixed=PAPER,
        published={**PAPER_PARAMETERS, "digits": {"scaling": "unit"}},
        any_widths=True,
        scales_itself=True,
    ),
    # The authors' program lowers nu where dslr is the source.
    Method(
        "LPJT (code)",
        _LPJT,
        fixed=AUTHORS,
        published={
            "digits": {"scaling": "unit"},
            "pie": PAPER_PARAMETERS["pie"],
            **{f"surf/D to {target}": {"classifier__nu": 0.3} for target in "CAW"},
        },
        any_widths=True,
        scales_itself=True,
    ),
]

#: Every method: ours, then those of other packages.
METHODS: Registry[Method] = Registry("lpjt.methods", Method, _ALL)


def find_method(name: str) -> Method:
    """A method by its name, in any case; an unknown one names the nearest."""
    if name in METHODS:
        return METHODS[name]
    by_name = {known.lower(): method for known, method in METHODS.items()}
    if name.lower() not in by_name:
        raise ValueError(f"'{name}' is not a method ({nearest(name, METHODS)}).")
    return by_name[name.lower()]


def make_method(name: str, parameters: Mapping[str, Any], seed: int) -> Any:
    """The estimator of a method with its parameters, not fitted; `seed` goes where it takes a random state."""
    module, _, maker = find_method(name).estimator.partition(":")
    model = getattr(import_module(module), maker)(**parameters)
    if "random_state" in model.get_params(deep=False):
        model.set_params(random_state=seed)
    return model
