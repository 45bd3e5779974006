"""One fit: coordinates, first labels, Algorithm 1, and the choice, without target labels, among what it yields."""

from lpjt.fitting.adapt import adapt
from lpjt.fitting.memory import within_memory
from lpjt.fitting.plan import Outcome, Plan
from lpjt.fitting.unadapted import fit_source_only

__all__ = ["Outcome", "Plan", "adapt", "fit_source_only", "within_memory"]
