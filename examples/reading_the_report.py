"""
Reading the report
==================

The labels are there: may I use them, and what shall I tell the others? `report` puts a fit on one page that is read
in a minute, and can be mailed or printed. On files, ``lpjt adapt old.csv new.csv -o labels.csv --report report.html``
does the same.

.. image:: ../figures/report-demo.png
   :alt: First screen of a report: what was transferred, estimated accuracy, what to worry about
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.neighbors import KNeighborsClassifier

import lpjt

wines = load_wine(as_frame=True)
rng = np.random.default_rng(0)
rows = rng.permutation(len(wines.data))
old, new = rows[:90], rows[90:]
X_source, y_source = wines.data.iloc[old], wines.target_names[wines.target[old]]
X_target, truth = wines.data.iloc[new].copy(), wines.target_names[wines.target[new]]
X_target["alcohol"] += 2  # the new laboratory's alcohol meter reads two per cent more,
X_target["proline"] *= 0.4  # and proline is determined in another way

model = lpjt.LPJT(random_state=0).fit(X_source, y_source, X_target)
folder = tempfile.TemporaryDirectory()  # yours would be where you look for it
page = Path(folder.name) / "report.html"
model.report(page, X=X_source, y=y_source, X_target=X_target, y_true=truth)
print(f"{page.name}: {page.stat().st_size / 1e6:.1f} MB, needs no network")
folder.cleanup()

# %%
# Its first screen in words, and what is true. Without adaptation, the nearest old row gives the label.

print(model.summary_)
plain = KNeighborsClassifier(1).fit(X_source, y_source)
print(f"1-NN without adaptation: {plain.score(X_target, truth):.1%} right")
print(f"LPJT:                    {np.mean(model.transduction_ == truth):.1%}")

# %%
# *What shifted* names the two columns that the new laboratory measures in another way. A shift that has a cause, such
# as another unit, is better repaired in the data than adapted to.

lpjt.plot.columns(model, X_source, X_target, n=5)
plt.show()

# %%
# In a notebook, a fitted model shows the verdict.

model
