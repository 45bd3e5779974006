"""``lpjt bench cluster``: a fit on two worker processes of rows on disk, once undisturbed and once with a loss."""

from pathlib import Path
from typing import Annotated

import typer

from lpjt.commands._bench_screen import bench_console
from lpjt.commands.output import one_line_errors
from lpjt.study.speed.cluster import cluster_sheet, measure_cluster, plan_cluster
from lpjt.study.speed.results import DIRECTORY, open_store, read_result


def cluster(
    rows: Annotated[int, typer.Option(help="Rows per domain.")] = 200_000,
    folder: Annotated[
        Path | None, typer.Option(help="Where rows are written, and deleted afterwards.", exists=True, file_okay=False)
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Directory of the stored measurements.")] = DIRECTORY,
) -> None:
    """Fit rows on disk on two workers of 2 GB, kill one of them in a second fit, and compare the labels."""
    screen = bench_console()
    with one_line_errors():
        task, store = plan_cluster(rows, folder), open_store(output)
        store.append(measure_cluster(task, screen.print))
        result = read_result("cluster", store)
        assert result is not None, "a row was stored just now"
        screen.print(cluster_sheet(result["records"]).to_rich())
        screen.print(task.note)
        screen.print(f"Written: {output}", soft_wrap=True)
