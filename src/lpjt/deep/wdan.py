"""Weighted deep adaptation network: source classes count as often as the target seems to have them."""

from dataclasses import dataclass
from typing import ClassVar

from lpjt.baselines._base import NOT_NEGATIVE
from lpjt.baselines._types import Constraints
from lpjt.deep._base import Sizes, Step
from lpjt.deep._batches import Rows
from lpjt.deep._losses import kernel_mmd, matching_weights, reversal_strength
from lpjt.deep._network import memory
from lpjt.deep._torch import Generator, Module, ModuleDict, Tensor, torch
from lpjt.deep.dan import DAN


@dataclass(kw_only=True, eq=False, repr=False)
class WDAN(DAN):
    r"""Weighted deep adaptation network: a discrepancy that allows for other class proportions in the target.

    .. math:: \min_{g, f} \; \frac{1}{n_s} \sum_i \ell(f(g(x_i^s)), y_i^s)
              + \gamma_p \frac{1}{n_t} \sum_j \ell(f(g(x_j^t)), \hat y_j^t)
              + \lambda \sum_l \| \sum_i \alpha_{y_i^s} \phi(z_i^{s,l}) - \frac{1}{n_t} \sum_j \phi(z_j^{t,l})
              \|^2

    of [1]_. The weights :math:`\alpha_c` of the source rows of a class have the sum
    :math:`\hat w_c`, the share of class c among the pseudo labels :math:`\hat y^t` of the target; layers l and kernels
    are those of `DAN`.

    Parameters
    ----------
    pseudo_weight : float, default=0.1
        What :math:`\gamma_p` reaches.
    weight : float, default=1.0
        :math:`\lambda`.
    n_kernels : int, default=5
        Number of kernels, as in `DAN`.
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
    [1]_ alternates pseudo labels, weights and network. Here shares come from the pseudo labels of all target rows after
    every epoch, one row added to each class so that none is lost for good, and the pseudo labels of the loss from the
    network as it is. Early ones are worth little: shares start as those of the source, and both shares and
    :math:`\gamma_p` come in with the schedule of `DANN`.

    References
    ----------
    .. [1] H. Yan, Y. Ding, P. Li, Q. Wang, Y. Xu, W. Zuo. Mind the class weight bias: weighted maximum mean discrepancy
       for unsupervised domain adaptation. CVPR, 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lpjt.deep import WDAN
    >>> X, y = load_iris(return_X_y=True)
    >>> model = WDAN(max_epochs=10, random_state=0).fit(X[::2], y[::2], X[1::2] + 0.5)
    >>> model.score(X[1::2] + 0.5, y[1::2]) > 0.8
    True
    """

    pseudo_weight: float = 0.1

    _parameter_constraints: ClassVar[Constraints] = {
        **DAN._parameter_constraints,
        "pseudo_weight": NOT_NEGATIVE,
    }

    def _modules(self, sizes: Sizes, rows: Rows, draw: Generator) -> dict[str, Module]:
        source = torch.bincount(rows.y_source, minlength=sizes.n_classes) / len(rows.y_source)
        return {"shares": memory(source=source, target=source.clone())}

    def _refresh(self, network: ModuleDict, rows: Rows) -> None:
        found = self._scores(network, network["features"](rows.X_target)).argmax(dim=1)
        labels = torch.where(rows.y_target >= 0, rows.y_target, found)
        shares = network["shares"].target
        counts = torch.bincount(labels, minlength=len(shares)) + 1
        shares.copy_(counts / counts.sum())

    def _transfer_loss(self, network: ModuleDict, step: Step) -> Tensor:
        trust, shares = reversal_strength(step.progress), network["shares"]
        weights = matching_weights(step.y_source, torch.lerp(shares.source, shares.target, trust))
        scores_source, scores_target = (self._scores(network, Z) for Z in (step.Z_source, step.Z_target))
        apart = kernel_mmd(step.Z_source, step.Z_target, weights, n_kernels=self.n_kernels)
        apart = apart + kernel_mmd(scores_source, scores_target, weights, n_kernels=self.n_kernels)
        pseudo = torch.nn.functional.cross_entropy(scores_target, scores_target.detach().argmax(dim=1))
        return self.weight * apart + self.pseudo_weight * trust * pseudo
