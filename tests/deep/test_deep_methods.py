"""Each method undoes a shift that an unadapted network does not, and has the interface of the baselines."""

import pickle

import numpy as np
import pytest
from deep_toys import accuracy, moved_clusters, quick
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

torch = pytest.importorskip("torch", reason="the deep methods need torch")
pytest.importorskip("ot", reason="DeepJDOT needs POT")

from lpjt import deep  # noqa: E402
from problems import masked  # noqa: E402

every = pytest.mark.parametrize("name", deep.__all__)

#: Methods, and what they need beside the quick network of the toys.
ADAPTING = {name: {} for name in deep.__all__ if name != "SourceOnly"}
ADAPTING["DDC"] = {"weight": 5.0}  # a quarter takes longer
ADAPTING["MCD"] = {"learning_rate": 0.001, "hidden": 64, "max_epochs": 15}  # quicker, its classifiers part for good


@pytest.fixture(scope="module")
def unadapted():
    """Accuracy of the network that does not adapt."""
    X, y, X_target, y_target = moved_clusters()
    return accuracy(quick("SourceOnly").fit(X, y, X_target), y_target)


@pytest.mark.parametrize("name", ADAPTING)
def test_the_method_undoes_a_shift_that_the_unadapted_network_does_not(name, unadapted):
    X, y, X_target, y_target = moved_clusters()
    adapted = accuracy(quick(name, **ADAPTING[name]).fit(X, y, X_target), y_target)
    assert unadapted < 0.85
    assert adapted > 0.95


@every
def test_without_a_target_the_method_is_the_unadapted_network_or_its_own_classifier(name):
    X, y, _, _ = moved_clusters()
    names = np.array(["ash", "beech", "cedar"])
    model = quick(name, max_epochs=5).fit(X, names[y])
    assert model.transduction_ is None
    assert np.mean(model.predict(X) == names[y]) > 0.9
    if name in ("DDC", "DAN"):  # no module of their own: the same random numbers
        assert_array_equal(model.predict_proba(X), quick("SourceOnly", max_epochs=5).fit(X, names[y]).predict_proba(X))


@every
def test_target_labels_join_the_supervised_loss(name):
    X, y, X_target, y_target = moved_clusters(aside=4.0)
    given = masked((y_target + 1) % 3, 10)  # labels that no method finds by itself
    known = given >= 0
    without, with_labels = (
        quick(name, max_epochs=4, patience=None).fit(X, y, X_target, labels) for labels in (None, given)
    )
    of_given = [model.predict_proba(X_target)[known, given[known]].mean() for model in (without, with_labels)]
    assert of_given[1] > min(of_given[0] + 0.1, 10 * of_given[0])
    assert_array_equal(with_labels.transduction_[known], given[known])


@every
@pytest.mark.usefixtures("few_batches")
def test_probabilities_embedding_and_labels_agree(name):
    X, y, X_target, _ = moved_clusters()
    model = quick(name, max_epochs=2).fit(X, y, X_target)
    P, Z = model.predict_proba(X_target), model.transform(X_target)
    assert_allclose(P.sum(axis=1), 1)
    assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X_target))
    assert_array_equal(model.predict(X_target), model.transduction_)
    assert Z.shape == (len(X_target), 32)
    assert (Z >= 0).all()
    assert_allclose(model.predict_proba(X_target[3:4]), P[3:4], rtol=1e-12)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X_target), P)


@every
@pytest.mark.usefixtures("few_batches")
def test_rows_may_be_sparse_or_of_single_precision(name):
    X, y, X_target, _ = moved_clusters()
    model = quick(name, max_epochs=2, scaling="standard")
    dense = model.fit(X, y, X_target).predict_proba(X_target)
    found = model.fit(sparse.csr_matrix(X), y, sparse.csr_matrix(X_target)).predict_proba(sparse.csr_matrix(X_target))
    assert_allclose(found, dense, atol=1e-5)
    single = model.fit(X.astype(np.float32), y, X_target.astype(np.float32))
    assert_allclose(single.predict_proba(X_target.astype(np.float32)), dense, atol=1e-2)
    assert single.transform(X_target.astype(np.float32)).dtype == np.float32


@every
@pytest.mark.usefixtures("few_batches")
@pytest.mark.filterwarnings("error", "ignore:Only one source row")
def test_small_tables_are_fitted(name):
    X, y, X_target, _ = moved_clusters()
    rare = np.r_[0, 1, 3, 4, 6, 2]  # one row of the last class
    for target in (X_target[:2], X_target[:5]):  # one row is refused at the door
        model = quick(name, max_epochs=2, batch_size=4096).fit(X[rare], y[rare], target)
        assert np.isfinite(model.predict_proba(X_target)).all()
        assert len(model.transduction_) == len(target)
    many = quick(name, max_epochs=1, batch_size=1).fit(X[:12], y[:12], X_target[:7])
    assert np.isfinite(many.predict_proba(X_target)).all()
    constant = quick(name, max_epochs=1).fit(np.ones((6, 2)), y[:6], np.ones((4, 2)))
    assert np.isfinite(constant.predict_proba(np.ones((1, 2)))).all()


def test_other_widths_are_refused_in_words():
    X, y, X_target, _ = moved_clusters()
    with pytest.raises(
        ValueError, match="DANN needs domains of one width, but the source has 6 columns and the target 5"
    ):
        quick("DANN").fit(X, y, X_target[:, :5])
