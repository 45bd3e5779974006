"""Maximum classifier discrepancy: two classifiers find target rows without support, the features take them in."""

from dataclasses import dataclass
from typing import ClassVar

from lpjt.baselines._base import NOT_NEGATIVE, POSITIVE_INTEGER
from lpjt.baselines._types import Constraints
from lpjt.deep._base import DeepClassifier, Sizes, Step
from lpjt.deep._batches import Batch, Rows
from lpjt.deep._losses import discrepancy
from lpjt.deep._network import layers
from lpjt.deep._torch import Generator, Module, ModuleDict, Tensor, torch
from lpjt.deep._training import Training, descend


@dataclass(kw_only=True, eq=False, repr=False)
class MCD(DeepClassifier):
    r"""Maximum classifier discrepancy: two classifiers that agree on the source and disagree on the target, and not.

    .. math::
        \text{A:} \; \min_{g, f_1, f_2} L, \quad
        \text{B:} \; \min_{f_1, f_2} L - w D, \quad
        \text{C:} \; \min_g w D, \qquad
        L = \frac{1}{n_s} \sum_i \ell(f_1(g(x_i^s)), y_i^s) + \ell(f_2(g(x_i^s)), y_i^s), \quad
        D = \frac{1}{n_t} \sum_j \frac{1}{C} \| p_1(x_j^t) - p_2(x_j^t) \|_1

    of [1]_, where :math:`p_k` is the softmax of :math:`f_k(g(x))`; every batch makes the steps A, B, and
    C several times. Labels are those of :math:`f_1 + f_2`.

    Parameters
    ----------
    weight : float, default=1.0
        w.
    n_steps : int, default=4
        How often a batch makes step C (n in [1]_).
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
    The classifiers have one hidden layer, as wide as the bottleneck, since those of [1]_ have several layers too. One
    optimiser has all weights.

    References
    ----------
    .. [1] K. Saito, K. Watanabe, Y. Ushiku, T. Harada. Maximum classifier discrepancy for unsupervised domain
       adaptation. CVPR, 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lpjt.deep import MCD
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MCD(max_epochs=10, random_state=0).fit(X[::2], y[::2], X[1::2] + 0.5)
    >>> model.score(X[1::2] + 0.5, y[1::2]) > 0.8
    True
    """

    weight: float = 1.0
    n_steps: int = 4

    _parameter_constraints: ClassVar[Constraints] = {
        **DeepClassifier._parameter_constraints,
        "weight": NOT_NEGATIVE,
        "n_steps": POSITIVE_INTEGER,
    }

    def _modules(self, sizes: Sizes, rows: Rows, draw: Generator) -> dict[str, Module]:
        widths = [sizes.hidden, sizes.hidden, sizes.n_classes]
        return {"classifier": layers(widths, draw), "second": layers(widths, draw)}

    def _scores(self, network: ModuleDict, Z: Tensor) -> Tensor:
        return (network["classifier"](Z) + network["second"](Z)) / 2

    def _label_loss(self, network: ModuleDict, step: Step) -> Tensor:
        cross_entropy = torch.nn.functional.cross_entropy
        loss = step.Z_source.new_zeros(())
        for head in (network["classifier"], network["second"]):
            loss = loss + cross_entropy(head(step.Z_source), step.y_source)
            if len(step.y_known):
                loss = loss + cross_entropy(head(step.Z_known), step.y_known)
        return loss

    def _transfer_loss(self, network: ModuleDict, step: Step) -> Tensor:
        return self.weight * discrepancy(network["classifier"](step.Z_target), network["second"](step.Z_target))

    def _update(self, training: Training, batch: Batch, progress: float) -> float:
        network = training.network
        loss = self._label_loss(network, self._step(training, batch, progress))
        descend(training, loss)  # A
        if self._adapts:
            step = self._step(training, batch, progress)
            apart = self._label_loss(network, step) - self._transfer_loss(network, step)
            descend(training, apart, [network["classifier"], network["second"]])  # B
            for _ in range(self.n_steps):
                step = self._step(training, batch, progress)
                descend(training, self._transfer_loss(network, step), [network["features"]])  # C
        return float(loss.detach())
