"""The tangent kernel of a convolutional network of finite width: products of its gradients at one set of weights."""

from collections.abc import Iterator, Mapping

import numpy as np
import torch
from torch.nn import functional

from hierlearn.solvers.convolutional import architecture, model
from hierlearn.solvers.convolutional.architecture import Architecture, Layer

Arrays = Mapping[str, np.ndarray]


def statistics_of_points(network: Architecture, weights: Arrays, x: np.ndarray, device: str) -> dict[str, np.ndarray]:
    """Return all batch normalisations' means and variances on points (n, height, width, channels), (1, channels)."""
    own = _tensors(weights, device)
    running = {name: torch.zeros_like(values) for name, values in _tensors(model.statistics(weights), device).items()}
    with torch.no_grad():
        found = model.layers(network, own, running, torch.tensor(x[None], device=device), trained_from=0)
        model.head(network, own, running, [found[i] for i in network.linked], batch=True)
    # One step from 0 of a running mean of these points.
    return {name: (values / model.MOMENTUM)[0].cpu().numpy() for name, values in running.items()}


def gram(
    network: Architecture, weights: Arrays, x: np.ndarray, z: np.ndarray, device: str, own: np.ndarray | None = None
) -> np.ndarray:
    """Return K(x, z) = (1/k) sum_j <grad f_j(x), grad f_j(z)> over the k outputs, (n, n') float64.

    weights: of all layers and the head, with the statistics of their batch normalisations, which do not hang on the
    batch. The gradients are those of all weights, float32. K(z, z), as far as rounding is symmetric, is added to `own`.
    """
    outputs = weights["head_bias"].shape[-1]
    step = network.outputs_at_once(outputs, len(z))
    across = np.zeros((len(x), len(z)))
    for chosen in (range(outputs)[first : first + step] for first in range(0, outputs, step)):
        blocks = _gradients(network, weights, z, chosen, device)
        known = [[torch.cat(factors) for factors in zip(*parts, strict=True)] for parts in zip(*blocks, strict=True)]
        if own is not None:
            own += _products(known, known) / outputs
        for i, parts in enumerate(_gradients(network, weights, x, chosen, device)):
            across[i * architecture.BLOCK_POINTS :][: len(parts[0][0])] += _products(parts, known)
    return across / outputs


def grams(
    network: Architecture, weights: Arrays, x: np.ndarray, z: np.ndarray, device: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return K(x, x), exactly symmetric, and K(z, x) as in `gram`: the gradients at x serve both."""
    own = np.zeros((len(x), len(x)))
    across = gram(network, weights, z, x, device, own)
    # Rounding of a product of an array with itself need not be symmetric.
    return (own + own.T) / 2, across


def _gradients(
    network: Architecture, weights: Arrays, x: np.ndarray, outputs: range, device: str
) -> Iterator[list[list[torch.Tensor]]]:
    """Blocks of n' points: the gradients of these outputs as parts, each of one or two factors (n', places, numbers).

    The inner product of two points' gradients is the sum over parts, and over pairs of places, of the products of the
    inner products of their factors. Parts: all weights but those that follow, output by output; the head; then every
    factored layer, whose gradient is the sum over places of what it sees there, the same for all outputs, times the
    slope in what its filters make there, which is put side by side, output by output.
    """
    shared = _tensors(weights, device)
    apart = {"head_weight", "head_bias"} | {f"layer{i}_weight0" for i in network.factored}
    moving = [name for name in weights if not ("mean" in name or "variance" in name or name in apart)]
    for first in range(0, len(x), architecture.BLOCK_POINTS):
        points = torch.tensor(x[first : first + architecture.BLOCK_POINTS, None], device=device)
        # As many networks as points, each with a point of its own: their gradients do not mix.
        own = {name: values.expand(len(points), *values.shape[1:]) for name, values in shared.items()}
        leaves = own | {name: own[name].detach().requires_grad_() for name in moving}
        offsets = {f"layer{i}_offset0": _zeros(network.layers[i], points) for i in network.factored}
        leaves |= offsets
        found = model.layers(network, leaves, leaves, points)
        features = model.head_inputs(network, leaves, leaves, [found[i] for i in network.linked], batch=False)
        values = torch.baddbmm(leaves["head_bias"], features, leaves["head_weight"])[:, 0]
        wanted = [*(leaves[name] for name in moving), *offsets.values()]
        slopes = [torch.autograd.grad(values[:, j].sum(), wanted, retain_graph=j != outputs[-1]) for j in outputs]
        whole = torch.cat([slope.flatten(1) for row in slopes for slope in row[: len(moving)]], dim=1)
        # Those of an output are in weights of its own, with its bias as one of an input of 1.
        head = functional.pad(features.detach(), (0, 1), value=1.0) * len(outputs) ** 0.5
        parts = [[whole[:, None]], [head]]
        for k, i in enumerate(network.factored, start=len(moving)):
            given = found[i - 1].detach() if i else points
            back = torch.cat([row[k].flatten(1, 3) for row in slopes], dim=-1)
            parts.append([model.patches(network.layers[i].convolutions[0], given), back])
        yield parts


def _zeros(layer: Layer, points: torch.Tensor) -> torch.Tensor:
    """Offsets of a convolution's output for every point, place and filter, (n', 1, height, width, filters)."""
    size = layer.convolutions[0].size(layer.given)
    return points.new_zeros(len(points), 1, *size, layer.channels).requires_grad_()


def _products(one: list[list[torch.Tensor]], other: list[list[torch.Tensor]]) -> np.ndarray:
    """Inner products of gradients at n points with those at n' points, (n, n') float32."""
    first, *rest = (_product(*parts) for parts in zip(one, other, strict=True))
    return sum(rest, start=first).cpu().numpy()


def _product(one: list[torch.Tensor], other: list[torch.Tensor]) -> torch.Tensor:
    """Return the same of one part, (n, n'), in blocks where pairs of places are more than pairs of points."""
    if len(one) == 1:
        return one[0].flatten(1) @ other[0].flatten(1).T
    found, step = one[0].new_empty(len(one[0]), len(other[0])), architecture.BLOCK_POINTS
    for i in range(0, len(one[0]), step):
        for j in range(0, len(other[0]), step):
            # (n places, n' places) for every factor.
            parts = [
                a[i : i + step].flatten(0, 1) @ b[j : j + step].flatten(0, 1).T for a, b in zip(one, other, strict=True)
            ]
            joint = parts[0].mul_(parts[1]).unflatten(1, (-1, other[0].shape[1])).sum(2)
            found[i : i + step, j : j + step] = joint.unflatten(0, (-1, one[0].shape[1])).sum(1)
    return found


def _tensors(arrays: Arrays, device: str) -> dict[str, torch.Tensor]:
    return {name: torch.tensor(values[None], device=device) for name, values in arrays.items()}
