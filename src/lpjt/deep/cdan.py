"""Conditional adversarial network: the discriminator sees features together with predictions."""

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

from lpjt.baselines._base import POSITIVE_INTEGER
from lpjt.baselines._types import Constraints
from lpjt.deep._base import Sizes, Step
from lpjt.deep._batches import Rows
from lpjt.deep._losses import certainty_weights, domain_loss, multilinear_map, reversal_strength, reverse_gradient
from lpjt.deep._network import layers, memory
from lpjt.deep._torch import Generator, Module, ModuleDict, Tensor, torch
from lpjt.deep.dann import DANN

#: Most columns of the multilinear map itself, as in the reference; wider ones are drawn from at random.
WIDEST_MAP = 4096


@dataclass(kw_only=True, eq=False, repr=False)
class CDAN(DANN):
    r"""Conditional adversarial network: domains are made alike together with the predictions of their rows.

    .. math:: \min_{g, f} \max_d \; \frac{1}{n_s} \sum_i \ell(f(g(x_i^s)), y_i^s)
              - \lambda_p \frac{1}{2} \Big( \sum_i w_i^s \ell(d(h_i^s), 1) + \sum_j w_j^t \ell(d(h_j^t), 0) \Big),
              \quad h = g(x) \otimes \mathrm{softmax} f(g(x))

    of [1]_, with the schedule of :math:`\lambda_p` of `DANN`. The weights w are equal, or with
    `entropy` proportional to :math:`1 + e^{-H}` with the entropy H of a row's prediction (CDAN+E).

    Parameters
    ----------
    entropy : bool, default=True
        Whether rows with sure predictions count more.
    n_random : int, default=1024
        Columns of the random map :math:`(R_g g) \odot (R_f f) / \sqrt{n}` that replaces the outer product h where that
        has more than 4096.
    weight : float, default=1.0
        The strength that the reversed gradient reaches.
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
    No gradient goes through the predictions in h, nor through the weights w: the classifier is trained by labels alone.
    [1]_ leaves this open. The discriminator has one hidden layer, as wide as the bottleneck.

    References
    ----------
    .. [1] M. Long, Z. Cao, J. Wang, M. I. Jordan. Conditional adversarial domain adaptation. NeurIPS, 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lpjt.deep import CDAN
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CDAN(max_epochs=10, random_state=0).fit(X[::2], y[::2], X[1::2] + 0.5)
    >>> model.score(X[1::2] + 0.5, y[1::2]) > 0.8
    True
    """

    entropy: bool = True
    n_random: int = 1024

    _parameter_constraints: ClassVar[Constraints] = {
        **DANN._parameter_constraints,
        "entropy": ["boolean"],
        "n_random": POSITIVE_INTEGER,
    }

    def _modules(self, sizes: Sizes, rows: Rows, draw: Generator) -> dict[str, Module]:
        width, random = sizes.hidden * sizes.n_classes, {}
        if width > WIDEST_MAP:
            width = self.n_random
            maps = (torch.randn((n, width), generator=draw) for n in (sizes.hidden, sizes.n_classes))
            random = {"random": memory(features=next(maps), labels=next(maps))}
        return {"discriminator": layers([width, sizes.hidden, 1], draw), **random}

    def _transfer_loss(self, network: ModuleDict, step: Step) -> Tensor:
        strength = self.weight * reversal_strength(step.progress)
        judged, weights = [], []
        for Z in (step.Z_source, step.Z_target):
            scores = self._scores(network, Z).detach()
            judged.append(network["discriminator"](_joined(network, reverse_gradient(Z, strength), scores)))
            weights.append(certainty_weights(scores) if self.entropy else None)
        return domain_loss(*judged, *weights)


def _joined(network: ModuleDict, Z: Tensor, scores: Tensor) -> Tensor:
    """Features and predictions as one row, h."""
    P = scores.softmax(dim=1)
    if "random" not in network:
        return multilinear_map(Z, P)
    random = network["random"]
    joined: Tensor = (Z @ random.features) * (P @ random.labels) / sqrt(random.features.shape[1])
    return joined
