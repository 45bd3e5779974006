"""The estimator's parameters: what they may be, the paper's and the authors' values, and the plan they make."""

from numbers import Integral, Real

from sklearn.utils import check_random_state

from lpjt._sklearn import HasMethods, Interval, StrOptions
from lpjt.classifiers import make_classifier
from lpjt.core.neighbors import choose_search
from lpjt.core.objective import Settings
from lpjt.fitting import Plan

#: What each parameter may be, for scikit-learn's validation.
CONSTRAINTS: dict = {
    "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
    "locality_weight": [Interval(Real, 0, None, closed="left")],
    "variance_weight": [Interval(Real, 0, None, closed="neither")],
    "coupling_weight": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
    "landmarks": ["boolean"],
    "landmark_ratio": [Interval(Real, 0, 1, closed="right")],
    "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    "graph_weights": [StrOptions({"heat", "binary"})],
    "bandwidth": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
    "kernel": [StrOptions({"linear", "rbf", "poly", "cosine", "laplacian", "chi2", "sigmoid"}), callable],
    "kernel_params": [dict, None],
    "kernel_rows": [Interval(Integral, 2, None, closed="left")],
    "classifier": [StrOptions({"propagation", "harmonic", "nn", "svm"}), HasMethods(["fit", "predict"])],
    "propagation_neighbors": [Interval(Integral, 1, None, closed="left")],
    "unit_embeddings": ["boolean"],
    "nu": [Interval(Real, 0, 1, closed="right")],
    "scaling": [StrOptions({"auto", "standard", "unit", "paper", "none"}), None],
    "start": [StrOptions({"auto", "spectral", "gromov", "pca-nn"})],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, 1, closed="both")],
    "safeguard": ["boolean"],
    "n_coordinates": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
    "neighbors": [StrOptions({"exact", "approximate", "auto"})],
    "memory_limit": [str, Interval(Integral, 1, None, closed="left"), None],
    "n_jobs": [Integral, None],
    "preset": [StrOptions({"paper", "code"}), None],
    "callback": [callable, None],
    "verbose": ["verbose"],
    "random_state": ["random_state"],
}

#: What a preset gives to parameters left at their default. "paper": Algorithm 1 to the letter, with the values of its
#: section IV for SURF features. "code": the authors' published program with the values of its demonstration.
PRESETS = {
    "paper": {
        "n_components": 40,
        "locality_weight": 0.001,
        "variance_weight": 0.1,
        "landmarks": True,
        "bandwidth": 1.0,
        "classifier": "harmonic",
        "propagation_neighbors": 5,
        "unit_embeddings": False,
        "scaling": "paper",
        "max_iter": 5,
        "safeguard": False,
        "n_coordinates": None,
    },
    "code": {
        "n_components": 25,
        "locality_weight": 0.05,
        "variance_weight": 1.0,
        "landmarks": True,
        "graph_weights": "binary",
        "classifier": "svm",
        "scaling": "paper",
        "start": "pca-nn",
        "max_iter": 5,
        "safeguard": False,
        "n_coordinates": None,
    },
}

#: Departures of the authors' program from the paper that have no parameter of their own: the ten closest ordered pairs
#: of a domain as penalty graph, one instead of two in the landmark step's cross term, target weights left at one, and
#: weights of one (not delta) at first.
_CODE: dict = {"max_pairs": 10, "landmark_cross": 1.0, "weigh_target": False, "initial_weight": 1.0}


def resolve(parameters, defaults):
    """Parameters with a preset's values where they are left at their default."""
    if parameters["preset"] is None:
        return parameters
    given = PRESETS[parameters["preset"]]
    return {
        name: given[name] if name in given and _same(value, defaults[name]) else value
        for name, value in parameters.items()
    }


def _same(value, default):
    """Whether a parameter has its default's value: not whether it is that object, which a pickled one is not."""
    return type(value) is type(default) and value == default


def make_plan(parameters, *, n_classes, one_width, n_rows):
    """Plan of a fit from resolved parameters, for domains of at most `n_rows` rows."""
    p = parameters
    search = choose_search(p["neighbors"], n_rows)
    coupling = p["coupling_weight"]
    if coupling == "auto":
        coupling = 1.0 if one_width else 0.0
    elif coupling > 0 and not one_width:
        raise ValueError(
            f"coupling_weight={coupling} joins A and B by ||A - B||^2, but the widths of the domains differ. Set "
            "coupling_weight to 0 or 'auto', or give domains of equal width."
        )
    components = max(20, 2 * n_classes) if p["n_components"] == "auto" else p["n_components"]
    settings = Settings(
        n_components=components,
        locality_weight=p["locality_weight"],
        variance_weight=p["variance_weight"],
        coupling_weight=coupling,
        landmark_ratio=p["landmark_ratio"] if p["landmarks"] else None,
        n_neighbors=p["n_neighbors"],
        graph_weights=p["graph_weights"],
        bandwidth=p["bandwidth"],
        search=search,
        **(_CODE if p["preset"] == "code" else {}),
    )
    return Plan(
        settings=settings,
        classifier=make_classifier(
            p["classifier"],
            n_neighbors=p["propagation_neighbors"],
            unit_rows=p["unit_embeddings"],
            nu=p["nu"],
            search=search,
        ),
        scalings=_scalings(p),
        start=p["start"],
        kernel=p["kernel"],
        kernel_params=p["kernel_params"],
        kernel_rows=p["kernel_rows"],
        max_iter=p["max_iter"],
        tol=p["tol"],
        safeguard=p["safeguard"],
        n_coordinates=p["n_coordinates"],
        random_state=check_random_state(p["random_state"]),
    )


def _scalings(p):
    if p["scaling"] is None:
        return ("none",)
    if p["scaling"] != "auto":
        return (p["scaling"],)
    # A chi-squared kernel wants nothing negative, which a z-score makes.
    return ("unit",) if p["kernel"] in ("chi2", "additive_chi2") else ("standard", "unit")
