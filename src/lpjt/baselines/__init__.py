"""The methods that the paper compares with, and others its readers know, with the interface of LPJT."""

from lpjt.baselines.agecs import AGECS
from lpjt.baselines.cdls import CDLS
from lpjt.baselines.clga import CLGA
from lpjt.baselines.coral import CORAL
from lpjt.baselines.gfk import GFK
from lpjt.baselines.jgsa import JGSA
from lpjt.baselines.lsc import LSC
from lpjt.baselines.meda import MEDA
from lpjt.baselines.punda import PUnDA
from lpjt.baselines.rtml import RTML
from lpjt.baselines.shfa import SHFA
from lpjt.baselines.spl import SPL
from lpjt.baselines.subspace import LSSA, SA, SDA
from lpjt.baselines.tca_jda import JDA, TCA
from lpjt.baselines.tjm import TJM
from lpjt.baselines.transport import OptimalTransport
from lpjt.baselines.unadapted import PCASVM, LinearSVM, NearestNeighbor, TargetPropagation, TargetSVM

__all__ = [
    "AGECS",
    "CDLS",
    "CLGA",
    "CORAL",
    "GFK",
    "JDA",
    "JGSA",
    "LSC",
    "LSSA",
    "MEDA",
    "PCASVM",
    "RTML",
    "SA",
    "SDA",
    "SHFA",
    "SPL",
    "TCA",
    "TJM",
    "LinearSVM",
    "NearestNeighbor",
    "OptimalTransport",
    "PUnDA",
    "TargetPropagation",
    "TargetSVM",
]
