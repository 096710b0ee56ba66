"""What networks and their kernels share: the architecture, and the law of the weights at the start."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from hierlearn.core.parameters import Count, Positive
from hierlearn.core.protocols import State
from hierlearn.core.streams import Streams
from hierlearn.solvers.networks.model import shapes


@dataclass(frozen=True, kw_only=True)
class NetworkParameters:
    """The architecture, and the law of the weights at the start."""

    architecture: Annotated[
        Literal["two_layer", "three_layer", "resnet"],
        "A relu(W x), A relu(V relu(W x)), or out + A relu(V out) with out = A relu(W x).",
    ] = "resnet"
    width: Annotated[Count, "Number m of neurons per layer."] = 200
    bias: Annotated[bool, "Layers see (x, 1) and (out, 1)."] = True
    first_scale: Annotated[
        Positive | None, "sigma_w: standard deviation of W's entries at the start; null is d^{-1/2}."
    ] = None
    second_scale: Annotated[
        Positive, "sigma_v: the entries of V have standard deviation sigma_v m^{-1/2} at the start."
    ] = 1.0
    last_weights: Annotated[
        Literal["gaussian", "signs"], "A: Gaussian with standard deviation m^{-1/2}, or random signs over m^{1/2}."
    ] = "gaussian"


def initial(learner: NetworkParameters, inputs: int, outputs: int, streams: Streams) -> State:
    """Weights at the start by name, (S, ...) float32."""
    deviations = {
        "first": inputs**-0.5 if learner.first_scale is None else learner.first_scale,
        "second": learner.second_scale * learner.width**-0.5,
        "second_bias": learner.second_scale * learner.width**-0.5,
        "last": learner.width**-0.5,
    }
    weights = {}
    for name, shape in shapes(learner.architecture, inputs, learner.width, outputs, learner.bias).items():
        draw = _signs if name == "last" and learner.last_weights == "signs" else _normal
        drawn = streams.at("start", name).stack(lambda g, draw=draw, shape=shape: draw(g, shape))
        weights[name] = (deviations[name] * drawn).astype(np.float32)
    return weights


def first_seen(learner: NetworkParameters, x: np.ndarray) -> np.ndarray:
    """Points as the first layer sees them: (S, n, d) -> (S, n, d + 1) with a bias."""
    x = x.reshape(*x.shape[:2], -1)
    return np.concatenate([x, np.ones((*x.shape[:2], 1), x.dtype)], axis=-1) if learner.bias else x


def _normal(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return generator.standard_normal(shape, dtype=np.float32)


def _signs(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return generator.integers(0, 2, shape).astype(np.float32) * 2 - 1
