"""A model that was saved predicts as before, bit by bit."""

import datetime
import json
import pickle
import zipfile
from collections import UserList

import joblib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import lpjt
from lpjt import LPJT, Kernel, NuSVM, Propagation
from lpjt.saving import TRUSTED_TYPES, ModelFileError, save
from lpjt.saving.trees import Decoder, Encoder
from problems import shifted_pair

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

SETTINGS = {
    "default": {},
    "rbf": {"kernel": Kernel("rbf", gamma=0.2)},
    "poly": {"kernel": "poly", "candidates": None},
    "one setting": {"candidates": None, "refine": False},
    "harmonic": {"classifier": "harmonic"},
    "propagation object": {"classifier": Propagation(n_neighbors=7)},
    "nn": {"classifier": "nn"},
    "svm": {"classifier": "svm"},
    "svm object": {"classifier": NuSVM(nu=0.3), "candidates": None},
    "logistic": {"classifier": LogisticRegression(C=0.5), "candidates": None},
    "discriminant": {"classifier": LinearDiscriminantAnalysis(), "candidates": None},
    "bayes": {"classifier": GaussianNB(), "candidates": None},
    "neighbours in a tree": {"classifier": KNeighborsClassifier(3, algorithm="ball_tree"), "candidates": None},
    "landmarks": {"landmark_ratio": 0.5, "candidates": None},
    "proportions": {"target_proportions": np.full(3, 1 / 3)},
}


@pytest.fixture
def pair():
    return shifted_pair()


def kept(model, folder):
    path = folder / "model.lpjt"
    save(model, path, overwrite=True)
    return lpjt.load(path)


def assert_same(model, again, X, domain="target"):
    for method in ("predict", "predict_proba", "transform"):
        ours, theirs = (getattr(m, method)(X, domain=domain) for m in (model, again))
        assert theirs.dtype == ours.dtype
        assert_array_equal(theirs, ours, err_msg=method)


@pytest.mark.parametrize("setting", SETTINGS)
def test_predictions_are_equal_bit_by_bit(setting, pair, tmp_path):
    X, y, X_target, _ = pair
    model = LPJT(**{"random_state": 0, **SETTINGS[setting]}).fit(X, y, X_target)
    again = kept(model, tmp_path)
    new = X_target[::2] + 0.01
    for rows in (new, new[:1]):
        assert_same(model, again, rows)
    assert_same(model, again, X[:9], "source")
    assert_array_equal(again.transduction_, model.transduction_)
    assert str(again.get_params()) == str(model.get_params())
    assert again.history_ == model.history_
    assert again.candidates_ == model.candidates_
    assert again.summary_ == model.summary_


def test_every_kind_of_fit(pair, tmp_path):
    X, y, X_target, y_hidden = pair
    new, half = X_target[:20] + 0.1, np.random.default_rng(0).random(len(X)) < 0.5
    fits = {
        "without adaptation": (LPJT(random_state=0, candidates=None).fit(X[half], y[half], X[~half]), new),
        "without a target": (LPJT(random_state=0).fit(X, y), new),
        "sparse": (LPJT(random_state=0).fit(*map(sparse.csr_array, (X,)), y, sparse.csr_array(X_target)), new),
        "sparse rows": (LPJT(random_state=0).fit(X, y, X_target), sparse.csr_array(new)),
        "widths": (LPJT(random_state=0).fit(X, y, X_target[:, :4], y_hidden), new[:, :4]),
        "float32": (LPJT(random_state=0).fit(*(X.astype("f4"), y, X_target.astype("f4"))), new.astype("f4")),
        "authors": (LPJT.authors(random_state=0, n_components=3).fit(X, y, X_target), new),
    }
    for name, (model, rows) in fits.items():
        again = kept(model, tmp_path)
        assert type(again) is type(model), name
        assert_same(model, again, rows)
    assert fits["without adaptation"][0].adapted_ is False


def test_several_sources_and_targets(pair, tmp_path):
    X, y, X_target, _ = pair
    sources, targets = {"a": X, "b": X[::2, :5]}, {"c": X_target, "d": X_target[::3]}
    model = LPJT(random_state=0).fit(sources, {"a": y, "b": y[::2]}, targets)
    again = kept(model, tmp_path)
    for domain, rows in (sources | targets).items():
        assert_same(model, again, rows[:10], domain)


@pytest.mark.parametrize(
    "classes",
    [
        np.array(["ape", "bee", "cät"]),
        np.array(["ape", "bee", "cat"], dtype=object),
        np.array([3, 5, 7], dtype=np.int8),
        np.array([1.0, 2.0, 4.0]),
        np.array([False, True, True]),
    ],
    ids=lambda classes: str(classes.dtype) + type(classes[0]).__name__,
)
def test_classes_keep_their_type(classes, pair, tmp_path):
    X, y, X_target, _ = pair
    model = LPJT(random_state=0).fit(X, classes[y], X_target)
    again = kept(model, tmp_path)
    assert again.classes_.dtype == model.classes_.dtype
    assert [type(label) for label in again.classes_] == [type(label) for label in model.classes_]
    assert_same(model, again, X_target)


def test_names_of_columns_and_settings_are_kept(pair, tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y, X_target, _ = pair
    names = [f"c{i}" for i in range(X.shape[1])]
    frame = pandas.DataFrame(X_target, columns=names)[names[::-1]]
    model = LPJT(random_state=0, callback=print).set_output(transform="pandas")
    model.fit(pandas.DataFrame(X, columns=names), y, frame)
    again = kept(model, tmp_path)
    assert again.callback is None  # a function, of use in a fit only
    assert list(again.feature_names_in_) == names[::-1]
    pandas.testing.assert_frame_equal(again.transform(frame), model.transform(frame))
    assert_array_equal(again.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame[names])


def test_a_loaded_model_can_be_fitted_again(pair, tmp_path):
    X, y, X_target, _ = pair
    model = LPJT(random_state=0).fit(X, y, X_target)
    again = kept(model, tmp_path)
    assert_array_equal(again.fit(X, y, X_target).label_distributions_, model.label_distributions_)


def test_preprocessing_of_tables_is_kept(tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    kind = np.array(["x", "y", np.nan], dtype=object)[y]  # NaN: pandas 2 keeps None, which an imputer does not fill
    table = pandas.DataFrame({"size": rng.normal(size=60) + 4 * y, "kind": kind, "n": y * 1.0})
    table.loc[3, "size"] = np.nan
    text = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    columns = ColumnTransformer(
        [("numbers", SimpleImputer(), ["size"]), ("texts", text, ["kind"])], remainder="passthrough"
    )
    model = make_pipeline(columns, StandardScaler(with_mean=False), LPJT(random_state=0)).fit(table, y)
    again = kept(model, tmp_path)
    assert_array_equal(again.predict_proba(table), model.predict_proba(table))
    with zipfile.ZipFile(tmp_path / "model.lpjt") as archive:
        about = json.loads(archive.read("model.json"))["about"]
    assert "OneHotEncoder" in about["preprocessing"][0]
    assert about["classes"] == ["0", "1", "2"]


def test_a_list_of_scikit_learns_own_is_kept_as_a_list():
    """Columns that no transformer takes are one in scikit-learn 1.6."""
    theirs = type("_RemainderColsList", (UserList,), {"__module__": "sklearn.compose._column_transformer"})
    assert Encoder().encode(theirs([2, 3])) == [2, 3]
    with pytest.raises(ModelFileError, match="cannot be kept in a model file"):
        Encoder().encode(UserList([2, 3]))


def test_plain_values_and_arrays_are_kept():
    """Whatever a parameter or a fitted attribute may be, in its own type."""
    encoder = Encoder()
    values = {
        "numbers": [1, 2**80, -0.0, 1e-320, float("inf"), True, None, np.float32(0.1), np.int8(-3), np.bool_(True)],
        "times": [np.datetime64("2024-01-01"), datetime.date(2024, 1, 2), datetime.datetime(2024, 1, 2, 3, 4)],
        "texts": [
            "ä\udc80\0",
            np.str_("x"),
            np.array(["a", "b\0c"], dtype=object),
            np.array(["a\0", None], dtype=object),
        ],
        "groups": [
            (1, (2,)),
            {3, 4},
            {1: "a", (1, 2): [3]},
            slice(1, None, 2),
            np.dtype("f4"),
            np.float32,
            np.dtype("O"),
        ],
        "arrays": [np.zeros((0, 3)), np.array(3.0), np.arange(6).reshape(2, 3).T, np.array(["2024"], dtype="M8[Y]")],
    }
    tree = json.loads(json.dumps(encoder.encode(values), allow_nan=False))
    again = Decoder(encoder.arrays.__getitem__).decode(tree)
    assert repr(again) == repr(values)
    for kind, group in values.items():
        assert [type(value) for value in again[kind]] == [type(value) for value in group]


def test_the_order_of_an_array_in_memory_is_kept():
    """A product with a transposed matrix may differ in the last bit."""
    encoder = Encoder()
    encoder.encode([np.zeros((5, 9)).T[:4], np.zeros((9, 5))[:, :4]])
    assert [array.flags.f_contiguous for array in encoder.arrays.values()] == [True, False]


def test_an_array_is_written_once():
    encoder, array = Encoder(), np.zeros(3)
    tree = encoder.encode([array, {"again": array}])
    assert len(encoder.arrays) == 1
    first, again = Decoder(encoder.arrays.__getitem__).decode(tree)
    assert first is again["again"]


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix])
def test_sparse_matrices_are_kept_and_checked(kind):
    encoder, matrix = Encoder(), kind(np.eye(3))
    tree = encoder.encode(matrix)
    again = Decoder(encoder.arrays.__getitem__).decode(tree)
    assert type(again) is kind
    assert_array_equal(again.toarray(), np.eye(3))
    encoder.arrays = {name: array + 7 for name, array in encoder.arrays.items()}  # columns that do not exist
    with pytest.raises(ValueError, match="ind"):
        Decoder(encoder.arrays.__getitem__).decode(tree)


def test_random_numbers_go_on(tmp_path):
    encoder, state = Encoder(), np.random.RandomState(3)
    state.normal(size=3)
    again = Decoder(encoder.arrays.__getitem__).decode(encoder.encode(state))
    assert_array_equal(again.normal(size=5), state.normal(size=5))


def test_a_value_that_holds_itself_is_refused():
    values = []
    values.append(values)
    with pytest.raises(lpjt.ModelFileError, match="holds itself"):
        Encoder().encode(values)


def test_metadata_requests_are_kept(pair, tmp_path):
    from sklearn import config_context

    X, y, X_target, _ = pair
    with config_context(enable_metadata_routing=True):
        model = LPJT(random_state=0).set_score_request(sample_weight=True).fit(X, y, X_target)
        again = kept(model, tmp_path)
        assert str(again.get_metadata_routing()) == str(model.get_metadata_routing())


def test_the_file_can_be_read_without_us(pair, tmp_path):
    X, y, X_target, _ = pair
    LPJT(random_state=0).fit(X, y, X_target).save(tmp_path / "a.lpjt")
    LPJT(random_state=0).fit(X, y, X_target).save(tmp_path / "b.lpjt")
    with zipfile.ZipFile(tmp_path / "a.lpjt") as archive:
        content = json.loads(archive.read("model.json"))
        for name, about in content["arrays"].items():
            with archive.open(f"{name}.npy") as file:
                assert list(np.load(file, allow_pickle=False).shape) == about["shape"]
    assert content["about"]["parameters"]["random_state"] == 0
    assert content["versions"]["lpjt"] == lpjt.__version__
    # Seconds are measured, all else is equal.
    with zipfile.ZipFile(tmp_path / "b.lpjt") as archive:
        assert json.loads(archive.read("model.json"))["arrays"] == content["arrays"]


@pytest.mark.parametrize("setting", ["default", "rbf", "svm", "neighbours in a tree"])
def test_pickle_and_joblib(setting, pair, tmp_path):
    X, y, X_target, _ = pair
    model = LPJT(**{"random_state": 0, **SETTINGS[setting]}).fit(X, y, X_target)
    joblib.dump(model, tmp_path / "model.joblib")
    for again in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib")):
        np.testing.assert_allclose(again.predict_proba(X_target), model.predict_proba(X_target), rtol=1e-12)
        assert_array_equal(again.predict(X_target), model.predict(X_target))


@pytest.mark.parametrize("setting", ["default", "rbf", "one setting", "nn", "svm", "propagation object"])
def test_skops_with_our_list_of_trusted_types(setting, pair, tmp_path):
    skops = pytest.importorskip("skops.io", reason="skops is not installed")
    X, y, X_target, _ = pair
    model = LPJT(**{"random_state": 0, **SETTINGS[setting]}).fit(X, y, X_target)
    skops.dump(model, tmp_path / "model.skops")
    unknown = skops.get_untrusted_types(file=tmp_path / "model.skops")
    assert unknown
    assert set(unknown) <= set(TRUSTED_TYPES)
    again = skops.load(tmp_path / "model.skops", trusted=TRUSTED_TYPES)
    np.testing.assert_allclose(again.predict_proba(X_target), model.predict_proba(X_target), rtol=1e-12)
