"""
Adding a method
===============

I have a method of my own: how do I compare it fairly, and how do others get it? An estimator with scikit-learn's
parameters and ``fit(X, y, X_target, y_target=None)`` is all that is needed. Here: the nearest class mean, after the
target's class means were found by repeated labelling.
"""

import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestCentroid
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from lpjt import LPJT, check_da_estimator
from lpjt.study.runs import Method

warnings.simplefilter("ignore")  # of pixels that are always 0


class MovingMeans(ClassifierMixin, BaseEstimator):
    """Class means that move from the source's to the target's rows; each domain has z-scores of its own."""

    def __init__(self, n_steps=10):
        self.n_steps = n_steps

    def fit(self, X, y, X_target, y_target=None):
        """Label the target by the source's means, take the means of these labels, and repeat."""
        self.scaler_ = StandardScaler().fit(X_target)
        self.means_ = NearestCentroid().fit(StandardScaler().fit_transform(X), y)
        rows = self.scaler_.transform(X_target)
        for _ in range(self.n_steps):
            labels = self.means_.predict(rows)
            if len(set(labels)) == 1:  # one class left: nothing to learn
                break
            self.means_ = NearestCentroid().fit(rows, labels)
        self.classes_, self.transduction_ = np.unique(y), self.means_.predict(rows)
        return self

    def predict(self, X):
        """Labels of target rows."""
        check_is_fitted(self)
        return self.means_.predict(self.scaler_.transform(X))


# %%
# Does it do what one may expect of any such estimator? The suite names what fails, and why.

for result in check_da_estimator(MovingMeans(), on_fail=None):
    if result["status"] == "failed":
        print(f"{result['check_name']}: {' '.join(str(result['exception']).split())[:80]}")

# %%
# And is it good? Beside `LPJT`, and beside the nearest mean without adaptation:

X, y = load_digits(return_X_y=True)
smeared = sum(np.roll(X.reshape(-1, 8, 8), s, axis=(1, 2)) for s in [(0, 0), (0, 1), (1, 0), (1, 1)]).reshape(-1, 64)
for model in (MovingMeans(), LPJT(random_state=0)):
    print(f"{model}: {np.mean(model.fit(X[:300], y[:300], smeared[300:600]).transduction_ == y[300:600]):.1%} right")
print(f"no adaptation: {NearestCentroid().fit(X[:300], y[:300]).score(smeared[300:600], y[300:600]):.1%}")

# %%
# Under ``[project.entry-points."lpjt.methods"]`` of your package, the line ``means = "my_package:MEANS"`` adds it to
# ``lpjt reproduce --methods means`` for everybody who installs it.

MEANS = Method("Moving means", "my_package:MovingMeans", scales_itself=True)
print(MEANS.name, MEANS.estimator)
