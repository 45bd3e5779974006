"""
Different channels
==================

My labelled data has other columns than the new data: can it help at all? The old device records 64 channels, the new
one 16, and no column of the one is a column of the other. No classifier of the old rows can even read the new ones. A
few rows of the new device are labelled, three for each class; each domain gets its own projection into a shared
space.
"""

import matplotlib.pyplot as plt
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
shares = {
    "LPJT, with the source": right(model.transduction_),
    "propagation, target alone": right(spread.transduction_),
    "SVM, target alone": right(svm.predict(X_target)),
}
for name, share in shares.items():
    print(f"{name:26} {share:.1%} right")

figure, ax = plt.subplots(figsize=(6.4, 2.2), layout="constrained")
ax.bar_label(ax.barh(list(shares), list(shares.values())), fmt="{:.0%}", padding=3)
ax.set(xlabel="accuracy on the rows without a label", xlim=(0, 1))
plt.show()

# %%
# New rows of either device are embedded by its own projection, into the same space.

print(model.transform(X_target[:2]).shape, model.transform(X_source[:2], domain="source").shape)
