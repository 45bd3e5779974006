"""Deep hashing network: codes of signs that tell the classes, in both domains."""

from dataclasses import dataclass
from typing import ClassVar

from lpjt.baselines._base import NOT_NEGATIVE, POSITIVE_INTEGER
from lpjt.baselines._types import Constraints
from lpjt.deep._base import DeepClassifier, Sizes, Step
from lpjt.deep._batches import Rows, balanced_order
from lpjt.deep._losses import class_similarity, entropies, kernel_mmd, pair_loss, quantisation_loss
from lpjt.deep._network import linear, memory
from lpjt.deep._torch import Generator, Module, ModuleDict, Tensor, torch

#: Source rows of each class with which a row is compared in prediction, on average.
REFERENCES = 50


@dataclass(kw_only=True, eq=False, repr=False)
class DHN(DeepClassifier):
    r"""Deep hashing network: rows of one class get similar codes, and target rows those of one class alone.

    .. math:: \min \; \frac{1}{n_s^2} \sum_{i \ne j} \big( \log(1 + e^{s_{ij}}) - [y_i = y_j] s_{ij} \big)
              + \eta \| u - \mathrm{sgn}(u) \|^2 + \gamma \, \mathrm{MMD}^2 + \beta \frac{1}{n_t} \sum_j H(p_j),
              \quad s_{ij} = \tfrac12 u_i^\top u_j, \quad
              p_{jc} \propto \frac{1}{n_c} \sum_{y_i^s = c} e^{u_i^\top u_j}

    of [1]_, with the codes :math:`u = \tanh(V g(x) + c)`, the multi-kernel discrepancy of `DAN` in the
    bottleneck and in the codes, and the entropy H of a target row's similarity to the classes. The label is the
    class of the largest :math:`p_{jc}`.

    Parameters
    ----------
    n_bits : int, default=64
        Length of the codes.
    weight : float, default=1.0
        :math:`\gamma`.
    entropy_weight : float, default=0.1
        :math:`\beta`.
    quantisation_weight : float, default=0.1
        :math:`\eta`.
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
    All losses are means, over pairs, rows and bits, so that weights do not depend on the sizes of batches and codes.
    In training the classes of p are those of the batch; in prediction each class has about 50 source rows, drawn
    once. Products of codes are divided by the root of `n_bits`: unscaled, :math:`e^{64}` leaves the entropy no slope.

    References
    ----------
    .. [1] H. Venkateswara, J. Eusebio, S. Chakraborty, S. Panchanathan. Deep hashing network for unsupervised domain
       adaptation. CVPR, 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lpjt.deep import DHN
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DHN(max_epochs=10, random_state=0).fit(X[::2], y[::2], X[1::2] + 0.5)
    >>> model.score(X[1::2] + 0.5, y[1::2]) > 0.8
    True
    """

    n_bits: int = 64
    weight: float = 1.0
    entropy_weight: float = 0.1
    quantisation_weight: float = 0.1

    _parameter_constraints: ClassVar[Constraints] = {
        **DeepClassifier._parameter_constraints,
        "n_bits": POSITIVE_INTEGER,
        "weight": NOT_NEGATIVE,
        "entropy_weight": NOT_NEGATIVE,
        "quantisation_weight": NOT_NEGATIVE,
    }

    def _modules(self, sizes: Sizes, rows: Rows, draw: Generator) -> dict[str, Module]:
        drawn = balanced_order(rows.y_source, min(REFERENCES * sizes.n_classes, len(rows.y_source)), draw)
        references = memory(rows=drawn, y=rows.y_source[drawn], codes=torch.zeros(len(drawn), self.n_bits))
        return {"classifier": linear(sizes.hidden, self.n_bits, draw), "references": references}

    def _codes(self, network: ModuleDict, Z: Tensor) -> Tensor:
        """Codes over the fourth root of their length, so that products are over its root."""
        return torch.tanh(network["classifier"](Z)) / self.n_bits**0.25

    def _refresh(self, network: ModuleDict, rows: Rows) -> None:
        kept = network["references"]
        kept.codes.copy_(self._codes(network, network["features"](rows.X_source[kept.rows])))

    def _scores(self, network: ModuleDict, Z: Tensor) -> Tensor:
        kept = network["references"]
        return class_similarity(self._codes(network, Z), kept.codes, kept.y, len(self.classes_))

    def _label_loss(self, network: ModuleDict, step: Step) -> Tensor:
        U = self._codes(network, torch.cat([step.Z_source, step.Z_known]))
        signs = quantisation_loss(U * self.n_bits**0.25)
        return pair_loss(U, torch.cat([step.y_source, step.y_known])) + self.quantisation_weight * signs

    def _transfer_loss(self, network: ModuleDict, step: Step) -> Tensor:
        U_source, U_target = (self._codes(network, Z) for Z in (step.Z_source, step.Z_target))
        apart = kernel_mmd(step.Z_source, step.Z_target) + kernel_mmd(U_source, U_target)
        scores = class_similarity(U_target, U_source, step.y_source, len(self.classes_))
        present = scores[:, torch.unique(step.y_source)]
        return self.weight * apart + self.entropy_weight * entropies(present).mean()
