"""Deep methods of domain adaptation as heads on features, with the interface of LPJT; needs the extra `deep`.

A small network on feature vectors, one training loop, and for each method a loss. The losses are written here, and not
taken from another package: those at hand bind them to their own datasets, loops and hooks (skorch, pytorch-ignite) and
to images, and leave out the checks that tables need: domains of few rows, classes of one row, batches larger than a
domain, resumed training. What each loss is tested against is its formula.
"""

from lpjt.deep.cdan import CDAN
from lpjt.deep.dan import DAN
from lpjt.deep.dann import DANN
from lpjt.deep.ddc import DDC
from lpjt.deep.deepjdot import DeepJDOT
from lpjt.deep.dhn import DHN
from lpjt.deep.mcd import MCD
from lpjt.deep.simnet import SimNet
from lpjt.deep.source_only import SourceOnly
from lpjt.deep.wdan import WDAN

__all__ = [
    "CDAN",
    "DAN",
    "DANN",
    "DDC",
    "DHN",
    "MCD",
    "WDAN",
    "DeepJDOT",
    "SimNet",
    "SourceOnly",
]
