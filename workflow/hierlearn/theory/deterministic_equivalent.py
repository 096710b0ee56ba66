"""Learning curves of kernel ridge regression on the sphere without running it: the deterministic equivalent.

Convention: the coefficients solve (K + n r I) alpha = y with the ridge r >= 0, the inputs are Unif(S^{d-1}),
K(x, z) = h(<x, z>), the target has squared norms per degree, and the label noise is N(0, s^2).
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from hierlearn.theory.dimensions import harmonics
from hierlearn.theory.gegenbauer import Spectrum, spectrum

# Degrees of larger dimension than this are far from learnable; their trace acts as a ridge.
LARGEST_DIMENSION = 1e14
LARGEST_DEGREE = 60
# Larger risks count as this in a search, which ends so near to a root in a logarithm.
LARGEST_RISK, TOLERANCE = 1e3, 1e-14
# Steps per factor of 10 when looking for the first crossing, so that a second descent is not taken for it.
SCAN_PER_DECADE = 12


def spectrum_for(profile: Callable[[np.ndarray], np.ndarray], dimension: int, degree: int) -> Spectrum:
    """Return the spectrum with all degrees that matter for a target of this degree; its tail has the rest."""
    last = degree + 2
    while last < LARGEST_DEGREE and harmonics(dimension, last + 1) <= LARGEST_DIMENSION:
        last += 1
    return spectrum(profile, dimension, last)


def expected_risk(
    kernel: Spectrum, target: Mapping[int, float], samples: float, ridge: float = 0.0, noise: float = 0.0
) -> float:
    """Return E|f - f*|^2 of kernel ridge regression on `samples` points against the noise-free target, in its units.

    n = sum_k N_k xi_k / (xi_k + kappa) + (n r + tail) / kappa,
    gamma = (1/n) sum_k N_k xi_k^2 / (xi_k + kappa)^2 in [0, 1),
    risk = (sum_k t_k^2 kappa^2 / (xi_k + kappa)^2 + s^2 gamma) / (1 - gamma)
    in the limit of many points (Canatar, Bordelon, Pehlevan 2021; Simon et al. 2023). The trace of unresolved degrees
    (tail) counts as a ridge, exact as long as kappa is far above their eigenvalues.

    target: squared L2 norm t_k^2 per degree k; a degree outside the spectrum is never learned. noise: s.
    """
    kept = kernel.eigenvalues > 0
    values, counts = kernel.eigenvalues[kept], kernel.multiplicity[kept]
    kappa = _kappa(values, counts, samples, samples * ridge + kernel.tail)
    gamma = float(np.sum(counts * (values / (values + kappa)) ** 2)) / samples
    eigenvalue = dict(zip(kernel.degrees[kept].tolist(), values.tolist(), strict=True))
    # What is never learned stays whole.
    shares = {k: kappa / (eigenvalue[k] + kappa) if k in eigenvalue else 1.0 for k in target}
    bias = sum(square * shares[k] ** 2 for k, square in target.items())
    return (bias + noise**2 * gamma) / (1.0 - gamma) if gamma < 1.0 else float("inf")


def sample_complexity(
    profile: Callable[[np.ndarray], np.ndarray],
    dimension: int,
    degree: int,
    threshold: float,
    ridges: Sequence[float] = (0.0,),
    noise: float = 0.0,
    largest: float = 1e16,
) -> float:
    """Return the least real n with risk <= threshold < 1 at the best ridge, for a unit-norm target of one degree.

    It may be below 1; NaN if above `largest`. Scanned upwards in log n for the first crossing, then root-found.
    """
    kernel = spectrum_for(profile, dimension, degree)

    def excess(logarithm: float) -> float:
        # A risk is infinite at some sizes, which no interpolation survives.
        risks = (expected_risk(kernel, {degree: 1.0}, np.exp(logarithm), ridge, noise) for ridge in ridges)
        return min(*risks, LARGEST_RISK) - threshold

    step = np.log(10.0) / SCAN_PER_DECADE
    high = 0.0
    while excess(high) > 0:
        high += step
        if high > np.log(largest):
            return float("nan")
    low = high - step
    while excess(low) <= 0:
        low -= step
    return _root(excess, low, high)


def _kappa(values: np.ndarray, counts: np.ndarray, samples: float, ridge: float) -> float:
    """Return the kappa at which the degrees of freedom, ridge / kappa included, equal the samples; else 0."""
    if ridge == 0 and np.sum(counts) <= samples:
        return 0.0

    def freedom(kappa: float) -> float:
        return float(np.sum(counts * values / (values + kappa))) + ridge / kappa

    # Above the root by a factor e, whatever rounding does.
    high = np.log((float(np.sum(counts * values)) + ridge) / samples) + 1.0
    low = high - 2.0
    while freedom(np.exp(low)) <= samples:
        low -= 1.0
    # Logarithms, between which the curve is nearly straight.
    return _root(lambda logarithm: np.log(freedom(np.exp(logarithm)) / samples), low, high)


def _root(curve: Callable[[float], float], low: float, high: float) -> float:
    """e to the root of a curve between two logarithms, at which its signs differ."""
    # Imported here: whoever asks for no root does not wait for scipy.
    from scipy.optimize import brentq

    return float(np.exp(brentq(curve, low, high, xtol=TOLERANCE)))
