"""Bad input: what was found, what is wanted, what to do; and nothing half fitted left behind."""

import warnings

import numpy as np
import pytest

from lpjt import LPJT
from problems import shifted_pair, widened

X, Y, T, Y_T = shifted_pair()
NAN, INF = T.copy(), T.copy()
NAN[3, 1], INF[5, 2] = np.nan, np.inf


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((X[:0], Y[:0], T), r"0 sample\(s\)"),
        ((X[:1], Y[:1], T), "1 sample"),
        ((X, Y, T[:1]), "1 sample"),
        ((X, np.zeros(len(X)), T), "class"),
        ((X, Y[:-1], T), r"89.*90|90.*89"),
        ((X, Y, NAN), r"X_target holds NaN at row 3, column 1"),
        ((X, Y, INF), r"inf.* at row 5, column 2"),
        ((X, Y, T, np.full(len(T), 7)), "7"),
        ((X + 1j, Y, T), "Complex data not supported"),
        ((X, Y, np.full(T.shape, "a", dtype=object)), "number"),
    ],
    ids=[
        "empty",
        "one row",
        "one target row",
        "one class",
        "lengths",
        "nan",
        "inf",
        "unknown label",
        "complex",
        "text",
    ],
)
def test_the_error_says_what_was_found(arguments, words):
    model = LPJT()
    with pytest.raises((ValueError, TypeError), match=words):
        model.fit(*arguments)
    assert not [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]


def test_coupling_wants_equal_widths():
    with pytest.raises(ValueError, match=r"coupling_weight=2\.0 joins A and B .* widths of the domains differ"):
        LPJT(coupling_weight=2.0).fit(X, Y, widened(T, 11))


def test_a_bandwidth_that_removes_the_graph_is_named():
    with pytest.raises(ValueError, match=r"A bandwidth of 1\.0 leaves nothing of the graph: its edges are .* long"):
        LPJT(graph_weights=1.0, scaling="none", target_proportions="source").fit(1000 * X, Y, 1000 * T)
    with pytest.raises(ValueError, match=r"A bandwidth of 1\.0 leaves nothing of the graph"):  # of every candidate
        LPJT(graph_weights=1.0, scaling="none", kernel="linear").fit(1000 * X, Y, 1000 * T)


def test_widths_of_fit_and_predict_must_agree():
    model = fitted()
    with pytest.raises(ValueError, match="X has 5 features, but LPJT is expecting 8 features"):
        model.predict(T[:, :5])


@pytest.mark.parametrize("domain", [np.ones(len(X)), -np.ones(len(X))], ids=["no target", "no source"])
def test_sample_domain_wants_both_sides(domain):
    with pytest.raises(ValueError, match=r"No (target|source) samples"):
        LPJT().fit(X, Y, sample_domain=domain.astype(int))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"landmark_ratio": 0}, "'landmark_ratio' parameter of LPJT must be"),
        ({"n_components": 0}, "'n_components' parameter"),
        ({"kernel": "rbv"}, "'kernel' parameter"),
        ({"scaling": "zscore"}, "'scaling' parameter"),
        ({"classifier": 3}, "'classifier' parameter"),
    ],
)
def test_parameters_are_checked(parameters, words):
    with pytest.raises(ValueError, match=words):
        LPJT(**parameters).fit(X, Y, T)


def test_more_components_than_directions_are_reduced_with_a_warning():
    with pytest.warns(
        UserWarning, match=r"n_components=50 is more than the number of directions of the domains; reduced to"
    ):
        model = LPJT(n_components=50, random_state=0).fit(X, Y, T)
    assert model.transform(T).shape[1] <= 16


@pytest.mark.parametrize("flaw", ["constant column", "duplicate columns", "duplicate rows", "few rows", "rare class"])
def test_odd_but_legal_data_are_fitted(flaw):
    source, labels, target, truth = shifted_pair(seed=2)
    if flaw == "constant column":
        source, target = (np.column_stack([part, np.full(len(part), 3.0)]) for part in (source, target))
    elif flaw == "duplicate columns":
        source, target = (np.column_stack([part, part]) for part in (source, target))
    elif flaw == "duplicate rows":
        source, labels = np.vstack([source, source]), np.r_[labels, labels]
        target, truth = np.vstack([target, target]), np.r_[truth, truth]
    elif flaw == "few rows":
        source, labels, target, truth = source[:6], labels[:6], target[:5], truth[:5]
    else:
        rows = np.r_[np.flatnonzero(labels != 2), np.flatnonzero(labels == 2)[:1]]
        source, labels = source[rows], labels[rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LPJT(random_state=0, landmark_ratio=0.5).fit(source, labels, target)
    assert model.transduction_.shape == truth.shape
    assert np.isfinite(model.label_distributions_).all()
    assert np.isfinite(model.transform(target)).all()


def test_rows_all_alike_do_not_crash():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LPJT(random_state=0, safeguard=False).fit(np.ones((12, 4)), np.arange(12) % 2, np.ones((9, 4)))
    assert np.isfinite(model.label_distributions_).all()


def fitted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LPJT(random_state=0).fit(X, Y, T)
