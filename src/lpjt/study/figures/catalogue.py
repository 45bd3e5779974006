"""The paper's figures, computed anew: a name, a drawing, files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lpjt.datasets import find_pair, find_table
from lpjt.datasets.registry import nearest
from lpjt.study.figures.convergence import draw_convergence
from lpjt.study.figures.embedding import draw_embedding
from lpjt.study.figures.fits import Progress, Request
from lpjt.study.figures.landmarks import draw_landmarks
from lpjt.study.figures.sensitivity import draw_sensitivity
from lpjt.study.figures.style import Drawing, check_before, save_drawing


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """One figure: what it shows, of which data, and the function that draws it."""

    name: str
    title: str
    table: str  # where none is asked for
    pairs: tuple[str, ...]  # of that table, where none is asked for
    draw: Callable[[Request], Drawing]


#: Every figure, by its name.
FIGURES: dict[str, Figure] = {
    figure.name: figure
    for figure in (
        Figure(
            "fig-sensitivity",
            "Accuracy by locality weight, variance weight and dimension",
            "surf",
            ("A to W", "D to A", "W to D"),
            draw_sensitivity,
        ),
        Figure(
            "fig-convergence",
            "Objective and MMD by iteration",
            "surf",
            ("C to A", "A to W", "W to C", "D to A"),
            draw_convergence,
        ),
        Figure(
            "fig-landmarks",
            "The landmark photographs of the class calculator",
            "efficientnet",
            ("A to W",),
            draw_landmarks,
        ),
        Figure(
            "fig-embedding",
            "t-SNE before and after adaptation",
            "digits",
            ("MNIST to USPS",),
            draw_embedding,
        ),
    )
}


def find_figure(name: str) -> Figure:
    """The figure called `name`, or a ValueError that names the nearest."""
    if name not in FIGURES:
        raise ValueError(f"'{name}' is not a figure ({nearest(name, FIGURES)}).")
    return FIGURES[name]


def make_figure(
    name: str,
    output: Path,
    *,
    table: str | None = None,
    pair: str | Sequence[str] | None = None,
    seed: int = 0,
    n_jobs: int = 1,
    on_progress: Progress | None = None,
    overwrite: bool = False,
) -> list[Path]:
    """Compute a figure from real data and write it with the numbers in it.

    Parameters
    ----------
    name : str
        As in `FIGURES`.
    output : Path
        A directory; made where it is not there.
    table : str, optional
        Of `lpjt.datasets.TABLES`; the figure's own by default.
    pair : str or sequence of str, optional
        Of the table; the figure's own by default, and the first of another table. Two figures draw one pair alone.
    seed : int
        Of the fits, the split where the table has one, and the layout.
    n_jobs : int
        Processes for the figures that need many fits.
    on_progress : callable, optional
        Called with the steps done, all steps, and what was done last.
    overwrite : bool
        Whether existing files are replaced; otherwise they are kept, with an error before anything is computed.

    Returns
    -------
    list of Path
        The PNG, SVG and CSV files.
    """
    figure = find_figure(name)
    spec = find_table(table or figure.table)
    if pair is not None:
        named = [pair] if isinstance(pair, str) else list(pair)
        pairs = tuple(dict.fromkeys(find_pair(spec.name, one) for one in named))
    elif spec.name == figure.table:
        pairs = figure.pairs
    else:
        pairs = spec.pairs[: len(figure.pairs)]
    output = Path(output)
    check_before(output, name, overwrite=overwrite)
    request = Request(spec.name, pairs, seed, n_jobs, on_progress)
    return save_drawing(figure.draw(request), output, name, overwrite=overwrite)
