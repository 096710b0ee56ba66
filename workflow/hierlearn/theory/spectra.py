"""Spectra of a covariance: isotropic, falling as a power, or with a few spikes."""

from typing import Any

import numpy as np

# Half of the variance in one direction; j^-2, whose leading share stays when directions are added.
SHAPES: dict[str, dict[str, Any]] = {
    "isotropic": {},
    "power": {"exponent": 2.0},
    "spiked": {"spikes": 1, "spike_share": 0.5},
}


def eigenvalues(
    name: str, dimension: int, exponent: float = 1.0, spikes: int = 2, spike_share: float = 0.5
) -> np.ndarray:
    """Return eigenvalues (d,) float64 of a covariance of trace 1, the leading ones first.

    isotropic: 1/d each; power: proportional to j^-exponent; spiked: `spikes` directions hold `spike_share` of the trace
    in equal parts and the others the rest. Raises ValueError for an unknown name or more spikes than dimensions.
    """
    if name not in SHAPES:
        raise ValueError(f"spectrum {name!r}; expected one of {', '.join(SHAPES)}")
    if name == "isotropic":
        return np.full(dimension, 1.0 / dimension)
    if name == "power":
        values = np.arange(1, dimension + 1, dtype=np.float64) ** -exponent
        return values / np.sum(values)
    if spikes > dimension:
        raise ValueError(f"spikes {spikes}; expected at most the dimension {dimension}")
    others = dimension - spikes
    rest = np.full(others, (1.0 - spike_share) / max(others, 1))
    values = np.concatenate([np.full(spikes, spike_share / spikes), rest])
    return values / np.sum(values)


def stretch(x: np.ndarray, spectrum: np.ndarray) -> np.ndarray:
    """Return Sigma^{1/2} x / |Sigma^{1/2} x|, Sigma of diagonal (d,) spectrum: (..., d) -> (..., d), unit norm."""
    moved = x * np.sqrt(spectrum)
    return moved / np.linalg.norm(moved, axis=-1, keepdims=True)


def colour(x: np.ndarray, spectrum: str) -> np.ndarray:
    """Return h = (D Lambda)^{1/2} x with tr Lambda = 1: E|h|^2 = 1 for isotropic x of unit norm.

    x (..., D) -> (..., D) of its dtype. Only `isotropic` features keep |h| = 1 for every x: the others are not scaled
    back, so that their largest and their mean square norm differ.
    """
    variances = eigenvalues(spectrum, x.shape[-1], **SHAPES[spectrum])
    return x * np.sqrt(x.shape[-1] * variances).astype(x.dtype)
