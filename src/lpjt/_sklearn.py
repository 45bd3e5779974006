"""The private parts of scikit-learn that this package uses, imported here and nowhere else."""

from sklearn.base import _fit_context
from sklearn.utils._metadata_requests import SIMPLE_METHODS, MetadataRequest
from sklearn.utils._param_validation import HasMethods, Interval, Options, StrOptions

__all__ = [
    "SIMPLE_METHODS",
    "HasMethods",
    "Interval",
    "MetadataRequest",
    "Options",
    "StrOptions",
    "_fit_context",
]
