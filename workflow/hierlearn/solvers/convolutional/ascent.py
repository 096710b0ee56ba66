"""What the units of a layer look for: pictures by gradient ascent on what a unit takes before its activation."""

import numpy as np
import torch

from hierlearn.solvers.convolutional import model
from hierlearn.solvers.convolutional.architecture import Architecture


def pictures(network: Architecture, weights: model.Tensors, begin, steps: int, length: float, norm: float):
    """Pictures (units, height, width, channels) float32 of all units of the last layer of one network, at rest.

    Each maximises the mean over places of what its unit takes, on the ball of a norm, by steps of a length along the
    gradient from `begin` (height, width, channels)  (allenzhu2020, Figures 2 and 10, without their decay). weights: of
    one run, (1, ...).
    """
    x = torch.tensor(np.asarray(begin, np.float32)).repeat(network.layers[-1].channels, 1, 1, 1)
    for _ in range(steps):
        x.requires_grad_(True)
        means = model.units(network, weights, weights, x[None])[0].mean(dim=(1, 2))
        (slope,) = torch.autograd.grad(means.diagonal().sum(), x)
        with torch.no_grad():
            x = x + length * _scaled(slope, 1.0)
            x = torch.where(_norms(x) > norm, _scaled(x, norm), x)
    return x.detach().numpy()


def _norms(x: torch.Tensor) -> torch.Tensor:
    return x.flatten(1).norm(dim=1)[:, None, None, None]


def _scaled(x: torch.Tensor, norm: float) -> torch.Tensor:
    """Pictures of a norm; those that vanish stay."""
    return norm * x / _norms(x).clamp_min(1e-30)
