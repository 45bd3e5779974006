"""
A Dask cluster
==============

My rows are on many machines: can they stay there? `LPJT` takes Dask arrays. The sample that it learns from comes to
one process, all rows are embedded and labelled where they are, and the labels are those of the fit in memory. Here
two worker processes of this machine stand for the cluster. On a real one, give ``Client`` the address of its
scheduler and leave the ``LocalCluster`` out; nothing else changes::

    pip install 'lpjt[dask]'
    python examples/dask_cluster.py
"""

import tempfile
import time

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster
from sklearn.datasets import load_digits

from lpjt import LPJT


def smeared_digits():
    """Digits, their labels, and smeared digits with theirs: X, y, X_target, y_target."""
    X, y = load_digits(return_X_y=True)
    images = X[900:1500].reshape(-1, 8, 8)
    smeared = sum(np.roll(images, shift, axis=(1, 2)) for shift in [(0, 0), (0, 1), (1, 0), (1, 1)])
    return X[:600], y[:600], smeared.reshape(-1, 64), y[900:1500]


def main():
    """Fit on two workers and in memory, and compare."""
    X, y, X_target, y_target = smeared_digits()
    with (
        tempfile.TemporaryDirectory() as scratch,
        dask.config.set(temporary_directory=scratch),  # what workers write to disk goes when they go
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        rows = da.from_array(X, chunks=(300, -1))
        target = da.from_array(X_target, chunks=(300, -1))
        # Candidates are left out only to make the example quick: they are tried on the sample, as in memory.
        began = time.perf_counter()
        model = LPJT(candidates=None, random_state=0, verbose=1).fit(rows, y, target)
        labels = model.transduction_.compute()  # a Dask array until now, held by the workers
        print(f"On two workers: {100 * np.mean(labels == y_target):.1f} % of {len(labels)} labels are right", end="")
        print(f" ({time.perf_counter() - began:.1f} s).")
        again = model.predict(target)  # lazy, too: blocks are labelled where they are
        print(f"predict on the Dask array: {again}")
    in_memory = LPJT(candidates=None, random_state=0).fit(X, y, X_target)
    print(f"Equal to the labels of the fit in memory: {100 * np.mean(labels == in_memory.transduction_):.1f} %.")


if __name__ == "__main__":
    main()
