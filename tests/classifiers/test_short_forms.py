"""Short forms of ``one_setting(classifier=...)``: ours, and those that another package adds by entry points."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestCentroid

from lpjt import NuSVM, Propagation
from lpjt.classifiers import Inductive, make_classifier, short_forms
from problems import one_setting, shifted_pair

X, y, X_target, y_target = shifted_pair(apart=1.5)

MODULE = '''
import numpy as np


class Constant:
    """Every unlabelled row gets the first class."""

    def classify(self, Z, labels, weights, n_classes, *, search="exact"):
        return np.tile(np.eye(n_classes)[0], ((labels < 0).sum(), 1))

    def freeze(self, Z, labels, weights, distributions, *, search="exact"):
        return self

    def distributions_of(self, Z):
        return np.tile([1.0, 0.0, 0.0], (len(Z), 1))


def broken():
    raise RuntimeError("no licence")
'''


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Another package, installed for one test."""
    information = tmp_path / "their_classifiers-1.2.dist-info"
    information.mkdir()
    (tmp_path / "their_classifiers.py").write_text(MODULE)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: their-classifiers\nVersion: 1.2\n")
    (information / "entry_points.txt").write_text(
        "[lpjt.classifiers]\ncentroid = sklearn.neighbors:NearestCentroid\nconstant = their_classifiers:Constant\n"
        "lost = their_classifiers:Lost\nbroken = their_classifiers:broken\nsvm = their_classifiers:Constant\n"
    )
    monkeypatch.syspath_prepend(tmp_path)


def test_ours():
    assert list(short_forms())[:4] == ["propagation", "harmonic", "nn", "svm"]
    assert isinstance(make_classifier("propagation"), Propagation)
    assert make_classifier("harmonic").anchored is False
    assert isinstance(make_classifier("svm").estimator, NuSVM)
    assert isinstance(make_classifier(LogisticRegression()), Inductive)


def test_another_package_adds_a_scikit_learn_classifier(installed):
    named = one_setting(classifier="centroid", random_state=0).fit(X, y, X_target)
    given = one_setting(classifier=NearestCentroid(), random_state=0).fit(X, y, X_target)
    assert_array_equal(named.transduction_, given.transduction_)
    assert np.mean(named.transduction_ == y_target) > 0.9


def test_another_package_adds_a_classifier_of_its_own(installed):
    model = one_setting(classifier="constant", random_state=0, safeguard=False).fit(X, y, X_target)
    assert set(model.transduction_) == {0}
    assert set(model.predict(X_target)) == {0}


def test_ours_cannot_be_replaced(installed):
    assert isinstance(make_classifier("svm").estimator, NuSVM)


@pytest.mark.parametrize(("name", "why"), [("lost", "AttributeError"), ("broken", "RuntimeError: no licence")])
def test_a_broken_entry_point_is_named(installed, name, why):
    with pytest.raises(ImportError, match=rf"classifier='{name}' of another package cannot be made \({why}.*Mend or"):
        one_setting(classifier=name).fit(X, y, X_target)
    one_setting(random_state=0).fit(X, y, X_target)  # nothing else breaks


def test_what_is_no_classifier_is_refused():
    with pytest.raises(ValueError, match=r"classifier='tree' is unknown\. Give one of 'propagation'"):
        make_classifier("tree")
    with pytest.raises(TypeError, match=r"cannot label rows\. Give an object with `classify` and `freeze`"):
        make_classifier(NearestCentroid)
    with pytest.raises(TypeError, match="cannot label rows"):
        make_classifier(3)
