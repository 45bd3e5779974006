"""The audit: what is known fails, what cannot be known is said and does not."""

import json
import re
import subprocess

import pytest

import audit


def answers(monkeypatch, tmp_path, *, stdout="", stderr="", program=True):
    monkeypatch.setattr(audit, "find_program", lambda folder: tmp_path / "pip-audit" if program else None)
    monkeypatch.setattr(
        audit, "run", lambda command, **options: subprocess.CompletedProcess(command, 1, stdout, stderr)
    )
    return audit.main(["--folder", str(tmp_path)])


def said(packages):
    return json.dumps({"dependencies": packages, "fixes": []})


SOUND = {"name": "numpy", "version": "2.4.6", "vulns": []}


def test_a_known_vulnerability_fails(monkeypatch, tmp_path, capsys):
    bad = {"name": "toy", "version": "1.0", "vulns": [{"id": "PYSEC-1"}]}
    assert answers(monkeypatch, tmp_path, stdout=said([SOUND, bad])) == 1
    out = capsys.readouterr().out
    assert "toy 1.0: PYSEC-1" in out
    assert "1 known vulnerabilities in 2 packages" in out


def test_packages_that_could_not_be_judged_are_named(monkeypatch, tmp_path, capsys):
    skipped = {"name": "toy", "skip_reason": "not found"}
    assert answers(monkeypatch, tmp_path, stdout=said([SOUND, skipped])) == 0
    assert "0 known vulnerabilities in 1 packages; not judged: toy." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"stderr": "ERROR: connection refused"}, "no answer.*connection refused"),
        ({"program": False}, "could not be installed"),
        ({"stdout": said([{"name": "toy", "skip_reason": "not found"}])}, "knows none of 1 packages"),
    ],
)
def test_without_an_answer_nothing_is_known_and_nothing_fails(monkeypatch, tmp_path, capsys, given, words):
    assert answers(monkeypatch, tmp_path, **given) == 0
    out = capsys.readouterr().out
    assert "nothing is known" in out
    assert re.search(words, out)


def test_a_service_that_does_not_answer_is_not_waited_for():
    answer = audit.run(["sleep", "5"], seconds=0.1)
    assert answer.returncode == -1
    assert "no answer within" in answer.stderr


def test_every_requirement_of_the_package_is_asked_for():
    found = audit.requirements()
    assert any(requirement.startswith("numpy") for requirement in found)
    assert any(requirement.startswith("typer") for requirement in found)
