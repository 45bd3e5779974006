"""Algorithm 1 on validated domains in memory, and which of its iterations to return."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from lpjt.classifiers import Averaged, Predictor, Projected, Propagation, Reweighted
from lpjt.core.alternation import Clock, State
from lpjt.domains import Domains
from lpjt.fitting.candidate import Candidate, begin_candidate, row_weights
from lpjt.fitting.candidates import try_candidates
from lpjt.fitting.certificates import doubts_of
from lpjt.fitting.plan import Outcome, Plan, settle_lengths
from lpjt.fitting.refine import calibrate, refine_labels
from lpjt.fitting.start import GUESS
from lpjt.fitting.trial import Trial
from lpjt.fitting.unadapted import all_distributions, keep_consensus, keep_first_labels, keep_unshifted
from lpjt.selection.evidence import effective_classes
from lpjt.selection.scaling import Scalings, choose_scaling
from lpjt.selection.unshifted import find_unshifted

OnRecord = Callable[[dict[str, Any]], None]

#: An earlier iteration is preferred to the last one if its evidence is better by this margin; less is noise.
MARGIN = 0.01

#: Labels whose effective number of classes is below this share of that of the first labels have collapsed.
COLLAPSED = 0.5


def adapt(domains: Domains, plan: Plan, on_record: OnRecord | None = None) -> Outcome:
    """Fit validated domains and estimate how far to trust the labels; arguments as for `_adapt`."""
    return calibrate(_adapt(domains, plan, on_record), domains)


def _adapt(domains: Domains, plan: Plan, on_record: OnRecord | None = None) -> Outcome:
    """Fit validated domains, all of whose rows are in memory or can be read in blocks.

    Parameters
    ----------
    domains : Domains
        With at least one target.
    plan : Plan
    on_record : callable, optional
        Called with the record of each iteration.

    Returns
    -------
    Outcome
    """
    clock, scalings = Clock(), Scalings(domains)
    plan = settle_lengths(plan, scalings)
    trial = None
    if plan.chooses:
        trial, plan = try_candidates(domains, plan)
        clock.lap("candidates")
        if not trial.adapts:
            return replace(keep_consensus(domains, plan, trial, scalings), seconds=clock.laps)
    elif plan.safeguard and domains.weights is None:  # the test for a shift counts each row once
        unshifted = find_unshifted(domains, scalings.of_sources, random_state=plan.random_state)
        clock.lap("shift")
        if unshifted is not None:
            return replace(keep_unshifted(domains, plan, unshifted), seconds=clock.laps)
    kind = choose_scaling(domains, plan.views, scalings)
    clock.lap("scaling")
    begun = None if trial is None else trial.reached_of([d.X.shape[0] for d in domains.targets])
    candidate = begin_candidate(domains, plan, kind, scalings.of(kind), clock, begun)
    steady = _iterate(candidate, plan, on_record)
    for record in candidate.records:
        clock.add(record["seconds"])
    clock.skip()
    if trial is not None and plan.safeguard and _best_iteration(candidate) is None:
        kept = keep_consensus(domains, plan, trial, scalings)
        clock.lap("predictor")
        message = _explain(candidate, None, "the consensus of the candidates")
        return replace(kept, messages=[message], history=candidate.records, seconds=clock.laps)
    outcome = _finish(candidate, plan, steady, trial)
    clock.lap("predictor")
    return replace(outcome, seconds=clock.laps)


def _iterate(candidate: Candidate, plan: Plan, on_record: OnRecord | None) -> bool:
    """Iterate until labels and weights are steady or `max_iter` is reached; return whether they are steady."""
    n_target = sum(len(X) for X in candidate.problem.rows[candidate.problem.n_sources :])
    while True:
        state = candidate.advance()
        if on_record is not None:
            on_record(candidate.records[-1])
        if state.n_changed <= plan.tol * n_target and state.weight_change <= max(plan.tol, 1e-2):
            return True
        if state.n_iter >= plan.max_iter:
            return False


def _finish(candidate: Candidate, plan: Plan, steady: bool, trial: Trial | None) -> Outcome:
    assert candidate.last is not None
    state = _best_iteration(candidate) if plan.safeguard else candidate.last
    messages = [GUESS] if candidate.guessed else []
    messages += doubts_of(candidate.records)
    if state is not candidate.last:
        messages.append(_explain(candidate, state))
    shared: dict[str, Any] = {
        "history": candidate.records,
        "messages": messages,
        "n_iter": len(candidate.records),
    }
    if trial is not None:
        shared["trial"] = trial
    if state is None:
        return keep_first_labels(candidate, plan, shared)
    refined = None
    if plan.refine and isinstance(plan.classifier, Propagation):
        named = plan.named_proportions(candidate.problem.source_proportions)
        refined = refine_labels(
            candidate.problem, candidate.widths, state.distributions, trial, named, unit_length=plan.unit_length
        )
    distributions = state.distributions if refined is None else refined.distributions
    Z, y = np.vstack(state.embeddings), np.concatenate(candidate.problem.labels)
    Y = all_distributions(candidate.problem, distributions)
    weights = row_weights(plan.classifier, candidate.problem, state.weights)
    embedded = plan.classifier.freeze(Z, y, weights, Y, search=plan.settings.search)
    predictors: list[Predictor] = [Projected(embedded, P) for P in state.projections]
    if refined is not None:
        total = 1 + refined.share
        shares = (refined.share / total, 1 / total)
        predictors = [Averaged(parts, shares) for parts in zip(predictors, refined.regressions, strict=True)]
        if refined.factors is not None:
            predictors = [Reweighted(predictor, refined.factors) for predictor in predictors]
        shared |= {"regressions": refined.regressions, "share": refined.share, "factors": refined.factors}
    return Outcome(
        coordinates=candidate.maps,
        projections=state.projections,
        predictors=tuple(predictors),
        distributions=tuple(distributions),
        weights=state.weights,
        classifier=plan.classifier,
        adapted=True,
        scaling=candidate.scaling,
        n_changed=None if steady or state is not candidate.last else state.n_changed,
        **shared,
    )


def _best_iteration(candidate: Candidate) -> State | None:
    """The iteration to return: the last, one with better evidence, or None if even that one has collapsed.

    The start is not compared by evidence: its labels come from the very rows by which the evidence is weighed.
    """
    improved = max(candidate.totals) - candidate.totals[-1] > MARGIN
    chosen = candidate.best if improved else candidate.last
    assert chosen is not None
    left = effective_classes(np.vstack(chosen.distributions))
    if left >= COLLAPSED * candidate.problem.n_classes:
        return chosen  # first labels, which take time, have no more classes than there are
    first = effective_classes(np.vstack(candidate.start))
    return None if left < COLLAPSED * first else chosen


def _explain(candidate: Candidate, chosen: State | None, instead: str | None = None) -> str:
    """What went wrong after the chosen iteration, or after the start if that is None; `instead` has other labels."""
    assert candidate.last is not None
    last = candidate.records[-1]
    facts, name = [], "the start, before any adaptation"
    if chosen is None:
        first, left = (effective_classes(np.vstack(F)) for F in (candidate.start, candidate.last.distributions))
        facts.append(f"the effective number of classes fell from {first:.1f} to {left:.1f}")
    else:
        before, name = candidate.records[chosen.n_iter - 1], f"iteration {chosen.n_iter}"
        facts.append(f"the evidence fell from {before['evidence']:.3f} to {last['evidence']:.3f}")
        if last["n_classes"] < before["n_classes"]:
            facts.append(f"the labels fell from {before['n_classes']} to {last['n_classes']} classes")
        if last["objective"] > before["objective"]:
            facts.append(f"the objective rose from {before['objective']:.4g} to {last['objective']:.4g}")
    return (
        f"Adaptation got worse after {name}: {', '.join(facts)} by iteration {last['n_iter']}. The labels of "
        f"{instead or name} are returned. A smaller locality_weight or a classifier=Propagation(...) with more "
        "n_neighbors may prevent it."
    )
