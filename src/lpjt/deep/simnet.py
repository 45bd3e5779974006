"""Similarity network: the class whose prototype is the most similar, in a space where domains are alike."""

from dataclasses import dataclass
from typing import ClassVar

from lpjt.baselines._base import NOT_NEGATIVE
from lpjt.baselines._types import Constraints
from lpjt.deep._base import Sizes, Step
from lpjt.deep._batches import Rows
from lpjt.deep._losses import class_means, orthogonality
from lpjt.deep._network import linear, memory
from lpjt.deep._torch import Generator, Module, ModuleDict, Tensor, torch
from lpjt.deep.dann import DANN


@dataclass(kw_only=True, eq=False, repr=False)
class SimNet(DANN):
    r"""Similarity network: rows are compared with prototypes of the classes by a learned bilinear form.

    .. math:: \min_{g, S} \max_d \; \frac{1}{n_s} \sum_i \ell(h(x_i^s), y_i^s) + \gamma R(\mu)
              - \lambda_p L_d(g, d), \quad h_c(x) = g(x)^\top S \mu_c, \quad
              \mu_c = \frac{1}{n_c} \sum_{y_i^s = c} g(x_i^s)

    of [1]_, with the adversarial loss :math:`L_d` and the schedule of `DANN`; R, the squared cosines
    between the prototypes of different classes, keeps them apart.

    Parameters
    ----------
    orthogonality_weight : float, default=0.1
        :math:`\gamma`.
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
    In training the prototypes are means of the source rows of the batch, so that gradients reach them; a class that a
    batch lacks has its mean over all source rows after the last epoch, and so has every class in prediction. [1]_
    embeds the rows of prototypes by another network than the rows to be labelled; here one bottleneck serves both, and
    S, which has an offset, tells them apart. R has cosines, so that it does not depend on lengths.

    References
    ----------
    .. [1] P. O. Pinheiro. Unsupervised domain adaptation with similarity learning. CVPR, 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lpjt.deep import SimNet
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SimNet(max_epochs=10, random_state=0).fit(X[::2], y[::2], X[1::2] + 0.5)
    >>> model.score(X[1::2] + 0.5, y[1::2]) > 0.8
    True
    """

    orthogonality_weight: float = 0.1

    _parameter_constraints: ClassVar[Constraints] = {
        **DANN._parameter_constraints,
        "orthogonality_weight": NOT_NEGATIVE,
    }

    def _modules(self, sizes: Sizes, rows: Rows, draw: Generator) -> dict[str, Module]:
        form = linear(sizes.hidden, sizes.hidden, draw)
        prototypes = memory(means=torch.zeros(sizes.n_classes, sizes.hidden))
        return {"classifier": form, "prototypes": prototypes, **super()._modules(sizes, rows, draw)}

    def _refresh(self, network: ModuleDict, rows: Rows) -> None:
        means = network["prototypes"].means
        means.copy_(class_means(network["features"](rows.X_source), rows.y_source, means))

    def _scores(self, network: ModuleDict, Z: Tensor) -> Tensor:
        return _similarity(network, Z, network["prototypes"].means)

    def _label_loss(self, network: ModuleDict, step: Step) -> Tensor:
        cross_entropy = torch.nn.functional.cross_entropy
        means = class_means(step.Z_source, step.y_source, network["prototypes"].means)
        loss = cross_entropy(_similarity(network, step.Z_source, means), step.y_source)
        if len(step.y_known):
            loss = loss + cross_entropy(_similarity(network, step.Z_known, means), step.y_known)
        return loss + self.orthogonality_weight * orthogonality(means)


def _similarity(network: ModuleDict, Z: Tensor, means: Tensor) -> Tensor:
    similarity: Tensor = Z @ network["classifier"](means).T
    return similarity
