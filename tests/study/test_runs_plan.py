"""Which runs a table needs."""

import pytest

from lpjt.baselines import JDA
from lpjt.datasets import TABLES
from lpjt.study.runs.methods import METHODS, find_method, make_method
from lpjt.study.runs.plan import expand_tables, make_job, methods_of, missing_note, plan_jobs
from lpjt.study.settings import PAPER_PARAMETERS, make_variant

NEED_LABELS = {"SVMt", "Propagation", "CDLS", "SHFA"}
VARIANTS = {"LPJT (paper)", "LPJT (code)", "LPJT (landmarks)", "LPJT (default)"}
DEEP = {"SourceOnly", "DDC", "DAN", "DANN", "DHN", "WDAN", "SimNet", "MCD", "CDAN", "DeepJDOT"}
NOT_INSTALLED = {name for name, method in METHODS.items() if not method.is_installed()}


def names(table, protocol="label-free"):
    return {method.name for method in methods_of(TABLES[table], None, protocol)}


def test_a_table_without_target_labels_has_every_method_that_needs_none():
    assert names("pie") == set(METHODS) - NEED_LABELS - VARIANTS - NOT_INSTALLED


@pytest.mark.parametrize(
    ("missing", "left_out", "extras"),
    [({"torch"}, DEEP, "deep,ot"), ({"ot"}, {"DeepJDOT"}, "deep,ot"), (set(), set(), None)],
)
def test_methods_whose_extras_are_missing_are_left_out_with_a_note(monkeypatch, missing, left_out, extras):
    monkeypatch.setattr("lpjt.study.runs.methods.find_spec", lambda name: None if name in missing else name)
    assert names("digits") == set(METHODS) - NEED_LABELS - VARIANTS - left_out
    note = missing_note(expand_tables(["digits"]), None)
    if extras is None:
        assert note == ""
    else:
        assert set(note.removeprefix("Left out: ").partition(". ")[0].split(", ")) == left_out
        assert note.endswith(f"They need more packages: `pip install 'lpjt[{extras}]'`.")
    assert missing_note(expand_tables(["digits"]), ["JDA"]) == ""  # nothing else was asked for
    assert missing_note(expand_tables(["surf-efficientnet"]), None) == ""  # they cannot do different widths
    assert [method.name for method in methods_of(TABLES["digits"], ["DANN"], "label-free")] == ["DANN"]


def test_a_few_target_labels_add_the_methods_that_learn_from_them():
    assert names("digits-few") == names("digits") | NEED_LABELS


def test_domains_of_different_widths_keep_the_methods_that_take_them():
    assert names("surf-efficientnet") == NEED_LABELS | {"PCA+SVM", "JGSA", "LPJT"}


def test_the_constructors_of_lpjt_stand_for_it_where_published_parameters_are_used():
    assert {name for name in names("surf", "published") if name.startswith("LPJT")} == {"LPJT (paper)", "LPJT (code)"}


def test_the_oracle_has_the_methods_with_something_to_search():
    assert names("surf", "oracle") == {name for name in names("surf") if METHODS[name].grid}


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_every_method_is_an_estimator_that_takes_its_parameters_under_every_protocol(method):
    for table in ("digits", "surf", "pie", "surf-efficientnet"):
        for protocol in ("label-free", "published", "oracle"):
            given = method.parameters(TABLES[table], TABLES[table].pairs[0], protocol)
            for setting in method.settings():
                model = make_method(method.name, {**given, **setting}, seed=3)
                found = model.get_params()
                wanted = {name: value for name, value in {**given, **setting}.items() if name != "variant"}
                assert all(found[name] == value for name, value in wanted.items())
                assert found.get("random_state", 3) == 3


def test_label_free_is_one_setting_of_a_method_for_all_data_but_for_the_literatures_scaling():
    for method in METHODS.values():
        settings = [
            {k: v for k, v in method.parameters(table, table.pairs[0], "label-free").items() if k != "scaling"}
            for table in TABLES.values()
        ]
        assert all(setting == dict(method.fixed) for setting in settings)


def test_lpjt_label_free_is_the_default_estimator():
    table = TABLES["pie"]
    assert METHODS["LPJT"].parameters(table, table.pairs[0], "label-free") == {}


def test_published_parameters_are_looked_up_by_pair_then_table_then_for_all():
    surf = TABLES["surf"]
    assert METHODS["LPJT (code)"].parameters(surf, "D to A", "published")["classifier__nu"] == 0.3
    assert "classifier__nu" not in METHODS["LPJT (code)"].parameters(surf, "C to A", "published")
    assert METHODS["JDA"].parameters(surf, "C to A", "published")["regularization"] == 1.0
    assert METHODS["JDA"].parameters(TABLES["pie"], "05 to 07", "published")["scaling"] == "unit"
    paper = METHODS["LPJT (paper)"].parameters(TABLES["pie"], "05 to 07", "published")
    assert PAPER_PARAMETERS["pie"].items() <= paper.items()


def test_programs_with_unit_rows_get_them_after_the_scaling_of_the_set():
    surf = TABLES["surf"]
    assert METHODS["JDA"].parameters(surf, "C to A", "label-free")["scaling"] == "paper"
    assert METHODS["1-NN"].parameters(surf, "C to A", "label-free")["scaling"] == "sum-zscore"


def test_jobs_are_one_for_each_method_pair_and_seed():
    jobs = plan_jobs(expand_tables(["surf-efficientnet"]), methods=["SVMt", "LPJT"], seeds=[0, 4])
    assert len(jobs) == len({job.key for job in jobs}) == 2 * 9 * 2
    assert {job.seed for job in jobs} == {0, 4}


def test_a_job_has_the_value_of_every_parameter_so_that_another_default_is_another_job(monkeypatch):
    (job,) = plan_jobs(expand_tables(["digits"]), methods=["JDA"], pairs=["MNIST to USPS"])
    assert job.parameters["n_components"] == 100
    assert "random_state" not in job.parameters
    monkeypatch.setattr("lpjt.baselines.JDA.__init__.__kwdefaults__", {**JDA.__init__.__kwdefaults__, "max_iter": 3})
    (other,) = plan_jobs(expand_tables(["digits"]), methods=["JDA"], pairs=["MNIST to USPS"])
    assert other.parameters["max_iter"] == 3
    assert other.key != job.key


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize("protocol", ["label-free", "published", "oracle"])
def test_an_estimator_can_be_made_from_all_that_a_job_stores(method, protocol):
    job = make_job(TABLES["surf"], "C to A", method, 3, protocol)
    found = make_method(job.method, job.parameters, job.seed).get_params(deep=False)
    wanted = {name: value for name, value in job.parameters.items() if name != "variant"}
    assert {name: found[name] for name in wanted} == wanted


def test_tables_that_draw_their_splits_have_five_seeds_and_others_one():
    assert {job.seed for job in plan_jobs(expand_tables(["digits-few"]), methods=["SVMt"])} == set(range(5))
    assert {job.seed for job in plan_jobs(expand_tables(["digits"]), methods=["1-NN"])} == {0}


def test_the_group_compare_is_every_method_on_digits_and_three_pairs_of_pie():
    jobs = plan_jobs(expand_tables(["compare"]))
    assert {job.seed for job in jobs} == {0}
    assert {job.method for job in jobs if job.table == "pie-few"} == NEED_LABELS | {"LPJT"}
    assert {job.method for job in jobs} == set(METHODS) - VARIANTS - NOT_INSTALLED
    assert len({job.pair for job in jobs if job.table == "pie"}) == 3
    assert {job.table for job in jobs} == {"digits", "digits-few", "pie", "pie-few"}


def test_of_several_tables_each_has_the_pairs_and_methods_that_it_can_do():
    jobs = plan_jobs(expand_tables(["compare"]), methods=["CDLS", "JDA"], pairs=["05 to 07"])
    assert {(job.table, job.pair, job.method) for job in jobs} == {
        ("pie", "05 to 07", "JDA"),
        ("pie-few", "05 to 07", "JDA"),
        ("pie-few", "05 to 07", "CDLS"),
    }


def test_a_constructor_stands_for_all_other_values():
    (job,) = plan_jobs(expand_tables(["surf"]), methods=["LPJT (code)"], pairs=["D to A"], protocol="published")
    assert job.parameters == {"variant": "authors", "classifier__nu": 0.3}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: find_method("JDE"), "nearest: 'JDA'"),
        (lambda: expand_tables(["pies"]), "pie"),
        (lambda: plan_jobs(expand_tables(["pie"]), pairs=["05 to 08"]), "05 to 0"),
        (lambda: plan_jobs(expand_tables(["pie"]), methods=["SVMt"]), "SVMt needs labelled target rows, which 'pie'"),
        (lambda: plan_jobs(expand_tables(["surf-vgg"]), methods=["JDA"]), "JDA needs domains of one width"),
        (lambda: plan_jobs(expand_tables(["pie"]), protocol="free"), "label-free, published, oracle"),
    ],
)
def test_what_is_unknown_or_cannot_be_done_is_said(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_the_papers_parameters_are_parameters_of_the_estimator():
    assert set(PAPER_PARAMETERS) == set(TABLES)
    for parameters in PAPER_PARAMETERS.values():
        make_variant(**parameters)
        assert (parameters["landmark_ratio"], parameters["n_neighbors"], parameters["max_iter"]) == (0.5, 5, 5)
    pie = PAPER_PARAMETERS["pie"]
    assert (pie["variance_weight"], pie["locality_weight"], pie["n_components"]) == (0.1, 0.02, 120)
    assert "n_components" not in PAPER_PARAMETERS["digits"]  # the paper prints none
