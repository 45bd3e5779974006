"""Labels for a domain that has none, from one that has: Locality Preserving Joint Transfer."""

from lpjt.estimator import LPJT

__version__ = "0.1.0"

__all__ = ["LPJT", "__version__"]
