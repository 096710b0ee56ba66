"""Sample complexities against a theory, against other slopes and with unlabelled points, where all are known."""

import numpy as np
import pytest
import xarray
from scipy.stats import binomtest, linregress
from scipy.stats import t as student

from hierlearn.core.protocols import STATUS
from hierlearn.core.registry import build

DIMENSIONS, SAMPLES, SEEDS = [4, 6, 8, 12, 16], 2.0 ** np.arange(0, 20, 0.5), list(range(5))
SPREAD = np.array([0.8, 0.9, 1.0, 1.1, 1.25])


def cube(unlabelled=(), validation=None, **growth):
    """Learners whose risk is n*(d, seed) / (2 n), so that one half is crossed at n*.

    growth: learner -> n*(d) or n*(d, seeds); unlabelled: learner -> n0; validation: learner -> n* on validation points.
    """
    names = list(growth)
    shape = (len(names), len(DIMENSIONS), 1, len(SEEDS), len(SAMPLES))
    axes = ("learner", "dimension", "degree", "seed", "samples")
    test, seen = np.empty(shape), np.empty(shape)
    for i, name in enumerate(names):
        for j, d in enumerate(DIMENSIONS):
            crossing = growth[name](d) * SPREAD
            test[i, j, 0] = crossing[:, None] / (2 * SAMPLES)
            seen[i, j, 0] = ((validation or {}).get(name, growth[name])(d) * SPREAD)[:, None] / (2 * SAMPLES)
    spent = np.array([dict(unlabelled).get(name, 0.0) for name in names])[:, None, None, None, None]
    return xarray.Dataset(
        {
            "test_risk": (axes, test),
            "validation_risk": (axes, seen),
            "status": (axes, np.zeros(shape, np.int8)),
            "unlabelled_samples": (axes, np.broadcast_to(spent, shape)),
        },
        {"learner": names, "dimension": DIMENSIONS, "degree": [4], "samples": SAMPLES, "seed": SEEDS},
    )


def theory(law, dimensions=DIMENSIONS):
    samples = np.array([[[[law(d)]]] for d in dimensions])
    return xarray.Dataset(
        {"sample_complexity": (("dimension", "degree", "line", "threshold"), samples)},
        {"dimension": dimensions, "degree": [4], "line": ["ntk"], "threshold": [0.5]},
    )


def measured(name, scores, probes=None, **parameters):
    return build("quantities", {"name": name, "where": {"degree": 4}} | parameters).measure(scores, probes or {})


def test_a_learner_a_tenth_above_its_theory_at_every_size_is_measured_so():
    scores = cube(a=lambda d: 1.1 * 3 * d**2.7)
    line = {"theory": theory(lambda d: 3 * d**2.7)}
    found = measured("theory_ratio", scores, line, learner="a", probe="theory", line="ntk")
    assert found.value == pytest.approx(np.log(1.1), abs=1e-6)
    assert [row["size"] for row in found.detail["sizes"]] == DIMENSIONS
    assert (found.seeds, found.sizes, found.detail["dof"]) == (5, "d = 4–16", len(DIMENSIONS) - 1)


def test_a_theory_that_curves_is_followed_size_by_size():
    curved = {"theory": theory(lambda d: d**3 * (1 + 4 / d))}
    found = measured(
        "theory_ratio", cube(a=lambda d: d**3 * (1 + 4 / d)), curved, learner="a", probe="theory", line="ntk"
    )
    assert found.value == pytest.approx(0, abs=1e-6)
    found = measured("theory_ratio", cube(a=lambda d: d**3.0), curved, learner="a", probe="theory", line="ntk")
    assert found.high < 0


def test_a_theory_may_have_sizes_that_are_not_compared_and_must_have_those_that_are():
    scores, given = cube(a=lambda d: d**2.0), {"learner": "a", "probe": "theory", "line": "ntk"}
    far = {"theory": theory(lambda d: d**2.0, [4, 6, 8, 40])}
    found = measured("theory_ratio", scores, far, sizes=[4, 6, 8], **given)
    assert found.value == pytest.approx(0, abs=1e-6)
    with pytest.raises(ValueError, match=r"no n\* of ntk at the dimensions \[12, 16\]"):
        measured("theory_ratio", scores, far, **given)
    with pytest.raises(ValueError, match=r"found no threshold 0\.1"):
        measured("theory_ratio", scores, far, threshold=0.1, **given)


def test_slopes_over_different_sizes_are_subtracted():
    scores = cube(quad=lambda d: d**2.0, ntk=lambda d: d**3.5)
    given = {"above": "ntk", "below": "quad", "above_sizes": [4, 6, 8], "below_sizes": [8, 12, 16]}
    found = measured("slope_difference", scores, **given)
    assert found.value == pytest.approx(1.5, abs=1e-6)
    assert found.detail["above"]["sizes_fitted"] == [4, 6, 8]
    assert found.detail["below"]["sizes_fitted"] == [8, 12, 16]
    assert found.sizes == "d = 4–16"


def two_degrees(above, below):
    """The learner quad at degree 6, with n* above(d) times the spread, and at degree 4 with below(d)."""
    one, other = cube(quad=below), cube(quad=above).assign_coords(degree=[6])
    return xarray.concat([one, other], "degree")


CHANGE = {"learner": "quad", "where": {"degree": 4}, "other": {"degree": 6}}


def test_the_change_of_an_exponent_is_the_slope_of_the_median_ratio_paired_by_seed():
    bend, sizes = {6: 1.3, 8: 0.8}, np.array([4, 6, 8, 12])
    # The seed that is large turns with the size, at one place alone: medians of ratios are no ratios of medians.
    scatter = {d: np.roll([0.5, 0.9, 1.0, 1.1, 2.0], i) for i, d in enumerate(DIMENSIONS)}
    scores = two_degrees(lambda d: bend.get(d, 1.0) * d**2.5, lambda d: d**2.0 * scatter[d])
    apart = two_degrees(lambda d: bend.get(d, 1.0) * d**2.5 * scatter[d], lambda d: d**2.0 * scatter[d])
    found, same = (measured("slope_change", one, **CHANGE, sizes=[4, 6, 8, 12]) for one in (scores, apart))
    plain = np.array([bend.get(d, 1.0) * d**0.5 for d in sizes])
    ratios = plain[:, None] / [scatter[d] for d in sizes]
    for change, values in ((found, np.median(ratios, axis=1)), (same, plain)):
        line = linregress(np.log(sizes), np.log(values))
        half = student.isf(0.025, 2) * line.stderr
        expected = line.slope, line.slope - half, line.slope + half
        assert (change.value, change.low, change.high) == pytest.approx(expected)
    assert found.sizes == "d = 4–12"
    # With all five sizes the line is another one.
    assert abs(measured("slope_change", scores, **CHANGE).value - found.value) > 0.01


def test_a_size_that_is_censored_at_one_place_is_left_out_of_the_change():
    scores = two_degrees(lambda d: (1e9 if d == 16 else 1.0) * d**2.5, lambda d: d**2.0 * (3.0 if d == 16 else 1.0))
    found = measured("slope_change", scores, **CHANGE)
    assert found.value == pytest.approx(0.5, abs=1e-6)
    assert found.sizes == "d = 4–12" and "16" in found.reason


def test_a_training_that_failed_at_either_place_leaves_a_change_without_an_interval():
    for degree in (0, 1):
        scores = two_degrees(lambda d: d**2.0, lambda d: d**2.0)
        here = {"learner": 0, "dimension": 1, "degree": degree, "seed": 2}
        scores.status[here | {"samples": int(np.searchsorted(SAMPLES, 36.0))}] = STATUS["diverged"]
        found = measured("slope_change", scores, **CHANGE)
        assert np.isnan([found.low, found.high]).all()
        assert "training failed at the crossing of seed 2 at size 6" in found.reason


def test_training_that_failed_at_a_crossing_leaves_comparisons_without_an_interval():
    scores = cube(a=lambda d: d**2.0, b=lambda d: d**3.0)
    crossing = int(np.searchsorted(SAMPLES, 36.0))
    scores.status[{"learner": 0, "dimension": 1, "degree": 0, "seed": 2, "samples": crossing}] = STATUS["diverged"]
    ratio = measured("theory_ratio", scores, {"t": theory(lambda d: d**2.0)}, learner="a", probe="t", line="ntk")
    difference = measured("slope_difference", scores, above="b", below="a")
    total = measured("total_samples_log_ratio", scores, above=["a"], below=["b"], dimension=6)
    for found in (ratio, difference, total):
        assert np.isnan([found.low, found.high]).all()
        assert "training failed at the crossing of seed 2 at size 6" in found.reason


def test_the_probability_of_a_failure_has_the_exact_binomial_interval():
    scores = cube(a=lambda d: d**2.0)
    # At n = 64 and d = 8 the risk is half of the spread: three of five are above 0.49.
    found = measured("failure_rate", scores, learner="a", samples=64, level=0.49, where={"degree": 4, "dimension": 8})
    exact = binomtest(3, 5).proportion_ci(0.95, "exact")
    assert (found.value, found.low, found.high) == pytest.approx((0.6, exact.low, exact.high))


def test_a_training_that_diverged_has_failed_and_one_that_is_missing_is_not_known():
    scores = cube(a=lambda d: d**2.0)
    given = {"learner": "a", "samples": 64, "level": 10.0, "where": {"degree": 4, "dimension": 8}}
    here = {"learner": 0, "dimension": 2, "degree": 0, "seed": 1, "samples": 12}
    scores.test_risk[here] = np.nan
    assert measured("failure_rate", scores, **given).reason == "1 of 5 seeds not measured"
    scores.status[here] = STATUS["diverged"]
    assert measured("failure_rate", scores, **given).value == pytest.approx(0.2)


def test_a_share_counts_the_seeds_that_reach_a_level_alone_or_over_a_rival():
    scores = cube(a=lambda d: d**2.0, b=lambda d: d**3.0)
    given = {"samples": 64, "where": {"degree": 4, "dimension": 8}}
    alone = measured("share", scores, above="a", level=0.49, **given)
    exact = binomtest(2, 5).proportion_ci(0.95, "exact")
    assert (alone.value, alone.low, alone.high) == pytest.approx((0.4, exact.low, exact.high))
    assert alone.detail == {"reached": 2}
    # What seeds have in common goes out of a ratio.
    place = {"samples": 64, "degree": 4, "dimension": 8}
    ratio = float((scores.test_risk.sel(learner="a") / scores.test_risk.sel(learner="b")).sel(place).mean())
    above_and_below = {"above": "a", "below": "b", **given}
    shares = [measured("share", scores, level=factor * ratio, **above_and_below).value for factor in (0.5, 2)]
    assert shares == [0, 1]
    # A training that failed reaches nothing, and one that is missing is not known.
    here = {"learner": 0, "dimension": 2, "degree": 0, "samples": 12}
    scores.test_risk[here | {"seed": 1}] = np.nan
    assert measured("share", scores, above="a", level=10.0, **given).reason == "1 of 5 seeds not measured"
    scores.status[here | {"seed": 1}] = STATUS["diverged"]
    assert measured("share", scores, above="a", level=10.0, **given).value == pytest.approx(0.8)


def test_totals_count_unlabelled_points_of_both_sides():
    scores = cube({"neural": 300.0}, neural=lambda d: 100.0, raw=lambda d: 200.0)
    found = measured("total_samples_log_ratio", scores, above=["neural"], below=["raw"], dimension=8)
    expected = np.mean(np.log((100 * SPREAD + 300) / (200 * SPREAD)))
    assert found.value == pytest.approx(expected, abs=1e-9)
    assert found.sizes == "d = 8"
    assert found.detail["above"][2] == {"learner": "neural", "total": pytest.approx(400.0)}


def test_each_seed_chooses_on_validation_points_and_is_counted_on_test_points():
    """By validation the second is best everywhere; on test points it is not, and what it costs there counts."""
    scores = cube(
        {"few": 50.0, "many": 200.0},
        {"many": lambda d: 10.0},
        few=lambda d: 400.0,
        many=lambda d: 600.0,
        raw=lambda d: 500.0,
    )
    found = measured("total_samples_log_ratio", scores, above=["few", "many"], below=["raw"], dimension=8)
    assert {row["learner"] for row in found.detail["above"]} == {"many"}
    assert found.value == pytest.approx(np.mean(np.log((600 * SPREAD + 200) / (500 * SPREAD))), abs=1e-9)


def test_a_risk_on_validation_points_that_noise_puts_below_0_counts_as_0():
    scores = cube({"few": 50.0}, few=lambda d: 400.0, raw=lambda d: 500.0)
    wanted = measured("total_samples_log_ratio", scores, above=["few"], below=["raw"], dimension=8)
    scores.validation_risk[{"samples": -1}] = -0.003
    found = measured("total_samples_log_ratio", scores, above=["few"], below=["raw"], dimension=8)
    assert (found.value, found.low) == (wanted.value, wanted.low)


def test_the_best_number_of_unlabelled_points_may_differ_from_seed_to_seed():
    mixed = np.where(np.arange(5) < 2, 10.0, 1e4)
    scores = cube({"few": 0.0, "many": 1000.0}, few=lambda d: mixed, many=lambda d: 10.0, raw=lambda d: 100.0)
    found = measured("total_samples_log_ratio", scores, above=["many", "few"], below=["raw"], dimension=8)
    assert [row["learner"] for row in found.detail["above"]] == ["few", "few", "many", "many", "many"]


def test_a_censored_total_leaves_no_interval_unless_nobody_chooses_it():
    scores = cube({"few": 0.0, "many": 10.0}, few=lambda d: 1e9, many=lambda d: 100.0, raw=lambda d: 200.0)
    found = measured("total_samples_log_ratio", scores, above=["few"], below=["raw"], dimension=8)
    assert np.isnan(found.low) and "5 of 5 seeds censored" in found.reason
    assert found.detail["above"][0]["total"] is None
    found = measured("total_samples_log_ratio", scores, above=["few", "many"], below=["raw"], dimension=8)
    assert np.isfinite(found.low)
