"""
Different channels
==================

My labelled data has other columns than the new data: can it help at all? The old device records 64 channels, the new
one 16, and no column of the one is a column of the other. No classifier of the old rows can even read the new ones. A
few rows of the new device are labelled, three for each class; each domain gets its own projection into a shared
space.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from lpjt import LPJT
from lpjt.baselines import TargetPropagation

X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
X_source, y_source = X[:400], y[:400]
mixing = rng.normal(size=(64, 16))  # each new channel hears a mixture of all that there is
X_target, truth = X[400:800] @ mixing, y[400:800]

y_target = np.full(400, -1)  # -1: not labelled
for digit in range(10):
    y_target[np.flatnonzero(truth == digit)[:3]] = digit
known = y_target >= 0
print(f"source {X_source.shape}, target {X_target.shape}, {known.sum()} target rows are labelled")

# %%
# Without the source, all that one can do is to learn from the labelled rows: by an SVM, or by propagation, which uses
# the unlabelled rows too. These are the numbers to beat. All are accuracies on the rows that are not labelled.


def right(labels):
    """Share of right labels among the rows that had none."""
    return np.mean(labels[~known] == truth[~known])


svm = SVC(kernel="linear").fit(X_target[known], truth[known])
spread = TargetPropagation().fit(X_source, y_source, X_target, y_target)
model = LPJT(random_state=0).fit(X_source, y_source, X_target, y_target)
print(f"SVM on the labelled target rows:          {right(svm.predict(X_target)):.1%} right")
print(f"propagation from the labelled target rows: {right(spread.transduction_):.1%}")
print(f"LPJT, with the source of other channels:   {right(model.transduction_):.1%}")

# %%
# New rows of either device are embedded by its own projection, into the same space.

print(model.transform(X_target[:2]).shape, model.transform(X_source[:2], domain="source").shape)
