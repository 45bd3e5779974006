"""Work of a fit as counted operations, which a busy or another machine does not change.

Counting is switched on from outside for the time of one fit; the code that is counted knows nothing of it. Functions of
numpy, scipy, scikit-learn and faiss are wrapped. The operator ``@`` cannot be wrapped: functions of the package that
use it run, for that time, code compiled from the same source with ``@`` replaced by a counting function.
"""

import ast
import gc
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from threading import Lock, local
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from scipy import sparse

DENSE, SPARSE, NEIGHBORS = "dense products", "sparse products", "neighbour search"
EIGEN, FACTOR, LINEAR = "eigenproblems", "factorizations", "linear classifiers"

#: Products of these modules are comparisons of rows.
_SEARCHES = ("lpjt.core.neighbors", "lpjt.core.smallest")
_PACKAGE = "lpjt."
_COUNTER = "__counted_product__"

Counts = dict[str, tuple[int, float]]  # "primitive in module": calls, operations


class Work:
    """Calls and operations so far, by primitive and by the module of the package that asked for them."""

    def __init__(self) -> None:
        self._counts: dict[str, list[float]] = defaultdict(lambda: [0, 0.0])
        self._lock, self._inside = Lock(), local()

    def add(self, primitive: str, module: str, operations: float) -> None:
        """Count one call; threads may call at the same time."""
        with self._lock:
            entry = self._counts[f"{primitive} in {module}"]
            entry[0] += 1
            entry[1] += operations

    def counts(self) -> Counts:
        """What was counted, in alphabetical order."""
        return {name: (int(calls), operations) for name, (calls, operations) in sorted(self._counts.items())}

    def product(self, left: Any, right: Any, module: str) -> Any:
        """``left @ right``, counted; operators (`LinearOperator`) consist of products that are counted themselves."""
        result = left @ right
        if sparse.issparse(left) or sparse.issparse(right):
            self.add(SPARSE, module, _sparse_operations(left, right))
        elif isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
            primitive = NEIGHBORS if module in _SEARCHES else DENSE
            self.add(primitive, module, 2.0 * np.size(result) * left.shape[-1])
        return result

    def wrap(self, function: Callable[..., Any], primitive: str, operations: Callable[..., float]) -> Any:
        """The function, counted under the module that calls it; what it calls in turn is part of it.

        Iterative solvers are the exception: what they cost is the products that they ask for.
        """

        def counted(*args: Any, **kwargs: Any) -> Any:
            if getattr(self._inside, "yes", False):
                return function(*args, **kwargs)
            self._inside.yes = operations is not _of_iterations
            try:
                result = function(*args, **kwargs)
            finally:
                self._inside.yes = False
            self.add(primitive, _caller(), operations(result, *args, **kwargs))
            return result

        return counted


@contextmanager
def counted_work() -> Iterator[Work]:
    """Context in which the work of the package is counted."""
    work = Work()
    with ExitStack() as stack:
        for where, name, primitive, operations in _WRAPPED:
            owner = _owner(where)
            if owner is not None and hasattr(owner, name):
                original = getattr(owner, name)
                stack.enter_context(_replaced(owner, name, original, work.wrap(original, primitive, operations)))
        stack.enter_context(_counted_operators(work))
        yield work


@contextmanager
def _replaced(owner: Any, name: str, original: Any, wrapped: Any) -> Iterator[None]:
    """Replace a function where it is defined, and in modules of the package that imported it by name."""
    users = [] if isinstance(owner, type) else [m for m in _modules() if m.__dict__.get(name) is original]
    for holder in (owner, *users):
        setattr(holder, name, wrapped)
    try:
        yield
    finally:
        for holder in (owner, *users):
            setattr(holder, name, original)


@contextmanager
def _counted_operators(work: Work) -> Iterator[None]:
    """Let functions of the package run code in which ``a @ b`` is a call of `Work.product`."""
    counted = {module: codes for module in _modules() if (codes := _counted_codes(module))}
    before: list[tuple[FunctionType, CodeType]] = []
    by_name = {module.__name__: codes for module, codes in counted.items()}
    for module in counted:
        module.__dict__[_COUNTER] = lambda left, right, name=module.__name__: work.product(left, right, name)
    try:
        for function in [found for found in gc.get_objects() if type(found) is FunctionType]:
            code = by_name.get(function.__module__ or "", {}).get(_place(function.__code__))
            if code is not None and code.co_freevars == function.__code__.co_freevars:
                before.append((function, function.__code__))
                function.__code__ = code
        yield
    finally:
        for function, original in before:
            function.__code__ = original
        for module in counted:
            del module.__dict__[_COUNTER]


class _Rewrite(ast.NodeTransformer):
    """Every ``a @ b`` becomes a call."""

    def __init__(self) -> None:
        self.found = 0

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.MatMult):
            return node
        self.found += 1
        return ast.copy_location(ast.Call(ast.Name(_COUNTER, ast.Load()), [node.left, node.right], []), node)


def _counted_codes(module: ModuleType) -> dict[tuple[str, int], CodeType]:
    """Rewritten code of the functions of a module by their place in it; empty if it multiplies nothing."""
    read = getattr(module.__loader__, "get_source", None)
    source = read(module.__name__) if read is not None else None
    if source is None or "@" not in source:
        return {}
    rewrite = _Rewrite()
    tree = ast.fix_missing_locations(rewrite.visit(ast.parse(source)))
    if not rewrite.found:
        return {}
    waiting = [compile(tree, str(module.__file__), "exec")]
    codes: dict[tuple[str, int], CodeType] = {}
    twice: set[tuple[str, int]] = set()
    while waiting:
        for code in (const for const in waiting.pop().co_consts if isinstance(const, CodeType)):
            twice |= {_place(code)} & set(codes)  # two lambdas of one line: either could be meant
            codes[_place(code)] = code
            waiting.append(code)
    return {place: code for place, code in codes.items() if place not in twice}


def _place(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _modules() -> list[ModuleType]:
    """Loaded modules of the package but for the study, which measures."""
    return [
        module
        for name, module in list(sys.modules.items())
        if name.startswith(_PACKAGE) and not name.startswith(f"{_PACKAGE}study") and isinstance(module, ModuleType)
    ]


def _owner(path: str) -> Any:
    """A module, or a class of a module after a colon; None where the library is missing."""
    module, _, name = path.partition(":")
    try:
        found = import_module(module)
    except ImportError:
        return None
    return getattr(found, name) if name else found


def _caller() -> str:
    """The innermost module of the package, but for the study, that is running."""
    frame = sys._getframe(2)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith(_PACKAGE) and not name.startswith(f"{_PACKAGE}study"):
            return str(name)
        frame = frame.f_back  # type: ignore[assignment]
    return "other code"


def _sparse_operations(left: Any, right: Any) -> float:
    if sparse.issparse(left) and sparse.issparse(right):
        return 2.0 * left.nnz * right.nnz / max(right.shape[0], 1)
    many, other = (left, right.shape[1:]) if sparse.issparse(left) else (right, left.shape[:-1])
    return 2.0 * many.nnz * float(np.prod(other))


def _cubic(times: float) -> Callable[..., float]:
    """Operations on a matrix: its longer side by the square of the shorter one, several times."""

    def operations(_: Any, A: Any, *args: Any, **kwargs: Any) -> float:
        shape = sorted(np.shape(A)[-2:])
        return times * shape[0] ** 2 * shape[-1]

    return operations


def _of_solve(_: Any, A: Any, B: Any, *args: Any, **kwargs: Any) -> float:
    return 2.0 * np.shape(A)[0] ** 2 * (np.size(B) / max(np.shape(A)[0], 1))


def _of_general_solve(_: Any, A: Any, B: Any, *args: Any, **kwargs: Any) -> float:
    return np.shape(A)[0] ** 3 / 3 + _of_solve(_, A, B)


def _of_turns(_: Any, side: str, trans: str, turns: Any, factors: Any, Q: Any, *args: Any, **kwargs: Any) -> float:
    return 2.0 * np.size(turns) * np.shape(Q)[1]


def _of_symmetric_product(_: Any, alpha: Any, A: Any, *args: Any, **kwargs: Any) -> float:
    return 2.0 * np.size(A)


def _of_square(_: Any, alpha: Any, A: Any, *args: Any, **kwargs: Any) -> float:
    return float(np.shape(A)[0] * np.size(A))


def _of_matmul(result: Any, left: Any, right: Any, *args: Any, **kwargs: Any) -> float:
    return 2.0 * np.size(result) * np.shape(left)[-1]


def _of_iterations(*args: Any, **kwargs: Any) -> float:
    return 0.0


def _of_knn(_: Any, queries: Any, candidates: Any, *args: Any, **kwargs: Any) -> float:
    return 2.0 * len(queries) * np.size(candidates)


def _of_means(_: Any, model: Any, rows: Any, *args: Any, **kwargs: Any) -> float:
    return 2.0 * np.size(rows) * model.k * model.cp.niter


def _of_neighbor_labels(_: Any, model: Any, X: Any = None, *args: Any, **kwargs: Any) -> float:
    return 2.0 * (np.shape(model._fit_X)[0] if X is None else np.shape(X)[0]) * np.size(model._fit_X)


def _of_linear(model: Any, *args: Any, **kwargs: Any) -> float:
    rows = np.shape(args[1])[0]
    return 2.0 * rows * np.size(model.coef_) * float(np.max(model.n_iter_))


_LINALG, _LAPACK, _BLAS = "scipy.linalg", "scipy.linalg.lapack", "scipy.linalg.blas"

#: Where a function is, its name, what it counts as, and its operations from its result and arguments.
_WRAPPED: tuple[tuple[str, str, str, Callable[..., float]], ...] = (
    ("numpy", "matmul", DENSE, _of_matmul),
    ("numpy", "dot", DENSE, _of_matmul),
    (_BLAS, "dsymv", DENSE, _of_symmetric_product),
    (_BLAS, "dsyrk", DENSE, _of_square),
    (_BLAS, "ssyrk", DENSE, _of_square),
    (_LINALG, "eigh", EIGEN, _cubic(9)),
    (_LINALG, "eigvalsh", EIGEN, _cubic(4 / 3)),
    (_LINALG, "svd", EIGEN, _cubic(12)),
    ("numpy.linalg", "eigh", EIGEN, _cubic(9)),
    ("numpy.linalg", "svd", EIGEN, _cubic(12)),
    ("scipy.sparse.linalg", "eigsh", EIGEN, _of_iterations),
    ("scipy.sparse.linalg", "lobpcg", EIGEN, _of_iterations),
    (_LINALG, "qr", FACTOR, _cubic(4)),
    (_LINALG, "cholesky", FACTOR, _cubic(1 / 3)),
    (_LINALG, "cho_factor", FACTOR, _cubic(1 / 3)),
    (_LINALG, "solve", FACTOR, _of_general_solve),
    (_LINALG, "solve_triangular", FACTOR, _of_solve),
    (_LAPACK, "dsytrd", EIGEN, _cubic(4 / 3)),
    (_LAPACK, "dsygst", EIGEN, _cubic(1)),
    (_LAPACK, "dormqr", EIGEN, _of_turns),
    (_LAPACK, "dtrtrs", FACTOR, _of_solve),
    (_LAPACK, "dpotrf", FACTOR, _cubic(1 / 3)),
    (_LAPACK, "spotrf", FACTOR, _cubic(1 / 3)),
    (_LAPACK, "dpotrs", FACTOR, _of_solve),
    (_LAPACK, "spotrs", FACTOR, _of_solve),
    ("faiss", "knn", NEIGHBORS, _of_knn),
    ("faiss:Kmeans", "train", NEIGHBORS, _of_means),
    ("sklearn.neighbors:KNeighborsClassifier", "predict", NEIGHBORS, _of_neighbor_labels),
    ("sklearn.neighbors:KNeighborsClassifier", "predict_proba", NEIGHBORS, _of_neighbor_labels),
    ("sklearn.svm:LinearSVC", "fit", LINEAR, _of_linear),
)
