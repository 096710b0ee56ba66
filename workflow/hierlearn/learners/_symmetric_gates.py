"""What Taylor models of a network with symmetric initialisation share: their gates, and the outputs of order 1."""

from typing import Annotated, Literal

import numpy as np

from hierlearn.core.protocols import TrainingData
from hierlearn.theory.activations import derivative

Loss = Annotated[
    Literal["squared", "logistic", "soft_hinge"],
    "Loss of the training objective; squared is (f - y)^2, the others are for classes.",
]


def normal(generator: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """(rows, columns) float32."""
    return generator.standard_normal((rows, columns)).astype(np.float32)


def first_layers(sample: TrainingData, width: int) -> np.ndarray:
    """w0 of every seed, (S, m/2, D) float32."""
    inputs = sample.features.draw("training", sample.n).shape[-1]
    return sample.streams.at("w0").stack(lambda g: normal(g, width // 2, inputs))


def gates_of(activation: str, order: int, w0: np.ndarray, h: np.ndarray) -> np.ndarray:
    """sigma^(k)(<w0_r, h_i>): (m/2, D), (n, D) -> (n, m), the second half a copy of the first."""
    half = derivative(activation, order)(h @ w0.T)
    return np.concatenate([half, half], axis=1)


def signs_of(width: int) -> np.ndarray:
    """Return a (m,) of +1 and -1, float32."""
    return np.repeat([1.0, -1.0], width // 2).astype(np.float32)


def linear_outputs(gates: np.ndarray, weights: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """m^{-1/2} sum_r a_r g_ir <w_r, h_i>: gates (n, m), weights (..., m, D), h (n, D) -> (..., n)."""
    width = gates.shape[1]
    signed = gates * signs_of(width) / np.sqrt(width)
    return np.einsum("nm,...nm->...n", signed, seen @ np.swapaxes(weights, -1, -2))
