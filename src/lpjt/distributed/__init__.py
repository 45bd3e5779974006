"""The fit on Dask arrays: rows stay where they are, in blocks, and only what is small comes to the caller.

Nothing here imports dask before a Dask array is at hand, so that the core does without it.
"""

from lpjt.distributed.adapt import adapt_distributed
from lpjt.distributed.door import holds_lazy, is_lazy, open_lazy_domains
from lpjt.distributed.results import apply_lazily, join_labels, refuse_to_pickle

__all__ = [
    "adapt_distributed",
    "apply_lazily",
    "holds_lazy",
    "is_lazy",
    "join_labels",
    "open_lazy_domains",
    "refuse_to_pickle",
]
