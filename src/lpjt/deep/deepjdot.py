"""Deep joint distribution optimal transport: rows of a batch are paired by features and labels together."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lpjt.baselines._base import NOT_NEGATIVE
from lpjt.baselines._types import Constraints
from lpjt.deep._base import DeepClassifier, Step
from lpjt.deep._losses import joint_costs, reversal_strength
from lpjt.deep._torch import ModuleDict, Tensor, torch


@dataclass(kw_only=True, eq=False, repr=False)
class DeepJDOT(DeepClassifier):
    r"""Deep joint distribution optimal transport: a target row learns from the source rows that it is paired with.

    .. math:: \min_{\pi, g, f} \; \frac{1}{n_s} \sum_i \ell(f(g(x_i^s)), y_i^s)
              + \sum_{ij} \pi_{ij} \Big( \alpha \frac{\| g(x_i^s) - g(x_j^t) \|^2}{h}
              + \lambda \, \ell(f(g(x_j^t)), y_i^s) \Big)

    of [1]_, over transport plans :math:`\pi` between the rows of a batch, of equal mass in each domain. Every
    batch first has its plan, by POT's exact solver with the network as it is, and then a step of the network.

    Parameters
    ----------
    distance_weight : float, default=0.1
        :math:`\alpha`; squared distances are divided by the width h of the bottleneck.
    label_weight : float, default=1.0
        :math:`\lambda`.
    balanced : bool, default=True
        Whether the classes of the source are equally frequent in the batches, as in [1]_.
    hidden, dropout, optimizer, learning_rate, weight_decay, max_epochs, batch_size, patience
        The network and its training, as in `SourceOnly`.
    checkpoint, scaling, verbose, random_state
        As in `SourceOnly`.

    Attributes
    ----------
    transduction_, classes_, n_iter_, best_iter_, history_, network_
        As in `SourceOnly`.

    Notes
    -----
    Needs POT (`pip install 'lpjt[ot]'`). [1]_ has weights of 0.001 and 0.0001 for networks on images and sums over a
    batch; here all terms are means. The plan of a network that has learned nothing pairs any classes, and the network
    would learn from it: the transport cost comes in with the schedule of `DANN`.

    References
    ----------
    .. [1] B. B. Damodaran, B. Kellenberger, R. Flamary, D. Tuia, N. Courty. DeepJDOT: deep joint distribution optimal
       transport for unsupervised domain adaptation. ECCV, 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lpjt.deep import DeepJDOT
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DeepJDOT(max_epochs=10, random_state=0).fit(X[::2], y[::2], X[1::2] + 0.5)
    >>> model.score(X[1::2] + 0.5, y[1::2]) > 0.8
    True
    """

    balanced: bool = True
    distance_weight: float = 0.1
    label_weight: float = 1.0

    _parameter_constraints: ClassVar[Constraints] = {
        **DeepClassifier._parameter_constraints,
        "distance_weight": NOT_NEGATIVE,
        "label_weight": NOT_NEGATIVE,
    }

    def _transfer_loss(self, network: ModuleDict, step: Step) -> Tensor:
        scores = self._scores(network, step.Z_target)
        weights = {"distance": self.distance_weight, "label": self.label_weight}
        costs = joint_costs(step.Z_source, step.y_source, step.Z_target, scores, **weights)
        return reversal_strength(step.progress) * (transport_plan(costs) * costs).sum()


def transport_plan(costs: Tensor) -> Tensor:
    """Plan of the least cost between rows of equal mass, (n_source, n_target), without a gradient."""
    numbers = costs.detach().double().numpy()
    n_source, n_target = numbers.shape
    plan = _import_pot().emd(np.full(n_source, 1 / n_source), np.full(n_target, 1 / n_target), numbers)
    return torch.as_tensor(plan, dtype=costs.dtype)


def _import_pot() -> Any:
    try:
        import ot
    except ImportError as error:
        raise ImportError("`POT` is needed for DeepJDOT. Install it with `pip install 'lpjt[ot]'`.") from error
    return ot
