"""Descent and certificate of the randomised network against its whole Hessian."""

import numpy as np
import pytest

from hierlearn.solvers.randomised import MeanOutputMetric, curvature_bound, descend, escape
from hierlearn.theory.landscape import RandomisedSquaredRisk, eighth_power, eighth_power_product


def network(width=12, dimension=4, samples=30, seed=0):
    generator = np.random.default_rng(seed)
    x = generator.choice([-1.0, 1.0], (samples, dimension)) / np.sqrt(dimension)
    first = np.tile(generator.standard_normal((width // 2, dimension)), (2, 1))
    signs = np.repeat([1.0, -1.0], width // 2)
    start = 0.1 * width**-0.25 * generator.standard_normal((width, dimension))
    return RandomisedSquaredRisk(x, first, signs, dimension * x[:, 0] * x[:, 1]), start


def whole_hessian(one, weights, ridge):
    units = np.eye(weights.size).reshape(-1, *weights.shape)
    rows = [one.hessian_product(weights, unit) + ridge * eighth_power_product(weights, unit) for unit in units]
    return np.array(rows).reshape(weights.size, weights.size)


RIDGE = 1e-6


def test_the_descent_ends_where_the_gradient_leaves_little_open():
    one, start = network()
    weights, objective, norm, evaluations = descend(one, start, RIDGE, 1e-3, 2000)
    risk, gradient = one.risk_and_gradient(weights)
    value, slope = eighth_power(weights)
    assert objective == pytest.approx(risk + RIDGE * value, rel=1e-12)
    assert norm == pytest.approx(np.linalg.norm(gradient + RIDGE * slope), rel=1e-9)
    assert 0.5 * norm * np.linalg.norm(weights) <= 1e-3 * objective
    assert objective < 0.5 * np.mean(one.targets**2)
    assert 10 < evaluations < 4000


def test_a_descent_from_beside_the_saddle_leaves_it():
    one, start = network()
    _, near, _, _ = descend(one, 1e-6 * start, RIDGE, 1e-3, 2000)
    assert near < 0.5 * np.mean(one.targets**2)


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_lies_below_the_smallest_eigenvalue_of_the_whole_hessian_and_not_far_at_an_end(seed):
    one, start = network(seed=seed)
    weights, objective, _, _ = descend(one, start, RIDGE, 1e-3, 2000)
    allowed = 0.01 * objective / np.sum(weights**2)
    bound, _, products = curvature_bound(one, weights, RIDGE, allowed, 300)
    smallest = np.linalg.eigvalsh(whole_hessian(one, weights, RIDGE))[0]
    assert bound <= smallest + 1e-12
    if smallest > 0:
        assert bound >= -allowed
    assert products <= 48


def test_negative_curvature_is_found_at_the_saddle():
    one, start = network()
    weights = 1e-3 * start
    bound, direction, _ = curvature_bound(one, weights, RIDGE, 1e-6, 300)
    smallest = np.linalg.eigvalsh(whole_hessian(one, weights, RIDGE))[0]
    assert smallest < -1e-3
    assert bound < -1e-3
    lower = escape(one, weights, RIDGE, direction)
    values = [one.risk_and_gradient(at)[0] + RIDGE * eighth_power(at)[0] for at in (lower, weights)]
    assert values[0] < values[1]


def test_the_metric_solves_what_it_applies_and_is_the_hessians_part_of_the_mean_output():
    one, start = network()
    metric = MeanOutputMetric(one, start, lambda v: one.hessian_product(start, v))
    vector = np.random.default_rng(3).standard_normal(start.shape)
    np.testing.assert_allclose(metric.apply(metric.solve(vector)), vector, rtol=1e-7, atol=1e-9)
    step = 1e-5

    def outputs(weights):
        up, down = (np.maximum(one.start + s * one.features @ weights.T, 0.0) ** 3 for s in (1.0, -1.0))
        return (up + down) @ one.scaled / 12.0

    change = (outputs(start + step * vector) - outputs(start - step * vector)) / (2 * step)
    form = float(np.vdot(vector, metric.apply(vector) - metric.delta * vector))
    assert form == pytest.approx(2 * np.mean(change**2), rel=1e-6)
