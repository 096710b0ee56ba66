"""Moments of the points of a stretched sphere along its leading directions, after they are scaled to norm 1."""

import numpy as np
import scipy

from hierlearn.theory.spectra import eigenvalues

# Gauss-Jacobi points: the integrand is a rational function of one variable, whose pole lies off the interval.
POINTS = 400


def leading_moment(dimension: int, spikes: int, spike_share: float, order: int) -> float:
    """Return E t^order, order even, t = x_1 of x = Sigma^{1/2} u / |Sigma^{1/2} u|, u isotropic, Sigma with few spikes.

    Sigma: `theory.spectra.eigenvalues`, trace 1. Order 2 gives the largest eigenvalue of the second moment of x, which
    is less than that of Sigma where this stands out: longer points are shortened more. With B the share of |u|^2 along
    the k spikes, Beta(k/2, (d-k)/2), |x|^2 has the share a B / (a B + b (1 - B)) there, a and b the two eigenvalues, of
    which x_1 takes an independent part Beta(1/2, (k-1)/2).
    Raises ValueError for an odd order, or fewer dimensions than spikes and one.
    """
    if order < 2 or order % 2:
        raise ValueError(f"order {order}; expected an even number from 2 on")
    if not 1 <= spikes < dimension:
        raise ValueError(f"{spikes} spikes in {dimension} dimensions; expected one at least, and fewer than dimensions")
    values = eigenvalues("spiked", dimension, spikes=spikes, spike_share=spike_share)
    large, small, half = values[0], values[-1], order // 2
    nodes, weights = scipy.special.roots_jacobi(POINTS, (dimension - spikes) / 2 - 1, spikes / 2 - 1)
    share = (1 + nodes) / 2
    along = large * share / (large * share + small * (1 - share))
    # Of one of k equal directions: E Beta(1/2, (k-1)/2)^half.
    rise = np.arange(half)
    part = np.prod((0.5 + rise) / (spikes / 2 + rise))
    return float(part * np.sum(weights * along**half) / np.sum(weights))
