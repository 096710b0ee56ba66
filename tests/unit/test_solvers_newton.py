"""Newton's method for Taylor models: parabolas against the model itself, and ends against gradients by autograd."""

from itertools import pairwise

import numpy as np
import pytest
from test_solvers_taylor import CASES, make_data, torch_objective

from hierlearn.solvers.taylor import newton as module
from hierlearn.solvers.taylor.descent import Rules, descend
from hierlearn.solvers.taylor.hessian import GaussNewtonMetric
from hierlearn.solvers.taylor.model import TaylorPoint, make_problem
from hierlearn.solvers.taylor.newton import _parabola, newton
from hierlearn.solvers.taylor.training import fit_path, predict


def point_at(data, weights, order=2, loss="squared", power=4):
    """The point in float64, and its problem in float32."""
    problem = make_problem(*data, order, loss, power)
    return TaylorPoint(problem, weights / problem.weight_unit), problem.astype(np.float32)


@pytest.mark.parametrize(("order", "loss", "power"), CASES)
def test_outputs_and_penalty_along_a_parabola_are_those_of_the_weights_on_it(order, loss, power):
    *data, start = make_data(n=20, dimension=4, width=6, labels=loss != "squared")
    features, gates, signs, _ = data
    point, _ = point_at(data, start, order, loss, power)
    metric = GaussNewtonMetric(point, 0.05)
    direction = np.random.default_rng(1).standard_normal(start.shape)
    bend, outputs, penalty = _parabola(point, metric, direction)
    for t in (0.0, 0.3, 1.7):
        scaled = point.weights + t * direction + t**2 * bend
        expected = predict(features, gates, signs, scaled * point.problem.weight_unit, order)
        np.testing.assert_allclose(np.polynomial.polynomial.polyval(t, outputs), expected, rtol=1e-9, atol=1e-11)
        norms = np.sum(scaled**2, axis=1)
        size = norms.sum() if power == 2 else np.sum(norms**2) ** (power // 4)
        assert np.polynomial.polynomial.polyval(t, penalty) == pytest.approx(size)


def test_the_bend_takes_back_what_a_step_changes_in_the_outputs_to_second_order():
    *data, start = make_data(n=20, dimension=6, width=12)
    point, _ = point_at(data, start)
    # Without a penalty to hold it, nothing is left of the second order.
    metric = GaussNewtonMetric(point, 1e-10)
    direction = np.random.default_rng(1).standard_normal(start.shape)
    straight = point.line(direction)[0]
    assert np.abs(_parabola(point, metric, direction)[1][2]).max() < 1e-3 * np.abs(straight[2]).max()


@pytest.mark.parametrize(("order", "loss", "power"), CASES)
def test_newton_ends_where_the_gradient_by_autograd_is_as_small_as_asked(order, loss, power):
    torch = pytest.importorskip("torch")
    *data, start = make_data(n=60, dimension=5, width=8, labels=loss != "squared")
    kind = {"order": order, "loss": loss, "penalty_power": power}
    weights = fit_path(*data, [3e-4], start, stop="decrease", tolerance=0.02, **kind).weights[0]
    point, single = point_at(data, weights, order, loss, power)
    end = newton(point, single, point.problem.scaled_ridge(3e-4), 1e-5, 100)
    assert end.status == "ok"
    found = torch.tensor(point.weights * point.problem.weight_unit, requires_grad=True)
    objective = torch_objective(*data, 3e-4, order, loss, power)(found)
    objective.backward()
    gradient_error = 0.5 * float(found.grad.norm()) * float(found.detach().norm())
    assert gradient_error <= 1.001e-5 * float(objective.detach())


def near_interpolation():
    """Weights that hardly leave a residual, where the descent has settled: not stationary along a curved valley."""
    *data, start = make_data(n=60, dimension=8, width=30)
    ridge = 1e-8
    return data, ridge, fit_path(*data, [1e-4, 1e-6, ridge], start, stop="decrease").weights[-1]


@pytest.mark.parametrize("resolved", [0.0, np.inf])
def test_few_steps_do_near_interpolation_what_takes_lbfgs_many(resolved, monkeypatch):
    monkeypatch.setattr(module, "_RESOLVED", resolved)
    data, ridge, weights = near_interpolation()
    point, single = point_at(data, weights)
    scaled_ridge = point.problem.scaled_ridge(ridge)
    other = TaylorPoint(point.problem, point.weights)
    end = newton(point, single, scaled_ridge, 1e-3, 100)
    plain = descend(other, scaled_ridge, Rules(1e-3, 20 * end.steps))
    assert end.status == "ok"
    assert plain.status == "not_converged"
    assert point.train_loss() + scaled_ridge * point.penalty() < plain.objective


def test_newton_never_raises_the_objective_and_says_when_it_has_not_arrived():
    data, ridge, weights = near_interpolation()
    point, single = point_at(data, weights)
    scaled_ridge = point.problem.scaled_ridge(ridge)
    values = [point.train_loss() + scaled_ridge * point.penalty()]
    for _ in range(3):
        assert newton(point, single, scaled_ridge, 1e-9, 1).status == "not_converged"
        values.append(point.train_loss() + scaled_ridge * point.penalty())
    assert all(later < earlier for earlier, later in pairwise(values))


def test_weights_that_are_not_finite_have_diverged():
    *data, start = make_data(n=20, dimension=4, width=6)
    point, single = point_at(data, np.full_like(start, np.nan))
    assert newton(point, single, 0.1, 1e-3, 10).status == "diverged"


def test_a_direction_that_float32_cannot_find_is_found_in_float64(monkeypatch):
    data, ridge, weights = near_interpolation()
    point, single = point_at(data, weights)
    dtypes, metric = [], module.GaussNewtonMetric

    def failing(*given, features, **options):
        dtypes.append(features.dtype)
        if features.dtype == np.float32:
            raise np.linalg.LinAlgError
        return metric(*given, features=features, **options)

    monkeypatch.setattr(module, "GaussNewtonMetric", failing)
    monkeypatch.setattr(module, "_RESOLVED", 0.0)
    assert newton(point, single, point.problem.scaled_ridge(ridge), 1e-3, 100).status == "ok"
    assert dtypes[:2] == [np.float32, np.float64]
