"""Quantities on cubes whose exponents are known."""

import json
import runpy
from math import comb

import numpy as np
import pytest
import xarray

from hierlearn.core.protocols import STATUS
from hierlearn.core.registry import PACKAGE, build
from hierlearn.pipeline.quantities._tables import complexities
from hierlearn.theory.dimensions import harmonics

DIMENSIONS, SAMPLES, SEEDS = [4, 6, 8, 12], 2.0 ** np.arange(0, 20, 0.5), [0, 1, 2, 3, 4]
SPREAD = np.array([0.8, 0.9, 1.0, 1.1, 1.25])


def cube(**growth):
    """Scores of learners whose risk is n*(d, seed) / (2 n): one half is crossed at n*; growth: learner -> n*(d)."""
    names = list(growth)
    shape = (len(names), len(DIMENSIONS), 1, len(SAMPLES), len(SEEDS))
    risk = np.empty(shape)
    for i, law in enumerate(growth.values()):
        for j, d in enumerate(DIMENSIONS):
            risk[i, j, 0] = law(d) * SPREAD[None, :] / (2 * SAMPLES[:, None])
    axes = ("learner", "dimension", "degree", "samples", "seed")
    return xarray.Dataset(
        {
            "test_risk": (axes, risk),
            "status": (axes, np.zeros(shape, np.int8)),
            "unlabelled_samples": (axes, np.full(shape, 100.0)),
        },
        {"learner": names, "dimension": DIMENSIONS, "degree": [4], "samples": SAMPLES, "seed": SEEDS},
    )


def measured(name, scores, probes=None, **parameters):
    description = {"name": name, "where": {"degree": 4}} | parameters
    return build("quantities", description).measure(scores, probes or {})


def test_an_exponent_is_recovered_against_the_dimension_and_against_a_count():
    found = measured("exponent", cube(a=lambda d: 3 * d**2.5), learner="a", sizes=DIMENSIONS)
    assert found.value == pytest.approx(2.5, abs=1e-6)
    assert found.low <= 2.5 <= found.high
    counted = cube(a=lambda d: 0.5 * harmonics(d, 4))
    found = measured("exponent", counted, learner="a", sizes=DIMENSIONS, regressor="harmonic_dimension")
    assert found.value == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(("name", "logs"), [("polynomial_dimension_log", 1), ("polynomial_dimension_log2", 2)])
def test_an_exponent_is_recovered_against_a_count_with_logarithms(name, logs):
    # Polynomials of degree at most 2 on the sphere: 1 + d + (d + 2) (d - 1) / 2.
    counted = cube(a=lambda d: 2 * ((1 + d + (d + 2) * (d - 1) / 2) * np.log(d) ** logs) ** 0.9)
    found = measured("exponent", counted, learner="a", sizes=DIMENSIONS, regressor=name)
    assert found.value == pytest.approx(0.9, abs=1e-6)


def test_an_exponent_along_orders_is_compared_with_the_number_of_products():
    scores = cube(a=lambda k: 3 * sum(comb(20, j) for j in range(k + 1)) ** 0.4)
    scores = scores.rename(dimension="order", degree="dimension").assign_coords(dimension=[20])
    wanted = {"axis": "order", "regressor": "products", "learner": "a"}
    assert measured("exponent", scores, where={"dimension": 20}, **wanted).value == pytest.approx(0.4, abs=1e-6)


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ({"axis": "order", "regressor": "products"}, "where no dimension for the regressor products"),
        ({"regressor": "products", "where": {"dimension": 20}}, "axis dimension for the regressor products"),
        (
            {"regressor": "products", "axis": "alpha", "where": {"dimension": 20}},
            "axis alpha for the regressor products",
        ),
        ({"regressor": "harmonic_dimension"}, "where no degree for the regressor harmonic_dimension"),
    ],
)
def test_a_count_that_hangs_on_what_its_place_does_not_say_is_refused(said, complaint):
    with pytest.raises(ValueError, match=complaint):
        build("quantities", {"name": "exponent", "learner": "a"} | said).raise_for()


def test_a_ratio_is_paired_by_seed_so_that_common_spread_cancels():
    scores = cube(a=lambda d: 5 * d**2.0, b=lambda d: d**1.5)
    found = measured("paired_log_ratio", scores, above="a", below="b")
    assert found.value == pytest.approx(np.log(5 * 12**0.5), abs=1e-9)
    assert found.high - found.low < 1e-9
    slope = measured("paired_log_ratio_slope", scores, above="a", below="b", sizes=DIMENSIONS)
    assert slope.value == pytest.approx(0.5, abs=1e-9)


def test_a_ratio_that_is_a_lower_bound_has_the_cap_in_the_place_of_what_lies_beyond():
    scores = cube(a=lambda d: 1e3 * d**2.0, b=lambda d: d**1.5)
    cap = 2.0**13
    scores = scores.where((scores.samples <= cap) | (scores.learner == "b"))
    assert np.isnan(measured("paired_log_ratio", scores, above="a", below="b").value)
    found = measured("paired_log_ratio", scores, above="a", below="b", lower_bound=True)
    below = complexities(scores, "b", {"degree": 4}, 0.5).samples[-1]
    assert found.value == pytest.approx(np.log(cap / below).mean(), abs=1e-9)
    assert "a lower bound: a has not crossed at its cap, 5 seed(s)" in found.reason and found.bound
    assert not measured(
        "paired_log_ratio", cube(a=lambda d: d, b=lambda d: d), above="a", below="b", lower_bound=True
    ).bound
    other = measured("paired_log_ratio", scores, above="b", below="a", lower_bound=True)
    assert np.isnan(other.value)


def test_a_median_of_ratios_wants_six_seeds_and_takes_a_cap_as_the_mean_does():
    scores = cube(a=lambda d: 5 * d**2.0, b=lambda d: d**1.5)
    few = measured("median_log_ratio", scores, above="a", below="b")
    assert np.isnan(few.value)
    assert few.reason.startswith(
        "no size whose median has an interval, 5 value(s): no interval of a median from fewer than 6"
    )
    scores = xarray.concat([scores, scores.isel(seed=[0, 1, 3, 4])], "seed")
    found = measured("median_log_ratio", scores, above="a", below="b")
    assert (found.value, found.sizes) == (pytest.approx(np.log(5 * 12**0.5), abs=1e-9), "d = 12")
    bound = {"above": "a", "below": "b", "lower_bound": True}
    beyond = scores.samples > 2.0**8
    of_a = scores.learner == "a"
    all_capped = measured("median_log_ratio", scores.where(~(beyond & of_a)), **bound)
    below = complexities(scores, "b", {"degree": 4}, 0.5).samples[-1]
    assert all_capped.bound and all_capped.value == pytest.approx(np.median(np.log(2.0**8 / below)), abs=1e-9)
    # One seed of nine at its cap leaves both ends known: no bound.
    one_capped = measured(
        "median_log_ratio", scores.where(~(beyond & of_a & (xarray.DataArray(np.arange(9), dims="seed") == 4))), **bound
    )
    assert not one_capped.bound and one_capped.value == pytest.approx(found.value, abs=1e-9)


def test_training_that_failed_beside_a_crossing_leaves_no_interval_and_is_named():
    scores = cube(a=lambda d: 3 * d**2.0, b=lambda d: d**2.0)
    here = {"learner": 0, "dimension": 1, "degree": 0, "seed": 2}
    crossing = int(np.searchsorted(SAMPLES, 3 * 6**2.0))
    scores.status[here | {"samples": crossing}] = STATUS["diverged"]
    for name, parameters in (
        ("exponent", {"learner": "a", "sizes": DIMENSIONS}),
        ("paired_log_ratio", {"above": "a", "below": "b"}),
        ("paired_log_ratio_slope", {"above": "b", "below": "a", "sizes": DIMENSIONS}),
    ):
        found = measured(name, scores, **parameters)
        assert np.isnan([found.low, found.high]).all(), name
        assert "a: training failed at the crossing of seed 2 at size 6" in found.reason, name
    assert np.isfinite(measured("exponent", scores, learner="b", sizes=DIMENSIONS).low)


def test_training_that_fails_from_some_n_on_is_no_cap():
    scores = cube(a=lambda d: 3 * d**2.0, b=lambda d: d**2.0)
    early = {"learner": 0, "samples": slice(2, None)}
    scores.test_risk[early], scores.status[early] = np.nan, STATUS["over_cap"]
    bound = {"above": "a", "below": "b", "lower_bound": True}
    assert np.isfinite(measured("paired_log_ratio", scores, **bound).low)
    scores.status[early | {"seed": 2}] = STATUS["diverged"]
    found = measured("paired_log_ratio", scores, **bound)
    assert np.isnan(found.low) and "a: training failed at the crossing of seed 2 at size 4" in found.reason


@pytest.mark.parametrize("side", [slice(None, 3), slice(-3, None)])
def test_a_search_that_ended_before_test_risk_crossed_puts_the_crossing_at_its_end(side):
    scores = cube(a=lambda d: 3 * d**2.0)
    here = {"learner": 0, "dimension": 1, "degree": 0, "seed": 2}
    nowhere = np.ones(len(SAMPLES), bool)
    nowhere[side] = False
    scores.test_risk[here | {"samples": nowhere}] = np.nan
    over = complexities(scores, "a", {"degree": 4}, 0.5)
    assert over.status[1, 2] in ("left_censored", "right_censored")
    scores.status[here | {"samples": nowhere}] = STATUS["not_visited"]
    ended = complexities(scores, "a", {"degree": 4}, 0.5)
    assert ended.status[1, 2] == "observed"
    assert ended.samples[1, 2] == over.samples[1, 2] == SAMPLES[side][-1 if side.start is None else 0]
    scores.status[here | {"samples": int(np.flatnonzero(nowhere)[0 if side.start is None else -1])}] = STATUS[
        "diverged"
    ]
    assert complexities(scores, "a", {"degree": 4}, 0.5).status[1, 2] == over.status[1, 2]


def test_unfinished_training_counts_at_the_sizes_visited_on_either_side_of_a_crossing():
    scores = cube(a=lambda d: d**2.0)
    here = {"learner": 0, "dimension": 1, "degree": 0, "seed": 2}
    right = int(np.searchsorted(SAMPLES, 36.0 * SPREAD[2]))
    between = {"samples": slice(right - 2, right + 2)}
    scores.test_risk[here | between], scores.status[here | between] = np.nan, STATUS["not_visited"]
    for place in (right - 3, right + 2):
        scores.status[here | {"samples": place}] = STATUS["not_converged"]
        found = measured("exponent", scores, learner="a", sizes=DIMENSIONS)
        assert found.reason.endswith("did not converge at the crossing of seed 2 at size 6")
        scores.status[here | {"samples": place}] = STATUS["ok"]
    scores.status[here | {"samples": right + 3}] = STATUS["not_converged"]
    assert "converge" not in measured("exponent", scores, learner="a", sizes=DIMENSIONS).reason


def test_training_that_failed_far_from_a_crossing_does_not_matter():
    scores = cube(a=lambda d: 3 * d**2.0)
    scores.status[{"learner": 0, "dimension": 1, "degree": 0, "seed": 2, "samples": 0}] = STATUS["diverged"]
    assert np.isfinite(measured("exponent", scores, learner="a", sizes=DIMENSIONS).low)


def test_an_exponent_counts_unfinished_training_at_a_crossing_and_says_so():
    scores = cube(a=lambda d: d**2.0)
    whole = measured("exponent", scores, learner="a", sizes=DIMENSIONS)
    here = {"learner": 0, "dimension": 1, "degree": 0, "seed": 2}
    crossing = int(np.searchsorted(SAMPLES, 36.0))
    scores.status[here | {"samples": crossing}] = STATUS["not_converged"]
    found = measured("exponent", scores, learner="a", sizes=DIMENSIONS)
    assert (found.value, found.low, found.high) == (whole.value, whole.low, whole.high)
    assert found.reason.endswith("a: training did not converge at the crossing of seed 2 at size 6")
    scores.status[here | {"samples": crossing}] = STATUS["ok"]
    scores.status[here | {"samples": 0}] = STATUS["not_converged"]
    assert measured("exponent", scores, learner="a", sizes=DIMENSIONS).reason == whole.reason


@pytest.mark.parametrize("quantity", ["paired_log_ratio", "median_log_ratio", "total_samples_log_ratio"])
def test_a_ratio_counts_unfinished_training_at_a_crossing_and_says_so(quantity):
    five = cube(a=lambda d: d**2.0, b=lambda d: 2 * d**2.0)
    scores = xarray.concat([five, five.assign_coords(seed=range(5, 10))], "seed")
    scores["validation_risk"] = scores.test_risk
    total = quantity.startswith("total")
    given = {"above": ["b"], "below": ["a"], "dimension": 6} if total else {"above": "b", "below": "a"}
    whole = measured(quantity, scores, **given)
    dimension = 6 if total else DIMENSIONS[-1]
    crossing = int(np.searchsorted(SAMPLES, float(dimension) ** 2))
    here = {"learner": 0, "dimension": DIMENSIONS.index(dimension), "degree": 0, "seed": 2, "samples": crossing}
    scores.status[here] = STATUS["not_converged"]
    found = measured(quantity, scores, **given)
    assert np.isfinite(whole.low)
    assert (found.value, found.low, found.high) == (whole.value, whole.low, whole.high)
    assert found.reason.endswith(f"a: training did not converge at the crossing of seed 2 at size {dimension}")


def test_a_seed_without_numbers_leaves_a_size_out_with_a_reason():
    scores = cube(a=lambda d: 3 * d**2.0)
    scores.test_risk[{"learner": 0, "dimension": [0, 1], "degree": 0, "seed": 2}] = np.nan
    found = measured("exponent", scores, learner="a", sizes=DIMENSIONS)
    assert np.isnan(found.low)
    assert "size 4: 1 of 5 seeds not measured" in found.reason


def test_truth_values_are_found_where_files_have_numbers():
    scores = cube(a=lambda d: d**2.0).assign_coords(degree=[0])
    for name in ("degree", "bias"):
        found = scores.rename(degree=name)
        place = {"where": {name: False}}
        assert measured("exponent", found, learner="a", sizes=DIMENSIONS, **place).value == pytest.approx(2.0)


def test_an_axis_left_open_is_refused_by_name():
    with pytest.raises(ValueError, match="leaves degree open"):
        two = xarray.concat([cube(a=lambda d: d), cube(a=lambda d: 2 * d).assign_coords(degree=[2])], "degree")
        build("quantities", {"name": "exponent", "learner": "a", "sizes": DIMENSIONS}).measure(two, {})


def test_a_theory_line_has_an_exponent_without_seeds():
    line = xarray.Dataset(
        {
            "sample_complexity": (
                ("dimension", "degree", "line", "threshold"),
                np.array([[[[d**3.0]]] for d in DIMENSIONS]),
            )
        },
        {"dimension": DIMENSIONS, "degree": [4], "line": ["ntk"], "threshold": [0.5]},
    )
    found = measured("theory_exponent", None, {"theory": line}, probe="theory", line="ntk", sizes=DIMENSIONS)
    assert found.value == pytest.approx(3.0, abs=1e-9)
    assert found.seeds == 0


def test_every_quantity_names_the_learners_it_rests_on():
    both = build("quantities", {"name": "paired_log_ratio", "above": "a", "below": "b"})
    assert both.learners == ["a", "b"]
    alone = build("quantities", {"name": "exponent", "learner": "a", "sizes": DIMENSIONS})
    assert alone.learners == ["a"]


def test_a_study_of_theory_alone_is_judged_without_scores(tmp_path):
    judge = runpy.run_path(str(PACKAGE.parent / "scripts" / "judge.py"), run_name="imported")["judge"]
    samples = np.array([[[[d**3.0]]] for d in DIMENSIONS])
    line = xarray.Dataset(
        {"sample_complexity": (("dimension", "degree", "line", "threshold"), samples)},
        {"dimension": DIMENSIONS, "degree": [6], "line": ["ntk"], "threshold": [0.5]},
    )
    line.to_netcdf(tmp_path / "theory.probe.nc")
    quantity = {
        "name": "theory_exponent",
        "probe": "theory",
        "line": "ntk",
        "where": {"degree": 6},
        "sizes": DIMENSIONS,
    }
    claim = {"place": "p", "statement": "s", "kind": "rate", "rank": "primary", "regime": "limit", "quantity": quantity}
    claim |= {"rule": "two-sided", "predicted": 3, "slack": 0.1}
    claim["control"] = {"rival": "another count", "quantity": quantity | {"regressor": "harmonic_dimension"}}
    parameters = {"study": {"name": "s", "paper": "chen2020", "preset": "quick"}, "claims": {"C3": claim}}
    files = [tmp_path / "claims.json", tmp_path / "judged.nc"]
    judge([], [], {"theory": tmp_path / "theory.probe.nc"}, files, parameters, "")
    (row,) = json.loads((tmp_path / "claims.json").read_text())["rows"]
    assert (row["verdict"], row["flops"], row["seeds"]) == ("consistent", 0.0, 0)
    assert (row["control_verdict"], row["sizes"]) == ("fails", f"d = {DIMENSIONS[0]}–{DIMENSIONS[-1]}")
    assert row["control_value"] < 1
