"""Leave-one-out errors by one decomposition, and regression on landmarks, against their definitions."""

import numpy as np
import pytest

from hierlearn.solvers.nystrom import Nystrom
from hierlearn.solvers.ridge import leave_one_out, ridge_path
from hierlearn.solvers.ridge_spectrum import leave_one_out_path


@pytest.fixture
def case():
    generator = np.random.default_rng(0)
    x = generator.standard_normal((40, 3))
    kernel = np.exp(-np.sum((x[:, None] - x) ** 2, axis=-1) / 2)
    return kernel, generator.standard_normal((40, 2))


def test_all_ridges_have_the_errors_and_coefficients_of_each(case):
    kernel, y = case
    ridges = np.array([1.0, 1e-2, 1e-5])
    found = leave_one_out_path(kernel.copy(), y, ridges)
    np.testing.assert_allclose(found.coefficients, ridge_path(kernel, y, ridges).coefficients, rtol=1e-6, atol=1e-9)
    for ridge, errors in zip(ridges, found.errors, strict=True):
        np.testing.assert_allclose(errors, leave_one_out(kernel, y, ridge), rtol=1e-7, atol=1e-10)


def test_a_ridge_too_small_for_the_kernel_gives_no_number():
    kernel = np.ones((5, 5))
    found = leave_one_out_path(kernel, np.arange(5.0), [0.1, 0.0])
    assert np.isfinite(found.errors[0]).all() and np.isnan(found.errors[1]).all()


@pytest.mark.parametrize(
    "kernel, y, ridges",
    [(np.eye(3), np.ones(2), [1.0]), (np.eye(2), np.ones(2), [-1.0]), (np.eye(2) * np.nan, np.ones(2), [1.0])],
)
def test_what_cannot_be_solved_is_refused(kernel, y, ridges):
    with pytest.raises(ValueError):
        leave_one_out_path(kernel, y, ridges)


@pytest.mark.parametrize("weighted", [False, True])
def test_landmarks_minimise_the_regularised_loss(case, weighted):
    kernel, y = case
    m, ridges, weights = 10, np.array([1e-1, 1e-3]), np.linspace(0.5, 2.0, 40) if weighted else None
    sums = Nystrom(kernel[:m, :m], 2)
    for rows in (slice(0, 15), slice(15, 40)):
        sums.add(kernel[rows, :m].copy(), y[rows], None if weights is None else weights[rows])
    places, found = sums.solve(ridges)
    assert places.tolist() == [0, 1]
    w = np.ones(40) if weights is None else weights
    for ridge, alpha in zip(ridges, found, strict=True):
        k = kernel[:, :m]
        normal = (k * w[:, None]).T @ k + w.sum() * ridge * kernel[:m, :m]
        np.testing.assert_allclose(alpha, np.linalg.solve(normal, (k * w[:, None]).T @ y), rtol=1e-5, atol=1e-8)
    sums.clear()
    assert sums.weight == 0.0 and not sums.moment.any()


def test_equal_landmarks_are_told_apart_by_a_jitter_and_no_kernel_is_refused():
    Nystrom(np.ones((3, 3)), 1)
    with pytest.raises(ValueError, match="not positive definite; expected a kernel"):
        Nystrom(np.array([[1.0, 2.0], [2.0, 1.0]]), 1)
