"""
Embeddings of images
====================

My labels are of sharp images, the new images are blurred: can I keep the network and still trust the labels? Images
are rarely adapted pixel by pixel. One takes the last hidden layer of a network that was trained once, and works on
these embeddings. Here a small network is trained on sharp digits, and embeds digits of a scanner that smears every
pixel into its neighbours. With features of a large network, the code below the first block stays the same.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neural_network import MLPClassifier
from sklearn.svm import LinearSVC

import lpjt

X, y = load_digits(return_X_y=True)
X = X / 16
network = MLPClassifier((32,), learning_rate_init=0.01, tol=1e-2, random_state=0).fit(X[:800], y[:800])


def embed(images):
    """What the hidden layer says: 32 numbers for each image."""
    return np.maximum(images @ network.coefs_[0] + network.intercepts_[0], 0)


def smear(images):
    """Every pixel takes in its upper and left neighbours."""
    square = images.reshape(-1, 8, 8)
    return sum(np.roll(square, shift, axis=(1, 2)) for shift in [(0, 0), (0, 1), (1, 0), (1, 1)]).reshape(-1, 64) / 4


X_source, y_source = embed(X[800:1100]), y[800:1100]
X_target, truth = embed(smear(X[1200:1500])), y[1200:1500]

# %%
# The network itself, a linear classifier on the embeddings of labelled images, and `LPJT` on the same embeddings.

svm = LinearSVC(random_state=0).fit(X_source, y_source)
model = lpjt.LPJT(random_state=0).fit(X_source, y_source, X_target)
print(f"the network on sharp images:        {network.score(X[1200:1500], truth):.1%} right")
print(f"the network on smeared images:      {network.score(smear(X[1200:1500]), truth):.1%}")
print(f"linear SVM on smeared embeddings:   {svm.score(X_target, truth):.1%}")
print(f"LPJT on smeared embeddings:         {np.mean(model.transduction_ == truth):.1%}")
print(f"what LPJT expects without labels:   {model.estimated_accuracy_:.1%}")

# %%
# Which digits are still confused.

lpjt.plot.confusion(model, truth)
plt.show()
