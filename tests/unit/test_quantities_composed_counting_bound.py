"""The counting bound on compositions of signs: the inequality itself by enumeration, and its reading from scores."""

from itertools import permutations, product
from math import comb

import numpy as np
import pytest
import xarray
from scipy import stats

from hierlearn.core.protocols import STATUS
from hierlearn.core.registry import build
from hierlearn.theory.dimensions import composition_risk_bound


def averaged_distance(features, dimension, order, alpha, beta):
    """Mean over ordered coordinates of sum_j dist(H_j, span)^2 by least squares at all corners."""
    signs = np.array(list(product((-1.0, 1.0), repeat=dimension)))
    functions = features(signs)
    q, values, _ = np.linalg.svd(functions, full_matrices=False)
    q = q[:, values > 1e-9 * values[0]]
    total, count = 0.0, 0
    for chosen in permutations(range(dimension), order):
        f = signs[:, chosen]
        h = beta * f + alpha * np.prod(f, axis=1, keepdims=True)
        total += np.mean(np.sum((h - q @ (q.T @ h)) ** 2, axis=1))
        count += 1
    return total / count


@pytest.mark.parametrize("order", [2, 3, 4])
@pytest.mark.parametrize("beta", [0.0, 0.2, 1.0])
def test_no_span_of_functions_comes_closer_than_the_bound(order, beta):
    points = np.random.default_rng(3).choice([-1.0, 1.0], (6, 5))
    kernels = (np.exp, lambda t: (1 + t) ** order, lambda t: np.sign(np.sin(t + 0.3)))
    for kernel, count in product(kernels, (1, 3, 6)):
        found = averaged_distance(lambda x, k=kernel, z=points[:count]: k(x @ z.T), 5, order, 0.3, beta)
        assert found >= composition_risk_bound(count, 5, order, 0.3) - 1e-12


def test_the_bound_is_reached_by_products_of_signs():
    for count in (1, 4, 7):
        pairs = np.array([(i, j) for i in range(5) for j in range(i)][:count])
        found = averaged_distance(lambda x, p=pairs: x[:, p[:, 0]] * x[:, p[:, 1]], 5, 2, 0.3, 0.0)
        assert found == pytest.approx(float(composition_risk_bound(count, 5, 2, 0.3)), rel=1e-12)


def test_targets_themselves_come_no_closer_than_the_bound():
    """The sum of a sign and a product has a part in both; F must not help to reach G(F)."""
    for count in (1, 4, 7):
        pairs = np.array([(i, j) for i in range(5) for j in range(i)][:count])
        for beta in (0.1, 0.3, 1.0):

            def targets(x, p=pairs, b=beta):
                return b * x[:, p[:, 0]] + 0.3 * x[:, p[:, 0]] * x[:, p[:, 1]]

            assert averaged_distance(targets, 5, 2, 0.3, beta) >= composition_risk_bound(count, 5, 2, 0.3) - 1e-12


def test_all_of_the_base_may_be_had_for_nothing():
    """With all d signs in the span, the risk is what the bound says of the one function beside them."""
    found = averaged_distance(lambda x: np.concatenate([x, x[:, :1] * x[:, 1:2]], axis=1), 5, 2, 0.3, 1.0)
    assert found == pytest.approx(float(composition_risk_bound(1, 5, 2, 0.3)), rel=1e-12)


def test_the_bound_has_the_shape_of_the_numbers_of_functions_and_ends_at_zero():
    assert composition_risk_bound(np.array([[0, comb(30, 4)], [10**6, 100]]), 30, 4, 0.3) == pytest.approx(
        np.array([[0.36, 0.0], [0.0, 0.36 * (1 - 100 / 27405)]])
    )
    for order in (1, 6):
        with pytest.raises(ValueError, match=f"order {order}; expected 2 to the dimension 5"):
            composition_risk_bound(1, 5, order, 0.3)


DIMENSIONS, ALPHAS, SAMPLES, SEEDS = [6, 9], [0.1, 0.3], [5, 10, 40, 200], [0, 1, 2]
SPREAD = np.array([0.8, 1.0, 1.2])
# The upper end of a ratio of 1, whose denominator scatters by 0.2 over three seeds.
HIGH = 1 + stats.t.ppf(0.975, 2) * 0.2 / np.sqrt(3)


def risk_bound(n, d, alpha, k=3):
    return k * alpha**2 * (1 - n / comb(d, k))


def cube(law, learners=("a",), beta=1.0, scale="paper", k=3):
    axes = ("learner", "dimension", "alpha", "samples", "seed")
    norms = np.array([k * (alpha**2 + beta**2) for alpha in ALPHAS])
    factor = 1 / norms if scale == "unit" else np.ones_like(norms)
    risk = [
        [
            [[law(n, d, a) * f * SPREAD for n in SAMPLES] for a, f in zip(ALPHAS, factor, strict=True)]
            for d in DIMENSIONS
        ]
    ]
    risk = np.array(risk * len(learners), float)
    norm = np.broadcast_to(np.sqrt(norms * factor)[:, None, None], risk.shape)
    return xarray.Dataset(
        {
            "test_risk": (axes, risk),
            "target_norm": (axes, norm.copy()),
            "status": (axes, np.zeros(risk.shape, np.int8)),
        },
        {"learner": list(learners), "dimension": DIMENSIONS, "alpha": ALPHAS, "samples": SAMPLES, "seed": SEEDS},
    )


def measured(scores, **given):
    return build("quantities", {"name": "composed_counting_bound", "predictors": ["a"], "order": 3} | given).measure(
        scores, {}
    )


@pytest.mark.parametrize("scale", ["paper", "unit"])
@pytest.mark.parametrize("beta", [1.0, 0.2])
def test_cells_are_the_means_over_seeds_in_either_scale(scale, beta):
    found = measured(cube(lambda n, d, a: 1.01 * max(risk_bound(n, d, a), 0.01), scale=scale, beta=beta), beta=beta)
    below = sum(n < comb(d, 3) for d in DIMENSIONS for n in SAMPLES) * len(ALPHAS)
    assert (found.value, found.detail["cases"]) == (pytest.approx(1 / 1.01), below)
    assert found.value == pytest.approx(1 / 1.01)
    assert (found.low, found.high) == pytest.approx((0, HIGH / 1.01))


def test_one_cell_below_is_found():
    found = measured(cube(lambda n, d, a: 0.9 * risk_bound(n, d, a) if (n, d, a) == (5, 9, 0.3) else 1.0))
    assert found.value == pytest.approx(1 / 0.9)


def test_a_parameter_stands_where_there_is_no_axis():
    scores = cube(lambda n, d, a: 1.02 * risk_bound(n, d, a)).sel(alpha=0.1, drop=True)
    assert measured(scores, alpha=0.1).value == pytest.approx(1 / 1.02)
    assert measured(scores, alpha=0.3).value > 1


def test_features_take_the_place_of_samples():
    """D = 10 features: the bound does not move with n."""
    scores = cube(lambda n, d, a: 1.01 * risk_bound(10, d, a))
    found = measured(scores, features=10)
    assert found.value == pytest.approx(1 / 1.01)
    assert found.detail["cases"] == len(DIMENSIONS) * len(ALPHAS) * len(SAMPLES)
    assert (found.low, found.high) == pytest.approx((0, HIGH / 1.01))
    swept = xarray.concat([cube(lambda n, d, a, D=D: 1.01 * risk_bound(D, d, a)) for D in (4, 8)], "width")
    swept = swept.assign_coords(width=[4, 8])
    found = measured(swept, features_axis="width")
    assert (found.low, found.high) == pytest.approx((0, HIGH / 1.01))
    assert measured(swept, features_axis="width", where={"width": 8}).detail["cases"] == found.detail["cases"] / 2


def test_failed_training_leaves_no_interval_and_untrained_cells_are_no_cases():
    scores = cube(lambda n, d, a: 1.0)
    scores.test_risk.loc[{"samples": 10, "seed": 1}] = np.nan
    scores.status.loc[{"samples": 10, "seed": 1}] = STATUS["singular"]
    found = measured(scores)
    assert np.isnan(found.low)
    assert "a: training failed" in found.reason
    assert np.isnan(measured(scores.sel(samples=[10])).value)


def test_labels_that_choose_among_kernels_have_the_spans_of_all():
    scores = cube(lambda n, d, a: 1.01 * max(risk_bound(2 * n, d, a), 1e-9))
    assert measured(scores, spans=2).value == pytest.approx(1 / 1.01)
    assert measured(scores).value > 1


def test_what_other_learners_sweep_adds_no_cells():
    scores = cube(lambda n, d, a: 1.01 * max(risk_bound(n, d, a), 0.01))
    swept = xarray.concat([scores, scores], "width").assign_coords(width=[4, 8])
    assert measured(swept).detail["cases"] == measured(scores).detail["cases"]
    swept = xarray.concat([scores, 2 * scores], "width").assign_coords(width=[4, 8])
    assert measured(swept).detail["cases"] == 2 * measured(scores).detail["cases"]
