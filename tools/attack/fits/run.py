"""A fit, predictions, embeddings, a file and back: each gives valid output or an error of ours."""

import re
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils._param_validation import InvalidParameterError

import lpjt
from attack.fits.cases import Case, draw_case
from attack.part import Outcome, Part

#: Words for what the caller gave, one of which a refusal must have, and words that say what to do.
ARGUMENTS = re.compile(
    r"\b(X|y|X_target|y_target|X_source|y_source|sample_\w+|source|target|kernel|classifier|scaling|feature|\w+_\w+)\b"
)
REMEDIES = re.compile(
    r"\b(Give|give|Drop|Remove|Encode|Build|Set|Choose|Convert|Label|Rename|Name|Reshape|Use|Bring|Mark|Add|Store|Increase|"
    r"Fit|Leave|Ask|Make|Lower|must be|is required|is expecting|should match|should be|not supported|pickle takes it)\b"
)

#: Texts of warnings that are not ours: numbers that went wrong inside, and solvers that nobody asked for.
FOREIGN_WARNINGS = re.compile(r"iblinear|Solver terminated|lbfgs|ill-conditioned|overflow|divide by zero|invalid value")


class Wrong(Exception):
    """Output that is not valid."""


def run(number: int) -> Outcome:
    """The outcome of one case."""
    case = draw_case(number)
    before = _fingerprint([case.X, case.y, case.X_target, case.y_target, case.new, case.options])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        refusal = _use(case)
    if _fingerprint([case.X, case.y, case.X_target, case.y_target, case.new, case.options]) != before:
        return Outcome("failed", f"an input was changed ({case.words})", case.group)
    for warning in caught:
        text = str(warning.message)
        foreign = issubclass(warning.category, RuntimeWarning) and not REMEDIES.search(text)
        if foreign or FOREIGN_WARNINGS.search(text):
            where = f"{Path(warning.filename).name}:{warning.lineno}"
            refusal = Outcome("failed", f"{warning.category.__name__}: {text} ({where})")
    if refusal is None:
        return Outcome("fine", group=case.group)
    odd = f" ({case.words})" if refusal.kind == "failed" else ""
    return Outcome(refusal.kind, refusal.detail + odd, case.group)


def _use(case: Case) -> Outcome | None:
    """Fit and ask; None if all of it is valid, otherwise how it ended."""
    try:
        case.model.fit(case.X, case.y, *_targets(case), **case.options)
        _check_fit(case)
        _check_truth(case)
        if case.new is not None:
            _check_answers(case.model, case.new)
        if isinstance(case.model, lpjt.LPJT):
            _check_file(case)
    except Wrong as wrong:
        return Outcome("failed", str(wrong))
    except Exception as error:
        return _judge(error)
    return None


def _targets(case: Case) -> tuple[Any, ...]:
    return () if case.X_target is None else (case.X_target, case.y_target)


def _judge(error: Exception) -> Outcome:
    """Whether an error is a refusal of ours: raised by us, naming an argument and a remedy."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}"
    ours = Path(lpjt.__file__).parent in Path(frames[-1].filename).parents or isinstance(error, InvalidParameterError)
    text = str(error)
    known = isinstance(error, ValueError | TypeError | NotImplementedError)
    if ours and known and ARGUMENTS.search(text) and REMEDIES.search(text):
        return Outcome("refused", text[:100])
    mine = [f"{Path(f.filename).name}:{f.lineno}" for f in frames if "/lpjt/" in f.filename]
    return Outcome("failed", f"{type(error).__name__}: {text[:200]} ({place}, in {mine[-1] if mine else '?'})")


def _check(true: Any, words: str) -> None:
    if not true:
        raise Wrong(words)


def _check_fit(case: Case) -> None:
    model = case.model
    fitted = getattr(model, "best_estimator_", model)
    labels = fitted.transduction_
    if case.X_target is not None:
        _check(np.isin(np.asarray(labels), model.classes_).all(), "transduction_ has labels that are no classes")
    distributions = getattr(fitted, "label_distributions_", None)
    if distributions is not None:
        _check(len(distributions) == len(labels), "label_distributions_ has another length")
        _check_distributions(distributions, "label_distributions_")
    estimate = getattr(fitted, "estimated_accuracy_", None)
    _check(estimate is None or 0 <= estimate <= 1, "estimated_accuracy_ is no share")


def _check_truth(case: Case) -> None:
    """Labels of rows of an extreme size are as right as those of the same rows in their usual size."""
    if case.truth is None:
        return
    source, target = case.plain
    usual = clone(case.model).fit(source, case.y, target, case.y_target)
    found, wanted = (_accuracy(model, case.truth) for model in (case.model, usual))
    _check(found >= min(wanted, 0.9), f"{found:.2f} of the labels are right, {wanted:.2f} in the usual size")


def _accuracy(model: Any, truth: Any) -> float:
    return float(np.mean(getattr(model, "best_estimator_", model).transduction_ == truth))


def _check_distributions(F: Any, name: str) -> None:
    _check(np.isfinite(F).all() and (F >= 0).all(), f"{name} is not finite or negative")
    _check(np.allclose(F.sum(axis=1), 1), f"{name} does not sum to one")


def _check_answers(model: Any, X: Any) -> None:
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    labels = model.predict(X)
    _check(labels.shape == (n,) and np.isin(labels, model.classes_).all(), "predict has other labels or another shape")
    if hasattr(model, "predict_proba"):
        _check_distributions(model.predict_proba(X), "predict_proba")
    if hasattr(model, "transform"):
        Z = model.transform(X)
        _check(Z.shape[0] == n and np.isfinite(Z).all(), "transform is not finite or has another shape")


def _check_file(case: Case) -> None:
    rows = case.X if case.new is None else case.new
    if isinstance(rows, dict) or "sample_domain" in case.options:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.lpjt"
        case.model.save(path)
        loaded = lpjt.load(path)
    for method in ("predict", "predict_proba", "transform"):
        found, again = (np.asarray(getattr(m, method)(rows)) for m in (case.model, loaded))
        same = found.dtype == again.dtype and (found == again).all()
        _check(same, f"{method} differs after save and load")


def _fingerprint(given: Any) -> Any:
    """All bits of what the caller gave."""
    if isinstance(given, dict):
        return [(name, _fingerprint(part)) for name, part in given.items()]
    if isinstance(given, list | tuple):
        return [_fingerprint(part) for part in given]
    if isinstance(given, np.ma.MaskedArray):
        return given.data.tobytes(), np.ma.getmaskarray(given).tobytes()
    if isinstance(given, np.ndarray):
        return repr(given.tolist()) if given.dtype == object else given.tobytes()
    if sparse.issparse(given):
        parts = ("data", "indices", "indptr", "offsets", "rows", "coords")
        return given.format, [_fingerprint(getattr(given, part)) for part in parts if hasattr(given, part)]
    if hasattr(given, "to_pandas"):
        given = given.to_pandas()
    return given.to_csv() if hasattr(given, "to_csv") else repr(given)


#: Ten thousand fits in the long run, two hundred in every test run.
PART = Part("fits", "Fits of adversarial domains", cases=10_000, slice=200, run=run, seconds=300.0)
