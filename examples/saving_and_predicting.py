"""
Saving and predicting
=====================

The fit is done: how do I label the rows that come tomorrow, on another machine? A model is kept in one file of
numbers and texts. Nothing in it is executed when it is loaded, so that a file from someone else can be opened without
fear. On files, ``lpjt adapt ... --model digits.lpjt`` and ``lpjt predict digits.lpjt new.csv -o labels.csv`` do the
same.
"""

import tempfile
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

import lpjt

X, y = load_digits(return_X_y=True)
images = X.reshape(-1, 8, 8)
smeared = sum(np.roll(images, shift, axis=(1, 2)) for shift in [(0, 0), (0, 1), (1, 0), (1, 1)]).reshape(-1, 64)
model = lpjt.LPJT(random_state=0).fit(X[:400], y[:400], smeared[400:800])

folder = tempfile.TemporaryDirectory()
file = Path(folder.name) / "digits.lpjt"
model.save(file)
print(f"{file.name}: {file.stat().st_size / 1e3:.0f} kB")

# %%
# Tomorrow: rows that the fit never saw.

again = lpjt.load(file)
X_new, y_new = smeared[800:], y[800:]
print("the same answers, bit by bit:", np.array_equal(again.predict_proba(X_new), model.predict_proba(X_new)))
print(f"1-NN without adaptation: {KNeighborsClassifier(1).fit(X[:400], y[:400]).score(X_new, y_new):.1%} right")
print(f"the loaded model:        {again.score(X_new, y_new):.1%}")

# %%
# Rows that do not look like those of the fit are labelled all the same, with a warning: here images in negative.

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    again.predict(X_new.max() - X_new)
print(caught[0].message)

# %%
# A file that was changed is refused, and the error says why.

whole = file.read_bytes()
file.write_bytes(whole[: len(whole) // 2])
try:
    lpjt.load(file)
except lpjt.ModelFileError as error:
    print(str(error).replace(folder.name, "..."))
folder.cleanup()
