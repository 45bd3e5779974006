"""The estimator's parameters: allowed values, the paper's and its authors' values, and the plan they make."""

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from lpjt._sklearn import HasMethods, Interval, StrOptions
from lpjt._typing import Array, Values
from lpjt.classifiers import Classifier, NuSVM, Propagation, make_classifier, with_masses
from lpjt.core.neighbors import choose_search
from lpjt.core.objective import Settings
from lpjt.fitting import Plan
from lpjt.kernels import NAMES, Kernel, make_kernel
from lpjt.proportions import read_proportions
from lpjt.selection.scaling import Z_SCORES, with_lengths

#: How columns can be scaled, and those of these that are tried by default.
VIEWS = ("standard", "source", "joint", "unit", "none")

#: Weights of the objective beyond this, or below its inverse, would leave nothing of the other terms in float64.
LARGEST_WEIGHT = 1e30

#: Allowed values of each parameter, for scikit-learn's validation.
CONSTRAINTS: dict[str, list[Any]] = {
    "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
    "locality_weight": [Interval(Real, 0, LARGEST_WEIGHT, closed="both")],
    "variance_weight": [Interval(Real, 1 / LARGEST_WEIGHT, LARGEST_WEIGHT, closed="both")],
    "coupling_weight": [Interval(Real, 0, LARGEST_WEIGHT, closed="both"), StrOptions({"auto"})],
    "landmark_ratio": [Interval(Real, 0, 1, closed="right"), None],
    "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    "graph_weights": [StrOptions({"heat", "binary"}), Interval(Real, 0, None, closed="neither")],
    "kernel": [StrOptions({"auto", *NAMES}), Kernel, callable],
    "classifier": [str, HasMethods(["classify", "freeze"]), HasMethods(["fit", "predict"])],
    "scaling": [StrOptions({"auto", *VIEWS, *with_lengths(Z_SCORES), "paper"}), None],
    "target_proportions": [StrOptions({"auto", "source", "free"}), dict, "array-like"],
    "candidates": [StrOptions({"auto"}), None],
    "refine": ["boolean"],
    "start": [StrOptions({"auto", "spectral", "gromov", "pca-nn"})],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, 1, closed="both")],
    "safeguard": ["boolean"],
    "n_coordinates": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
    "neighbor_search": [StrOptions({"exact", "approximate", "auto"})],
    "sample_size": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"}), None],
    "memory_limit": [str, Interval(Integral, 1, None, closed="left"), None],
    "n_jobs": [Integral, None],
    "callback": [callable, None],
    "verbose": ["verbose"],
    "random_state": ["random_state"],
}

#: Rows of the kernel that is tried beside the linear one: 500 are as accurate as 2,000, at a sixteenth of the time. And
#: how many of them each component needs at least, and twice as many each class: with 345 classes labels collapsed on
#: 500 rows, and 2,000 took many times as long as the rest of the fit. Where there are fewer, no kernel is tried.
KERNEL_ROWS, ROWS_PER_COMPONENT = 500, 3

#: Maximum number of rows per domain that ``sample_size="auto"`` learns from, and per class if there are many classes.
#: Up to 10,000 rows the search is exact, so that learning by default does not depend on an approximate one. With 345
#: classes, 30 rows of each are as good as 50, in three fifths of the time.
SAMPLE_SIZE, SAMPLE_PER_CLASS = 10_000, 30


def paper_parameters() -> dict[str, Any]:
    """Algorithm 1 to the letter, with the values that the paper's section IV has for SURF features."""
    return {
        "n_components": 40,
        "locality_weight": 0.001,
        "variance_weight": 0.1,
        "landmark_ratio": 0.5,
        "graph_weights": 1.0,
        "classifier": Propagation(n_neighbors=5, unit_length=False, anchored=False),
        "scaling": "paper",
        "kernel": "linear",
        "candidates": None,
        "refine": False,
        "max_iter": 5,
        "safeguard": False,
        "n_coordinates": None,
        "sample_size": None,
    }


def authors_parameters() -> dict[str, Any]:
    """Values of the demonstration of the authors' published program."""
    return {
        "n_components": 25,
        "locality_weight": 0.05,
        "variance_weight": 1.0,
        "landmark_ratio": 0.5,
        "graph_weights": "binary",
        "classifier": NuSVM(nu=0.5),
        "scaling": "paper",
        "kernel": "linear",
        "candidates": None,
        "refine": False,
        "start": "pca-nn",
        "max_iter": 5,
        "safeguard": False,
        "n_coordinates": None,
        "sample_size": None,
    }


#: Departures of the authors' program from the paper that have no parameter of their own: the ten closest ordered pairs
#: of a domain as penalty graph, one instead of two in the cross term of the landmark step, target weights that stay
#: one, and first weights of one (not delta).
AUTHORS_DEPARTURES: Mapping[str, Any] = {
    "max_pairs": 10,
    "landmark_cross": 1.0,
    "weigh_target": False,
    "initial_weight": 1.0,
}


def make_plan(
    parameters: Mapping[str, Any],
    *,
    classes: Values,
    widths: Sequence[int],
    n_rows: int,
    departures: Mapping[str, Any] | None = None,
) -> Plan:
    """Plan of a fit.

    Parameters
    ----------
    parameters : mapping
        All parameters of `LPJT`.
    classes : array, (n_classes,)
        Labels of the classes, sorted.
    widths : sequence of int
        Number of columns of each domain.
    n_rows : int
        Rows of the largest domain.
    departures : mapping, optional
        Further fields of `Settings`, as in `AUTHORS_DEPARTURES`.
    """
    p, n_classes, one_width = parameters, len(classes), len(set(widths)) == 1
    sample_size = p["sample_size"]
    if sample_size == "auto":
        sample_size = max(SAMPLE_SIZE, SAMPLE_PER_CLASS * n_classes)
    n_learned = n_rows if sample_size is None else min(n_rows, sample_size)
    chooses = p["candidates"] is not None and "auto" in (_name(p["scaling"]), _name(p["target_proportions"]))
    kernels: tuple[Kernel, ...] = (make_kernel("linear" if p["kernel"] == "auto" else p["kernel"]),)
    n_components = _count_components(p["n_components"], n_classes, min(widths), chooses=chooses)
    if chooses and p["kernel"] == "auto" and ROWS_PER_COMPONENT * max(n_components, 2 * n_classes) <= KERNEL_ROWS:
        kernels += (Kernel("rbf", max_rows=KERNEL_ROWS),)
    classifier = make_classifier(p["classifier"])
    masses, proportions = _masses(p["target_proportions"], classifier, classes)
    weights = p["graph_weights"]
    settings = Settings(
        n_components=n_components,
        locality_weight=p["locality_weight"],
        variance_weight=p["variance_weight"],
        coupling_weight=_coupling(p["coupling_weight"], one_width),
        landmark_ratio=p["landmark_ratio"],
        n_neighbors=p["n_neighbors"],
        graph_weights=weights if isinstance(weights, str) else "heat",
        bandwidth="auto" if isinstance(weights, str) else float(weights),
        search=choose_search(p["neighbor_search"], n_learned),
        **(departures or {}),
    )
    return Plan(
        settings=settings,
        classifier=classifier if chooses else with_masses(classifier, masses[0], proportions),
        views=_views(p["scaling"], kernels[0], chooses=chooses and one_width),
        chooses=chooses,
        masses=masses,
        proportions=proportions,
        kernels=kernels,
        refine=p["refine"],
        start=p["start"],
        kernel=kernels[0],
        n_rows=n_rows,
        max_iter=p["max_iter"],
        tol=p["tol"],
        safeguard=p["safeguard"],
        n_coordinates=p["n_coordinates"],
        neighbor_search=p["neighbor_search"],
        sample_size=sample_size,
        random_state=check_random_state(p["random_state"]),
    )


def _count_components(given: int | str, n_classes: int, width: int, *, chooses: bool) -> int:
    """Dimensions of the shared space; `width` is that of the narrowest domain.

    Where candidates are weighed, 40 label better than 20 and than two for each class, but in domains of 64 columns
    worse than half of these. A fit in one setting, which begins from poorer labels, is better off with fewer
    dimensions, and with two for each class if there are many.
    """
    if given != "auto":
        return int(given)
    return max(n_classes, min(40, max(20, width // 2))) if chooses else max(20, 2 * n_classes)


def _coupling(weight: float | str, one_width: bool) -> float:
    if isinstance(weight, str):
        return 1.0 if one_width else 0.0
    if weight > 0 and not one_width:
        raise ValueError(
            f"coupling_weight={weight} joins A and B by ||A - B||^2, but the widths of the domains differ. Set "
            "coupling_weight to 0 or 'auto', or give domains of equal width."
        )
    return weight


def _name(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _views(scaling: str | None, kernel: Kernel, *, chooses: bool) -> tuple[str, ...]:
    """Views to choose from; statistics of another domain mean something only if all widths are equal."""
    if scaling != "auto":
        return (scaling or "none",)
    # The chi-squared kernel needs values that are not negative, and z-scores are.
    if kernel.function == "chi2":
        return ("unit",)
    return VIEWS if chooses else ("standard", "unit")


def _masses(given: Any, classifier: Classifier, classes: Values) -> tuple[tuple[str, ...], Array | None]:
    """Class masses to choose from, and the proportions of the target if they are given."""
    by_name = isinstance(given, str)
    if not isinstance(classifier, Propagation):
        if by_name and given in ("auto", "source"):
            return ("classifier",), None
        raise ValueError(
            f"target_proportions={given!r} needs label propagation, but classifier={classifier!r} does not normalise "
            "class masses. Set classifier='propagation' or target_proportions='auto'."
        )
    if not by_name:
        return ("given",), read_proportions(given, classes)
    if given != "auto":
        return (given,), None
    open_masses = np.ndim(classifier.class_mass) == 0 and bool(classifier.class_mass)
    return (("source", "free") if open_masses else ("classifier",)), None
