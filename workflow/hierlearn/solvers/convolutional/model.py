"""What a convolutional network makes of pictures, for many networks at once, on torch tensors.

R networks, n pictures: activations are (R, n, height, width, channels), so that patches which do not overlap are views
and every layer is one batched matrix product. No network's numbers depend on which others are computed beside it.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch.nn import functional

from hierlearn.solvers.convolutional.architecture import NARROW, Architecture, Convolution

Tensors = Mapping[str, torch.Tensor]
EPSILON, MOMENTUM = 1e-5, 0.1


def start(
    shape: Mapping[str, tuple[int, ...]], generator: Callable[[str], np.random.Generator]
) -> dict[str, np.ndarray]:
    """Draw weights of one network, float32: normal, variance 2 / inputs, 1 / inputs for the head; scales 1, else 0."""
    found = {}
    for name, size in shape.items():
        if "scale" in name:
            found[name] = np.ones(size, np.float32)
        elif "shift" in name or "bias" in name:
            found[name] = np.zeros(size, np.float32)
        else:
            gain = 1.0 if name.startswith("head") else 2.0
            normal = generator(name).standard_normal(size)
            found[name] = (normal * np.sqrt(gain / size[0])).astype(np.float32)
    return found


def statistics(weights: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return running means and variances at the start, of all batch normalisations among some weights."""
    scales = {name: values for name, values in weights.items() if "scale" in name}
    return {
        name.replace("scale", word): np.full_like(values, value)
        for name, values in scales.items()
        for word, value in (("mean", 0.0), ("variance", 1.0))
    }


def layers(
    network: Architecture,
    weights: Tensors,
    running: Tensors,
    x: torch.Tensor,
    trained_from: int | None = None,
    first: int = 0,
) -> list[torch.Tensor]:
    """Return outputs of the layers from `first` on, of what the layer before made.

    trained_from: from which layer on batches are normalised by themselves, and `running` takes them up; None: nowhere.
    """
    found = []
    for i in range(first, len(network.layers)):
        batch = trained_from is not None and i >= trained_from
        x = _layer(network, i, weights, running, x, batch)
        found.append(x)
    return found


def head(
    network: Architecture, weights: Tensors, running: Tensors, seen: Sequence[torch.Tensor], batch: bool
) -> torch.Tensor:
    """Return outputs (R, n, k) from those of the layers that the head sees."""
    return torch.baddbmm(
        weights["head_bias"], head_inputs(network, weights, running, seen, batch), weights["head_weight"]
    )


def head_inputs(
    network: Architecture, weights: Tensors, running: Tensors, seen: Sequence[torch.Tensor], batch: bool
) -> torch.Tensor:
    """Return what the head's weights multiply, (R, n, features)."""
    parts, norm = [], 0
    for i, x in zip(network.linked, seen, strict=True):
        if network.activation == "relu" and network.layers[i].kind != "plain":
            x = torch.relu(_normalised(weights, running, x, "head", norm, batch))
            norm += 1
        parts.append(x.mean(dim=(2, 3)) if network.head == "mean" else x.flatten(2))
    return torch.cat(parts, dim=-1)


def outputs(network: Architecture, weights: Tensors, running: Tensors, x: torch.Tensor) -> torch.Tensor:
    """Return outputs: (R, n, height, width, channels) -> (R, n, k), at rest."""
    found = layers(network, weights, running, x)
    return head(network, weights, running, [found[i] for i in network.linked], batch=False)


def units(network: Architecture, weights: Tensors, running: Tensors, x: torch.Tensor) -> torch.Tensor:
    """Return what units of the last layer take before activation, at rest: (R, n, height, width, channels)."""
    last = len(network.layers) - 1
    for i in range(last):
        x = _layer(network, i, weights, running, x, False)
    layer = network.layers[last]
    if layer.kind == "residual":
        # It ends with none.
        return _layer(network, last, weights, running, x, False)
    found = _convolution(layer.convolutions[0], x, weights[f"layer{last}_weight0"])
    if layer.kind == "plain" and network.activation != "quadratic":
        return _normalised(weights, running, found, f"layer{last}", 0, False)
    return found


def pictures(
    network: Architecture, weights: Tensors, begin: ArrayLike, steps: int, length: float, norm: float
) -> np.ndarray:
    """Return pictures (units, height, width, channels) float32 of all units of the last layer of one network, at rest.

    Each maximises the mean over places of what its unit takes, on the ball of a norm, by steps of a length along the
    gradient from `begin` (height, width, channels)  (allenzhu2020, Figures 2 and 10, without their decay). weights: of
    one run, (1, ...).
    """
    x = torch.tensor(np.asarray(begin, np.float32)).repeat(network.layers[-1].channels, 1, 1, 1)
    for _ in range(steps):
        x.requires_grad_(True)
        means = units(network, weights, weights, x[None])[0].mean(dim=(1, 2))
        (slope,) = torch.autograd.grad(means.diagonal().sum(), x)
        with torch.no_grad():
            x = x + length * _scaled(slope, 1.0)
            x = torch.where(_norms(x) > norm, _scaled(x, norm), x)
    return x.detach().numpy()


def _layer(
    network: Architecture, i: int, weights: Tensors, running: Tensors, x: torch.Tensor, batch: bool
) -> torch.Tensor:
    layer = network.layers[i]

    def normalised(x: torch.Tensor, j: int) -> torch.Tensor:
        return _normalised(weights, running, x, f"layer{i}", j, batch)

    def convolved(x: torch.Tensor, j: int) -> torch.Tensor:
        found = _convolution(layer.convolutions[j], x, weights[f"layer{i}_weight{j}"])
        # Zero at every place, for tangent kernels: the gradient in it is that in the convolution's output.
        offset = weights.get(f"layer{i}_offset{j}")
        return found if offset is None else found + offset

    if layer.kind == "residual":
        if network.activation == "quadratic":
            entered = x
            found = normalised(quadratic(convolved(entered, 0)), 0)
            found = normalised(quadratic(convolved(found, 1)), 1)
        else:
            entered = torch.relu(normalised(x, 0))
            found = convolved(torch.relu(normalised(convolved(entered, 0), 1)), 1)
        shortcut = layer.shortcut
        return found + (x if shortcut is None else _convolution(shortcut, entered, weights[f"layer{i}_shortcut"]))
    found = convolved(x, 0)
    if network.activation == "quadratic":
        found = normalised(quadratic(found), 0)
    elif layer.kind == "plain":
        found = torch.relu(normalised(found, 0))
    return found.mean(dim=(2, 3), keepdim=True) if layer.whole else _pooled(found, layer.pool, network.pooling)


def _norms(x: torch.Tensor) -> torch.Tensor:
    return x.flatten(1).norm(dim=1)[:, None, None, None]


def _scaled(x: torch.Tensor, norm: float) -> torch.Tensor:
    """Pictures of a norm; those that vanish stay."""
    return norm * x / _norms(x).clamp_min(1e-30)


def quadratic(z: torch.Tensor) -> torch.Tensor:
    """Return sigma(z) = z + 0.1 z^2  (allenzhu2020, Figure 11)."""
    return z * (1.0 + 0.1 * z)


def _pooled(x: torch.Tensor, side: int, how: str) -> torch.Tensor:
    if side == 1:
        return x
    height, width = x.shape[2] // side, x.shape[3] // side
    # One side after the other, place by place: torch reduces two dimensions that do not touch twenty times slower.
    join = torch.maximum if how == "max" else torch.add
    rows = reduce(join, x[:, :, : height * side, : width * side].unflatten(2, (height, side)).unbind(3))
    cells = reduce(join, rows.unflatten(3, (width, side)).unbind(4))
    return cells if how == "max" else cells / side**2


def patches(one: Convolution, x: torch.Tensor) -> torch.Tensor:
    """Cut (R, n, height, width, channels) -> (R, n places, entries), of filters that do not overlap."""
    (high, wide), size = one.kernel, one.size((x.shape[2], x.shape[3]))
    x = x[:, :, : size[0] * high, : size[1] * wide]
    cells = x.unflatten(3, (size[1], wide)).unflatten(2, (size[0], high)).transpose(3, 4)
    return cells.reshape(len(x), x.shape[1] * size[0] * size[1], -1)


def _convolution(one: Convolution, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """weight (R, height width inputs, outputs), in this order."""
    networks, n = x.shape[:2]
    (high, wide), (down, across), (above, beside) = one.kernel, one.stride, one.padding
    size = one.size((x.shape[2], x.shape[3]))
    x = torch.cat([x, x[:, :, :, : one.wrap]], dim=3) if one.wrap else x
    if one.kernel == one.stride and one.padding == (0, 0):
        columns = patches(one, x)
    elif x.is_cuda or one.inputs > NARROW:
        return _convolved(one, x, weight.unflatten(1, (high, wide, one.inputs)).permute(0, 4, 3, 1, 2))
    else:
        x = functional.pad(x, (0, 0, beside, beside, above, above))
        last = [(size[0] - 1) * down + 1, (size[1] - 1) * across + 1]
        places = [(i, j) for i in range(high) for j in range(wide)]
        shifted = [x[:, :, i : i + last[0] : down, j : j + last[1] : across] for i, j in places]
        columns = torch.cat(shifted, dim=-1).reshape(networks, n * size[0] * size[1], -1)
    return torch.bmm(columns, weight).view(networks, n, *size, one.outputs)


def _convolved(one: Convolution, x: torch.Tensor, filters: torch.Tensor) -> torch.Tensor:
    """By torch's own convolution; filters (R, outputs, inputs, height, width)."""
    networks, n, height, width, channels = x.shape
    if n == 1:
        # Networks with a picture each, as for tangent kernels, are groups of channels of one picture.
        x = x.permute(1, 0, 4, 2, 3).reshape(1, networks * channels, height, width)
        found = functional.conv2d(x, filters.flatten(0, 1), None, one.stride, one.padding, groups=networks)
        return found.unflatten(1, (networks, -1)).permute(1, 0, 3, 4, 2).contiguous()
    if _is_alone_on_gpu(x):
        found = functional.conv2d(x.squeeze(0).permute(0, 3, 1, 2), filters.squeeze(0), None, one.stride, one.padding)
        return found.permute(0, 2, 3, 1).unsqueeze(0)
    each = [
        functional.conv2d(part.permute(0, 3, 1, 2), own, None, one.stride, one.padding).permute(0, 2, 3, 1)
        for part, own in zip(x, filters, strict=True)
    ]
    return torch.stack(each)


def _is_alone_on_gpu(x: torch.Tensor) -> bool:
    """Whether points (R, n, height, width, channels) are those of one network on a GPU. There are kernels for it: what
    parts, joins and normalises many networks passes over their numbers again and again, and starts many kernels."""
    return x.is_cuda and len(x) == 1


def _normalised(weights: Tensors, running: Tensors, x: torch.Tensor, place: str, j: int, batch: bool) -> torch.Tensor:
    """Batch normalisation over all but networks and channels, by the batch or by what is running."""
    scale, shift = weights[f"{place}_scale{j}"], weights[f"{place}_shift{j}"]
    mean, variance = f"{place}_mean{j}", f"{place}_variance{j}"
    if _is_alone_on_gpu(x) and x.shape[1:-1].numel() > 1:
        rest, parts = (running[mean].view(-1), running[variance].view(-1)), (scale.view(-1), shift.view(-1))
        found = functional.batch_norm(x.squeeze(0).permute(0, 3, 1, 2), *rest, *parts, batch, MOMENTUM, EPSILON)
        return found.permute(0, 2, 3, 1).unsqueeze(0)
    # Means and variances of bfloat16 would lose what is left after them.
    rows = x.reshape(len(x), -1, x.shape[-1]).float()
    if not batch:
        factor = scale * torch.rsqrt(running[variance] + EPSILON)
        return torch.addcmul(shift - running[mean] * factor, rows, factor).view(x.shape)
    normalise: Callable[..., tuple[torch.Tensor, torch.Tensor, torch.Tensor]] = _BatchNormalisation.apply
    found, centre, spread = normalise(rows, scale, shift)
    with torch.no_grad():
        n = rows.shape[1]
        running[mean].lerp_(centre, MOMENTUM)
        running[variance].lerp_(spread * (n / max(n - 1, 1)), MOMENTUM)
    return found.view(x.shape)


class _BatchNormalisation(torch.autograd.Function):
    """(R, N, C) by its means and variances over N; its own gradient, for torch's takes seven passes."""

    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, scale: torch.Tensor, shift: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        # In two passes, which take a fifth of the time of torch.var_mean along this dimension.
        mean = x.mean(dim=1, keepdim=True)
        unit = x - mean
        variance = unit.square().mean(dim=1, keepdim=True)
        root = torch.rsqrt(variance + EPSILON)
        unit.mul_(root)
        ctx.save_for_backward(unit, root, scale)
        ctx.mark_non_differentiable(mean, variance)
        return torch.addcmul(shift, unit, scale), mean, variance

    @staticmethod
    def backward(ctx: Any, *slopes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        slope = slopes[0]
        unit, root, scale = ctx.saved_tensors
        shifts = slope.sum(dim=1, keepdim=True)
        scales = (slope * unit).sum(dim=1, keepdim=True)
        n = unit.shape[1]
        found = (slope - shifts / n).sub_(unit * (scales / n)).mul_(scale * root)
        return found, scales, shifts
