"""Operations that are counted, and losses that are found in them."""

import gc
import sys
import threading
from contextlib import suppress
from types import FunctionType

import numpy as np
import pytest
from scipy import linalg, sparse
from scipy.sparse import linalg as iterative

from lpjt.core import definite, neighbors
from lpjt.core.leading import largest_of_pair
from lpjt.study.speed import loss, work
from lpjt.study.speed.data import even_counts, make_pair
from lpjt.study.speed.methods import METHODS
from speed_records import fit_record, pretend, result_of, run

FEW = even_counts(120, 3)


def counts_of(function, *args):
    with work.counted_work() as counted:
        function(*args)
    return counted.counts()


def rows(n, width, seed=0):
    return np.random.default_rng(seed).normal(size=(n, width))


def test_products_are_counted_by_their_kind_and_module():
    found = counts_of(neighbors.nearest_rows, rows(300, 7), rows(200, 7, 1), 3)
    calls, operations = found.pop("neighbour search in lpjt.core.neighbors")
    assert calls >= 1
    assert operations == 2 * 300 * 200 * 7
    # One product per row of the candidates for each of the three steps of ties, and lengths of four means.
    assert sum(others for _, others in found.values()) <= 3 * 2 * 200 * 7 + 4 * 2 * 7
    A = sparse.csr_array(4 * np.eye(40) - np.eye(40, k=1) - np.eye(40, k=-1))
    found = counts_of(definite.conjugate_gradients, A, rows(40, 3))
    calls, operations = found["sparse products in lpjt.core.definite"]
    assert calls > 1
    assert operations == calls * 2 * (3 * 40 - 2) * 3


def test_library_functions_are_counted_under_their_caller():
    S = np.diag(np.arange(1.0, 61.0))
    found = counts_of(linalg.eigh, S)
    assert found == {}, "taken before the context began"
    assert counts_of(lambda: linalg.eigh(S)) == {"eigenproblems in other code": (1, 9.0 * 60**3)}
    found = counts_of(definite.solve_definite, S, rows(60, 2))
    assert found["factorizations in lpjt.core.definite"] == (2, 60**3 / 3 + 2 * 60**2 * 2)


def test_eigenvectors_of_a_pair_are_counted_by_their_parts():
    found = counts_of(lambda: largest_of_pair(np.diag(np.arange(60.0)), np.eye(60), 5))
    wanted = 60**3 * (1 + 4 / 3) + 2 * 59**2 * 5  # the pair to one matrix, its tridiagonal form, five vectors back
    assert found["eigenproblems in lpjt.core.leading"] == (3, pytest.approx(wanted))
    assert found["factorizations in lpjt.core.leading"] == (2, pytest.approx(60**3 / 3 + 2 * 60**2 * 5))


def test_products_within_an_iterative_solver_count_and_parts_of_a_function_do_not():
    S = np.diag(np.linspace(1, 100, 200))
    asked = []

    def multiply(x):
        asked.append(len(x))
        return linalg.blas.dsymv(1.0, S, x)

    operator = iterative.LinearOperator(S.shape, matvec=multiply, dtype=float)
    found = counts_of(lambda: iterative.eigsh(operator, 3))
    assert found["dense products in other code"] == (len(asked), len(asked) * 2.0 * 200**2)
    assert found["eigenproblems in other code"] == (1, 0.0)
    counted = work.Work()
    inner = counted.wrap(lambda: None, "inner", lambda *_: 1.0)
    counted.wrap(lambda: inner(), "outer", lambda *_: 5.0)()
    assert counted.counts() == {"outer in other code": (1, 5.0)}


def test_nothing_is_left_behind():
    before = [(f, f.__code__) for f in gc.get_objects() if type(f) is FunctionType]
    eigh, matmul = linalg.eigh, np.matmul
    with suppress(RuntimeError), work.counted_work():
        assert linalg.eigh is not eigh
        raise RuntimeError
    assert linalg.eigh is eigh
    assert np.matmul is matmul
    assert all(function.__code__ is code for function, code in before)
    assert not [m for m in sys.modules.values() if work._COUNTER in getattr(m, "__dict__", {})]


def test_a_fit_does_the_same_work_again_and_gives_the_same_labels():
    pair = make_pair(source=FEW, target=FEW, width=40)
    given = {"max_iter": 2, "tol": 0.0, "candidates": None}

    def fit(name, n_jobs):
        return METHODS[name].fit(pair.X_source, pair.y_source, pair.X_target, given | {"n_jobs": n_jobs})

    uncounted, one, two = fit("LPJT", 1), fit("LPJT, counted", 1), fit("LPJT, counted", 2)
    assert np.array_equal(one.labels, uncounted.labels)
    assert one.facts["work"] == two.facts["work"]
    kinds = {name.partition(" in ")[0] for name in one.facts["work"]}
    assert {work.DENSE, work.NEIGHBORS, work.EIGEN} <= kinds


def test_threads_lose_no_call():
    counted = work.Work()
    threads = [
        threading.Thread(target=lambda: [counted.add("x", "m", 1.0) for _ in range(5000)], daemon=True)
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counted.counts() == {"x in m": (20_000, 20_000.0)}


WORK = {
    "dense products in lpjt.core.moments": [100, 8e9],
    "dense products in lpjt.core.ridge": [100, 1e9],
    "sparse products in lpjt.core.definite": [50, 1e9],
    "factorizations in lpjt.core.ridge": [1, 1e6],
}


def quick_record(**changes):
    return fit_record("1,000 rows", "LPJT, counted", 1000, work={**WORK, **changes}, versions={"numpy": "2"})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, []),
        ({"sparse products in lpjt.core.definite": [50, 1.29e9]}, []),
        ({"sparse products in lpjt.core.definite": [50, 1.31e9]}, ["sparse products: 1.31 times", "core.definite"]),
        ({"dense products in lpjt.core.ridge": [100, 5e9]}, ["dense products: 1.44 times", "lpjt.core.ridge"]),
        # Too small a share to matter, three times as much or not.
        ({"factorizations in lpjt.core.ridge": [1, 3e6]}, []),
        ({"factorizations in lpjt.core.ridge": [200, 1e6]}, ["calls: 1.79 times"]),
        ({"eigenproblems in lpjt.core.new": [1, 2e9]}, ["eigenproblems: none before"]),
    ],
)
def test_more_work_is_a_loss_that_names_its_primitive(changes, words):
    found = list(loss.losses(quick_record(**changes), quick_record()))
    assert bool(found) == bool(words), found
    assert all(any(word in said for said in found) for word in words), found


def test_less_work_and_no_record_are_no_loss():
    less = quick_record(**{"dense products in lpjt.core.moments": [1, 1.0]})
    assert not list(loss.losses(less, quick_record()))
    assert not list(loss.losses(quick_record(), None))
    assert not list(loss.losses(quick_record(), fit_record("1,000 rows", size=1000)))


def test_other_packages_are_named_beside_a_loss():
    then = quick_record() | {"versions": {"numpy": "1"}}
    now = quick_record(**{"dense products in lpjt.core.ridge": [100, 5e9]})
    found = loss.work_faults(result_of("quick", [now]), result_of("quick", [then]))
    assert found[-1] == "Since the record was stored: numpy 1 to 2."
    assert not loss.work_faults(result_of("quick", [quick_record()]), result_of("quick", [then]))


def test_quick_fails_on_work_and_accepts_it_with_store(monkeypatch, tmp_path):
    def quick(record, *more):
        pretend(monkeypatch, [{name: value for name, value in record.items() if name != "versions"}])
        return run("quick", "--rows", 1000, "-o", tmp_path, *more)

    more = quick_record(**{"sparse products in lpjt.core.definite": [50, 2e9]})
    assert "--store writes one" in quick(quick_record()).output
    assert quick(quick_record(), "--store").exit_code == 0
    failed = quick(more)
    assert failed.exit_code == 1
    assert "sparse products: 2.00 times" in failed.output
    assert quick(quick_record()).exit_code == 0
    assert quick(more, "--store").exit_code == 0
    assert quick(more).exit_code == 0
