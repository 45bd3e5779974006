"""scikit-learn's callbacks, where it has them."""

import pytest
from pages import plain

from lpjt import LPJT

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks since 1.9")


class Listener:
    """Notes what it is told."""

    def __init__(self):
        self.heard = []

    def setup(self, estimator, context):
        self.heard.append(("setup", context.task_name, context.max_subtasks))

    def teardown(self, estimator, context):
        self.heard.append(("teardown", context.task_name, None))

    def on_fit_task_begin(self, estimator, context):
        self.heard.append(("begin", context.task_name, None))

    def on_fit_task_end(self, estimator, context):
        self.heard.append(("end", context.task_name, None))


def test_callbacks_hear_of_the_fit_and_of_each_iteration():
    _, X, y, X_target, _ = plain()
    listener = Listener()
    model = LPJT(random_state=0, candidates=None, max_iter=4, tol=0.0).set_callbacks(listener).fit(X, y, X_target)
    assert listener.heard[:2] == [("setup", "fit", 4), ("begin", "fit", None)]
    assert listener.heard[-2:] == [("end", "fit", None), ("teardown", "fit", None)]
    ends = [name for what, name, _ in listener.heard if what == "end"]
    assert ends.count("iteration") == len(model.history_)


def test_a_failed_fit_is_torn_down():
    listener = Listener()
    with pytest.raises(ValueError, match="y"):
        LPJT().set_callbacks(listener).fit([[1.0]], None)
    _, X, y, X_target, _ = plain()

    def stop(record):
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        LPJT(callback=stop).set_callbacks(listener).fit(X, y, X_target)
    assert listener.heard[-1][0] == "teardown"


def test_the_progress_bar_of_scikit_learn_runs(capsys):
    pytest.importorskip("rich", reason="the progress bar needs rich")
    _, X, y, X_target, _ = plain()
    LPJT(random_state=0, candidates=None).set_callbacks(callback.ProgressBar()).fit(X, y, X_target)
    assert "LPJT" in capsys.readouterr().out
