"""Without torch methods can be made and described, and a fit names the remedy; only the deep room loads it."""

import subprocess
import sys

import pytest
from deep_toys import moved_clusters
from sklearn.base import clone

from lpjt import deep


@pytest.mark.parametrize("name", deep.__all__)
def test_a_fit_without_torch_names_the_remedy(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    model = clone(getattr(deep, name)(hidden=7))
    assert model.get_params()["hidden"] == 7
    assert name in repr(model)
    X, y, X_target, _ = moved_clusters()
    with pytest.raises(
        ImportError, match=r"`torch` is needed for lpjt.deep. Install it with `pip install 'lpjt\[deep\]'`"
    ):
        model.fit(X, y, X_target)


def test_importing_the_room_does_not_import_torch():
    code = "import sys, lpjt.deep; lpjt.deep.DANN(); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_deepjdot_without_pot_names_the_remedy(monkeypatch):
    pytest.importorskip("torch", reason="the deep methods need torch")
    monkeypatch.setitem(sys.modules, "ot", None)
    X, y, X_target, _ = moved_clusters()
    with pytest.raises(ImportError, match=r"`POT` is needed for DeepJDOT. Install it with `pip install 'lpjt\[ot\]'`"):
        deep.DeepJDOT().fit(X, y, X_target)
