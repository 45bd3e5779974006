"""Every option of ``lpjt reproduce`` and ``lpjt bench`` does what its help says; nothing is fitted here.

What these commands run is replaced by functions that record what they were given. The runners themselves run in
tests/study and, behind the command line, in test_reproduce.py.
"""

import tempfile
from types import SimpleNamespace

import pytest

pytest.importorskip("typer", reason="the command line needs typer")
pytest.importorskip("pyarrow", reason="stored rows need pyarrow")

from ask_rows import make_ask_row
from lpjt.study.asking import tasks as asking
from lpjt.study.robust import tasks as suite
from lpjt.study.speed.profile import Profile
from lpjt.study.speed.results import DIRECTORY, open_store, read_result
from options import Cases, CommandLine, all_options
from robust_rows import make_row

#: What the commands call, where it is looked up when they run.
RUN_JOBS = "lpjt.commands.reproduce.run_jobs"
MAKE_FIGURE = "lpjt.commands.reproduce.make_figure"
RUN_TASKS = "lpjt.study.speed.run.run_tasks"
RUN_SUITE = "lpjt.commands.bench.run_jobs"
RUN_ASKING = "lpjt.commands.bench_ask.run_jobs"
RUN_CLUSTER = "lpjt.commands.bench_cluster.measure_cluster"
NEED_ZARR = "lpjt.study.speed.cluster._need_zarr"
DISK_USAGE = "lpjt.study.speed.cluster.disk_usage"
FAMILIES, WHY_MISSING = "lpjt.study.robust.tasks.FAMILIES", "lpjt.study.robust.tasks.why_missing"
CHECK_PEERS = "lpjt.study.speed.plans.check_installed"
PROFILE = "lpjt.commands.bench_profile.profile_fit"
LOCATE, LOAD_PROBLEM = "lpjt.datasets.locate", "lpjt.datasets.load_problem"
CHECK_FILES = "lpjt.commands.reproduce.check"

CASES = Cases()
COMMANDS = {"reproduce", "bench"}
GROWTH, QUICK = (1000, 1_000_000), (1000, 8000)  # fewest and most rows per domain, without --rows
PAIRS = ["MNIST to USPS", "USPS to MNIST"]


class StudyCommandLine(CommandLine):
    """Commands that record what they would run: jobs, the runner's options, figures and tasks of the last command."""

    def __init__(self, folder, monkeypatch):
        super().__init__(folder, monkeypatch)
        for name in (LOCATE, LOAD_PROBLEM, CHECK_FILES):
            monkeypatch.setattr(name, lambda *_: [])
        monkeypatch.setattr(CHECK_PEERS, list)
        monkeypatch.setattr(PROFILE, self._profile)
        monkeypatch.setattr(RUN_JOBS, self._run_jobs)
        monkeypatch.setattr(MAKE_FIGURE, self._make_figure)
        monkeypatch.setattr(RUN_TASKS, self._run_tasks)
        monkeypatch.setattr(RUN_SUITE, self._run_suite)
        monkeypatch.setattr(RUN_ASKING, self._run_asking)
        monkeypatch.setattr(RUN_CLUSTER, self._run_cluster)
        monkeypatch.setattr(NEED_ZARR, lambda: None)
        monkeypatch.setattr(DISK_USAGE, lambda _: SimpleNamespace(free=10**12))
        monkeypatch.setattr(WHY_MISSING, lambda *_: None)
        monkeypatch.setattr(FAMILIES, {name: suite.FAMILIES[name] for name in ("COIL20", "DeCAF6")})

    def __call__(self, *arguments, code=0):
        self.jobs, self.options, self.figures, self.tasks = [], {}, [], []
        return super().__call__(*arguments, code=code)

    def reproduce(self, *arguments, methods="1-NN"):
        """Run ``lpjt reproduce digits``."""
        return self("reproduce", "digits", "--methods", methods, *arguments)

    def jobs_have(self, name):
        return sorted({getattr(job, name) for job in self.jobs})

    def rows_per_domain(self):
        return sorted({task.size for task in self.tasks if task.size})

    def robust(self, *arguments, only="DeCAF6 W-D", code=0):
        """Run a part of ``lpjt bench robust``."""
        return self("bench", "robust", "--only", only, *arguments, code=code)

    def ask(self, *arguments, only="DeCAF6 W-D", code=0):
        """Run a part of ``lpjt bench ask``."""
        return self("bench", "ask", "--only", only, *arguments, code=code)

    def stored(self, *path):
        """Labels of the records of a bench in a directory of results."""
        directory, bench = path
        result = read_result(bench, open_store(self.folder / directory))
        return [] if result is None else [record["label"] for record in result["records"]]

    def _run_jobs(self, jobs, store, *, run, on_event, **options):
        self.jobs, self.options = jobs, options
        for job in jobs:
            row = job.row_without_result(status="ok", message="")
            store.append(row | {"accuracy": 55.0, "balanced_accuracy": 55.0})

    def _make_figure(self, name, output, *, pair, n_jobs, on_progress, overwrite):
        self.figures.append((name, output.name, pair, n_jobs))
        self.overwrite = overwrite
        return [output / f"{name}.png"]

    def _run_asking(self, jobs, store, *, run, on_event, **options):
        self.jobs, self.options = list(jobs), options
        for job in self.jobs:
            store.append(make_ask_row(job))

    def _run_tasks(self, tasks, store, **_):
        self.tasks = list(tasks)
        for task in self.tasks:
            store.append(task.row_without_result(status="failed", message="not run here"))

    def _profile(self, data, *, n_threads):
        self.data, self.options = data, {"threads": n_threads}
        return Profile(1.0, {"labels": 0.5}, {(("lpjt/x.py", 1, "f"),): 1.0}, {})

    def _run_cluster(self, task, tell):
        self.tasks = [task]
        return task.row_without_result(status="failed", message="not run here")

    def _run_suite(self, jobs, store, *, run, on_event, **options):
        self.jobs, self.options = jobs, options
        for job in jobs:
            store.append(make_row(job))


@pytest.fixture
def lpjt(tmp_path, monkeypatch):
    return StudyCommandLine(tmp_path, monkeypatch)


@CASES.prove("reproduce", "TABLES")
def tables(lpjt):
    for names in (["digits"], ["digits", "coil"]):
        lpjt("reproduce", *names, "--methods", "1-NN")
        assert lpjt.jobs_have("table") == sorted(names)
    lpjt("reproduce", "fig-embedding")
    assert lpjt.figures == [("fig-embedding", "figures", None, 1)]
    assert "fig-embedding" in lpjt("reproduce", "list").stdout
    assert not lpjt.jobs


@CASES.prove("reproduce", "--methods")
def methods(lpjt):
    for names in ("1-NN", "JDA,PCA"):
        lpjt.reproduce(methods=names)
        assert lpjt.jobs_have("method") == names.split(",")
    lpjt("reproduce", "digits")
    assert {"1-NN", "JDA", "LPJT"} < set(lpjt.jobs_have("method"))


@CASES.prove("reproduce", "--pairs")
def pairs(lpjt):
    for names in (PAIRS[:1], PAIRS):
        lpjt.reproduce("--pairs", ",".join(names))
        assert lpjt.jobs_have("pair") == names
    lpjt("reproduce", "fig-embedding", "--pairs", PAIRS[1])
    assert lpjt.figures[0][2] == PAIRS[1:]


@CASES.prove("reproduce", "--seeds")
def seeds(lpjt):
    for text, numbers in (("2", [0, 1]), ("0,3,7", [0, 3, 7])):
        lpjt.reproduce("--seeds", text)
        assert lpjt.jobs_have("seed") == numbers


@CASES.prove("reproduce", "--protocol")
def protocol(lpjt):
    for name in ("label-free", "published", "oracle"):
        shown = lpjt.reproduce("--protocol", name, methods="JDA").stdout
        assert lpjt.jobs_have("protocol") == [name]
        assert f"protocol {name}" in shown


@CASES.prove("reproduce", "--store")
def store(lpjt):
    for name in ("first", "second"):
        assert f"2 rows in {name}" in lpjt.reproduce("--store", name).stdout
        assert (lpjt.folder / name).is_dir()
    assert not (lpjt.folder / "lpjt-results").exists()
    lpjt.reproduce()
    assert (lpjt.folder / "lpjt-results").is_dir()


@CASES.prove("reproduce", "--output")
def output(lpjt):
    lpjt.reproduce("-o", "table.md")
    lpjt.reproduce("--output", "table.csv")
    assert "55.0" in lpjt.read("table.md")
    assert "55.0" in lpjt.read("table.csv")
    lpjt("reproduce", "fig-embedding", "-o", "drawn")
    assert lpjt.figures[0][1] == "drawn"


@CASES.prove("reproduce", "--force")
def force(lpjt):
    (lpjt.folder / "table.md").write_text("mine")
    refused = lpjt("reproduce", "digits", "--methods", "1-NN", "-o", "table.md", code=2).stderr
    assert "table.md exists and was kept. Choose another name, or replace it with --force." in refused
    assert not lpjt.jobs  # nothing was run in vain
    assert lpjt.read("table.md") == "mine"
    lpjt.reproduce("-o", "table.md", "--force")
    assert "55.0" in lpjt.read("table.md")
    (lpjt.folder / "table-coil.csv").write_text("mine")  # of two tables as csv, one file each
    assert "table-coil.csv exists" in lpjt("reproduce", "digits", "coil", "-o", "table.csv", code=2).stderr
    for given in ((), ("--force",)):
        lpjt("reproduce", "fig-embedding", *given)
        assert lpjt.overwrite is bool(given)


@CASES.prove("reproduce", "--jobs")
def jobs(lpjt):
    for number in (1, 3):
        lpjt.reproduce("--jobs", number)
        assert lpjt.options["n_jobs"] == number
        lpjt("reproduce", "fig-embedding", "--jobs", number)
        assert lpjt.figures[0][3] == number


@CASES.prove("reproduce", "--timeout")
def timeout(lpjt):
    lpjt.reproduce()
    assert lpjt.options["timeout"] is None
    lpjt.reproduce("--timeout", 2.5)
    assert lpjt.options["timeout"] == 2.5


@CASES.prove("reproduce", "--retry-failed")
def retry_failed(lpjt):
    lpjt.reproduce()
    assert lpjt.options["retry_failed"] is False
    lpjt.reproduce("--retry-failed")
    assert lpjt.options["retry_failed"] is True


@CASES.prove("reproduce", "--again")
def again(lpjt):
    lpjt.reproduce()
    assert lpjt.options["again"] is False
    lpjt.reproduce("--again")
    assert lpjt.options["again"] is True


@CASES.prove("reproduce", "--show")
def show(lpjt):
    lpjt.reproduce()
    assert lpjt.jobs
    assert "55.0" in lpjt.reproduce("--show").stdout
    assert not lpjt.jobs


@CASES.prove("bench growth", "--rows")
@CASES.prove("bench sample", "--rows")
@CASES.prove("bench search", "--rows")
@CASES.prove("bench floor", "--rows")
@CASES.prove("bench peers", "--rows")
def rows(lpjt, command):
    for text, numbers in (("2000", [2000]), ("4000,1000", [1000, 4000])):
        lpjt("bench", command, "--rows", text)
        assert lpjt.rows_per_domain() == numbers


@CASES.prove("bench quick", "--rows")
def quick_rows(lpjt, command):
    for text, numbers in (("2000", [2000]), ("4000,1000", [1000, 4000])):
        lpjt("bench", command, "--rows", text, code=1)  # no run succeeds here
        assert lpjt.rows_per_domain() == numbers


@CASES.prove("bench cluster", "--rows")
def cluster_rows(lpjt, command):
    for more, expected in (([], 200_000), (["--rows", 1000], 1000)):
        lpjt("bench", command, *more)
        assert lpjt.rows_per_domain() == [expected]
    assert "at least 100 rows" in lpjt("bench", command, "--rows", 50, code=2).stderr


@CASES.prove("bench cluster", "--folder")
def cluster_folder(lpjt, command):
    lpjt("bench", command)
    assert lpjt.tasks[0].data["folder"] == tempfile.gettempdir()
    lpjt("bench", command, "--folder", lpjt.folder)
    assert lpjt.tasks[0].data["folder"] == str(lpjt.folder)
    assert "does not exist" in lpjt("bench", command, "--folder", "nowhere", code=2).stderr


@CASES.prove("bench growth", "--quick")
def growth_quick(lpjt, command):
    for more, ends, rows in (([], GROWTH, 100), (["--quick"], QUICK, 10)):
        lpjt("bench", command, *more)
        assert (lpjt.rows_per_domain()[0], lpjt.rows_per_domain()[-1]) == ends
        assert set(lpjt.tasks[-1].data["source"]) == {rows}  # of each of many classes


@CASES.prove("bench growth", "--timeout")
@CASES.prove("bench sample", "--timeout")
@CASES.prove("bench search", "--timeout")
@CASES.prove("bench floor", "--timeout")
@CASES.prove("bench visda", "--timeout")
def bench_timeout(lpjt, command):
    for more, seconds in (([], None), (["--timeout", 2.5], 2.5)):
        lpjt("bench", command, *more)
        assert {task.timeout for task in lpjt.tasks} == {seconds}


@CASES.prove("bench peers", "--timeout")
def peers_timeout(lpjt, command):
    """The dense transcription has twelve times as many seconds."""
    for seconds in (10.0, 20.0):
        lpjt("bench", command, "--timeout", seconds)
        assert {task.timeout for task in lpjt.tasks} == {seconds, 12 * seconds}


@CASES.prove("bench growth", "--output")
@CASES.prove("bench sample", "--output")
@CASES.prove("bench search", "--output")
@CASES.prove("bench visda", "--output")
@CASES.prove("bench pie", "--output")
@CASES.prove("bench peers", "--output")
@CASES.prove("bench neighbors", "--output")
@CASES.prove("bench cluster", "--output")
def bench_output(lpjt, command):
    for more, folder in (([], DIRECTORY), (["-o", "mine"], "mine"), (["--output", "ours"], "ours")):
        lpjt("bench", command, *more)
        assert sorted(lpjt.stored(folder, command)) == sorted(task.label for task in lpjt.tasks)


@CASES.prove("bench small", "--output")
@CASES.prove("bench floor", "--output")
@CASES.prove("bench predict", "--output")
@CASES.prove("bench disk", "--output")
def more_output(lpjt, command):
    more = ["--gigabytes", 0.01] if command == "disk" else []
    for folder in ("mine", "ours"):
        lpjt("bench", command, *more, "-o", folder)
        assert sorted(lpjt.stored(folder, command)) == sorted(task.label for task in lpjt.tasks)


@CASES.prove("bench disk", "--gigabytes")
@CASES.prove("bench disk", "--memory")
@CASES.prove("bench disk", "--kinds")
@CASES.prove("bench disk", "--folder")
def disk_options(lpjt, command):
    for size, memory, kinds in ((0.02, "1GB", "memmap"), (0.04, "3GB", "hdf5,zarr")):
        folder = lpjt.folder / memory
        folder.mkdir()
        given = ("--gigabytes", size, "--memory", memory, "--kinds", kinds, "--folder", folder)
        lpjt("bench", command, *given)
        assert [task.data["kind"] for task in lpjt.tasks] == kinds.split(",")
        data = lpjt.tasks[0].data
        assert (data["memory_limit"], data["folder"]) == (memory, str(folder))
        assert 2 * 4 * data["rows"] * data["width"] == pytest.approx(size * 1e9, rel=0.01)


@CASES.prove("bench disk", "--keep")
def disk_keep(lpjt, command):
    for size, more, kept in ((0.01, [], 1), (0.02, [], 1), (0.03, ["--keep"], 2)):
        lpjt("bench", command, "--gigabytes", size, "-o", "results", *more)
        assert len(lpjt.stored("results", command)) == kept


@CASES.prove("bench predict", "--new")
def predict_new(lpjt, command):
    for number in (200, 300):
        lpjt("bench", command, "--new", number)
        assert lpjt.tasks[0].data["new"] == number


@CASES.prove("bench quick", "--output")
def quick_output(lpjt, command):
    for folder in ("mine", "ours"):
        lpjt("bench", command, "--rows", 1000, "--store", "-o", folder, code=1)
        assert lpjt.stored(folder, "quick") == ["1,000 rows"]


@CASES.prove("bench growth", "--keep")
@CASES.prove("bench sample", "--keep")
@CASES.prove("bench search", "--keep")
@CASES.prove("bench floor", "--keep")
@CASES.prove("bench peers", "--keep")
def keep(lpjt, command):
    for rows, more, kept in ((1000, [], False), (2000, [], False), (4000, ["--keep"], True)):
        lpjt("bench", command, "--rows", rows, "-o", "results", *more)
        stored = set(lpjt.stored("results", command))
        assert f"{rows:,} rows" in stored
        assert ("2,000 rows" in stored) == (rows == 2000 or kept)
        assert ("1,000 rows" in stored) == (rows == 1000)


@CASES.prove("bench peers", "--methods")
def peers_methods(lpjt, command):
    for names in (["LPJT"], ["LPJT", "linear SVM, unadapted"]):
        lpjt("bench", command, "--rows", 1000, "--methods", ";".join(names))
        assert [task.method for task in lpjt.tasks] == names


@CASES.prove("bench profile", "--rows")
@CASES.prove("bench profile", "--width")
@CASES.prove("bench profile", "--classes")
def profile_size(lpjt, command):
    for rows, width, classes in ((200, 20, 4), (300, 30, 5)):
        lpjt("bench", command, "--rows", rows, "--width", width, "--classes", classes)
        assert lpjt.data == {
            "source": (rows // classes,) * classes,
            "target": (rows // classes,) * classes,
            "width": width,
        }


@CASES.prove("bench profile", "--pair")
@CASES.prove("bench profile", "--threads")
def profile_pair(lpjt, command):
    for name, threads in (("05 to 07", 1), ("07 to 05", 2)):
        lpjt("bench", command, "--pair", f"pie:{name}", "--threads", threads)
        assert lpjt.data == {"table": "pie", "pair": name}
        assert lpjt.options == {"threads": threads}


@CASES.prove("bench profile", "--output")
@CASES.prove("bench profile", "--force")
def profile_output(lpjt, command):
    lpjt("bench", command, "-o", "a.svg")
    assert "<svg" in lpjt.read("a.svg")
    (lpjt.folder / "a.svg").write_text("mine")
    assert "a.svg exists" in lpjt("bench", command, "-o", "a.svg", code=2).stderr
    assert lpjt.read("a.svg") == "mine"
    lpjt("bench", command, "--output", "a.svg", "--force")
    assert "<svg" in lpjt.read("a.svg")
    lpjt("bench", command, "--output", "b.svg", "--force")
    assert "<svg" in lpjt.read("b.svg")


@CASES.prove("bench visda", "--scale")
def scale(lpjt, command):
    for share in (0.1, 0.05):
        lpjt("bench", command, "--scale", share)
        task, single = lpjt.tasks
        assert task.data == single.data
        assert sum(task.data["source"]) == pytest.approx(152_397 * share, rel=0.01)
        assert sum(task.data["target"]) == pytest.approx(55_388 * share, rel=0.01)


@CASES.prove("bench neighbors", "--full")
def full(lpjt, command):
    for more, has_full in (([], False), (["--full"], True)):
        lpjt("bench", command, *more)
        tables = {task.data["table"] for task in lpjt.tasks}
        assert tables == {"digits", "pie"} | ({"digits-full"} if has_full else set())


@CASES.prove("bench quick", "--store")
def quick_store(lpjt, command):
    for more, is_stored in (([], False), (["--store"], True)):
        lpjt("bench", command, "--rows", 1000, "-o", "results", *more, code=1)
        assert (lpjt.stored("results", command) == ["1,000 rows"]) == is_stored


@CASES.prove("bench report", "--stored")
def report_stored(lpjt, command):
    for rows in (1000, 2000):
        lpjt("bench", "peers", "--rows", rows, "-o", f"of-{rows}")
        lpjt("bench", command, "--stored", f"of-{rows}", "--page", "page.md", "--force")
        page = lpjt.read("page.md")
        assert [f"({size:,} rows)" in page for size in (1000, 2000)] == [rows == 1000, rows == 2000]


@CASES.prove("bench report", "--page")
def report_page(lpjt, command):
    for page in ("one/page.md", "two/other.md"):
        lpjt("bench", command, "--stored", "nothing", "--page", page)
        assert "Not measured yet" in lpjt.read(page)


@CASES.prove("bench report", "--force")
def report_force(lpjt, command):
    (lpjt.folder / "page.md").write_text("mine")
    report = ("bench", command, "--stored", "nothing", "--page", "page.md")
    assert "page.md exists and was kept" in lpjt(*report, code=2).stderr
    assert lpjt.read("page.md") == "mine"
    lpjt(*report, "--force")
    assert "Not measured yet" in lpjt.read("page.md")


@CASES.prove("bench robust", "--force")
@CASES.prove("bench ask", "--force")
def study_force(lpjt, command):
    """A page that exists is kept: before anything is computed with --page, and with a note after a whole run."""
    name = {"robust": "robustness.md", "ask": "asking.md"}[command]
    lpjt("bench", command)
    page = lpjt.folder / "docs" / name
    page.write_text("mine")
    assert f"docs/{name} exists and was kept; --page --force writes it again." in lpjt("bench", command).stdout
    assert f"{name} exists and was kept" in lpjt("bench", command, "--page", code=2).stderr
    assert page.read_text() == "mine"
    lpjt("bench", command, "--page", "--force")
    assert page.read_text() != "mine"


@CASES.prove("bench robust", "--only")
def robust_only(lpjt, command):
    for text, families in (("DeCAF6 W", {"DeCAF6"}), ("halves", {"COIL20", "DeCAF6"})):
        lpjt.robust(only=text)
        assert {job.family for job in lpjt.jobs} == families
        assert all(text in job.name for job in lpjt.jobs)


@CASES.prove("bench robust", "--rows")
def robust_rows(lpjt, command):
    for number in (2000, 300):
        lpjt.robust("--rows", number)
        assert lpjt.jobs_have("max_rows") == [number]


@CASES.prove("bench robust", "--draws")
def robust_draws(lpjt, command):
    for number in (1, 3):
        lpjt.robust("--draws", number)
        assert lpjt.jobs_have("draw") == list(range(number + 1))


@CASES.prove("bench robust", "--jobs")
def robust_jobs(lpjt, command):
    for number in (1, 3):
        lpjt.robust("--jobs", number)
        assert lpjt.options["n_jobs"] == number


@CASES.prove("bench robust", "--again")
def robust_again(lpjt, command):
    for more, is_again in (([], False), (["--again"], True)):
        lpjt.robust(*more)
        assert lpjt.options["again"] is is_again


@CASES.prove("bench robust", "--output")
def robust_output(lpjt, command):
    for more, folder in (([], suite.DIRECTORY), (["-o", "mine"], "mine"), (["--output", "ours"], "ours")):
        lpjt.robust(*more)
        stored = suite.open_store(lpjt.folder / folder).rows()
        assert {row["key"] for row in stored} == {job.key for job in lpjt.jobs}


@CASES.prove("bench robust", "--page")
def robust_page(lpjt, command):
    lpjt.robust()
    assert not (lpjt.folder / "docs").exists()
    lpjt("bench", command, "--page")
    assert not lpjt.jobs
    assert "8 of 36 tasks have a result" in lpjt.read("docs", "robustness.md")


@CASES.prove("bench ask", "--only")
def ask_only(lpjt, command):
    for text in ("DeCAF6", "thinned"):
        lpjt.ask(only=text)
        assert lpjt.jobs
        assert all(text in job.name for job in lpjt.jobs)


@CASES.prove("bench ask", "--rows")
def ask_rows(lpjt, command):
    for number in (200, 300):
        lpjt.ask("--rows", number)
        assert {job.task.max_rows for job in lpjt.jobs} == {number}


@CASES.prove("bench ask", "--jobs")
def ask_jobs(lpjt, command):
    for number in (1, 3):
        lpjt.ask("--jobs", number)
        assert lpjt.options["n_jobs"] == number


@CASES.prove("bench ask", "--again")
def ask_again(lpjt, command):
    for more, is_again in (([], False), (["--again"], True)):
        lpjt.ask(*more)
        assert lpjt.options["again"] is is_again


@CASES.prove("bench ask", "--output")
def ask_output(lpjt, command):
    for more, folder in (([], asking.DIRECTORY), (["-o", "mine"], "mine"), (["--output", "ours"], "ours")):
        lpjt.ask(*more)
        stored = asking.open_store(lpjt.folder / folder).rows()
        assert {row["key"] for row in stored} == {job.key for job in lpjt.jobs}


@CASES.prove("bench ask", "--page")
def ask_page(lpjt, command):
    lpjt.ask()
    assert not (lpjt.folder / "docs").exists()
    lpjt("bench", command, "--page")
    assert "**Not complete:** 3 of 6 tasks" in lpjt.read("docs", "asking.md")
    assert (lpjt.folder / "docs" / "figures" / "asking.png").exists()


def run_case(case, lpjt):
    command = case[0].removeprefix("bench ")
    CASES[case](*[lpjt] if command == "reproduce" else [lpjt, command])


def test_every_option_has_a_case():
    options = {(command, option) for command, option in all_options() if command.split(" ")[0] in COMMANDS}
    assert ("bench growth", "--rows") in options
    CASES.check_complete(options, "tests/commands/test_options_study.py")


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_an_option_does_what_its_help_says(case, lpjt):
    run_case(case, lpjt)


def test_the_whole_suite_writes_its_page(lpjt):
    lpjt("bench", "robust")
    assert len(lpjt.jobs) == 36
    assert lpjt.options["retry_failed"] is True
    assert "Not complete" not in lpjt.read("docs", "robustness.md")


def test_tasks_without_data_are_left_out_and_the_page_is_not_written(lpjt, monkeypatch):
    monkeypatch.setattr(WHY_MISSING, lambda family, domain: "no file" if domain == "D" else None)
    result = lpjt("bench", "robust")
    assert "17 tasks left out, as these data are missing: DeCAF6 D." in result.stderr
    assert [job.name for job in lpjt.jobs if job.family == "DeCAF6"] == ["DeCAF6 W, halves"]
    assert not (lpjt.folder / "docs").exists()
    monkeypatch.setattr(WHY_MISSING, lambda *_: "Get the file.")
    assert "No data for any of the 8 tasks. Get the file." in lpjt.robust("-o", "new", code=2).stderr


def test_all_asked_tasks_write_their_page(lpjt):
    result = lpjt("bench", "ask")
    assert len(lpjt.jobs) == 6
    assert "Not complete" not in lpjt.read("docs", "asking.md")
    assert "asked - random" in result.output
    assert "Leave out --only" in lpjt.ask("--page", code=2).stderr
    assert "has no row of these tasks" in lpjt("bench", "ask", "--page", "--force", "-o", "none", code=2).stderr


def test_a_page_of_a_part_or_of_nothing_is_refused(lpjt):
    assert "Leave out --only" in lpjt.robust("--page", code=2).stderr
    assert "has no row of these tasks" in lpjt("bench", "robust", "--page", code=2).stderr
    assert not (lpjt.folder / "docs").exists()


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_a_case_sees_that_its_option_is_disconnected(case, lpjt):
    lpjt.disconnect(*case)
    with pytest.raises(AssertionError):
        run_case(case, lpjt)
