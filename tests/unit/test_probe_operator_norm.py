"""The operator norm of the second moment, against scipy, random matrix theory and laws in closed form."""

import numpy as np
import pytest
from scipy.sparse.linalg import svds

from hierlearn.core.problem import pose
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.pipeline.measurements.operator_norm import OperatorNorm

LAWS = {
    "sphere": {},
    "hypercube": {"base": "signs"},
    "spiked": {"spectrum": "spiked", "spikes": 1, "spike_share": 0.5},
}


def problem(dimension, seeds=(0, 1, 2), law="sphere"):
    teacher = {"name": "parity"} if law == "hypercube" else {"name": "ridge_polynomial", "degree": 2}
    inputs = build("inputs", {"name": law}, dimension=dimension)
    return pose(inputs, build("teachers", teacher), "unit", 0.0, Streams(("norms",), seeds))


def measured(dimension, seeds=(0, 1, 2), law="sphere", **parameters):
    return build("probes", {"name": "operator_norm", **parameters}).measure(problem(dimension, seeds, law))


def test_it_is_the_largest_singular_value_of_the_points():
    """One sample: M_{x,op} is the largest singular value of X / sqrt(n), here by scipy's Lanczos method."""
    dimension, ratio = 8, 3
    value = measured(dimension, (5,), ratios=[ratio], repeats=1)["m_op"].values[0, 0, 0]
    streams = Streams(("norms",), (5,)).at("operator-norm").at("sample", 0).at("points")
    x = build("inputs", {"name": "sphere"}, dimension=dimension).sample(streams, "points", 0, ratio * dimension)[0]
    largest = svds(x.astype(np.float64), k=1, return_singular_vectors=False)[0]
    assert value == pytest.approx(largest / np.sqrt(ratio * dimension), rel=1e-7)


def test_isotropic_points_follow_the_edge_of_marchenko_and_pastur():
    """sqrt(d) M_{x,op} -> 1 + sqrt(d/n), on the sphere and on the hypercube."""
    dimension, ratios = 80, [4, 25]
    values = measured(dimension, laws={key: LAWS[key] for key in ("sphere", "hypercube")}, ratios=ratios)["m_op"].values
    expected = 1 + 1 / np.sqrt(ratios)
    np.testing.assert_allclose(values.mean(axis=0) * np.sqrt(dimension), [expected, expected], rtol=0.03)


def test_signs_are_the_points_of_the_hypercube():
    """Their norm without stretching is that of the problem whose input is the hypercube, up to the sample."""
    signs = measured(40, laws={"cube": {"base": "signs"}}, ratios=[10])["m_op"].values
    cube = measured(40, law="hypercube", ratios=[10])["m_op"].values
    assert signs.mean() == pytest.approx(cube.mean(), rel=0.03)


def test_one_spike_holds_its_share_in_every_dimension():
    """With one spike of half the trace E x_1^2 -> E g^2 / (g^2 + 1), g normal."""
    values = [measured(d, laws={"spiked": LAWS["spiked"]}, ratios=[60])["m_op"].values.mean() for d in (40, 160)]
    nodes, masses = np.polynomial.hermite_e.hermegauss(120)
    limit = np.sqrt(masses @ (nodes**2 / (nodes**2 + 1)) / masses.sum())
    np.testing.assert_allclose(values, limit, rtol=0.03)
    assert values[1] > 5 / np.sqrt(160)


def test_it_never_exceeds_one_and_repeats_lower_its_spread():
    law = {"spiked": {"spectrum": "spiked", "spikes": 1, "spike_share": 0.999}}
    assert np.all(measured(6, laws=law, ratios=[1])["m_op"].values <= 1 + 1e-12)
    seeds = tuple(range(12))
    spread = [measured(6, seeds, ratios=[2], repeats=r)["m_op"].values.std() for r in (1, 16)]
    assert spread[1] < spread[0] / 2


def test_a_seed_and_a_ratio_have_their_values_whatever_is_measured_beside_them():
    together = measured(7, (0, 3), laws=LAWS, ratios=[2, 5])
    alone = measured(7, (3,), laws={"hypercube": LAWS["hypercube"]}, ratios=[2])
    assert together["m_op"].values[1, 1, 0] == alone["m_op"].values[0, 0, 0]


def test_variables_are_named_and_counted():
    found = measured(9, laws=LAWS, ratios=[2, 5], repeats=3)
    assert set(OperatorNorm.MEASURES) < set(found)
    assert found["m_op"].dimensions == ("seed", "law", "samples_per_dimension")
    assert list(found["law"].values) == list(LAWS)
    assert float(found["prediction"].values) == pytest.approx(1 / 3)
    # 3 laws x 3 repeats x (18 + 45) points x 2 x 81.
    assert np.array_equal(found["flops"].values, np.full(3, 3 * 3 * 63 * 2 * 81))


def test_more_spikes_than_dimensions_are_refused():
    with pytest.raises(ValueError, match="spikes 9; expected at most the dimension 4"):
        measured(4, laws={"spiked": {"spectrum": "spiked", "spikes": 9}})
