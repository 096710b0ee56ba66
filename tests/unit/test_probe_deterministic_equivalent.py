"""Theory lines: risks and n* of one curve, in the units of kernel ridge regression as the learner runs it."""

import numpy as np
import pytest

from hierlearn.core.problem import pose
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.pipeline.measurements.deterministic_equivalent import DeterministicEquivalent
from hierlearn.solvers.ridge import ridge_path
from hierlearn.theory.gegenbauer import orthonormal


def measured(dimension=8, degree=2, **parameters):
    teacher = build("teachers", {"name": "ridge_polynomial", "basis": "gegenbauer", "degree": degree})
    inputs = build("inputs", {"name": "sphere"}, dimension=dimension)
    problem = pose(inputs, teacher, "unit", 0.0, Streams(("theory",), (0,)))
    return build("probes", {"name": "deterministic_equivalent", **parameters}).measure(problem)


def test_the_risk_at_n_star_is_the_threshold_and_only_there():
    lines = {"raw": {"name": "ntk_raw"}, "rbf": {"name": "rbf"}}
    stars = measured(40, lines=lines, thresholds=[0.5])["sample_complexity"].values[:, 0]
    around = [int(n * factor) for n in stars for factor in (0.9, 1.0, 1.2)]
    risk = measured(40, lines=lines, samples=around)["risk"].values[:, 0]
    np.testing.assert_allclose([risk[0, 1], risk[1, 4]], 0.5, atol=2e-3)
    assert risk[0, 0] > 0.5 > risk[0, 2] and risk[1, 3] > 0.5 > risk[1, 5]


def test_ridges_are_in_units_of_the_mean_diagonal_as_those_of_the_learner():
    """ntk_neural has a diagonal of 1/8."""
    kernel, ridges, samples = build("kernels", {"name": "ntk_neural"}), [1e-4, 1e-2, 0.3], 100
    found = measured(lines={"a": {"name": "ntk_neural"}}, ridges=ridges, samples=[samples])["risk"].values[0, :, 0]
    values = []
    for seed in range(12):
        x = np.random.default_rng(seed).standard_normal((samples + 1500, 8))
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        target = orthonormal(2, 8, x[:, 0])
        gram = kernel(x[:samples])
        scale = np.mean(np.diag(gram))
        duals = ridge_path(gram, target[:samples], np.array(ridges) * scale).coefficients[..., 0]
        error = kernel(x[samples:], x[:samples]) @ duals.T - target[samples:, None]
        values.append(np.mean(error**2, axis=0) / np.mean(target[samples:] ** 2))
    assert np.mean(np.diag(gram)) == pytest.approx(0.125)
    np.testing.assert_allclose(np.mean(values, axis=0), found, rtol=0.12)


def test_variables_have_their_coordinates():
    found = measured(lines={"a": {"name": "rbf"}}, thresholds=[0.5, 0.1], ridges=[0.0, 1e-3], samples=[10, 20])
    assert set(found) == set(DeterministicEquivalent.MEASURES) | set(DeterministicEquivalent.COORDINATES)
    assert found["risk"].dimensions == ("line", "ridge", "samples")
    assert np.all(found["risk"].values > 0)


def test_other_problems_are_refused():
    inputs = build("inputs", {"name": "hypercube"}, dimension=4)
    problem = pose(inputs, build("teachers", {"name": "parity"}), "unit", 0.0, Streams(("theory",), (0,)))
    with pytest.raises(ValueError, match="expected sphere inputs and a gegenbauer teacher"):
        build("probes", {"name": "deterministic_equivalent"}).measure(problem)
