"""How samples grow with the accuracy that is asked for, on curves whose exponent is known."""

import json

import numpy as np
import pytest
import xarray as xr

from hierlearn.core.protocols import STATUS
from hierlearn.core.registry import build

GRID, RISKS = 2.0 ** np.arange(4, 14), [0.5, 0.3, 0.2, 0.1]


def cube(exponents, floor=0.0, status="ok"):
    """Risks (n / 16)^(-1/a) of one learner at one dimension, exponent a of each seed, and never below a floor."""
    risk = np.array([np.maximum((GRID / 16) ** (-1 / a), floor) for a in exponents])[None, None]
    dims = ("learner", "dimension", "seed", "samples")
    coords = {"learner": ["quad"], "dimension": [8], "seed": np.arange(len(exponents)), "samples": GRID}
    return xr.Dataset({"test_risk": (dims, risk), "status": (dims, np.full(risk.shape, STATUS[status]))}, coords)


def measured(content, risks=RISKS):
    parameters = {"name": "accuracy_exponent", "learner": "quad", "risks": risks, "where": {"dimension": 8}}
    return build("quantities", parameters).measure(content, {})


@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0])
def test_a_power_law_gives_its_exponent(exponent):
    found = measured(cube([exponent] * 3))
    assert [found.value, found.low, found.high] == pytest.approx([exponent] * 3)
    assert found.sizes == "d = 8"


def test_the_interval_is_that_of_the_slopes_of_the_seeds():
    slopes = [0.8, 1.0, 1.3]
    found = measured(cube(slopes))
    half = 4.302653 * np.std(slopes, ddof=1) / np.sqrt(3)
    assert (found.value, found.high - found.value) == pytest.approx((np.mean(slopes), half), rel=1e-4)


def test_the_order_of_the_risks_does_not_matter():
    assert measured(cube([1.0, 1.5]), RISKS[::-1]) == measured(cube([1.0, 1.5]))


def test_a_risk_that_a_seed_does_not_reach_is_left_out():
    assert measured(cube([1.0, 1.0], floor=0.125)).value == pytest.approx(1.0)


def test_fewer_than_three_risks_that_are_reached_give_no_interval():
    found = measured(cube([1.0, 1.0], floor=0.25))
    assert np.isnan(found.low)
    assert "3 needed" in found.reason


def test_failed_training_leaves_no_interval():
    found = measured(cube([1.0, 1.2], status="diverged"))
    assert np.isnan(found.low)
    assert "failed" in found.reason


def test_a_seed_without_risks_leaves_no_interval_and_a_detail_that_can_be_written():
    scores = cube([1.0, 1.2])
    scores.test_risk[{"seed": 1}] = np.nan
    scores.status[{"seed": 1}] = STATUS["diverged"]
    found = measured(scores)
    assert np.isnan(found.low)
    assert found.detail["medians"] == [None] * len(RISKS)
    json.dumps(found.detail, allow_nan=False)
