"""LPJT as the study runs it: every variant and every name of one of its parameters, in one place."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lpjt.classifiers import Propagation
from lpjt.datasets import TABLES
from lpjt.estimator import LPJT
from lpjt.parameters import make_plan
from lpjt.search import LPJTSearch

Parameters = Mapping[str, Any]


def make_variant(*, variant: str | None = None, **parameters: Any) -> LPJT:
    """The estimator of a variant ("paper", "authors" or None): the only place of the study that constructs one.

    Parameters of the classifier or kernel, such as "classifier__nu", are set after construction.
    """
    make = LPJT if variant is None else getattr(LPJT, variant)
    nested = {name: value for name, value in parameters.items() if "__" in name}
    return make(**{name: value for name, value in parameters.items() if name not in nested}).set_params(**nested)


def make_lpjt(*, variant: str | None = None, **parameters: Any) -> LPJT:
    """As `make_variant`, for tables of methods: Algorithm 1 alone, unless the parameters say otherwise."""
    return make_variant(variant=variant, **{**({} if variant else ONE_SETTING), **parameters})


def make_search(*, random_state: int, **parameters: Any) -> LPJTSearch:
    """A search among the settings of `SEARCH_GRID`; further parameters are those of the estimator."""
    estimator = make_variant(classifier=Propagation(), random_state=random_state, **parameters)
    return LPJTSearch(estimator, dict(SEARCH_GRID), random_state=random_state)


def default_values(*, n_classes: int, n_rows: int, widths: Sequence[int]) -> Any:
    """What every setting of a fit in one setting is by default for a problem, the number of components resolved."""
    given = make_variant(**ONE_SETTING).get_params(deep=False)
    return make_plan(given, classes=np.arange(n_classes), widths=widths, n_rows=n_rows).settings


#: Variants. A stored row names the constructor instead of the values that it stands for.
PAPER: Parameters = {"variant": "paper"}
AUTHORS: Parameters = {"variant": "authors"}
WITH_LANDMARKS: Parameters = {"landmark_ratio": 0.5}

#: Algorithm 1 alone, in one setting: no candidates, and no regression beside its labels.
ONE_SETTING: Parameters = {"candidates": None, "refine": False}

#: The safeguard could return the rows unadapted, which have neither weights nor iterations to show.
WITHOUT_SAFEGUARD: Parameters = {**ONE_SETTING, "safeguard": False}

#: What the oracle protocol searches.
ORACLE_GRID: Mapping[str, tuple[Any, ...]] = {
    "n_components": (20, 40, 100),
    "coupling_weight": (0.1, 0.3, 1.0),
    "locality_weight": (0.0005, 0.005),
}

#: Neither evidence nor tolerance ends a fit; one whose labels no longer change has nothing left to do.
ENDLESS: Parameters = {**ONE_SETTING, "tol": 0.0, "safeguard": False}

#: Iterations of every iterative method that is timed; labels that no longer change end a fit sooner.
ITERATIONS = 10
TIMED: Parameters = {"max_iter": ITERATIONS, "tol": 0.0}

#: LPJT with the settings of the dense transcription, so that labels can be compared. Five iterations, the paper's T.
AS_TRANSCRIBED: Parameters = {
    **ONE_SETTING,
    "n_components": 20,
    "landmark_ratio": 0.5,
    "scaling": "unit",
    "classifier": "harmonic",
    "safeguard": False,
    "neighbor_search": "exact",
    "sample_size": None,
    "max_iter": 5,
    "tol": 0.0,
}

#: The two ways to search neighbours whose accuracies are compared.
NEIGHBOR_SEARCHES: Mapping[str, Parameters] = {
    how: {"neighbor_search": how, "tol": 1e-3} for how in ("exact", "approximate")
}

#: Every row against a sample of them.
SAMPLES: Mapping[str, Parameters] = {"every row": {"sample_size": None}, "sample": {"sample_size": "auto"}}

#: Thirty settings, whose search is timed.
SEARCH_GRID: Mapping[str, tuple[Any, ...]] = {
    "n_components": (5, 10, 20, 40, 80),
    "variance_weight": (0.03, 0.1, 0.3),
    "classifier__n_neighbors": (5, 15),
}

#: As `TIMED`, but a fit ends when its labels are steady, as by default.
UNTIL_STEADY: Parameters = {"max_iter": ITERATIONS, "tol": 1e-3}

_COMMON = {"landmark_ratio": 0.5, "n_neighbors": 5, "max_iter": 5}
_SURF = {"variance_weight": 0.1, "locality_weight": 0.001, "n_components": 40}
_DECAF = {"variance_weight": 0.5, "locality_weight": 0.01, "n_components": 40}
_PIE = {"variance_weight": 0.1, "locality_weight": 0.02, "n_components": 120}
_PRINTED: dict[str, dict[str, Any]] = {
    "surf": _SURF,
    "surf-few": _SURF,
    "decaf6": _DECAF,
    "decaf6-few": _DECAF,
    "pie": _PIE,
    "pie-few": _PIE,
    "office-home": {"variance_weight": 1.0, "locality_weight": 0.05, "n_components": 200},
    "visda": {"variance_weight": 0.1, "locality_weight": 0.05, "n_components": 30},
    # Not in the paper: other deep features of the same photographs borrow the values for DeCAF6.
    "efficientnet": _DECAF,
    "efficientnet-few": _DECAF,
    "googlenet": _DECAF,
}

#: The paper's parameters for each table (its section IV.B): delta, the neighbours and the iterations for all; mu, gamma
#: and d where they are printed, which leaves out the digits and the heterogeneous tables.
PAPER_PARAMETERS: dict[str, dict[str, Any]] = {name: {**_COMMON, **_PRINTED.get(name, {})} for name in TABLES}
