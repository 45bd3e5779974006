"""`LPJTSearch`: which setting wins, what is shared, what each parameter does, and what is refused."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from lpjt import LPJT, Kernel, LPJTSearch, Propagation
from lpjt._threads import n_threads
from lpjt.fitting import candidate, compare, views
from lpjt.fitting.samples import FIRST_ROWS
from problems import masked, shifted_pair, widened

#: Six classes that overlap a little: one dimension cannot hold them.
X, y, X_target, y_target = shifted_pair(n_source=120, n_target=108, width=10, n_classes=6, apart=2.5)
GRID = {"n_components": [1, 6]}
EVIDENCE = ("score", "separation", "reverse", "agreement", "kinship", "clarity", "weight")


def search(grid=GRID, *given, estimator=None, sample_domain=None, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator = LPJT(random_state=0, max_iter=3) if estimator is None else estimator
        model = LPJTSearch(estimator, grid, **{"random_state": 0, "refit": False, **parameters})
        return model.fit(*(given or (X, y, X_target)), sample_domain=sample_domain)


def counted(monkeypatch, module, name):
    """A list that grows by the arguments of each call of a function."""
    calls, function = [], getattr(module, name)

    def watched(*args, **kwargs):
        calls.append(args)
        return function(*args, **kwargs)

    monkeypatch.setattr(module, name, watched)
    return calls


@pytest.mark.parametrize(
    ("grid", "bad"),
    [
        ({"n_components": [1, 6, 8]}, {"n_components": 1}),
        ({"kernel__gamma": [1e4, 0.3]}, {"kernel__gamma": 1e4}),
        ([{"n_components": [6]}, {"variance_weight": [1e6], "n_components": [1]}], {"n_components": 1}),
    ],
)
def test_a_bad_setting_has_the_worst_score_and_is_not_chosen(grid, bad):
    estimator = LPJT(kernel=Kernel("rbf"), random_state=0)
    found = search(grid, estimator=estimator)
    worst = found.cv_results_["params"][int(np.argmax(found.cv_results_["rank"]))]
    assert bad.items() <= worst.items()
    assert not bad.items() <= found.best_params_.items()
    assert found.best_params_ == found.cv_results_["params"][found.best_index_]
    assert found.best_score_ == found.cv_results_["score"].max()
    labelled = estimator.set_params(**found.best_params_).fit(X, y, X_target)
    assert np.mean(labelled.transduction_ == y_target) > 0.8


def test_the_table_has_a_row_per_setting_and_the_evidence_of_each():
    grid = [{"n_components": [1, 6]}, {"scaling": ["unit"], "classifier": ["nn"]}]
    table = search(grid).cv_results_
    assert table["params"] == [{"n_components": 1}, {"n_components": 6}, {"scaling": "unit", "classifier": "nn"}]
    assert table["param_n_components"].tolist() == [1, 6, None]
    assert table["param_scaling"].mask.tolist() == [True, True, False]
    assert_array_equal(table["rank"], [1 + sum(table["score"] > score) for score in table["score"]])
    for name in EVIDENCE:
        assert ((table[name] >= 0) & (table[name] <= (1 if name != "score" else 8))).all(), name
    assert table["weight"].sum() < 1  # unadapted candidates have the rest
    assert (table["seconds"] > 0).all()


def test_the_score_is_that_of_all_settings_weighed_together(monkeypatch):
    """Beside the unadapted candidates of every view."""
    calls = counted(monkeypatch, compare, "weigh_candidates")
    found = search({"n_components": [1, 4, 6]})
    ((labellings, families, views, *_),) = calls
    assert labellings.shape[1] == len(X_target)
    assert list(families[:3]) == ["adapted"] * 3
    assert {"nearest", "linear"} == set(families[3:])
    assert families[3:].count("nearest") == 5  # views
    for name in ("kinship", "clarity"):
        told = [getattr(view, name) for view in views]
        assert_allclose(found.cv_results_[name], told[:3])
        assert min(told) > 0.3


def test_labels_that_mark_nothing_are_no_labels():
    nothing = search(GRID, X, y, X_target, np.full(len(X_target), -1)).cv_results_
    assert_array_equal(nothing["score"], search().cv_results_["score"])


def test_given_target_labels_are_kept_by_every_setting(monkeypatch):
    calls = counted(monkeypatch, compare, "weigh_candidates")
    given = masked(np.roll(y_target, 1), 2)  # wrong on purpose
    search(GRID, X, y, X_target, given)
    labellings = calls[0][0]
    assert (labellings[:, given >= 0] == given[given >= 0]).all()


def test_coordinates_and_neighbours_are_shared(monkeypatch):
    made, listed = counted(monkeypatch, views, "make_coordinates"), counted(monkeypatch, views, "list_neighbors")
    tried = counted(monkeypatch, views, "label_view")
    grid = {"n_components": [2, 4, 6], "variance_weight": [0.1, 1.0], "n_neighbors": [3, 5], "locality_weight": [0, 1]}
    search(grid, estimator=LPJT(scaling="unit", kernel="linear", target_proportions="source", random_state=0))
    assert len(made) == len(listed) == 5  # views by which 24 settings are judged; they have one of them
    search(grid)
    assert len(made) == len(listed) <= 5 + 10  # and two kernels for each, tried once
    assert not tried


def test_what_settings_do_not_share_is_made_for_each(monkeypatch):
    made = counted(monkeypatch, views, "make_coordinates")
    fixed = LPJT(scaling="unit", kernel="linear", target_proportions="source", random_state=0)
    for grid, more in (
        ({"n_neighbors": [5, 40]}, 1),
        ({"n_coordinates": [3, 4, None]}, 2),
        ({"kernel": ["linear", "rbf", Kernel("rbf", gamma=3.0)], "n_components": [2, 3]}, 2),
        ({"scaling": ["unit", "paper", "none"], "n_components": [2, 3]}, 1),
    ):
        made.clear()
        search(grid, estimator=fixed)
        assert len(made) == 5 + more, grid


def test_what_is_left_open_is_settled_once_and_is_what_the_candidates_choose(monkeypatch):
    settled, iterated = counted(monkeypatch, compare, "settle_plan"), counted(monkeypatch, compare, "iterate")
    search({"n_components": [4, 6], "scaling": ["auto", "unit"], "kernel": ["auto", "cosine"]})
    assert len(settled) == 1
    plans = [plan for _, plan, _ in iterated]
    by_setting = {(p.settings.n_components, p.views[0], p.kernel.function) for p in plans}
    assert {view for _, view, _ in by_setting} >= {"unit"}
    assert sum(kernel == "cosine" for *_, kernel in by_setting) >= 2
    chosen = [p for p in plans if p.kernel.function != "cosine"]
    assert len({p.kernel.function for p in chosen if p.views[0] != "unit"}) <= 1


def test_a_setting_without_candidates_takes_the_scaling_of_the_source(monkeypatch):
    settled, iterated = counted(monkeypatch, compare, "settle_plan"), counted(monkeypatch, compare, "iterate")
    search({"candidates": [None], "n_components": [3, 6]})
    assert not settled
    assert {(plan.views, plan.kernel.function) for _, plan, _ in iterated} <= {
        (("standard",), "linear"),
        (("unit",), "linear"),
    }
    search({"candidates": [None, "auto"]})
    assert len(settled) == 1


def test_max_rows_bounds_the_sample_but_not_below_twenty_rows_per_class(monkeypatch):
    drawn = counted(monkeypatch, compare, "make_problem")
    taken = counted(monkeypatch, compare, "label_views")
    many = shifted_pair(n_source=400, n_target=300, n_classes=6)
    for max_rows, rows in ((250, 250), (10, 6 * FIRST_ROWS[1]), (1000, 400)):
        taken.clear()
        search(GRID, *many[:3], max_rows=max_rows)
        few = taken[0][0]
        assert max(d.X.shape[0] for d in few.all) == rows
    assert not drawn  # the candidates have made it


def test_max_iter_bounds_the_iterations_of_a_setting(monkeypatch):
    iterated = counted(monkeypatch, compare, "iterate")
    for max_iter, bound in ((1, 1), (4, 3)):  # the estimator's own are three
        iterated.clear()
        search(max_iter=max_iter)
        assert {plan.max_iter for _, plan, _ in iterated} == {bound}


def test_refit_fits_the_best_setting_on_all_rows_as_the_estimator_does():
    found = search(refit=True)
    alone = LPJT(random_state=0, max_iter=3, **found.best_params_).fit(X, y, X_target)
    assert_allclose(found.best_estimator_.label_distributions_, alone.label_distributions_)
    assert_array_equal(found.predict(X_target), alone.predict(X_target))
    assert_array_equal(found.predict(X, "source"), alone.predict(X, "source"))
    assert_allclose(found.predict_proba(X_target), alone.predict_proba(X_target))
    assert_allclose(found.transform(X_target), alone.transform(X_target))
    assert found.score(X_target, y_target) == alone.score(X_target, y_target) > 0.8
    half = masked(y_target, 4)
    domain = np.full(len(half), -2)
    assert found.score(X_target, half, sample_domain=domain) == alone.score(X_target, half, sample_domain=domain)


def test_without_refit_there_is_nothing_to_predict_with():
    found = search(refit=True)
    found.set_params(refit=False).fit(X, y, X_target)
    assert not hasattr(found, "best_estimator_")
    for method, given in (("predict", [X]), ("predict_proba", [X]), ("transform", [X]), ("score", [X, y])):
        with pytest.raises(AttributeError, match=rf"refit=False.*`{method}`.*Set refit=True"):
            getattr(found, method)(*given)


def test_n_jobs_is_the_number_of_threads(monkeypatch):
    seen, label = [], compare.label_views
    monkeypatch.setattr(compare, "label_views", lambda *args: seen.append(n_threads()) or label(*args))
    for n_jobs in (1, 2):
        seen.clear()
        search(n_jobs=n_jobs)
        assert set(seen) == {n_jobs}


def test_threads_do_not_change_the_answer():
    one, two = (search({"n_components": [1, 4, 6], "kernel": ["rbf", "auto"]}, n_jobs=n).cv_results_ for n in (1, 2))
    assert_allclose(one["score"], two["score"])


def test_settings_differ_by_their_parameters_and_not_by_chance(monkeypatch):
    """Each has the same random numbers, in a generator that no other thread draws from."""
    drawn, iterate = [], compare.iterate

    def watched(problem, plan, domains):
        drawn.append(plan.random_state.randint(2**31 - 1))
        return iterate(problem, plan, domains)

    monkeypatch.setattr(compare, "iterate", watched)
    scores = search({"n_components": [6, 6, 6]}, X, y, widened(X_target, 14)).cv_results_["score"]
    assert len(drawn) == 3
    assert len(set(drawn)) == 1
    assert_array_equal(scores, scores[0])


def test_verbose_prints_a_line_per_setting(capsys):
    search()
    assert capsys.readouterr().out == ""
    search({"n_components": [6, 0]}, verbose=1)
    first, second, last = capsys.readouterr().out.splitlines()
    assert first.startswith("[LPJTSearch] 1 of 2: n_components=6: score ")
    assert second == "[LPJTSearch] 2 of 2: n_components=0: failed"
    assert last == "[LPJTSearch] best: n_components=6"


def test_random_state_is_the_seed_of_the_sample():
    many = shifted_pair(n_source=400, n_target=300, n_classes=6, apart=1.5)
    first, again, other = (
        search(GRID, *many[:3], max_rows=120, random_state=seed).cv_results_["score"] for seed in (0, 0, 1)
    )
    assert_array_equal(first, again)
    assert (first != other).any()


def test_a_failing_setting_has_no_score_and_a_warning_says_why():
    with pytest.warns(UserWarning, match=r"n_components=0 failed.*InvalidParameterError.*'n_components' parameter"):
        found = LPJTSearch(LPJT(), {"n_components": [0, 6]}, refit=False, random_state=0).fit(X, y, X_target)
    table = found.cv_results_
    for name in (*EVIDENCE, "seconds"):
        assert np.isnan(table[name]).tolist() == [True, False]
    assert table["rank"].tolist() == [2, 1]
    assert found.best_index_ == 1


def test_a_setting_that_fails_on_the_rows_does_not_stop_the_others():
    """The chi-squared kernel refuses negative values."""
    with pytest.warns(UserWarning, match="kernel='chi2'.* failed and has no score: ValueError"):
        found = LPJTSearch(LPJT(), {"kernel": ["chi2", "linear"], "scaling": ["none"]}, refit=False).fit(X, y, X_target)
    assert found.best_params_["kernel"] == "linear"


def test_if_all_settings_fail_the_first_reason_is_told():
    with pytest.raises(ValueError, match=r"All 2 settings failed. The first, n_components=0: .*'n_components' param"):
        search({"n_components": [0, -1]})


def test_one_setting_is_a_search_too():
    found = search({"n_components": [6]})
    assert found.best_params_ == {"n_components": 6}
    assert found.cv_results_["rank"].tolist() == [1]


def test_several_sources_several_targets_and_other_widths():
    sources, labels = {"a": X[:60], "b": widened(X[60:], 14)}, {"a": y[:60], "b": y[60:]}
    found = search(GRID, sources, labels, {"c": X_target[:50], "d": X_target[50:]}, refit=True)
    assert found.best_params_ == {"n_components": 6}
    assert sorted(found.best_estimator_.transduction_) == ["c", "d"]
    assert found.cv_results_["reverse"].tolist() == [0, 0]  # rows of other widths have no nearest rows
    few = search(GRID, X, y, widened(X_target, 14), masked(y_target, 3))
    assert few.best_params_ == {"n_components": 6}
    assert few.n_features_in_ == 14


def test_a_stack_is_searched_as_its_domains_are():
    stack, domain = np.vstack([X, X_target]), np.repeat([1, -2], [len(X), len(X_target)])
    labels = np.concatenate([y, np.full(len(X_target), -1)])
    found = search(GRID, stack, labels, sample_domain=domain, refit=True)
    assert_array_equal(found.cv_results_["score"], search().cv_results_["score"])
    assert len(found.best_estimator_.transduction_) == len(X_target)


def test_dask_arrays_are_sampled_where_they_are():
    da = pytest.importorskip("dask.array", reason="dask is an extra")
    lazy = [da.from_array(rows, chunks=(50, -1)) for rows in (X, X_target)]
    found = search(GRID, lazy[0], y, lazy[1], max_rows=120)
    assert_allclose(found.cv_results_["score"], search(max_rows=120).cv_results_["score"])


def test_frames_have_names_and_labels_any_type():
    pd = pytest.importorskip("pandas")
    names = [f"column{i}" for i in range(X.shape[1])]
    found = search(GRID, pd.DataFrame(X, columns=names), y.astype(str), pd.DataFrame(X_target, columns=names))
    assert found.feature_names_in_.tolist() == names
    assert found.classes_.tolist() == list("012345")
    assert found.n_features_in_ == X.shape[1]
    assert not hasattr(found.fit(X, y, X_target), "feature_names_in_")


def test_objects_of_the_grid_and_the_estimator_stay_as_they_were():
    rule = Propagation(n_neighbors=9)
    estimator = LPJT(random_state=0)
    found = search({"classifier": [rule], "classifier__n_neighbors": [5, 12]}, estimator=estimator, refit=True)
    assert rule.n_neighbors == 9
    assert estimator.classifier == "propagation"
    assert not hasattr(estimator, "classes_")
    assert found.best_estimator_.classifier.n_neighbors == found.best_params_["classifier__n_neighbors"]


def test_the_contract_of_scikit_learn():
    found = search(refit=True)
    fresh = clone(found)
    assert fresh.get_params()["estimator__max_iter"] == 3
    assert fresh.get_params(deep=False)["param_grid"] == GRID
    assert fresh.set_params(estimator__max_iter=2, max_rows=50).estimator.max_iter == 2
    assert not hasattr(fresh, "best_index_")
    assert repr(fresh).startswith("LPJTSearch(estimator=LPJT(")
    again = pickle.loads(pickle.dumps(found))
    assert_array_equal(again.predict(X_target), found.predict(X_target))
    assert again.best_params_ == found.best_params_
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    with pytest.raises(NotFittedError):
        fresh.plot()


def test_a_refit_that_fails_changes_nothing(monkeypatch):
    found = search(refit=True)
    before = dict(vars(found))
    monkeypatch.setattr(LPJT, "fit", lambda *args, **kwargs: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        found.fit(X_target, y_target, X)
    assert vars(found) == before


def test_a_variant_is_searched_with_its_departures(monkeypatch):
    iterated = counted(monkeypatch, compare, "iterate")
    search(GRID, estimator=LPJT.authors(random_state=0))
    assert {plan.settings.max_pairs for _, plan, _ in iterated} == {10}
    assert {plan.views for _, plan, _ in iterated} == {("paper",)}


@pytest.mark.parametrize(
    ("estimator", "grid", "words"),
    [
        (
            LogisticRegression(),
            GRID,
            "'estimator' parameter of LPJTSearch must be an instance of 'lpjt.estimator.LPJT'",
        ),
        (LPJT(), {}, r"param_grid=\{\} names no parameter.*Give names and values"),
        (LPJT(), [], r"param_grid=\[\] names no parameter"),
        (LPJT(), {"n_components": []}, "non-empty"),
        (LPJT(), "n_components", "'param_grid' parameter of LPJTSearch"),
        (LPJT(), {"components": [3]}, "Invalid parameter 'components'"),
        (LPJT(kernel=Kernel()), {"kernel__width": [3]}, "Invalid parameter 'width'"),
        (
            LPJT(),
            {"classifier__n_neighbors": [3]},
            r"needs an object with parameters, but classifier='propagation'. Give the estimator classifier=Propagation",
        ),
        (LPJT(max_iter=0), GRID, "^The 'max_iter' parameter of LPJT "),
    ],
)
def test_what_cannot_be_searched_is_refused(estimator, grid, words):
    with pytest.raises(ValueError, match=words):
        search(grid, estimator=estimator)


@pytest.mark.parametrize("wrong", [{"max_rows": 1}, {"max_iter": 0}, {"refit": "yes"}, {"n_jobs": 1.5}])
def test_parameters_are_checked(wrong):
    with pytest.raises(ValueError, match=f"'{next(iter(wrong))}' parameter of LPJTSearch"):
        search(**wrong)


def test_a_search_needs_a_target():
    with pytest.raises(ValueError, match=r"LPJTSearch needs a target.*Give X_target"):
        search(GRID, X, y)


def test_what_cannot_be_compared_gets_a_warning():
    with pytest.warns(UserWarning, match="param_grid varies refine, which the search cannot compare"):
        found = LPJTSearch(LPJT(random_state=0), {"refine": [False, True]}, refit=False).fit(X, y, X_target)
    assert found.cv_results_["rank"].tolist() == [1, 1]
    assert found.best_index_ == 0


class TestPlot:
    @pytest.fixture(autouse=True)
    def matplotlib(self):
        matplotlib = pytest.importorskip("matplotlib", reason="drawing is an extra")
        matplotlib.use("Agg")
        yield
        matplotlib.pyplot.close("all")

    def test_one_parameter_is_the_axis(self):
        found = search({"n_components": [1, 4, 6], "variance_weight": [0.1]})
        ax = found.plot()
        assert ax.get_xlabel() == "n_components"
        assert [tick.get_text() for tick in ax.get_xticklabels()] == ["1", "4", "6"]
        assert_array_equal(ax.lines[0].get_ydata(), found.cv_results_["score"])
        (best,) = ax.lines[-1].get_xdata()
        assert best == found.best_index_

    def test_two_parameters_are_axis_and_lines(self):
        found = search({"n_components": [1, 4, 6], "variance_weight": [0.1, 1.0]})
        ax = found.plot()
        legend = ax.get_legend()
        assert ax.get_xlabel() == "n_components"
        assert legend.get_title().get_text() == "variance_weight"
        assert [text.get_text() for text in legend.get_texts()] == ["0.1", "1.0", "best"]
        drawn = np.array([line.get_ydata() for line in ax.lines[:2]])
        assert_array_equal(drawn.T.ravel(), found.cv_results_["score"])

    def test_more_parameters_are_a_line_of_text_each_the_best_first(self):
        ax = search([{"n_components": [1, 6]}, {"n_components": [8], "scaling": ["unit"]}]).plot()
        names = [tick.get_text() for tick in ax.get_yticklabels()]
        assert ax.yaxis_inverted()
        assert sorted(names) == ["n_components=1", "n_components=6", "n_components=8, scaling='unit'"]
        assert names[-1] == "n_components=1"

    def test_given_axes_are_drawn_on(self):
        import matplotlib.pyplot as plt

        ax = plt.figure().add_subplot()
        assert search().plot(ax) is ax
        assert ax.lines

    def test_without_matplotlib_the_remedy_is_told(self, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
        with pytest.raises(ImportError, match=r"pip install 'lpjt\[report\]'"):
            search().plot()


def test_the_coordinates_of_the_search_are_those_of_a_fit():
    """The functions that are counted above are the ones that a fit calls."""
    assert views.make_coordinates is candidate.make_coordinates
