"""Certificates of stationarity: Hessian products and smallest eigenvalues against dense Hessians, and escapes."""

from types import SimpleNamespace

import numpy as np
import pytest
from test_solvers_taylor import CASES, make_data, torch_objective

from hierlearn.solvers.blas_inplace import outer_products
from hierlearn.solvers.taylor import certificate as module
from hierlearn.solvers.taylor.certificate import certify_and_polish
from hierlearn.solvers.taylor.hessian import GaussNewtonMetric, hessian_operator
from hierlearn.solvers.taylor.lanczos import SmallestRatio, _smallest_pair, is_sign_sure, smallest_ratio
from hierlearn.solvers.taylor.model import TaylorPoint, make_problem
from hierlearn.solvers.taylor.training import fit_path


def certify(*given, **options):
    return certify_and_polish(*given, max_rounds=0, **options).certificate


def dense_hessian(data, ridge, weights, order=2, loss="squared", power=4):
    torch = pytest.importorskip("torch")
    objective = torch_objective(*data, ridge, order, loss, power)
    hessian = torch.autograd.functional.hessian(objective, torch.tensor(np.asarray(weights, np.float64)))
    return hessian.reshape(weights.size, weights.size).numpy()


@pytest.mark.parametrize(("order", "loss", "power"), CASES)
def test_hessian_products_agree_with_autograd(order, loss, power):
    *data, start = make_data(n=30, dimension=4, width=6, labels=loss != "squared")
    problem = make_problem(*data, order, loss, power)
    operator = hessian_operator(TaylorPoint(problem, start / problem.weight_unit), problem.scaled_ridge(0.05))
    vector = np.random.default_rng(2).standard_normal(start.shape)
    expected = dense_hessian(data, 0.05, start, order, loss, power) @ vector.ravel()
    np.testing.assert_allclose(operator(vector).ravel() / problem.weight_unit**2, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_the_hessian_is_without_gauss_newton(dtype):
    *data, start = make_data(n=20, dimension=4, width=6)
    problem = make_problem(*data)
    point = TaylorPoint(problem, start)
    slopes = 2 * problem.output_scale * np.einsum("ir,id->ird", point.power, problem.features).reshape(20, -1)
    vector = np.random.default_rng(3).standard_normal(start.shape)
    whole = hessian_operator(point, 0.05)(vector).ravel()
    rest = hessian_operator(point, 0.05, gauss_newton=False, features=problem.features.astype(dtype))
    expected = whole - slopes.T @ (slopes @ vector.ravel()) * 2 / 20
    found = rest(vector.astype(dtype))
    assert found.dtype == dtype
    np.testing.assert_allclose(found.ravel(), expected, rtol=1e-4, atol=20 * np.finfo(dtype).eps)


@pytest.mark.parametrize("shape", [(7, 3), (3, 7)])
def test_outer_products_are_the_lower_triangle(shape):
    matrix = np.random.default_rng(0).standard_normal(shape)
    np.testing.assert_allclose(outer_products(matrix), np.tril(matrix @ matrix.T), rtol=1e-12)


@pytest.mark.parametrize("size", [1, 2, 9])
def test_the_smallest_pair_of_a_tridiagonal_matrix(size):
    rng = np.random.default_rng(size)
    # The last one is split off: every block is searched.
    diagonal, beside = rng.standard_normal(size), rng.standard_normal(size - 1)
    beside[-1:] = 0.0
    dense = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
    value, vector = _smallest_pair(diagonal, beside)
    assert value == pytest.approx(np.linalg.eigvalsh(dense)[0], rel=1e-12)
    np.testing.assert_allclose(dense @ vector, value * vector, atol=1e-12)
    assert np.linalg.norm(vector) == pytest.approx(1.0)


@pytest.mark.parametrize("loss", ["squared", "soft_hinge"])
def test_metric_solves_invert_gauss_newton_plus_the_penaltys_curvature(loss):
    *data, start = make_data(n=20, dimension=4, width=6, labels=loss != "squared")
    start[0] *= 1e-3
    problem = make_problem(*data, 2, loss)
    point = TaylorPoint(problem, start)
    metric = GaussNewtonMetric(point, 0.05)
    slopes = 2 * problem.output_scale * np.einsum("ir,id->ird", point.power, problem.features).reshape(20, -1)
    curvature = problem.loss.curvature(point.outputs, problem.targets) / 20
    # Across u_r, 0.05 |u_r|^4 bends by 4 * 0.05 |u_r|^2; a dead neuron counts a tenth of the mean.
    own = 4 * 0.05 * np.sum(start**2, axis=1)
    own[0] = 0.1 * own.mean()
    dense = slopes.T @ (curvature[:, None] * slopes) + np.diag(np.repeat(own, 4))
    vector = np.random.default_rng(0).standard_normal(start.shape)
    solved = np.linalg.solve(dense, vector.ravel())
    np.testing.assert_allclose(metric.solve(vector).ravel(), solved, rtol=1e-7)
    found, moved = metric.solve_with_outputs(vector)
    np.testing.assert_array_equal(found, metric.solve(vector))
    # Where the loss has no curvature, outputs do not count.
    np.testing.assert_allclose(moved, np.where(curvature > 0, slopes @ solved, 0.0), rtol=1e-6, atol=1e-9)
    change = np.random.default_rng(1).standard_normal(20)
    expected = -np.linalg.solve(dense, slopes.T @ (curvature * change))
    np.testing.assert_allclose(metric.undo(change).ravel(), expected, rtol=1e-7)
    smallest, *_, largest = np.linalg.eigvalsh(dense)
    assert largest <= metric.bound * (1 + 1e-12)
    assert smallest >= metric.delta * (1 - 1e-9)


@pytest.mark.parametrize(("order", "loss", "power"), CASES)
def test_certificate_encloses_the_smallest_eigenvalue(order, loss, power):
    *data, start = make_data(n=60, dimension=5, width=8, labels=loss != "squared")
    ridge = 3e-3
    kind = {"order": order, "loss": loss, "penalty_power": power}
    weights = fit_path(*data, [ridge], start, tolerance=1e-6, **kind).weights[0]
    certificate = certify(*data, ridge, weights, **kind)
    smallest = np.linalg.eigvalsh(dense_hessian(data, ridge, weights, order, loss, power))[0]
    # The sweep resolves the eigenvalue as finely as the limit asks: a tenth of what it allows.
    slack = 0.1 * 0.02 * certificate.objective / np.sum(weights**2)
    assert certificate.curvature_bound - slack <= smallest <= certificate.smallest_curvature + slack
    honest = 0.5 * (certificate.gradient_norm * np.linalg.norm(weights) + max(0, -smallest) * np.sum(weights**2))
    assert certificate.error >= honest - 0.001 * certificate.objective
    if certificate.stationary:
        assert honest <= 0.011 * certificate.objective


@pytest.fixture
def wide_case(monkeypatch):
    """Weights of more numbers than eight times the products allowed: what float32 sweeps."""
    monkeypatch.setattr(module, "_MOST_PRODUCTS", 40)
    *data, start = make_data(n=60, dimension=8, width=40)
    return data, fit_path(*data, [3e-3], start, tolerance=1e-6).weights[0]


def test_a_sweep_in_float32_encloses_the_smallest_eigenvalue_too(monkeypatch, wide_case):
    data, weights = wide_case
    smallest = np.linalg.eigvalsh(dense_hessian(data, 3e-3, weights))[0]
    dtypes = []

    def recorded(operator, metric, start, *limits):
        dtypes.append(start.dtype)
        return smallest_ratio(operator, metric, start, *limits)

    smallest_ratio = module.smallest_ratio
    monkeypatch.setattr(module, "smallest_ratio", recorded)
    certificate = certify(*data, 3e-3, weights)
    assert dtypes == [np.float32]
    slack = 0.1 * 0.02 * certificate.objective / np.sum(weights**2)
    assert certificate.curvature_bound - slack <= smallest <= certificate.smallest_curvature + slack
    monkeypatch.setattr(module, "_LEAST_SIZE", np.inf)
    double = certify(*data, 3e-3, weights)
    assert dtypes[-1] == np.float64
    assert double.stationary == certificate.stationary
    assert double.curvature_bound == pytest.approx(certificate.curvature_bound, abs=slack)


def test_what_float32_claims_and_float64_refutes_is_swept_on_in_float64(monkeypatch, wide_case):
    data, weights = wide_case
    smallest_ratio = module.smallest_ratio
    sweeps = []

    def wrong(operator, metric, start, *limits):
        sweeps.append(start.dtype)
        if start.dtype == np.float64:
            return smallest_ratio(operator, metric, start, *limits)
        vector = np.random.default_rng(0).standard_normal(start.shape)
        return SmallestRatio(-1.0, 1e-3, vector.astype(np.float32), 10)

    monkeypatch.setattr(module, "smallest_ratio", wrong)
    certificate = certify(*data, 3e-3, weights)
    assert sweeps == [np.float32, np.float64]
    smallest = np.linalg.eigvalsh(dense_hessian(data, 3e-3, weights))[0]
    slack = 0.1 * 0.02 * certificate.objective / np.sum(weights**2)
    assert certificate.curvature_bound - slack <= smallest <= certificate.smallest_curvature + slack


def test_weights_that_fail_by_their_gradient_are_not_swept_to_the_end():
    *data, start = make_data(n=60, dimension=8, width=40)
    weights = fit_path(*data, [3e-3], start, max_iterations=12).weights[0]
    certificate = certify(*data, 3e-3, weights)
    smallest = np.linalg.eigvalsh(dense_hessian(data, 3e-3, weights))[0]
    assert 0.5 * certificate.gradient_norm * np.linalg.norm(weights) > 0.01 * certificate.objective
    assert not certificate.stationary
    assert certificate.curvature_bound <= smallest <= certificate.smallest_curvature
    assert certificate.products <= 30


def test_a_trained_model_is_certified_and_left_alone():
    *data, start = make_data(n=60, dimension=5, width=24)
    weights = fit_path(*data, [3e-3], start, tolerance=5e-4).weights[0]
    polished = certify_and_polish(*data, 3e-3, weights)
    assert polished.certificate.stationary
    assert polished.certificate.relative_error <= 0.01
    assert polished.steps == 0
    np.testing.assert_allclose(polished.weights, weights, rtol=1e-14)


def test_equal_inputs_give_equal_certificates():
    *data, start = make_data()
    weights = fit_path(*data, [3e-3], start).weights[0]
    assert certify(*data, 3e-3, weights) == certify(*data, 3e-3, weights)


def saddle(loss="squared"):
    """A stationary point with neuron 0 at zero: a saddle, because that neuron would lower the objective."""
    *data, start = make_data(n=60, dimension=5, width=6, labels=loss != "squared")
    features, gates, signs, targets = data
    rest = np.arange(6) > 0
    # The other neurons alone, in the whole model's units: gates carry the ratio of the two factors 1/sqrt(m).
    ratio = np.sqrt(5 / 6)
    weights = np.zeros_like(start)
    part = (features, ratio * gates[:, rest], signs[rest], targets)
    fit = fit_path(*part, [3e-3], start[rest], loss=loss, tolerance=1e-8)
    weights[rest] = fit.weights[0]
    return data, weights


@pytest.mark.parametrize("loss", ["squared", "logistic", "soft_hinge"])
def test_a_saddle_fails_and_escaping_it_lowers_the_objective(loss):
    data, weights = saddle(loss)
    certificate = certify(*data, 3e-3, weights, loss=loss, limit=1e-3)
    smallest = np.linalg.eigvalsh(dense_hessian(data, 3e-3, weights, loss=loss))[0]
    assert smallest < 0.0
    assert certificate.smallest_curvature < 0.3 * smallest
    assert not certificate.stationary
    polished = certify_and_polish(*data, 3e-3, weights, loss=loss, limit=1e-3)
    assert polished.escapes >= 1
    assert polished.certificate.stationary
    assert polished.certificate.objective < certificate.objective


def test_the_last_escape_is_polished_too():
    data, weights = saddle()
    polished = certify_and_polish(*data, 3e-3, weights, limit=1e-3, max_rounds=1)
    assert polished.escapes == 1
    assert polished.certificate.stationary


def test_without_rounds_weights_are_only_certified():
    data, weights = saddle()
    polished = certify_and_polish(*data, 3e-3, weights, limit=1e-3, max_rounds=0)
    assert (polished.escapes, polished.steps) == (0, 0)
    np.testing.assert_allclose(polished.weights, weights, rtol=1e-14)


def test_a_large_gradient_is_polished_in_float64():
    *data, start = make_data()
    rough = fit_path(*data, [1e-3], start, max_iterations=5)
    assert not certify(*data, 1e-3, rough.weights[0]).stationary
    polished = certify_and_polish(*data, 1e-3, rough.weights[0])
    assert polished.certificate.stationary
    assert polished.certificate.objective <= rough.objective[0]
    assert polished.steps > 0


def test_zero_weights_are_never_certified():
    *data, start = make_data()
    assert not certify(*data, 1e-3, np.zeros_like(start)).stationary
    assert not certify(*data, 1e-3, 1e-9 * start).stationary


def test_weights_that_are_not_finite_give_no_certificate():
    *data, start = make_data()
    certificate = certify(*data, 1e-3, np.full_like(start, np.nan))
    assert not certificate.stationary
    assert not certify_and_polish(*data, 1e-3, np.full_like(start, np.nan)).certificate.stationary


def test_a_sweep_whose_norms_overflow_ends_without_a_sign():
    start = np.ones((2, 3), np.float32)
    scales = np.array([[1e10, 2e10, 3e10], [4e10, 5e10, 6e10]], np.float32)
    metric = SimpleNamespace(solve=lambda image: image * np.float32(1e12))
    with np.errstate(all="raise"):
        found = smallest_ratio(lambda v: scales * v, metric, start, 10)
    assert found.products == 1
    assert not is_sign_sure(found.value, found.residual, found.products)
    assert np.isfinite(found.vector).all()
