"""The matrix of environments: the bounds it pins, the interpreters it finds, and what it says when one is missing."""

import pytest

import matrix


def test_requirements_are_pinned_to_their_lower_bounds():
    assert matrix.lower_bounds(["numpy>=1.26", "dask[array, distributed]>=2024.8"]) == ["numpy==1.26", "dask==2024.8"]
    with pytest.raises(SystemExit, match=r"'numpy' in pyproject\.toml has no lower bound"):
        matrix.lower_bounds(["numpy"])


def test_every_requirement_of_the_project_has_a_lower_bound():
    requirements, oldest = matrix.read_project()
    pinned = matrix.lower_bounds(requirements)
    assert {one.partition("==")[0] for one in pinned} >= {"numpy", "scipy", "scikit-learn", "faiss-cpu"}
    assert oldest >= (3, 11)


def test_this_interpreter_is_found_and_a_program_that_only_looks_like_one_is_not(tmp_path, monkeypatch):
    fake = tmp_path / "python3.12"
    fake.write_text("#!/bin/sh\necho 'not installed' >&2; exit 127\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "none"))
    assert str(fake) not in map(str, matrix.find_pythons((3, 11)).values())


def test_what_cannot_be_made_is_said_and_the_others_go_on(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(matrix, "find_pythons", lambda oldest: {oldest: tmp_path / "python"})
    monkeypatch.setattr(matrix, "make_environment", lambda *given: "ERROR: No matching distribution found for numpy")
    code = matrix.main(["--folder", str(tmp_path)])
    out = capsys.readouterr().out
    assert code == 1  # nothing could be run
    assert out.count("not run: ") == 3
    assert "No matching distribution" in out
    assert "no newer Python than 3.11" in out


def test_a_failing_room_fails_and_one_that_is_missing_does_not(tmp_path, monkeypatch, capsys):
    codes = {"oldest": 0, "newest": 1, "newest-python": None}
    monkeypatch.setattr(
        matrix, "run_cell", lambda cell, folder, **options: matrix.Result(cell.name, "3", "", "", codes[cell.name])
    )
    assert matrix.main(["oldest", "newest-python"]) == 0
    assert matrix.main([]) == 1
    with pytest.raises(SystemExit):
        matrix.main(["eldest"])
    assert "'eldest' is no cell" in capsys.readouterr().err
