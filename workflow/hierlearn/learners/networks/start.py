"""What networks and their kernels share: the architecture, and the law of the weights at the start."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal

import numpy as np

from hierlearn.core.parameters import Count, Positive
from hierlearn.core.protocols import State
from hierlearn.core.streams import Streams
from hierlearn.solvers.networks import shapes


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

    def with_bias(self, x: np.ndarray) -> np.ndarray:
        """Return points as the first layer sees them: (S, n, ...) -> (S, n, d), or (S, n, d + 1) with a bias."""
        x = x.reshape(*x.shape[:2], -1)
        return np.concatenate([x, np.ones((*x.shape[:2], 1), x.dtype)], axis=-1) if self.bias else x

    def initial_weights(self, inputs: int, outputs: int, streams: Streams) -> State:
        """Draw weights at the start by name, (S, ...) float32."""
        deviations = {
            "first": inputs**-0.5 if self.first_scale is None else self.first_scale,
            "second": self.second_scale * self.width**-0.5,
            "second_bias": self.second_scale * self.width**-0.5,
            "last": self.width**-0.5,
        }
        weights = {}
        for name, shape in shapes(self.architecture, inputs, self.width, outputs, self.bias).items():
            if name == "last" and self.last_weights == "signs":
                bits = streams.at("start", name).stack(partial(_bits, shape=shape))
                values = 2 * bits.astype(np.float32) - 1
            else:
                values = streams.at("start", name).stack(partial(_normal, shape=shape))
            weights[name] = (deviations[name] * values).astype(np.float32)
        return weights


def _bits(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return generator.integers(0, 2, shape)


def _normal(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return generator.standard_normal(shape, np.float32)
