"""Model files of earlier versions load, and predict what they predicted then."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import keep_models
import lpjt
from lpjt.saving import model_file

DATA = Path(__file__).parent / "data"
FILES = sorted(DATA.glob("*.lpjt"))


def load(path):
    with warnings.catch_warnings():
        # A file stands for what users have: parts of scikit-learn in it are of the version of its day.
        warnings.filterwarnings("ignore", message=".*the model holds parts of scikit-learn", category=UserWarning)
        return lpjt.load(path)


@pytest.mark.filterwarnings("ignore::lpjt.TransferWarning")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_of_an_earlier_version_predicts_as_it_did(path):
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    rows = expected["rows"]
    if isinstance(rows, dict):
        rows = pytest.importorskip("pandas").DataFrame(rows)
    model = load(path)
    given = rows if hasattr(rows, "columns") else np.array(rows)
    assert_array_equal(model.predict(given), expected["labels"])
    # Bit by bit is promised for the same packages alone; sums of other versions differ in their last digits.
    assert_allclose(model.predict_proba(given), expected["distributions"], atol=1e-6)
    assert_array_equal(model.transduction_, expected["transduction"])


def test_every_mode_is_kept_for_every_version():
    versions = {path.stem.partition("-")[0] for path in FILES}
    assert "0.1.0" in versions
    assert {path.stem for path in FILES} == {f"{v}-{mode}" for v in versions for mode in keep_models.MODES}


def test_the_format_of_every_kept_file_is_known():
    for path in FILES:
        assert lpjt.saving.read_model(path)[1]["format_version"] <= model_file.FORMAT_VERSION


def test_kept_files_are_not_written_again(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(keep_models, "MODES", {"equal-widths": keep_models.equal_widths})
    keep_models.main(["--folder", str(tmp_path)])
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    keep_models.main(["--folder", str(tmp_path)])
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert "kept as it is" in capsys.readouterr().out
