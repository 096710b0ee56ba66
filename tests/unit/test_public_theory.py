"""The documented functions of theory and statistics say what their rooms compute, on arrays."""

import numpy as np
import pytest

from hierlearn import statistics, theory
from hierlearn.core.registry import build
from hierlearn.datasets import make_ridge_polynomial
from hierlearn.estimators import NTKRegressor


@pytest.mark.parametrize("room", [theory, statistics])
def test_names_are_listed_and_others_are_told_what_there_is(room):
    assert set(room.PUBLIC) <= set(dir(room))
    with pytest.raises(AttributeError, match="has no nothing; it has "):
        _ = room.nothing


def test_dimensions_are_those_of_spaces_of_polynomials():
    # Rank of random monomials on the sphere, by definition.
    x = np.random.default_rng(0).standard_normal((500, 4))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    columns = [np.ones(500), *x.T, *(x[:, i] * x[:, j] for i in range(4) for j in range(i, 4))]
    found = theory.counted_dimensions(4, 4)
    assert found.half == np.linalg.matrix_rank(np.stack(columns, axis=1))
    assert found.polynomials == sum(theory.counted_dimensions(4, k).harmonics for k in range(5))
    assert found.quadratic == 4 * theory.counted_dimensions(4, 2).harmonics
    assert theory.counted_dimensions(4, 1).quadratic == 0
    with pytest.raises(ValueError, match="dimension 1"):
        theory.counted_dimensions(1, 2)


def test_a_predicted_risk_is_that_of_the_estimator():
    kernel, risks = build("kernels", {"name": "ntk", "depth": 2}), []
    for seed in range(5):
        X, y = make_ridge_polynomial(300, 8, degree=2, random_state=seed)
        Z, target = make_ridge_polynomial(2000, 8, degree=2, random_state=seed, role="test")
        model = NTKRegressor(kernel=kernel, alphas=1e-3, fit_intercept=False, scale=None).fit(X, y)
        risks.append(np.mean((model.predict(Z) - target) ** 2))
    predicted = theory.predicted_risk(kernel, 300, dimension=8, target=2, alpha=1e-3)
    assert predicted.shape == ()
    assert np.mean(risks) == pytest.approx(float(predicted), rel=0.15)


def test_samples_for_a_risk_have_that_risk():
    kernel = build("kernels", {"name": "ntk", "depth": 2})
    samples = theory.predicted_sample_complexity(kernel, dimension=6, degree=2, threshold=0.3, alphas=[1e-3])
    risk = theory.predicted_risk(kernel, [samples], dimension=6, target={2: 1.0}, alpha=1e-3)
    assert risk[0] == pytest.approx(0.3, rel=1e-9)


def test_exponents_leave_censored_sizes_out_and_say_so():
    n = np.array([10, 40, 160, 640, 2560])
    risks = np.array([[2.0 ** (2 - k) * d**2 / 10 for k in range(0, 10, 2)] for d in (2, 4, 8, 64)])
    found = statistics.sample_complexity(n, risks, 0.5)
    assert found.status.tolist() == ["observed"] * 3 + ["right_censored"]
    fit = statistics.fit_exponent([2, 4, 8, 64], found)
    assert fit.value == pytest.approx(2.0, abs=0.05)
    assert fit.sizes_fitted == (2, 4, 8)
    assert fit.sizes_excluded == ((64, "1 right-censored of 1 seeds"),)
    with pytest.raises(ValueError, match="expected increasing"):
        statistics.fit_exponent([4, 2], [10, 20])
