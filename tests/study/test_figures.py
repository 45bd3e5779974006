"""The paper's figures: files, numbers that agree with refits, and errors that say what to do."""

import csv
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from lpjt import LPJT
from lpjt._warnings import readable_warnings
from lpjt.datasets import LabelledRows, Problem, find_pair, find_table
from lpjt.study import settings
from lpjt.study.figures import catalogue as figures
from lpjt.study.figures import convergence, embedding, fits, landmarks, sensitivity
from toys import blobs

pytest.importorskip("matplotlib", reason="figures need matplotlib")

WIDTH, N_CLASSES = 24, 3
PNG = b"\x89PNG\r\n\x1a\n"


def toy_problem(table="surf", pair="A to W", seed=0, *, given=None, width_target=WIDTH, scrambled=False):
    rng = np.random.default_rng(len(pair) + ord(pair[0]) + seed)
    X_source, y_source = blobs(rng, 48, WIDTH, N_CLASSES, noise=2.5)
    X_target, y_target = blobs(rng, 36, width_target, N_CLASSES, noise=2.5, shift=1.0)
    if scrambled:
        y_target = (y_target + rng.integers(0, N_CLASSES, len(y_target))) % N_CLASSES
    return Problem(table, pair, seed, X_source, y_source, X_target, y_target, given, "0")


@pytest.fixture
def toys(monkeypatch):
    """Let every figure load small problems; the answer changes how they are made."""
    options = {}
    monkeypatch.setattr(fits, "load_problem", lambda *names: toy_problem(*names, **options))
    return options


@pytest.fixture
def rows_alone(toys, monkeypatch):
    """Besides, let figures be drawn but not written, which takes longer than the fits, and give their numbers."""
    monkeypatch.setattr(figures, "save_drawing", lambda drawing, output, name, overwrite: drawing.rows)
    return toys


def fit(problem, **parameters):
    with readable_warnings():
        model = settings.make_variant(random_state=0, **parameters)
        return model.fit(problem.X_source, problem.y_source, problem.X_target, problem.y_given)


def numbers(paths):
    """The rows of the CSV file, after a look at the other two."""
    png, svg, table = paths
    assert png.read_bytes().startswith(PNG)
    assert "<svg" in svg.read_text()
    with table.open() as file:
        return list(csv.DictReader(file))


def test_every_figure_has_a_table_and_pairs_that_exist():
    assert list(figures.FIGURES) == ["fig-sensitivity", "fig-convergence", "fig-landmarks", "fig-embedding"]
    for name, figure in figures.FIGURES.items():
        assert figures.find_figure(name) is figure
        assert [find_pair(figure.table, pair) for pair in figure.pairs] == list(figure.pairs)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"name": "fig-sensitivty"}, "'fig-sensitivty' is not a figure (nearest: 'fig-sensitivity')"),
        ({"name": "fig-embedding", "table": "digit"}, "'digit' is not a table (nearest: 'digits')"),
        ({"name": "fig-convergence", "pair": "A to X"}, "'A to X' is not a pair of surf (nearest: 'A to "),
    ],
)
def test_unknown_names_are_answered_with_the_nearest(tmp_path, arguments, words):
    with pytest.raises(ValueError) as caught:
        figures.make_figure(output=tmp_path, **arguments)
    assert words in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_the_default_of_sensitivity_is_that_of_its_fits():
    rng = np.random.default_rng(0)
    wide = replace(toy_problem(), X_source=rng.normal(size=(60, 100)), X_target=rng.normal(size=(60, 100)))
    wide = replace(wide, y_source=np.arange(60) % 3, y_target=np.arange(60) % 3)
    model = fit(wide, **settings.ONE_SETTING)
    assert sensitivity.default_values(wide)["n_components"] == model.transform(wide.X_target).shape[1] == 20


def test_sensitivity_agrees_with_refits(tmp_path, toys):
    rows = numbers(figures.make_figure("fig-sensitivity", tmp_path / "new", pair="A to W"))
    varied = [(row["parameter"], float(row["value"])) for row in rows]
    assert varied == [
        *(("locality_weight", v) for v in (1e-5, 1e-4, 5e-4, 1e-3, 1e-2, 1e-1, 1.0)),
        *(("variance_weight", v) for v in (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)),
        *(("n_components", v) for v in (10.0, 20.0)),  # wider than the rows is left out
    ]
    problem = toy_problem()
    for row in rows[::3]:
        value = int(row["value"]) if row["parameter"] == "n_components" else float(row["value"])
        model = fit(problem, candidates=None, refine=False, **{row["parameter"]: value})
        assert float(row["accuracy"]) == 100 * np.mean(model.transduction_ == problem.y_target)
        assert int(row["n_iter"]) == model.n_iter_
    assert len({row["accuracy"] for row in rows}) > 3  # a toy on which everything is equal would show nothing


@pytest.fixture
def two_points(monkeypatch):
    monkeypatch.setattr(sensitivity, "RANGES", {"locality_weight": (1e-3, 1.0), "n_components": (10,)})


def test_the_default_is_marked_once_in_each_panel_and_is_the_estimators(tmp_path, rows_alone, two_points):
    rows = figures.make_figure("fig-sensitivity", tmp_path, pair=["A to W", "D to A"])
    model = fit(toy_problem(), safeguard=False)
    for pair in ("A to W", "D to A"):
        marked = [(row["parameter"], row["value"]) for row in rows if row["is_default"] and row["pair"] == pair]
        default_dimension = model.projections_["source"].shape[1]
        assert marked == [("locality_weight", LPJT().locality_weight), ("n_components", default_dimension)]


def test_target_labels_serve_the_score_alone(tmp_path, rows_alone, two_points):
    true = figures.make_figure("fig-sensitivity", tmp_path, pair="A to W")
    rows_alone["scrambled"] = True
    scrambled = figures.make_figure("fig-sensitivity", tmp_path, pair="A to W")
    assert [row["n_iter"] for row in true] == [row["n_iter"] for row in scrambled]
    assert [row["accuracy"] for row in true] != [row["accuracy"] for row in scrambled]


def test_given_labels_are_seen_and_not_scored():
    problem = toy_problem(given=np.arange(9))
    model = fits.fit_problem(problem)
    refit = fit(problem)
    assert np.array_equal(model.transduction_, refit.transduction_)
    assert np.array_equal(model.transduction_[:9], problem.y_target[:9])
    expected = 100 * np.mean(refit.transduction_[9:] == problem.y_target[9:])
    assert fits.accuracy(model, problem) == expected
    assert fits.protocol_words(problem) == "9 target labels seen"


def test_convergence_is_the_history_of_the_fits(tmp_path, rows_alone):
    rows = figures.make_figure("fig-convergence", tmp_path, pair="D to A")
    problem = toy_problem("surf", "D to A")
    for setting, parameters in convergence.SETTINGS.items():
        history = fit(problem, **parameters).history_
        drawn = [row for row in rows if row["setting"] == setting]
        assert len(drawn) == len(history) > 1
        for quantity in ("objective", "marginal_mmd", "conditional_mmd"):
            assert [row[quantity] for row in drawn] == [record[quantity] for record in history]
            relative = [row[f"relative_{quantity}"] * history[0][quantity] for row in drawn]
            np.testing.assert_allclose(relative, [record[quantity] for record in history], rtol=1e-12)


def test_neither_tolerance_nor_evidence_ends_a_curve(toys):
    for parameters in convergence.SETTINGS.values():
        history = fit(toy_problem(), **parameters).history_
        assert len(history) == convergence.MAX_ITERATIONS or history[-1]["n_changed"] == 0


def test_rises_are_counted_within_a_pair_only():
    values = [(1, 5.0), (2, 6.0), (3, 6.0), (4, 2.0), (1, 9.0), (2, 9.5)]
    rows = [{"n_iter": n_iter, "objective": value} for n_iter, value in values]
    assert convergence.count_rises(rows, "objective") == (2, 4)


def test_processes_give_the_same_numbers_and_progress_reaches_the_end(tmp_path, rows_alone):
    seen = []
    arguments = {"name": "fig-convergence", "output": tmp_path, "pair": "A to W"}
    one = figures.make_figure(**arguments, on_progress=lambda *step: seen.append(step))
    two = figures.make_figure(**arguments, n_jobs=2)
    assert one == two
    assert [step[:2] for step in seen] == [(1, 2), (2, 2)]
    assert seen[0][2] == "A to W, LPJT, defaults"


def test_a_figure_made_again_has_the_same_bytes(tmp_path, toys):
    first, second = (figures.make_figure("fig-convergence", tmp_path / n, pair="A to W") for n in ("1", "2"))
    assert [path.name for path in first] == ["fig-convergence.png", "fig-convergence.svg", "fig-convergence.csv"]
    for a, b in zip(first, second, strict=True):
        assert a.read_bytes() == b.read_bytes()


def test_another_table_is_drawn_by_its_own_first_pairs(tmp_path, rows_alone):
    rows = figures.make_figure("fig-convergence", tmp_path, table="coil")
    assert list(dict.fromkeys(row["pair"] for row in rows)) == list(find_table("coil").pairs)


def test_embedding_lays_out_a_sample_of_both_domains_twice(tmp_path, toys, monkeypatch):
    monkeypatch.setattr(embedding, "MAX_ROWS", 70)
    rows = numbers(figures.make_figure("fig-embedding", tmp_path))
    problem = toy_problem("digits", "MNIST to USPS")
    for panel in ("before", "after"):
        of_panel = [row for row in rows if row["panel"] == panel]
        assert [row["domain"] for row in of_panel] == ["source"] * 40 + ["target"] * 30
        assert all(np.isfinite([float(row["x"]), float(row["y"])]).all() for row in of_panel)
        labels = {"source": problem.y_source, "target": problem.y_target}
        assert all(int(row["label"]) == labels[row["domain"]][int(row["row"])] for row in of_panel)
    places = [[(row["domain"], row["row"]) for row in rows if row["panel"] == panel] for panel in ("before", "after")]
    assert places[0] == places[1]
    assert len(set(places[0])) == 70


def test_embedding_before_is_scaled_and_after_is_transformed():
    problem = toy_problem()
    model = fit(problem, scaling="unit")
    spaces = embedding._spaces(model, problem)
    for before, after, raw, domain in zip(
        spaces["before"], spaces["after"], (problem.X_source, problem.X_target), ("source", "target"), strict=True
    ):
        np.testing.assert_allclose(before, raw / np.linalg.norm(raw, axis=1)[:, None])
        Z = model.transform(raw, domain)
        np.testing.assert_allclose(after, Z / np.linalg.norm(Z, axis=1)[:, None])


def test_embedding_refuses_domains_of_two_widths(tmp_path, toys):
    toys["width_target"] = WIDTH + 5
    with pytest.raises(ValueError, match=r"has widths 24 and 29\. Give a table whose domains have one width"):
        figures.make_figure("fig-embedding", tmp_path, table="surf-efficientnet")


@pytest.fixture
def photographed(monkeypatch, tmp_path):
    """Two small domains whose rows name photographs that lie in a directory of the test."""
    from matplotlib.image import imsave

    names = np.array(["backpack", "calculator", "mug"])
    problem = toy_problem()
    domains = {}
    for key, folder, X, y in (
        ("A", "amazon", problem.X_source, problem.y_source),
        ("W", "webcam", problem.X_target, problem.y_target),
    ):
        images = np.array([f"{folder}/{names[label]}/frame_{i:04}.jpg" for i, label in enumerate(y)])
        domains[key] = LabelledRows(X, y, (), images)
        for image in images[y == 1]:
            path = tmp_path / "data" / "office_caltech10_images" / image
            path.parent.mkdir(parents=True, exist_ok=True)
            imsave(path, np.full((4, 4, 3), 0.5))
    monkeypatch.setattr(landmarks, "load_domain", lambda table, key: domains[key])
    monkeypatch.setenv("LPJT_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("LPJT_CACHE", str(tmp_path / "cache"))
    return domains


def test_landmarks_are_the_weights_of_the_fit_in_falling_order(tmp_path, photographed):
    rows = numbers(figures.make_figure("fig-landmarks", tmp_path))
    source, target = photographed["A"], photographed["W"]
    for setting, parameters in landmarks.SETTINGS.items():
        model = fit(toy_problem(), safeguard=False, candidates=None, refine=False, **parameters)
        Z, Z_target = model.transform(source.X, "source"), model.transform(target.X)
        mean = Z_target[target.y == 1].mean(axis=0)
        drawn = [row for row in rows if (row["setting"], row["domain"]) == (setting, "source")]
        place = {image: i for i, image in enumerate(source.images)}
        assert {row["image"] for row in drawn} == set(source.images[source.y == 1])
        for row in drawn:
            i = place[row["image"]]
            assert float(row["weight"]) == pytest.approx(model.weights_source_[i], rel=1e-12)
            assert float(row["distance"]) == pytest.approx(np.sqrt(((Z[i] - mean) ** 2).sum()), rel=1e-9)
        weights = [float(row["weight"]) for row in drawn]
        assert weights == sorted(weights, reverse=True)
        assert [row["shown_as"] for row in drawn[:8]] == ["source, heaviest"] * 8
        assert [row["shown_as"] for row in drawn[-8:]] == ["source, lightest"] * 8


def test_equal_weights_are_ordered_by_distance():
    weights = np.array([1.0, 0.5, 1.0 - 1e-9, 0.0, 1e-9])
    marks = landmarks.ClassLandmarks(np.arange(5), weights, np.array([3.0, 1.0, 2.0, 5.0, 4.0]), np.ones(5))
    assert marks.heaviest().tolist() == [2, 0, 1, 4, 3]


def test_a_missing_photograph_is_named_with_the_place_where_it_goes(tmp_path, photographed):
    folder = tmp_path / "data" / "office_caltech10_images"
    for path in (folder / "webcam/calculator").iterdir():
        path.unlink()
    with pytest.raises(ValueError) as caught:
        figures.make_figure("fig-landmarks", tmp_path / "out")
    assert "the image webcam/calculator/frame_" in str(caught.value)
    assert f"put it in {folder}" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"table": "surf"}, r"which 'surf' does not name\. Give the table 'efficientnet', or none"),
        ({"pair": "C to A"}, r"no photographs for 'C to A'.* Give one of the pairs 'A to W', 'W to A'"),
    ],
)
def test_landmarks_need_rows_with_photographs(tmp_path, arguments, words):
    with pytest.raises(ValueError, match=words):
        figures.make_figure("fig-landmarks", tmp_path, **arguments)


def test_output_must_not_be_a_file(tmp_path, toys, monkeypatch):
    taken = tmp_path / "taken"
    taken.write_text("mine")
    monkeypatch.setattr(settings, "LPJT", None)  # and this is found out before any fit
    with pytest.raises(ValueError, match="is a file, and figures go into a directory"):
        figures.make_figure("fig-convergence", taken, pair="A to W")
    assert taken.read_text() == "mine"


def test_without_matplotlib_the_extra_is_named_before_anything_is_fitted(tmp_path, toys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setattr(settings, "LPJT", None)
    for name in figures.FIGURES:
        with pytest.raises(ImportError, match=r"pip install 'lpjt\[report\]'"):
            figures.make_figure(name, tmp_path)


def test_importing_the_figures_loads_no_drawing_library():
    code = (
        "import sys, lpjt.study.figures.catalogue; assert not any(m.split('.')[0] == 'matplotlib' for m in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.data
@pytest.mark.slow
def test_the_heaviest_calculators_are_nearer_to_the_targets_than_the_lightest():
    source, target = landmarks.landmark_weights("A to W", "calculator")
    assert len(source.weights) == 94
    assert len(target.weights) == 31
    assert all(str(image).startswith("amazon/calculator/") for image in source.images)
    order = source.heaviest()
    heaviest, lightest = source.distances[order[:8]], source.distances[order[-8:]]
    assert heaviest.mean() < 0.8 * lightest.mean()
    assert np.median(heaviest) < 0.8 * np.median(lightest)
    assert np.corrcoef(source.weights, source.distances)[0, 1] < -0.3
