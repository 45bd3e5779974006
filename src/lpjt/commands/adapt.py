"""``lpjt adapt``: label the rows of one file from labelled files."""

from pathlib import Path
from typing import Annotated

import typer

from lpjt.commands._adapt_files import read_inputs
from lpjt.commands._adapt_fit import fit
from lpjt.commands._adapt_json import describe_inputs, describe_run, to_json
from lpjt.commands._adapt_request import Request
from lpjt.commands._adapt_show import show_inputs, show_run
from lpjt.commands._adapt_write import write_results
from lpjt.commands.output import RAW_TEXT_HELP, console, one_line_errors
from lpjt.commands.remedies import as_options
from lpjt.files import SUFFIXES
from lpjt.files.writing import is_stdout
from lpjt.fitting.asking import MOST_ASKED
from lpjt.tables.encoder import STRATEGIES
from lpjt.tables.matching import MATCHES

_FORMATS = "Formats: " + ", ".join(suffix.lstrip(".") for suffix in SUFFIXES) + "."
_SEARCH_HELP = (
    "Choose the parameters without target labels: 10, 20 or the default number of components, a variance weight of "
    "0.1 or 1, propagation by 5 or 15 neighbours. What another option sets is not searched."
)
_OUTPUT_HELP = (
    "File to write: .csv, .tsv, .parquet or .json; - for csv on standard output. Without ids, rows are numbered from 0."
)
_MATCH_HELP = "Match columns by name, by position, or, if they are different features, not at all: different."
_KNOWN_HELP = (
    "File of known target labels: a column of ids, or of row numbers (row), and one of labels; blanks are ignored. May "
    "be repeated."
)
_ASK_HELP = (
    "Write the N rows whose labels would tell most, the first first, with an empty label column. Filled in, the file "
    "goes to --target-labels."
)
_TABLES, _PARAMETERS, _RESULTS = "Tables", "Parameters", "Results"


def _check_choice(context: typer.Context, option: typer.CallbackParam, value: str) -> str:
    known = _CHOICES[option.name or ""]
    if value not in known:
        raise typer.BadParameter(f"{value!r} is not one of {', '.join(known)}.")
    return value


_CHOICES = {"match": MATCHES, "impute": (*STRATEGIES, "none")}


def adapt(
    source: Annotated[Path, typer.Argument(help=f"Labelled file. {_FORMATS}", show_default=False)],
    target: Annotated[Path, typer.Argument(help="File to label.", show_default=False)],
    output: Annotated[Path | None, typer.Option("--output", "-o", help=_OUTPUT_HELP)] = None,
    more: Annotated[
        list[Path] | None, typer.Option("--source", help="A further labelled file; may be repeated.")
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="Label column of the sources; recognised if it has a common name.")
    ] = None,
    target_label: Annotated[
        str | None, typer.Option(help="Column of TARGET with known labels; blank cells are predicted.")
    ] = None,
    target_labels: Annotated[list[Path] | None, typer.Option(help=_KNOWN_HELP)] = None,
    id_column: Annotated[
        str | None, typer.Option("--id", help="Id column of TARGET; recognised if it has a common name.")
    ] = None,
    weight: Annotated[
        str | None, typer.Option(help="Column of the sources with weights of their rows.", rich_help_panel=_TABLES)
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(help="The only columns to use, with commas between; may be repeated.", rich_help_panel=_TABLES),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(help="Columns to leave out, with commas between; may be repeated.", rich_help_panel=_TABLES),
    ] = None,
    match: Annotated[
        str, typer.Option(help=_MATCH_HELP, callback=_check_choice, metavar="HOW", rich_help_panel=_TABLES)
    ] = "name",
    impute: Annotated[
        str,
        typer.Option(
            help="Replace missing numbers by the median, mean or most-frequent of their file; none refuses them.",
            callback=_check_choice,
            metavar="HOW",
            rich_help_panel=_TABLES,
        ),
    ] = "median",
    max_levels: Annotated[
        int, typer.Option(min=1, help="Maximum number of levels of a text column.", rich_help_panel=_TABLES)
    ] = 20,
    sep: Annotated[
        str | None, typer.Option(help="Separator of csv cells, or tab; recognised.", rich_help_panel=_TABLES)
    ] = None,
    decimal: Annotated[
        str | None, typer.Option(help="Decimal mark of csv numbers; recognised.", rich_help_panel=_TABLES)
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(help="Encoding of csv files; UTF-8 by default.", rich_help_panel=_TABLES)
    ] = None,
    sheet: Annotated[
        str | None, typer.Option(help="Sheet of xlsx files: name, or number from 1.", rich_help_panel=_TABLES)
    ] = None,
    n_components: Annotated[
        int | None, typer.Option(help="Dimensions of the shared space.", rich_help_panel=_PARAMETERS)
    ] = None,
    kernel: Annotated[
        str | None,
        typer.Option(help="auto, linear, rbf, poly, cosine, laplacian, chi2 or sigmoid.", rich_help_panel=_PARAMETERS),
    ] = None,
    classifier: Annotated[
        str | None, typer.Option(help="propagation, harmonic, nn or svm.", rich_help_panel=_PARAMETERS)
    ] = None,
    scaling: Annotated[
        str | None,
        typer.Option(help="auto, standard, source, joint, unit, paper or none.", rich_help_panel=_PARAMETERS),
    ] = None,
    proportions: Annotated[
        str | None,
        typer.Option(
            "--target-proportions",
            help="auto, source or free: class masses of the target.",
            rich_help_panel=_PARAMETERS,
        ),
    ] = None,
    candidates: Annotated[
        bool,
        typer.Option(
            "--candidates/--no-candidates",
            help="Try several views, masses and kernels.",
            rich_help_panel=_PARAMETERS,
        ),
    ] = True,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Any parameter of lpjt.LPJT, e.g. max_iter=5 or classifier__n_neighbors=15; may be repeated.",
            rich_help_panel=_PARAMETERS,
        ),
    ] = None,
    search: Annotated[bool, typer.Option("--search", help=_SEARCH_HELP, rich_help_panel=_PARAMETERS)] = False,
    seed: Annotated[int, typer.Option(help="Seed of the random numbers.", rich_help_panel=_PARAMETERS)] = 0,
    trust: Annotated[
        float,
        typer.Option(min=0, max=1, help="Leave rows of less confidence without a label.", rich_help_panel=_RESULTS),
    ] = 0.0,
    proba: Annotated[
        bool,
        typer.Option("--proba", help="Write the probability of each class, too: p_CLASS.", rich_help_panel=_RESULTS),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a summary in JSON, and nothing else.", rich_help_panel=_RESULTS)
    ] = False,
    model_file: Annotated[
        Path | None,
        typer.Option("--model", help="Keep the model in this file, for `lpjt predict`.", rich_help_panel=_RESULTS),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            help="Page to write (.html): what was transferred, how far to trust it, and why.", rich_help_panel=_RESULTS
        ),
    ] = None,
    ask: Annotated[
        int | None, typer.Option(min=1, max=MOST_ASKED, help=_ASK_HELP, metavar="N", rich_help_panel=_RESULTS)
    ] = None,
    ask_file: Annotated[
        Path | None,
        typer.Option(help="File of --ask; labels-ask.csv beside the output labels.csv.", rich_help_panel=_RESULTS),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Show what was found in the files, and stop.", rich_help_panel=_RESULTS),
    ] = False,
    raw_text: Annotated[bool, typer.Option("--raw-text", help=RAW_TEXT_HELP, rich_help_panel=_RESULTS)] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.", rich_help_panel=_RESULTS)] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print warnings and errors only.", rich_help_panel=_RESULTS)
    ] = False,
) -> None:
    """Label the rows of TARGET from the labelled rows of SOURCE."""
    request = Request(**locals())  # the parameters above, and nothing else yet
    screen = console(quiet=request.quiet or request.as_json, stderr=is_stdout(request.output))
    with one_line_errors(say=as_options):
        request.check()
        request.parameters()  # a wrong --set is told before anything is read
        inputs = read_inputs(request)
        show_inputs(screen, request, inputs)
        if request.dry_run or request.output is None:
            if request.as_json:
                print(to_json(describe_inputs(inputs)))
            return
        run = fit(screen, request, inputs)
        written = write_results(run)
    show_run(screen, run)
    if request.as_json:
        print(to_json(describe_run(run)))
    if written:
        screen.print(f"Written: {', '.join(map(str, written))}")
