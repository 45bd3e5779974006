"""The photographs behind the landmark weights of one class."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from lpjt._warnings import readable_warnings
from lpjt.datasets import SETS, LabelledRows, find_table, load_domain
from lpjt.datasets.where import image_file
from lpjt.study.figures.fits import Request
from lpjt.study.figures.style import QUIET, SMALL, TEXT, Drawing, new_canvas, set_words
from lpjt.study.settings import PAPER, PAPER_PARAMETERS, WITH_LANDMARKS, WITHOUT_SAFEGUARD, make_variant

CLASS = "calculator"
SHOWN = 8  # photographs per line

#: Features whose file names the photograph of each row.
TABLE = "efficientnet"

#: "paper" is drawn: Algorithm 1 with the paper's values for deep features. The other is fitted for comparison.
SETTINGS: dict[str, Mapping[str, Any]] = {
    "paper": {**PAPER, **PAPER_PARAMETERS[TABLE]},
    "defaults": WITH_LANDMARKS,
}

HEAVIEST, LIGHTEST, TARGET = "source, heaviest", "source, lightest", "target, heaviest"
CAPTION = """
Weight (w) of Eq. (23), and distance (r) from the mean of the target's {name}s in the shared space; the paper's
algorithm and parameters for deep features, no target label seen. {ties} Mean distance of the {shown} heaviest
{near:.2f}, of the {shown} lightest {far:.2f}; over all {n} source rows of the class the rank correlation of weight with
distance is {rho:+.2f}, with the embedded row's length {rho_length:+.2f}: Eq. (9) charges a row by its squared length,
so long rows become light. It depends on the parameters: with LPJT's defaults and landmarks the same four numbers are
{other_near:.2f}, {other_far:.2f}, {other_rho:+.2f} and {other_rho_length:+.2f}. True target labels choose the target's
photographs and their mean.
"""


@dataclass(frozen=True, slots=True, eq=False)
class ClassLandmarks:
    """Landmark weights of the rows of one class of one domain."""

    images: np.ndarray  # (n,) names
    weights: np.ndarray  # (n,)
    distances: np.ndarray  # (n,) from the mean of the target's rows of the class, in the shared space
    lengths: np.ndarray  # (n,) of the embedded rows

    def heaviest(self) -> np.ndarray:
        """Positions by falling weight; equal weights by distance, the nearest first."""
        return np.lexsort((self.distances, -np.round(self.weights, 6)))


#: Rows and positions of each line of photographs.
Lines = dict[str, tuple[ClassLandmarks, np.ndarray]]


def draw_landmarks(request: Request) -> Drawing:
    """Fit the first pair with landmarks and show the photographs of the class, heaviest and lightest."""
    _check(request)
    pair = request.pairs[0]
    found: dict[str, tuple[ClassLandmarks, ClassLandmarks]] = {}
    rows: list[dict[str, Any]] = []
    for number, setting in enumerate(SETTINGS):
        request.report(number, len(SETTINGS), f"{pair}, {setting}")
        found[setting] = landmark_weights(pair, CLASS, setting=setting, seed=request.seed)
        rows += _rows(setting, *found[setting], _lines(*found[setting]))
    request.report(len(SETTINGS), len(SETTINGS), "photographs")
    title = f"Landmarks of the class {CLASS}, {pair} · {request.title}"
    canvas = _draw(_lines(*found["paper"]), title, _caption(found["paper"][0], found["defaults"][0]))
    return Drawing(canvas, rows)


def landmark_weights(
    pair: str, name: str, *, setting: str = "paper", seed: int = 0
) -> tuple[ClassLandmarks, ClassLandmarks]:
    """Weights of the source's and of the target's rows of a class after a fit with landmarks.

    Parameters
    ----------
    pair : str
        Of the table `efficientnet`, such as "A to W".
    name : str
        The class, as the folder of its photographs is called.
    setting : str
        Of `SETTINGS`.
    seed : int

    Returns
    -------
    source, target : ClassLandmarks
    """
    source, target = (load_domain(TABLE, key) for key in pair.split(" to "))
    with readable_warnings():
        model = make_variant(random_state=seed, **WITHOUT_SAFEGUARD, **SETTINGS[setting])
        model.fit(source.X, source.y, target.X)
    in_source, in_target = _places(source, name), _places(target, name)
    Z_source = model.transform(source.X[in_source], "source")
    Z_target = model.transform(target.X[in_target])
    mean = Z_target.mean(axis=0)
    return (
        _landmarks(source, in_source, model.weights_source_, Z_source, mean),
        _landmarks(target, in_target, model.weights_target_, Z_target, mean),
    )


def _places(rows: LabelledRows, name: str) -> np.ndarray:
    """Positions of the rows whose photograph lies in the folder of a class."""
    return np.flatnonzero([str(image).split("/")[1] == name for image in _images(rows)])


def _images(rows: LabelledRows) -> np.ndarray:
    assert rows.images is not None, "the files of this table name a photograph per row"
    return rows.images


def _landmarks(
    rows: LabelledRows, places: np.ndarray, weights: np.ndarray, Z: np.ndarray, mean: np.ndarray
) -> ClassLandmarks:
    distances, lengths = np.linalg.norm(Z - mean, axis=1), np.linalg.norm(Z, axis=1)
    return ClassLandmarks(_images(rows)[places], weights[places], distances, lengths)


def _check(request: Request) -> None:
    if request.table != TABLE:
        raise ValueError(
            f"fig-landmarks shows the photograph of each row, which '{request.table}' does not name. Give the table "
            f"'{TABLE}', or none."
        )
    known = set(SETS["office-images"].domains)
    if not set(request.pairs[0].split(" to ")) <= known:
        possible = [pair for pair in find_table(TABLE).pairs if set(pair.split(" to ")) <= known]
        raise ValueError(
            f"fig-landmarks has no photographs for '{request.pairs[0]}': they are of amazon and webcam alone. Give one "
            f"of the pairs {', '.join(map(repr, possible))}."
        )


def _lines(source: ClassLandmarks, target: ClassLandmarks) -> Lines:
    """Rows and positions of each line of photographs."""
    order = source.heaviest()
    shown = min(SHOWN, len(order) // 2)
    return {
        HEAVIEST: (source, order[:shown]),
        LIGHTEST: (source, order[::-1][:shown]),
        TARGET: (target, target.heaviest()[:shown]),
    }


def _caption(drawn: ClassLandmarks, other: ClassLandmarks) -> str:
    at_bound = int(np.sum((drawn.weights < 1e-6) | (drawn.weights > 1 - 1e-6)))
    ties = "No weight is at 0 or 1."
    if at_bound:
        ties = f"{at_bound} weights are at 0 or 1; among equal ones the nearest comes first."
    shown = min(SHOWN, len(drawn.weights) // 2)
    numbers = _four_numbers(drawn, shown) | {f"other_{k}": v for k, v in _four_numbers(other, shown).items()}
    return CAPTION.format(name=CLASS, ties=ties, shown=shown, n=len(drawn.weights), **numbers)


def _four_numbers(landmarks: ClassLandmarks, shown: int) -> dict[str, float]:
    order = landmarks.heaviest()
    return {
        "near": landmarks.distances[order[:shown]].mean(),
        "far": landmarks.distances[order[::-1][:shown]].mean(),
        "rho": spearmanr(landmarks.weights, landmarks.distances)[0],
        "rho_length": spearmanr(landmarks.weights, landmarks.lengths)[0],
    }


def _rows(setting: str, source: ClassLandmarks, target: ClassLandmarks, lines: Lines) -> list[dict[str, Any]]:
    """Every row of the class, and in which line it is shown."""
    found = []
    for domain, landmarks in (("source", source), ("target", target)):
        where = {
            int(place): line for line, (of_line, places) in lines.items() if of_line is landmarks for place in places
        }
        for place in landmarks.heaviest():
            found.append(
                {
                    "setting": setting,
                    "domain": domain,
                    "image": landmarks.images[place],
                    "weight": landmarks.weights[place],
                    "distance": landmarks.distances[place],
                    "length": landmarks.lengths[place],
                    "shown_as": where.get(int(place), ""),
                }
            )
    return found


def _draw(lines: Lines, title: str, caption: str) -> Any:
    canvas = new_canvas(5.4)
    from matplotlib.image import imread

    shown = max(len(places) for _, places in lines.values())
    panels = canvas.subplots(len(lines), shown, squeeze=False)
    for line, (name, (landmarks, places)) in zip(panels, lines.items(), strict=True):
        line[0].set_ylabel(name, fontsize=TEXT)
        for axes in line:
            axes.set_xticks([])
            axes.set_yticks([])
            axes.spines[:].set_color(QUIET)
        for axes in line[len(places) :]:
            axes.set_visible(False)
        for axes, place in zip(line, places, strict=False):
            axes.imshow(imread(image_file(str(landmarks.images[place]))))
            words = f"w {landmarks.weights[place]:.3f}\nr {landmarks.distances[place]:.2f}"
            axes.set_xlabel(words, fontsize=SMALL)
    set_words(canvas, title, caption)
    return canvas
