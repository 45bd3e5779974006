"""Engines, which hold the rows: in memory and on disk (`lpjt.engines.local`), or in Dask (`lpjt.engines.dask`).

Nothing here imports dask before a Dask array is given.
"""

from typing import Any

from lpjt.domains import is_dict
from lpjt.engines.local import LocalEngine

__all__ = ["LocalEngine", "choose_engine", "is_lazy"]


def is_lazy(X: object) -> bool:
    """Whether `X` is a Dask collection; does not import dask."""
    return type(X).__module__.partition(".")[0] == "dask" and hasattr(X, "__dask_graph__")


def choose_engine(*given: Any) -> Any:
    """Engine of the rows given to `fit`: Dask's if any of them, or any value of a dict, is a Dask collection."""
    if not any(is_lazy(X) or (is_dict(X) and any(map(is_lazy, X.values()))) for X in given):
        return LocalEngine()
    from lpjt.engines.dask import DaskEngine

    return DaskEngine()
