"""Baselines that take several sources, and the refusals of those that take one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lpjt.baselines import JDA, NearestNeighbor
from lpjt.baselines._base import Embedding
from lpjt.baselines._projection import LabelledRows
from problems import shifted_pair


class Pooled(Embedding):
    """The nearest row of any source, among rows as they are scaled; remembers what it was given."""

    _several_sources = True

    def __init__(self, *, scaling="standard"):
        self.scaling = scaling

    def _learn_sources(self, sources, target, n_classes):
        self.n_rows_ = [len(source.y) for source in sources]
        self.means_ = [source.X.mean(axis=0) for source in sources]
        self.nearest_ = LabelledRows(np.vstack([s.X for s in sources]), np.concatenate([s.y for s in sources]))

    def _codes_of(self, X):
        return self.nearest_.nearest_codes(X)

    def _embed(self, X, domain):
        return X


def three_domains():
    """Two sources, the second in other units, and a target: dicts of rows and labels, rows and labels."""
    X, y, X_target, y_target = shifted_pair(shift=0.2)
    names = np.array(["ash", "beech", "cedar"])
    sources = {"photo": X[:50], "sketch": 3.0 * X[50:] + 7.0}
    return sources, {"photo": names[y[:50]], "sketch": names[y[50:]]}, X_target, names[y_target]


def test_every_source_is_scaled_by_itself_and_keeps_its_name():
    X, y, X_target, y_target = three_domains()
    model = Pooled().fit(X, y, X_target)
    assert model.n_rows_ == [50, 40]
    assert np.mean(model.transduction_ == y_target) > 0.9
    # The units of the second source leave no trace, so it was not scaled together with the first.
    same_units = Pooled().fit({**X, "sketch": (X["sketch"] - 7.0) / 3.0}, y, X_target)
    assert_allclose(same_units.means_, model.means_, atol=1e-12)
    assert_allclose(
        same_units.transform((X["sketch"] - 7.0) / 3.0, "sketch"), model.transform(X["sketch"], "sketch"), atol=1e-12
    )
    assert not np.allclose(model.transform(X["sketch"], "photo"), model.transform(X["sketch"], "sketch"))
    assert_array_equal(model.fit_predict(X, y, X_target), model.transduction_)
    embedded = model.fit_transform(X, y, X_target)
    assert list(embedded) == ["photo", "sketch"]
    assert_allclose(embedded["sketch"], model.transform(X["sketch"], "sketch"))


def test_one_source_needs_no_dict_and_a_dict_of_one_is_the_same():
    X, y, X_target, _ = shifted_pair()
    bare, named = Pooled().fit(X, y, X_target), Pooled().fit({"photo": X}, {"photo": y}, X_target)
    assert_array_equal(bare.transduction_, named.transduction_)
    assert_array_equal(bare.transform(X, "source"), named.transform(X, "photo"))
    assert Pooled().fit(X, y).transduction_ is None


def test_a_wrong_name_is_answered_with_the_right_ones():
    X, y, X_target, _ = three_domains()
    model = Pooled().fit(X, y, X_target)
    with pytest.raises(ValueError, match=r"domain='source' is not a domain of fit. Give 'photo', 'sketch' or 'target'"):
        model.transform(X_target, "source")


def test_a_source_of_another_width_is_named():
    X, y, X_target, _ = three_domains()
    X["sketch"] = X["sketch"][:, :5]
    with pytest.raises(ValueError, match=r"one width, but the source 'sketch' has 5 columns and the target 8"):
        Pooled().fit(X, y, X_target)


def test_dicts_that_make_no_problem_are_refused():
    X, y, X_target, _ = three_domains()
    with pytest.raises(ValueError, match=r"Pooled was given a dict of sources without a target. Give X_target too"):
        Pooled().fit(X, y)
    with pytest.raises(ValueError, match=r"Pooled takes one target, not a dict of targets. Fit each target separately"):
        Pooled().fit(X, y, {"new": X_target})


@pytest.mark.parametrize("method", [JDA, NearestNeighbor])
def test_methods_of_one_source_refuse_several(method):
    X, y, X_target, _ = three_domains()
    with pytest.raises(ValueError, match=rf"{method.__name__} takes one source and one target, not dicts of domains"):
        method().fit(X, y, X_target)
