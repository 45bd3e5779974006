"""Adversarial fits: domains, labels, containers and settings that nobody should give, each made from a number."""

from attack.fits.run import PART

__all__ = ["PART"]
