"""The figures as functions: each returns axes that show the numbers of the model."""

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="figures need matplotlib")

from matplotlib import pyplot
from pages import hostile, plain, shapes

import lpjt
from lpjt import plot


@pytest.fixture(autouse=True)
def _close():
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


def widths(ax):
    return [bar.get_width() for bar in ax.patches]


def test_the_module_is_found_from_the_package():
    assert lpjt.plot is plot


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("colour", ["class", "domain"])
def test_embedding(when, colour):
    model, X, y, X_target, _ = plain()
    ax = plot.embedding(model, X, y, X_target, when=when, colour=colour, max_rows=60, layout="pca")
    assert sum(len(points.get_offsets()) for points in ax.collections) == 60
    shades = {tuple(points.get_facecolor()[0][:3]) for points in ax.collections}
    assert len(shades) == (2 if colour == "domain" else len(model.classes_))
    assert ax.get_title() == f"{when.capitalize()} adaptation"


def test_axes_may_be_given():
    model, _, y, _, _ = plain()
    mine = pyplot.subplots()[1]
    assert plot.proportions(model, y, ax=mine) is mine


def test_proportions():
    model, _, y, _, _ = plain()
    n = len(model.classes_)
    assert widths(plot.proportions(model)) == pytest.approx(100 * model.target_proportions_)
    both = widths(plot.proportions(model, y))
    assert both[:n] == pytest.approx(100 * np.bincount(y) / len(y))


def test_confidence():
    model, _, _, _, y_target = plain()
    ax = plot.confidence(model)
    assert sum(bar.get_height() for bar in ax.patches) == len(y_target)
    assert len(ax.figure.axes) == 1
    assert len(plot.confidence(model, y_target).figure.axes) == 2


def test_candidates_and_iterations():
    model = plain()[0]
    assert widths(plot.candidates(model, n=3)) == pytest.approx([c["score"] for c in model.candidates_[:3]])
    for quantity in ("objective", "n_changed"):
        line = plot.iterations(model, quantity).lines[0].get_ydata()
        assert list(line) == pytest.approx([record[quantity] for record in model.history_])


def test_columns_and_confusion():
    model, X, _, X_target, y_target = plain()
    assert len(widths(plot.columns(model, X, X_target, n=3))) == 3
    accuracy = 100 * np.mean(model.transduction_ == y_target)
    assert f"{accuracy:.1f} %" in plot.confusion(model, y_target).get_title()


def test_strange_names_are_drawn():
    model, rows = hostile()
    for ax in (plot.proportions(model, rows["y"]), plot.columns(model, rows["X"], rows["X_target"])):
        ax.figure.canvas.draw()


def test_given_labels_are_left_out():
    model, rows = shapes()["widths"]
    free = (rows["y_target"] == -1).sum()
    assert f"{free} rows" in plot.confusion(model, rows["y_true"], y_target=rows["y_target"]).get_title()
    total = sum(bar.get_height() for bar in plot.confidence(model, y_target=rows["y_target"]).patches)
    assert total == free


def test_what_cannot_be_drawn_is_said():
    model, X, y, X_target, _ = plain()
    narrow, rows = shapes()["widths"]
    alone, _ = shapes()["no target"]
    single, _ = shapes()["no candidates"]
    for call, words in (
        (lambda: plot.embedding(model), "no rows to draw"),
        (lambda: plot.embedding(model, X, y, X_target, when="later"), "when='later' is not one of"),
        (lambda: plot.embedding(model, X, y, X_target, colour="red"), "colour='red' is not one of"),
        (lambda: plot.embedding(narrow, rows["X"], rows["y"], rows["X_target"], when="before"), "different widths"),
        (lambda: plot.columns(narrow, rows["X"], rows["X_target"]), "one width"),
        (lambda: plot.candidates(single), "no candidates"),
        (lambda: plot.proportions(alone), "no target"),
        (lambda: plot.confidence(alone), "labelled no row"),
        (lambda: plot.iterations(model, "speed"), "quantity='speed' is not one of"),
        (lambda: plot.confusion(model, np.full(len(X_target), -1)), "no label"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
