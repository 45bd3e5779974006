"""The private parts of scikit-learn that this package uses, imported here and nowhere else."""

from sklearn.base import _fit_context
from sklearn.utils._param_validation import HasMethods, Interval, Options, StrOptions

__all__ = ["HasMethods", "Interval", "Options", "StrOptions", "_fit_context"]
