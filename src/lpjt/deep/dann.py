"""Domain-adversarial network: a discriminator of the domains, and its gradient reversed."""

from dataclasses import dataclass
from typing import ClassVar

from lpjt.baselines._base import NOT_NEGATIVE
from lpjt.baselines._types import Constraints
from lpjt.deep._base import DeepClassifier, Sizes, Step
from lpjt.deep._batches import Rows
from lpjt.deep._losses import domain_loss, reversal_strength, reverse_gradient
from lpjt.deep._network import layers
from lpjt.deep._torch import Generator, Module, ModuleDict, Tensor


@dataclass(kw_only=True, eq=False, repr=False)
class DANN(DeepClassifier):
    r"""Domain-adversarial network: no discriminator tells the domains apart in the bottleneck.

    .. math:: \min_{g, f} \max_d \; \frac{1}{n_s} \sum_i \ell(f(g(x_i^s)), y_i^s)
              - \lambda_p \frac{1}{2} \Big( \frac{1}{n_s} \sum_i \ell(d(g(x_i^s)), 1)
              + \frac{1}{n_t} \sum_j \ell(d(g(x_j^t)), 0) \Big), \quad
              \lambda_p = w \Big( \frac{2}{1 + e^{-10 p}} - 1 \Big)

    of [1]_, where p is the share of the training that is done. The discriminator d is trained by
    the same step: a layer between g and d leaves values as they are and multiplies gradients by :math:`-\lambda_p`.

    Parameters
    ----------
    weight : float, default=1.0
        w, the strength that the reversed gradient reaches.
    hidden, dropout, optimizer, learning_rate, weight_decay, max_epochs, batch_size, balanced, patience
        The network and its training, as in `SourceOnly`.
    checkpoint, scaling, verbose, random_state
        As in `SourceOnly`.

    Attributes
    ----------
    transduction_, classes_, n_iter_, best_iter_, history_, network_
        As in `SourceOnly`.

    Notes
    -----
    The discriminator has one hidden layer, as wide as the bottleneck. [1]_ prints networks for images alone.

    References
    ----------
    .. [1] Y. Ganin, V. Lempitsky. Unsupervised domain adaptation by backpropagation. ICML, 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lpjt.deep import DANN
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DANN(max_epochs=10, random_state=0).fit(X[::2], y[::2], X[1::2] + 0.5)
    >>> model.score(X[1::2] + 0.5, y[1::2]) > 0.8
    True
    """

    weight: float = 1.0

    _parameter_constraints: ClassVar[Constraints] = {
        **DeepClassifier._parameter_constraints,
        "weight": NOT_NEGATIVE,
    }

    def _modules(self, sizes: Sizes, rows: Rows, draw: Generator) -> dict[str, Module]:
        return {"discriminator": layers([sizes.hidden, sizes.hidden, 1], draw)}

    def _transfer_loss(self, network: ModuleDict, step: Step) -> Tensor:
        strength = self.weight * reversal_strength(step.progress)
        Z = (reverse_gradient(Z, strength) for Z in (step.Z_source, step.Z_target))
        return domain_loss(*map(network["discriminator"], Z))
