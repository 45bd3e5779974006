"""What is measured: LPJT, its peers in other libraries, and the dense transcription, all called alike."""

import importlib
import inspect
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from lpjt.study.settings import AS_TRANSCRIBED, ITERATIONS, TIMED, UNTIL_STEADY, make_search, make_variant
from lpjt.study.speed.instead import INSTEAD
from lpjt.study.speed.timed import Fitted, TimedMethod
from lpjt.study.speed.work import counted_work

#: Steps of the k-means of the floor, and the rows per cell from which it learns.
CELL_STEPS, CELL_ROWS = 5, 40


def fit_lpjt(X: np.ndarray, y: np.ndarray, X_target: np.ndarray, parameters: Mapping[str, Any]) -> Fitted:
    """LPJT, with its time by stage."""
    model = make_variant(random_state=0, **parameters)
    with counted_searches() as searches:
        model.fit(X, y, X_target)
    facts = {"n_iter": int(model.n_iter_), "adapted": bool(model.adapted_), "scaling": model.scaling_}
    stages = {name: float(seconds) for name, seconds in model.seconds_.items()}
    return Fitted(model.transduction_, {**facts, "searches": len(searches), "stages": stages})


def fit_counted(X: np.ndarray, y: np.ndarray, X_target: np.ndarray, parameters: Mapping[str, Any]) -> Fitted:
    """LPJT, with the operations of its fit: see `lpjt.study.speed.work`."""
    with counted_work() as work:
        fitted = fit_lpjt(X, y, X_target, parameters)
    return Fitted(fitted.labels, {**fitted.facts, "work": work.counts()})


def fit_search(X: np.ndarray, y: np.ndarray, X_target: np.ndarray, parameters: Mapping[str, Any]) -> Fitted:
    """A search among many settings of LPJT, and the fit of the best one."""
    search = make_search(random_state=0, **parameters).fit(X, y, X_target)
    model = search.best_estimator_
    facts = {"n_iter": int(model.n_iter_), "adapted": bool(model.adapted_), "scaling": model.scaling_}
    return Fitted(model.transduction_, {**facts, "settings": len(search.cv_results_["params"])})


@contextmanager
def counted_searches() -> Iterator[list[int]]:
    """A list that has the number of queries of each search by faiss, that is, of each approximate one.

    Small domains are searched exactly whatever is asked for: without this count, a comparison of exact and approximate
    neighbours would compare a fit with itself and find no difference.
    """
    queries: list[int] = []
    try:
        import faiss
    except ImportError:
        yield queries
        return
    search = faiss.knn

    def counted(xq: Any, *args: Any, **kwargs: Any) -> Any:
        queries.append(len(xq))
        return search(xq, *args, **kwargs)

    faiss.knn = counted
    try:
        yield queries
    finally:
        faiss.knn = search


def fit_common_jda(X: np.ndarray, y: np.ndarray, X_target: np.ndarray, parameters: Mapping[str, Any]) -> Fitted:
    """Joint distribution adaptation in its primal form, with the n x n matrices of the programs in use."""
    from lpjt.study.speed.dense_jda import fit_dense_jda

    return Fitted(fit_dense_jda(X, y, X_target, **parameters))


def fit_own_jda(X: np.ndarray, y: np.ndarray, X_target: np.ndarray, parameters: Mapping[str, Any]) -> Fitted:
    """Joint distribution adaptation of `lpjt.baselines`, on the same moments as LPJT."""
    from lpjt.baselines import JDA

    model = JDA(**parameters).fit(X, y, X_target)
    return Fitted(model.transduction_, {"n_iter": int(model.n_iter_)})


def fit_floor(X: np.ndarray, y: np.ndarray, X_target: np.ndarray, parameters: Mapping[str, Any]) -> Fitted:
    """Cells by faiss's k-means and 15 neighbours of all rows; a target row has the label of its nearest source row."""
    rows = np.ascontiguousarray(np.vstack([X, X_target]), dtype=np.float32)
    index = _make_cells(rows)
    index.add(rows)
    near = index.search(rows, 16)[1][len(X) :]  # a row is its own nearest
    from_source = (near >= 0) & (near < len(X))
    first = from_source.argmax(axis=1)
    chosen = np.where(from_source.any(axis=1), near[np.arange(len(near)), first], 0)
    return Fitted(np.asarray(y)[chosen])


def _make_cells(rows: np.ndarray) -> Any:
    """Four times the root of the rows as cells, trained; eight of them are searched for each row."""
    import faiss

    n_cells = min(max(1, round(4 * len(rows) ** 0.5)), len(rows) // 40 or 1)
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(rows.shape[1]), rows.shape[1], n_cells)
    # With faiss's own 256 rows per cell and 25 steps, k-means of a million rows per domain has 32 times as much to do,
    # more than all else together, and the neighbours are no better.
    index.cp.niter, index.cp.max_points_per_centroid = CELL_STEPS, CELL_ROWS
    index.train(rows)
    index.nprobe = 8
    return index


def fit_dense_paper(X: np.ndarray, y: np.ndarray, X_target: np.ndarray, parameters: Mapping[str, Any]) -> Fitted:
    """Algorithm 1 transcribed with n x n matrices."""
    from lpjt.study.speed.dense import Setting, fit_dense

    answer = fit_dense(X, y, X_target, Setting(**parameters))
    return Fitted(answer.labels, {"n_iter": answer.n_iter})


def fit_skada(X: np.ndarray, y: np.ndarray, X_target: np.ndarray, parameters: Mapping[str, Any]) -> Fitted:
    """One of skada's methods, then the nearest neighbour; labels of the target are masked, as skada wants it."""
    import skada
    from sklearn.neighbors import KNeighborsClassifier

    arguments = {name: value for name, value in parameters.items() if name != "estimator"}
    make = getattr(skada, parameters["estimator"])
    if "random_state" in inspect.signature(make).parameters:
        arguments["random_state"] = 0
    base = KNeighborsClassifier(n_neighbors=1)
    model = make(base_estimator=base, **arguments)
    rows = np.vstack([X, X_target])
    labels = np.concatenate([y, np.full(len(X_target), -1)])  # skada's mark of a hidden label
    domain = np.concatenate([np.ones(len(X), dtype=int), np.full(len(X_target), -2)])
    model.fit(rows, labels, sample_domain=domain)
    return Fitted(model.predict(X_target, sample_domain=np.full(len(X_target), -2)))


def fit_pot(X: np.ndarray, y: np.ndarray, X_target: np.ndarray, parameters: Mapping[str, Any]) -> Fitted:
    """One of POT's transports of the source to the target, then the nearest neighbour."""
    import ot
    from sklearn.neighbors import KNeighborsClassifier

    arguments = {name: value for name, value in parameters.items() if name != "estimator"}
    transport = getattr(ot.da, parameters["estimator"])(**arguments)
    moved = transport.fit_transform(Xs=X, ys=y, Xt=X_target)
    return Fitted(KNeighborsClassifier(n_neighbors=1).fit(moved, y).predict(X_target))


def _skada(name: str, estimator: str, **parameters: Any) -> TimedMethod:
    return TimedMethod(name, fit_skada, {"estimator": estimator, **parameters}, ("skada",))


_ALL = [
    TimedMethod("LPJT", fit_lpjt, TIMED),
    TimedMethod("LPJT, counted", fit_counted, TIMED),
    TimedMethod("LPJTSearch", fit_search, UNTIL_STEADY),
    TimedMethod("faiss cells, 15 neighbours", fit_floor, needs=("faiss",)),
    TimedMethod("LPJT, as printed", fit_lpjt, AS_TRANSCRIBED),
    TimedMethod("dense transcription", fit_dense_paper, {"n_components": 20, "max_iter": 5}, ("piqp",)),
    TimedMethod("primal JDA", fit_common_jda, {"n_components": 20, "max_iter": ITERATIONS}),
    TimedMethod("lpjt.baselines JDA", fit_own_jda, {"n_components": 20, "max_iter": ITERATIONS}),
    _skada("skada TCA", "TransferComponentAnalysis", n_components=20),
    _skada("skada TJM", "TransferJointMatching", n_components=20, max_iter=ITERATIONS),
    _skada("skada SA", "SubspaceAlignment", n_components=20),
    _skada("skada CORAL", "CORAL"),
    _skada("skada OT", "OTMapping"),
    TimedMethod("POT EMD", fit_pot, {"estimator": "EMDTransport"}, ("ot",)),
    TimedMethod("POT Sinkhorn, classes", fit_pot, {"estimator": "SinkhornLpl1Transport", "norm": "median"}, ("ot",)),
    *INSTEAD,
]

METHODS: dict[str, TimedMethod] = {method.name: method for method in _ALL}

_NO_PEERS = frozenset({"LPJTSearch", "LPJT, counted", "faiss cells, 15 neighbours"})

#: Measured side by side by ``lpjt bench peers``, what it is about first.
PEERS: tuple[str, ...] = tuple(name for name in METHODS if name not in _NO_PEERS)

_PACKAGES = {"ot": "POT", "umap": "umap-learn", "adapt.feature_based": "adapt"}


def check_installed(names: Iterable[str]) -> list[str]:
    """The methods whose libraries are here; an ImportError names missing ones that are not optional, and the remedy."""
    wanted = [METHODS[name] for name in names]
    missing = {method.name: _missing(method) for method in wanted}
    needed = dict.fromkeys(package for method in wanted if not method.optional for package in missing[method.name])
    if needed:
        raise ImportError(f"{', '.join(needed)} needed for the peers. Install with `pip install 'lpjt[bench]'`.")
    return [method.name for method in wanted if not missing[method.name]]


def _missing(method: TimedMethod) -> list[str]:
    found = []
    for module in method.needs:
        try:
            importlib.import_module(module)
        except ImportError:
            found.append(f"`{_PACKAGES.get(module, module)}`")
    return found
