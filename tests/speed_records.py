"""Records of speed measurements as if measured, and the command that measures them."""

import pytest

from lpjt.study.speed import goals
from lpjt.study.speed.results import Measurement, open_store

pytest.importorskip("typer", reason="the command line is an extra")
from typer.testing import CliRunner

from lpjt.cli import build_app


def fit_record(label="", method="LPJT", size=0, **more):
    record = {
        "label": label, "method": method, "size": size, "status": "ok", "message": "", "n_source": size,
        "n_target": size, "width": 256, "n_classes": 10, "dtype": "float32", "input_bytes": 2048 * size,
        "pass_seconds": 0.5, "seconds": 5.0, "passes": 10.0, "peak_bytes": 1000 * size, "peak_share": 0.25,
        "accuracy": 87.65, "unadapted_accuracy": 65.4, "n_iter": 10, "adapted": True,
        "stages": {"objective": 2.0, "labels": 1.0},
    }  # fmt: skip
    return record | more


def result_of(name, records):
    return {"bench": name, "note": "A note.", "records": records}


def write_result(result, directory):
    """Store the records of a result, as if measured."""
    store = open_store(directory)
    for place, record in enumerate(result["records"]):
        names = {"label": record["label"], "method": record["method"], "size": record["size"]}
        task = Measurement(**names, data={}, bench=result["bench"], place=place, note=result["note"])
        store.append(task.row({name: value for name, value in record.items() if name not in names}))
    return store


def failure(label, status, **more):
    return {"label": label, "method": "LPJT", "size": 0, "status": status, "message": "why", "seconds": None, **more}


def finding(what, **results):
    (goal,) = [goal for goal in goals.GOALS if what in goal.what]
    return goal.read(results)


def run(*arguments):
    return CliRunner().invoke(build_app(), ["bench", *map(str, arguments)])


def pretend(monkeypatch, records):
    """Let a bench come out with these records."""

    def run_tasks(tasks, store, **_):
        for task, record in zip(tasks, records, strict=True):
            store.append(task.row({name: record[name] for name in record if name not in ("label", "method", "size")}))

    monkeypatch.setattr("lpjt.study.speed.run.run_tasks", run_tasks)
