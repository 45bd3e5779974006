"""Deep adaptation network: a multi-kernel discrepancy in several layers."""

from dataclasses import dataclass
from typing import ClassVar

from lpjt.baselines._base import NOT_NEGATIVE, POSITIVE_INTEGER
from lpjt.baselines._types import Constraints
from lpjt.deep._base import DeepClassifier, Step
from lpjt.deep._losses import N_KERNELS, kernel_mmd
from lpjt.deep._torch import ModuleDict, Tensor


@dataclass(kw_only=True, eq=False, repr=False)
class DAN(DeepClassifier):
    r"""Deep adaptation network: the distributions of both domains agree in the bottleneck and in the outputs.

    .. math:: \min_{g, f} \; \frac{1}{n_s} \sum_i \ell(f(g(x_i^s)), y_i^s)
              + \lambda \sum_{l \in \{g, f \circ g\}} d_k^2(D_l^s, D_l^t)

    of [1]_, where :math:`d_k` is the maximum mean discrepancy of layer l under a mean of Gaussian kernels.

    Parameters
    ----------
    weight : float, default=1.0
        :math:`\lambda`.
    n_kernels : int, default=5
        Number of kernels; their bandwidths are the mean squared distance of the rows of a batch times powers of 2
        around 1.
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
    [1]_ learns the weights of the kernels by a quadratic program and estimates the discrepancy in linear time; here the
    kernels have equal weights, and the estimate has all pairs of a batch. It is the biased one, which is never negative
    and is defined for a single row. The outputs are taken before the softmax.

    References
    ----------
    .. [1] M. Long, Y. Cao, J. Wang, M. I. Jordan. Learning transferable features with deep adaptation networks. ICML,
       2015.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lpjt.deep import DAN
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DAN(max_epochs=10, random_state=0).fit(X[::2], y[::2], X[1::2] + 0.5)
    >>> model.score(X[1::2] + 0.5, y[1::2]) > 0.8
    True
    """

    weight: float = 1.0
    n_kernels: int = N_KERNELS

    _parameter_constraints: ClassVar[Constraints] = {
        **DeepClassifier._parameter_constraints,
        "weight": NOT_NEGATIVE,
        "n_kernels": POSITIVE_INTEGER,
    }

    def _transfer_loss(self, network: ModuleDict, step: Step) -> Tensor:
        of_features = kernel_mmd(step.Z_source, step.Z_target, n_kernels=self.n_kernels)
        scores = (self._scores(network, Z) for Z in (step.Z_source, step.Z_target))
        return self.weight * (of_features + kernel_mmd(*scores, n_kernels=self.n_kernels))
