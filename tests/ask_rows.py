"""Rows of the study of asked labels, without a fit."""

from lpjt.study.asking.tasks import COUNTS
from lpjt.study.text import canonical_json


def make_ask_row(task, *, before=60.0, lead=2.0, **figures):
    """A whole row: labels add a tenth of a point each, and `lead` points more if their rows were asked for."""
    records = []
    for n in COUNTS:
        for way in ("asked", "random"):
            after = before + n / 10 + (lead if way == "asked" else 0.0)
            values = {"shared": after, "shared_before": before, "rest": after, "rest_before": before, "all": after + 1}
            estimate = {"estimate": after + 3, "low": after - 1, "high": after + 7}
            records.append({"n": n, "way": way, **values, **estimate, **figures})
    row = task.row_without_result(status="ok", message="", seconds=2.0)
    return row | {"n_target": 300, "accuracy": before, "figures": canonical_json(records), "checksum": "c0ffee"}
