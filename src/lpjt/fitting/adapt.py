"""Algorithm 1 on validated domains, and which of its passes to return."""

from dataclasses import replace

import numpy as np

from lpjt.core.alternation import Clock
from lpjt.fitting.plan import Outcome, Plan
from lpjt.fitting.start import GUESS
from lpjt.fitting.trial import begin_trial
from lpjt.fitting.unadapted import all_distributions, keep_first_labels, keep_unshifted
from lpjt.selection import plain
from lpjt.selection.evidence import effective_classes
from lpjt.selection.scaling import Scalings, choose_scaling

#: An earlier pass is preferred to the last one when its evidence is better by so much; less is noise.
MARGIN = 0.01

#: Labels whose effective number of classes is below this share of that of the first labels have collapsed.
COLLAPSED = 0.5


def adapt(domains, plan: Plan, on_record=None) -> Outcome:
    """Fit domains that came through the door.

    Parameters
    ----------
    domains : Domains
        With at least one target.
    plan : Plan
    on_record : callable, optional
        Called with each pass's record.

    Returns
    -------
    Outcome
    """
    clock, scalings = Clock(), Scalings(domains)
    if plan.safeguard:
        unshifted = plain.find_unshifted(domains, scalings.of_sources, random_state=plan.random_state)
        clock.lap("shift")
        if unshifted is not None:
            return replace(keep_unshifted(domains, plan, unshifted), seconds=clock.laps)
    kind = choose_scaling(domains, plan.scalings, scalings)
    clock.lap("scaling")
    trial = begin_trial(domains, plan, kind, scalings.of(kind), clock)
    steady = drive(trial, plan, sum(len(F) for F in trial.start), on_record)
    for record in trial.records:
        clock.add(record["seconds"])
    clock.skip()
    outcome = _finish(trial, plan, steady)
    clock.lap("predictor")
    return replace(outcome, seconds=clock.laps)


def drive(trial, plan, n_target, on_record):
    """Pass until labels and weights are steady or the passes are used up; return whether they were steady."""
    while True:
        state = trial.advance()
        if on_record is not None:
            on_record(trial.records[-1])
        if state.n_changed <= plan.tol * n_target and state.weight_change <= max(plan.tol, 1e-2):
            return True
        if state.n_iter >= plan.max_iter:
            return False


def _finish(trial, plan, steady):
    n_iter = len(trial.records)
    state = _best_pass(trial) if plan.safeguard else trial.last
    messages = [GUESS] if trial.guessed else []
    if state is not trial.last:
        classes = tuple(effective_classes(np.vstack(F)) for F in (trial.start, trial.last.distributions))
        messages.append(explain(trial.records, state, classes))
    shared: dict = {"history": trial.records, "messages": messages, "n_iter": n_iter}
    if state is None:
        return keep_first_labels(trial, plan, shared)
    Z, y = np.vstack(state.embeddings), np.concatenate(trial.problem.labels)
    Y = all_distributions(trial.problem, state.distributions)
    return Outcome(
        coordinates=trial.maps,
        projections=state.projections,
        predictor=plan.classifier.freeze(Z, y, np.concatenate(state.weights), Y),
        distributions=state.distributions,
        weights=state.weights,
        adapted=True,
        scaling=trial.scaling,
        n_changed=None if steady or state is not trial.last else state.n_changed,
        **shared,
    )


def _best_pass(trial):
    """The pass to return: the last, one with better evidence, or None where even that one has collapsed.

    The start is not compared by evidence: its labels come from the very rows by which the evidence is weighed.
    """
    chosen = trial.best if max(trial.totals) - trial.totals[-1] > MARGIN else trial.last
    first = effective_classes(np.vstack(trial.start))
    left = effective_classes(np.vstack(chosen.distributions))
    return None if left < COLLAPSED * first else chosen


def explain(records, chosen, classes):
    """What went wrong after the chosen pass, or after the start where it is None.

    `classes` are the effective numbers of classes of the first and of the last labels.
    """
    last = records[-1]
    facts, name = [], "the start, before any adaptation"
    if chosen is None:
        facts.append(f"the effective number of classes fell from {classes[0]:.1f} to {classes[1]:.1f}")
    else:
        before, name = records[chosen.n_iter - 1], f"pass {chosen.n_iter}"
        facts.append(f"the evidence fell from {before['evidence']:.3f} to {last['evidence']:.3f}")
        if last["n_classes"] < before["n_classes"]:
            facts.append(f"the labels fell from {before['n_classes']} to {last['n_classes']} classes")
        if last["objective"] > before["objective"]:
            facts.append(f"the objective rose from {before['objective']:.4g} to {last['objective']:.4g}")
    return (
        f"Adaptation got worse after {name}: {', '.join(facts)} by pass {last['n_iter']}. The labels of {name} are "
        "returned. A smaller locality_weight or more propagation_neighbors may keep it from collapsing."
    )
