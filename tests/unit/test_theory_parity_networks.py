"""Networks that are parities: against enumeration, closed forms, brute-force search and explicit constructions."""

import runpy
from itertools import product
from math import comb, prod, sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

from hierlearn.theory.parity_networks import (
    TwoLayerRelu,
    embed,
    least_norm_units,
    norm_factor,
    realise,
    repeat_rows,
    sign_patterns,
    train,
)

least_norm = runpy.run_path(str(Path(__file__).parents[1] / "oracles" / "parity_cells.py"))["least_norm"]
CLOSED = {2: 2 * sqrt(2), 4: 8.0, 6: 16 * sqrt(6) / 3}


def by_hand(network, x):
    """f(x) for one x, neuron by neuron."""
    total = 0.0
    for sign, row in zip(network.signs, network.weights, strict=True):
        total += sign * max(0.0, sum(w * c for w, c in zip(row, x, strict=True)))
    return total / sqrt(len(network.signs))


def overlap(u, bias):
    """|E[chi(z) relu(<u, z> + b)]|, point by point."""
    points = list(product((-1, 1), repeat=len(u)))
    terms = [prod(z) * max(0.0, float(np.dot(u, z)) + bias) for z in points]
    return abs(sum(terms)) / len(points)


def some_network(rows=30, order=6):
    generator = np.random.default_rng(3)
    return TwoLayerRelu(generator.choice([-1.0, 1.0], rows), generator.standard_normal((rows, order)))


def test_a_network_is_the_sum_over_its_neurons():
    network, x = some_network(), np.random.default_rng(1).standard_normal((5, 6))
    np.testing.assert_allclose(network(x), [by_hand(network, one) for one in x], rtol=1e-12)


def test_padding_keeps_the_function_of_the_signs_on_the_cube():
    network, coordinates = some_network(), np.array([31, 4, 17, 8, 39, 0])
    signs = np.random.default_rng(2).choice([-1.0, 1.0], (50, 40))
    large = embed(network, coordinates, 40)
    assert large.weights.shape == (30, 40)
    np.testing.assert_allclose(large(signs / sqrt(40)), network(signs[:, coordinates] / sqrt(6)), rtol=1e-12)
    assert large.norm == pytest.approx(network.norm * sqrt(40 / 6), rel=1e-12)


def test_duplication_keeps_the_function_and_the_norm():
    network, x = some_network(), np.random.default_rng(2).choice([-1.0, 1.0], (50, 6))
    large = repeat_rows(network, 7)
    assert large.weights.shape == (210, 6)
    np.testing.assert_allclose(large(x), network(x), rtol=1e-10, atol=1e-12)
    assert large.norm == pytest.approx(network.norm, rel=1e-12)


@pytest.mark.parametrize("order", CLOSED)
def test_the_units_of_the_linear_program_are_the_parity_at_every_point(order):
    directions, coefficients = least_norm_units(order)
    for z in product((-1, 1), repeat=order):
        units = zip(coefficients, directions, strict=True)
        value = sum(c * max(0.0, sum(a * b for a, b in zip(u, z, strict=True))) for c, u in units)
        assert value == pytest.approx(prod(z), abs=1e-9)


@pytest.mark.parametrize("order", CLOSED)
def test_their_sum_is_the_closed_form_and_the_lower_bound(order):
    """One unit along (1, ..., 1) overlaps by 2^{-k} sum_j C(k, j) (-1)^j relu(k - 2j); all its flips are as good."""
    directions, coefficients = least_norm_units(order)
    best = sum(comb(order, j) * (-1) ** j * max(0, order - 2 * j) for j in range(order + 1)) / 2**order
    assert CLOSED[order] == pytest.approx(sqrt(order) / abs(best), rel=1e-12)
    assert np.abs(coefficients) @ np.linalg.norm(directions, axis=1) == pytest.approx(CLOSED[order], rel=1e-8)
    assert norm_factor(order) == pytest.approx(CLOSED[order], rel=1e-12)


@pytest.mark.parametrize("order", CLOSED)
def test_no_cell_of_directions_and_biases_has_a_better_unit(order):
    assert least_norm(order) == pytest.approx(norm_factor(order), rel=1e-10)


def test_an_explicit_network_of_64_rows_has_this_norm():
    """chi(z) = sum_g chi(g) relu(<g, z>) / 12 over g in {-1, 1}^6."""
    rows = sign_patterns(6)
    network = TwoLayerRelu(np.prod(rows, axis=1), rows * sqrt(6 * 64) / 12)
    for z in product((-1, 1), repeat=6):
        assert by_hand(network, np.array(z) / sqrt(6)) == pytest.approx(prod(z), abs=1e-12)
    assert network.norm == pytest.approx(norm_factor(6) * sqrt(6), rel=1e-10)


@pytest.mark.parametrize("order", [3, 5])
def test_odd_parities_have_no_network_without_biases(order):
    with pytest.raises(ValueError, match=f"order {order}; expected an even number"):
        least_norm_units(order)


@pytest.mark.parametrize("order", CLOSED)
def test_no_direction_and_bias_that_a_search_finds_beats_the_lower_bound(order):
    """Biases lie where some <u, z> + b changes its sign, or anywhere."""
    generator = np.random.default_rng(order)
    points = sign_patterns(order)
    chi = np.prod(points, axis=1)
    u = np.concatenate([generator.standard_normal((1000, order)), generator.integers(-3, 4, (1000, order)) + 0.0])
    u = u[np.any(u != 0, axis=1)]
    hidden = u @ points.T
    biases = np.concatenate([np.zeros((len(u), 1)), -hidden, generator.standard_normal((len(u), 8))], axis=1)
    found = np.abs(np.mean(chi * np.maximum(hidden[:, None, :] + biases[:, :, None], 0), axis=-1))
    found /= np.linalg.norm(u, axis=1)[:, None]
    assert np.max(found) <= (1 + 1e-9) / norm_factor(order)
    i, j = np.unravel_index(np.argmax(found), found.shape)
    assert found[i, j] == pytest.approx(overlap(u[i], biases[i, j]) / np.linalg.norm(u[i]), rel=1e-9)


@pytest.mark.parametrize("order", [2, 4])
def test_a_local_search_attains_the_lower_bound(order):
    """Directions and biases are free; the objective has kinks, so Nelder-Mead."""
    generator = np.random.default_rng(0)

    def objective(v):
        return -overlap(v[:-1], v[-1]) / np.linalg.norm(v[:-1])

    starts = generator.standard_normal((12, order + 1))
    options = {"maxiter": 600, "xatol": 1e-6, "fatol": 1e-9}
    best = min(minimize(objective, start, method="Nelder-Mead", options=options).fun for start in starts)
    assert -1 / best == pytest.approx(norm_factor(order), rel=1e-3)


def test_networks_that_use_other_coordinates_obey_the_bound_and_the_best_one_attains_it():
    """Order 4 of 7 coordinates, all 128 points: |W|_F >= (1 - sqrt(R)) N sqrt(d)."""
    x = sign_patterns(7)
    chi = np.prod(x[:, :4], axis=1)
    best = embed(realise(*least_norm_units(4), 64), np.arange(4), 7)
    generator = np.random.default_rng(5)

    def bound(network):
        return (1 - np.sqrt(np.mean((network(x / sqrt(7)) - chi) ** 2))) * norm_factor(4) * sqrt(7)

    for share in (0.3, 0.6, 1.0):
        shrunk = TwoLayerRelu(best.signs, best.weights * share)
        assert shrunk.norm == pytest.approx(bound(shrunk), rel=1e-9)
        for size in (0.01, 0.1, 0.3):
            noisy = TwoLayerRelu(best.signs, shrunk.weights + size * generator.standard_normal(best.weights.shape))
            assert bound(noisy) > 0
            assert noisy.norm > bound(noisy)


@pytest.mark.parametrize("width", [40, 64, 101])
def test_a_realised_network_has_its_width_and_hardly_more_than_the_least_norm(width):
    units = least_norm_units(6)
    network = realise(*units, width)
    x = sign_patterns(6)
    assert network.weights.shape == (width, 6)
    np.testing.assert_allclose(network(x / sqrt(6)), np.prod(x, axis=1), atol=1e-9)
    assert norm_factor(6) * sqrt(6) * (1 - 1e-9) <= network.norm <= norm_factor(6) * sqrt(6) * 1.06


def test_rows_are_shared_out_as_brute_force_does():
    directions, coefficients = np.array([[1.0, 1.0], [1.0, -1.0], [2.0, 0.0]]), np.array([0.2, -1.0, 0.7])
    costs = coefficients**2 * np.sum(directions**2, axis=1)
    ways = [(a, b, 9 - a - b) for a in range(1, 8) for b in range(1, 9 - a)]
    least = min(sum(cost / n for cost, n in zip(costs, way, strict=True)) for way in ways)
    assert realise(directions, coefficients, 9).norm == pytest.approx(sqrt(2 * 9 * least), rel=1e-12)
    with pytest.raises(ValueError, match="width 2; expected at least 3"):
        realise(directions, coefficients, 2)


@pytest.mark.parametrize(("order", "error", "room"), [(2, 0.3, 1.02), (2, 0.05, 1.02), (4, 0.05, 1.2)])
def test_training_ends_at_the_error_near_the_least_norm(order, error, room):
    generator = np.random.default_rng(7)
    signs, start = generator.choice([-1.0, 1.0], 60), generator.standard_normal((60, order)) / sqrt(order)
    network, gradients = train(signs, start, error)
    outputs = np.array([by_hand(network, np.array(z) / sqrt(order)) for z in product((-1, 1), repeat=order)])
    chi = np.prod(sign_patterns(order), axis=1)
    assert np.mean((outputs - chi) ** 2) == pytest.approx(error, rel=1e-6)
    least = (1 - sqrt(error)) * CLOSED[order] * sqrt(order)
    assert least * (1 - 1e-9) <= network.norm <= room * least
    assert gradients > 0


@pytest.mark.parametrize("order", [0, 1, 5, 8])
def test_orders_without_a_known_bound_are_refused(order):
    with pytest.raises(ValueError, match=f"order {order}; expected an even number up to 6"):
        norm_factor(order)
