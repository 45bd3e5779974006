"""Every option of the command line does what its help says; other files have those of tables, `reproduce`, `bench`."""

import hashlib
import json
import time
from contextlib import contextmanager, suppress
from io import StringIO

import numpy as np
import pytest
from numpy.testing import assert_array_equal

pytest.importorskip("typer", reason="the command line needs typer")
pytest.importorskip("rich", reason="the command line needs rich")

from test_options_tables import CASES as TABLE_CASES

import web
from datasets_small import empty_directories, with_file
from lpjt import __version__
from lpjt import load as lpjt_load
from options import CLASSES, WIDTH, Cases, CommandLine, all_options
from tables import frame, pandas

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
    lpjt("adapt", "source.csv", "target.csv", "-o", "four.json")
    printed = lpjt("adapt", "source.csv", "target.csv", "-o", "-")
    assert {path.name for path in lpjt.folder.iterdir()} >= {"one.csv", "two.tsv", "three.parquet", "four.json"}
    written = pandas.read_csv("one.csv"), pandas.read_csv("two.tsv", sep="\t"), pandas.read_parquet("three.parquet")
    written += pandas.read_json("four.json"), pandas.read_csv(StringIO(printed.stdout))
    assert "Mean confidence" in printed.stderr
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
        assert lpjt.models[-1].transform(frame(np.zeros((1, WIDTH)))).shape == (1, size)


@CASES.prove("adapt", "--kernel")
def kernel(lpjt):
    """A linear map takes the sum of two rows to the sum of their images; a Gaussian one does not."""
    rows = np.array([[1.0, 2, 3, 4], [2.0, 1, 0, 1], [3.0, 3, 3, 5]])
    for name, is_linear in (("linear", True), ("rbf", False)):
        lpjt.adapt("--kernel", name, "--scaling", "none")
        first, second, both = lpjt.models[-1].transform(frame(rows))
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
    assert "page.html exists and was kept" in refused.stderr
    assert (lpjt.folder / "page.html").read_text() == "mine"
    assert not (lpjt.folder / "again.csv").exists()


@CASES.prove("adapt", "--candidates")
def candidates(lpjt):
    shown = lpjt("adapt", "source.csv", "target.csv", "-o", "labels.csv", "--force", "--candidates").stdout
    assert "Candidates, the best first" in shown
    assert "Estimated accuracy" in shown
    shown = lpjt("adapt", "source.csv", "target.csv", "-o", "labels.csv", "--force", "--no-candidates").stdout
    assert "Candidates, the best first" not in shown
    assert lpjt.models[-1].candidates_ == []


@CASES.prove("adapt", "--search")
def search(lpjt):
    """The best setting is fitted; what an option gives is not searched."""
    assert "settings" not in lpjt("adapt", "source.csv", "target.csv", "-o", "labels.csv", "--force").stdout
    assert lpjt.models[-1].classifier == "propagation"
    shown = lpjt("adapt", "source.csv", "target.csv", "-o", "labels.csv", "--force", "--search", "--seed", 0).stdout
    assert "Best of 12 settings, without target labels" in shown
    model = lpjt.models[-1]
    row = next(line for line in shown[shown.index("Best of") :].splitlines() if line.startswith("│"))
    chosen = [model.classifier.n_neighbors, model.n_components, model.variance_weight]
    assert row.replace("│", " ").split()[:3] == [str(value) for value in chosen]
    assert set(pandas.read_csv("labels.csv")["label"]) == set(CLASSES)
    given = ("--n-components", 3, "--classifier", "nn")
    shown = lpjt("adapt", "source.csv", "target.csv", "-o", "labels.csv", "--force", "--search", *given).stdout
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


@CASES.prove("adapt", "--model")
def kept_model(lpjt):
    for name in ("one.lpjt", "two.lpjt"):
        lpjt.adapt("--model", name)
        assert (lpjt.folder / name).exists()
        assert_array_equal(lpjt_load(lpjt.folder / name).transduction_, lpjt.models[-1].transduction_)
    content = (lpjt.folder / "two.lpjt").read_bytes()
    assert (
        "exists and was kept"
        in lpjt("adapt", "source.csv", "target.csv", "-o", "a.csv", "--model", "two.lpjt", code=2).stderr
    )
    assert (lpjt.folder / "two.lpjt").read_bytes() == content


def predict(lpjt, *arguments, model="model.lpjt", new="target.csv", output="new.csv"):
    """Run ``lpjt predict``, with a model that is made if it is missing, and read what it wrote."""
    if not (lpjt.folder / "model.lpjt").exists():
        lpjt.adapt("--model", "model.lpjt")
    lpjt("predict", model, new, "-o", output, *arguments)
    return pandas.read_csv(lpjt.folder / output)


@CASES.prove("predict", "MODEL_FILE")
def predict_model(lpjt):
    lpjt.write("other.csv", label=OTHER_CLASSES[np.arange(30) % 3])
    lpjt.adapt("--model", "other.lpjt", source="other.csv")
    assert set(predict(lpjt)["label"]) == set(CLASSES)
    assert set(predict(lpjt, model="other.lpjt", output="b.csv")["label"]) == set(OTHER_CLASSES)


@CASES.prove("predict", "NEW")
def predict_new(lpjt):
    lpjt.write("longer.csv", rows=36, shift=0.5, seed=2)
    for name, rows in (("target.csv", 30), ("longer.csv", 36)):
        written = predict(lpjt, new=name, output=f"of-{name}")
        assert written["label"].tolist() == CLASSES[np.arange(rows) % 3].tolist()


@CASES.prove("predict", "--output")
def predict_output(lpjt):
    predict(lpjt, output="one.csv")
    predict(lpjt, output="two.csv")
    assert lpjt.read("one.csv") == lpjt.read("two.csv")


@CASES.prove("predict", "--proba")
def predict_proba(lpjt):
    assert list(predict(lpjt).columns) == ["row", "label", "confidence"]
    written = predict(lpjt, "--proba", output="all.csv")
    columns = [f"p_{name}" for name in CLASSES]
    assert list(written.columns) == ["row", "label", "confidence", *columns]
    assert np.allclose(written[columns].sum(axis=1), 1, atol=1e-5)
    assert np.allclose(written[columns].max(axis=1), written["confidence"])


@CASES.prove("predict", "--domain")
def predict_domain(lpjt):
    lpjt.adapt("--model", "model.lpjt", "--scaling", "standard", "--no-candidates")
    model = lpjt_load(lpjt.folder / "model.lpjt")
    rows = pandas.read_csv(lpjt.folder / "target.csv").to_numpy()
    for domain in ("target", "source"):
        written = predict(lpjt, "--domain", domain, output=f"as-{domain}.csv")
        assert np.allclose(written["confidence"], model.predict_proba(rows, domain=domain).max(axis=1), atol=1e-5)


@CASES.prove("predict", "--id")
def predict_id(lpjt):
    numbers = {"plate": 100 + np.arange(30), "tray": 200 + np.arange(30)}
    for name, ids in numbers.items():
        lpjt.write("numbered.csv", shift=0.5, seed=1, **{name: ids})
        written = predict(lpjt, "--id", name, new="numbered.csv", output=f"{name}.csv")
        assert written[name].tolist() == ids.tolist()


@CASES.prove("predict", "--force")
def predict_force(lpjt):
    predict(lpjt)
    (lpjt.folder / "new.csv").write_text("precious")
    assert "new.csv exists and was kept" in lpjt("predict", "model.lpjt", "target.csv", "-o", "new.csv", code=2).stderr
    assert lpjt.read("new.csv") == "precious"
    assert len(predict(lpjt, "--force")) == 30


@CASES.prove("predict", "--raw-text")
def predict_raw_text(lpjt):
    """A label that starts like a formula has ' in front, with a warning, unless it is to stay as it is."""
    lpjt.write("formulas.csv", label=np.char.add("=", CLASSES[np.arange(30) % 3]))
    lpjt.adapt("--model", "model.lpjt", source="formulas.csv")
    for given, label in (((), "'=ape"), (("--raw-text",), "=ape")):
        result = lpjt("predict", "model.lpjt", "target.csv", "--force", "-o", "new.csv", *given)
        assert label in pandas.read_csv("new.csv")["label"].tolist()
        assert ("30 texts that start like a formula" in " ".join(result.stderr.split())) == (not given)


@CASES.prove("predict", "--quiet")
def predict_quiet(lpjt):
    predict(lpjt)
    command = ("predict", "model.lpjt", "target.csv", "--force", "-o", "new.csv")
    assert "Labelled 30 rows" in lpjt(*command).stdout
    assert lpjt(*command, "--quiet").stdout == ""


def test_one_row_is_singular(lpjt):
    predict(lpjt)
    pandas.read_csv("target.csv")[:1].to_csv("one.csv", index=False)
    assert "Labelled 1 row; mean" in lpjt("predict", "model.lpjt", "one.csv", "-o", "one-label.csv").stdout


@CASES.prove("info", "MODEL_FILE")
def info_model(lpjt):
    for size in (2, 3):
        lpjt.adapt("--model", f"{size}.lpjt", "--n-components", size)
        shown = lpjt("info", f"{size}.lpjt").stdout
        assert f"n_components={size}" in shown
        assert all(words in shown for words in ("'ape', 'bee', 'cat'", "estimated accuracy", "lpjt 0.", "numpy"))
    assert "not a model file" in lpjt("info", "source.csv", code=2).stderr


@CASES.prove("info", "--json")
def info_json(lpjt):
    lpjt.adapt("--model", "model.lpjt")
    assert "versions" in lpjt("info", "model.lpjt").stdout
    about = json.loads(found) if (found := lpjt("info", "model.lpjt", "--json").stdout).startswith("{") else {}
    assert about.get("classes") == CLASSES.tolist()
    assert about["parameters"]["max_iter"] == 10
    assert [domain["n_columns"] for domain in about["domains"]] == [WIDTH, WIDTH]


@CASES.prove("adapt", "--quiet")
def quiet(lpjt):
    command = ("adapt", "source.csv", "target.csv", "-o", "labels.csv", "--force")
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
    Cases({**CASES, **TABLE_CASES}).check_complete(options, "tests/commands/test_options.py or test_options_tables.py")


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_an_option_does_what_its_help_says(case, lpjt):
    CASES[case](lpjt)


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_a_case_sees_that_its_option_is_disconnected(case, lpjt):
    lpjt.disconnect(*case)
    with pytest.raises(AssertionError):
        CASES[case](lpjt)
