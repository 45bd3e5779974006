"""Algorithm 1 on validated domains, and which of its passes to return."""

import numpy as np

from lpjt.fitting.plan import Outcome, Plan
from lpjt.fitting.start import GUESS
from lpjt.fitting.trial import Trial, begin_trial, n_classes_left
from lpjt.fitting.unadapted import all_distributions, keep_first_labels, keep_unshifted
from lpjt.selection import plain
from lpjt.selection.evidence import effective_classes
from lpjt.selection.scaling import choose_scaling

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
    if plan.safeguard:
        unshifted = plain.find_unshifted(domains, random_state=plan.random_state)
        if unshifted is not None:
            return keep_unshifted(domains, plan, unshifted)
    trial = begin_trial(domains, plan, choose_scaling(domains, plan.scalings))
    steady = _drive(trial, plan, on_record)
    return _finish(trial, plan, steady)


def _drive(trial: Trial, plan, on_record):
    """Pass until labels and weights are steady or the passes are used up; return whether they were steady."""
    n_target = sum(len(F) for F in trial.start)
    done = 0
    while True:
        if on_record is not None and done < len(trial.states):
            on_record(trial.record(done + 1))
        done = len(trial.states)
        if done:
            state = trial.states[-1]
            if state.n_changed <= plan.tol * n_target and state.weight_change <= max(plan.tol, 1e-2):
                return True
            if done >= plan.max_iter:
                return False
        trial.advance()


def _finish(trial, plan, steady):
    last = len(trial.states)
    chosen = _best_pass(trial) if plan.safeguard else last
    messages = [GUESS] if trial.guessed else []
    if chosen != last:
        messages.append(_explain(trial, chosen))
    shared: dict = {
        "history": [trial.record(n_iter) for n_iter in range(1, last + 1)],
        "messages": messages,
        "n_iter": last,
    }
    if chosen == 0:
        return keep_first_labels(trial, plan, shared)
    state = trial.states[chosen - 1]
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
        n_changed=None if steady or chosen != last else state.n_changed,
        **shared,
    )


def _best_pass(trial):
    """Number of the pass to return: the last, one with better evidence, or 0 where even that one has collapsed.

    The start is not compared by evidence: its labels come from the very rows by which the evidence is weighed.
    """
    totals = [e.total for e in trial.evidences]
    chosen = int(np.argmax(totals)) + 1
    if totals[chosen - 1] - totals[-1] <= MARGIN:
        chosen = len(totals)
    first = effective_classes(np.vstack(trial.start))
    left = effective_classes(np.vstack(trial.states[chosen - 1].distributions))
    return 0 if left < COLLAPSED * first else chosen


def _explain(trial, chosen):
    """What went wrong after the chosen pass."""
    last = trial.states[-1]
    facts, name = [], "the start, before any adaptation"
    if chosen:
        before, name = trial.states[chosen - 1], f"pass {chosen}"
        facts.append(
            f"the evidence fell from {trial.evidences[chosen - 1].total:.3f} to {trial.evidences[-1].total:.3f}"
        )
        if n_classes_left(last) < n_classes_left(before):
            facts.append(f"the labels fell from {n_classes_left(before)} to {n_classes_left(last)} classes")
        if last.objective > before.objective:
            facts.append(f"the objective rose from {before.objective:.4g} to {last.objective:.4g}")
    else:
        first, left = (effective_classes(np.vstack(F)) for F in (trial.start, last.distributions))
        facts.append(f"the effective number of classes fell from {first:.1f} to {left:.1f}")
    return (
        f"Adaptation got worse after {name}: {', '.join(facts)} by pass {last.n_iter}. The labels of {name} are "
        "returned. A smaller locality_weight or more propagation_neighbors may keep it from collapsing."
    )
