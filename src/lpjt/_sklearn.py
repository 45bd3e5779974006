"""The private parts of scikit-learn that this package uses, imported here and nowhere else."""

from typing import Any

from sklearn.base import _fit_context
from sklearn.utils._metadata_requests import SIMPLE_METHODS, MetadataRequest
from sklearn.utils._param_validation import HasMethods, Interval, Options, StrOptions

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks

    TO_CALLER = 5  # frames from a method that `fit` calls to the caller of `fit`, whom warnings name
except ImportError:  # before scikit-learn 1.9: estimators have no `set_callbacks`
    TO_CALLER = 4

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """No callbacks."""

    def with_callbacks(method: Any) -> Any:
        """The method as it is."""
        return method


__all__ = [
    "SIMPLE_METHODS",
    "TO_CALLER",
    "CallbackSupportMixin",
    "HasMethods",
    "Interval",
    "MetadataRequest",
    "Options",
    "StrOptions",
    "_fit_context",
    "begin_fit",
    "end_fit",
    "tell_iteration",
    "with_callbacks",
]


def begin_fit(estimator: Any, *, max_iter: int) -> None:
    """Tell scikit-learn's callbacks that a fit of at most `max_iter` iterations begins; nothing before 1.9."""
    if hasattr(estimator, "_init_callback_context"):
        estimator._init_callback_context(max_subtasks=max_iter).call_on_fit_task_begin(estimator=estimator)


def tell_iteration(estimator: Any) -> None:
    """Tell them that an iteration is over."""
    context = getattr(estimator, "_callback_fit_ctx", None)
    if context is not None:
        task = context.subcontext(task_name="iteration")
        task.call_on_fit_task_begin(estimator=estimator)
        task.call_on_fit_task_end(estimator=estimator)


def end_fit(estimator: Any) -> None:
    """Tell them that the fit is over."""
    context = getattr(estimator, "_callback_fit_ctx", None)
    if context is not None:
        context.call_on_fit_task_end(estimator=estimator)
