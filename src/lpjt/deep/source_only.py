"""The network without adaptation: what the other methods are measured by."""

from dataclasses import dataclass

from lpjt.deep._base import DeepClassifier, Step
from lpjt.deep._torch import ModuleDict, Tensor


@dataclass(kw_only=True, eq=False, repr=False)
class SourceOnly(DeepClassifier):
    r"""The network of the deep methods, trained on labelled rows alone.

    .. math:: \min_{g, f} \; \frac{1}{n_s} \sum_i \ell(f(g(x_i^s)), y_i^s), \quad
              g(x) = \mathrm{ReLU}(W x + b), \quad f(z) = V z + c

    with the cross-entropy :math:`\ell`. The other methods add a loss between the domains to it.

    Parameters
    ----------
    hidden : int, default=256
        Width of the bottleneck g, the embedding that both domains share.
    dropout : float, default=0.0
        Share of the entries of the bottleneck that are set to zero in training.
    max_epochs : int, default=40
        Maximum number of epochs; the schedules of the learning rate and of the methods reach to it. An epoch shows
        every row of both domains at least once, in at least 20 batches.
    batch_size : int, default=64
        Rows of each domain in a batch; a smaller domain gives all its rows.
    balanced : bool, default=False
        Whether the classes of the source are equally frequent in the batches, whatever their sizes.
    optimizer : {"adam", "sgd"}, default="adam"
        "sgd" has a momentum of 0.9.
    learning_rate : float, default=0.001
        First learning rate; it falls as :math:`(1 + 10 p)^{-0.75}` with the share p of the epochs done.
    weight_decay : float, default=0.0005
        Weight of half the squared weights in the gradient.
    patience : int or None, default=10
        Training ends after this many epochs without more information in the target's predictions, and the weights of
        the best epoch are kept; see Notes. None makes all epochs and keeps the last.
    checkpoint : path or None, default=None
        File that is written after every epoch, and from which an interrupted fit goes on, with the same result bit by
        bit. A finished fit is read from it at once. One of other rows or parameters is refused.
    scaling : {"standard", "none", "unit", "sum-zscore", "paper"}, default="standard"
        How the rows of each domain are scaled, separately.
    verbose : int, default=0
        1 prints a line for every epoch.
    random_state : int, RandomState or None, default=None
        Decides the first weights, the batches and the dropout.

    Attributes
    ----------
    transduction_ : array, (n_target,)
        Labels of the target rows of fit.
    classes_ : array, (n_classes,)
        Labels of the source.
    n_iter_ : int
        Epochs made.
    best_iter_ : int
        Epoch whose weights are kept, counted from 1.
    history_ : dict of arrays, (n_epochs,)
        "loss", the mean of every epoch, and "evidence", the information after it, in nats.
    network_ : torch.nn.ModuleDict
        "features", "classifier" and the modules of the method, in double precision.

    Notes
    -----
    Evidence of an epoch is the mutual information between target rows and predicted labels, the entropy of the mean
    distribution less the mean entropy: it falls where predictions become unsure and where classes merge, which is how
    alignment fails, and needs no label of the target, nor neighbours of all rows. Of epochs within 0.001 nats the last
    one counts as the best.

    Labelled target rows add their own mean cross-entropy, with at most `batch_size` of them in every batch. Rows are
    divided by the root mean square of the source's entries. Training is in single precision, prediction in double.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lpjt.deep import SourceOnly
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SourceOnly(max_epochs=10, random_state=0).fit(X[::2], y[::2], X[1::2] + 0.5)
    >>> model.score(X[1::2] + 0.5, y[1::2]) > 0.8
    True
    """

    def _transfer_loss(self, network: ModuleDict, step: Step) -> Tensor:
        return step.Z_target.new_zeros(())
