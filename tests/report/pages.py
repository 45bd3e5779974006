"""Fitted models for the tests of reports, small and made once, and a reader of pages."""

import json
import re
import warnings
from functools import cache
from html.parser import HTMLParser

import numpy as np
from scipy import sparse

from lpjt import LPJT
from problems import shifted_pair

HOSTILE = [
    "<script>alert(1)</script>",
    "]]></svg><img src=x onerror=alert(2)>",
    "\"quoted\" & 'single' </script><b>",
    "‮right to left‬ شيء",
    "x" * 500,
    "{{ 7 * 7 }}{% raw %}",
]


def fit(X, y, X_target, y_target=None, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LPJT(random_state=0, **parameters).fit(X, y, X_target, y_target)


@cache
def plain():
    """A model with candidates, and its X, y, X_target, y_target."""
    X, y, X_target, y_target = shifted_pair()
    return fit(X, y, X_target), X, y, X_target, y_target


@cache
def hostile():
    """Labels, ids and columns that want to be code."""
    X, y, X_target, y_target = shifted_pair(n_classes=3, width=6)
    pandas = __import__("pandas")
    names = np.array(HOSTILE[:3], dtype=object)
    frame = pandas.DataFrame(X, columns=HOSTILE)
    target = pandas.DataFrame(X_target, columns=HOSTILE)
    model = fit(frame, names[y], target)
    ids = np.array([HOSTILE[i % len(HOSTILE)] + str(i) for i in range(len(target))], dtype=object)
    return model, {"X": frame, "y": names[y], "X_target": target, "y_true": names[y_target], "ids": ids}


@cache
def shapes():
    """Name, model and rows of every kind of fit."""
    X, y, X_target, y_target = shifted_pair(n_classes=3, width=6)
    few = np.where(np.arange(len(y_target)) % 5 == 0, y_target, -1)
    sources, labels = {"one": X[::2], "two": X[1::2]}, {"one": y[::2], "two": y[1::2]}
    targets = {"left": X_target[::2], "right": X_target[1::2]}
    truth = {"left": y_target[::2], "right": y_target[1::2]}
    stack, domain = np.vstack([X, X_target]), np.repeat([0, -1], [len(X), len(X_target)])
    marks = np.concatenate([y, np.full(len(X_target), -1)])
    known = np.concatenate([y, y_target])
    narrow = X_target[:, :4]
    stacked = LPJT(random_state=0, candidates=None).fit(stack, marks, sample_domain=domain)
    return {
        "several": (fit(sources, labels, targets), {"X": sources, "y": labels, "X_target": targets, "y_true": truth}),
        "widths": (
            fit(X, y, narrow, few),
            {"X": X, "y": y, "X_target": narrow, "y_target": few, "y_true": y_target},
        ),
        "sparse": (
            fit(sparse.csr_array(X), y, sparse.csr_array(X_target)),
            {"X": sparse.csr_array(X), "y": y, "X_target": sparse.csr_array(X_target)},
        ),
        "no candidates": (fit(X, y, X_target, candidates=None), {"X": X, "y": y, "X_target": X_target}),
        "unadapted": (fit(X, y, X, candidates=None), {"X": X, "y": y, "X_target": X}),
        "no target": (fit(X, y, None), {"X": X, "y": y}),
        "stack": (stacked, {"X": stack, "y": marks, "y_true": known, "sample_domain": domain}),
        "target alone": (fit(X, y, X_target), {"X_target": X_target}),
        "labels alone": (fit(X, y, X_target), {"y": y, "y_true": y_target}),
    }


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.words, self._quiet = [], [], 0

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self._quiet += tag in {"script", "style"}

    def handle_endtag(self, tag):
        self._quiet -= tag in {"script", "style"}

    def handle_data(self, data):
        if not self._quiet:
            self.words.append(data)


def read(page):
    """Tags with attributes, and the text that is seen, on one line."""
    reader = _Reader()
    reader.feed(page)
    return reader.tags, " ".join(" ".join(reader.words).split())


def points(page):
    """The numbers behind the drawings."""
    return json.loads(re.search(r'<script type="application/json" id="points">(.*?)</script>', page, re.S)[1])


def sections(page):
    return [attributes["id"] for tag, attributes in read(page)[0] if tag == "section" and "id" in attributes]
