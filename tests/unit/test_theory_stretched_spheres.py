"""Moments along a spike against points that are drawn, and where they are known."""

import numpy as np
import pytest

from hierlearn.core.registry import build
from hierlearn.theory.stretched_spheres import leading_moment


@pytest.mark.parametrize(("dimension", "spikes", "share"), [(8, 1, 0.03), (8, 1, 0.7), (5, 4, 0.9), (48, 2, 0.9)])
def test_moments_along_a_spike_are_those_of_points(dimension, spikes, share):
    law = {"name": "anisotropic_sphere", "spectrum": "spiked", "spikes": spikes, "spike_share": share}
    points = build("inputs", law, dimension=dimension).draw(np.random.default_rng(0), 50_000)
    for order in (2, 4, 6):
        drawn = points[:, 0] ** order
        error = drawn.std() / np.sqrt(len(drawn))
        assert leading_moment(dimension, spikes, share, order) == pytest.approx(drawn.mean(), abs=4 * error)


@pytest.mark.parametrize(("dimension", "spikes"), [(8, 1), (12, 3), (2, 1)])
def test_where_no_direction_stands_out_they_are_those_of_the_sphere(dimension, spikes):
    d, share = dimension, spikes / dimension
    known = {2: 1 / d, 4: 3 / (d * (d + 2)), 6: 15 / (d * (d + 2) * (d + 4))}
    for order, moment in known.items():
        assert leading_moment(d, spikes, share, order) == pytest.approx(moment, rel=1e-9)


def test_a_point_along_the_spikes_alone_has_the_moments_of_their_circle():
    assert leading_moment(9, 2, 1 - 1e-12, 2) == pytest.approx(1 / 2, rel=1e-3)


def test_other_orders_and_too_many_spikes_are_refused():
    with pytest.raises(ValueError, match="order 3; expected an even number"):
        leading_moment(8, 1, 0.5, 3)
    with pytest.raises(ValueError, match="8 spikes in 8 dimensions"):
        leading_moment(8, 8, 0.5, 2)
