"""The tangent kernel of a convolutional network of finite width: products of its Jacobians at one set of weights."""

from collections.abc import Iterator, Mapping

import numpy as np
import torch

from hierlearn.solvers.convolutional import model
from hierlearn.solvers.convolutional.architecture import Architecture

# Points whose Jacobians are made at once.
BLOCK_POINTS = 128
Arrays = Mapping[str, np.ndarray]


def statistics_of_points(network: Architecture, weights: Arrays, x: np.ndarray, device: str) -> dict[str, np.ndarray]:
    """Means and variances of all batch normalisations on points (n, height, width, channels), each (1, channels)."""
    own = _tensors(weights, device)
    running = {name: torch.zeros_like(values) for name, values in _tensors(model.statistics(weights), device).items()}
    with torch.no_grad():
        found = model.layers(network, own, running, torch.tensor(x[None], device=device), trained_from=0)
        model.head(network, own, running, [found[i] for i in network.linked], batch=True)
    # One step from 0 of a running mean of these points.
    return {name: (values / model.MOMENTUM)[0].cpu().numpy() for name, values in running.items()}


def gram(network: Architecture, weights: Arrays, x: np.ndarray, z: np.ndarray | None, device: str) -> np.ndarray:
    """K(x, z) = (1/k) sum_j <grad f_j(x), grad f_j(z)> over the k outputs, (n, n') float64; z None: K(x, x).

    weights: of all layers and the head, with the statistics of their batch normalisations, which do not hang on the
    batch. The gradients are those of all weights, float32.
    """
    outputs = weights["head_bias"].shape[-1]
    found = np.zeros((len(x), len(x if z is None else z)))
    for j in range(outputs):
        known = torch.cat(list(_jacobians(network, weights, x if z is None else z, j, device)))
        if z is None:
            found += (known @ known.T).cpu().numpy()
            continue
        for i, part in enumerate(_jacobians(network, weights, x, j, device)):
            found[i * BLOCK_POINTS :][: len(part)] += (part @ known.T).cpu().numpy()
    # Rounding of a product of an array with itself need not be symmetric.
    return (found + found.T) / (2 * outputs) if z is None else found / outputs


def _jacobians(
    network: Architecture, weights: Arrays, x: np.ndarray, output: int, device: str
) -> Iterator[torch.Tensor]:
    """Blocks (n', p) of the gradients of one output with respect to all p weights."""
    shared = _tensors(weights, device)
    moving = [name for name in shared if not ("mean" in name or "variance" in name)]
    for i in range(0, len(x), BLOCK_POINTS):
        points = torch.tensor(x[i : i + BLOCK_POINTS, None], device=device)
        # As many networks as points, each with a point of its own: their gradients do not mix.
        own = {name: values.expand(len(points), *values.shape[1:]) for name, values in shared.items()}
        leaves = own | {name: own[name].detach().requires_grad_() for name in moving}
        found = model.outputs(network, leaves, leaves, points)[:, 0, output].sum()
        slopes = torch.autograd.grad(found, [leaves[name] for name in moving])
        yield torch.cat([slope.flatten(1) for slope in slopes], dim=1)


def _tensors(arrays: Arrays, device: str) -> dict[str, torch.Tensor]:
    return {name: torch.tensor(values[None], device=device) for name, values in arrays.items()}
