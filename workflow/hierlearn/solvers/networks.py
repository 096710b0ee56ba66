"""Forward passes of small networks, of many runs at once; the same code for numpy arrays and torch tensors.

R runs, n points, d inputs, m neurons, k outputs. Weights carry the run first; x is (R, n, d + 1) with a last coordinate
of ones, or (R, n, d) without bias. (allenzhu2019, eq. 2.1 and Section 6; Figure 2)
"""

from collections.abc import Callable, Mapping
from typing import Any

Tensors = dict[str, Any]
Gate = Callable[[Any, Any], Any]

ARCHITECTURES = ("two_layer", "three_layer", "resnet")
# Which weights are trained: those of the hidden layers, of the last one, all of them, or the displacement of the hidden
# ones in the linearisation at the start (the finite-width NTK).
TRAINED = ("hidden", "last", "all", "tangent")


def shapes(architecture: str, inputs: int, width: int, outputs: int, bias: bool) -> dict[str, tuple[int, ...]]:
    """Shapes of the weights by name: first W, second V with its bias, last A."""
    known = {"first": (width, inputs + bias)}
    if architecture != "two_layer":
        known["second"] = (width, width if architecture == "three_layer" else outputs)
        if bias:
            known["second_bias"] = (width,)
    return known | {"last": (outputs, width)}


def trainable(architecture: str, trained: str, bias: bool) -> tuple[str, ...]:
    """Names of the weights that are trained."""
    hidden = ("first",) if architecture == "two_layer" else ("first", "second", *(("second_bias",) if bias else ()))
    return {"hidden": hidden, "tangent": hidden, "last": ("last",), "all": (*hidden, "last")}[trained]


def forward(architecture: str, weights: Mapping[str, Any], x: Any, blocks: int = 2) -> Tensors:
    """Activations by name; `out` (R, n, k) is the network's output.

    two_layer: out = A relu(W x). three_layer: out = A relu(V relu(W x) + c).
    resnet: out_1 = A relu(W x), out = out_1 + A relu(V out_1 + c); out = out_1 where `blocks` is 1.
    """
    inner = x @ _transposed(weights["first"])
    hidden = inner.clip(min=0)
    known = {"x": x, "inner": inner, "hidden": hidden}
    below = _mapped(weights["last"], hidden) if architecture != "three_layer" else hidden
    if architecture == "two_layer" or (architecture == "resnet" and blocks == 1):
        return known | {"out": below}
    middle = _second(weights, below)
    top = middle.clip(min=0)
    out = _mapped(weights["last"], top)
    known |= {"below": below, "middle": middle, "top": top}
    return known | {"out": below + out if architecture == "resnet" else out}


def last_features(architecture: str, weights: Mapping[str, Any], x: Any) -> Any:
    """Features (R, n, m) that the last layer sees at the start: the conjugate kernel's.

    The ResNet's last layer sees both blocks, relu(W x) + relu(V out_1 + c), its inner A staying as it was drawn.
    """
    known = forward(architecture, weights, x)
    if architecture == "resnet":
        return known["hidden"] + known["top"]
    return known["hidden" if architecture == "two_layer" else "top"]


def tangent(
    architecture: str, weights: Mapping[str, Any], start: Tensors, displacement: Mapping[str, Any], gate: Gate
) -> Tensors:
    """Activations of the linear model <grad f(start), displacement>: the finite-width NTK without f at the start.

    start: what `forward` gives at the initial `weights`; gate(values, z): the values where z > 0, else 0.
    """
    moved = gate(start["x"] @ _transposed(displacement["first"]), start["inner"])
    if architecture == "two_layer":
        return {"moved": moved, "out": _mapped(weights["last"], moved)}
    below = _mapped(weights["last"], moved) if architecture == "resnet" else moved
    middle = below @ _transposed(weights["second"]) + _second(displacement, start["below"])
    risen = gate(middle, start["middle"])
    out = _mapped(weights["last"], risen)
    return {"moved": moved, "risen": risen, "out": below + out if architecture == "resnet" else out}


def gate(values: Any, z: Any) -> Any:
    """values where z > 0, else 0: the derivative of relu at z times the values (numpy)."""
    return values * (z > 0)


def _second(weights: Mapping[str, Any], below: Any) -> Any:
    middle = below @ _transposed(weights["second"])
    return middle + weights["second_bias"][..., None, :] if "second_bias" in weights else middle


def _transposed(matrix: Any) -> Any:
    return matrix.swapaxes(-1, -2)


def _mapped(last: Any, hidden: Any) -> Any:
    # The long side inside the product: twice as fast for few outputs as hidden @ last^T.
    return _transposed(last @ _transposed(hidden))
