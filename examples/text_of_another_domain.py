"""
Text of another domain
======================

My texts are labelled, the new ones come from other authors: what do the labels tell me? Here the texts are the
manuals that are on this machine: the docstrings of numpy are labelled by topic, those of scipy are not. The same
topics are described by other people in other words, scipy has many more of them, and has other proportions of the
topics.
"""

import inspect

import matplotlib.pyplot as plt
import numpy as np
import scipy.fft
import scipy.linalg
import scipy.stats
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

import lpjt


def manuals(**modules):
    """Docstrings of the public functions and methods of modules, and the topic of each."""
    texts, topics = [], []
    for topic, home in modules.items():
        for name in dir(home):
            text = inspect.getdoc(getattr(home, name)) or ""
            if not name.startswith("_") and len(text) > 300:
                texts.append(text)
                topics.append(topic)
    return texts, np.array(topics)


numpy_texts, y_source = manuals(algebra=np.linalg, fourier=np.fft, random=np.random)
scipy_texts, truth = manuals(algebra=scipy.linalg, fourier=scipy.fft, random=scipy.stats)
words = TfidfVectorizer(max_features=400, stop_words="english", sublinear_tf=True).fit(numpy_texts + scipy_texts)
X_source, X_target = words.transform(numpy_texts), words.transform(scipy_texts)  # sparse, and stay so
for who, topics in (("numpy", y_source), ("scipy", truth)):
    names, counts = np.unique(topics, return_counts=True)
    print(f"{who}: " + ", ".join(f"{count} {name}" for name, count in zip(names, counts, strict=True)))

# %%
# Words that only scipy uses have no weight in a classifier that was fitted on numpy. In the shared space they have:
# they occur together with words that both use.

model = lpjt.LPJT(random_state=0).fit(X_source, y_source, X_target)
right = {"LPJT": np.mean(model.transduction_ == truth)}
for name, plain in (("linear SVM", LinearSVC(random_state=0)), ("1-NN", KNeighborsClassifier(1))):
    right[f"{name}, no adaptation"] = plain.fit(X_source, y_source).score(X_target, truth)
for name, share in right.items():
    print(f"{name:26} {share:.1%} right")
print(model.summary_)

figure, ax = plt.subplots(figsize=(6.4, 2.2), layout="constrained")
ax.bar_label(ax.barh(list(right), list(right.values())), fmt="{:.0%}", padding=3)
ax.set(xlabel="accuracy on scipy's texts", xlim=(0, 1.1))
plt.show()

# %%
# On reviews of two classes a linear SVM without adaptation is hard to beat; *When not to use it* has more of that kind.
