"""A conformance suite for domain adaptation estimators, in the style of `sklearn.utils.estimator_checks`.

Which labels are right is the method's affair; that rows in another order get the same labels, that inputs are left
alone, that unlabelled rows do not teach and that strings are labels is everybody's.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any
from unittest import SkipTest

from lpjt.conformance import _checks

__all__ = ["check_da_estimator", "da_estimator_checks", "describe_checks"]

#: All checks, in the order in which they run.
CHECKS: tuple[_checks.Check, ...] = tuple(f for name, f in vars(_checks).items() if name.startswith("check_"))


def da_estimator_checks(estimator: Any, *, target_labels: int = 0) -> Iterator[tuple[Any, Callable[[Any], None]]]:
    """Pairs of the estimator and a check of it, for a test runner.

    Parameters
    ----------
    estimator : object
        As for `check_da_estimator`.
    target_labels : int, default=0
        Labelled target rows per class in every check, for methods that need some.

    Yields
    ------
    estimator, check
        ``check(estimator)`` raises if it fails; ``check.func.__name__`` is its name.

    Examples
    --------
    >>> import pytest
    >>> from lpjt import LPJT
    >>> from lpjt.conformance import da_estimator_checks
    >>> parametrize = pytest.mark.parametrize(("estimator", "check"), list(da_estimator_checks(LPJT())))
    """
    for check in CHECKS:
        yield estimator, partial(check, target_labels=target_labels)


def describe_checks() -> dict[str, str]:
    """What each check asks for, by name.

    Examples
    --------
    >>> from lpjt.conformance import describe_checks
    >>> describe_checks()["check_read_only_inputs"]
    'Arrays that cannot be written to are accepted.'
    """
    return {check.__name__: (check.__doc__ or "").strip() for check in CHECKS}


def check_da_estimator(
    estimator: Any,
    *,
    target_labels: int = 0,
    on_fail: str | None = "raise",
    expected_failed_checks: Mapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """Check a domain adaptation estimator: row order, untouched inputs, no leak of labels, dtypes, strings and so on.

    Parameters
    ----------
    estimator : object
        With ``fit(X, y, X_target)`` or ``fit(X, y, sample_domain=...)``, ``predict(X)`` for target rows, and
        scikit-learn's ``get_params`` and ``set_params``. skada's pipelines, `LPJT` and `lpjt.baselines` are such.
    target_labels : int, default=0
        Labelled target rows per class in every check, for methods that need some.
    on_fail : {"raise", "warn"} or None, default="raise"
        What a failed check that is not expected to fail does; None only records it.
    expected_failed_checks : dict of name to reason, default=None
        Checks that cannot hold for this estimator.

    Returns
    -------
    list of dict
        One per check: estimator, check_name, status ("passed", "failed", "xfail" or "skipped"), exception,
        expected_to_fail and expected_to_fail_reason.

    Examples
    --------
    >>> from lpjt import check_da_estimator
    >>> from lpjt.baselines import NearestNeighbor
    >>> results = check_da_estimator(NearestNeighbor())
    >>> sum(result["status"] == "failed" for result in results)
    0
    """
    if on_fail not in ("raise", "warn", None):
        raise ValueError(f"on_fail={on_fail!r} is not known. Give 'raise', 'warn' or None.")
    expected = dict(expected_failed_checks or {})
    unknown = sorted(set(expected) - set(describe_checks()))
    if unknown:
        raise ValueError(f"expected_failed_checks names {unknown[0]!r}, which is no check. See describe_checks().")
    results = []
    for _, check in da_estimator_checks(estimator, target_labels=target_labels):
        name = check.func.__name__  # type: ignore[attr-defined]
        status, error = _run(check, estimator)
        if status == "failed" and name in expected:
            status = "xfail"
        if status == "failed" and on_fail is not None:
            message = f"{type(estimator).__name__} fails {name}: {error}"
            if on_fail == "raise":
                raise AssertionError(message) from error
            warnings.warn(message, UserWarning, stacklevel=2)
        results.append(
            {
                "estimator": estimator,
                "check_name": name,
                "status": status,
                "exception": error,
                "expected_to_fail": name in expected,
                "expected_to_fail_reason": expected.get(name, ""),
            }
        )
    return results


def _run(check: Callable[[Any], None], estimator: Any) -> tuple[str, Exception | None]:
    try:
        check(estimator)
    except SkipTest as reason:
        return "skipped", reason
    except Exception as error:
        return "failed", error
    return "passed", None
