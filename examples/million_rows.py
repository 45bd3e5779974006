"""
A million rows
==============

I have a million rows: do they fit into memory, and how long does it take? The method learns from a sample, then
embeds and labels all rows in blocks, so that time and memory grow in proportion to the rows. Rows may be on disk.
This page was made with fewer rows, in seconds. The page on performance has measured times of large fits; for the
full size::

    ROWS=1_000_000 python examples/million_rows.py
"""

import os
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.linear_model import SGDClassifier

from lpjt import LPJT

n = int(os.environ.get("ROWS", "10_000"))
rng = np.random.default_rng(0)
centres, turn = rng.normal(scale=0.7, size=(6, 32)), rng.normal(scale=0.15, size=(32, 32))


def write(path, n, turned):
    """Write n rows of six classes as a memory map on disk, in blocks, and their labels."""
    rows = np.lib.format.open_memmap(path, "w+", dtype=np.float32, shape=(n, 32))
    y = rng.integers(6, size=n)
    for start in range(0, n, 50_000):
        block = centres[y[start : start + 50_000]]
        block = block + rng.normal(size=block.shape)
        rows[start : start + 50_000] = block @ (np.eye(32) + turn) * 1.5 + 1 if turned else block
    return rows, y


folder = tempfile.TemporaryDirectory()
X_source, y_source = write(Path(folder.name, "source.npy"), n // 2, turned=False)
X_target, truth = write(Path(folder.name, "target.npy"), n // 2, turned=True)

# %%
# The shift was made strong enough to matter: with a weaker one, the linear classifier is as good without adaptation.
# With candidates, as here by default, most of the time of a small fit goes into the choice, which does not grow with
# the rows. ``memory_limit`` bounds the working memory; ``pip install 'lpjt[faiss]'`` makes the neighbour search fast.

began = time.perf_counter()
model = LPJT(sample_size=1000, memory_limit="1GB", random_state=0).fit(X_source, y_source, X_target)
seconds = time.perf_counter() - began
plain = SGDClassifier(random_state=0).fit(X_source, y_source)
print(f"{n:,} rows in {seconds:.0f} s; this process used at most ", end="")
print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GB")
print(f"linear classifier without adaptation: {plain.score(X_target, truth):.1%} right")
print(f"LPJT:                                 {np.mean(model.transduction_ == truth):.1%}")
print({stage: round(spent, 1) for stage, spent in model.seconds_.items()})
folder.cleanup()
