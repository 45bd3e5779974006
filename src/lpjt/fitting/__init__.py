"""A fit: a sample of the rows, coordinates, first labels, Algorithm 1, the choice among its iterations, all labels."""

from lpjt.fitting.engine import Engine
from lpjt.fitting.plan import Outcome, Plan
from lpjt.fitting.whole import fit_domains

__all__ = ["Engine", "Outcome", "Plan", "fit_domains"]
