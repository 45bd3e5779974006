"""Scalings of each view: whose statistics the columns of a domain are standardised by."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from lpjt import LPJT
from lpjt.core.scaling import scale_rows
from lpjt.domains import open_domains
from lpjt.selection.scaling import Scalings
from toys import plain_scaling


def rows(seed, n=20, width=4):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, width)) * rng.uniform(0.5, 3, size=width) + rng.normal(size=width)


def labels(n):
    return np.arange(n) % 2


def several(sources, targets):
    """Validated domains, named s0, s1, ... and t0, t1, ..."""
    X = {f"s{i}": part for i, part in enumerate(sources)}
    y = {f"s{i}": labels(part.shape[0]) for i, part in enumerate(sources)}
    return open_domains(X, y, {f"t{i}": part for i, part in enumerate(targets)})


def assert_statistics(scaling, *parts):
    """The z-scores of all rows of the parts, stacked, clipped at three, then rows of unit length."""
    stacked = np.vstack(parts)
    assert_allclose(scaling.mean, stacked.mean(axis=0), rtol=1e-10)
    assert_allclose(scaling.deviation, stacked.std(axis=0), rtol=1e-10)
    assert (scaling.clip, scaling.unit_rows, scaling.row_sums) == (3.0, True, False)
    assert_allclose(scale_rows(stacked, scaling), plain_scaling(stacked, "standard"), atol=1e-12)


S1, S2, T1, T2 = rows(0), rows(1, n=30), rows(2, n=16), rows(3, n=24)
WIDE, WIDER = rows(4, n=18, width=6), rows(5, n=22, width=6)


def test_statistics_of_one_source_and_one_target():
    scalings = Scalings(several([S1], [T1]))
    for kind, of_source, of_target in (
        ("source", (S1,), (S1,)),
        ("joint", (S1, T1), (S1, T1)),
        ("standard", (S1,), (T1,)),
    ):
        first, second = scalings.of(kind)
        assert_statistics(first, *of_source)
        assert_statistics(second, *of_target)


def test_several_sources_have_statistics_together():
    scalings = Scalings(several([S1, S2], [T1, T2]))
    assert len(scalings.of("source")) == len(scalings.of("joint")) == 4
    for scaling in scalings.of("source"):
        assert_statistics(scaling, S1, S2)
    for scaling in scalings.of("joint"):
        assert_statistics(scaling, S1, S2, T1, T2)
    for scaling, part in zip(scalings.of("standard"), (S1, S2, T1, T2), strict=True):
        assert_statistics(scaling, part)


def test_statistics_are_those_of_domains_of_one_width():
    scalings = Scalings(several([S1, WIDE], [T1, WIDER]))
    for scaling, parts in zip(scalings.of("source"), ((S1,), (WIDE,), (S1,), (WIDE,)), strict=True):
        assert_statistics(scaling, *parts)
    both = (S1, T1), (WIDE, WIDER)
    for scaling, parts in zip(scalings.of("joint"), (*both, *both), strict=True):
        assert_statistics(scaling, *parts)


def test_targets_of_a_width_that_no_source_has_use_their_own():
    scalings = Scalings(several([S1], [WIDE, T1, WIDER]))
    for kind in ("source", "joint"):
        of_source, *of_targets = scalings.of(kind)
        assert_statistics(of_source, *((S1,) if kind == "source" else (S1, T1)))
        assert_statistics(of_targets[0], WIDE, WIDER)
        assert_statistics(of_targets[1], *((S1,) if kind == "source" else (S1, T1)))
        assert_statistics(of_targets[2], WIDE, WIDER)


@pytest.mark.parametrize("kind", ["unit", "none", "paper"])
def test_other_views_have_the_statistics_of_each_domain(kind):
    parts = [np.abs(part) for part in (S1, S2, T1)]
    scalings = Scalings(several(parts[:2], parts[2:]))
    for scaling, part in zip(scalings.of(kind), parts, strict=True):
        assert_allclose(scale_rows(part, scaling), plain_scaling(part, kind), atol=1e-12)


@pytest.mark.parametrize("kind", ["source", "joint"])
def test_sparse_rows_have_the_statistics_of_dense_ones(kind):
    dense = [np.where(part > 0, part, 0) for part in (S1, T1)]
    found = Scalings(several([sparse.csr_array(dense[0])], [sparse.csr_array(dense[1])])).of(kind)
    expected = Scalings(several(dense[:1], dense[1:])).of(kind)
    for one, other in zip(found, expected, strict=True):
        assert_allclose(one.mean, other.mean, rtol=1e-10)
        assert_allclose(one.deviation, other.deviation, rtol=1e-10)


def test_constant_columns_have_no_scores():
    source, target = S1.copy(), T1.copy()
    source[:, 1] = target[:, 2] = 5.0
    domains = several([source], [target])
    of_source = Scalings(domains).of("source")[1]
    assert np.isinf(of_source.deviation[1])
    assert_array_equal(scale_rows(target, of_source)[:, 1], 0)
    assert np.isfinite(Scalings(domains).of("joint")[0].deviation).all()  # not constant in both domains together


def test_statistics_are_computed_once(monkeypatch):
    scalings = Scalings(several([S1], [T1]))
    found = {kind: scalings.of(kind) for kind in ("source", "joint", "standard")}
    monkeypatch.setattr("lpjt.selection.scaling.joint_scaling", None)
    monkeypatch.setattr("lpjt.selection.scaling.fit_scaling", None)
    assert all(scalings.of(kind) is found[kind] for kind in found)


@pytest.mark.parametrize("kind", ["source", "joint"])
def test_without_a_target_shared_views_are_clipped_too(kind):
    outlier = np.vstack([S1, [[100.0, 0, 0, 0]]])
    y = labels(len(outlier))
    found = LPJT(scaling=kind, random_state=0).fit(outlier, y)
    expected = LPJT(scaling="standard", random_state=0).fit(outlier, y)
    assert_allclose(found.transform(outlier), expected.transform(outlier), atol=1e-10)


# --------------------------------------------------------------------------------------------------
# Lengths of rows


def on_a_line(seed=0, n=60, moved=0.0, width=6):
    """Three classes at 0, 3 and 6 in every column: only the length of a z-score tells the middle one."""
    y = np.arange(n) % 3
    return 3.0 * y[:, None] + np.random.default_rng(seed).normal(size=(n, width)) + moved, y


@pytest.mark.parametrize("kind", ["standard", "source", "joint"])
def test_views_that_keep_lengths_are_z_scores_over_the_root_of_the_width(kind):
    scalings = Scalings(several([S1], [T1]))
    for part, unit, kept in zip((S1, T1), scalings.of(kind), scalings.of(f"{kind}-length"), strict=True):
        scores = np.clip((part - unit.mean) / unit.deviation, -3, 3)
        assert_allclose(scale_rows(part, kept), scores / 2, atol=1e-12)  # four columns


def test_lengths_matter_where_unit_rows_lose_a_class():
    X, y = on_a_line()
    assert Scalings(open_domains(X, y, X + 1)).lengths_matter
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(3, 40))
    round_rows = centres[y] + rng.normal(size=(60, 40))  # as many directions as columns: lengths say nothing
    assert not Scalings(open_domains(round_rows, y, round_rows + 1)).lengths_matter
    assert not Scalings(open_domains(round_rows, rng.permutation(y), round_rows)).lengths_matter


def test_auto_keeps_lengths_where_they_matter():
    (X, y), (X_target, y_target) = on_a_line(), on_a_line(1, moved=2.0)
    model = LPJT(random_state=0).fit(X, y, X_target)
    assert model.scaling_.endswith("-length")
    assert "unit" not in {record["view"].removesuffix("-length") for record in model.candidates_}
    assert np.mean(model.transduction_ == y_target) > 0.95
    assert np.mean(model.predict(X_target) == y_target) > 0.95
    unit = LPJT(scaling="standard", random_state=0).fit(X, y, X_target)
    assert np.mean(unit.transduction_ == y_target) < 0.9


def test_lengths_can_be_asked_for_without_candidates():
    (X, y), (X_target, y_target) = on_a_line(), on_a_line(1, moved=2.0)
    given = {"scaling": "standard-length", "target_proportions": "source", "random_state": 0}
    model = LPJT(**given).fit(X, y, X_target)
    assert (model.scaling_, model.candidates_) == ("standard-length", [])
    assert np.mean(model.transduction_ == y_target) > 0.95


def test_lengths_are_kept_without_a_target_and_beside_both_linear_classifiers():
    (X, y), (X_new, y_new) = on_a_line(), on_a_line(1)
    alone = LPJT(scaling="standard-length", random_state=0).fit(X, y)
    assert np.mean(alone.predict(X_new, domain="source") == y_new) > 0.95
    model = LPJT(random_state=0).fit(X, y, X_new)
    linear = [record for record in model.candidates_ if record["candidate"] == "linear"]
    assert [record["view"] for record in linear].count("source-length") == 2  # a ridge regression and an SVM


@pytest.mark.parametrize("classifier", ["svm", "nn"])
def test_any_classifier_keeps_lengths(classifier):
    (X, y), (X_target, y_target) = on_a_line(), on_a_line(1, moved=1.0)
    model = LPJT(classifier=classifier, random_state=0).fit(X, y, X_target)
    assert model.scaling_.endswith("-length")
    assert np.mean(model.transduction_ == y_target) > 0.9
