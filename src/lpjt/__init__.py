"""Labels for a domain that has none, from one that has: Locality Preserving Joint Transfer."""

from lpjt.classifiers import NuSVM, Propagation
from lpjt.estimator import LPJT
from lpjt.kernels import Kernel

__version__ = "0.1.0"

__all__ = ["LPJT", "Kernel", "NuSVM", "Propagation", "__version__"]
