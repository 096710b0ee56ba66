"""Forward passes of small networks, of many runs at once.

R runs, n points, d inputs, m neurons, k outputs. Weights carry the run first; x is (R, n, d + 1) with a last coordinate
of ones, or (R, n, d) without bias. (allenzhu2019, eq. 2.1 and Section 6; Figure 2)
"""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from hierlearn.theory.activations import relu

Arrays = dict[str, np.ndarray]


def shapes(architecture: str, inputs: int, width: int, outputs: int, bias: bool) -> dict[str, tuple[int, ...]]:
    """Shapes of the weights by name: first W, second V with its bias, last A."""
    shapes_of = {"first": (width, inputs + bias)}
    if architecture != "two_layer":
        shapes_of["second"] = (width, width if architecture == "three_layer" else outputs)
        if bias:
            shapes_of["second_bias"] = (width,)
    return shapes_of | {"last": (outputs, width)}


def trainable(architecture: str, trained: str, bias: bool) -> tuple[str, ...]:
    """Names of the weights that are trained: of the hidden layers, of the last one, of all, or the hidden ones again,
    whose displacement `tangent` has in the linearisation at the start (the finite-width NTK)."""
    hidden = ("first",) if architecture == "two_layer" else ("first", "second", *(("second_bias",) if bias else ()))
    return {"hidden": hidden, "tangent": hidden, "last": ("last",), "all": (*hidden, "last")}[trained]


def forward(architecture: str, weights: Mapping[str, np.ndarray], x: np.ndarray, blocks: int = 2) -> Arrays:
    """Activations by name; `out` (R, n, k) is the network's output.

    two_layer: out = A relu(W x). three_layer: out = A relu(V relu(W x) + c).
    resnet: out_1 = A relu(W x), out = out_1 + A relu(V out_1 + c); out = out_1 where `blocks` is 1.
    """
    hidden = times(x, weights["first"].mT)
    relu(hidden, out=hidden)
    activations = {"x": x, "hidden": hidden}
    below = times(hidden, weights["last"].mT) if architecture != "three_layer" else hidden
    if architecture == "two_layer" or (architecture == "resnet" and blocks == 1):
        return activations | {"out": below}
    top = _second(weights, below)
    relu(top, out=top)
    out = times(top, weights["last"].mT)
    activations |= {"below": below, "top": top}
    return activations | {"out": below + out if architecture == "resnet" else out}


def last_features(architecture: str, weights: Mapping[str, np.ndarray], x: np.ndarray) -> np.ndarray:
    """Features (R, n, m) that the last layer sees at the start: the conjugate kernel's.

    The ResNet's last layer sees both blocks, relu(W x) + relu(V out_1 + c), its inner A staying as it was drawn.
    """
    activations = forward(architecture, weights, x)
    if architecture == "resnet":
        return activations["hidden"] + activations["top"]
    return activations["hidden" if architecture == "two_layer" else "top"]


def tangent(
    architecture: str, weights: Mapping[str, np.ndarray], start: Arrays, displacement: Mapping[str, np.ndarray]
) -> Arrays:
    """Activations of <grad f(start), displacement>, the finite-width NTK; start: `forward` at the initial `weights`."""
    moved = gate(times(start["x"], displacement["first"].mT), start["hidden"])
    if architecture == "two_layer":
        return {"moved": moved, "out": times(moved, weights["last"].mT)}
    below = times(moved, weights["last"].mT) if architecture == "resnet" else moved
    middle = _second(displacement, start["below"])
    middle += times(below, weights["second"].mT)
    risen = gate(middle, start["top"])
    out = times(risen, weights["last"].mT)
    return {"moved": moved, "risen": risen, "out": below + out if architecture == "resnet" else out}


def tangent_factors(
    architecture: str, weights: Mapping[str, np.ndarray], x: np.ndarray, outputs: Iterable[int]
) -> Iterator[list[tuple[np.ndarray, np.ndarray]]]:
    """The gradients of some outputs in the hidden weights, point by point, as factors.

    For output j pairs of left (R, n, m) and right (R, n, q) with grad f_j = left right^T, in W first, then in V with
    its bias: the tangent kernel of the output is the sum of (left left'^T) (right right'^T), entry by entry.
    """
    activations = forward(architecture, weights, x)
    hidden = activations["hidden"] > 0
    for j in outputs:
        last = weights["last"][..., j : j + 1, :]
        if architecture == "two_layer":
            yield [(hidden * last, x)]
            continue
        risen, below = (activations["top"] > 0) * last, activations["below"]
        if "second_bias" in weights:
            below = np.concatenate([below, np.ones((*below.shape[:-1], 1), below.dtype)], axis=-1)
        back = times(risen, weights["second"])
        if architecture == "resnet":
            back = last + times(back, weights["last"])
        yield [(back * hidden, x), (risen, below)]


def gate(values: np.ndarray, z: np.ndarray) -> np.ndarray:
    """values where z > 0, else 0, in their place: the derivative of relu at z times the values."""
    values *= z > 0
    return values


def times(x: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """x @ matrix, where the (S, G, n, m) of a seed's runs share its (S, 1, m, k): one product for each seed."""
    if x.shape[-1] == 1:
        # The same numbers, three times as fast.
        return x * matrix
    if matrix.ndim < 4 or matrix.shape[1] != 1 or x.shape[1] == 1:
        return x @ matrix
    seeds, runs, points, inner = x.shape
    return (x.reshape(seeds, runs * points, inner) @ matrix[:, 0]).reshape(seeds, runs, points, -1)


def _second(weights: Mapping[str, np.ndarray], below: np.ndarray) -> np.ndarray:
    middle = times(below, weights["second"].mT)
    if "second_bias" in weights:
        middle += weights["second_bias"][..., None, :]
    return middle
