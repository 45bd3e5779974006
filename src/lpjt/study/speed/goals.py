"""What the figures must show, and the command that measures each."""

from collections.abc import Callable
from dataclasses import dataclass

from lpjt.study.speed.cluster import AIM_CORES, AIM_MINUTES, AIM_ROWS
from lpjt.study.speed.findings import (
    UNMEASURED,
    Finding,
    Results,
    dense_labels,
    dense_speed,
    disk,
    faster_than,
    full_digits,
    growth,
    of_choice,
    of_cluster,
    of_figure,
    of_neighbors,
    of_passes,
    of_seconds,
    of_times,
    sample,
    search,
    visda_peak,
)
from lpjt.study.speed.others import VERSION
from lpjt.study.speed.plans import LABELS
from lpjt.study.speed.plans_more import FLOOR, SMALL_LABEL
from lpjt.study.speed.sheets import JUDGED

__all__ = ["GOALS", "UNMEASURED", "Goal"]


@dataclass(frozen=True, slots=True)
class Goal:
    """A figure, its limit in words, and how it is read off the results."""

    what: str
    limit: str
    read: Callable[[Results], Finding]
    command: str  # of ``lpjt bench``, that measures it


GOALS: tuple[Goal, ...] = (
    Goal(
        "VisDA's shape, 10 iterations, whole fit, in passes of X'X over both domains",
        "at most 8, aim at 5",
        of_passes("visda", LABELS["visda"], 8),
        "visda",
    ),
    Goal("its peak memory beyond the input, in sizes of the input", "at most 0.3, aim at 0.2", visda_peak, "visda"),
    Goal(
        f"exponent of the time, {JUDGED[0]:,} to {JUDGED[1]:,} rows per domain",
        "at most 1.05, aim at 1",
        growth,
        "growth",
    ),
    Goal(
        "1,000,000 rows per domain, seconds and memory",
        "at most 240 s and 3 GB, aim at 120 s",
        of_seconds(LABELS["growth"].format(1_000_000), 240, 3e9),
        "growth",
    ),
    Goal(
        "345 classes, 34,500 rows per domain, seconds",
        "at most 30, aim at 15",
        of_seconds(LABELS["classes"], 30),
        "growth",
    ),
    Goal(
        "PIE 05 to 07, 100 components, 10 iterations, in passes of X'X",
        "at most 40, aim at 25",
        of_passes("pie", "PIE 05 to 07", 40),
        "pie",
    ),
    Goal(
        "candidates, in fits of one setting: faces, poses 05 and 07",
        "at most 2.5",
        of_choice("pie", "PIE 05 to 07", 2.5),
        "pie",
    ),
    Goal(
        "candidates, in fits of one setting: 152,397 and 55,388 rows of 2,048 columns",
        "at most 1.2",
        of_choice("visda", LABELS["visda"], 1.2),
        "visda",
    ),
    Goal("faster than the dense transcription, 4,000 rows per domain", "at least 100 times", dense_speed, "peers"),
    Goal(
        "rows labelled as by the dense transcription, 4,000 rows per domain",
        "at least 99 %",
        dense_labels,
        "peers",
    ),
    Goal(
        "faster than skada's TCA, 2,000 and 4,000 rows per domain",
        "above 1 at both",
        faster_than("skada TCA"),
        "peers",
    ),
    Goal(
        "faster than a primal JDA, 2,000 and 4,000 rows per domain",
        "above 1 at both",
        faster_than("primal JDA"),
        "peers",
    ),
    Goal(
        "4,000 + 4,000 x 256, in fits of the JDA of lpjt.baselines, with LPJT's own moments and one nearest neighbour",
        "below 1",
        of_times("peers", "LPJT", "lpjt.baselines JDA", 1, 4000),
        "peers",
    ),
    Goal(
        "a million rows per domain, in times of faiss's cells and 15 neighbours",
        "at most 3, aim at 2",
        of_times("floor", "LPJT", FLOOR, 3, 1_000_000),
        "floor",
    ),
    Goal(
        "200 + 200 x 50 with candidates, seconds",
        "at most 0.3, aim at 0.15",
        of_figure("small", "seconds", 0.3, " s", label=SMALL_LABEL),
        "small",
    ),
    Goal(
        "`lpjt --version` beyond Python's start, seconds",
        "at most 0.15",
        of_figure("small", "beyond", 0.15, " s", label=VERSION),
        "small",
    ),
    Goal(
        "predict of a million new rows, in embeddings and one search",
        "at most 2",
        of_figure("predict", "ratio", 2, " times", size=1_000_000),
        "predict",
    ),
    Goal("20 GB on disk within memory_limit='2GB', memory in use", "at most 2 GB", disk, "disk"),
    Goal(
        "accuracy that approximate neighbours cost on digits, points",
        "mean under 0.5",
        of_neighbors("digits", "digits-full"),
        "neighbors --full",
    ),
    Goal(
        "accuracy that approximate neighbours cost on PIE, points",
        "mean under 0.5",
        of_neighbors("pie"),
        "neighbors",
    ),
    Goal("accuracy that learning on a sample costs, points", "within 0.5 at each size", sample, "sample"),
    Goal("a search among 30 settings, 2,000 rows per domain, in fits", "at most 6", search, "search"),
    Goal("full MNIST to full USPS (70,000 and 9,298 rows), seconds", "under 60", full_digits, "neighbors --full"),
    Goal(
        "two workers of 2 GB, rows in zarr: share of the true neighbours found",
        "at least 0.95",
        of_cluster(lambda r: f"{r['recall'] or 0:.3f}", lambda r: (r["recall"] or 0) >= 0.95),
        "cluster",
    ),
    Goal(
        "two workers, labels after the loss of one: equal to those without",
        "all",
        of_cluster(lambda r: f"{r['equal_labels']:.4g} %", lambda r: r["equal_labels"] == 100),
        "cluster",
    ),
    Goal(
        "two workers, memory of the larger one",
        "at most 2 GB",
        of_cluster(lambda r: f"{r['worker_bytes'] / 1e9:.2f} GB", lambda r: r["worker_bytes"] <= 2e9),
        "cluster",
    ),
    Goal(
        f"{AIM_ROWS:,} rows on {AIM_CORES} cores, minutes by the processor time of the workers",
        f"at most {AIM_MINUTES}",
        of_cluster(
            lambda r: f"{r['aimed_cpu_seconds'] / 60:.0f} min", lambda r: r["aimed_cpu_seconds"] <= 60 * AIM_MINUTES
        ),
        "cluster",
    ),
)
