"""An estimator that passes every check, and one for each check that fails it."""

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import check_array, check_X_y
from sklearn.utils.validation import check_is_fitted


class Sound(ClassifierMixin, BaseEstimator):
    """The nearest source row, and a little of everything that an estimator should have."""

    def __init__(self, n_neighbors=1):
        self.n_neighbors = n_neighbors

    def fit(self, X, y, X_target, y_target=None):
        X, y = check_X_y(X, y, accept_sparse="csr")
        X_target = check_array(X_target, accept_sparse="csr")
        self.model_ = KNeighborsClassifier(self.n_neighbors).fit(X, y)
        self.classes_ = self.model_.classes_
        self.transduction_ = self.model_.predict(X_target)
        if y_target is not None:
            given = np.asarray(y_target)
            known = np.array([label is not None and label != -1 for label in given])
            self.transduction_[known] = given[known]
        return self

    def predict(self, X):
        check_is_fitted(self)
        return self.model_.predict(check_array(X, accept_sparse="csr"))

    def predict_proba(self, X):
        return self.model_.predict_proba(X)


class Stacked(Sound):
    """The same with the other interface."""

    def fit(self, X, y, sample_domain):
        source = np.asarray(sample_domain) >= 0
        labels = y[source].astype(str) if y.dtype == object else y[source]
        return super().fit(X[source], labels, X[~source])


class Blind(Sound):
    def predict(self, X):
        return np.full(super().predict(X).shape, self.classes_[0])


class ChangesParameters(Sound):
    def fit(self, X, y, X_target, y_target=None):
        super().fit(X, y, X_target, y_target)
        self.n_neighbors = 3
        return self


class NeverUnfitted(Sound):
    def predict(self, X):
        return self.model_.predict(check_array(X, accept_sparse="csr"))


class PairsByPosition(Sound):
    """Takes the i-th target row for a copy of the i-th source row."""

    def fit(self, X, y, X_target, y_target=None):
        n = min(X.shape[0], X_target.shape[0])
        return super().fit(X_target[:n], y[:n], X_target, y_target)


class FirstRowsAlone(Sound):
    """Learns from the first source rows, whatever their class."""

    def fit(self, X, y, X_target, y_target=None):
        return super().fit(X[:2], np.asarray(y)[:2], X_target, y_target)


class Centres(Sound):
    def fit(self, X, y, X_target, y_target=None):
        super().fit(X, y, X_target, y_target)
        if isinstance(X, np.ndarray) and X.flags.writeable:
            X -= 1e-3
        return self


class Writes(Sound):
    """As a mask of labels in place, which leaves their values."""

    def fit(self, X, y, X_target, y_target=None):
        y[:1] = y[:1]
        return super().fit(X, y, X_target, y_target)


class LearnsFromMarks(Sound):
    def fit(self, X, y, X_target, y_target=None):
        if y_target is None:
            return super().fit(X, y, X_target)
        return super().fit(np.concatenate([X, X_target]), np.concatenate([y, y_target]), X_target, y_target)


class Overrules(Sound):
    def fit(self, X, y, X_target, y_target=None):
        return super().fit(X, y, X_target)


class Doubles(Sound):
    """Accepts float64 alone."""

    def fit(self, X, y, X_target, y_target=None):
        if not sparse.issparse(X) and np.asarray(X).dtype != np.float64:
            raise TypeError("buffer format not supported")
        return super().fit(X, y, X_target, y_target)


class ReadsMemory(Sound):
    """Reads the buffer as if it were in C order."""

    def fit(self, X, y, X_target, y_target=None):
        if isinstance(X, np.ndarray):
            X = np.frombuffer(X.tobytes("A"), X.dtype).reshape(X.shape)
        return super().fit(X, y, X_target, y_target)


class DenseWithoutAWord(Sound):
    def fit(self, X, y, X_target, y_target=None):
        if sparse.issparse(X):
            raise ValueError("inconsistent shapes")
        return super().fit(X, y, X_target, y_target)


class IndexesRows(Sound):
    """X[0] is a row of an array, and no column of a frame."""

    def fit(self, X, y, X_target, y_target=None):
        X[0]
        return super().fit(X, y, X_target, y_target)


class NumbersAsLabels(Sound):
    def fit(self, X, y, X_target, y_target=None):
        return super().fit(X, np.asarray(y) + 0, X_target, y_target)


class Codes(Sound):
    """Returns codes in place of labels."""

    def predict(self, X):
        return np.searchsorted(self.classes_, super().predict(X))


class Balanced(Sound):
    """Gives every class the same number of target rows, as balanced transport does."""

    def predict(self, X):
        check_is_fitted(self)
        F = -self.model_.kneighbors(check_array(X, accept_sparse="csr"), len(self.model_._y))[0].argsort()[:, :1]
        rank = F.ravel() + super().predict(X) * 0
        if len(rank) < 12:
            return super().predict(X)
        order = np.argsort(np.searchsorted(self.classes_, super().predict(X)), kind="stable")
        labels = np.empty(len(rank), dtype=self.classes_.dtype)
        for label, rows in zip(self.classes_, np.array_split(order, len(self.classes_)), strict=True):
            labels[rows] = label
        return labels


class EqualSizes(Sound):
    def fit(self, X, y, X_target, y_target=None):
        if X_target.shape[0] < 0.5 * X.shape[0]:
            raise ValueError("too few target rows")
        return super().fit(X, y, X_target, y_target)


class DividesByDeviation(Sound):
    def fit(self, X, y, X_target, y_target=None):
        if not sparse.issparse(X) and not np.ptp(np.asarray(X), axis=0).all():
            raise FloatingPointError("divide by zero")
        return super().fit(X, y, X_target, y_target)


class CentresTheBatch(Sound):
    """The label of a row depends on those beside it."""

    def predict(self, X):
        labels = super().predict(X)
        return labels if len(labels) > 1 else np.full(1, self.classes_[0])


class Remembers(Sound):
    def fit(self, X, y, X_target, y_target=None):
        self.n_fits = getattr(type(self), "count", 0)
        type(self).count = self.n_fits + 1
        return super().fit(X, y, X_target, y_target)

    def predict(self, X):
        labels = super().predict(X)
        labels[:1] = self.classes_[self.n_fits % len(self.classes_)]
        return labels


class HoldsALambda(Sound):
    def fit(self, X, y, X_target, y_target=None):
        self.rule_ = lambda rows: rows
        return super().fit(X, y, X_target, y_target)


class Odds(Sound):
    def predict_proba(self, X):
        return 2 * super().predict_proba(X)


class Fills(Sound):
    """Reads NaN as zero without a word."""

    def fit(self, X, y, X_target, y_target=None):
        return super().fit(X, y, X_target if sparse.issparse(X_target) else np.nan_to_num(X_target), y_target)


class PadsColumns(Sound):
    def predict(self, X):
        check_is_fitted(self)
        if not sparse.issparse(X) and X.shape[1] < 6:
            X = np.pad(X, ((0, 0), (0, 6 - X.shape[1])))
        return super().predict(X)


#: Name of a check, and an estimator that must fail it.
FAULTS = {
    "check_labels_an_easy_target": Blind,
    "check_clone_keeps_parameters": ChangesParameters,
    "check_not_fitted_is_said": NeverUnfitted,
    "check_order_of_target_rows": PairsByPosition,
    "check_order_of_source_rows": FirstRowsAlone,
    "check_untouched_inputs": Centres,
    "check_read_only_inputs": Writes,
    "check_no_leak_of_target_labels": LearnsFromMarks,
    "check_given_target_labels_are_kept": Overrules,
    "check_dtypes": Doubles,
    "check_memory_layouts": ReadsMemory,
    "check_sparse": DenseWithoutAWord,
    "check_frames": IndexesRows,
    "check_string_labels": NumbersAsLabels,
    "check_any_integers_as_labels": Codes,
    "check_missing_class": Balanced,
    "check_label_shift": Balanced,
    "check_unequal_sizes": EqualSizes,
    "check_constant_column": DividesByDeviation,
    "check_new_rows": CentresTheBatch,
    "check_repeated_fits": Remembers,
    "check_pickle": HoldsALambda,
    "check_probabilities": Odds,
    "check_missing_values_are_refused": Fills,
    "check_other_widths_are_refused": PadsColumns,
}
