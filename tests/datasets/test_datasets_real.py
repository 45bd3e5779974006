"""The real files: shapes, classes, checksums, and the published nearest-neighbour figures."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from datasets_small import needs_data
from lpjt.core.scaling import fit_scaling, scale_rows
from lpjt.datasets import SETS, TABLES, load_domain, load_problem
from lpjt.datasets.fetch import check
from lpjt.datasets.where import find_file, image_file

pytestmark = needs_data

# Nearest neighbour, source to target. Long et al., ICCV 2013 and CVPR 2014, print these for the digits, COIL and SURF.
NEAREST = {
    "surf": {
        "C to A": 23.70, "C to W": 25.76, "C to D": 25.48, "A to C": 26.00, "A to W": 29.83, "A to D": 25.48,
        "W to C": 19.86, "W to A": 22.96, "W to D": 59.24, "D to C": 26.27, "D to A": 28.50, "D to W": 63.39,
    },
    "digits": {"MNIST to USPS": 65.94, "USPS to MNIST": 44.70},
    "coil": {"COIL1 to COIL2": 83.61, "COIL2 to COIL1": 82.78},
}  # fmt: skip


def here(name):
    return all(find_file(SETS[name], file) is not None for file in SETS[name].files)


def skip_unless_here(*names):
    missing = [name for name in names if not here(name)]
    if missing:
        pytest.skip(f"LPJT_DATA has no {', '.join(missing)}")


@pytest.mark.parametrize("name", [name for name in SETS if SETS[name].files])
def test_every_file_that_is_here_has_its_checksum(name):
    statuses = [status for status in check(name) if status.path is not None]
    if not statuses:
        pytest.skip(f"LPJT_DATA has no {name}")
    assert {status.file: status.state for status in statuses} == {status.file: "ok" for status in statuses}


# Full MNIST has its own test below: reading it takes seconds.
@pytest.mark.parametrize("name", [name for name in SETS if SETS[name].files and name != "mnist-full"])
def test_every_domain_that_is_here_loads_with_its_shape(name):
    loaded = 0
    for key, spec in SETS[name].domains.items():
        if any(find_file(SETS[name], file) is None for file in spec.files):
            continue
        domain = load_domain(name, key)
        assert domain.X.shape[0] == len(domain.y) == spec.rows
        assert domain.X.shape[1] in SETS[name].widths
        assert len(np.unique(domain.y)) == SETS[name].n_classes
        loaded += 1
    if not loaded:
        pytest.skip(f"LPJT_DATA has no {name}")


def test_office_sets_count_the_same_classes_in_one_order():
    skip_unless_here("surf", "efficientnet", "googlenet")
    for key in "CAWD":
        counts = np.unique(load_domain("surf", key).y, return_counts=True)
        for other in ("efficientnet", "googlenet", "decaf6"):
            spec = SETS[other].domains.get(key)
            if spec is not None and find_file(SETS[other], spec.files[0]) is not None:
                np.testing.assert_array_equal(np.unique(load_domain(other, key).y, return_counts=True), counts)


def nearest_neighbour(table, pair):
    problem = load_problem(table, pair)
    kind = TABLES[table].normalisation
    source, target = (scale_rows(X, fit_scaling(X, kind)) for X in (problem.X_source, problem.X_target))
    model = KNeighborsClassifier(1).fit(source, problem.y_source)
    return 100 * model.score(target, problem.y_target)


@pytest.mark.parametrize("table", NEAREST)
def test_the_nearest_neighbour_gives_the_published_figures(table):
    skip_unless_here(*TABLES[table].sets)
    for pair, published in NEAREST[table].items():
        assert round(nearest_neighbour(table, pair), 2) == published, pair


def test_every_row_of_the_extracted_features_has_its_image():
    skip_unless_here("efficientnet")
    if any(status.state != "ok" for status in check("office-images")):
        pytest.skip("LPJT_DATA has no office-images")
    for key in "AW":
        domain = load_domain("efficientnet", key)
        assert all(image_file(str(name)).stat().st_size > 0 for name in domain.images)


def old_split(y, n, rng):
    """The split behind the stored figures, as it was first written."""
    picked = []
    for c in sorted(set(y.tolist())):
        places = np.array([i for i, label in enumerate(y) if label == c])
        picked += list(rng.permutation(places)[:n])
    return sorted(picked)


def test_heterogeneous_splits_are_those_of_the_stored_figures():
    skip_unless_here("surf", "efficientnet")
    surf, deep = load_domain("surf", "C"), load_domain("efficientnet", "W")
    for seed in range(3):
        rng = np.random.default_rng(seed)
        rows, given = old_split(surf.y, 20, rng), old_split(deep.y, 3, rng)
        problem = load_problem("surf-efficientnet", "C to W", seed)
        np.testing.assert_array_equal(problem.X_source, surf.X[rows])
        np.testing.assert_array_equal(problem.given, given)


def test_the_demonstration_gives_three_labels_a_class():
    skip_unless_here("cdls-demo")
    problem = load_problem("cdls-demo", "amazon DeCAF to dslr SURF")
    assert (problem.X_source.shape, problem.X_target.shape) == ((200, 4096), (157, 800))
    assert np.unique(problem.y_target[problem.given], return_counts=True)[1].tolist() == [3] * 10


def test_full_digits_are_of_one_width():
    skip_unless_here("mnist-full", "usps-full")
    problem = load_problem("digits-full", "USPS to MNIST")
    assert (problem.X_source.shape, problem.X_target.shape) == ((9298, 256), (70_000, 256))
    counts = np.unique(problem.y_target, return_counts=True)[1]
    assert counts.tolist() == [6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958]
    # Averaging keeps the mean shade, which is 33.3 over the 60000 training images.
    assert problem.X_target[:60_000].mean() == pytest.approx(33.318, abs=0.001)
