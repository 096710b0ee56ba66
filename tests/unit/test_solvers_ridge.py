"""Exact ridge regression over paths: against dense solves and brute-force leave-one-out; kernels to refuse."""

import warnings

import numpy as np
import pytest

from hierlearn.solvers import ridge as solver
from hierlearn.solvers.ridge import fit_rows, leave_one_out, linear_ridge_path, ridge_path, usable_paths


def sphere_kernel(n=150, dimension=5, seed=0, smooth=False):
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((n, dimension))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    cosine = np.clip(points @ points.T, -1.0, 1.0)
    np.fill_diagonal(cosine, 1.0)
    kernel = np.exp(2.0 * (cosine - 1.0)) if smooth else cosine * (1.0 - np.arccos(cosine) / np.pi) + 0.1
    targets = np.stack([points[:, 0] ** 2, points[:, 1] + 0.1 * rng.standard_normal(n)], axis=1)
    return 0.5 * (kernel + kernel.T), targets


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("smooth", [False, True])
def test_path_agrees_with_dense_solves(columns, smooth):
    kernel, targets = sphere_kernel(smooth=smooth)
    targets, ridges = targets[:, :columns], np.logspace(-6, -1, 6)
    duals = ridge_path(kernel, targets, ridges)
    assert duals.coefficients.shape == (6, 150, columns)
    assert duals.residuals.max() <= 1e-9
    for ridge, found in zip(ridges, duals.coefficients, strict=True):
        expected = np.linalg.solve(kernel + 150 * ridge * np.eye(150), targets)
        assert np.linalg.norm(found - expected) <= 1e-4 * np.linalg.norm(expected)
        assert np.linalg.norm(kernel @ (found - expected)) <= 1e-7 * np.linalg.norm(targets)


def test_a_flat_spectrum_is_solved_without_factorisation():
    kernel, targets = sphere_kernel(400)
    duals = ridge_path(kernel, targets[:, :1], [1e-2, 1e-1], budget=40.0)
    assert duals.method == "lanczos"
    assert duals.residuals.max() <= 1e-9


@pytest.mark.parametrize(("count", "method"), [(3, "lanczos+cholesky"), (20, "lanczos+eigh")])
def test_unresolved_ridges_fall_back_to_a_factorisation(count, method):
    kernel, targets = sphere_kernel()
    ridges = np.logspace(-5, -4, count)
    duals = ridge_path(kernel, targets, ridges, budget=0.5)
    assert duals.method == method
    assert duals.residuals.max() <= 1e-9


@pytest.mark.parametrize(("ridges", "least"), [([1.0, 1e-6], 6), ([1e-5, 1e-6], 0)])
def test_a_sweep_that_will_resolve_no_ridge_is_given_up(ridges, least, monkeypatch):
    kernel, targets = sphere_kernel(400)
    products = []
    multiply = solver.scipy.linalg.blas.dsymv
    monkeypatch.setattr(solver.scipy.linalg.blas, "dsymv", lambda *a: products.append(1) or multiply(*a))
    duals = ridge_path(kernel, targets[:, :1], ridges, budget=1.2)
    assert least <= len(products) <= (12 if least else 5)
    assert duals.residuals.max() <= 1e-9


def test_duals_do_not_depend_on_the_order_of_the_ridges():
    kernel, targets = sphere_kernel()
    one, other = ridge_path(kernel, targets, [1e-3, 1e-1]), ridge_path(kernel, targets, [1e-1, 1e-3])
    np.testing.assert_allclose(one.coefficients, other.coefficients[::-1], rtol=1e-9, atol=1e-12)


def test_dependent_and_zero_targets_are_solved():
    kernel, targets = sphere_kernel()
    twice = np.hstack([targets, targets @ [[1.0], [2.0]]])
    duals = ridge_path(kernel, twice, [1e-3])
    np.testing.assert_allclose(
        duals.coefficients[0, :, 2], duals.coefficients[0, :, :2] @ [1.0, 2.0], rtol=1e-7, atol=1e-9
    )
    assert not ridge_path(kernel, np.zeros(150), [1e-3]).coefficients.any()


def test_low_rank_kernel_ends_in_an_invariant_subspace():
    rng = np.random.default_rng(0)
    factor = rng.standard_normal((80, 3))
    duals = ridge_path(factor @ factor.T, factor[:, 0], [1e-4, 1e-2], budget=100.0)
    assert duals.method == "lanczos"
    assert duals.residuals.max() <= 1e-9


def test_a_basis_that_spans_everything_is_not_continued():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = ridge_path(np.diag([2.0, 1.0, 0.5]), np.array([1.0, 0.0, 0.0]), [0.1])
    assert found.coefficients[0] == pytest.approx([1 / 2.3, 0, 0])


@pytest.mark.parametrize("budget", [0.5, 100.0])
def test_kernel_with_a_negative_eigenvalue_is_refused(budget):
    kernel, targets = sphere_kernel()
    kernel -= 0.5 * np.eye(150)
    with pytest.raises(ValueError, match="not positive"):
        ridge_path(kernel, targets, [1e-6], budget=budget)
    with pytest.raises(ValueError, match="not positive"):
        leave_one_out(kernel, targets, 1e-6)


@pytest.mark.parametrize(("count", "budget"), [(1, 0.5), (20, 0.5), (2, 100.0)])
def test_a_ridge_mends_a_negative_eigenvalue_that_it_outweighs(count, budget):
    """As rounding leaves one of 1e-8 where cosines are so close to 1 that they do not tell the angle."""
    kernel, targets = sphere_kernel()
    values, vectors = np.linalg.eigh(kernel)
    kernel = (vectors * np.where(np.arange(150) == 0, -1e-6, values)) @ vectors.T
    ridges = np.linspace(1e-4, 1e-3, count)
    duals = ridge_path(kernel, targets, ridges, budget=budget)
    assert duals.residuals.max() <= 1e-8
    expected = np.linalg.solve(kernel + 150 * ridges[0] * np.eye(150), targets)
    assert np.linalg.norm(duals.coefficients[0] - expected) <= 1e-6 * np.linalg.norm(expected)


def test_a_kernel_of_zeros_has_no_coefficients_without_a_ridge():
    duals = ridge_path(np.zeros((4, 4)), np.arange(4.0), [0.0, 0.5])
    assert not duals.coefficients[0].any()
    assert duals.coefficients[1, :, 0].tolist() == [0.0, 0.5, 1.0, 1.5]
    assert duals.residuals.tolist() == [1.0, 0.0]
    assert leave_one_out(np.zeros((4, 4)), np.arange(4.0), 0.0)[:, 0].tolist() == [0.0, 1.0, 2.0, 3.0]


def test_hopeless_ridges_are_left_out_of_all_systems():
    kernel, targets = sphere_kernel(30)
    singular = np.ones((30, 30))
    usable, paths = usable_paths([kernel, singular], [targets, targets[:, :1]], np.array([1e308, 0.1, 1e-300, 1e-3]))
    assert usable.tolist() == [1, 3]
    for matrix, columns, duals in zip([kernel, singular], [targets, targets[:, :1]], paths, strict=True):
        alone = ridge_path(matrix, columns, [0.1, 1e-3])
        assert np.array_equal(duals.coefficients, alone.coefficients)
    usable, paths = usable_paths([singular], [targets], np.array([1e-300, np.inf]))
    assert (len(usable), paths) == (0, None)


@pytest.mark.parametrize("targets", [np.zeros(5), np.ones(5)])
def test_rows_of_features_that_are_zero_stay_zero(targets):
    fit = fit_rows(np.zeros((5, 3)), np.ones((5, 4)), targets, 0.1)
    assert not fit.weights.any()
    assert fit.objective == pytest.approx(np.mean(targets**2))


@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (5, 1)])
def test_one_sample_and_one_feature_have_a_linear_path(shape):
    features, targets = np.full(shape, 2.0), np.full(shape[0], 6.0)
    (weights,) = linear_ridge_path(features, targets, [0.5])
    # n h^2 / (n h^2 + n ridge) of the target, along the features.
    square = 4.0 * shape[1]
    assert features @ weights[:, 0] == pytest.approx(6.0 * square / (square + 0.5))
    assert not linear_ridge_path(np.zeros(shape), targets, [0.0, 0.5, np.inf]).any()


def test_entries_that_are_not_finite_are_refused():
    kernel, targets = sphere_kernel()
    kernel[3, 4] = np.nan
    with pytest.raises(ValueError, match="finite"):
        ridge_path(kernel, targets, [1e-3])


@pytest.mark.parametrize("ridge", [1e-3, 1e-1])
def test_leave_one_out_agrees_with_fits_without_each_sample(ridge):
    kernel, targets = sphere_kernel(30)
    errors = leave_one_out(kernel, targets, ridge)
    for i in range(30):
        rest = np.arange(30) != i
        dual = np.linalg.solve(kernel[np.ix_(rest, rest)] + 30 * ridge * np.eye(29), targets[rest])
        np.testing.assert_allclose(errors[i], targets[i] - kernel[i, rest] @ dual, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("shape", [(60, 7), (10, 25)])
def test_linear_path_agrees_with_normal_equations(shape):
    rng = np.random.default_rng(0)
    features, targets = rng.standard_normal(shape), rng.standard_normal((shape[0], 2))
    ridges = [1e-3, 1.0]
    for ridge, weights in zip(ridges, linear_ridge_path(features, targets, ridges), strict=True):
        gram = features.T @ features + shape[0] * ridge * np.eye(shape[1])
        np.testing.assert_allclose(weights, np.linalg.solve(gram, features.T @ targets), rtol=1e-8)


def test_linear_path_without_ridge_is_least_squares_of_least_norm():
    rng = np.random.default_rng(0)
    features, targets = rng.standard_normal((10, 25)), rng.standard_normal(10)
    expected = np.linalg.lstsq(features, targets, rcond=None)[0]
    np.testing.assert_allclose(linear_ridge_path(features, targets, [0.0])[0, :, 0], expected, atol=1e-12)
