"""Quantities along the share of a spike of the inputs' covariance."""

import numpy as np
from recomputation.estimates import fitted_line, unless
from recomputation.tables import complexities, ratios
from scipy import integrate, stats


def isotropy_slope(files, above, below, spikes=2, where=(), axis="spike_share", threshold=0.3):
    shares, low, high, failed = ratios(files, above, below, dict(where), threshold, axis)
    largest = [along_a_spike(dict(where)["dimension"], spikes, share, 2) for share in shares]
    return unless(failed, fitted_line(np.log(largest), low, high))


def direction_slope(files, learner, degree=2, where=(), axis="spike_share", threshold=0.5):
    shares, low, high, failed = complexities(files.cube, learner, dict(where), threshold, axis=axis)
    moments = [along_a_spike(dict(where)["dimension"], 1, share, 2 * degree) for share in shares]
    return unless(failed, fitted_line(np.log(moments) / degree, low, high))


def along_a_spike(dimension, spikes, share, order):
    """E x_1^order of points along a spike of a covariance of trace 1, scaled to norm 1."""
    large, small = share / spikes, (1 - share) / (dimension - spikes)
    whole = stats.beta(spikes / 2, (dimension - spikes) / 2)

    def density(root):
        # In the root, in which the density has no pole.
        along = large * root**2 / (large * root**2 + small * (1 - root**2))
        return along ** (order // 2) * whole.pdf(root**2) * 2 * root

    part = stats.beta(1 / 2, (spikes - 1) / 2).moment(order // 2) if spikes > 1 else 1.0
    return part * integrate.quad(density, 0, 1, epsabs=0, epsrel=1e-11, limit=200)[0]
