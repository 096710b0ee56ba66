"""The tangent kernel of a convolutional network of finite width: products of its Jacobians at one set of weights."""

from collections.abc import Iterator, Mapping

import numpy as np
import torch

from hierlearn.solvers.convolutional import architecture, model
from hierlearn.solvers.convolutional.architecture import Architecture

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


def gram(network: Architecture, weights: Arrays, x, z, device: str, own: np.ndarray | None = None) -> np.ndarray:
    """K(x, z) = (1/k) sum_j <grad f_j(x), grad f_j(z)> over the k outputs, (n, n') float64.

    weights: of all layers and the head, with the statistics of their batch normalisations, which do not hang on the
    batch. The gradients are those of all weights, float32. K(z, z), as far as rounding is symmetric, is added to `own`.
    """
    outputs = weights["head_bias"].shape[-1]
    step = network.outputs_at_once(outputs, len(z))
    across = np.zeros((len(x), len(z)))
    for places in (range(outputs)[first : first + step] for first in range(0, outputs, step)):
        known = [torch.cat(blocks) for blocks in zip(*_jacobians(network, weights, z, places, device), strict=True)]
        for rows in known if own is not None else ():
            own += (rows @ rows.T).cpu().numpy() / outputs
        for i, parts in enumerate(_jacobians(network, weights, x, places, device)):
            for part, rows in zip(parts, known, strict=True):
                across[i * architecture.BLOCK_POINTS :][: len(part)] += (part @ rows.T).cpu().numpy()
    return across / outputs


def grams(
    network: Architecture, weights: Arrays, x: np.ndarray, z: np.ndarray, device: str
) -> tuple[np.ndarray, np.ndarray]:
    """K(x, x), exactly symmetric, and K(z, x) as in `gram`: the Jacobians at x serve both."""
    own = np.zeros((len(x), len(x)))
    across = gram(network, weights, z, x, device, own)
    # Rounding of a product of an array with itself need not be symmetric.
    return (own + own.T) / 2, across


def _jacobians(
    network: Architecture, weights: Arrays, x: np.ndarray, outputs: range, device: str
) -> Iterator[list[torch.Tensor]]:
    """Blocks of points: the gradients of each of these outputs with respect to all p weights, (n', p) each."""
    shared = _tensors(weights, device)
    moving = [name for name in weights if not ("mean" in name or "variance" in name)]
    for i in range(0, len(x), architecture.BLOCK_POINTS):
        points = torch.tensor(x[i : i + architecture.BLOCK_POINTS, None], device=device)
        # As many networks as points, each with a point of its own: their gradients do not mix.
        own = {name: values.expand(len(points), *values.shape[1:]) for name, values in shared.items()}
        leaves = own | {name: own[name].detach().requires_grad_() for name in moving}
        found, parts = model.outputs(network, leaves, leaves, points)[:, 0], []
        for j in outputs:
            slopes = torch.autograd.grad(found[:, j].sum(), [leaves[n] for n in moving], retain_graph=j != outputs[-1])
            parts.append(torch.cat([slope.flatten(1) for slope in slopes], dim=1))
        yield parts


def _tensors(arrays: Arrays, device: str) -> dict[str, torch.Tensor]:
    return {name: torch.tensor(values[None], device=device) for name, values in arrays.items()}
