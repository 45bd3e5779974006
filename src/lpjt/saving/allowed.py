"""Classes that a model file may name. A class that is not listed here is neither written nor read."""

import dataclasses
import inspect
import re
from importlib import import_module
from typing import Any

from lpjt.saving.errors import ModelFileError

#: Our own estimators, which are restored without a call of `__init__`.
OWN_ESTIMATORS = (
    "lpjt.estimator.LPJT",
    "lpjt.estimator.AuthorsLPJT",
    "lpjt.classifiers.propagation.Propagation",
    "lpjt.classifiers.inductive.NuSVM",
    "lpjt.kernels.Kernel",
    "lpjt.tables.adapter.TableAdapter",
)

#: Modules whose dataclasses may be in a file: what a fit leaves in a model.
OWN_MODULES = re.compile(r"lpjt\.(core|classifiers|likeness|tables\.encoder)(\.[a-z_]+)*")

#: Classes of scikit-learn, by their public names: those whose fitted state is arrays and plain values.
SKLEARN_ESTIMATORS = (
    "sklearn.compose.ColumnTransformer",
    "sklearn.decomposition.PCA",
    "sklearn.decomposition.TruncatedSVD",
    "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
    "sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis",
    "sklearn.impute.MissingIndicator",
    "sklearn.impute.SimpleImputer",
    "sklearn.linear_model.LogisticRegression",
    "sklearn.linear_model.RidgeClassifier",
    "sklearn.linear_model.RidgeClassifierCV",
    "sklearn.naive_bayes.BernoulliNB",
    "sklearn.naive_bayes.GaussianNB",
    "sklearn.naive_bayes.MultinomialNB",
    "sklearn.neighbors.KNeighborsClassifier",
    "sklearn.neighbors.NearestCentroid",
    "sklearn.pipeline.Pipeline",
    "sklearn.preprocessing.FunctionTransformer",
    "sklearn.preprocessing.LabelBinarizer",
    "sklearn.preprocessing.LabelEncoder",
    "sklearn.preprocessing.MaxAbsScaler",
    "sklearn.preprocessing.MinMaxScaler",
    "sklearn.preprocessing.Normalizer",
    "sklearn.preprocessing.OneHotEncoder",
    "sklearn.preprocessing.OrdinalEncoder",
    "sklearn.preprocessing.PowerTransformer",
    "sklearn.preprocessing.QuantileTransformer",
    "sklearn.preprocessing.RobustScaler",
    "sklearn.preprocessing.StandardScaler",
    "sklearn.svm.LinearSVC",
    "sklearn.svm.NuSVC",
    "sklearn.svm.SVC",
)

#: Classes whose state is that of scikit-learn, and changes with its version.
OF_SKLEARN = frozenset({*SKLEARN_ESTIMATORS, "lpjt.classifiers.inductive.NuSVM"})

_NAMES = frozenset({*OWN_ESTIMATORS, *SKLEARN_ESTIMATORS})

#: For skops: ``skops.io.load(file, trusted=lpjt.saving.TRUSTED_TYPES)`` reads a model of ours. skops trusts most
#: classes of scikit-learn itself.
TRUSTED_TYPES = [
    *OWN_ESTIMATORS,
    "lpjt.classifiers.combined.Averaged",
    "lpjt.classifiers.combined.Projected",
    "lpjt.classifiers.combined.Reweighted",
    "lpjt.classifiers.combined.Tempered",
    "lpjt.classifiers.inductive.FittedClassifier",
    "lpjt.classifiers.propagation.Pool",
    "lpjt.core.coordinates.Coordinates",
    "lpjt.core.ridge.KernelRidge",
    "lpjt.core.ridge.LinearRidge",
    "lpjt.core.scaling.Scaling",
    "lpjt.likeness.Likeness",
    "lpjt.tables.encoder.ColumnCode",
    "lpjt.tables.encoder.TableEncoder",
]


def name_of(cls: type) -> str:
    """The name of a class in a file, or an error if a file cannot hold its objects."""
    name = f"{cls.__module__}.{cls.__qualname__}"
    if cls.__module__.startswith("sklearn."):
        name = next((public for public in SKLEARN_ESTIMATORS if public.endswith(f".{cls.__name__}")), name)
    if not _is_listed(name) or class_of(name) is not cls:
        raise ModelFileError(
            f"{_described(cls)} cannot be kept in a model file, which holds plain values, arrays and a fixed list of "
            "classes (lpjt.saving.allowed), no code. Choose another setting, or use pickle or joblib, whose files can "
            "execute anything when they are loaded."
        )
    return name


def class_of(name: str) -> Any:
    """The class of a name in a file, or an error if it is not allowed; imports only modules of the two packages."""
    if not _is_listed(name):
        raise ModelFileError(f"The file holds an object of the class {name!r}, which is not allowed in a model file.")
    module, _, attribute = name.rpartition(".")
    try:
        found = getattr(import_module(module), attribute, None)
    except ImportError:
        found = None
    if not inspect.isclass(found) or (name not in _NAMES and not _is_own_dataclass(found, module)):
        raise ModelFileError(
            f"The file holds an object of the class {name!r}, which this version of lpjt does not have."
        )
    return found


def check_names(cls: type, names: Any) -> None:
    """Refuse values that objects of a class do not have, such as one in the place of a method."""
    if dataclasses.is_dataclass(cls):
        known = {field.name for field in dataclasses.fields(cls)}
        wrong = [name for name in names if name not in known]
    else:
        known = _parameters(cls)
        wrong = [name for name in names if not (name in known or _is_fitted_name(cls, name))]
    if wrong:
        raise ModelFileError(f"The file gives a {cls.__name__} the unknown value {wrong[0]!r}.")


def defaults_of(cls: type) -> dict[str, Any]:
    """Values of what an older file may lack: the defaults of a class's fields or parameters."""
    if dataclasses.is_dataclass(cls):
        given = {field.name: field.default for field in dataclasses.fields(cls)}
        return {name: value for name, value in given.items() if value is not dataclasses.MISSING}
    signature = inspect.signature(cls)
    return {p.name: p.default for p in signature.parameters.values() if p.default is not p.empty}


def _described(cls: type) -> str:
    is_function = cls.__name__ in ("function", "builtin_function_or_method", "method", "partial", "ufunc")
    return "A function" if is_function else f"An object of {cls.__module__}.{cls.__qualname__}"


def _is_listed(name: str) -> bool:
    return name in _NAMES or OWN_MODULES.fullmatch(name.rpartition(".")[0]) is not None


def _is_own_dataclass(cls: type, module: str) -> bool:
    return dataclasses.is_dataclass(cls) and cls.__module__ == module


def _parameters(cls: type) -> set[str]:
    """Parameters of the constructors of a class and of its bases."""
    inits = [vars(base)["__init__"] for base in cls.__mro__[:-1] if inspect.isfunction(vars(base).get("__init__"))]
    return {name for init in inits for name in inspect.signature(init).parameters} - {"self"}


def _is_fitted_name(cls: type, name: str) -> bool:
    marked = name.startswith("_") or name.endswith("_")
    there = getattr(cls, name, None)
    return (
        name.isidentifier() and "__" not in name and marked and not callable(there) and not isinstance(there, property)
    )
