"""Grids from rows, and what each renderer makes of them."""

import csv
import html.parser
import io
import re
import sys

import pytest

from lpjt.datasets import TABLES
from lpjt.study.runs.methods import METHODS, PROTOCOLS
from lpjt.study.tables.grid import Entry, Grid, GridRow, reproduce_grid
from lpjt.study.tables.markup import to_csv, to_html, to_markdown, to_terminal
from lpjt.study.tables.published import VISDA_CLASSES, paper_cells

rich_console = pytest.importorskip("rich.console")


def make_row(table, pair, method, accuracy, *, seed=0, protocol="label-free", message="ValueError: no rows"):
    return {
        "key": f"{table}|{pair}|{method}|{seed}|{protocol}",
        "table": table,
        "pair": pair,
        "method": method,
        "seed": seed,
        "protocol": protocol,
        "parameters": "{}",
        "accuracy": accuracy,
        "per_class_accuracy": "{" + ",".join(f'"{i}":{50 + i}' for i in range(12)) + "}",
        "status": "failed" if accuracy is None else "ok",
        "message": message if accuracy is None else "",
        "checksum": f"data of {pair}, {seed}",
    }


def make_rows(table, figures, *, seeds=(0,)):
    """Rows from {method: {pair: accuracy}}; each seed adds its number."""
    return [
        make_row(table, pair, method, None if value is None else value + seed, seed=seed)
        for method, by_pair in figures.items()
        for pair, value in by_pair.items()
        for seed in seeds
    ]


def pie_rows(**more):
    """A whole PIE table: every method on every pair, a known distance from the paper where it prints a figure."""
    printed = paper_cells("pie")
    rows = []
    for place, method in enumerate(METHODS.values()):
        if method.suits(TABLES["pie"]):
            for pair in TABLES["pie"].pairs:
                rows.append(
                    make_row("pie", pair, method.name, printed[pair].get(method.name, 40.0) + 0.1 * place, **more)
                )
    return rows


def shown(grid, width=100, **options):
    console = rich_console.Console(width=width, file=io.StringIO(), highlight=False, markup=False, **options)
    console.print(to_terminal(grid, width=width))
    return console.file.getvalue()


DIGITS = {
    "LPJT": {"MNIST to USPS": 80.0, "USPS to MNIST": 70.0},
    "JDA": {"MNIST to USPS": 60.0, "USPS to MNIST": 75.0},
    "OT": {"MNIST to USPS": 62.5, "USPS to MNIST": 55.0},
}


class Page(html.parser.HTMLParser):
    """Checks that tags are closed in order, and collects the text of cells."""

    VOID = ("meta", "br", "link")

    def __init__(self, text):
        super().__init__()
        self.open, self.cells, self.tags = [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "td" in self.open or "th" in self.open:
            self.cells[-1] += data


def test_ours_stand_beside_the_papers_and_the_better_is_known():
    grid = reproduce_grid(make_rows("digits", DIGITS), "digits", "label-free")
    # Two pairs: the methods are rows, in the order of the list of methods.
    assert (grid.corner, grid.columns) == ("method", ("MNIST to USPS", "USPS to MNIST", "mean"))
    assert [row.name for row in grid.rows] == ["OT", "JDA", "LPJT"]
    by_method = {row.name: row.entries for row in grid.rows}
    assert by_method["JDA"][0] == Entry(60.0, None, 67.28)
    assert [entry.better for entry in by_method["JDA"]] == ["published", "ours", "ours"]
    assert [entry.better for entry in by_method["OT"]] == ["", "", ""]
    assert [entry.best for entry in by_method["LPJT"]] == [True, False, True]
    assert by_method["LPJT"][2].published == pytest.approx((73.33 + 63.60) / 2)
    assert grid.totals == {"mean"}


def test_the_header_names_table_protocol_seeds_and_data():
    grid = reproduce_grid(make_rows("digits", DIGITS, seeds=(0, 1, 2)), "digits", "label-free")
    assert grid.title == TABLES["digits"].title
    assert grid.subtitle[0] == f"table digits; protocol label-free: {PROTOCOLS['label-free']}"
    assert re.fullmatch(r"3 seeds \(0 to 2\); data [0-9a-f]{12}", grid.subtitle[1])
    entry = grid.rows[-1].entries[0]
    assert (entry.ours, entry.deviation) == (81.0, 1.0)
    assert "81.0±1.0" in shown(grid)
    gaps = reproduce_grid(make_rows("digits", DIGITS, seeds=(0, 1, 5)), "digits", "label-free")
    assert gaps.subtitle[1].startswith("3 seeds (0, 1, 5);")
    assert reproduce_grid(make_rows("digits", DIGITS), "digits", "label-free").subtitle[1].startswith("1 seed (0);")


def test_protocols_are_never_mixed_and_the_header_says_which():
    rows = make_rows("digits", DIGITS)
    oracle = [row | {"protocol": "oracle", "key": row["key"] + "o", "accuracy": 99.0} for row in rows]
    grid = reproduce_grid([*rows, *oracle], "digits", "oracle")
    assert {entry.ours for row in grid.rows for entry in row.entries} == {99.0}
    assert "protocol oracle: parameters searched with target labels, as the paper did" in grid.subtitle[0]


def test_many_pairs_are_rows_in_the_papers_order_with_their_mean_last():
    rows = pie_rows()
    grid = reproduce_grid(reversed(rows), "pie", "label-free")
    assert [row.name for row in grid.rows] == [*TABLES["pie"].pairs, "mean"]
    assert [row.total for row in grid.rows] == [False] * 20 + [True]
    assert grid.columns == tuple(name for name, method in METHODS.items() if method.suits(TABLES["pie"]))
    lpjt = grid.columns.index("LPJT")
    assert grid.rows[-1].entries[lpjt].published == pytest.approx(82.36, abs=0.005)


def test_the_mean_of_published_figures_is_over_the_pairs_that_were_run():
    pairs = ("05 to 07", "27 to 09", "29 to 05")
    grid = reproduce_grid(make_rows("pie", {"LPJT": dict.fromkeys(pairs, 90.0)}), "pie", "label-free")
    assert grid.columns == (*pairs, "mean")
    assert grid.rows[0].entries[-1].published == pytest.approx((80.11 + 94.24 + 77.46) / 3)


def test_a_failed_cell_is_called_failed_with_its_message_in_the_notes_and_the_mean_is_marked():
    figures = {"LPJT": dict.fromkeys(TABLES["surf"].pairs, 50.0), "JDA": dict.fromkeys(TABLES["surf"].pairs, 60.0)}
    figures["JDA"] |= dict.fromkeys(("C to A", "A to C", "W to C", "D to C", "D to A"))
    grid = reproduce_grid(make_rows("surf", figures), "surf", "label-free")
    first, mean = grid.rows[0].entries[0], grid.rows[-1].entries[0]
    assert grid.rows[0].name == "C to A"
    assert (first.failed, first.ours, first.published, first.better) == (True, None, 44.78, "")
    assert (mean.ours, mean.mark, mean.best, mean.better) == (60.0, "†", False, "")
    assert grid.rows[-1].entries[1].best is False  # alone it is best of nothing
    assert "JDA failed on C to A, A to C, W to C, D to C and 1 more: ValueError: no rows" in grid.notes
    assert "† JDA: mean of 7 of 12 pairs; without C to A, A to C, W to C, D to C and 1 more." in grid.notes
    for text in (shown(grid), to_markdown(grid), to_html(grid)):
        assert "failed" in text
        assert "60.0†" in text


def test_a_seed_that_failed_is_marked_and_told():
    rows = [
        make_row("digits", "MNIST to USPS", "LPJT", 80.0),
        make_row("digits", "MNIST to USPS", "LPJT", None, seed=1),
    ]
    grid = reproduce_grid(rows, "digits", "label-free")
    assert grid.rows[0].entries == (Entry(80.0, None, 73.33, mark="‡"),)
    assert "LPJT ‡ failed with 1 of 2 seeds on MNIST to USPS: ValueError: no rows" in grid.notes


def test_a_method_not_run_on_a_pair_leaves_a_dash():
    figures = {"LPJT": DIGITS["LPJT"], "JDA": {"MNIST to USPS": 60.0}}
    grid = reproduce_grid(make_rows("digits", figures), "digits", "label-free")
    assert grid.rows[0].entries[1] == Entry(published=59.65)
    assert "– / 59.6" in shown(grid)


def test_sources_and_remarks_are_in_the_notes():
    notes = reproduce_grid(pie_rows(), "pie", "label-free").notes
    assert any(
        note.startswith("Published, SVM (printed as SVMt), SA, GFK, JDA") and "IEEE TIP 2019" in note for note in notes
    )
    assert any("quoted; no second copy confirmed them" in note and "TCA" in note for note in notes)
    assert TABLES["pie"].remark in notes
    amazon = reproduce_grid(make_rows("amazon", {"SA": {"B to D": 79.0}}), "amazon", "label-free")
    assert amazon.notes == ()


def test_wilcoxon_lines_stand_under_the_table():
    grid = reproduce_grid(pie_rows(), "pie", "label-free")
    text = shown(grid)
    assert "LPJT against the others, by Wilcoxon's signed-rank test over pairs (two-sided):" in text
    assert re.search(r"^  SA: +\+3\d\.\d points; 20 wins, 0 ties, 0 losses; p = 1\.9e-06, after Holm \d", text, re.M)
    assert [test.method for test in grid.tests] == [name for name in grid.columns if name != "LPJT"]
    few = reproduce_grid(make_rows("digits", DIGITS), "digits", "label-free")
    line = "LPJT minus each of the others, in points (2 pairs, too few to test): OT +16.2, JDA +7.5."
    assert line in shown(few)
    assert line in to_markdown(few).replace("\\", "")


def test_the_preset_is_tested_where_the_default_was_not_run():
    figures = {"LPJT (paper)": DIGITS["LPJT"], "JDA": DIGITS["JDA"]}
    rows = [row | {"protocol": "published"} for row in make_rows("digits", figures)]
    grid = reproduce_grid(rows, "digits", "published")
    assert grid.ours == "LPJT (paper)"
    assert [test.method for test in grid.tests] == ["JDA"]


def test_visda_is_shown_by_class_and_nothing_is_tested_over_classes():
    rows = [make_row("visda", "train to validation", name, 55.0) for name in ("JDA", "LPJT")]
    grid = reproduce_grid(rows, "visda", "label-free")
    assert (grid.corner, [row.name for row in grid.rows]) == ("class", [*VISDA_CLASSES, "mean"])
    assert grid.rows[-1].entries[0].ours == pytest.approx(55.5)
    assert all(test.p is None for test in grid.tests)


def test_without_rows_the_error_says_what_there_is_and_what_to_run():
    rows = make_rows("digits", DIGITS)
    with pytest.raises(
        ValueError, match=r"No run of the table 'pie' under the protocol 'oracle' is stored. There are "
    ):
        reproduce_grid(rows, "pie", "oracle")
    with pytest.raises(ValueError, match=r"digits \(label-free\). Run `lpjt reproduce pie --protocol oracle`"):
        reproduce_grid(rows, "pie", "oracle")
    with pytest.raises(ValueError, match="Nothing is stored"):
        reproduce_grid([], "pie", "oracle")
    with pytest.raises(ValueError, match=r"There is no protocol 'guess'\. Known: label-free"):
        reproduce_grid(rows, "digits", "guess")
    with pytest.raises(ValueError, match="digits"):
        reproduce_grid(rows, "digit", "label-free")


@pytest.mark.parametrize("width", [80, 100, 120, 200])
@pytest.mark.parametrize("seeds", [(0,), (0, 1)])
def test_the_widest_table_fits_the_terminal_with_every_figure_whole(width, seeds):
    rows = [row for seed in seeds for row in pie_rows(seed=seed)]
    text = shown(reproduce_grid(rows, "pie", "label-free"), width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    n_blocks = text.count("\npair ")
    assert text.count("\n05 to 07 ") == n_blocks
    for method, value in paper_cells("pie")["05 to 07"].items():
        assert method == "SVMt" or f"/ {value:.1f}" in text
    for name, method in METHODS.items():
        if method.suits(TABLES["pie"]):
            assert re.search(rf"^pair.* {re.escape(name)}( |$)", text, re.M)


def test_blocks_of_a_wide_table_are_nearly_equally_wide():
    headings = [
        line
        for line in shown(reproduce_grid(pie_rows(), "pie", "label-free"), 100).splitlines()
        if line.startswith("pair ")
    ]
    counts = [len(re.split(r"\s{2,}", line.strip())) - 1 for line in headings]
    assert len(counts) > 1
    widths = [len(line.rstrip()) for line in headings]
    assert max(widths) - min(widths) <= 20  # a column of "LPJT (landmarks)" and of printed figures
    assert sum(counts) == len([m for m in METHODS.values() if m.suits(TABLES["pie"])])


def test_the_terminal_sets_the_better_in_bold_and_the_best_in_green():
    grid = reproduce_grid(make_rows("digits", DIGITS), "digits", "label-free")
    text = shown(grid, force_terminal=True, color_system="standard", no_color=False)
    line = next(line for line in text.splitlines() if "JDA" in line and "60.0" in line)
    assert re.search(r"\x1b\[1m67\.3", line)
    assert re.search(r"\x1b\[1;32m *75\.0", line)
    assert not re.search(r"\x1b\[1m *60\.0", line)


def test_markdown_marks_the_better_and_the_best_and_escapes_names():
    text = to_markdown(reproduce_grid(make_rows("digits", DIGITS), "digits", "label-free"))
    assert "| method | MNIST to USPS | USPS to MNIST | mean |\n|---|---:|---:|---:|\n" in text
    assert "| JDA | 60.0 / **67.3** | **75.0**★ / 59.6 | **67.5** / 63.5 |" in text
    assert "| OT | 62.5 | 55.0 | 58.8 |" in text
    odd = Grid("a|b*c", ("x_y <z>",), "pair", ("m|n",), (GridRow("[p]", (Entry(1.0),)),), ("`note`",))
    assert to_markdown(odd).startswith("### a\\|b\\*c\n\nx\\_y &lt;z&gt;  \n")
    assert "| pair | m\\|n |" in to_markdown(odd)
    assert "| \\[p\\] | 1.0 |" in to_markdown(odd)
    assert "- \\`note\\`" in to_markdown(odd)


def test_markdown_in_blocks_repeats_the_pairs():
    text = to_markdown(reproduce_grid(pie_rows(), "pie", "label-free"), columns_per_block=6)
    lines = [line for line in text.splitlines() if line.startswith("| 05 to 07")]
    n_methods = len([m for m in METHODS.values() if m.suits(TABLES["pie"])])
    assert len(lines) == -(-n_methods // 6)
    assert sum(line.count("|") - 2 for line in lines) == n_methods


def test_no_block_of_a_markdown_table_is_left_with_a_single_column():
    columns = tuple(f"m{i}" for i in range(19))
    grid = Grid("title", (), "pair", columns, (GridRow("a to b", tuple(Entry(1.0) for _ in columns)),))
    lines = [line for line in to_markdown(grid, columns_per_block=9).splitlines() if line.startswith("| a to b")]
    assert [line.count("|") - 2 for line in lines] == [7, 7, 5]


def test_csv_has_plain_numbers_not_rounded_and_nothing_where_a_run_failed():
    third = 100 / 3
    figures = {
        "LPJT": {"MNIST to USPS": third, "USPS to MNIST": 70.0},
        "OT": {"MNIST to USPS": None, "USPS to MNIST": 50.0},
    }
    grid = reproduce_grid(make_rows("digits", figures, seeds=(0, 1)), "digits", "label-free")
    table = list(csv.DictReader(io.StringIO(to_csv(grid))))
    assert list(table[0])[:4] == ["method", "MNIST to USPS", "MNIST to USPS deviation", "MNIST to USPS published"]
    by_method = {row["method"]: row for row in table}
    assert float(by_method["LPJT"]["MNIST to USPS"]) == third + 0.5
    assert by_method["LPJT"]["MNIST to USPS published"] == "73.33"
    assert by_method["OT"]["MNIST to USPS"] == ""
    assert by_method["OT"]["USPS to MNIST published"] == ""


def test_html_is_one_whole_page_that_escapes_what_it_is_given():
    message = "ValueError: <script>alert('1')</script> & more"
    rows = [*make_rows("digits", DIGITS), make_row("digits", "MNIST to USPS", "SA", None, message=message)]
    grid = reproduce_grid(rows, "digits", "label-free")
    text = to_html([grid, reproduce_grid(pie_rows(), "pie", "label-free")], title="A <b> title")
    page = Page(text)
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; more" in text
    assert "<title>A &lt;b&gt; title</title>" in text
    assert not any("src" in attributes or "href" in attributes for _, attributes in page.tags)
    assert "prefers-color-scheme: dark" in text
    assert 'name="viewport"' in text
    assert [tag for tag, _ in page.tags].count("section") == 2


def test_html_cells_hold_ours_above_the_published_and_mark_both():
    text = to_html(reproduce_grid(make_rows("digits", DIGITS), "digits", "label-free"))
    assert '<td data-value="60.0">60.0<small><b>67.3</b></small></td>' in text
    assert '<td class="best" data-value="75.0"><b>75.0</b><small>59.6</small></td>' in text
    assert '<td data-value="62.5">62.5</td>' in text
    assert "too few pairs" in text


def test_without_published_figures_no_renderer_speaks_of_them():
    grid = reproduce_grid(
        make_rows("amazon", {"SA": {"B to D": 79.0}, "JDA": {"B to D": 80.0}}), "amazon", "label-free"
    )
    for text in (shown(grid), to_markdown(grid), to_html(grid), to_csv(grid)):
        assert "published" not in text
        assert "80.0" in text


def test_transposing_twice_gives_the_grid_back():
    grid = reproduce_grid(pie_rows(), "pie", "label-free")
    assert grid.transposed().transposed("pair") == grid


@pytest.mark.parametrize(("module", "extra", "render"), [("rich", "cli", to_terminal), ("jinja2", "report", to_html)])
def test_a_missing_library_is_named_with_the_remedy(monkeypatch, module, extra, render):
    grid = reproduce_grid(make_rows("digits", DIGITS), "digits", "label-free")
    for name in [name for name in sys.modules if name.split(".")[0] == module]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"`{module}` is needed to .*pip install 'lpjt\[{extra}\]'"):
        render(grid)
