"""The table of exponents over degrees and orders, on cubes whose exponents are known."""

from math import comb

import numpy as np
import pytest
import xarray

from hierlearn.core.protocols import STATUS
from hierlearn.core.registry import build

DIMENSIONS, SAMPLES, SEEDS = [6, 8, 10, 12, 14, 16], 2.0 ** np.arange(0, 24, 0.5), [0, 1, 2]
SPREAD = np.array([0.9, 1.0, 1.1])
CELLS = {"learners_of_order": [["first-two", "first-three"], ["second-two", "second-three"]], "degrees": [2, 3]}


def cube(law, noise=None):
    """Risks n* / (2 n) for n* = law(order, degree, d), with noise (learner, degree, d, seed) on its logarithm."""
    count = np.array([[[law(k, q, d) for d in DIMENSIONS] for q in (2, 3)] for k in (1, 2)], dtype=float)
    crossing = count[..., None] * (SPREAD if noise is None else np.exp(noise))
    # Of every order a learner for each degree.
    risk = np.repeat(crossing[..., None] / (2 * SAMPLES), 2, axis=0)
    axes = ("learner", "order", "dimension", "seed", "samples")
    return xarray.Dataset(
        {"test_risk": (axes, risk), "status": (axes, np.zeros(risk.shape, np.int8))},
        {
            "learner": [name for names in CELLS["learners_of_order"] for name in names],
            "order": [2, 3],
            "dimension": DIMENSIONS,
        }
        | {"seed": SEEDS, "samples": SAMPLES},
    )


def measured(scores, **parameters):
    return build("quantities", {"name": "order_table", **CELLS, **parameters}).measure(scores, {})


def table(k, q):
    return max(1, q - k + 1)


def test_samples_that_follow_the_table_lie_on_it_and_off_the_kernels():
    scores = cube(lambda k, q, d: 10.0 * d ** table(k, q))
    found = measured(scores, regressor="dimension")
    assert found.value == pytest.approx(0, abs=1e-6) and found.high < 1e-5
    assert [(c["order"], c["degree"], c["expected"]) for c in found.detail["cells"]] == [
        (1, 2, 2),
        (1, 3, 3),
        (2, 2, 1),
        (2, 3, 2),
    ]
    rival = measured(scores, regressor="dimension", expected="kernel")
    assert (rival.value, rival.low) == (pytest.approx(1.0), pytest.approx(1.0, abs=1e-3))
    assert "the furthest at degree 2 and order 2: 1.00" in rival.reason or "degree 3 and order 2: 2.00" in rival.reason


def test_counts_of_parities_take_the_bend_of_small_dimensions_out():
    scores = cube(lambda k, q, d: comb(d, table(k, q)))
    assert measured(scores).high < 1e-5
    assert measured(scores, regressor="dimension").value > 0.2


def test_one_cell_off_the_table_is_found_and_its_sizes_are_its_own():
    scores = cube(lambda k, q, d: d ** (table(k, q) + (0.8 if (k, q) == (2, 3) else 0.0)))
    found = measured(scores, regressor="dimension", sizes=[[6, 8, 10], [10, 12, 14, 16]])
    assert (found.value, found.low) == (pytest.approx(0.8), pytest.approx(0.8, abs=1e-3))
    assert "degree 3 and order 2: 2.80" in found.reason
    assert [cell["fitted"] for cell in found.detail["cells"]] == [[6, 8, 10], [10, 12, 14, 16]] * 2
    assert found.sizes == "d = 6–16"


def test_a_cell_without_a_slope_or_with_a_failed_training_leaves_no_interval():
    scores = cube(lambda k, q, d: 10.0 * d)
    lost = scores.copy(deep=True)
    lost["test_risk"].loc[{"learner": "second-three", "order": 3}] = 1.0
    assert np.isnan(measured(lost).high) and "second-three at degree 3" in measured(lost).reason
    failed = scores.copy(deep=True)
    failed["status"].loc[{"learner": "first-two", "order": 2}] = STATUS["diverged"]
    assert np.isnan(measured(failed).high) and "training failed" in measured(failed).reason


def test_the_interval_holds_the_furthest_distance_of_noisy_sizes():
    """Two cells are off by 0.6, two are on the table; seeds scatter by 0.1 and sizes by 0.03."""
    held = []
    for draw in range(80):
        rng = np.random.default_rng(draw)
        noise = 0.1 * rng.standard_normal((2, 2, 6, 3)) + 0.03 * rng.standard_normal((2, 2, 6, 1))
        found = measured(cube(lambda k, q, d: 20 * d ** (table(k, q) + 0.6 * (k - 1)), noise), regressor="dimension")
        held.append(found.low <= 0.6 <= found.high)
    assert np.mean(held) >= 0.92
