"""How embedded rows get labels: label propagation, a nu-SVM, any scikit-learn classifier, or one of another package.

A classifier of the shared space has two methods, ``classify`` and ``freeze``, as `Propagation` documents them. An
object with ``fit`` and ``predict`` is wrapped. Another package adds a short form, for ``LPJT(classifier="name")``, by
the entry-point group ``lpjt.classifiers``: the entry is called without arguments and returns either kind of object.
"""

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any, Protocol, runtime_checkable

from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

from lpjt._typing import Array, Codes
from lpjt.classifiers.combined import Averaged, Projected, Reweighted, Tempered, temper
from lpjt.classifiers.inductive import FittedClassifier, Inductive, NuSVM
from lpjt.classifiers.propagation import (
    MANY_NEW_ROWS,
    Pool,
    Propagation,
    classify_each,
    make_pool,
    weigh_rows,
    with_masses,
)

__all__ = [
    "MANY_NEW_ROWS",
    "Averaged",
    "Classifier",
    "FittedClassifier",
    "Inductive",
    "NuSVM",
    "Pool",
    "Predictor",
    "Projected",
    "Propagation",
    "Reweighted",
    "Tempered",
    "classify_each",
    "make_classifier",
    "make_pool",
    "short_forms",
    "temper",
    "weigh_rows",
    "with_masses",
]

#: Entry-point group in which other packages name classifiers of their own.
GROUP = "lpjt.classifiers"


class Predictor(Protocol):
    """Labels new rows after the fit; what `freeze` returns takes embedded rows, those of a fit take coordinates."""

    def distributions_of(self, Z: Array) -> Array:
        """Class distributions, (n_new, n_classes), of new rows."""


@runtime_checkable
class Classifier(Protocol):
    """Labels the target in each iteration of Algorithm 1; see `Propagation` for the arguments."""

    def classify(
        self,
        Z: Array,
        labels: Codes,
        weights: Array | None,
        n_classes: int,
        *,
        search: str = "exact",
    ) -> Array:
        """Class distributions of the unlabelled rows."""

    def freeze(
        self,
        Z: Array,
        labels: Codes,
        weights: Array | None,
        distributions: Array,
        *,
        search: str = "exact",
    ) -> Predictor:
        """Predictor for new rows."""


_BUILT_IN: dict[str, Callable[[], Any]] = {
    "propagation": Propagation,
    "harmonic": lambda: Propagation(anchored=False),
    "nn": lambda: KNeighborsClassifier(n_neighbors=1),
    "svm": NuSVM,
}


def short_forms() -> dict[str, Callable[[], Any]]:
    """Names that ``LPJT(classifier=...)`` understands, ours first, and the functions that make their classifiers."""
    others = {entry.name: entry.load for entry in entry_points(group=GROUP) if entry.name not in _BUILT_IN}
    return {**_BUILT_IN, **{name: _calling(name, load) for name, load in others.items()}}


def make_classifier(given: Any) -> Classifier:
    """Classifier of the shared space from a short form, an object of this module or a scikit-learn classifier."""
    if isinstance(given, str):
        known = _BUILT_IN if given in _BUILT_IN else short_forms()  # to look for those of other packages takes 30 ms
        if given not in known:
            names = ", ".join(map(repr, known))
            raise ValueError(f"classifier={given!r} is unknown. Give one of {names}, or a classifier object.")
        given = known[given]()
    if isinstance(given, type) or not (isinstance(given, Classifier) or hasattr(given, "fit")):
        raise TypeError(
            f"classifier={given!r} cannot label rows. Give an object with `classify` and `freeze`, such as "
            "Propagation(), or a scikit-learn classifier, such as LogisticRegression()."
        )
    if isinstance(given, Propagation):
        given._validate_params()
        return clone(given)
    return given if isinstance(given, Classifier) else Inductive(given)


def _calling(name: str, load: Callable[[], Callable[[], Any]]) -> Callable[[], Any]:
    """How the classifier of another package is made; whatever goes wrong there is told with its name."""

    def make() -> Any:
        try:
            return load()()
        except Exception as error:
            raise ImportError(
                f"classifier={name!r} of another package cannot be made ({type(error).__name__}: {error}). Mend or "
                "uninstall that package, or give a classifier object."
            ) from error

    return make
