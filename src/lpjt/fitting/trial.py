"""What came of trying candidates: their labels of a sample of the target, the evidence for them, their consensus."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lpjt._typing import Array, Codes
from lpjt.fitting.held_out import HeldOut
from lpjt.fitting.views import Setting
from lpjt.selection.choice import Ground, Weighed
from lpjt.selection.given import given_noise
from lpjt.selection.scaling import KEPT
from lpjt.selection.shift import believe_distributions, believe_proportions
from lpjt.selection.trust import Facts, estimate_accuracy

#: A fit adapts unless the best unadapted candidate has a score that is higher by more than this.
ADAPT_MARGIN = 0.07

#: Candidates whose scores differ by less are level.
LEVEL = 0.1

#: Domains mix if the mixing of a view reaches this. Where columns shift and class proportions do not, z-scores by each
#: domain's own statistics reach 0.9 and more; where proportions differ too, no view does.
MIXED = 0.85

#: Labels that have fewer votes than those of the consensus by this mean share count less by a factor of e.
CREDIT_UNIT = 0.1


#: For each target: positions of some of its rows, and their values, (n, n_classes).
Lessons = tuple[tuple[Codes, Array], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """Values of sampled rows of the targets, all targets stacked."""

    positions: tuple[Codes | None, ...]  # of the rows of each domain, sources first; None for all rows of the domain
    values: Array  # (n, n_classes)

    def of_targets(self, sizes: Sequence[int]) -> Lessons:
        """For each target, of these numbers of rows: positions of its sampled rows, and their values."""
        last = self.positions[len(self.positions) - len(sizes) :]
        rows = [np.arange(n) if chosen is None else chosen for n, chosen in zip(sizes, last, strict=True)]
        parts = np.split(self.values, np.cumsum([len(part) for part in rows])[:-1])
        return tuple(zip(rows, parts, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """The candidates' labels of the sampled target rows, and the evidence for them."""

    settings: tuple[Setting, ...]
    labellings: Codes  # (m, n)
    ground: Ground
    weighed: Weighed
    sample: tuple[Codes | None, ...]  # positions of the rows of each domain; None for all of its rows
    lesson: Sampled | None = None  # consensus of the sample, and what adapted candidates say of a larger one
    reached: Sampled | None = None  # distributions of the sampled rows that the chosen candidate ended with
    first: "Trial | None" = None  # the round before
    held: HeldOut | None = None  # what the first round says of rows whose label was hidden; None if none is given
    shift: float = 0.0  # how far to believe that the target has other class proportions than the source, in [0, 1]
    mixing: float = 1.0  # how well the domains mix in the view where they mix best, see `ViewFacts`

    def table(self) -> list[dict[str, Any]]:
        """One record per candidate, the best first."""
        w = self.weighed
        records = [
            {
                "candidate": s.name,
                "view": s.view,
                "masses": s.masses,
                "kernel": None if s.kernel is None else s.kernel.function,
                "separation": float(w.separation[i]),
                "reverse": float(w.reverse[i]),
                "kinship": float(w.kinship[i]),
                "clarity": float(w.clarity[i]),
                "agreement": float(w.agreement[i]),
                "found": None if w.found is None else float(w.found[i]),
                "score": float(w.score[i]),
                "weight": float(w.weight[i]),
                "chosen": False,
            }
            for i, s in enumerate(self.settings)
        ]
        records[self.chosen]["chosen"] = True
        return sorted(records, key=lambda record: -record["score"])

    def estimate(self, facts: Facts, n_rows: int) -> tuple[float, float, float]:
        """Accuracy of the labels of `n_rows` rows, and its interval; given labels are checked against it."""
        estimate = estimate_accuracy(facts, self.weighed.consensus.shape[1], n_rows)
        if self.held is None or self.first is None:
            return estimate
        return self.held.update(estimate, self.first.weighed.weight, self.first.weighed.consensus)

    def facts(self, distributions: Sequence[Array]) -> Facts:
        """What the labels of the sampled target rows rest on; `distributions`, (n_j, n_classes), of each target.

        Where there are fewer than two adapted candidates, all others stand in for them.
        """
        w = self.weighed
        labels = self._sampled_labels(distributions)
        adapted = self.labellings[self.is_adapted]
        together = _mean_agreement(adapted) if len(adapted) > 1 else float((self.labellings == labels).mean())
        return Facts(
            agreement=float(w.votes[np.arange(len(labels)), labels].mean()),
            adapted=together,
            certainty=float(w.consensus.max(axis=1).mean()),
            clarity=float(w.clarity[self.chosen]),
            information=float(max(w.separation[self.chosen], w.reverse[self.chosen])),
        )

    def scale_dependence(self, distributions: Sequence[Array]) -> float:
        """How far the class proportions depend on how columns are scaled, in [0, 1].

        Total variation distance between the proportions of the labels and those that classifiers without adaptation
        find with columns scaled by the source's statistics. A target whose columns shifted and one that has other class
        proportions can look the same: the labels of the one are wrong for the other. 0 where they are told apart, by
        given target labels or by a view in which the domains mix, or if there is no such classifier.

        Parameters
        ----------
        distributions : sequence of arrays, (n_j, n_classes)
            Of each target.
        """
        of_source = [s.family != "adapted" and s.view.removesuffix(KEPT) == "source" for s in self.settings]
        if self.held is not None or self.mixing >= MIXED or not any(of_source):
            return 0.0
        n_classes = self.weighed.consensus.shape[1]
        labels = self._sampled_labels(distributions), self.labellings[of_source].ravel()
        found, other = (np.bincount(y, minlength=n_classes) / len(y) for y in labels)
        return float(np.abs(found - other).sum()) / 2

    def belief(self, distributions: Sequence[Array], of_source: Array) -> float:
        """How far to bring distributions to proportions of their own, see `shift_factors`.

        Not at all if the caller named them, or gave target labels: these tell of classes that the votes overlook.
        """
        if (
            self.held is not None
            or self.first is None
            or not {s.masses for s in self.first.settings} >= {"source", "free"}
        ):
            return 0.0
        labels = np.concatenate([F.argmax(axis=1) for F in distributions])
        found = np.bincount(labels, minlength=len(of_source)) / len(labels)
        consent = self.first.weighed.consent
        return believe_distributions(consent) * believe_proportions(found, of_source, consent, len(labels))

    def credit(self, distributions: Sequence[Array]) -> float:
        """How much the labels of the whole fit count, in (0, 1]: 1 if they have as many votes as the consensus'.

        Parameters
        ----------
        distributions : sequence of arrays, (n_j, n_classes)
            Of each target.
        """
        parts = Sampled(self.sample, self.weighed.votes).of_targets([len(F) for F in distributions])
        pairs = zip(distributions, parts, strict=True)
        found = np.concatenate([votes[np.arange(len(rows)), F[rows].argmax(axis=1)] for F, (rows, votes) in pairs])
        return float(np.exp(min(0.0, found.mean() - self.weighed.consent) / CREDIT_UNIT))

    def _sampled_labels(self, distributions: Sequence[Array]) -> Codes:
        """Likeliest classes of the sampled rows, (n,), from distributions of all rows of each target."""
        parts = Sampled(self.sample, self.weighed.consensus).of_targets([len(F) for F in distributions])
        return np.concatenate([F[rows].argmax(axis=1) for F, (rows, _) in zip(distributions, parts, strict=True)])

    def lessons_of(self, sizes: Sequence[int]) -> Lessons:
        """For each target, of these numbers of rows: positions of rows that teach, and their distributions."""
        lesson = self.lesson or Sampled(self.sample, self.weighed.consensus)
        return lesson.of_targets(sizes)

    def reached_of(self, sizes: Sequence[int]) -> Lessons | None:
        """The same of the rows that the chosen candidate labelled last, and its distributions; None without any."""
        return None if self.reached is None else self.reached.of_targets(sizes)

    @property
    def is_adapted(self) -> Any:
        """Whether each candidate adapts, (m,)."""
        return np.array([s.family == "adapted" for s in self.settings])

    @property
    def best_unadapted(self) -> Setting:
        """The best candidate that does not adapt."""
        return self.settings[int(np.where(self.is_adapted, -np.inf, self.weighed.score).argmax())]

    @property
    def adapts(self) -> bool:
        """Whether there is evidence for adaptation."""
        adapted, score = self.is_adapted, self.weighed.score
        if adapted.all() or not adapted.any():
            return bool(adapted.all())
        # A few given labels are no reason not to adapt, as long as chance would explain them.
        margin = ADAPT_MARGIN + (0.0 if self.held is None else given_noise(len(self.held.labels)))
        return bool(score[adapted].max() >= score[~adapted].max() - margin)

    @property
    def chosen(self) -> int:
        """The candidate that is fitted whole: of the adapted ones, or of all if none is adapted, the best.

        Among those whose scores are level, the one that agrees most with the consensus and has the clearest view, by
        the sum of both: a difference of a few rows decides nothing.
        """
        adapted, w = self.is_adapted, self.weighed
        score = np.where(adapted | (not adapted.any()), w.score, -np.inf)
        level = np.flatnonzero(score >= score.max() - LEVEL)
        rows = np.arange(len(w.consensus))
        agreed = [w.consensus[rows, y].mean() for y in self.labellings]
        return int(max(level, key=lambda i: (agreed[i] + w.clarity[i], score[i])))


def _mean_agreement(labellings: Codes) -> float:
    """Mean share of rows on which two of the labellings, (m, n), agree; m is at least 2."""
    pairs = [(one == other).mean() for i, one in enumerate(labellings) for other in labellings[:i]]
    return float(np.mean(pairs))
