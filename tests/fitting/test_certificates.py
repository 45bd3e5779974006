"""Solvers report how well they did, and a fit says so if that is not well enough."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from lpjt import LPJT, TransferWarning
from lpjt.baselines import JDA, JGSA
from lpjt.core import definite, landmarks, projection
from lpjt.fitting.certificates import doubts_of
from toys import blobs


def pair():
    rng = np.random.default_rng(0)
    (X, y), (X_target, _) = (blobs(rng, 40, 5, 3, shift=shift) for shift in (0.0, 1.0))
    return X, y, X_target


def record(residual=0.0, gap=0.0):
    return {"residual": residual, "landmark_gap": gap}


def test_words_have_the_number_and_the_knob():
    assert doubts_of([]) == doubts_of([record(1e-7, 1e-4)]) == []
    assert doubts_of([record(1e-12), record(3e-3)]) == [
        "The projections solve their eigenproblem to a relative residual of 3.0e-03 only; 1e-06 is expected. Set a "
        "larger variance_weight, fewer n_components or another scaling."
    ]
    assert doubts_of([record(gap=0.25)]) == [
        "The landmark weights may be 2.5e-01 of the objective away from the best ones; 1e-03 is expected. Set another "
        "landmark_ratio, or None for equal weights."
    ]
    assert len(doubts_of([record(np.nan, np.nan)])) == 2


def test_a_fit_whose_eigenproblem_is_not_solved_warns(monkeypatch):
    exact = projection._dense

    def inexact(*args):
        phi, P = exact(*args)
        return phi, P + 1e-3

    monkeypatch.setattr(projection, "_dense", inexact)
    with pytest.warns(TransferWarning, match="The projections solve their eigenproblem to a relative residual of"):
        LPJT(candidates=None, safeguard=False, random_state=0).fit(*pair())
    for baseline in (JDA, JGSA):
        with pytest.warns(TransferWarning, match="The eigenproblem is solved to a relative residual .* Set a larger"):
            baseline().fit(*pair())


def test_a_fit_whose_landmarks_are_not_optimal_warns(monkeypatch):
    accelerate = landmarks._accelerate
    monkeypatch.setattr(
        landmarks, "_accelerate", lambda program, w, metric, tol, max_iter: accelerate(program, w, 1e9 * metric, tol, 1)
    )
    with pytest.warns(TransferWarning, match="The landmark weights may be .* of the objective away"):
        LPJT(candidates=None, safeguard=False, landmark_ratio=0.5, random_state=0).fit(*pair())


def test_propagation_that_does_not_converge_warns():
    n = 200
    path = sparse.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1])
    A = (sparse.diags_array(np.asarray(path.sum(axis=1)).ravel() + 1e-6) - path).tocsr()
    B = np.eye(n)[:, :2]
    with pytest.warns(TransferWarning, match=r"relative residual of .* only, not 1e-08, in 3 steps.*n_neighbors"):
        solution = definite.conjugate_gradients(A, B, max_iter=3)
    assert solution.residual > 1e-8
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert definite.conjugate_gradients(A, B).residual < 1e-8


def test_ordinary_fits_have_certificates_and_no_doubt():
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*residual|.*landmark weights may")
        model = LPJT(candidates=None, safeguard=False, landmark_ratio=0.5, random_state=0).fit(*pair())
    assert all(r["residual"] < 1e-9 and r["landmark_gap"] <= 1e-5 for r in model.history_)


def test_an_objective_of_zero_has_no_relative_gap():
    marks = landmarks.Landmarks([], objective=0.0, gap=1e-17, n_iter=1, scale=1.0)
    assert marks.relative_gap < 0.1
