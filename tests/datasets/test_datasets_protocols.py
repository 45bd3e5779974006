"""Tables, pairs, splits and the registry: what needs no real file."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.io import savemat

from datasets_small import empty_directories, rows_of, shrink
from lpjt.datasets import SETS, TABLES, DataError, find_pair, find_table, load_problem, locate
from lpjt.datasets.protocols import resize_images, some_of_each
from lpjt.datasets.where import find_file


def test_the_tables_have_the_papers_numbers_of_pairs():
    counts = {name: len(spec.pairs) for name, spec in TABLES.items()}
    assert counts == {
        "digits": 2, "digits-full": 2, "pie": 20, "surf": 12, "decaf6": 12, "efficientnet": 12, "googlenet": 6,
        "efficientnet-unit": 12, "coil": 2, "amazon": 12,
        "amazon-sparse": 12, "office-home": 12, "visda": 1, "digits-few": 2, "pie-few": 20,
        "decaf6-few": 6, "surf-few": 6, "efficientnet-few": 6, "surf-vgg": 9, "decaf-vgg": 9, "vgg-decaf": 9,
        "surf-efficientnet": 9, "surf-googlenet": 9, "googlenet-efficientnet": 6, "efficientnet-googlenet": 9,
        "cdls-demo": 1, "halves-same": 10, "halves-proportions": 10, "halves-missing": 10,
    }  # fmt: skip


def test_every_pair_of_every_table_names_domains_of_its_sets():
    for name, spec in TABLES.items():
        assert len(set(spec.pairs)) == len(spec.pairs)
        for pair in spec.pairs:
            assert find_pair(name, pair) == pair
            if spec.kind != "no-shift":
                source, target = pair.split(" to ")
                assert any(source in SETS[s].domains for s in spec.sets)
                assert target in SETS[spec.sets[-1]].domains or name == "digits-full"
        assert (spec.n_target is not None) == (spec.kind in ("few", "heterogeneous"))


def test_unknown_tables_and_pairs_name_the_nearest():
    with pytest.raises(ValueError, match=re.escape("'pei' is not a table (nearest: 'pie').")):
        find_table("pei")
    with pytest.raises(ValueError, match=re.escape("'05 to 08' is not a pair of pie (nearest: '05 to 0")):
        find_pair("pie", "05 to 08")
    with pytest.raises(ValueError, match="is not a table"):
        load_problem("nothing of the kind", "C to A")


@pytest.mark.parametrize("written", ["c to a", "C -> A", " C  to A ", "C→A"])
def test_pairs_are_known_however_they_are_written(written):
    assert find_pair("surf", written) == "C to A"


def test_checksums_and_addresses_are_well_formed():
    for data in SETS.values():
        assert data.citation
        assert data.where
        for file in data.files:
            for digest in filter(None, (file.sha256, *file.equals)):
                assert re.fullmatch("[0-9a-f]{64}", digest)
            assert all(re.fullmatch(r"https://[^\s]+", url) for url in file.mirrors)
            assert file.sha256 or not file.mirrors  # nothing is downloaded that cannot be checked


def test_some_of_each_draws_without_order_or_loss():
    y = np.repeat([3, 1, 2], [30, 4, 25])
    rows = some_of_each(y, 20, np.random.default_rng(0))
    assert_array_equal(np.unique(y[rows], return_counts=True)[1], [4, 20, 20])
    assert_array_equal(rows, np.unique(rows))
    assert not np.array_equal(rows, some_of_each(y, 20, np.random.default_rng(1)))


def test_resized_images_average_over_areas():
    rng = np.random.default_rng(0)
    images = rng.random((3, 28 * 28))
    small = resize_images(images, 16)
    # Naive oracle: every pixel cut in 4 x 4 parts gives 112 x 112 parts, 7 x 7 of them a cell.
    parts = np.kron(images.reshape(3, 28, 28), np.ones((1, 4, 4)))
    naive = parts.reshape(3, 16, 7, 16, 7).mean(axis=(2, 4)).reshape(3, 256)
    assert_allclose(small, naive, rtol=1e-12)
    assert_allclose(resize_images(images, 28), images, rtol=1e-12)


@pytest.fixture
def office(monkeypatch, tmp_path):
    """Small SURF and EfficientNet domains C, A and W: 40, 30 and 25 rows per class."""
    root = empty_directories(monkeypatch, tmp_path)
    for name, width, matrix in (("surf", 8, "fts"), ("vgg", 6, "FTS")):
        data = shrink(monkeypatch, name, 300, (width,))
        (root / data.folder).mkdir()
        for seed, key in enumerate("CAW"):
            X, y = rows_of(300, width, 10, seed=seed)
            savemat(root / data.folder / data.domains[key].files[0].name, {matrix: X, "labels": y})
    return root


def test_a_heterogeneous_problem_draws_20_and_3_a_class(office):
    problem = load_problem("surf-vgg", "C to A", seed=1)
    assert problem.X_source.shape == (200, 8)
    assert problem.X_target.shape == (300, 6)
    assert_array_equal(np.unique(problem.y_source, return_counts=True)[1], [20] * 10)
    assert_array_equal(np.unique(problem.y_target[problem.given], return_counts=True)[1], [3] * 10)
    assert problem.scored.sum() == 270
    assert not problem.scored[problem.given].any()
    shown = problem.y_given
    assert_array_equal(shown[problem.given], problem.y_target[problem.given])
    assert all(label is None for label in shown[problem.scored])


def test_a_seed_makes_the_split_and_the_checksum(office):
    first, again, other = (load_problem("surf-few", "C to A", seed=seed) for seed in (0, 0, 1))
    assert_array_equal(first.given, again.given)
    assert first.checksum == again.checksum != other.checksum
    assert not np.array_equal(first.given, other.given)


def test_a_homogeneous_problem_is_whole_and_gives_nothing(office):
    problem = load_problem("surf", "c to w", seed=3)
    assert (problem.pair, problem.X_source.shape, problem.X_target.shape) == ("C to W", (300, 8), (300, 8))
    assert problem.given is problem.y_given is None
    assert problem.scored.all()
    assert problem.checksum == load_problem("surf", "C to W", seed=4).checksum


def test_the_checksum_follows_the_contents_of_the_files(office):
    before = load_problem("surf", "C to A").checksum
    X, y = rows_of(300, 8, 10, seed=9)
    savemat(office / "office_caltech10_surf" / "Caltech10_SURF_L10.mat", {"fts": X, "labels": y})
    assert load_problem("surf", "C to A").checksum != before


def test_locate_finds_files_without_reading_them(office):
    names = [path.name for path in locate("surf-vgg", "C to A")]
    assert names == ["Caltech10_SURF_L10.mat", "amazon_VGG-FC6.mat"]
    assert [path.name for path in locate("halves-same", "surf C")] == ["Caltech10_SURF_L10.mat"]
    assert find_file(SETS["surf"], SETS["surf"].domains["D"].files[0]) is None
    with pytest.raises(DataError, match=r"dslr_SURF_L10\.mat is missing"):
        locate("surf", "C to D")
    with pytest.raises(DataError, match=r"MNIST_vs_USPS\.mat is missing"):
        locate("halves-same", "MNIST")


def test_halves_of_one_domain_share_no_row(office):
    whole = load_problem("halves-same", "surf C")
    assert len(whole.y_source) + len(whole.y_target) == 300
    rows = {row.tobytes() for row in whole.X_source}
    assert not any(row.tobytes() in rows for row in whole.X_target)
    thinned = load_problem("halves-proportions", "surf C")
    assert len(thinned.y_target) < 100
    lacking = load_problem("halves-missing", "surf C")
    assert len(np.unique(lacking.y_target)) == 8
    assert len(np.unique(lacking.y_source)) == 10
