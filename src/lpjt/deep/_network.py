"""Parts of the networks; every weight is drawn from the generator of the fit, never from torch's own."""

from itertools import pairwise
from math import sqrt

from lpjt.deep._torch import Generator, Module, Tensor, torch


def linear(n_in: int, n_out: int, draw: Generator) -> Module:
    """A linear layer with weights and offsets uniform within 1 / sqrt(n_in), as torch has them."""
    layer = torch.nn.utils.skip_init(torch.nn.Linear, n_in, n_out)
    bound = 1 / sqrt(n_in)
    with torch.no_grad():
        layer.weight.uniform_(-bound, bound, generator=draw)
        layer.bias.uniform_(-bound, bound, generator=draw)
    return layer


def layers(widths: list[int], draw: Generator) -> Module:
    """Linear layers with ReLU between them."""
    parts: list[Module] = []
    for n_in, n_out in pairwise(widths):
        parts += [linear(n_in, n_out, draw), torch.nn.ReLU()]
    return torch.nn.Sequential(*parts[:-1])


def bottleneck(width: int, hidden: int, draw: Generator) -> Module:
    """From the features to the shared embedding: a linear layer and ReLU."""
    return torch.nn.Sequential(linear(width, hidden, draw), torch.nn.ReLU())


def memory(**tensors: Tensor) -> Module:
    """Tensors that are kept with the weights and not trained."""
    module = torch.nn.Module()
    for name, tensor in tensors.items():
        module.register_buffer(name, tensor)
    return module


def drop(Z: Tensor, share: float, draw: Generator) -> Tensor:
    """Dropout that draws from the generator of the fit."""
    if share == 0:
        return Z
    kept = torch.rand(Z.shape, generator=draw) >= share
    return Z * kept / (1 - share)
