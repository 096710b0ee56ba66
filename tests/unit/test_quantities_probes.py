"""Quantities on probes whose laws are known."""

import numpy as np
import pytest
import xarray

from hierlearn.core.registry import build
from hierlearn.pipeline.claims.rules import outcome

WIDTHS, SEEDS = [10, 40, 20, 80], [0, 1, 2]
SPREAD = np.array([0.9, 1.0, 1.2])


def probe():
    """law = width^-1/2 at d = 4 and width^0 at d = 8, times a factor of the seed; twice is 2 law."""
    powers = np.array([-0.5, 0.0])
    law = np.array(WIDTHS, float)[None, :, None] ** powers[:, None, None] * SPREAD
    axes = ("dimension", "width", "seed")
    return xarray.Dataset(
        {"law": (axes, law), "twice": (axes, 2 * law), "constant": (("dimension",), [3.0, 5.0])},
        {"dimension": [4, 8], "width": WIDTHS, "seed": SEEDS},
    )


def measured(name, **parameters):
    return build("quantities", {"name": name, "probe": "p"} | parameters).measure(None, {"p": probe()})


def test_a_slope_is_that_of_the_law_whatever_the_order_of_the_axis():
    found = measured("probe_slope", variable="law", axis="width", where={"dimension": 4})
    assert found.value == pytest.approx(-0.5)
    assert found.low == pytest.approx(-0.5) == found.high
    assert found.seeds == 3
    part = measured("probe_slope", variable="law", axis="width", where={"dimension": 4}, values=[10, 20, 40])
    assert part.detail["sizes_fitted"] == [10, 20, 40]


def test_a_slope_of_seeds_that_keep_their_draw_has_the_spread_of_their_slopes():
    rng, slopes = np.random.default_rng(0), []
    tilted = probe()
    for _ in range(200):
        tilts = -0.5 + 0.2 * rng.standard_normal(3)
        tilted.law.values[0] = np.array(WIDTHS, float)[:, None] ** tilts
        quantity = {"name": "probe_slope", "probe": "p", "variable": "law", "axis": "width", "where": {"dimension": 4}}
        slopes.append(build("quantities", quantity).measure(None, {"p": tilted}))
    # A line through medians has no scatter here, whatever the slope.
    assert np.mean([one.low <= -0.5 <= one.high for one in slopes]) > 0.9
    assert {one.detail["dof"] for one in slopes} == {2}


def test_a_slope_leaves_nothing_open():
    with pytest.raises(ValueError, match="leaves dimension open"):
        measured("probe_slope", variable="law", axis="width")


def test_a_value_that_is_not_positive_leaves_its_place_out():
    spoilt = probe()
    spoilt.law.values[0, 1, 0] = -1.0
    quantity = build(
        "quantities",
        {"name": "probe_slope", "probe": "p", "variable": "law", "axis": "width", "where": {"dimension": 4}},
    )
    found = quantity.measure(None, {"p": spoilt})
    assert found.detail["sizes_fitted"] == [10, 20, 80]
    assert "size 40 not fitted" in found.reason


def test_a_mean_is_over_seeds_of_the_variable_its_ratio_or_its_logarithm():
    place = {"dimension": 8, "width": 20}
    assert measured("probe_mean", variable="law", where=place).value == pytest.approx(SPREAD.mean())
    ratio = measured("probe_mean", variable="twice", over="law", where=place)
    assert (ratio.value, ratio.low, ratio.high) == pytest.approx((2.0, 2.0, 2.0))
    assert measured("probe_mean", variable="law", log=True, where=place).value == pytest.approx(np.log(SPREAD).mean())


def test_a_logarithm_of_what_is_not_positive_has_no_interval():
    negative = probe() * -1
    quantity = build(
        "quantities",
        {"name": "probe_mean", "probe": "p", "variable": "law", "log": True, "where": {"dimension": 4, "width": 10}},
    )
    assert np.isnan(quantity.measure(None, {"p": negative}).low)


def test_an_inequality_is_checked_in_every_case_left_open():
    found = measured("probe_holds", larger="twice", smaller="law")
    assert (found.value, found.detail["cases"]) == (pytest.approx(0.5), 24)
    assert (found.low, found.high) == pytest.approx((0.5, 0.5))
    some = measured("probe_holds", larger="constant", smaller="twice", where={"dimension": 8})
    assert (some.value, some.detail["cases"]) == (pytest.approx(2.4 / 5), 12)
    assert (some.low, some.high) == pytest.approx((1.8 / 5, 2.4 / 5))
    fails = measured("probe_holds", larger="law", smaller="twice", where={"width": 10})
    assert (fails.value, fails.detail["cases"]) == (pytest.approx(2.0), 6)


def test_a_number_may_stand_for_the_smaller_side():
    zero = measured("probe_holds", larger="twice", smaller="law", level=1.0, where={"dimension": 8})
    assert (zero.low, zero.high) == pytest.approx((1 / 2.4, 1 / 1.8))


def test_a_measurement_says_which_sizes_it_rests_on():
    assert measured("probe_slope", variable="law", axis="width", where={"dimension": 4}).sizes == "m = 10–80"
    assert measured("probe_mean", variable="law", where={"dimension": 8, "width": 20}).sizes == "d = 8, m = 20"
    assert measured("probe_holds", larger="twice", smaller="law").sizes == "d = 4–8"


def test_the_mean_of_positive_values_and_its_interval_are_positive():
    place = {"dimension": 4, "width": 20}
    plain = measured("probe_mean", variable="law", where=place)
    found = measured("probe_mean", variable="law", positive=True, where=place)
    assert found.value == pytest.approx(np.exp(np.mean(np.log(20**-0.5 * SPREAD))))
    assert found.positive and 0 < found.low < found.value < found.high
    logs = measured("probe_mean", variable="law", log=True, where=place)
    assert np.log([found.low, found.high]) == pytest.approx([logs.low, logs.high])
    assert found.value < plain.value


def test_an_interval_ends_where_no_value_can_be():
    free = measured("probe_mean", variable="law", where={"dimension": 8, "width": 20})
    held = measured("probe_mean", variable="law", least=0.9, most=1.2, where={"dimension": 8, "width": 20})
    assert free.low < 0.9 and free.high > 1.2
    assert (held.value, held.low, held.high) == (free.value, 0.9, 1.2)
    # By rounding a share may lie beyond 1, and so may the mean of several.
    below = measured("probe_mean", variable="law", most=free.low / 2, where={"dimension": 8, "width": 20})
    assert below.value == below.low == below.high == free.low / 2


def test_a_case_that_was_not_measured_leaves_the_inequality_open():
    spoilt = probe()
    spoilt.twice.values[0, 1, 0] = np.nan
    quantity = build("quantities", {"name": "probe_holds", "probe": "p", "larger": "twice", "smaller": "law"})
    found = quantity.measure(None, {"p": spoilt})
    assert np.isnan(found.value)
    assert "1 of 24 cases not measured" in found.reason
    assert outcome("bound", found.value, found.low, found.high, np.nan, reason=found.reason)[0] == "undecided"


def test_a_mean_over_a_seed_that_failed_is_inconclusive():
    spoilt = probe()
    spoilt.law.values[0, 1, 0] = np.nan
    quantity = build(
        "quantities",
        {"name": "probe_mean", "probe": "p", "variable": "law", "where": {"dimension": 4, "width": 40}},
    )
    found = quantity.measure(None, {"p": spoilt})
    assert outcome("ordering", found.value, found.low, found.high, 0.0, reason=found.reason)[0] == "undecided"
    assert "1 of 3 values not finite" in found.reason


def test_a_ratio_to_a_theory_is_the_mean_over_places_of_the_median_log_ratio():
    found = measured("probe_theory_ratio", variable="twice", theory="law", axis="width", where={"dimension": 4})
    assert found.value == pytest.approx(np.log(2.0)) == pytest.approx(found.low)
    part = measured(
        "probe_theory_ratio", variable="law", theory="law", axis="width", where={"dimension": 4}, values=[10, 40, 80]
    )
    assert [row["size"] for row in part.detail["sizes"]] == [10, 40, 80]
    assert (part.sizes, part.detail["dof"]) == ("m = 10–80", 2)


def test_a_ratio_to_a_theory_falls_apart_where_the_power_law_is_another():
    """At width^0 over width^-1/2 the log ratio grows by log(width) / 2: its mean over widths is known."""
    other = probe()
    other["theory"] = ("width", np.array(WIDTHS, float) ** -0.5)
    parameters = {"probe": "p", "variable": "law", "theory": "theory", "axis": "width", "where": {"dimension": 8}}
    found = build("quantities", {"name": "probe_theory_ratio"} | parameters).measure(None, {"p": other})
    assert found.value == pytest.approx(np.mean(np.log(WIDTHS)) / 2)
    assert found.low < found.value < found.high


def test_a_difference_is_that_to_the_best_of_the_places_below():
    at = {"variable": "law", "axis": "width", "where": {"dimension": 4}}
    one = measured("probe_difference", above=10, below=[40], **at)
    apart = SPREAD * (10**-0.5 - 40**-0.5)
    assert one.value == pytest.approx(apart.mean())
    assert one.low < one.value < one.high
    several = measured("probe_difference", above=10, below=[40, 80, 20], **at)
    assert several.value == pytest.approx((SPREAD * (10**-0.5 - 20**-0.5)).mean())
    # No place is above itself, by how much ever it is above the others.
    itself = measured("probe_difference", above=10, below=[40, 10], **at)
    assert (itself.value, itself.high) == (0, 0)


def test_a_difference_with_a_missing_value_has_no_interval():
    spoilt = probe()
    spoilt.law.values[0, 1, 0] = np.nan
    at = {"variable": "law", "axis": "width", "where": {"dimension": 4}}
    quantity = build("quantities", {"name": "probe_difference", "probe": "p", "above": 10, "below": [20, 40]} | at)
    found = quantity.measure(None, {"p": spoilt})
    assert np.isnan([found.low, found.high]).all()
