"""What the pages promise: links that lead somewhere, features with tests, examples that start from a question."""

import ast
import re
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import lpjt

ROOT = Path(__file__).parents[1]
DOCS, EXAMPLES = ROOT / "docs", ROOT / "examples"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md")), *sorted(DOCS.glob("*/*.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)")
PROGRAMS = sorted(EXAMPLES.glob("*.py"))
NAMES_BY_ROW = re.compile(r"^\| (.+?) \| (.+?) \|", re.MULTILINE)

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the documentation is not beside the tests")


def links(page):
    """Links outside of code."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text("utf-8"), flags=re.DOTALL)
    return LINK.findall(text)


def anchors(page):
    """Names of the headings, as the pages have them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def is_there(page, link):
    """Whether a relative link leads to a file and, in it, to a heading; the gallery's pages are made from programs."""
    name, _, anchor = link.partition("#")
    path = (page.parent / name).resolve() if name else page
    if path.parent == DOCS / "examples":
        path = EXAMPLES / path.with_suffix(".py").name
    if path.is_dir():
        return not anchor
    return path.is_file() and (not anchor or anchor in anchors(path))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    for link in links(page):
        if "://" in link:
            parts = urlsplit(link)
            assert parts.scheme == "https", link
            assert re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", parts.netloc), link
        else:
            assert is_there(page, link), f"{page.name}: {link}"


def test_a_broken_link_would_be_seen():
    assert not is_there(DOCS / "index.md", "no-such-page.md")
    assert not is_there(DOCS / "guide.md", "robustness.md#no-such-heading")
    assert not is_there(DOCS / "questions.md", "examples/no_such_example.rst")


def test_every_yes_of_ours_leads_to_its_tests():
    rows = NAMES_BY_ROW.findall((DOCS / "compared.md").read_text("utf-8"))
    ours = {feature: cell for feature, cell in rows if feature not in ("feature", ":--")}
    assert len(ours) > 25
    for feature, cell in ours.items():
        if cell == "**no**":
            continue
        link = re.match(r"\[[^\]]+\]\(\.\./(tests/[\w/]+/test_\w+\.py)\)", cell)
        assert link, f"{feature}: {cell}"
        assert "def test_" in (ROOT / link[1]).read_text("utf-8"), f"{feature}: {link[1]}"


def test_the_readme_fits_two_screens():
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 110


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_an_example_asks_a_question_and_is_short(path):
    text = path.read_text("utf-8")
    title, _, body = (ast.get_docstring(ast.parse(text)) or "").partition("\n")
    assert title
    assert "?" in body.strip("=\n").split(".")[0], "the first sentence is the reader's question"
    assert "LPJT_DATA" not in text
    code = [line for line in text.split('"""', 2)[2].splitlines() if line.strip() and not line.startswith("#")]
    assert len(code) <= 60
    assert "print(" in text


@pytest.fixture
def tools_of_docs(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS / "_extensions"))
    yield
    for name in ("borrowed", "gallery_order", "mathml"):
        sys.modules.pop(name, None)


def test_all_examples_are_in_the_gallery(tools_of_docs):
    from gallery_order import ORDER

    assert sorted(ORDER) == [path.stem for path in PROGRAMS]


def test_all_public_names_are_in_the_reference_with_an_example(tools_of_docs):
    from borrowed import borrowed_methods, find, listed_names

    listed = listed_names()
    assert {f"lpjt.{name}" for name in lpjt.__all__} - {"lpjt.__version__"} <= set(listed)
    without = [name for name in listed if "Examples\n" not in (find(name).__doc__ or "")]
    assert without == ["lpjt.saving.TRUSTED_TYPES"]  # a list
    assert "lpjt.baselines.JDA.score" in borrowed_methods()
    assert "lpjt.LPJT.score" not in borrowed_methods()


@pytest.mark.parametrize("page", ["notation.md", "performance.md"])
def test_formulas_become_mathml(page, tools_of_docs):
    convert = pytest.importorskip("latex2mathml.converter").convert
    text = re.sub(r"```.*?```|`[^`\n]*`", "", (DOCS / page).read_text("utf-8"), flags=re.DOTALL)
    for formula in re.findall(r"\$([^$\n]+)\$", text):
        found = convert(formula)
        assert found.startswith("<math")
        assert "\\" not in found, f"{formula} has a command that is not known"
