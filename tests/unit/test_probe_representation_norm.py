"""M_{h,op} of representations against a direct computation, and against random-matrix theory where it is known."""

import numpy as np
import pytest

from hierlearn.core.problem import pose
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.pipeline.measurements.representation_norm import RepresentationNorm

STREAMS = Streams(("norms",), (0, 1))


def problem(dimension=12, streams=STREAMS):
    inputs = build("inputs", {"name": "sphere"}, dimension=dimension)
    return pose(inputs, build("teachers", {"name": "ridge_polynomial", "degree": 2}), "unit", 0.0, streams)


def norms(streams=STREAMS, features="relu2", **parameters):
    probe = {"name": "representation_norm", "representation": {"name": "neural", "features": features}} | parameters
    return {
        name: variable.values for name, variable in build("probes", probe).measure(problem(streams=streams)).items()
    }


def test_it_is_the_definition_on_fresh_points():
    found = norms(counts=[10], ratios=[30], whitenings=["full"], samples=500)
    at = STREAMS.at("representation_norm")
    neural = build("representations", {"name": "neural", "features": "relu2", "count": 10, "unlabelled": 300})
    h = neural.apply(neural.fit(problem().unlabelled(300), at), problem().draw("test", 500).x).astype(float)
    for seed in range(2):
        largest = np.linalg.svd(h[seed] / np.sqrt(500), compute_uv=False)[0]
        length = np.linalg.norm(h[seed], axis=1)
        assert found["m_op"][seed].item() == pytest.approx(largest / length.max(), rel=1e-5)
        mean_square = largest / np.sqrt(np.mean(length**2))
        assert found["m_op_mean_square"][seed].item() == pytest.approx(mean_square, rel=1e-5)


def test_whitened_features_near_the_inverse_root_of_their_number_and_bare_ones_do_not_fall():
    found = norms(counts=[8, 16, 32, 64], ratios=[60], samples=6000)
    slope = np.polyfit(np.log([8, 16, 32, 64]), np.log(found["m_op_mean_square"][..., 0].mean(axis=0)).T, 1)[0]
    assert slope == pytest.approx([-0.5, 0.0], abs=0.1)
    np.testing.assert_allclose(found["prediction"], np.array([8, 16, 32, 64]) ** -0.5)


def test_fewer_unlabelled_points_leave_directions_that_stand_out():
    """Whitened on few points, fresh ones see an inverse second moment: the more, the nearer to D^{-1/2}."""
    found = norms(counts=[40], ratios=[2, 8, 64], whitenings=["full"], samples=6000)["m_op_mean_square"][:, 0, 0]
    assert np.all(np.diff(found, axis=1) < 0)
    assert np.all(found > 40**-0.5)


def test_a_cell_has_its_values_whatever_is_measured_beside_it():
    together = norms(counts=[8, 20], ratios=[10, 30])
    alone = norms(STREAMS.take([1]), counts=[20], ratios=[30], whitenings=["none"])
    assert together["m_op"][1, 1, 1, 1] == pytest.approx(alone["m_op"].item(), rel=1e-6)


def test_measures_are_those_that_are_declared():
    assert set(norms()) == set(RepresentationNorm.MEASURES) | {"seed", "whitening", "count", "ratio", "flops"}


def test_a_representation_without_whitening_is_refused():
    with pytest.raises(ValueError, match="expected neural"):
        build("probes", {"name": "representation_norm", "representation": {"name": "raw"}}).measure(problem())
