"""How every figure looks: one palette, one set of markers, quiet axes."""

from typing import Any

from lpjt.report.palette import CLASS_COLOURS, COLOURS, MARKERS, QUIET, SOURCE, TARGET

__all__ = [
    "CLASS_COLOURS", "COLOURS", "MARKERS", "QUIET", "SMALL", "SOURCE", "TARGET", "TEXT",
    "class_colour", "dress_axes", "new_axes",
]  # fmt: skip

TEXT = 9  # points
SMALL = 8


def new_axes(ax: Any, size: tuple[float, float] = (6.0, 4.2)) -> Any:
    """The caller's axes, or those of a new figure, `size` in inches; in both cases dressed."""
    if ax is None:
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise ImportError(
                "`matplotlib` is needed to draw figures. Install it with `pip install 'lpjt[report]'`."
            ) from error
        ax = pyplot.subplots(figsize=size, layout="constrained")[1]
    dress_axes(ax)
    return ax


def dress_axes(axes: Any) -> None:
    """Small ticks, a quiet grid, no frame."""
    axes.tick_params(labelsize=SMALL)
    axes.grid(True, color="#DDDDDD", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def class_colour(number: int, n_classes: int) -> Any:
    """Colour of a class: one of ten, or a step of a scale if there are more."""
    if n_classes <= len(CLASS_COLOURS):
        return CLASS_COLOURS[number]
    from matplotlib import colormaps

    return colormaps["viridis"](number / (n_classes - 1))
