"""Warnings in threads: what floating-point flags and filters of warnings must not do to fits side by side."""

import ctypes
import warnings
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pytest

import lpjt.estimator
import lpjt.fitted
from lpjt import LPJT, NuSVM, TransferWarning
from lpjt._products import sound_products
from lpjt._threads import map_threads, threads
from lpjt.baselines import SA
from lpjt.classifiers import inductive
from lpjt.core.coordinates import Coordinates, to_coordinates
from lpjt.core.scaling import Scaling

#: A signalling NaN of float32.
SIGNALLING = 0x7F8A1234


def litter():
    """Leave signalling NaNs on the stack, where the next product has its own: in an argument by value."""

    class Large(ctypes.Structure):
        _fields_ = (("words", ctypes.c_uint32 * 50_000),)

    function = ctypes.CDLL(None).getpid
    function.argtypes = (Large,)
    large = Large()
    ctypes.memset(ctypes.byref(large), 0, ctypes.sizeof(large))
    large.words[:] = [SIGNALLING] * 50_000
    function(large)


def rows_of_five_columns():
    rng = np.random.default_rng(0)
    return rng.normal(size=(22, 5)).astype(np.float32), rng.normal(size=(5, 1)).astype(np.float32)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_others_left_on_the_stack_is_no_invalid_value(n_jobs):
    """Case 6907 of the attack: OpenBLAS's product of float32 rows of 5 columns reads a lane that is not its own."""
    X, basis = rows_of_five_columns()

    def coordinates(_):
        litter()
        return to_coordinates(X, Coordinates(Scaling(), basis))

    with warnings.catch_warnings(), threads(n_jobs):
        warnings.simplefilter("error")
        found = map_threads(coordinates, range(4))
    for Z in found:
        np.testing.assert_allclose(Z, X.astype(float) @ basis.astype(float), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("owner", "names"),
    [
        (lpjt.estimator, ["fit_domains"]),
        (LPJT, ["_keep", "_embed"]),
        (lpjt.fitted, ["embed_block", "to_coordinates"]),
        (SA, ["_learn", "_codes_of", "_embed"]),
    ],
)
def test_fits_and_answers_are_in_sound_products(owner, names, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 5)), np.repeat([0, 1], 6)
    seen = []

    def observe(original, name):
        def observed(*given, **options):
            seen.append((name, np.geterr()["invalid"]))
            return original(*given, **options)

        return observed

    for name in names:
        monkeypatch.setattr(owner, name, observe(getattr(owner, name), name))
    for model in (LPJT(candidates=None, safeguard=False, random_state=0), SA()):
        model.fit(X, y, X + 0.1)
        model.predict(X)
        model.transform(X)
        if isinstance(model, LPJT):
            model.transform(X, sample_domain=np.full(12, -2))
    assert set(seen) == {(name, "log") for name in names}
    assert np.geterr()["invalid"] == "warn"


def test_only_products_are_silent():
    zero = np.zeros(1)
    with sound_products():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert np.isnan(np.full((2, 2), np.inf) @ np.zeros(2)).all()
        with pytest.warns(RuntimeWarning, match="^invalid value encountered in divide$") as caught:
            zero / zero
        assert caught[0].filename == __file__
        with pytest.warns(RuntimeWarning, match="overflow encountered in matmul"):
            np.full((2, 2), 1e200) @ np.full(2, 1e200)


@pytest.mark.parametrize("mode", ["ignore", "raise"])
def test_what_the_caller_chose_stays(mode):
    with np.errstate(invalid=mode), sound_products():
        assert np.geterr()["invalid"] == mode


@pytest.mark.parametrize("first", [None, lambda: None])
def test_threads_have_the_floating_point_settings_of_their_caller(first):
    with threads(2), np.errstate(divide="raise", over="ignore"):
        found = map_threads(lambda _: np.geterr(), range(2), first=first)
        assert found == [np.geterr()] * 2


def test_who_is_told_by_the_caller_stays():
    told = []
    with np.errstate(invalid="warn", call=lambda kind, flag: told.append(kind)), threads(2):
        assert np.geterr()["invalid"] == "warn"
        with np.errstate(divide="call"):
            map_threads(lambda _: np.ones(1) / np.zeros(1), range(2))
    assert told == ["divide by zero"] * 2


def test_invalid_values_in_threads_warn_as_anywhere():
    with threads(2), pytest.warns(RuntimeWarning, match="^invalid value encountered in divide$"):
        assert np.isnan(map_threads(lambda _: np.zeros(1) / np.zeros(1), range(2))).all()


def test_machines_that_end_early_side_by_side_warn_in_our_words_alone(monkeypatch):
    """Case 8650 of the attack: filters of warnings are the process's, and the first machine to end took them along."""
    monkeypatch.setattr(inductive, "MAX_STEPS", 1)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    first_began, second_began, first_ended = Event(), Event(), Event()

    class First(NuSVM):
        def _fit_with_nu(self, *given):
            first_began.set()
            assert second_began.wait(30)
            return super()._fit_with_nu(*given)

    class Second(NuSVM):
        def _fit_with_nu(self, *given):
            second_began.set()
            assert first_ended.wait(30)
            return super()._fit_with_nu(*given)

    def fit_first():
        First().fit(X, y)
        first_ended.set()

    def fit_second():
        assert first_began.wait(30)
        Second().fit(X, y)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        before = list(warnings.filters)
        with ThreadPoolExecutor(2) as pool:
            for future in [pool.submit(fit_first), pool.submit(fit_second)]:
                future.result()
        assert list(warnings.filters) == before
    assert [w.category for w in caught] == [TransferWarning] * 2


def test_blocks_of_labels_are_encoded_without_a_filter(monkeypatch):
    """Dask encodes them in threads; the warning that they are all of the class -1 is given for all of them together."""
    pytest.importorskip("dask")
    from lpjt.engines.dask.labels import encode_block

    monkeypatch.setattr(warnings, "catch_warnings", None)
    monkeypatch.setattr(warnings, "warn", None)
    codes = encode_block(np.array([-1, -1]), "y_target", np.array([-1, 1]), True, np.dtype(np.int8))
    np.testing.assert_array_equal(codes, [0, 0])
