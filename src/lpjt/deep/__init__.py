"""Deep methods of domain adaptation as heads on features, with the interface of LPJT; needs the extra `deep`.

A small network on feature vectors, one training loop, and for each method a loss. The losses are written here, and not
taken from another package: skada has four of the ten methods (DAN, DANN, CDAN, DeepJDOT) and needs skorch, whose loop
has no checkpoint that resumes bit by bit with batches of both domains; pytorch-adapt calls its losses through hooks of
its own. Each loss is tested against its formula.

A new method is a file with a dataclass that derives from `lpjt.deep._base.DeepClassifier`: parameters are its fields,
and `_transfer_loss` is what it adds to the loss of the labels.
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
