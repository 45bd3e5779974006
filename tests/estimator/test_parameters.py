"""Every parameter of `LPJT`, `Propagation`, `NuSVM` and `Kernel` does what its documentation says.

A case is a function of a factory: it fits with two values and asserts what the documentation promises of each. Each
case is run twice: with the class itself, where it must pass, and with a class that ignores the parameter, where it must
fail. A parameter without a case fails the first test.
"""

import inspect
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from lpjt import LPJT, Kernel, NuSVM, Propagation
from lpjt._threads import n_threads
from lpjt.core.blocks import as_dense
from lpjt.core.coordinates import to_coordinates
from problems import shifted_pair, widened

CLASSES = {"LPJT": LPJT, "Propagation": Propagation, "NuSVM": NuSVM, "Kernel": Kernel}
CASES = {}

#: Classes overlap, so labels move for some iterations and 1-NN fails on a third of the rows.
X, y, X_target, y_target = shifted_pair(apart=1.5)


def case(name):
    def keep(check):
        assert name not in CASES
        CASES[name] = check
        return check

    return keep


def parameters_of(cls):
    return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]


ALL = [f"{cls}.{name}" for cls, kind in CLASSES.items() for name in parameters_of(kind)]


def test_every_parameter_has_a_case():
    lacking, surplus = set(ALL) - set(CASES), set(CASES) - set(ALL)
    assert not lacking, f"Add a case to {__file__} for: {sorted(lacking)}"
    assert not surplus, f"These parameters are gone; remove their cases: {sorted(surplus)}"


@pytest.mark.parametrize("name", ALL)
def test_parameter_does_what_is_documented(name, monkeypatch, capsys):
    cls = CLASSES[name.partition(".")[0]]
    run(CASES[name], cls, monkeypatch, capsys)


@pytest.mark.parametrize("name", ALL)
def test_the_case_fails_where_the_parameter_is_ignored(name, monkeypatch, capsys):
    cls, _, parameter = name.partition(".")

    def ignoring(*args, **given):
        bound = inspect.signature(CLASSES[cls]).bind_partial(*args, **given).arguments
        return CLASSES[cls](**{key: value for key, value in bound.items() if key != parameter})

    with pytest.raises((AssertionError, pytest.fail.Exception)):
        run(CASES[name], ignoring, monkeypatch, capsys)


def run(check, make, monkeypatch, capsys):
    tools = {"monkeypatch": monkeypatch, "capsys": capsys}
    wanted = list(inspect.signature(check).parameters)[1:]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(make, **{name: tools[name] for name in wanted})


def fit(model, X=X, y=y, X_target=X_target, y_target=None):
    """One setting, so that a parameter acts alone."""
    return model.set_params(random_state=0, candidates=None, refine=False).fit(X, y, X_target, y_target)


def spy(monkeypatch, target):
    """Results of each call of a function, which goes on as before."""
    module, _, name = target.rpartition(".")
    real = getattr(__import__(module, fromlist=[name]), name)
    seen = []

    def wrapped(*args, **options):
        answer = real(*args, **options)
        seen.append((args, options, answer))
        return answer

    monkeypatch.setattr(target, wrapped)
    return seen


# The objective


@case("LPJT.n_components")
def components_are_counted(make):
    wide = shifted_pair(width=60, n_classes=3)[:3]
    for value in (3, 7):
        assert fit(make(n_components=value), *wide).transform(wide[2]).shape[1] == value
    for width, n_classes, chosen, alone in ((60, 3, 30, 20), (30, 3, 20, 20), (30, 12, 20, 24), (90, 42, 42, 84)):
        domains = shifted_pair(width=width, n_classes=n_classes)[:3]
        assert LPJT(random_state=0).fit(*domains).transform(domains[2]).shape[1] == chosen
        assert fit(make(), *domains).transform(domains[2]).shape[1] == alone


@case("LPJT.locality_weight")
def locality_draws_classes_together(make):
    """Rows come nearer to rows of their class, compared with rows of others."""

    def spread(weight):
        Z = fit(make(locality_weight=weight, safeguard=False, n_components=3)).transform(X, "source")
        distances = cdist(Z, Z)
        same = y[:, None] == y
        return distances[same].mean() / distances[~same].mean()

    assert spread(0.5) < 0.9 * spread(0.0)


@case("LPJT.variance_weight")
def variance_keeps_directions_of_the_target(make):
    """The target keeps more of its variance under a larger weight."""

    def kept(weight):
        model = fit(make(variance_weight=weight, safeguard=False, n_components=2, scaling=None))
        Q, _ = np.linalg.qr(model.projections_["target"])
        rows = X_target - X_target.mean(axis=0)
        return np.sum((rows @ Q) ** 2) / np.sum(rows**2)

    assert kept(100.0) > kept(1e-4) + 0.2


@case("LPJT.coupling_weight")
def coupling_draws_the_projections_together(make):
    def apart(weight):
        P = fit(make(coupling_weight=weight, safeguard=False, n_components=3)).projections_
        return np.linalg.norm(P["source"] - P["target"]) / np.linalg.norm(P["source"])

    assert apart(1000.0) < 0.05 < apart(0.0)
    assert_allclose(apart("auto"), apart(1.0))
    with pytest.raises(ValueError, match=r"coupling_weight=0\.5 joins A and B"):
        fit(make(coupling_weight=0.5), X_target=widened(X_target, 11))


@case("LPJT.landmark_ratio")
def landmarks_have_the_mean_weight(make):
    for ratio in (0.3, 0.7):
        model = fit(make(landmark_ratio=ratio, safeguard=False))
        for c in np.unique(y):
            assert_allclose(model.weights_source_[y == c].mean(), ratio, atol=1e-6)
        assert model.weights_source_.std() > 0
    assert_array_equal(fit(make(landmark_ratio=None)).weights_source_, 1)


@case("LPJT.n_neighbors")
def neighbours_are_counted_in_the_graphs(make, monkeypatch):
    seen = spy(monkeypatch, "lpjt.core.graphs.class_graphs")
    for k in (2, 6):
        seen.clear()
        fit(make(n_neighbors=k, safeguard=False, max_iter=1))
        assert seen
        for _, _, graphs in seen:
            for W in (graphs.within, graphs.between):
                n_edges = (as_dense(W) > 0).sum(axis=1)
                assert n_edges.min() == k  # some row is chosen by no row that it did not choose itself
                assert n_edges.sum() <= 2 * k * W.shape[0]


@case("LPJT.graph_weights")
def graph_weights_are_those_of_the_edges(make, monkeypatch):
    seen = spy(monkeypatch, "lpjt.core.graphs.class_graphs")

    def first(value):
        seen.clear()
        fit(make(graph_weights=value, safeguard=False, max_iter=1))
        (rows, *_), _, graphs = seen[0]
        W = as_dense(graphs.within)
        i, j = W.nonzero()
        return W[i, j], ((rows[i] - rows[j]) ** 2).sum(axis=1)

    values, _ = first("binary")
    assert_array_equal(values, 1)
    values, squared = first(0.4)
    assert_allclose(values, np.exp(-squared / (2 * 0.4**2)), rtol=1e-5)
    values, squared = first("heat")
    bandwidth = -squared / (2 * np.log(values))
    assert_allclose(bandwidth, bandwidth[0], rtol=1e-4)
    assert 0.5 * squared.mean() < bandwidth[0] < 2 * squared.mean()


# Kernel


@case("LPJT.kernel")
def only_a_linear_kernel_is_linear(make):
    rows = X_target[:5], X_target[5:10]

    def defect(kernel):
        model = fit(make(kernel=kernel, scaling=None, safeguard=False))
        a, b, both = (model.transform(part) for part in (*rows, rows[0] + rows[1]))
        return np.abs(a + b - both).max() / np.abs(both).max()

    assert defect("linear") < 1e-10
    assert defect("rbf") > 0.1
    assert defect(Kernel("cosine")) > 0.1


def kernel_values(kernel):
    """What a kernel makes of two rows: columns of the kernel matrix of the fit, by its own coordinates."""
    model = fit(LPJT(kernel=kernel, scaling=None, safeguard=False, n_coordinates=None))
    found = model._coordinates["target"]
    return found.kernel, found.kernel_params, found


@case("Kernel.function")
def a_kernel_is_the_named_one(make):
    for name in ("rbf", "cosine"):
        assert kernel_values(make(name))[0] == name

    def called(a, b):
        return float(a @ b)

    assert kernel_values(make(called))[0] is called


@case("Kernel.gamma")
def gamma_is_the_width(make):
    assert kernel_values(make("rbf", gamma=0.125))[1] == {"gamma": 0.125}
    found = kernel_values(make("rbf", gamma=None))[1]["gamma"]
    together = np.vstack([X, X_target])
    assert_allclose(1 / found, (cdist(together, together) ** 2).mean(), rtol=0.2)


@case("Kernel.degree")
def degree_is_the_power(make):
    for degree in (1, 2):
        model = fit(LPJT(kernel=make("poly", gamma=1.0, degree=degree, coef0=0), scaling=None, safeguard=False))
        once, twice = (np.abs(model.transform(scale * X_target[:5])).max() for scale in (1, 2))
        assert_allclose(twice / once, 2**degree, rtol=1e-6)  # the kernel of doubled rows grows with the degree


@case("Kernel.coef0")
def coef0_is_the_constant(make):
    for constant in (0, 2.5):
        model = fit(LPJT(kernel=make("poly", gamma=1.0, degree=1, coef0=constant), scaling=None, safeguard=False))
        at_zero = np.abs(model.transform(np.zeros((1, X.shape[1])))).max()
        assert (at_zero > 1e-9) == (constant > 0)  # k(x, 0) is the constant alone


@case("Kernel.max_rows")
def kernel_rows_are_counted(make):
    for n in (20, 50):
        assert len(np.unique(kernel_values(make("rbf", max_rows=n))[2].kernel_rows, axis=0)) == n
    everything = len(X) + len(X_target)
    assert kernel_values(make("rbf"))[2].kernel_rows.shape[0] == everything


# Labels


@case("LPJT.classifier")
def classifiers_label_as_they_would_alone(make):
    for given, alone in (("nn", KNeighborsClassifier(1)), (LogisticRegression(), LogisticRegression())):
        model = fit(make(classifier=given, safeguard=False))
        Z = model.transform(X, "source")
        assert_array_equal(model.transduction_, alone.fit(Z, y).predict(model.transform(X_target)))
    with pytest.raises(ValueError, match=r"classifier='nearest' is unknown\. Give one of 'propagation', 'harmonic'"):
        fit(make(classifier="nearest"))
    with pytest.raises(ValueError, match="classifier"):
        fit(make(classifier=3))


@case("Propagation.n_neighbors")
def propagation_counts_neighbours(make, monkeypatch):
    seen = spy(monkeypatch, "lpjt.core.propagation.find_neighborhoods")
    for k in (4, 9):
        seen.clear()
        fit(LPJT(classifier=make(k), scaling="standard"))
        assert all(near.unknown.indices.shape[1] == k for *_, near in seen)
        assert seen


@case("Propagation.unit_length")
def unit_length_is_that_of_compared_rows(make, monkeypatch):
    seen = spy(monkeypatch, "lpjt.core.propagation.find_neighborhoods")

    def lengths(value):
        seen.clear()
        fit(LPJT(classifier=make(unit_length=value), scaling=None, safeguard=False))
        return np.linalg.norm(seen[-1][0][1], axis=1)

    assert_allclose(lengths(True), 1, rtol=1e-5)
    assert lengths(False).std() > 0.01


@case("Propagation.anchored")
def not_anchored_is_the_harmonic_solution(make):
    """The paper's propagation: "harmonic" is its short form, and known rows choose neighbours too."""
    free = fit(LPJT(classifier=make(anchored=False), max_iter=1)).label_distributions_
    assert_allclose(free, fit(LPJT(classifier="harmonic", max_iter=1)).label_distributions_)
    anchored = fit(LPJT(classifier=make(anchored=True), max_iter=1)).label_distributions_
    assert_allclose(anchored, fit(LPJT(max_iter=1)).label_distributions_)
    assert np.abs(free - anchored).max() > 0.01


@case("LPJT.candidates")
def candidates_are_tried_unless_there_are_none(make):
    tried = make(random_state=0, candidates="auto").fit(X, y, X_target)
    assert sum(record["chosen"] for record in tried.candidates_) == 1
    assert {record["view"] for record in tried.candidates_} == {"standard", "source", "joint", "unit", "none"}
    assert make(random_state=0, candidates=None).fit(X, y, X_target).candidates_ == []


@case("LPJT.refine")
def a_regression_takes_part_in_the_labels(make):
    alone, refined = (
        make(random_state=0, candidates=None, refine=value).fit(X, y, X_target) for value in (False, True)
    )
    assert np.abs(alone.label_distributions_ - refined.label_distributions_).max() > 0.01
    regression = refined._predictors["target"].parts[1]
    coordinates = to_coordinates(X_target, refined._coordinates["target"])
    mixed = regression.distributions_of(coordinates) + alone.label_distributions_ / 2
    assert_allclose(refined.label_distributions_, mixed / mixed.sum(axis=1, keepdims=True), atol=1e-9)


@case("LPJT.target_proportions")
def masses_are_drawn_to_the_given_proportions(make):
    def share_of_first(value):
        model = fit(make(target_proportions=value))
        return np.mean(model.transduction_ == 0)

    assert share_of_first({0: 0.8, 1: 0.1, 2: 0.1}) > share_of_first("source") + 0.05
    assert share_of_first([0.05, 0.475, 0.475]) < share_of_first("source") - 0.05


@case("Propagation.class_mass")
def class_masses_are_those_of_the_source(make):
    """With the masses of a source of equal classes, a target of one large class is given more of the small ones."""
    few = np.r_[np.flatnonzero(y_target == 0), np.flatnonzero(y_target == 1)[:3], np.flatnonzero(y_target == 2)[:3]]

    def of_largest(value):
        rule = make(class_mass=value)
        labels = np.concatenate([y, np.full(len(few), -1)])
        F = rule.classify(np.vstack([X, X_target[few]]), labels, None, 3)
        return F.mean(axis=0).max()

    assert of_largest(True) < of_largest(False) - 0.02


@case("NuSVM.nu")
def nu_bounds_the_support_vectors(make):
    """nu is a lower bound on the share of support vectors, and an upper bound on the share of margin errors."""
    few, many = (make(nu=nu).fit(X, y).n_support_.sum() for nu in (0.05, 0.8))
    assert many >= 0.8 * len(X) * 2 / 3 > few  # of three classes, each row is in two of the three problems
    small = np.r_[np.zeros(50, int), np.ones(2, int)]
    assert make(nu=0.9).fit(X[:52], small).nu == 0.9  # infeasible: lowered for the fit alone


# Scaling, start, iterations


@case("LPJT.scaling")
def scalings_forget_what_they_say(make):
    longer = X_target * np.linspace(1, 3, len(X_target))[:, None]
    stretched = 5 * X_target * np.arange(1, 9) - 7

    def same(scaling, changed):
        one, other = (fit(make(scaling=scaling, safeguard=False), X_target=rows) for rows in (X_target, changed))
        return np.allclose(one.label_distributions_, other.label_distributions_, atol=1e-5)

    assert same("unit", longer)
    assert not same("unit", stretched)
    assert same("standard", stretched)
    assert not same(None, longer)
    assert not same("none", stretched)
    assert fit(make(scaling="paper", safeguard=False)).scaling_ == "paper"
    assert fit(make(scaling="auto", safeguard=False)).scaling_ in ("standard", "unit")


@case("LPJT.start")
def the_start_gives_the_first_labels(make, monkeypatch):
    seen = spy(monkeypatch, "lpjt.fitting.start.first_labels")
    fit(make(start="auto", max_iter=1, safeguard=False))
    fit(make(start="pca-nn", max_iter=1, safeguard=False))
    soft, certain = (answer[0][0] for *_, answer in seen)
    assert (soft.max(axis=1) < 1).any()
    assert_array_equal(np.unique(certain), [0, 1])
    wide = widened(X_target, 11)
    for start in ("spectral", "gromov"):
        calls = spy(monkeypatch, f"lpjt.core.shape_guess.guess_{start}")
        fit(make(start=start, max_iter=1), X_target=wide)
        assert len(calls) == 1


@case("LPJT.max_iter")
def iterations_are_counted(make):
    for n in (1, 3):
        assert fit(make(max_iter=n, tol=0.0, safeguard=False)).n_iter_ == n


@case("LPJT.tol")
def a_share_of_changes_is_tolerated(make):
    loose, strict = (fit(make(tol=tol, safeguard=False)) for tol in (1.0, 0.0))
    assert loose.n_iter_ == 1
    assert strict.n_iter_ > 2
    assert loose.history_[0]["n_changed"] > 0


@case("LPJT.safeguard")
def the_safeguard_finds_that_nothing_shifts(make):
    order = np.random.default_rng(0).permutation(90)
    parts = X[order[:45]], y[order[:45]], X[order[45:]]
    assert not fit(make(safeguard=True), *parts).adapted_
    assert fit(make(safeguard=False), *parts).adapted_


# Size, memory, threads, output


@case("LPJT.n_coordinates")
def coordinates_are_counted(make):
    flat = [rows * 10.0 ** -np.arange(8) for rows in (X, X_target)]

    def rank(value):
        return (
            fit(make(n_coordinates=value, scaling=None, n_components=1), flat[0], y, flat[1])
            .projections_["target"]
            .shape[0]
        )

    assert rank(3) == 3
    assert rank(None) == 8
    assert rank("auto") == 4  # two or three directions hold 99.9 % of the mean square


@case("LPJT.neighbor_search")
def the_search_is_the_one_asked_for(make, monkeypatch):
    pytest.importorskip("faiss")
    monkeypatch.setattr("lpjt.core.neighbors.COMPARED", 50)
    calls = spy(monkeypatch, "lpjt.core.neighbors.nearest_by_clusters")
    big = shifted_pair(n_source=400, n_target=350)[:3]
    fit(make(neighbor_search="exact", max_iter=1), *big)
    assert not calls
    fit(make(neighbor_search="approximate", max_iter=1), *big)
    assert calls


@case("LPJT.sample_size")
def sampled_rows_are_counted(make):
    for n in (30, 60):
        model = fit(make(sample_size=n))
        assert {name: np.size(rows) for name, rows in model.sample_.items()} == {"source": n, "target": n}
        assert_array_equal(np.bincount(y[model.sample_["source"]]), n // 3)
        assert len(model._predictors["target"].predictor.rows) == 2 * n
        assert len(model.transduction_) == len(X_target)
    assert fit(make(sample_size=None)).sample_ == {"source": None, "target": None}


@case("LPJT.memory_limit")
def memory_is_limited(make):
    with pytest.raises(ValueError, match="memory_limit='1KB' is too small: this fit needs at least"):
        fit(make(memory_limit="1KB"))
    with pytest.raises(ValueError, match="memory_limit='plenty' is not a size"):
        fit(make(memory_limit="plenty"))
    assert_array_equal(fit(make(memory_limit="1GB")).transduction_, fit(make()).transduction_)


@case("LPJT.n_jobs")
def threads_are_counted(make):
    for n in (1, 3):
        seen = []
        fit(make(n_jobs=n, callback=lambda record, seen=seen: seen.append(n_threads())))
        assert set(seen) == {n}


@case("LPJT.callback")
def the_callback_sees_each_record(make):
    seen = []
    model = fit(make(callback=seen.append))
    assert seen == model.history_
    assert len(seen) == model.n_iter_


@case("LPJT.verbose")
def verbose_prints_a_line_per_iteration(make, capsys):
    fit(make(verbose=0))
    assert capsys.readouterr().out == ""
    model = fit(make(verbose=1))
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == [f"[LPJT] iteration {i + 1}" for i in range(model.n_iter_)]


@case("LPJT.random_state")
def a_seed_repeats_what_is_drawn(make):
    def drawn(seed):
        return make(sample_size=30, random_state=seed).fit(X, y, X_target).sample_["target"]

    assert_array_equal(drawn(1), drawn(1))
    assert not np.array_equal(drawn(1), drawn(2))
