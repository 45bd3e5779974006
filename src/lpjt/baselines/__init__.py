"""The methods that the paper compares with, and those its readers ask for, on the door and the core of LPJT."""

from lpjt.baselines.augmentation import SHFA
from lpjt.baselines.geodesic import GFK
from lpjt.baselines.geometric import JGSA
from lpjt.baselines.joint import JDA, TCA
from lpjt.baselines.landmarks import CDLS
from lpjt.baselines.manifold import MEDA
from lpjt.baselines.matching import TJM
from lpjt.baselines.plain import PCASVM, LinearSVM, NearestNeighbor, TargetPropagation, TargetSVM
from lpjt.baselines.subspace import LSSA, SA, SDA
from lpjt.baselines.transport import CORAL, OptimalTransport

__all__ = [
    "CDLS",
    "CORAL",
    "GFK",
    "JDA",
    "JGSA",
    "LSSA",
    "MEDA",
    "PCASVM",
    "SA",
    "SDA",
    "SHFA",
    "TCA",
    "TJM",
    "LinearSVM",
    "NearestNeighbor",
    "OptimalTransport",
    "TargetPropagation",
    "TargetSVM",
]
