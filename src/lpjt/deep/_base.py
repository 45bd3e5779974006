"""What all deep methods share: their parameters, the network on features, training, probabilities, the embedding."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lpjt._sklearn import Interval, StrOptions
from lpjt._whole_files import check_writable
from lpjt.baselines._base import (
    CONSTRAINTS,
    NOT_NEGATIVE,
    POSITIVE,
    POSITIVE_INTEGER,
    DomainName,
    Embedding,
    ScaledDomain,
)
from lpjt.baselines._types import Codes, Constraints, Floats, MatrixLike
from lpjt.deep._batches import Batch, Rows
from lpjt.deep._checkpoint import fingerprint, load_checkpoint, save_checkpoint
from lpjt.deep._losses import information
from lpjt.deep._network import bottleneck, drop, linear
from lpjt.deep._torch import Generator, Module, ModuleDict, Tensor, load_torch, torch
from lpjt.deep._training import Schedule, Training, descend, make_optimizer, train
from lpjt.domains import Domain

#: Parameters that say where and how a fit runs, not what comes out.
_OUTSIDE = ("checkpoint", "verbose", "random_state")


@dataclass(frozen=True, slots=True)
class Sizes:
    """What the modules of a method depend on."""

    width: int
    hidden: int
    n_classes: int


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """What a loss sees of one batch: rows in the bottleneck, labels of the source and of known target rows."""

    Z_source: Tensor
    y_source: Tensor
    Z_target: Tensor
    Z_known: Tensor
    y_known: Tensor
    progress: float  # share of the training that is done, from 0 to 1


@dataclass(kw_only=True, eq=False, repr=False)
class DeepClassifier(Embedding):
    """Base class of the deep methods; a method defines `_transfer_loss`, and more hooks where it needs them.

    The fields of this class and of a method are scikit-learn's parameters: the dataclass writes `__init__`. Hooks:

    `_modules(sizes, rows, draw)`
        Modules beside "features" and "classifier", or another "classifier", by name.
    `_transfer_loss(network, step)`
        What a method adds to the label loss, with its weight.
    `_scores(network, Z)`
        Logits of embedded rows, (n, n_classes).
    `_label_loss(network, step)`, `_update(training, batch, progress)`, `_refresh(network, rows)`
        The supervised loss, the steps of one batch, and what is recomputed from all rows before and after every epoch.
    """

    hidden: int = 256
    dropout: float = 0.0
    max_epochs: int = 40
    batch_size: int = 64
    balanced: bool = False
    optimizer: str = "adam"
    learning_rate: float = 1e-3
    weight_decay: float = 5e-4
    patience: int | None = 10
    checkpoint: str | os.PathLike[str] | None = None
    scaling: str = "standard"
    verbose: int = 0
    random_state: int | np.random.RandomState | None = None

    _parameter_constraints: ClassVar[Constraints] = {
        **CONSTRAINTS,
        "hidden": POSITIVE_INTEGER,
        "dropout": [Interval(Real, 0, 1, closed="left")],
        "max_epochs": POSITIVE_INTEGER,
        "batch_size": POSITIVE_INTEGER,
        "balanced": ["boolean"],
        "optimizer": [StrOptions({"adam", "sgd"})],
        "learning_rate": POSITIVE,
        "weight_decay": NOT_NEGATIVE,
        "patience": [Interval(Integral, 1, None, closed="left"), None],
        "checkpoint": [str, os.PathLike, None],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def predict_proba(self, X: MatrixLike) -> Floats:
        """Distributions over the classes, (n, n_classes), of rows of the target domain."""
        check_is_fitted(self)
        with torch.no_grad():
            probabilities: Floats = self._scores_of(self._open(X, "target")).softmax(dim=1).numpy()
        return probabilities

    def _check(self, source: Domain, target: Domain) -> None:
        super()._check(source, target)
        load_torch()
        if self.checkpoint is not None:
            check_writable(self.checkpoint, overwrite=True)
        self._adapts = target.y is not source.y  # without a target the source takes its place, labels and all

    def _learn(self, source: ScaledDomain, target: ScaledDomain, n_classes: int) -> None:
        # Rows of unit length have small entries; a layer wants them around one.
        self._unit = float(np.sqrt(np.mean(np.square(source.X, dtype=np.float64)))) or 1.0
        rows = self._rows(source, target)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        draw = torch.Generator().manual_seed(seed)
        schedule = Schedule(
            self.max_epochs, self.batch_size, self.balanced, self.optimizer, self.learning_rate, self.weight_decay,
            self.patience,
        )  # fmt: skip
        sizes = Sizes(source.X.shape[1], self.hidden, n_classes)
        network = self._build(sizes, rows, draw)
        training = Training(network, make_optimizer(network, schedule), draw)
        for _ in self._epochs(training, rows, schedule):
            if self.verbose:
                self._tell(training)
        # Declared where they are set: annotations of the class are parameters.
        self.n_iter_: int = training.epoch
        self.best_iter_: int = training.epoch if self.patience is None else training.best_epoch
        self.history_: dict[str, Floats] = {"loss": np.array(training.losses), "evidence": np.array(training.evidence)}
        # Predictions in double precision: those of a row alone are those that it has among others.
        self.network_: Any = network.double()  # torch.nn.ModuleDict

    def _rows(self, source: ScaledDomain, target: ScaledDomain) -> Rows:
        X_source, X_target = (self._tensor(domain.X, torch.float32) for domain in (source, target))
        # Without a target its rows are the source's, whose labels are learned from already.
        y_target = target.y if self._adapts else np.full(len(target.y), -1)
        y = (torch.tensor(np.asarray(labels, dtype=np.int64)) for labels in (source.y, y_target))
        return Rows(X_source, next(y), X_target, next(y))

    def _build(self, sizes: Sizes, rows: Rows, draw: Generator) -> ModuleDict:
        parts = {
            "features": bottleneck(sizes.width, sizes.hidden, draw),
            "classifier": linear(sizes.hidden, sizes.n_classes, draw),
        }
        return torch.nn.ModuleDict(parts | self._modules(sizes, rows, draw))

    def _epochs(self, training: Training, rows: Rows, schedule: Schedule) -> Iterator[Training]:
        """Train from the start or from the checkpoint, and keep it."""
        owner, path = "", self.checkpoint
        if path is not None:
            given = {name: value for name, value in self.get_params(deep=False).items() if name not in _OUTSIDE}
            seed = self.random_state if isinstance(self.random_state, Integral) else None
            owner = fingerprint(type(self).__name__, {**given, "seed": seed}, rows)
            saved = load_checkpoint(path, owner)
            if saved is not None:
                training.resume(saved)
        if training.epoch == 0:
            self._refreshed(training.network, rows)

        def evidence() -> float:
            self._refreshed(training.network, rows)
            with torch.no_grad():
                scores = self._scores(training.network, training.network["features"](rows.X_target))
                return float(information(scores))

        for _ in train(training, rows, schedule, self._update, evidence):
            if path is not None:
                save_checkpoint(path, training.state(), owner)
            yield training

    def _refreshed(self, network: ModuleDict, rows: Rows) -> None:
        with torch.no_grad():
            self._refresh(network, rows)

    def _tell(self, training: Training) -> None:
        loss, evidence = training.losses[-1], training.evidence[-1]
        counted = f"{type(self).__name__}: epoch {training.epoch} of {self.max_epochs}"
        print(f"{counted}, loss {loss:.4f}, information {evidence:.4f} nats", flush=True)

    def _tensor(self, X: Floats, dtype: Any) -> Tensor:
        return torch.tensor(X / self._unit, dtype=dtype)

    def _step(self, training: Training, batch: Batch, progress: float) -> Step:
        """A batch in the bottleneck."""
        X = torch.cat([batch.X_source, batch.X_target, batch.X_known])
        Z = drop(training.network["features"](X), self.dropout, training.draw)
        Z_source, Z_target, Z_known = Z.split([len(batch.X_source), len(batch.X_target), len(batch.X_known)])
        return Step(Z_source, batch.y_source, Z_target, Z_known, batch.y_known, progress)

    def _update(self, training: Training, batch: Batch, progress: float) -> float:
        step = self._step(training, batch, progress)
        loss = self._label_loss(training.network, step)
        if self._adapts:
            loss = loss + self._transfer_loss(training.network, step)
        descend(training, loss)
        return float(loss.detach())

    def _label_loss(self, network: ModuleDict, step: Step) -> Tensor:
        """Cross-entropy of the source rows, and that of the labelled target rows."""
        cross_entropy = torch.nn.functional.cross_entropy
        loss = cross_entropy(self._scores(network, step.Z_source), step.y_source)
        if len(step.y_known):
            loss = loss + cross_entropy(self._scores(network, step.Z_known), step.y_known)
        return loss

    def _modules(self, sizes: Sizes, rows: Rows, draw: Generator) -> dict[str, Module]:
        return {}

    def _transfer_loss(self, network: ModuleDict, step: Step) -> Tensor:
        raise NotImplementedError

    def _scores(self, network: ModuleDict, Z: Tensor) -> Tensor:
        scores: Tensor = network["classifier"](Z)
        return scores

    def _refresh(self, network: ModuleDict, rows: Rows) -> None:
        """Recompute what is kept in memory from all rows."""

    def _scores_of(self, X: Floats) -> Tensor:
        return self._scores(self.network_, self.network_["features"](self._tensor(X, torch.float64)))

    def _codes_of(self, X: Floats) -> Codes:
        with torch.no_grad():
            codes: npt.NDArray[np.int64] = self._scores_of(X).argmax(dim=1).numpy()
        return codes

    def _embed(self, X: Floats, domain: DomainName) -> Floats:
        with torch.no_grad():
            Z: Floats = self.network_["features"](self._tensor(X, torch.float64)).numpy()
        return Z.astype(X.dtype, copy=False)
