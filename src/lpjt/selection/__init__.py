"""Choosing without target labels: which candidates, view and iteration to believe, and how far to trust the labels.

Only `given` sees target labels, those that the caller gave. `choice` weighs labellings of the same rows against each
other, `evidence` has the parts of the evidence, `trust` estimates the accuracy of the labels and calibrates their
confidence, `shift` finds the class proportions of the target, `asking` the rows whose labels would tell most.
"""

from lpjt.selection.choice import (
    Ground,
    ViewFacts,
    Weighed,
    label_return,
    label_separation,
    view_kinship,
    weigh_candidates,
)
from lpjt.selection.evidence import mutual_information, reverse_agreement, separation, shared_information
from lpjt.selection.shift import believe_distributions, believe_proportions, shift_factors
from lpjt.selection.trust import Facts, estimate_accuracy

__all__ = [
    "Facts",
    "Ground",
    "ViewFacts",
    "Weighed",
    "believe_distributions",
    "believe_proportions",
    "estimate_accuracy",
    "label_return",
    "label_separation",
    "mutual_information",
    "reverse_agreement",
    "separation",
    "shared_information",
    "shift_factors",
    "view_kinship",
    "weigh_candidates",
]
