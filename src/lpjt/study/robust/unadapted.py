"""Accuracy without adaptation: the better of the nearest neighbour and a linear SVM of the source.

The SVM does not depend on the target, and on wide rows of many classes it takes minutes, so it is kept in the cache
directory: the tasks of one source, and later runs of the suite, share it.
"""

from hashlib import sha256
from pathlib import Path

import numpy as np
import sklearn
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from lpjt._whole_files import replacing
from lpjt.datasets.where import cache_directory
from lpjt.study.robust.data import DomainPair

_FOLDER = "robust"
_FITTED = ("coef_", "intercept_", "classes_")


def unadapted_accuracies(pair: DomainPair) -> dict[str, float]:
    """Accuracies in per cent, with both domains standardised by the source's mean and deviation.

    The better one is chosen with target labels: a stricter standard than a user without labels could meet.
    """
    scaler = StandardScaler().fit(pair.X_source)
    X, X_target = scaler.transform(pair.X_source), scaler.transform(pair.X_target)
    nearest = KNeighborsClassifier(n_neighbors=1).fit(X, pair.y_source)
    found = {
        "nearest_accuracy": 100 * float(nearest.score(X_target, pair.y_target)),
        "svm_accuracy": 100 * float(linear_svm(X, pair.y_source).score(X_target, pair.y_target)),
    }
    return found | {"unadapted_accuracy": max(found.values())}


def linear_svm(X: np.ndarray, y: np.ndarray) -> LinearSVC:
    """A linear SVM of these rows, fitted or from the cache."""
    # A loose tolerance: on faces it takes a quarter of the time, and changes the accuracy by a tenth of a point.
    model, file = LinearSVC(tol=0.1, random_state=0), _cache_file(X, y)
    if file is not None and file.is_file():
        with np.load(file, allow_pickle=False) as kept:
            for name in _FITTED:
                setattr(model, name, kept[name])
        return model
    model.fit(X, y)
    if file is not None:
        _write_whole(file, model)
    return model


def _cache_file(X: np.ndarray, y: np.ndarray) -> Path | None:
    """Where the SVM of these very rows is kept; None without a cache directory."""
    directory = cache_directory()
    if directory is None:
        return None
    digest = sha256(sklearn.__version__.encode())
    for array in (X, y):
        digest.update(np.ascontiguousarray(array).tobytes())
    return directory / _FOLDER / f"svm-{digest.hexdigest()[:32]}.npz"


def _write_whole(file: Path, model: LinearSVC) -> None:
    """Give the file its name only when it is whole: another process may be reading, or be killed while writing."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with replacing(file, overwrite=True) as whole:
        np.savez(whole, **{name: getattr(model, name) for name in _FITTED})
