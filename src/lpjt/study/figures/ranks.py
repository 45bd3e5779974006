"""The critical-difference picture: mean ranks of methods on one axis, bars over those that cannot be told apart."""

from pathlib import Path
from typing import Any

from lpjt.study.figures.style import COLOURS, QUIET, SMALL, TEXT, new_canvas, save_canvas, set_words
from lpjt.study.tables.ranks import LEVEL, Ranking

_HEIGHT = 0.22  # inches per method


def draw_ranks(ranking: Ranking, path: Path, *, ours: str = "LPJT") -> None:
    """Write the picture as PNG."""
    n = len(ranking.ranks)
    canvas = new_canvas(1.6 + _HEIGHT * (n / 2 + len(ranking.groups) / 3))
    axes = canvas.subplots()
    below = -0.8 - 0.35 * len(ranking.groups)  # names begin under the bars
    for place, (method, rank) in enumerate(ranking.ranks.items()):
        _label(axes, method, rank, below, place, n, bold=method == ours)
    for level, (first, last) in enumerate(ranking.groups):
        ends = [ranking.ranks[first] - 0.05, ranking.ranks[last] + 0.05]
        axes.plot(ends, [-0.4 - 0.35 * level] * 2, color=COLOURS[0], linewidth=3, solid_capstyle="butt")
    axes.plot([1, 1 + ranking.difference], [1.3, 1.3], color=QUIET, linewidth=1.5)
    words = f"critical difference {ranking.difference:.2f}"
    axes.text(1 + ranking.difference / 2, 1.45, words, ha="center", va="bottom", fontsize=SMALL, color=QUIET)
    axes.set(xlim=(-1.5, n + 2.5), ylim=(below - 0.45 * n - 0.3, 2.2))
    axes.plot([1, n], [0, 0], color="black", linewidth=0.8)
    for tick in range(1, n + 1):
        axes.plot([tick, tick], [0, 0.15], color="black", linewidth=0.8)
        axes.text(tick, 0.25, f"{tick}", ha="center", va="bottom", fontsize=SMALL)
    axes.axis("off")
    caption = (
        f"Mean rank of the accuracy over {ranking.n_pairs} pairs; 1 is the best. A bar joins methods that cannot be "
        f"told apart at {100 * LEVEL:g} % (Nemenyi). Friedman's test that all are alike: p = {ranking.p:.1g}."
    )
    set_words(canvas, "Ranks of methods, label-free", caption)
    save_canvas(canvas, path, overwrite=True)


def _label(axes: Any, method: str, rank: float, below: float, place: int, n: int, *, bold: bool) -> None:
    """A line from the rank down to the name: better half to the left, others to the right."""
    left = place < -(-n // 2)
    step = place if left else n - 1 - place
    y, x = below - 0.9 * step, 0.4 if left else n + 0.6
    axes.plot([rank, rank, x], [0, y, y], color=QUIET, linewidth=0.7)
    weight = "bold" if bold else "normal"
    side = "right" if left else "left"
    axes.text(x, y, f" {method} {rank:.1f} ", ha=side, va="center", fontsize=TEXT - 1, fontweight=weight)
