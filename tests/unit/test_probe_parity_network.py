"""Norms of networks that are a parity, as a probe: exact errors, the bound, and growth with the dimension."""

from math import sqrt

import numpy as np
import pytest

from hierlearn.core.problem import pose
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.pipeline.measurements.parity_network import ParityNetwork, _judge
from hierlearn.theory.parity_networks import TwoLayerRelu


def posed(law, teacher, dimension=10, seeds=(0, 1)):
    inputs = build("inputs", {"name": law}, dimension=dimension)
    return pose(inputs, build("teachers", teacher), "unit", 0.0, Streams(("built",), seeds))


def problem(dimension=10, seeds=(0, 1), **teacher):
    return posed("hypercube", {"name": "parity", "order": 2} | teacher, dimension, seeds)


def measured(given=None, **parameters):
    parameters = {"width": 30, "copies": 3, "train_errors": [0.3, 0.05]} | parameters
    return build("probes", {"name": "parity_network", **parameters}).measure(given or problem())


def test_the_paper_s_network_lies_between_the_bound_and_its_printed_norm():
    """|W|_F = 12.5 sqrt(d) at an error of 0.037; 16 sqrt(6) / 3 sqrt(d) is the least norm of error 0."""
    found = measured(problem(40, (3,), order=6), width=200, copies=16, train_errors=[0.037])
    assert found["trained_error"].values.item() == pytest.approx(0.037, rel=1e-6)
    floor = (1 - sqrt(0.037)) * 16 * sqrt(6) / 3 * sqrt(40)
    assert found["norm_floor"].values.item() == pytest.approx(floor, rel=1e-6)
    assert floor < found["trained_norm"].values.item() == pytest.approx(12.5 * sqrt(40), rel=0.1)
    assert found["minimal_norm"].values.item() == pytest.approx(16 * sqrt(6) / 3 * sqrt(40), rel=1e-6)
    assert found["minimal_error"].values.item() < 1e-20


def test_errors_are_those_of_the_targets_and_norms_stay_above_their_floor():
    found = measured(problem(order=4), width=60)
    np.testing.assert_allclose(found["trained_error"].values, [[0.3, 0.05]] * 2, rtol=1e-6)
    assert np.all(found["trained_norm"].values >= found["norm_floor"].values)
    np.testing.assert_allclose(found["norm_bound"].values, 8 * sqrt(10), rtol=1e-9)
    np.testing.assert_allclose(found["norm_floor"].values[0], 8 * sqrt(10) * (1 - np.sqrt([0.3, 0.05])), rtol=1e-6)


def test_the_least_norm_grows_as_the_root_of_the_dimension():
    norms = [measured(problem(d, (0,)), train_errors=[0.5])["minimal_norm"].values.item() for d in (5, 20, 80)]
    np.testing.assert_allclose(norms, 2 * sqrt(2) * np.sqrt([5, 20, 80]), rtol=1e-3)


def test_risks_are_exact_at_the_coordinates_of_the_parity():
    """relu(s) + relu(-s) - relu(t) - relu(-t) = 2 z_1 z_2 for s = z_1 + z_2 and t = z_1 - z_2; here a half."""
    rows = np.array([[1.0, 1], [-1, -1], [1, -1], [-1, 1]])
    half = TwoLayerRelu(np.array([1.0, 1, -1, -1]), rows * sqrt(2) / 2)
    norm, risk = _judge(half, problem(6, (0,)))
    assert risk == pytest.approx(0.25, rel=1e-12)
    assert norm == pytest.approx(2 * sqrt(6 / 2), rel=1e-12)


def test_a_seed_has_its_values_whatever_is_measured_beside_it():
    together = measured(problem(seeds=(0, 4)), train_errors=[0.3, 0.05])
    alone = measured(problem(seeds=(4,)), train_errors=[0.05])
    assert together["trained_norm"].values[1, 1] == pytest.approx(alone["trained_norm"].values.item(), rel=1e-9)
    assert together["trained_norm"].values[0, 1] != together["trained_norm"].values[1, 1]


def test_variables_are_named_and_counted():
    found = measured(train_errors=[0.3])
    assert set(found) == set(ParityNetwork.MEASURES) | {"seed", "train_error", "flops"}
    assert found["trained_norm"].dimensions == ("seed", "train_error")
    assert found["minimal_norm"].dimensions == ("seed",)
    # Whole gradients of 4 points, 2 coordinates and 30 rows.
    assert np.all(found["flops"].values > 0)
    assert np.all(found["flops"].values % (4 * 4 * 2 * 30) == 0)


def test_other_problems_are_refused():
    with pytest.raises(ValueError, match="input law 'sphere'; expected one of hypercube"):
        measured(posed("sphere", {"name": "ridge_polynomial", "degree": 2}))
    with pytest.raises(ValueError, match="expected the teacher parity, for regression"):
        measured(problem(kind="classes"))
    with pytest.raises(ValueError, match="order 3; expected an even number up to 6"):
        measured(problem(order=3))
    with pytest.raises(ValueError, match="order 8; expected an even number up to 6"):
        measured(problem(order=8))
