"""The figures of docs/results.md, computed and written; no figure there is typed by hand.

Target labels are used for the score alone, except the few given ones of the heterogeneous problems. One default for all
sets but for `n_components`. Rows are kept in benchmarks/results.jsonl, so that one table can be made anew by its name.
"""

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from report import write_report
from sets import Pair, halves, heterogeneous, pairs
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler, normalize
from sklearn.svm import LinearSVC

from lpjt import LPJT
from lpjt.classifiers import Propagation

ROWS = Path(__file__).with_name("results.jsonl")
N_COMPONENTS = {"digits": 40, "pie": 150, "surf": 20, "efficientnet": 40, "coil": 40}


def nearest_neighbour(pair: Pair) -> np.ndarray:
    """Labels of the target by 1-NN on unit rows."""
    model = KNeighborsClassifier(1).fit(normalize(pair.X_source), pair.y_source)
    return model.predict(normalize(pair.X_target))


def linear_svm(pair: Pair) -> np.ndarray:
    """Labels of the target by a linear SVM, z-scores of the source, unit rows."""
    scaler = StandardScaler().fit(pair.X_source)
    source, target = (normalize(scaler.transform(X)) for X in (pair.X_source, pair.X_target))
    return LinearSVC(dual="auto", random_state=0).fit(source, pair.y_source).predict(target)


def target_svm(pair: Pair) -> np.ndarray:
    """SVMt: a linear SVM on the given target rows alone."""
    X = normalize(StandardScaler().fit_transform(pair.X_target))
    return LinearSVC(dual="auto", random_state=0).fit(X[pair.given], pair.y_target[pair.given]).predict(X)


def target_propagation(pair: Pair) -> np.ndarray:
    """Label propagation from the given target rows over the target alone, 15 neighbours, unit rows."""
    classes, codes = np.unique(pair.y_target, return_inverse=True)
    labels = np.full(len(codes), -1)
    labels[pair.given] = codes[pair.given]
    rule = Propagation(anchored=False)
    answer = pair.y_target.copy()
    answer[labels < 0] = classes[rule.classify(pair.X_target, labels, None, len(classes)).argmax(axis=1)]
    return answer


def lpjt(n_components: int, **parameters) -> Callable:
    """LPJT with given parameters, as a function of a pair."""

    def run(pair: Pair):
        given = None
        if pair.given is not None:
            given = pair.y_target.astype(float)
            given[np.setdiff1d(np.arange(len(given)), pair.given)] = np.nan
        model = LPJT(n_components, random_state=0, **parameters)
        model.fit(pair.X_source, pair.y_source, pair.X_target, given)
        return model.transduction_, {"adapted": model.adapted_, "scaling": model.scaling_, "n_iter": model.n_iter_}

    return run


def measure(table: str, pair: Pair, method: str, run: Callable) -> dict:
    """One run as one flat row; a failed run is a row too."""
    row = {"table": table, "pair": pair.name, "method": method}
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = run(pair)
    except Exception as error:
        return {**row, "accuracy": None, "message": f"{type(error).__name__}: {error}"}
    labels, facts = answer if isinstance(answer, tuple) else (answer, {})
    scored = np.ones(len(labels), dtype=bool)
    if pair.given is not None:
        scored[pair.given] = False
    accuracy = 100 * float(np.mean(labels[scored] == pair.y_target[scored]))
    return {**row, "accuracy": accuracy, "seconds": time.perf_counter() - start, **facts}


def presets(name: str, pair: Pair) -> dict[str, Callable]:
    """Both presets with the values that the paper or its authors' demonstration has for a set."""
    given: dict = {}
    if name == "digits":
        given = {"scaling": "unit"}  # as the authors' demonstration scales digits
    if name == "pie":
        given = {"locality_weight": 0.02, "variance_weight": 0.1}
    code = {**given, **({"nu": 0.3} if name == "surf" and pair.name.startswith("D") else {})}
    size = {"pie": (120, 120)}.get(name, (40, 25))
    return {
        "preset paper": lpjt(size[0], preset="paper", **given),
        "preset code": lpjt(size[1], preset="code", **code),
    }


def jobs(table: str):
    """Every (pair, method, function) of a table."""
    if table in N_COMPONENTS:
        for pair in pairs(table):
            yield pair, "1-NN", nearest_neighbour
            yield pair, "LPJT", lpjt(N_COMPONENTS[table])
            if table in ("digits", "surf"):
                yield pair, "LPJT, landmarks", lpjt(N_COMPONENTS[table], landmarks=True)
            if table in ("digits", "surf") or pair.name in ("29 to 09", "05 to 07"):
                for method, run in presets(table, pair).items():
                    yield pair, method, run
    elif table.startswith("halves"):
        for pair in halves(table.removeprefix("halves-")):
            yield pair, "1-NN", nearest_neighbour
            yield pair, "SVM", linear_svm
            yield pair, "LPJT", lpjt("auto")
    else:
        for pair in heterogeneous():
            yield pair, "SVMt", target_svm
            yield pair, "propagation", target_propagation
            yield pair, "LPJT", lpjt("auto")


TABLES = [*N_COMPONENTS, "halves-same", "halves-proportions", "halves-missing", "heterogeneous"]


def main() -> None:
    """Compute the tables that are asked for, keep their rows, and write the page from all rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"all, or some of {', '.join(TABLES)}")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    unknown = set(arguments.tables) - set(TABLES)
    if unknown:
        parser.error(f"no table {', '.join(sorted(unknown))}; there are {', '.join(TABLES)}")
    kept = [json.loads(line) for line in ROWS.read_text().splitlines()] if ROWS.exists() else []
    for table in arguments.tables or TABLES:
        start = time.perf_counter()
        rows = Parallel(n_jobs=arguments.jobs)(delayed(measure)(table, *job) for job in jobs(table))
        kept = [row for row in kept if row["table"] != table] + rows
        ROWS.write_text("".join(json.dumps(row) + "\n" for row in kept))
        print(f"{table}: {len(rows)} runs in {time.perf_counter() - start:.0f} s", flush=True)
    write_report(kept)


if __name__ == "__main__":
    main()
