"""The figures of a report as functions of matplotlib: each draws on axes and returns them; needs `lpjt[report]`.

Rows are given as to `fit`: a fitted model does not keep them.
"""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lpjt.plot.style import QUIET, SMALL, SOURCE, TARGET, TEXT, class_colour, new_axes
from lpjt.report.checks import check_labels
from lpjt.report.doubt import BINS, weigh_confidence
from lpjt.report.layout import draw_domains
from lpjt.report.rows import DomainRows, Given, collect_rows
from lpjt.report.shift import compare_columns
from lpjt.report.story import name_candidate, source_proportions
from lpjt.report.text import clean

__all__ = ["candidates", "columns", "confidence", "confusion", "embedding", "iterations", "proportions"]


def embedding(
    model: Any,
    X: Any = None,
    y: Any = None,
    X_target: Any = None,
    *,
    when: str = "after",
    colour: str = "class",
    layout: str = "tsne",
    max_rows: int = 2000,
    ax: Any = None,
) -> Any:
    """Draw rows of both domains in two dimensions: sources as discs, targets as crosses.

    Parameters
    ----------
    model : LPJT
        Fitted.
    X, y, X_target
        As they were given to `fit`; domains that are left out are not drawn.
    when : {"after", "before"}, default="after"
        In the shared space, or as the rows were given (domains of one width only).
    colour : {"class", "domain"}, default="class"
        Target rows have the colour of the label that was found.
    layout : {"tsne", "pca"}, default="tsne"
    max_rows : int, default=2000
        Rows that are drawn, all domains together.
    ax : matplotlib Axes, default=None
        A new figure by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import lpjt
    >>> X, y = load_iris(return_X_y=True)
    >>> model = lpjt.LPJT(candidates=None, random_state=0).fit(X[::2], y[::2], X[1::2] + 0.5)
    >>> axes = lpjt.plot.embedding(model, X[::2], y[::2], X[1::2] + 0.5, layout="pca")
    >>> axes.get_title()
    'After adaptation'
    """
    _one_of("when", when, ("after", "before"))
    _one_of("colour", colour, ("class", "domain"))
    domains = [d for d in _domains(model, X=X, y=y, X_target=X_target) if d.X is not None]
    if not domains:
        raise ValueError("There are no rows to draw: a model does not keep them. Give X, y and X_target as in fit.")
    if when == "before" and len({d.width for d in domains}) > 1:
        raise ValueError("Domains of different widths have no common space before adaptation. Use when='after'.")
    drawn = draw_domains(model, domains, max_rows=max_rows, layout=layout)
    places = drawn.panels[0 if when == "before" else -1].places * [1, -1]
    ax = new_axes(ax, (6.4, 4.8))
    for number, (d, rows) in enumerate(zip(domains, drawn.chosen, strict=True)):
        here = places[drawn.domain == number]
        codes = np.full(len(rows), -1) if d.codes is None else d.codes[rows]
        _scatter(ax, here, codes, d, colour, len(model.classes_))
    ax.set(xticks=[], yticks=[], title=f"{when.capitalize()} adaptation")
    ax.title.set_fontsize(TEXT + 1)
    _label_points(ax, model, [d.name for d in domains], colour)
    return ax


def _scatter(ax: Any, places: Any, codes: Any, d: DomainRows, colour: str, n_classes: int) -> None:
    style = {"marker": "o", "s": 18, "alpha": 0.35, "linewidths": 0} if d.is_source else {"marker": "x", "s": 16}
    if colour == "domain":
        ax.scatter(*places.T, color=SOURCE if d.is_source else TARGET, **style)
        return
    for code in np.unique(codes):
        shade = QUIET if code < 0 else class_colour(int(code), n_classes)
        ax.scatter(*places[codes == code].T, color=shade, **style)


def _label_points(ax: Any, model: Any, names: list[str], colour: str) -> None:
    from matplotlib.lines import Line2D

    sides = [(name, name in model._source_names) for name in names]
    handles = [
        Line2D([], [], linestyle="", marker="o" if is_source else "x", label=_plain(name),
               color=(SOURCE if is_source else TARGET) if colour == "domain" else QUIET)
        for name, is_source in sides
    ]  # fmt: skip
    if colour == "class" and len(model.classes_) <= 10:
        handles += [
            Line2D([], [], linestyle="", marker="s", color=class_colour(k, len(model.classes_)), label=_plain(label))
            for k, label in enumerate(model.classes_)
        ]
    ax.legend(handles=handles, fontsize=SMALL, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))


def proportions(model: Any, y: Any = None, *, ax: Any = None) -> Any:
    """Draw the share of each class among the labels found, beside that among the source's labels `y`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import lpjt
    >>> X, y = load_iris(return_X_y=True)
    >>> model = lpjt.LPJT(candidates=None, random_state=0).fit(X[::2], y[::2], X[1::2] + 0.5)
    >>> axes = lpjt.plot.proportions(model, y[::2])
    >>> axes.get_xlabel()
    'share of the rows, %'
    """
    domains = _domains(model, y=y)
    if model.target_proportions_ is None:
        raise ValueError("The fit had no target, so there are no labels to count. Fit with X_target.")
    ax = new_axes(ax)
    places = np.arange(len(model.classes_))
    of_source = source_proportions(domains, len(places))
    if of_source is not None:
        ax.barh(places - 0.2, 100 * of_source, 0.36, color=SOURCE, label="source")
    style = {"facecolor": "none", "edgecolor": TARGET, "linewidth": 1.6, "label": "target"}
    ax.barh(places + (0.2 if of_source is not None else 0.0), 100 * model.target_proportions_, 0.36, **style)
    ax.set_yticks(places, [_plain(label) for label in model.classes_])
    ax.invert_yaxis()
    ax.set_xlabel("share of the rows, %", fontsize=SMALL)
    ax.legend(fontsize=SMALL, frameon=False)
    return ax


def confidence(model: Any, y_true: Any = None, *, y_target: Any = None, ax: Any = None) -> Any:
    """Draw rows by confidence; with labels `y_true`, also the share that is right beside the share claimed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import lpjt
    >>> X, y = load_iris(return_X_y=True)
    >>> model = lpjt.LPJT(candidates=None, random_state=0).fit(X[::2], y[::2], X[1::2] + 0.5)
    >>> axes = lpjt.plot.confidence(model, y[1::2])
    >>> axes.get_xlabel()
    'confidence, %'
    """
    found = weigh_confidence(_domains(model, y_true=y_true, y_target=y_target), model.classes_)
    if found is None:
        raise ValueError("The fit labelled no row, so there is no confidence to draw. Fit with X_target.")
    ax = new_axes(ax)
    edges = np.linspace(0, 100, BINS + 1)
    ax.bar(edges[:-1], found.counts, 100 / BINS, align="edge", color=SOURCE, alpha=0.55, edgecolor="white")
    ax.set_xlabel("confidence, %", fontsize=SMALL)
    ax.set_ylabel("rows", fontsize=SMALL)
    if found.measured is not None:
        right = ax.twinx()
        right.plot([0, 100], [0, 100], linestyle="--", color=QUIET, linewidth=1)
        right.plot(100 * found.claimed, 100 * found.measured, linestyle="", marker="D", color="black", markersize=5)
        right.set_ylim(0, 102)
        right.set_ylabel("right, % (diamonds)", fontsize=SMALL)
        right.tick_params(labelsize=SMALL)
    return ax


def candidates(model: Any, *, n: int = 10, ax: Any = None) -> Any:
    """Draw the scores of the best `n` candidates; the chosen one is darker and marked.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import lpjt
    >>> X, y = load_iris(return_X_y=True)
    >>> model = lpjt.LPJT(random_state=0).fit(X[::2], y[::2], X[1::2] + 0.5)
    >>> axes = lpjt.plot.candidates(model, n=5)
    >>> len(axes.get_yticks())
    5
    """
    check_is_fitted(model)
    if not model.candidates_:
        raise ValueError("The fit tried no candidates. Fit with candidates='auto'.")
    ax = new_axes(ax, (8.0, 4.0))
    records = model.candidates_[:n]
    shades = [SOURCE if record["chosen"] else "#B8C4D0" for record in records]
    ax.barh(range(len(records)), [record["score"] for record in records], color=shades)
    names = [_plain(name_candidate(record), 80) + (" (chosen)" if record["chosen"] else "") for record in records]
    ax.set_yticks(range(len(records)), names)
    ax.invert_yaxis()
    ax.set_xlabel("score: evidence without target labels", fontsize=SMALL)
    return ax


def iterations(model: Any, quantity: str = "objective", *, ax: Any = None) -> Any:
    """Draw a quantity of `history_` over the iterations, such as "objective", "marginal_mmd" or "n_changed".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import lpjt
    >>> X, y = load_iris(return_X_y=True)
    >>> model = lpjt.LPJT(candidates=None, random_state=0).fit(X[::2], y[::2], X[1::2] + 0.5)
    >>> axes = lpjt.plot.iterations(model, "n_changed")
    >>> axes.get_ylabel()
    'n changed'
    """
    check_is_fitted(model)
    if not model.history_:
        raise ValueError("The fit has no iterations to draw.")
    _one_of("quantity", quantity, tuple(k for k, v in model.history_[0].items() if isinstance(v, int | float)))
    ax = new_axes(ax)
    values = [record[quantity] for record in model.history_]
    ax.plot(range(1, len(values) + 1), values, color=SOURCE, marker="o", markersize=4, linewidth=1.3)
    ax.set_xlabel("iteration", fontsize=SMALL)
    ax.set_ylabel(quantity.replace("_", " "), fontsize=SMALL)
    ax.xaxis.get_major_locator().set_params(integer=True)
    return ax


def columns(model: Any, X: Any, X_target: Any, *, n: int = 10, ax: Any = None) -> Any:
    """Draw the `n` columns that shifted most: Kolmogorov-Smirnov distances, and what chance explains.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import lpjt
    >>> X, y = load_iris(return_X_y=True)
    >>> model = lpjt.LPJT(candidates=None, random_state=0).fit(X[::2], y[::2], X[1::2] + 0.5)
    >>> axes = lpjt.plot.columns(model, X[::2], X[1::2] + 0.5, n=4)
    >>> len(axes.get_yticks())
    4
    """
    shifts = compare_columns(_domains(model, X=X, X_target=X_target), n_shown=n)
    if shifts is None:
        raise ValueError("Columns are compared between domains of one width only, and both sides are needed.")
    ax = new_axes(ax)
    ax.barh(range(len(shifts.columns)), [column.distance for column in shifts.columns], color=SOURCE)
    ax.axvline(shifts.by_chance, color=QUIET, linestyle="--", linewidth=1)
    ax.set_yticks(range(len(shifts.columns)), [_plain(column.name) for column in shifts.columns])
    ax.invert_yaxis()
    ax.set_xlim(0, 1)
    ax.set_xlabel("distance of the two distributions (dashed: by chance)", fontsize=SMALL)
    return ax


def confusion(model: Any, y_true: Any, *, y_target: Any = None, ax: Any = None) -> Any:
    """Draw rows by known label and label found; rows of `y_target`, which `fit` was given, are left out.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import lpjt
    >>> X, y = load_iris(return_X_y=True)
    >>> model = lpjt.LPJT(candidates=None, random_state=0).fit(X[::2], y[::2], X[1::2] + 0.5)
    >>> axes = lpjt.plot.confusion(model, y[1::2])
    >>> axes.get_ylabel()
    'True label'
    """
    checked = check_labels(_domains(model, y_true=y_true, y_target=y_target), model.classes_)
    if checked is None:
        raise ValueError("y_true has no label that fit was not given. Give labels of some other rows.")
    from sklearn.metrics import ConfusionMatrixDisplay

    ax = new_axes(ax, (5.6, 5.0))
    ax.grid(False)
    names = [_plain(label) for label in model.classes_]
    ConfusionMatrixDisplay(checked.matrix, display_labels=names).plot(ax=ax, cmap="Blues", colorbar=False)
    ax.set_title(f"{100 * checked.accuracy:.1f} % of {checked.n_rows:,} rows are right", fontsize=TEXT + 1)
    return ax


def _domains(model: Any, **given: Any) -> list[DomainRows]:
    check_is_fitted(model)
    return collect_rows(model, Given(**given))


def _plain(name: Any, longest: int = 40) -> str:
    """A name that matplotlib does not read as mathematics or hide from a legend."""
    return clean(name, longest).replace("$", r"\$").replace("_", "\u2009_", 1 if str(name).startswith("_") else 0)


def _one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ValueError(f"{name}={value!r} is not one of {', '.join(map(repr, known))}. Give one of these.")
