"""Estimators of other libraries, as they are or behind the smallest adapter that gives them `fit(X, y, X_target)`.

An adapter converts nothing and catches nothing: what the suite sees is what the library does. The classifier behind a
transformer is the nearest neighbour, and behind a reweighting or a pipeline a logistic regression.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from lpjt import LPJT, baselines

#: Checks of the interface itself, which say nothing about a library that is behind an adapter of ours.
OF_THE_ADAPTER = frozenset(
    {"check_clone_keeps_parameters", "check_not_fitted_is_said", "check_given_target_labels_are_kept"}
)

#: Baselines that learn from labelled target rows, and how many per class they get.
FEW_LABELS = {"CDLS": 3, "SHFA": 3, "TargetPropagation": 3, "TargetSVM": 3}


@dataclass(frozen=True, slots=True)
class Subject:
    """An estimator to be checked."""

    library: str  # as on the page
    name: str
    make: Callable[[], Any]
    adapted: bool = True  # behind an adapter of ours
    target_labels: int = 0


class _Behind(ClassifierMixin, BaseEstimator):
    """An estimator of a module by its name; subclasses fit it and keep what `predict` needs in `model_`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def predict(self, X: Any) -> Any:
        """Labels of target rows."""
        return self.model_.predict(X)


class AdaptEstimator(_Behind):
    """An estimator of ADAPT around a logistic regression."""

    model_: Any

    def fit(self, X: Any, y: Any, X_target: Any) -> "AdaptEstimator":
        """Fit as ADAPT's documentation does, ``fit(X, y, Xt)``."""
        module, _, name = self.name.rpartition(".")
        cls = getattr(import_module(f"adapt.{module}"), name)
        self.model_ = cls(LogisticRegression(), verbose=0, random_state=0).fit(X, y, X_target)
        return self

    def predict(self, X: Any) -> Any:
        """Labels of target rows."""
        return self.model_.predict(X, domain="tgt")


class PotTransport(_Behind):
    """A transport of POT, and the nearest of the transported source rows."""

    model_: Any

    def fit(self, X: Any, y: Any, X_target: Any) -> "PotTransport":
        """Transport the source onto the target."""
        transport = getattr(import_module("ot.da"), self.name)()
        transport.fit(Xs=X, ys=y, Xt=X_target)
        self.model_ = KNeighborsClassifier(1).fit(transport.transform(Xs=X), y)
        return self


class KaleEstimator(_Behind):
    """A classifier of kalelinear, fitted to a stack in which `covariates` tells the domains apart."""

    model_: Any

    def fit(self, X: Any, y: Any, X_target: Any) -> "KaleEstimator":
        """Fit to all rows with the labels of the source."""
        cls = getattr(import_module("kalelinear.estimator"), self.name)
        covariates = np.repeat([0, 1], [X.shape[0], X_target.shape[0]])
        self.model_ = cls().fit(_stack(X, X_target), y, covariates)
        return self


class KaleTransformer(_Behind):
    """A transformer of kalelinear, and the nearest source row in its space."""

    model_: Any
    transformer_: Any

    def fit(self, X: Any, y: Any, X_target: Any) -> "KaleTransformer":
        """Embed all rows without labels, and learn from those of the source."""
        cls = getattr(import_module("kalelinear.transformer"), self.name)
        covariates = np.repeat([0, 1], [X.shape[0], X_target.shape[0]])
        self.transformer_ = cls(n_components=3, ignore_y=True)
        Z = self.transformer_.fit_transform(_stack(X, X_target), covariates=covariates)
        self.model_ = KNeighborsClassifier(1).fit(Z[: X.shape[0]], y)
        return self

    def predict(self, X: Any) -> Any:
        """Labels of target rows."""
        covariates = np.ones(X.shape[0], dtype=int)
        return self.model_.predict(self.transformer_.transform(X, covariates=covariates))


def _stack(X: Any, X_target: Any) -> Any:
    from scipy import sparse

    return sparse.vstack([X, X_target]).tocsr() if sparse.issparse(X) else np.concatenate([X, X_target])


def _skada(name: str, **parameters: Any) -> Callable[[], Any]:
    def make() -> Any:
        import skada

        return getattr(skada, name)(**parameters)

    return make


_SKADA: Mapping[str, dict[str, Any]] = {
    "CORAL": {},
    "SubspaceAlignment": {"n_components": 3},
    "TransferComponentAnalysis": {"n_components": 3},
    "TransferJointMatching": {"n_components": 3},
    "OTMapping": {},
    "EntropicOTMapping": {},
    "LinearOTMapping": {},
    "DensityReweight": {},
    "KMMReweight": {},
    "JDOTClassifier": {},
}
_ADAPT = (
    "feature_based.CORAL",
    "feature_based.SA",
    "feature_based.TCA",
    "instance_based.KMM",
    "instance_based.KLIEP",
    "instance_based.NearestNeighborsWeighting",
)
_POT = ("EMDTransport", "SinkhornTransport", "SinkhornLpl1Transport", "LinearTransport", "MappingTransport")
_KALE_ESTIMATORS, _KALE_TRANSFORMERS = ("ARSVM", "ARRLS", "CoIRSVM", "CoIRLS"), ("TCA", "MIDA")

#: Libraries, and the package whose version is noted and which must be installed.
PACKAGES = {"lpjt": "lpjt", "skada": "skada", "ADAPT": "adapt", "POT": "ot", "kalelinear": "kalelinear"}


def subjects() -> list[Subject]:
    """All estimators of the page; they are made when they are checked."""
    ours = [Subject("lpjt", "LPJT", LPJT, adapted=False)]
    for name in baselines.__all__:
        labels = FEW_LABELS.get(name, 0)
        ours.append(Subject("lpjt", name, getattr(baselines, name), adapted=False, target_labels=labels))
    return [
        *ours,
        *(Subject("skada", name, _skada(name, **given), adapted=False) for name, given in _SKADA.items()),
        *(Subject("ADAPT", name.rpartition(".")[2], _behind(AdaptEstimator, name)) for name in _ADAPT),
        *(Subject("POT", name, _behind(PotTransport, name)) for name in _POT),
        *(Subject("kalelinear", name, _behind(KaleEstimator, name)) for name in _KALE_ESTIMATORS),
        *(Subject("kalelinear", name, _behind(KaleTransformer, name)) for name in _KALE_TRANSFORMERS),
    ]


def _behind(adapter: type[_Behind], name: str) -> Callable[[], Any]:
    return lambda: adapter(name)
