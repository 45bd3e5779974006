"""From records to exponents, goals, tables, the page and the exit status."""

import pytest

from lpjt.study.pages import performance
from lpjt.study.speed import goals, loss, methods, plans, sheets
from lpjt.study.speed.data import open_pair
from lpjt.study.speed.results import BENCHES, open_store, read_result
from speed_records import failure, finding, fit_record, pretend, result_of, run, write_result


def growth_of(sizes, time_power=1.0, memory_power=1.0):
    return result_of(
        "growth",
        [
            fit_record(f"{n:,} rows", size=n, seconds=1e-4 * n**time_power, peak_bytes=int(10 * n**memory_power))
            for n in sizes
        ],
    )


def test_exponents_are_slopes_of_logarithms():
    result = growth_of((1000, 64_000, 256_000, 512_000), 1.3, 0.8)
    assert sheets.exponent(result, "seconds") == pytest.approx(1.3)
    assert sheets.exponent(result, "seconds", *sheets.JUDGED) == pytest.approx(1.3)
    assert sheets.exponent(result, "peak_bytes") == pytest.approx(0.8, abs=1e-3)
    assert sheets.exponent(growth_of((1000,)), "seconds") is None


def test_records_without_a_size_or_without_success_are_no_points():
    result = growth_of((1000, 4000))
    result["records"] += [fit_record("wide", seconds=1e9), failure("8,000 rows", "timeout", size=8000)]
    assert sheets.exponent(result, "seconds") == pytest.approx(1.0)


@pytest.mark.parametrize(("power", "met"), [(1.04, True), (1.06, False)])
def test_the_goal_of_growth_is_judged_between_64000_and_512000_rows(power, met):
    assert finding("exponent", growth=growth_of((64_000, 512_000), power)) == (f"{power:.2f}", met)
    assert finding("exponent", growth=growth_of((1000, 64_000), power)) == goals.UNMEASURED


@pytest.mark.parametrize(("passes", "met"), [(7.90, True), (8.10, False)])
def test_the_goal_of_visda_is_of_all_its_rows(passes, met):
    whole = result_of("visda", [fit_record("VisDA shape", passes=passes, peak_share=0.4)])
    assert finding("VisDA", visda=whole) == (f"{passes:.2f} passes, 10 iterations", met)
    assert finding("peak memory", visda=whole) == ("0.400", False)
    trial = result_of("visda", [fit_record("VisDA shape, 0.1 of its rows", passes=passes)])
    assert finding("VisDA", visda=trial) == goals.UNMEASURED
    assert finding("VisDA", visda=result_of("visda", [failure("VisDA shape", "out of memory")])) == (
        "out of memory",
        False,
    )


@pytest.mark.parametrize(
    ("seconds", "peak", "said", "met"),
    [
        (200.0, 2e9, "200 s, 2.00 GB", True),
        (200.0, 4e9, "200 s, 4.00 GB", False),
        (300.0, 2e9, "300 s, 2.00 GB", False),
    ],
)
def test_the_goal_of_a_million_rows_is_of_time_and_memory(seconds, peak, said, met):
    stored = result_of("growth", [fit_record("1,000,000 rows", seconds=seconds, peak_bytes=peak)])
    assert finding("1,000,000 rows", growth=stored) == (said, met)
    assert finding("345 classes", growth=stored) == goals.UNMEASURED


@pytest.mark.parametrize(("seconds", "met"), [(29.0, True), (31.0, False)])
def test_the_goal_of_many_classes(seconds, met):
    stored = result_of("growth", [fit_record("many classes", seconds=seconds)])
    assert finding("345 classes", growth=stored) == (f"{seconds:.1f} s", met)
    failed = result_of("growth", [failure("many classes", "timeout")])
    assert finding("345 classes", growth=failed) == ("timeout", False)


def test_a_fit_that_did_not_adapt_says_so():
    stored = result_of("pie", [fit_record("PIE 05 to 07", adapted=False)])
    assert finding("PIE 05 to 07", pie=stored)[0].endswith("not adapted")
    assert "not adapted" in sheets.fits_sheet(stored, "").to_markdown()


@pytest.mark.parametrize(
    ("dense", "speed", "labels"),
    [
        ({"seconds": 600.0, "agreement": 99.5}, ("120 times", True), ("99.50 %", True)),
        ({"seconds": 400.0, "agreement": 98.0}, ("80.0 times", False), ("98.00 %", False)),
        ({"seconds": 7200.0, "status": "timeout"}, ("over 1,440 times (timeout)", True), ("timeout", None)),
        ({"seconds": 50.0, "status": "crashed"}, ("over 10.0 times (crashed)", None), ("crashed", None)),
    ],
)
def test_the_goals_of_the_transcription(dense, speed, labels):
    ours = fit_record(method="LPJT, as printed", size=4000, seconds=5.0)
    peers = result_of("peers", [ours, fit_record(method="dense transcription", size=4000, **dense)])
    assert finding("faster than the dense", peers=peers) == speed
    assert finding("labelled as by the dense", peers=peers) == labels


def test_a_peer_is_beaten_at_both_sizes_or_not_at_all():
    def peers(*seconds):
        theirs = [
            fit_record(method="primal JDA", size=n, seconds=s) for n, s in zip((2000, 4000), seconds, strict=True)
        ]
        return result_of("peers", [*(fit_record(size=n, seconds=2.0) for n in (2000, 4000)), *theirs])

    assert finding("primal JDA", peers=peers(4.0, 6.0)) == ("2,000: 2.00 times; 4,000: 3.00 times", True)
    assert finding("primal JDA", peers=peers(1.0, 6.0))[1] is False


def neighbor_records(label, exact, approximate, searches=500):
    return [fit_record(label, accuracy=exact, searches=0), fit_record(label, accuracy=approximate, searches=searches)]


def test_the_cost_of_approximate_neighbours_is_a_mean_of_pairs():
    found = [("pie a", 80, 79), ("pie b", 80, 80.5), ("digits a", 80, 79), ("digits-full a", 80, 78)]
    stored = result_of("neighbors", [record for pair in found for record in neighbor_records(*pair)])
    assert finding("on PIE", neighbors=stored) == ("+0.25, at most +1.00 of a pair (2 of 2 pairs searched so)", True)
    assert finding("on digits", neighbors=stored)[0].startswith("+1.50")
    assert finding("on digits", neighbors=stored)[1] is False
    stored["records"][1]["status"] = "failed"
    assert finding("on PIE", neighbors=stored) == ("failed", None)


def test_fits_that_made_no_approximate_search_prove_nothing():
    small = neighbor_records("pie a", 80.0, 80.0, searches=1)
    said, met = finding("on PIE", neighbors=result_of("neighbors", small))
    assert met is None
    assert "no pair is large enough" in said
    table = sheets.neighbors_sheet(result_of("neighbors", small)).to_markdown()
    assert "| pie a | 80.00 | 80.00 | – | 1 |" in table
    # One pair that was searched so counts alone; the exact one does not dilute it.
    both = result_of("neighbors", [*small, *neighbor_records("pie b", 80.0, 79.2)])
    assert finding("on PIE", neighbors=both)[1] is False


@pytest.mark.parametrize(("seconds", "met"), [(59.0, True), (61.0, False)])
def test_the_goal_of_the_full_digits(seconds, met):
    exact, approximate = neighbor_records("digits-full MNIST to USPS", 86.0, 86.4)
    exact["seconds"], approximate["seconds"] = 999.0, seconds
    said = (f"{seconds:.1f}, 10 iterations, 86.4 % right", met)
    assert finding("full MNIST", neighbors=result_of("neighbors", [exact, approximate])) == said
    small = result_of("neighbors", neighbor_records("pie a", 80.0, 80.0))
    assert finding("full MNIST", neighbors=small) == goals.UNMEASURED
    approximate["status"] = "timeout"
    assert finding("full MNIST", neighbors=result_of("neighbors", [exact, approximate])) == ("timeout", False)


def test_results_come_back_from_the_store_with_what_they_hold_for(tmp_path):
    result = growth_of((1000, 4000), 1.23456789)
    store = write_result(result, tmp_path / "deep")
    store.compact()
    assert [file.name for file in store.path.iterdir()] == ["rows.parquet"]
    again = read_result("growth", store)
    assert again["records"][1]["seconds"] == pytest.approx(result["records"][1]["seconds"], rel=1e-5)
    assert list(again["records"][1]["stages"]) == ["objective", "labels"]
    assert {"processor", "threads", "cores"} <= set(again["records"][0]["machine"])
    assert again["records"][0]["versions"]["lpjt"]
    assert again["note"] == "A note."
    assert read_result("visda", store) is None


@pytest.mark.parametrize(("seconds", "said", "met"), [(15.0, "3.00 fits", True), (31.0, "6.20 fits", False)])
def test_a_search_is_told_in_fits(seconds, said, met):
    search = fit_record("2,000 rows", "LPJTSearch", 2000, seconds=seconds, settings=30, accuracy=90.0)
    result = result_of("search", [fit_record("2,000 rows", size=2000), search])
    assert finding("a search among 30", search=result) == (said, met)
    (sheet,) = performance.sheets_of(result)
    assert sheet.rows == [("2,000 rows", "30", "5.00", f"{seconds:.1f}", said.split()[0], "87.65", "90.00")]
    failed = result_of(
        "search", [result["records"][0], failure("2,000 rows", "timeout", size=2000) | {"method": "LPJTSearch"}]
    )
    assert finding("a search among 30", search=failed) == ("a fit failed", None)
    assert performance.sheets_of(failed)[0].rows[0][3:5] == ("timeout", sheets.MISSING)


def test_the_search_is_measured_as_it_is_planned():
    """Both on the same rows and until labels are steady; a search is no peer."""
    fit, search = plans.plan_search((200,)).tasks
    assert (fit.method, search.method) == ("LPJT", "LPJTSearch")
    assert fit.data == search.data
    assert fit.parameters == search.parameters == {"max_iter": 10, "tol": 1e-3}
    assert "LPJTSearch" not in methods.PEERS
    pair = open_pair({"source": (20, 20), "target": (20, 20), "width": 16})
    few = methods.fit_search(pair.X_source, pair.y_source, pair.X_target, {"max_iter": 1})
    assert few.facts["settings"] == 30
    assert few.labels.shape == pair.y_target.shape


def test_without_results_the_page_says_so(tmp_path):
    results = performance.read_results(open_store(tmp_path / "nothing"))
    written = performance.write_page(results, tmp_path / "docs" / "performance.md")
    text = written[0].read_text(encoding="utf-8")
    assert len(written) == 1
    assert text.count("not measured yet") == len(goals.GOALS)
    assert text.count("Not measured yet") == 12
    assert "Nothing is measured yet." in text


def test_the_page_is_made_of_what_is_stored(tmp_path):
    pytest.importorskip("matplotlib", reason="the page has a plot")
    write_result(growth_of((64_000, 512_000), 1.07), tmp_path)
    write_result(result_of("visda", [fit_record("VisDA shape", size=7, passes=12.34)]), tmp_path)
    peers = [fit_record(size=500, passes=77.7), failure("500 rows", "out of memory", method="skada TCA", size=500)]
    write_result(result_of("peers", peers), tmp_path)
    target = tmp_path / "docs" / "performance.md"
    result = run("report", "--stored", tmp_path, "--page", target)
    assert result.exit_code == 0, result.output
    text = target.read_text(encoding="utf-8")
    assert "| at most 8 | 5 | 12.3 passes, 10 iterations | no | `lpjt bench visda` |" in text
    assert "| time | 1.07 | 1.07 |" in text
    assert "| skada TCA | out of memory |" in text
    assert "- skada TCA: out of memory, why (500 rows)" in text
    # Stages in passes, with what no stage has: 2.0, 1.0 and 2.0 s of 5.0 s, 0.5 s a pass.
    assert "| VisDA shape | 4.00 | 2.00 | 4.00 | 10.0 |" in text
    assert "A note." in text
    assert (target.parent / "figures" / "growth.png").read_bytes().startswith(b"\x89PNG")
    again = target.read_bytes()
    run("report", "--stored", tmp_path, "--page", target)
    assert target.read_bytes() == again


@pytest.mark.parametrize(("time_power", "memory_power", "fails"), [(3.0, 1.0, False), (1.0, 2.0, True)])
def test_quick_fails_on_memory_never_on_time(monkeypatch, tmp_path, time_power, memory_power, fails):
    records = growth_of((1000, 2000, 4000, 8000), time_power, memory_power)["records"]
    pretend(monkeypatch, records)
    result = run("quick", "-o", tmp_path)
    assert result.exit_code == (1 if fails else 0), result.output
    assert ("power 2.00" in result.output) == fails
    assert not list(tmp_path.iterdir())


def test_quick_prints_the_stored_ratios_beside_its_own(monkeypatch, tmp_path):
    then = [fit_record("1,000 rows", size=1000, passes=55.5, peak_share=4.44)]
    now = [fit_record("1,000 rows", size=1000, passes=66.6, peak_share=3.33)]
    for records in (then, now):
        pretend(monkeypatch, records)
        result = run("quick", "--rows", 1000, "-o", tmp_path, "--store")
        assert result.exit_code == 0, result.output
    (line,) = [line for line in result.output.splitlines() if "1,000 rows" in line]
    assert line.split("│")[2:6] == ["      66.6 ", "   55.5 ", "         3.33 ", "   4.44 "]


def test_an_interrupted_bench_keeps_what_it_has_measured_and_what_was_there(monkeypatch, tmp_path):
    write_result(growth_of((1000, 4000)), tmp_path)

    def run_tasks(tasks, store, **_):
        store.append(tasks[0].row({"status": "ok", "message": "", "seconds": 77.0}))
        raise KeyboardInterrupt

    monkeypatch.setattr("lpjt.study.speed.run.run_tasks", run_tasks)
    result = run("growth", "--rows", "1000,2000", "-o", tmp_path)
    assert result.exit_code == 130
    assert f"stopped. What was measured so far is in {tmp_path}" in " ".join(result.stderr.split())
    records = read_result("growth", open_store(tmp_path))["records"]
    assert [(record["label"], record["seconds"]) for record in records] == [("1,000 rows", 77.0), ("4,000 rows", 0.4)]


@pytest.mark.parametrize("keep", [False, True])
def test_a_bench_replaces_its_rows_or_keeps_those_that_it_does_not_measure(monkeypatch, tmp_path, keep):
    write_result(growth_of((1000, 4000)), tmp_path)
    plan = plans.plan_growth((1000, 2000))
    pretend(monkeypatch, [fit_record(task.label, size=task.size, seconds=9.0) for task in plan.tasks])
    result = run("growth", "--rows", "1000,2000", "-o", tmp_path, *(["--keep"] if keep else []))
    assert result.exit_code == 0, result.output
    records = read_result("growth", open_store(tmp_path))["records"]
    assert [record["label"] for record in records] == [
        "1,000 rows",
        "2,000 rows",
        *(["4,000 rows"] if keep else []),
        "wide",
        "many classes",
    ]
    assert records[0]["seconds"] == 9.0


def test_a_fixed_cost_does_not_hide_a_square():
    sizes = (1000, 2000, 4000, 8000)
    records = [fit_record(size=n, peak_bytes=30 * 10**6 + 8 * n * n) for n in sizes]
    assert "n x n" in loss.memory_fault({"records": records})
    records = [fit_record(size=n, peak_bytes=30 * 10**6 + 3000 * n) for n in sizes]
    assert loss.memory_fault({"records": records}) is None
    failed = [*records, failure("16,000 rows", "out of memory", size=16_000)]
    assert "out of memory" in loss.memory_fault({"records": failed})


def test_the_quick_command_measures_and_stores(monkeypatch, tmp_path):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    result = run("quick", "--rows", "100", "--store", "-o", tmp_path)
    assert result.exit_code == 0, result.output
    records = read_result("quick", open_store(tmp_path))["records"]
    assert [(record["size"], record["status"]) for record in records] == [(100, "ok")]


def test_trials_do_not_replace_what_the_page_shows():
    assert plans.plan_visda(0.1).bench == "visda-trial"
    assert plans.plan_growth((1000,), quick=True).bench == "growth-quick"
    assert not {"visda-trial", "growth-quick"} & set(BENCHES)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("growth", "--rows", "1000,many"), "list of counts"),
        (("growth", "--rows", ","), "names no count"),
        (("growth", "--rows", "20"), "at least 100 rows per domain"),
        (("visda", "--scale", "2"), "share of VisDA's rows"),
        (("peers", "--timeout", "0"), "no time to run in"),
        (("growth", "-o", __file__), "kept in a directory"),
    ],
)
def test_refusals_say_what_to_give(arguments, words):
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in " ".join(result.output.split())


def test_a_missing_library_is_named_with_its_remedy(monkeypatch):
    def find(name):
        raise ImportError(name)

    monkeypatch.setattr(methods.importlib, "import_module", find)
    with pytest.raises(ImportError, match=r"`piqp`, `skada`, `POT` needed.*pip install 'lpjt\[bench\]'"):
        methods.check_installed(methods.PEERS)


def test_missing_data_are_named_before_anything_runs(monkeypatch, tmp_path):
    monkeypatch.setenv("LPJT_DATA", str(tmp_path))
    monkeypatch.setenv("LPJT_CACHE", str(tmp_path))
    result = run("pie")
    assert result.exit_code == 2
    assert "PIE05" in result.output
