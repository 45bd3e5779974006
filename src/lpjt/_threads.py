"""Threads of a fit: BLAS, OpenMP and the neighbour searches are told one number, and nothing else runs beside them."""

from contextlib import nullcontext

from joblib import effective_n_jobs
from threadpoolctl import threadpool_limits


def threads(n_jobs):
    """Context in which the numerical libraries have so many threads, as scikit-learn counts them (-1: all processors).

    None leaves them at their own setting, which joblib and the environment may have lowered.
    """
    if n_jobs is None:
        return nullcontext()
    return threadpool_limits(effective_n_jobs(n_jobs))
