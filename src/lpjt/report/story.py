"""The first screen in plain words: what was transferred, how far to trust it, what to worry about."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lpjt.report.checks import Checked
from lpjt.report.doubt import Confidence
from lpjt.report.rows import DomainRows
from lpjt.report.shift import FarRows, Shifts
from lpjt.report.text import clean, count, listing, percent
from lpjt.selection.trust import LOW_ACCURACY, OTHER_PROPORTIONS

#: From this estimated accuracy on, labels are called good.
GOOD = 0.85

#: An interval of more than this width is called wide; a share of rows above this is worth a line.
WIDE, MANY = 0.3, 0.05

#: Parts of the evidence that differ by less than this are taken to be equal.
CLOSE = 0.005

#: Distance of the distributions of a column above which its two histograms hardly overlap.
APART = 0.8


@dataclass(frozen=True, slots=True)
class Worry:
    """Something that a reader should know before using the labels."""

    level: str  # "stop", "check" or "note"
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The estimate in a few words."""

    level: str  # "good", "check", "stop" or "none"
    title: str
    text: str


def give_verdict(model: Any) -> Verdict:
    """How far to trust the labels."""
    accuracy = model.estimated_accuracy_
    if accuracy is None:
        return Verdict("none", "No target", "There was no target to label, so only the source was learned.")
    wrong = max(1, round(100 * (1 - accuracy)))
    expected = f"About {wrong} of 100 labels are expected to be wrong."
    if accuracy >= GOOD:
        return Verdict("good", "The labels look good", f"{expected} Look at the doubtful rows before you rely on all.")
    if accuracy >= LOW_ACCURACY:
        return Verdict("check", "Useful, with care", f"{expected} Use the sure rows, and check the doubtful ones.")
    return Verdict("stop", "Do not rely on them yet", f"{expected} Label a few target rows by hand and fit again.")


def how_labelled(model: Any) -> str:
    """The first sentence of the summary: the others are told by the verdict and by the worries."""
    return str(model.summary_).partition(". ")[0].rstrip(".") + "."


def find_worries(
    model: Any,
    domains: Sequence[DomainRows],
    *,
    confidence: Confidence | None = None,
    shifts: Shifts | None = None,
    far: FarRows | None = None,
    checked: Checked | None = None,
) -> list[Worry]:
    """What deserves attention, the gravest first; empty if nothing stands out."""
    if model.transduction_ is None:
        return []
    worries = [
        *_of_trust(model, domains),
        *_of_classes(model, domains),
        *_of_rows(confidence, far, checked),
        *_of_columns(shifts),
        *_of_fit(model),
    ]
    grave = {"stop": 0, "check": 1, "note": 2}
    return sorted(worries, key=lambda worry: grave[worry.level])


def _of_trust(model: Any, domains: Sequence[DomainRows]) -> list[Worry]:
    found = []
    low, high = model.estimated_accuracy_interval_
    if len({d.width for d in domains}) > 1 and not any(d.given.any() for d in domains if not d.is_source):
        text = (
            "No target label was given to the report. If the fit had none either, its first labels were guessed from "
        )
        text += "the shapes of the domains; a few labels per class help most."
        found.append(Worry("check", "Different columns", text))
    if high - low > WIDE:
        text = f"The true accuracy may be anywhere between {percent(low)} and {percent(high)}."
        found.append(Worry("check", "The estimate is vague", text))
    if "candidates disagree" in model.summary_:
        sentence = next(part for part in model.summary_.split(". ") if "candidates disagree" in part)
        text = f"{sentence.rstrip('.')}. Labels that depend on the method are not settled by the data."
        found.append(Worry("check", "The methods disagree", text))
    return found


def _of_classes(model: Any, domains: Sequence[DomainRows]) -> list[Worry]:
    found = []
    absent = [clean(label, 24) for label in model.absent_classes_]
    if absent:
        which = "this label" if len(absent) == 1 else "one of these labels"
        text = f"{listing(absent)}: hardly any target row got {which}. Right only if the target lacks such rows."
        found.append(Worry("check", count(len(absent), "class seems absent", "classes seem absent"), text))
    of_source = source_proportions(domains, len(model.classes_))
    if of_source is not None and model.target_proportions_ is not None:
        distance = float(np.abs(model.target_proportions_ - of_source).sum()) / 2
        if distance > OTHER_PROPORTIONS:
            text = f"{percent(distance)} of the rows would have to change class to have the source's proportions."
            found.append(Worry("note", "Other class proportions", text))
    return found


def source_proportions(domains: Sequence[DomainRows], n_classes: int) -> np.ndarray | None:
    """Share of each class among the labelled source rows, (n_classes,); None if no labels are given."""
    codes = [d.codes[d.codes >= 0] for d in domains if d.is_source and d.codes is not None]
    if not codes or not sum(map(len, codes)):
        return None
    counts = np.bincount(np.concatenate(codes), minlength=n_classes)
    return np.asarray(counts / counts.sum())


def _of_rows(confidence: Confidence | None, far: FarRows | None, checked: Checked | None) -> list[Worry]:
    found = []
    if checked is not None and checked.n_foreign:
        text = f"{count(checked.n_foreign, 'checked row')} belong to a class that no source has, and cannot be right."
        found.append(Worry("check", "Classes unknown to the source", text))
    if confidence is not None:
        doubtful = confidence.n_rows - confidence.kept[0].n_rows
        if doubtful > MANY * confidence.n_rows:
            share = percent(doubtful / confidence.n_rows)
            text = f"{count(doubtful, 'row')} ({share}) have a confidence below one half."
            found.append(Worry("note", "Rows in doubt", text))
    if far is not None and far.n_far > MANY * far.n_rows:
        text = f"{percent(far.n_far / far.n_rows)} of the target rows are farther from any source row than is usual."
        found.append(Worry("note", "Rows unlike the source", text))
    return found


def _of_columns(shifts: Shifts | None) -> list[Worry]:
    apart = [] if shifts is None else [clean(c.name, 24) for c in shifts.columns if c.distance > APART]
    if not apart:
        return []
    text = f"{listing(apart, 3)}: source and target hardly overlap. Is it the same quantity, in the same unit?"
    return [Worry("check", "Columns far apart", text)]


def _of_fit(model: Any) -> list[Worry]:
    found = []
    if not model.adapted_:
        text = "The evidence was against it: the labels come from the source as it is."
        found.append(Worry("note", "No adaptation was used", text))
    history = model.history_
    n_target = sum(len(labels) for labels in _values(model.transduction_))
    moving = history[-1]["n_changed"] if history else 0
    if model.adapted_ and moving > model.tol * n_target:
        text = f"{count(moving, 'label')} still changed in the last iteration; a larger max_iter may settle them."
        found.append(Worry("note", "Still moving", text))
    return found


def _values(given: Any) -> list[Any]:
    return list(given.values()) if isinstance(given, dict) else [given]


def explain_choice(candidates: Sequence[dict[str, Any]], *, adapted: bool = True) -> str:
    """Why the chosen candidate was chosen, or why none of the adapted ones was."""
    if candidates and not adapted:
        return "Hardly any of the evidence speaks for adaptation, so the labels are those of the source as it is."
    chosen = next((one for one in candidates if one["chosen"]), None)
    if chosen is None:
        return ""
    words = f"{name_candidate(chosen)} was chosen out of {len(candidates)}: of the candidates that adapt, the evidence "
    words += "for it is the best."
    others = [one for one in candidates if one["candidate"] != chosen["candidate"]]
    if not others:
        return words
    rival = max(others, key=lambda one: one["score"])
    words += f" The best without adaptation is {name_candidate(rival)}, with a score of {rival['score']:.2f} against "
    words += f"{chosen['score']:.2f}."
    ahead = [said for part, said in _PARTS.items() if chosen[part] > rival[part] + CLOSE]
    if ahead:
        return f"{words} The chosen one is ahead in {' and '.join(ahead[:2])}."
    return f"{words} The two are close, and both take part in the labels."


def name_candidate(record: dict[str, Any]) -> str:
    """A candidate in a few words."""
    details = [_VIEWS.get(record["view"], str(record["view"]))]
    if record["kernel"]:
        details.append(f"{record['kernel']} kernel")
    if record["masses"]:
        details.append({"source": "the source's class masses", "free": "free class masses"}.get(record["masses"], ""))
    return f"{record['candidate']} ({', '.join(filter(None, details))})"


_VIEWS = {
    "standard": "each domain scaled by itself",
    "standard-length": "each domain scaled by itself, lengths kept",
    "source-length": "scaled as the source, lengths kept",
    "joint-length": "scaled together, lengths kept",
    "source": "scaled as the source",
    "joint": "scaled together",
    "unit": "rows of unit length",
    "none": "not scaled",
    "paper": "scaled as in the paper",
}
_PARTS = {
    "separation": "how far the label of a near target row tells a row's own",
    "reverse": "how well its labels predict the source back",
    "kinship": "how well its view joins the domains",
    "clarity": "how well its view tells the source's classes apart",
    "agreement": "how many candidates agree with it",
}
