"""Candidates without some of the given target labels: what they say of rows whose label is hidden from them."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace

import numpy as np

from lpjt._threads import map_threads
from lpjt._typing import Array, Codes
from lpjt.classifiers import temper
from lpjt.domains import Domains
from lpjt.fitting.plan import Plan
from lpjt.fitting.views import View, label_problems
from lpjt.selection.choice import vote_shares
from lpjt.selection.given import split_given, update_estimate
from lpjt.selection.trust import find_temperature


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """Answers of the candidates of the first round for target rows with a label, which was hidden from them."""

    rows: Codes  # (g,) positions among the stacked target rows of the sample
    labels: Codes  # (g,) the given labels
    answers: Codes  # (m, g)

    def update(
        self, estimate: tuple[float, float, float], weights: Array, consensus: Array
    ) -> tuple[float, float, float]:
        """An estimate of the accuracy, moved by how far the consensus finds hidden labels as often as it claims.

        Parameters
        ----------
        estimate : tuple of float
            As in `update_estimate`.
        weights : array, (m,)
            Of the candidates in the consensus.
        consensus : array, (n, n_classes)
            Of all sampled target rows, with all labels given.
        """
        hidden = vote_shares(self.answers, weights, consensus.shape[1])
        others = np.delete(consensus, self.rows, axis=0)
        temperature = find_temperature([others], estimate[0], temper)
        claimed = temper(hidden, temperature).max(axis=1)
        return update_estimate(estimate, hidden.argmax(axis=1) == self.labels, claimed)


def hold_out(few: Domains, plan: Plan, views: Sequence[View]) -> HeldOut | None:
    """Label the sample again, once for each half of the given target labels, with that half hidden.

    Coordinates and neighbours, most of the cost of the first round, are those of the views.

    Parameters
    ----------
    few : Domains
        The sample of the first round.
    plan : Plan
        Of the candidates of the first round.
    views : sequence of View
        With the candidates that were given all labels.

    Returns
    -------
    HeldOut or None
        None if no target label is given, or if the candidates are others without some of them.
    """
    ends = np.cumsum([d.X.shape[0] for d in few.targets])[:-1]
    y = np.concatenate([d.y for d in few.targets])
    parts, answers = split_given(y), []
    # Each view has random numbers of its own, so that the threads do not share a generator. They are drawn from a copy:
    # what is drawn later does not depend on whether labels are given.
    seeds = deepcopy(plan.random_state).randint(2**31 - 1, size=len(views))
    for rows in parts:
        left = y.copy()
        left[rows] = -1
        targets = [d.with_rows(d.X, labels, None) for d, labels in zip(few.targets, np.split(left, ends), strict=True)]
        hidden = replace(few, targets=tuple(targets))
        again = map_threads(
            lambda job, hidden=hidden: label_problems(  # type: ignore[misc]
                job[0], hidden, replace(plan, random_state=np.random.RandomState(job[1]))
            ),
            list(zip(views, seeds, strict=True)),
        )
        if any(new.settings != old.settings for new, old in zip(again, views, strict=True)):
            return None
        answers.append(np.array([labels[rows] for view in again for labels in view.labellings]))
    if not parts:
        return None
    rows = np.concatenate(parts)
    return HeldOut(rows, y[rows], np.hstack(answers))
