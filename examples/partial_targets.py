"""
Partial targets
===============

My new data has only some of the classes: will the method invent the others? A method that makes the domains look
alike spreads target rows over all classes of the source, whether they are there or not. Here the source has ten
digits, the smeared target four of them, in unequal shares. A fit does not know that.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

import lpjt
from lpjt.baselines import JDA

X, y = load_digits(return_X_y=True)
images = X.reshape(-1, 8, 8)
smeared = sum(np.roll(images, shift, axis=(1, 2)) for shift in [(0, 0), (0, 1), (1, 0), (1, 1)]).reshape(-1, 64)
X_source, y_source = X[:500], y[:500]
rest = np.arange(500, len(y))
rows = np.concatenate([rest[y[rest] == digit][:n] for digit, n in {0: 100, 3: 70, 6: 40, 9: 20}.items()])
X_target, truth = smeared[rows], y[rows]

# %%
# 1-NN does not adapt, JDA aligns the domains class by class, `LPJT` also tries other proportions than the source's.
# The last line is for those who know which classes can occur.

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the summary below says the same
    model = lpjt.LPJT(random_state=0).fit(X_source, y_source, X_target)
    told = lpjt.LPJT(target_proportions={0: 0.43, 3: 0.3, 6: 0.18, 9: 0.09}, random_state=0)
    told = told.fit(X_source, y_source, X_target)
answers = {
    "1-NN, no adaptation": KNeighborsClassifier(1).fit(X_source, y_source).predict(X_target),
    "JDA": JDA().fit(X_source, y_source, X_target).transduction_,
    "LPJT": model.transduction_,
    "LPJT, proportions given": told.transduction_,
}
for name, labels in answers.items():
    print(f"{name:24} {np.mean(labels == truth):6.1%} right, {np.mean(~np.isin(labels, truth)):6.1%} in absent classes")

# %%
# What the fit says by itself, without labels. Compare its proportions with the true ones: 43, 30, 17 and 9 %.

print("seem to be absent:", model.absent_classes_.tolist())
print(model.summary_)
lpjt.plot.proportions(model, y_source)
plt.show()
