"""
Choosing parameters
===================

Which parameters shall I take, if I have no target label to compare them with? Cross-validation on the source prefers
what is good for the source. `LPJTSearch` compares the settings of a grid by the labels that they give to a sample of
the target: whether these separate the target, agree with each other, and lead back to the source's labels.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from lpjt import LPJT, LPJTSearch

X, y = load_digits(return_X_y=True)
images = X[300:600].reshape(-1, 8, 8)
smeared = sum(np.roll(images, shift, axis=(1, 2)) for shift in [(0, 0), (0, 1), (1, 0), (1, 1)])
X_source, y_source = X[:300], y[:300]
X_target, truth = smeared.reshape(-1, 64), y[300:600]

grid = {"n_components": [2, 5, 10, 20, 40]}
search = LPJTSearch(LPJT(random_state=0), grid, random_state=0).fit(X_source, y_source, X_target)
print("chosen without labels:", search.best_params_)

# %%
# Was the choice good? Here the labels are known, so each setting can be fitted and scored: without candidates, in the
# view that the search chose, as the search itself compares them.

scaling = search.best_estimator_.scaling_
truths = []
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # some settings have not settled after ten iterations
    for setting in search.cv_results_["params"]:
        model = LPJT(candidates=None, scaling=scaling, random_state=0, **setting).fit(X_source, y_source, X_target)
        truths.append(np.mean(model.transduction_ == truth))
best = int(np.argmin(search.cv_results_["rank"]))
plain = KNeighborsClassifier(1).fit(X_source, y_source)
print(f"1-NN without adaptation:      {plain.score(X_target, truth):.1%} right")
print(f"worst, median, best of all:   {min(truths):.1%}, {np.median(truths):.1%}, {max(truths):.1%}")
print(f"the chosen setting:           {truths[best]:.1%}")
print(f"refitted with its candidates: {np.mean(search.best_estimator_.transduction_ == truth):.1%}")

# %%
# A high score without labels goes with a high accuracy; small differences are noise.

figure, ax = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
ax.scatter(search.cv_results_["score"], truths)
ax.scatter(search.cv_results_["score"][best], truths[best], marker="*", s=200, label="chosen")
ax.set(xlabel="score without labels", ylabel="accuracy")
ax.legend()
plt.show()
