"""Losses of all methods, as pure functions of tensors; rows are samples."""

import math

from lpjt.deep._torch import Tensor, torch

#: Kernels of the multi-kernel discrepancy, and the ratio of neighbouring bandwidths.
N_KERNELS, KERNEL_RATIO = 5, 2.0


def squared_distances(A: Tensor, B: Tensor) -> Tensor:
    """Squared Euclidean distances, (n, m)."""
    squares = (A * A).sum(dim=1)[:, None] + (B * B).sum(dim=1)[None, :]
    return (squares - 2 * A @ B.T).clamp(min=0)  # rounding makes small ones negative


def mean_squared_distance(Z: Tensor) -> Tensor:
    """Mean over the pairs of different rows, twice their variance; without a gradient, and positive."""
    Z = Z.detach()
    mean = 2 * (Z - Z.mean(dim=0)).square().sum() / max(len(Z) - 1, 1)
    return mean.clamp(min=torch.finfo(Z.dtype).tiny ** 0.5)  # all rows equal


def linear_mmd(Z_source: Tensor, Z_target: Tensor) -> Tensor:
    """Squared distance of the means, in units of the mean squared distance of all rows, which has no gradient."""
    Z = torch.cat([Z_source, Z_target])
    return (Z_source.mean(dim=0) - Z_target.mean(dim=0)).square().sum() / mean_squared_distance(Z)


def kernel_mmd(
    Z_source: Tensor, Z_target: Tensor, weights: Tensor | None = None, *, n_kernels: int = N_KERNELS
) -> Tensor:
    """Squared MMD under the mean of Gaussian kernels exp(-d^2 / s), s the mean d^2 times 2^k, k around zero.

    The biased estimate: never negative, and defined for a single row. `weights`, (n_source,), sum to one and replace
    1 / n_source. No gradient goes through the bandwidths.
    """
    n_source, n_target = len(Z_source), len(Z_target)
    if weights is None:
        weights = Z_source.new_full((n_source,), 1 / n_source)
    signed = torch.cat([weights, Z_target.new_full((n_target,), -1 / n_target)])
    Z = torch.cat([Z_source, Z_target])
    distances, bandwidth = squared_distances(Z, Z), mean_squared_distance(Z)
    kernel = torch.zeros_like(distances)
    for k in range(n_kernels):
        kernel = kernel + torch.exp(-distances / (bandwidth * KERNEL_RATIO ** (k - n_kernels // 2)))
    return signed @ (kernel / n_kernels) @ signed


def matching_weights(y: Tensor, proportions: Tensor) -> Tensor:
    """Weights of rows, sum 1, under which the classes of a batch have the given proportions; absent ones have none."""
    counts = torch.bincount(y, minlength=len(proportions))
    weights = (proportions / counts.clamp(min=1))[y]
    total = weights.sum()
    return weights / total if total > 0 else torch.full_like(weights, 1 / len(y))


def entropies(scores: Tensor) -> Tensor:
    """Entropy of the distribution of each row, (n,), in nats; scores are logits."""
    logs = scores.log_softmax(dim=1)
    return -(logs.exp() * logs).sum(dim=1)


def information(scores: Tensor) -> Tensor:
    """Mutual information of rows and labels: entropy of the mean distribution less the mean entropy, in nats."""
    mean = scores.softmax(dim=1).mean(dim=0)
    return -torch.xlogy(mean, mean).sum() - entropies(scores).mean()


def reverse_gradient(x: Tensor, strength: float) -> Tensor:
    """The same values; gradients that come back through it are multiplied by -strength."""
    same = x.view_as(x)
    if same.requires_grad:
        same.register_hook(lambda gradient: -strength * gradient)
    return same


def reversal_strength(progress: float) -> float:
    """2 / (1 + exp(-10 p)) - 1, from 0 at the start to nearly 1 at the end of training."""
    return 2 / (1 + math.exp(-10 * progress)) - 1


def domain_loss(
    scores_source: Tensor,
    scores_target: Tensor,
    weights_source: Tensor | None = None,
    weights_target: Tensor | None = None,
) -> Tensor:
    """Binary cross-entropy of logits, (n, 1), for "is source"; both domains count equally, weights have mean 1."""
    softplus = torch.nn.functional.softplus
    of_source, of_target = softplus(-scores_source[:, 0]), softplus(scores_target[:, 0])
    if weights_source is not None:
        of_source = weights_source * of_source
    if weights_target is not None:
        of_target = weights_target * of_target
    return (of_source.mean() + of_target.mean()) / 2


def certainty_weights(scores: Tensor) -> Tensor:
    """1 + exp(-entropy) of each row over their mean, (n,), without a gradient."""
    weights = 1 + torch.exp(-entropies(scores.detach()))
    return weights / weights.mean()


def multilinear_map(Z: Tensor, P: Tensor) -> Tensor:
    """Outer product of the rows, (n, width of Z times width of P)."""
    return (P[:, :, None] * Z[:, None, :]).flatten(start_dim=1)


def discrepancy(scores: Tensor, other: Tensor) -> Tensor:
    """Mean absolute difference of two distributions over the classes."""
    return (scores.softmax(dim=1) - other.softmax(dim=1)).abs().mean()


def pair_loss(U: Tensor, y: Tensor) -> Tensor:
    """Mean over pairs i != j of log(1 + exp(s)) - [y_i = y_j] s, where s is half the product of two codes."""
    s = U @ U.T / 2
    terms = torch.nn.functional.softplus(s) - (y[:, None] == y[None, :]) * s
    n = len(U)
    return (terms.sum() - terms.diagonal().sum()) / max(n * (n - 1), 1)


def quantisation_loss(U: Tensor) -> Tensor:
    """Mean squared distance of codes from their signs."""
    return (U - U.detach().sign()).square().mean()


def class_similarity(U: Tensor, references: Tensor, y: Tensor, n_classes: int) -> Tensor:
    """Log of the mean exp(u . v) over the references v of each class, (n, n_classes); absent classes have -inf."""
    members = torch.nn.functional.one_hot(y, n_classes).to(U.dtype)  # (n_references, n_classes)
    products = U @ references.T
    largest = products.detach().max(dim=1, keepdim=True).values
    means = torch.exp(products - largest) @ members / members.sum(dim=0).clamp(min=1)
    # A class far from a row underflows; it stays below every other and its gradient vanishes.
    floor = torch.finfo(U.dtype).tiny
    logs = means.clamp(min=floor).log() + largest
    return logs.masked_fill(members.sum(dim=0) == 0, -math.inf)


def class_means(Z: Tensor, y: Tensor, fallback: Tensor) -> Tensor:
    """Mean row of each class, (n_classes, width); of a class without rows, that of `fallback`."""
    members = torch.nn.functional.one_hot(y, len(fallback)).to(Z.dtype)
    counts = members.sum(dim=0)[:, None]
    return torch.where(counts > 0, members.T @ Z / counts.clamp(min=1), fallback)


def orthogonality(means: Tensor) -> Tensor:
    """Mean squared cosine between the rows of different classes; 0 for a single one."""
    unit = torch.nn.functional.normalize(means, dim=1)
    cosines = unit @ unit.T
    n = len(means)
    return (cosines.square().sum() - cosines.diagonal().square().sum()) / max(n * (n - 1), 1)


def joint_costs(
    Z_source: Tensor, y_source: Tensor, Z_target: Tensor, scores_target: Tensor, *, distance: float, label: float
) -> Tensor:
    """Cost of pairing rows, (n_source, n_target): mean squared difference and cross-entropy, weighted."""
    apart = squared_distances(Z_source, Z_target) / Z_source.shape[1]
    surprise = -scores_target.log_softmax(dim=1)[:, y_source].T
    return distance * apart + label * surprise
