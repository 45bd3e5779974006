"""Keep small model files of this version in the tests, so that later versions are tested to read them.

Run once before a release, and before the format of model files changes: `python tools/keep_models.py`. It writes, for
each mode, `tests/saving/data/<version>-<mode>.lpjt`, and beside it the rows to predict and the predictions as JSON.
Files that exist are left as they are: they stand for what users have.
"""

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from lpjt import LPJT, Kernel, TableAdapter

ROOT = Path(__file__).parents[1]

#: Rows of a domain: few, because the file holds most of them.
ROWS = 15


def domain(seed: int, shift: float, width: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Rows of three classes with names, rounded so that they are short in JSON."""
    rng = np.random.default_rng(seed)
    y = np.arange(ROWS) % 3
    X = 4 * np.eye(3, width)[y] + rng.normal(size=(ROWS, width)) + shift
    return np.round(X, 3), np.array(["ash", "birch", "cedar"])[y]


def equal_widths() -> tuple[Any, Any]:
    """The default: candidates, refined labels, both domains of one width."""
    X, y = domain(0, 0.0)
    return LPJT(random_state=0).fit(X, y, domain(1, 1.0)[0]), domain(2, 1.0)[0]


def different_widths() -> tuple[Any, Any]:
    """A target of another width with some labels."""
    (X, y), (X_target, y_target) = domain(0, 0.0), domain(1, 1.0, 6)
    given = y_target.astype(object)
    given[6:] = None
    return LPJT(random_state=0, candidates=None).fit(X, y, X_target, given), domain(2, 1.0, 6)[0]


def several_sources() -> tuple[Any, Any]:
    """Two sources with names, landmarks and a kernel."""
    (X, y), (Z, z) = domain(0, 0.0), domain(3, -1.0, 5)
    model = LPJT(random_state=0, candidates=None, kernel=Kernel("rbf", max_rows=12), landmark_ratio=0.5, n_components=4)
    return model.fit({"north": X, "south": Z}, {"north": y, "south": z}, domain(1, 1.0)[0]), domain(2, 1.0)[0]


def table_adapter() -> tuple[Any, Any]:
    """Tables with a column of texts and missing cells."""
    import pandas

    def table(seed: int, shift: float) -> tuple[Any, np.ndarray]:
        X, y = domain(seed, shift)
        frame = pandas.DataFrame(X, columns=["height", "crown", "girth", "age"])
        frame["soil"] = np.array(["clay", "sand"])[np.arange(ROWS) // 2 % 2]
        frame.loc[[3, 7], "crown"] = None
        return frame, y

    model = TableAdapter(LPJT(random_state=0, candidates=None)).fit(*table(0, 0.0), table(1, 1.0)[0])
    return model, table(2, 1.0)[0]


MODES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "equal-widths": equal_widths,
    "different-widths": different_widths,
    "several-sources": several_sources,
    "table-adapter": table_adapter,
}


def keep(mode: str, folder: Path, stem: str) -> None:
    """Write the model of one mode, and what it predicts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, rows = MODES[mode]()
        F = model.predict_proba(rows)
        expected = {
            "rows": rows.tolist() if isinstance(rows, np.ndarray) else json.loads(rows.to_json(orient="columns")),
            "labels": model.predict(rows).tolist(),
            "distributions": np.round(F, 9).tolist(),
            "transduction": np.asarray(model.transduction_).tolist(),
        }
        model.save(folder / f"{stem}.lpjt")
    (folder / f"{stem}.json").write_text(json.dumps(expected), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write what is not there yet."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=ROOT / "tests" / "saving" / "data")
    given = parser.parse_args(arguments)
    given.folder.mkdir(parents=True, exist_ok=True)
    for mode in MODES:
        stem = f"{version('lpjt')}-{mode}"
        if (given.folder / f"{stem}.lpjt").exists():
            print(f"{stem}: kept as it is")
            continue
        keep(mode, given.folder, stem)
        print(f"{stem}: written, {(given.folder / f'{stem}.lpjt').stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
