"""
Sensors that drift
==================

My labels are from last year's sensors: do they still hold for what the same sensors say today? A classifier fitted
last year goes on answering, and nothing tells you that its answers have become wrong. Here four gases are measured by
sixteen sensors. Within a year each sensor changes its gain and its offset, and neighbours begin to hear each other.
Nobody has labelled this year's rows; the labels in ``truth`` serve the score alone.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lpjt

rng = np.random.default_rng(3)
responses = rng.uniform(1, 4, size=(4, 16))  # of each sensor to each gas


def measure(n, drift):
    """Rows of sixteen sensors, and the gas of each."""
    gas = rng.integers(4, size=n)
    strength = rng.uniform(0.6, 1.4, size=(n, 1))
    rows = responses[gas] * strength + rng.normal(scale=0.35, size=(n, 16))
    year = np.random.default_rng(7)  # the same drift for every row
    gain, offset = 1 + drift * year.normal(scale=0.35, size=16), drift * year.normal(scale=1.6, size=16)
    heard = (1 - 0.2 * drift) * rows + 0.2 * drift * np.roll(rows, 1, axis=1)
    return heard * gain + offset, gas


X_source, y_source = measure(300, drift=0)
X_target, truth = measure(300, drift=1)

# %%
# The drift was made strong enough to matter: with offsets half as large, last year's classifier is nearly as good.
# Last year's classifier, as it is, and the same rows labelled by `LPJT`. It sees no label of this year, and says how
# many of its labels it believes to be right.

classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X_source, y_source)
model = lpjt.LPJT(random_state=0).fit(X_source, y_source, X_target)
low, high = model.estimated_accuracy_interval_
print(f"last year's classifier, last year: {classifier.score(*measure(300, drift=0)):.1%} right")
print(f"last year's classifier, this year: {classifier.score(X_target, truth):.1%}")
print(f"LPJT, this year:                   {np.mean(model.transduction_ == truth):.1%}")
print(f"LPJT's own estimate:               {model.estimated_accuracy_:.1%} ({low:.0%} to {high:.0%})")

# %%
# Both years in the principal directions of the rows, and in the shared space that the fit has found: there, this
# year's rows lie upon last year's rows of the same gas.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
for ax, when in ((left, "before"), (right, "after")):
    lpjt.plot.embedding(model, X_source, y_source, X_target, when=when, layout="pca", ax=ax)
plt.show()
