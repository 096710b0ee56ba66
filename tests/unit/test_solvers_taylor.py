"""The Taylor solver: gradients against autograd, exact line searches, and end points against other optimisers."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from hierlearn.solvers.losses import LOSSES
from hierlearn.solvers.taylor.lbfgs import History
from hierlearn.solvers.taylor.line_search import minimise_along_line, minimise_polynomial, squared_loss_polynomial
from hierlearn.solvers.taylor.model import TaylorPoint, make_problem
from hierlearn.solvers.taylor.training import fit_path, fit_paths, predict

CASES = [(order, loss, power) for order in (2, 3, 4) for loss in LOSSES for power in (2, 4, 8)]


def make_data(n=40, dimension=6, width=8, seed=0, dtype=np.float64, labels=False):
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((n, dimension)) / math.sqrt(dimension)
    gates = (rng.standard_normal((n, width)) > 0) + 0.1 * rng.standard_normal((n, width))
    signs = np.repeat([1.0, -1.0], width // 2)
    targets = features[:, 0] * features[:, 1] * dimension + 0.3 * rng.standard_normal(n)
    targets = np.where(targets > 0, 1.0, -1.0) if labels else targets
    start = 0.3 * rng.standard_normal((width, dimension))
    return features.astype(dtype), gates.astype(dtype), signs, targets, start


def torch_objective(features, gates, signs, targets, ridge, order, loss, power):
    """The objective as written in the papers, of a (m, D) torch tensor W."""
    torch = pytest.importorskip("torch")
    arrays = (features, gates, signs, targets)
    features, gates, signs, targets = (torch.as_tensor(np.asarray(array, np.float64)) for array in arrays)

    def objective(weights):
        inner = features @ weights.T
        f = (signs * gates * inner**order).sum(1) / (math.sqrt(len(signs)) * math.factorial(order))
        if loss == "squared":
            losses = (f - targets) ** 2
        elif loss == "logistic":
            losses = torch.nn.functional.softplus(-targets * f)
        else:
            margin = targets * f
            middle = 1.5 - margin
            losses = torch.where(
                margin <= 0.5, 1.0 - margin, torch.where(margin >= 1.5, 0.0 * margin, middle**3 - middle**4 / 2)
            )
        norms = (weights**2).sum(1)
        return losses.mean() + ridge * (norms.sum() if power == 2 else (norms**2).sum() ** (power // 4))

    return objective


@pytest.mark.parametrize(("order", "loss", "power"), CASES)
def test_objective_and_gradient_agree_with_autograd(order, loss, power):
    torch = pytest.importorskip("torch")
    *data, start = make_data(labels=loss != "squared")
    ridge = 0.03
    problem = make_problem(*data, order, loss, power)
    unit = problem.weight_unit
    point = TaylorPoint(problem, start / unit)
    weights = torch.tensor(start, requires_grad=True)
    value = torch_objective(*data, ridge, order, loss, power)(weights)
    value.backward()
    point.prepare_gradient()
    gradient = point.gradient(problem.scaled_ridge(ridge), np.empty_like(start), np.empty_like(start)) / unit
    assert point.train_loss() + problem.scaled_ridge(ridge) * point.penalty() == pytest.approx(value.item(), rel=1e-12)
    np.testing.assert_allclose(gradient, weights.grad.numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("order", "loss", "power"), CASES)
def test_line_coefficients_give_the_objective_at_every_step(order, loss, power):
    *data, start = make_data(labels=loss != "squared")
    problem = make_problem(*data, order, loss, power)
    direction = np.random.default_rng(1).standard_normal(start.shape)
    point = TaylorPoint(problem, start)
    outputs, penalty = point.line(direction)
    for t in (-0.7, 0.0, 0.4, 2.0):
        there = TaylorPoint(problem, start + t * direction)
        np.testing.assert_allclose(t ** np.arange(order + 1) @ outputs, there.outputs, rtol=1e-10, atol=1e-12)
        assert np.polynomial.polynomial.polyval(t, penalty) == pytest.approx(there.penalty(), rel=1e-11)
        if loss == "squared":
            value = np.polynomial.polynomial.polyval(t, squared_loss_polynomial(outputs, problem.targets))
            assert value == pytest.approx(there.train_loss(), rel=1e-10)


@pytest.mark.parametrize("order", [2, 3, 4])
def test_moving_keeps_everything_that_a_fresh_point_computes(order):
    *data, start = make_data()
    problem = make_problem(*data, order)
    direction = np.random.default_rng(1).standard_normal(start.shape)
    moved = TaylorPoint(problem, start)
    outputs, _ = moved.line(direction)
    moved.move(0.3, 0.3 * direction, outputs)
    fresh = TaylorPoint(problem, start + 0.3 * direction)
    fresh.prepare_gradient()
    for name in ("outputs", "norms", "power", "scratch", "weights"):
        np.testing.assert_allclose(getattr(moved, name), getattr(fresh, name), rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("degree", [4, 8])
def test_polynomial_minimiser_is_global_over_positive_steps(degree):
    rng = np.random.default_rng(degree)
    for _ in range(50):
        half = rng.standard_normal(degree // 2 + 1)
        polynomial = np.convolve(half, half) + 0.1 * rng.standard_normal() * np.eye(degree + 1)[1]
        t, value = minimise_polynomial(polynomial)
        grid = np.concatenate([[0.0], np.logspace(-3, 3, 2000)])
        values = np.polynomial.polynomial.polyval(grid, polynomial)
        best = grid[np.argmin(values)]
        if best > 0.0:
            other = minimize_scalar(
                lambda s, p=polynomial: np.polynomial.polynomial.polyval(s, p),
                bounds=(0.98 * best, 1.02 * best),
                method="bounded",
                options={"xatol": 1e-12},
            )
            assert value <= other.fun + 1e-10 * (1.0 + abs(other.fun))
        assert t >= 0.0
        assert value <= values.min() + 1e-12


def test_polynomial_minimiser_reports_no_step_and_not_finite_values():
    assert minimise_polynomial([1.0, 1.0, 1.0]) == (0.0, 1.0)
    assert minimise_polynomial([1.0, 1.0, 1.0], both_sides=True)[0] == pytest.approx(-0.5)
    assert math.isnan(minimise_polynomial([1.0, np.nan, 1.0])[0])


def test_roots_that_cannot_be_found_end_the_search_and_are_not_taken_for_none(capfd):
    # Divided by the last one the others are infinite.
    with pytest.raises(np.linalg.LinAlgError):
        minimise_polynomial([0.0, -1e10, 1.0, 1.0, 1.0, 1.0, 1e-305])
    # Nor does LAPACK print a word of its own.
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("loss", ["logistic", "soft_hinge"])
def test_newton_line_search_ends_where_the_slope_is_small(loss):
    *data, start = make_data(labels=True)
    problem = make_problem(*data, 2, loss)
    point = TaylorPoint(problem, start)
    point.prepare_gradient()
    direction = -point.gradient(0.01, np.empty_like(start), np.empty_like(start))
    outputs, penalty = point.line(direction)
    for guess in (0.0, 1.0, 1e-4, 1e4):
        t, value = minimise_along_line(problem.loss, outputs, problem.targets, 0.01 * penalty, guess)

        def along(s):
            powers = s ** np.arange(3)
            return np.mean(problem.loss.value(powers @ outputs, problem.targets)) + 0.01 * np.polyval(penalty[::-1], s)

        assert value == pytest.approx(along(t), rel=1e-12)
        assert value < along(0.0)
        step = 1e-6
        assert abs(along(t + step) - along(t - step)) <= 0.03 * abs(along(step) - along(-step))


def test_compact_directions_agree_with_the_dense_bfgs_update():
    # Of two problems at once, of which the second loses its pairs on the way and stores none in that round.
    rng = np.random.default_rng(0)
    size, memory = 7, 3
    factors = rng.standard_normal((2, size, size))
    matrices = factors @ factors.mT + np.eye(size)
    history, gradients, pairs = History(2, memory, size, np.float64), rng.standard_normal((2, size)), [[], []]
    for iteration in range(9):
        directions = history.direction(gradients, gradients, np.empty((2, size)))
        for gradient, direction, own in zip(gradients, directions, pairs, strict=True):
            inverse = np.eye(size) * (own[-1][0] @ own[-1][1] / (own[-1][1] @ own[-1][1]) if own else 1.0)
            for step, change in own[-memory:]:
                left = np.eye(size) - np.outer(step, change) / (step @ change)
                inverse = left @ inverse @ left.T + np.outer(step, step) / (step @ change)
            np.testing.assert_allclose(direction, -inverse @ gradient, rtol=1e-8)
        steps, changes = history.slot()
        steps[:] = 0.5 * directions
        changes[:] = np.matvec(matrices, steps)
        gradients, old = gradients + changes, gradients
        for own, step, change in zip(pairs, steps, changes, strict=True):
            own.append((step.copy(), change.copy()))
        history.push(old)
        if iteration == 4:
            history.clear(1)
            pairs[1].clear()


@pytest.mark.parametrize(("order", "loss", "power"), CASES)
def test_fit_reaches_the_objective_of_a_long_scipy_run(order, loss, power):
    torch = pytest.importorskip("torch")
    *data, start = make_data(n=60, dimension=5, width=8, labels=loss != "squared")
    ridge = 3e-3 if order < 4 else 1e-4
    model = {"order": order, "loss": loss, "penalty_power": power}
    fit = fit_path(*data, [ridge], start, **model, tolerance=1e-5, max_iterations=5000, trace=True)
    objective = torch_objective(*data, ridge, order, loss, power)

    def value_and_gradient(flat):
        weights = torch.tensor(flat.reshape(start.shape), requires_grad=True)
        value = objective(weights)
        value.backward()
        return value.item(), weights.grad.numpy().ravel()

    end = fit.weights[0].ravel()
    polished = minimize(value_and_gradient, end, jac=True, method="L-BFGS-B", options={"maxiter": 500})
    assert fit.status == ("ok",)
    assert fit.objective[0] == pytest.approx(value_and_gradient(end)[0], rel=1e-9)
    assert fit.objective[0] <= polished.fun * (1.0 + 1e-4)
    assert np.all(np.diff(fit.trace[0]) <= 1e-12)


def test_fit_from_a_start_agrees_with_scipy_from_the_same_start():
    torch = pytest.importorskip("torch")
    *data, start = make_data(n=60, dimension=5, width=24)
    fit = fit_path(*data, [3e-3], start, tolerance=1e-6)
    objective = torch_objective(*data, 3e-3, 2, "squared", 4)

    def value_and_gradient(flat):
        weights = torch.tensor(flat.reshape(start.shape), requires_grad=True)
        value = objective(weights)
        value.backward()
        return value.item(), weights.grad.numpy().ravel()

    other = minimize(value_and_gradient, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 3000})
    assert fit.objective[0] == pytest.approx(other.fun, rel=0.02)


def test_path_does_not_depend_on_the_order_of_the_ridges():
    *data, start = make_data(dtype=np.float32)
    ridges = np.array([1e-1, 1e-3, 1e-2])
    one, other = fit_path(*data, ridges, start), fit_path(*data, ridges[::-1], start)
    np.testing.assert_array_equal(one.weights, other.weights[::-1])
    np.testing.assert_array_equal(one.objective, other.objective[::-1])
    assert one.weights.dtype == np.float32
    assert one.status == ("ok",) * 3


@pytest.mark.parametrize(("order", "loss", "power"), CASES)
def test_problems_in_lockstep_end_as_each_by_itself(order, loss, power):
    # The second one has no finite objective, and the third one's start is so small that it begins at the saddle.
    several = [make_data(n=60, dimension=5, width=8, seed=seed, labels=loss != "squared") for seed in range(4)]
    several[1][3][0] = np.nan
    several[2][4][:] *= 1e-6
    kind = {"order": order, "loss": loss, "penalty_power": power, "tolerance": 1e-5, "max_iterations": 60}
    features, gates, _, targets, starts = (np.stack(arrays) for arrays in zip(*several, strict=True))
    together = fit_paths(features, gates, several[0][2], targets, [1e-3, 1e-1], starts, **kind)
    for (*data, start), fit in zip(several, together, strict=True):
        alone = fit_path(*data, [1e-3, 1e-1], start, **kind)
        assert fit.status == alone.status
        np.testing.assert_allclose(fit.objective, alone.objective, rtol=1e-4)
        np.testing.assert_array_equal(np.isnan(fit.weights), np.isnan(alone.weights))
    assert together[1].status == ("diverged", "diverged")


def test_stopping_by_decrease_ends_earlier_at_nearly_the_same_objective():
    *data, start = make_data(n=60, dimension=8, width=24, dtype=np.float32)
    strict, loose = (fit_path(*data, [1e-2, 1e-4], start, stop=rule) for rule in ("certificate", "decrease"))
    assert loose.status == ("ok", "ok")
    assert loose.iterations.sum() < strict.iterations.sum()
    np.testing.assert_allclose(loose.objective, strict.objective, rtol=0.03)


def test_path_reports_its_objective_gradient_and_products():
    torch = pytest.importorskip("torch")
    *data, start = make_data()
    ridges = [1e-1, 1e-2]
    fit = fit_path(*data, ridges, start)
    for index, ridge in enumerate(ridges):
        weights = torch.tensor(fit.weights[index], requires_grad=True)
        value = torch_objective(*data, ridge, 2, "squared", 4)(weights)
        value.backward()
        norm = weights.grad.norm().item()
        assert fit.objective[index] == pytest.approx(value.item(), rel=1e-8)
        assert fit.gradient_norm[index] == pytest.approx(norm, rel=1e-4)
        assert 0.5 * norm * weights.norm().item() <= 2.01e-3 * value.item()
        assert np.mean((predict(*data[:3], fit.weights[index]) - data[3]) ** 2) == pytest.approx(fit.train_loss[index])
    assert np.all(fit.flops >= 2 * 2 * data[1].size * start.shape[1] * fit.iterations)


def test_predict_takes_stacks_of_weights():
    features, gates, signs, _, start = make_data()
    stack = np.stack([start, 2.0 * start])
    outputs = predict(features, gates, signs, stack, order=3)
    assert outputs.shape == (2, len(features))
    np.testing.assert_allclose(outputs[1], 8.0 * outputs[0], rtol=1e-12)


def test_tiny_start_leaves_the_saddle_at_zero():
    *data, start = make_data(dtype=np.float32)
    fit = fit_path(*data, [1e-3], 1e-6 * start)
    assert fit.status == ("ok",)
    assert fit.objective[0] < 0.9 * np.mean(data[3] ** 2)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e300])
def test_targets_that_are_not_finite_or_overflow_give_a_status(bad):
    *data, start = make_data()
    data[3][3] = bad
    assert fit_path(*data, [1e-2, 1e-3], start).status == ("diverged", "diverged")


def test_features_that_are_not_finite_give_a_status():
    *data, start = make_data()
    data[0][3, 0] = np.inf
    fit = fit_path(*data, [1e-2], start)
    assert fit.status == ("diverged",)
    assert np.isnan(fit.weights).all()


def test_order_four_with_a_large_ridge_collapses_to_zero():
    *data, start = make_data()
    assert fit_path(*data, [1e3], start, order=4).status == ("collapsed",)


def test_iteration_limit_gives_a_status():
    *data, start = make_data()
    fit = fit_path(*data, [1e-3], start, max_iterations=2)
    assert fit.status == ("not_converged",)
    assert fit.iterations[0] == 2


def test_wrong_arguments_are_refused():
    features, gates, signs, targets, start = make_data()
    with pytest.raises(ValueError, match="shapes do not fit"):
        fit_path(features, gates[1:], signs, targets, [1.0], start)
    with pytest.raises(ValueError, match="signs"):
        fit_path(features, gates, 2 * signs, targets, [1.0], start)
    with pytest.raises(ValueError, match="ridges"):
        fit_path(features, gates, signs, targets, [0.0], start)
    with pytest.raises(ValueError, match="start"):
        fit_path(features, gates, signs, targets, [1.0], start[1:])
    with pytest.raises(ValueError, match="penalty_power"):
        fit_path(features, gates, signs, targets, [1.0], start, penalty_power=3)
    with pytest.raises(ValueError, match="order"):
        fit_path(features, gates, signs, targets, [1.0], start, order=1)
