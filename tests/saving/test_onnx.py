"""Models in ONNX predict the same as in Python."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import lpjt
from lpjt import LPJT, Kernel
from problems import shifted_pair

skl2onnx = pytest.importorskip("skl2onnx", reason="conversion needs skl2onnx")
onnxruntime = pytest.importorskip("onnxruntime", reason="ONNX models run in onnxruntime")

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

SETTINGS = {
    "default": {},
    "rbf": {"kernel": "rbf"},
    "one setting": {"candidates": None, "refine": False},
    "harmonic": {"classifier": "harmonic"},
    "nn": {"classifier": "nn"},
    "neighbours": {"classifier": KNeighborsClassifier(4), "candidates": None},
    "svm": {"classifier": "svm"},
    "linear svm": {"classifier": LinearSVC(), "candidates": None},
    "logistic": {"classifier": LogisticRegression(), "candidates": None},
    "free": {"target_proportions": "free"},
    **{scaling: {"scaling": scaling, "candidates": None} for scaling in ("paper", "unit", "none", "source", "joint")},
    **{name: {"kernel": name, "candidates": None} for name in ("poly", "cosine", "sigmoid", "laplacian")},
}


def run(converted, X):
    session = onnxruntime.InferenceSession(converted.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(["label", "probabilities"], {"X": X})


def assert_same(model, X):
    labels, distributions = run(lpjt.to_onnx(model), X)
    np.testing.assert_allclose(distributions, model.predict_proba(X), atol=1e-5)
    np.testing.assert_array_equal(labels, model.predict(X))


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("setting", SETTINGS)
def test_predictions_are_those_of_the_model(setting, n_classes):
    X, y, X_target, _ = shifted_pair(n_classes=n_classes, apart=2.0)
    model = LPJT(random_state=0, **SETTINGS[setting]).fit(X, y, X_target)
    assert_same(model, X_target + 0.3)


def test_other_fits():
    X, y, X_target, y_hidden = shifted_pair()
    names = np.array(["ape", "bee", "cät"])
    assert_same(LPJT(random_state=0).fit(X, names[y], X_target[:, :5], names[y_hidden]), X_target[:, :5])
    assert_same(LPJT(random_state=0).fit(X, y), X_target)
    half = np.random.default_rng(0).random(len(X)) < 0.5
    unadapted = LPJT(random_state=0, candidates=None).fit(X[half], y[half], X[~half])
    assert not unadapted.adapted_
    assert_same(unadapted, X_target)
    counts = np.abs(X), np.abs(X_target)
    assert_same(LPJT(random_state=0, scaling="paper", candidates=None).fit(counts[0], y, counts[1]), counts[1])


def test_columns_that_were_matched_by_name():
    pandas = pytest.importorskip("pandas")
    X, y, X_target, _ = shifted_pair()
    names = [f"c{i}" for i in range(8)]
    frame = pandas.DataFrame(X_target, columns=names)[names[::-1]]
    model = LPJT(random_state=0).fit(pandas.DataFrame(X, columns=names), y, frame)
    labels, _ = run(lpjt.to_onnx(model), frame.to_numpy())
    np.testing.assert_array_equal(labels, model.predict(frame))


def test_a_pipeline_is_converted_by_skl2onnx_itself():
    X, y, X_target, _ = shifted_pair()
    model = make_pipeline(StandardScaler(), LPJT(random_state=0)).fit(X, y)
    assert_same(model, X_target)
    lpjt.onnx.register_converters()
    kind = skl2onnx.common.data_types.FloatTensorType([None, X.shape[1]])
    options = {id(model): {"zipmap": False}}
    converted = skl2onnx.convert_sklearn(model, initial_types=[("X", kind)], options=options, target_opset=18)
    labels, distributions = run(converted, X_target.astype(np.float32))
    np.testing.assert_array_equal(labels, model.predict(X_target))
    np.testing.assert_allclose(distributions, model.predict_proba(X_target), atol=1e-5)


@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": Kernel(lambda a, b: float(a @ b))},
        {"classifier": RandomForestClassifier(3)},
        {"classifier": GaussianNB()},
        {"classifier": KNeighborsClassifier(3, weights="distance")},
    ],
)
def test_what_cannot_be_converted_is_told(parameters):
    X, y, X_target, _ = shifted_pair()
    model = LPJT(random_state=0, candidates=None, **parameters).fit(X, y, X_target)
    with pytest.raises(NotImplementedError, match=r"cannot be converted to ONNX. Fit with"):
        lpjt.to_onnx(model)


def test_a_model_that_is_not_fitted():
    with pytest.raises(ValueError, match="not fitted"):
        lpjt.to_onnx(LPJT())
