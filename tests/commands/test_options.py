"""Every option of the command line does what its help says; `reproduce` and `bench` are in test_options_study.py."""

import hashlib
import time
from contextlib import contextmanager, suppress

import numpy as np
import pytest

pytest.importorskip("typer", reason="the command line needs typer")
pytest.importorskip("rich", reason="the command line needs rich")

import web
from datasets_small import empty_directories, with_file
from lpjt import __version__
from options import CLASSES, WIDTH, Cases, CommandLine, all_options
from tables import pandas

CASES = Cases()
OTHER_CLASSES = np.array(["ant", "bat", "cow"])
CONTENT = b"0123456789" * 100
FILES = {"surf": "amazon_SURF_L10.mat", "decaf6": "webcam_decaf.mat"}
OTHER_COMMANDS = {"reproduce", "bench"}  # test_options_study.py


@pytest.fixture
def lpjt(tmp_path, monkeypatch):
    """The command line beside source.csv and target.csv: three classes of ten rows, the target shifted."""
    line = CommandLine(tmp_path, monkeypatch)
    line.write("source.csv", label=CLASSES[np.arange(30) % 3])
    line.write("target.csv", shift=0.5, seed=1)
    return line


@CASES.prove("", "--version")
def version(lpjt):
    assert lpjt("data", "path").stdout.startswith("LPJT_DATA")
    assert lpjt("--version", "data", "path").stdout == f"lpjt {__version__}\n"


@CASES.prove("adapt", "SOURCE")
def source(lpjt):
    lpjt.write("other.csv", label=OTHER_CLASSES[np.arange(30) % 3])
    for name, classes in (("source.csv", CLASSES), ("other.csv", OTHER_CLASSES)):
        assert set(lpjt.adapt(source=name)["label"]) == set(classes)


@CASES.prove("adapt", "TARGET")
def target(lpjt):
    lpjt.write("longer.csv", rows=36, shift=0.5, seed=1)
    for name, rows in (("target.csv", 30), ("longer.csv", 36)):
        written = lpjt.adapt(target=name)
        assert written["label"].tolist() == CLASSES[np.arange(rows) % 3].tolist()
        assert written["row"].tolist() == list(range(rows))  # numbered from 0 without ids


@CASES.prove("adapt", "--output")
def output(lpjt):
    lpjt("adapt", "source.csv", "target.csv", "--output", "one.csv")
    lpjt("adapt", "source.csv", "target.csv", "-o", "two.tsv")
    lpjt("adapt", "source.csv", "target.csv", "-o", "three.parquet")
    assert {path.name for path in lpjt.folder.iterdir()} >= {"one.csv", "two.tsv", "three.parquet"}
    written = pandas.read_csv("one.csv"), pandas.read_csv("two.tsv", sep="\t"), pandas.read_parquet("three.parquet")
    for table in written:
        assert list(table.columns) == ["row", "label", "confidence"]
        assert table["label"].tolist() == written[0]["label"].tolist()


@CASES.prove("adapt", "--source")
def further_source(lpjt):
    """The class that the first source lacks comes from the second."""
    lpjt.write("two.csv", rows=20, classes=CLASSES[:2], label=CLASSES[np.arange(20) % 2])
    lpjt.write("third.csv", rows=10, classes=CLASSES[2:], label=["cat"] * 10)
    assert set(lpjt.adapt(source="two.csv")["label"]) == {"ape", "bee"}
    assert set(lpjt.adapt("--source", "third.csv", source="two.csv")["label"]) == {"ape", "bee", "cat"}


@CASES.prove("adapt", "--label")
def label(lpjt):
    codes = np.arange(30) % 3
    lpjt.write("twice.csv", kind=codes, group=10 + codes)
    for name, classes in (("kind", {0, 1, 2}), ("group", {10, 11, 12})):
        assert set(lpjt.adapt("--label", name, source="twice.csv")["label"]) <= classes


@CASES.prove("adapt", "--target-label")
def target_label(lpjt):
    """Known labels, wrong on purpose, are kept; the blank cells are labelled."""
    known = np.where(np.arange(30) < 6, np.roll(CLASSES, 1)[np.arange(30) % 3], "")
    lpjt.write("partly.csv", shift=0.5, seed=1, label=known)
    unused = lpjt.adapt(target="partly.csv")["label"]
    used = lpjt.adapt("--target-label", "label", target="partly.csv")["label"]
    assert unused[:6].tolist() == CLASSES[np.arange(6) % 3].tolist()
    assert used[:6].tolist() == known[:6].tolist()
    assert used[6:].isin(CLASSES).all()


@CASES.prove("adapt", "--id")
def id_column(lpjt):
    numbers = {"plate": 100 + np.arange(30), "tray": 200 + np.arange(30)}
    lpjt.write("numbered.csv", shift=0.5, seed=1, **numbers)
    for name, ids in numbers.items():
        written = lpjt.adapt("--id", name, target="numbered.csv")
        assert list(written.columns) == [name, "label", "confidence"]
        assert written[name].tolist() == ids.tolist()


@CASES.prove("adapt", "--n-components")
def n_components(lpjt):
    for size in (2, 3):
        lpjt.adapt("--n-components", size)
        assert lpjt.models[-1].transform(np.zeros((1, WIDTH))).shape == (1, size)


@CASES.prove("adapt", "--kernel")
def kernel(lpjt):
    """A linear map takes the sum of two rows to the sum of their images; a Gaussian one does not."""
    rows = np.array([[1.0, 2, 3, 4], [2.0, 1, 0, 1], [3.0, 3, 3, 5]])
    for name, is_linear in (("linear", True), ("rbf", False)):
        lpjt.adapt("--kernel", name, "--scaling", "none")
        first, second, both = lpjt.models[-1].transform(rows)
        assert lpjt.models[-1].kernel == name
        assert np.allclose(first + second, both) == is_linear


@CASES.prove("adapt", "--classifier")
def classifier(lpjt):
    """The nearest neighbour is always sure, propagation is not."""
    for name, is_sure in (("propagation", False), ("nn", True)):
        written = lpjt.adapt("--classifier", name, "--no-candidates")
        assert lpjt.models[-1].classifier == name
        assert (written["confidence"] == 1).all() == is_sure


@CASES.prove("adapt", "--scaling")
def scaling(lpjt):
    for name in ("unit", "none"):
        lpjt.adapt("--scaling", name)
        assert lpjt.models[-1].scaling_ == name


@CASES.prove("adapt", "--target-proportions")
def target_proportions(lpjt):
    for name in ("source", "free"):
        lpjt.adapt("--target-proportions", name)
        assert lpjt.models[-1].target_proportions == name


@CASES.prove("adapt", "--report")
def report(lpjt):
    """The page has the names of the files, of the columns and of the rows; an existing page is kept."""
    lpjt.write("named.csv", shift=0.5, seed=1, id=[f"plate {i}" for i in range(30)])
    lpjt.adapt(target="named.csv")
    assert not list(lpjt.folder.glob("*.html"))
    lpjt.adapt("--report", "page.html", target="named.csv")
    page = lpjt.read("page.html")
    for words in ("source to named", "plate 7", hashlib.sha256((lpjt.folder / "named.csv").read_bytes()).hexdigest()):
        assert words in page
    (lpjt.folder / "page.html").write_text("mine")
    refused = lpjt("adapt", "source.csv", "named.csv", "-o", "again.csv", "--report", "page.html", code=2)
    assert "page.html: this report exists and was kept" in refused.stderr
    assert (lpjt.folder / "page.html").read_text() == "mine"
    assert not (lpjt.folder / "again.csv").exists()


@CASES.prove("adapt", "--candidates")
def candidates(lpjt):
    shown = lpjt("adapt", "source.csv", "target.csv", "-o", "labels.csv", "--candidates").stdout
    assert "Candidates, the best first" in shown
    assert "Estimated accuracy" in shown
    shown = lpjt("adapt", "source.csv", "target.csv", "-o", "labels.csv", "--no-candidates").stdout
    assert "Candidates, the best first" not in shown
    assert lpjt.models[-1].candidates_ == []


@CASES.prove("adapt", "--search")
def search(lpjt):
    """The best setting is fitted; what an option gives is not searched."""
    assert "settings" not in lpjt("adapt", "source.csv", "target.csv", "-o", "labels.csv").stdout
    assert lpjt.models[-1].classifier == "propagation"
    shown = lpjt("adapt", "source.csv", "target.csv", "-o", "labels.csv", "--search", "--seed", 0).stdout
    assert "Best of 12 settings, without target labels" in shown
    model = lpjt.models[-1]
    row = next(line for line in shown[shown.index("Best of") :].splitlines() if line.startswith("│"))
    chosen = [model.classifier.n_neighbors, model.n_components, model.variance_weight]
    assert row.replace("│", " ").split()[:3] == [str(value) for value in chosen]
    assert set(pandas.read_csv("labels.csv")["label"]) == set(CLASSES)
    given = ("--n-components", 3, "--classifier", "nn")
    shown = lpjt("adapt", "source.csv", "target.csv", "-o", "labels.csv", "--search", *given).stdout
    assert "Best of 2 settings" in shown
    assert lpjt.models[-1].n_components == 3


@CASES.prove("adapt", "--seed")
def seed(lpjt):
    first = lpjt.adapt("--seed", 3, output="first.csv")
    for number in (3, 4):
        again = lpjt.adapt("--seed", number, output=f"again{number}.csv")
        assert lpjt.models[-1].random_state == number
        assert (again["label"] == first["label"]).all()
    assert lpjt.read("again3.csv") == lpjt.read("first.csv")


@CASES.prove("adapt", "--quiet")
def quiet(lpjt):
    command = ("adapt", "source.csv", "target.csv", "-o", "labels.csv")
    assert "labels.csv" in lpjt(*command).stdout
    assert lpjt(*command, "--quiet").stdout == ""
    assert lpjt(*command, "-q").stdout == ""


@contextmanager
def two_sets(lpjt, *, delay=0.0):
    """No data but on a site, which has the only file of surf and, after a delay, that of decaf6; the cache."""
    pytest.importorskip("pooch", reason="downloads need pooch")
    empty_directories(lpjt.monkeypatch, lpjt.folder)
    sha256 = hashlib.sha256(CONTENT).hexdigest()

    def late(request):
        time.sleep(delay)
        with suppress(ConnectionError):  # nobody waits any more
            web.well(CONTENT)(request)

    with web.serve() as site:
        with_file(lpjt.monkeypatch, "surf", "A", mirrors=(site.at("/soon", web.well(CONTENT)),), sha256=sha256)
        with_file(lpjt.monkeypatch, "decaf6", "W", mirrors=(site.at("/late", late),), sha256=sha256)
        yield lpjt.folder / "cache"


@CASES.prove("data fetch", "NAMES")
def fetched_names(lpjt):
    with two_sets(lpjt) as cache:
        for names in (["surf"], ["surf", "decaf6"]):
            lpjt("data", "fetch", *names)
            assert sorted(path.name for path in cache.glob("*/*.mat")) == sorted(FILES[name] for name in names)


@CASES.prove("data fetch", "--timeout")
def fetch_timeout(lpjt):
    with two_sets(lpjt, delay=0.4):
        assert "no answer in time" in lpjt("data", "fetch", "decaf6", "--timeout", 0.1, code=2).stderr
        assert "Fetched" in lpjt("data", "fetch", "decaf6", "--timeout", 20).stdout


@CASES.prove("data fetch", "--quiet")
def fetch_quiet(lpjt):
    with two_sets(lpjt):
        assert "Fetched" in lpjt("data", "fetch", "surf").stdout
        assert "Already there" in lpjt("data", "fetch", "surf").stdout
        assert lpjt("data", "fetch", "surf", "--quiet").output == ""
        assert lpjt("data", "fetch", "decaf6", "-q").output == ""


@CASES.prove("data check", "NAMES")
def checked_names(lpjt):
    """A named set wants all its files; of all sets, those of which nothing is here are left out."""
    with two_sets(lpjt):
        lpjt("data", "fetch", "surf")
        shown = lpjt("data", "check").stdout
        assert FILES["surf"] in shown
        assert "missing" not in shown
        shown = lpjt("data", "check", "decaf6", code=1).stdout
        assert FILES["decaf6"] in shown
        assert FILES["surf"] not in shown


@CASES.prove("data path", "NAME")
def path_name(lpjt):
    with two_sets(lpjt) as cache:
        assert lpjt("data", "path").stdout == f"LPJT_DATA: {lpjt.folder / 'data'}\ncache: {cache}\n"
        for name, file in FILES.items():
            assert lpjt("data", "path", name).stdout.endswith(f"{file} (missing)\n")


def test_every_option_has_a_case():
    options = {(command, option) for command, option in all_options() if command.split(" ")[0] not in OTHER_COMMANDS}
    assert ("adapt", "--label") in options
    CASES.check_complete(options, "tests/commands/test_options.py")


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_an_option_does_what_its_help_says(case, lpjt):
    CASES[case](lpjt)


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_a_case_sees_that_its_option_is_disconnected(case, lpjt):
    lpjt.disconnect(*case)
    with pytest.raises(AssertionError):
        CASES[case](lpjt)
