"""Deep domain confusion: the distance of the means of both domains in the bottleneck."""

from dataclasses import dataclass
from typing import ClassVar

from lpjt._sklearn import StrOptions
from lpjt.baselines._base import NOT_NEGATIVE
from lpjt.baselines._types import Constraints
from lpjt.deep._base import DeepClassifier, Step
from lpjt.deep._losses import kernel_mmd, linear_mmd
from lpjt.deep._torch import ModuleDict, Tensor


@dataclass(kw_only=True, eq=False, repr=False)
class DDC(DeepClassifier):
    r"""Deep domain confusion: one adaptation layer in which the domains have one mean.

    .. math:: \min_{g, f} \; \frac{1}{n_s} \sum_i \ell(f(g(x_i^s)), y_i^s)
              + \lambda \| \frac{1}{n_s} \sum_i \phi(g(x_i^s)) - \frac{1}{n_t} \sum_j \phi(g(x_j^t)) \|^2

    of [1]_, in every batch; g is the bottleneck.

    Parameters
    ----------
    weight : float, default=0.25
        :math:`\lambda`, the value of [1]_.
    kernel : {"linear", "rbf"}, default="linear"
        :math:`\phi`: the identity, or the feature map of one Gaussian kernel whose bandwidth is the mean squared
        distance of the rows of a batch.
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
    [1]_ chooses the width and the place of its layer by the discrepancy itself; here there is one layer, of `hidden`.
    The linear discrepancy is in units of the mean squared distance of the rows of a batch, so that :math:`\lambda` does
    not depend on the scale of the features. Where `scaling` gives each domain mean zero, means of features differ
    little from the start, and kernel="rbf", or `DAN`, does more.

    References
    ----------
    .. [1] E. Tzeng, J. Hoffman, N. Zhang, K. Saenko, T. Darrell. Deep domain confusion: maximizing for domain
       invariance. arXiv:1412.3474, 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lpjt.deep import DDC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DDC(max_epochs=10, random_state=0).fit(X[::2], y[::2], X[1::2] + 0.5)
    >>> model.score(X[1::2] + 0.5, y[1::2]) > 0.8
    True
    """

    weight: float = 0.25
    kernel: str = "linear"

    _parameter_constraints: ClassVar[Constraints] = {
        **DeepClassifier._parameter_constraints,
        "weight": NOT_NEGATIVE,
        "kernel": [StrOptions({"linear", "rbf"})],
    }

    def _transfer_loss(self, network: ModuleDict, step: Step) -> Tensor:
        if self.kernel == "linear":
            return self.weight * linear_mmd(step.Z_source, step.Z_target)
        return self.weight * kernel_mmd(step.Z_source, step.Z_target, n_kernels=1)
