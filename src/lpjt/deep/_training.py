"""The one training loop: batches of both domains, annealed steps, early stopping without labels, states to resume."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from lpjt.deep._batches import Batch, Rows, count_batches, draw_batches
from lpjt.deep._torch import Generator, Module, ModuleDict, Optimizer, Tensor, torch

#: Momentum of SGD, and the annealing of both optimisers: rate / (1 + 10 p)^0.75 with p the share of training done.
MOMENTUM, ANNEALING, POWER = 0.9, 10.0, 0.75

#: Information in nats by which an epoch may fall short of the best one and still count as equal to it.
LEVEL = 1e-3


@dataclass(frozen=True, slots=True)
class Schedule:
    """How long and how fast to train."""

    max_epochs: int
    batch_size: int
    balanced: bool
    optimizer: str
    learning_rate: float
    weight_decay: float
    patience: int | None


@dataclass(slots=True, eq=False)
class Training:
    """All that changes during training."""

    network: ModuleDict
    optimizer: Optimizer
    draw: Generator
    epoch: int = 0
    best_epoch: int = 0
    best_evidence: float = -math.inf
    best_weights: dict[str, Tensor] = field(default_factory=dict)
    losses: list[float] = field(default_factory=list)  # mean of each epoch
    evidence: list[float] = field(default_factory=list)  # after each epoch

    def state(self) -> dict[str, Any]:
        """Everything as tensors, numbers, lists and dicts."""
        return {
            "network": self.network.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "draw": self.draw.get_state(),
            "best_weights": self.best_weights,
            **{name: getattr(self, name) for name in _NUMBERS},
        }

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.draw.set_state(state["draw"])
        self.best_weights = state["best_weights"]
        for name in _NUMBERS:
            setattr(self, name, state[name])

    def record(self, loss: float, evidence: float) -> None:
        """End an epoch; of epochs that are level the last one is the best: it was trained longer."""
        self.epoch += 1
        self.losses.append(loss)
        self.evidence.append(evidence)
        if evidence >= self.best_evidence - LEVEL:
            self.best_epoch = self.epoch
            self.best_weights = {name: tensor.clone() for name, tensor in self.network.state_dict().items()}
        self.best_evidence = max(self.best_evidence, evidence)


_NUMBERS = ("epoch", "best_epoch", "best_evidence", "losses", "evidence")


def make_optimizer(network: ModuleDict, schedule: Schedule) -> Optimizer:
    """Adam or SGD with momentum over all weights."""
    options = {"lr": schedule.learning_rate, "weight_decay": schedule.weight_decay, "fused": True}
    if schedule.optimizer == "adam":
        return torch.optim.Adam(network.parameters(), **options)
    return torch.optim.SGD(network.parameters(), momentum=MOMENTUM, **options)


def train(
    training: Training,
    rows: Rows,
    schedule: Schedule,
    update: Callable[[Training, Batch, float], float],
    evidence: Callable[[], float],
) -> Iterator[Training]:
    """Train, and yield after every epoch, when the state can be saved.

    `update(training, batch, progress)` makes the steps of one batch and returns its loss; `evidence()` judges the
    network after an epoch. It never sees a label: `rows` are not given to it. With `schedule.patience`, training ends
    after that many epochs that are worse than the best one, and the weights of the best are put back.
    """
    n_batches = count_batches(rows, schedule.batch_size)
    while training.epoch < schedule.max_epochs and not _stalled(training, schedule.patience):
        total = 0.0
        batches = draw_batches(rows, schedule.batch_size, training.draw, balanced=schedule.balanced)
        for i, batch in enumerate(batches):
            progress = (training.epoch + i / n_batches) / schedule.max_epochs
            _anneal(training.optimizer, schedule.learning_rate, progress)
            total += update(training, batch, progress)
        if not math.isfinite(total):
            raise ValueError(
                f"Training diverged in epoch {training.epoch + 1}: the loss is {total}. Give a smaller learning_rate "
                f"than {schedule.learning_rate}, or scale the rows."
            )
        training.record(total / n_batches, evidence())
        yield training
    if schedule.patience is not None:
        training.network.load_state_dict(training.best_weights)


def descend(training: Training, loss: Tensor, modules: Sequence[Module] | None = None) -> None:
    """One step of the optimiser on the weights of the given modules, of all by default; the others stay."""
    parts = [training.network] if modules is None else modules
    weights = [weight for part in parts for weight in part.parameters()]
    training.optimizer.zero_grad(set_to_none=True)
    gradients = torch.autograd.grad(loss, weights, allow_unused=True)
    for weight, gradient in zip(weights, gradients, strict=True):
        weight.grad = gradient
    training.optimizer.step()


def _stalled(training: Training, patience: int | None) -> bool:
    return patience is not None and training.epoch - training.best_epoch >= patience


def _anneal(optimizer: Optimizer, rate: float, progress: float) -> None:
    for group in optimizer.param_groups:
        group["lr"] = rate / (1 + ANNEALING * progress) ** POWER
