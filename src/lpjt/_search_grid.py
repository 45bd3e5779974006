"""From a grid of parameters to estimators, and from what came of them to a table."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from lpjt.estimator import LPJT
from lpjt.fitting.compare import EVIDENCE, Compared

#: Parameters of `LPJT` that do not change the labels of the sample, so that a search cannot compare their values.
NOT_COMPARED = frozenset(
    {"refine", "safeguard", "sample_size", "memory_limit", "n_jobs", "callback", "verbose", "random_state"}
)


def read_grid(estimator: LPJT, param_grid: Any) -> tuple[list[dict[str, Any]], list[LPJT]]:
    """Settings of a grid, and an unfitted estimator for each of them."""
    settings = list(ParameterGrid(param_grid))
    if not any(settings):
        raise ValueError(
            f"param_grid={param_grid!r} names no parameter to compare. Give names and values, for example "
            "{'n_components': [10, 20, 40]}."
        )
    idle = sorted(name for name in NOT_COMPARED if len({repr(one.get(name)) for one in settings}) > 1)
    if idle:
        warnings.warn(
            f"param_grid varies {', '.join(idle)}, which the search cannot compare: it does not act on the sample that "
            "settings are compared on. Settings that differ in nothing else have equal scores, and the first wins.",
            UserWarning,
            stacklevel=4,
        )
    return settings, [_configure(estimator, one) for one in settings]


def _configure(estimator: LPJT, setting: Mapping[str, Any]) -> LPJT:
    # Clones of the values too: classifiers and kernels of the grid would otherwise be changed and shared.
    model = clone(estimator).set_params(**{n: clone(v, safe=False) for n, v in setting.items() if "__" not in n})
    nested = {name: clone(value, safe=False) for name, value in setting.items() if "__" in name}
    values = model.get_params(deep=False)
    for name in nested:
        owner = name.partition("__")[0]
        if owner in values and not hasattr(values[owner], "set_params"):
            remedy = "Propagation()" if owner == "classifier" else "Kernel()" if owner == "kernel" else "an object"
            raise ValueError(
                f"{name!r} in param_grid needs an object with parameters, but {owner}={values[owner]!r}. Give the "
                f"estimator {owner}={remedy}, for example."
            )
    return model.set_params(**nested)


def warn_of_failures(settings: Sequence[Mapping[str, Any]], found: Sequence[Compared]) -> None:
    """Warn of each setting that failed; raise an error if all of them did."""
    failed = [(in_words(one), c.error) for one, c in zip(settings, found, strict=True) if c.error is not None]
    if len(failed) == len(settings):
        words, error = failed[0]
        raise ValueError(
            f"All {len(settings)} settings failed. The first, {words}: {type(error).__name__}: {error}"
        ) from error
    for words, error in failed:
        warnings.warn(
            f"The setting {words} failed and has no score: {type(error).__name__}: {error}", UserWarning, stacklevel=4
        )


def tabulate(settings: Sequence[dict[str, Any]], found: Sequence[Compared]) -> dict[str, Any]:
    """Columns of the table of all settings, as in `LPJTSearch.cv_results_`."""
    results: dict[str, Any] = {"params": list(settings)}
    for name in sorted({name for one in settings for name in one}):
        column = np.ma.masked_all(len(settings), dtype=object)
        for i, one in enumerate(settings):
            if name in one:
                column[i] = one[name]
        results[f"param_{name}"] = column
    for name in EVIDENCE:
        results[name] = np.array([c.evidence[name] for c in found])
    results["rank"] = rankdata(-np.nan_to_num(results["score"], nan=-np.inf), method="min").astype(np.int32)
    results["seconds"] = np.array([c.seconds for c in found])
    return results


def print_lines(results: Mapping[str, Any], best: int) -> None:
    """Print a line for each setting, and one for the best."""
    settings, scores, seconds = (results[name] for name in ("params", "score", "seconds"))
    for i, setting in enumerate(settings):
        end = "failed" if np.isnan(scores[i]) else f"score {scores[i]:.3f}, {seconds[i]:.2f} s"
        print(f"[LPJTSearch] {i + 1} of {len(settings)}: {in_words(setting)}: {end}")
    print(f"[LPJTSearch] best: {in_words(settings[best])}")


def in_words(setting: Mapping[str, Any]) -> str:
    """A setting as "name=value, name=value"; "the estimator's own" if it sets nothing."""
    return ", ".join(f"{name}={value!r}" for name, value in setting.items()) or "the estimator's own"
