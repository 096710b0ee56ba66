"""Stationary points of models and networks against recomputed objectives, and the theorems' inequalities."""

import numpy as np
import pytest

from hierlearn.core.problem import pose
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.pipeline.measurements import randomised_stationary_points, stationary_points
from hierlearn.pipeline.measurements._models import start_of
from hierlearn.theory.landscape import leading_reference

KEY = ("stationary",)
NEURAL = {"name": "neural", "features": "quadratic", "count": 30, "whiten": "truncated", "directions": 15}


def problem(seeds=(0, 1), law="hypercube", dimension=5):
    teacher = {"name": "parity"} if law == "hypercube" else {"name": "ridge_polynomial", "degree": 2}
    inputs = build("inputs", {"name": law}, dimension=dimension)
    return pose(inputs, build("teachers", teacher), "unit", 0.0, Streams(KEY, seeds))


def model(seeds=(0, 1), law="hypercube", **parameters):
    given = {"name": "stationary_points", "samples": 40, "widths": [4, 8], **parameters}
    return build("probes", given).measure(problem(seeds, law))


def network(seeds=(0, 1), **parameters):
    given = {"name": "randomised_stationary_points", "samples": 30, "widths": [4, 8], **parameters}
    return build("probes", given).measure(problem(seeds))


@pytest.mark.parametrize("power", [4, 8])
@pytest.mark.parametrize("representation", [{"name": "raw"}, NEURAL], ids=lambda one: one["name"])
def test_the_inequality_holds_and_relaxing_the_penalty_only_raises_the_bound(power, representation):
    found = model(
        law="sphere", representation=representation, penalty_power=power, activation="relu3", unlabelled=300, widths=[4]
    )
    objective = found["objective"].values[..., None]
    assert np.all(objective <= found["sharp_bound"].values)
    assert np.all(found["sharp_bound"].values <= found["bound"].values)
    assert np.all(found["certificate_error"].values <= found["certificate_limit"].values)
    assert np.all(found["slack"].values > 0)


def test_the_bound_is_made_of_its_parts():
    """bound - L(W*) - 9 ridge |W*|^4 - s/2 is the certificate's error against W*."""
    found = model((2,), widths=[4], references=["explicit"], ridge=3e-2)
    batch = problem((2,)).draw("training", 40)
    x, targets = batch.x[0].astype(np.float64), batch.labels[0, :, 0]
    first = Streams(KEY, (2,)).at("stationary_points").at("w0").generators()[0].standard_normal((2, 5))
    gates, signs = np.tile(x @ first.T >= 0, (1, 2)) * 1.0, np.array([1.0, 1.0, -1.0, -1.0])
    reference = leading_reference(x, gates, signs, targets)
    outputs = (gates * (x @ reference.T) ** 2) @ signs / 4
    parts = np.mean((outputs - targets) ** 2) + 9 * 3e-2 / 25 * np.sum(np.sum(reference**2, axis=1) ** 2)
    error = found["bound"].values - parts - found["slack"].values / 2
    expected = found["certificate_error"].values * found["objective"].values[..., None]
    np.testing.assert_allclose(error, expected, rtol=1e-6, atol=1e-9)
    assert np.all(expected > 0)


def test_two_starts_are_references_of_each_other():
    found = model(widths=[4], references=["other_start"])
    np.testing.assert_allclose(np.prod(found["norm_ratio"].values, axis=3), 1.0, rtol=1e-9)
    spread = found["objective"].values.max(axis=3) / found["objective"].values.min(axis=3) - 1
    # Both subtract numbers near 1, each with a rounding or two.
    np.testing.assert_allclose(found["spread"].values, spread, rtol=0, atol=4 * np.finfo(float).eps)


def test_a_smaller_ridge_leaves_larger_weights_as_reference():
    found = model(references=["smaller_ridge"], ridge=0.3, activation="relu3")
    assert np.all(found["norm_ratio"].values < 1)


def test_starts_agree_once_the_width_is_large():
    found = model((0, 1, 2), widths=[2, 64], starts=[0, 1, 2], activation="relu3", ridge=1e-2)
    assert np.median(found["spread"].values[:, 1]) < 1e-3 < np.max(found["spread"].values[:, 0])


def test_a_cell_has_its_values_whatever_is_measured_beside_it():
    together = model((0, 3), widths=[4, 8], starts=[0, 1])
    alone = model((3,), widths=[8], starts=[1, 0], references=["explicit"])
    assert together["objective"].values[1, 1, 0, 1] == pytest.approx(alone["objective"].values[0, 0, 0, 0], rel=1e-12)
    position = list(together["reference"].values).index("explicit")
    assert together["bound"].values[1, 1, 0, 0, position] == pytest.approx(
        alone["bound"].values[0, 0, 0, 1, 0], rel=1e-9
    )


def test_the_networks_stationary_points_keep_to_theorem_4():
    found = network(widths=[4, 16])
    objective = found["objective"].values[..., None]
    assert np.all(objective <= found["sharp_bound"].values)
    assert np.all(found["sharp_bound"].values <= found["bound"].values)
    assert np.all(objective <= found["signed_bound"].values)
    assert np.all(found["signed_bound"].values <= found["bound"].values)
    assert np.all(found["certificate_error"].values < found["certificate_limit"].values)
    assert np.all(found["loss"].values <= found["objective"].values)
    # 0 predicts the labels -1 and +1 with loss 1.
    assert np.all(found["objective"].values < 1)


def test_an_unfinished_descent_is_not_certified():
    found = network(max_iterations=2)
    assert np.all(found["certificate_error"].values > found["certificate_limit"].values)


def test_a_network_has_its_values_whatever_is_measured_beside_it():
    together, alone = network((0, 3), widths=[4, 8]), network((3,), widths=[8])
    assert together["objective"].values[1, 1, 0] == pytest.approx(alone["objective"].values.item(), rel=1e-9)


def test_measures_are_those_that_are_declared():
    axes = {"seed", "width", "kind", "start", "reference"}
    assert set(model()) == set(stationary_points.StationaryPoints.MEASURES) | axes | {"flops"}
    assert set(network()) == set(randomised_stationary_points.RandomisedStationaryPoints.MEASURES) | {
        "flops",
        "seed",
        "width",
        "kind",
        "reference",
    }


def test_a_collapsed_end_is_no_case_of_the_theorem(caplog):
    found = model((1,), widths=[4], ridge=1e9)
    for name in ("bound", "sharp_bound", "slack", "norm_ratio", "objective", "spread", "certificate_error"):
        assert np.isnan(found[name].values).all()
    expected = "stationary_points: taylor at seed 1, width 4, kind small, start 0: collapsed: "
    assert expected in caplog.text
    assert "a smaller ridge" in caplog.text


def test_an_end_that_is_not_certified_leaves_only_its_error(caplog):
    found = model((1,), widths=[8], max_iterations=1, polish_rounds=0)
    assert np.all(found["certificate_error"].values > found["certificate_limit"].values)
    assert np.isnan(found["bound"].values).all()
    assert np.isnan(found["objective"].values).all()
    assert "start 1: not_certified" in caplog.text


def test_an_uncertified_network_leaves_only_its_error(caplog):
    found = network((1,), widths=[8], max_iterations=2)
    assert np.isnan(found["bound"].values).all()
    assert np.isnan(found["objective"].values).all()
    assert "randomised_stationary_points: network at seed 1, width 8, kind small: not_certified" in caplog.text


@pytest.mark.parametrize("probe", [model, network])
def test_certified_ends_say_nothing(probe, caplog):
    probe((1,), widths=[8])
    assert not caplog.records


KINDS = ["small", "large", "saddle", "exchanged", "rotated"]


def test_a_ridge_from_the_reference_makes_its_penalty_what_was_asked():
    """At W = 0 the slack is 0, and the bound is the loss of W* with its penalty: 0.1 by construction."""
    found = model(
        widths=[16], penalty_power=8, activation="relu3", reference_penalty=0.1, references=["explicit", "penalised"]
    )
    bound, plain = found["zero_bound"].values, found["reference_objective"].values
    explicit = bound[..., 0] - plain[..., 0]
    np.testing.assert_allclose(explicit, 0.1 * (1 - 1 / 2401), rtol=1e-9)
    # Descent from the explicit W* along the right side can only lower it.
    assert np.all(bound[..., 1] < bound[..., 0])
    assert np.all(found["objective"].values[..., None] <= found["bound"].values)


def test_the_zero_predictor_breaks_the_bound_once_it_says_something():
    found = model(widths=[256], penalty_power=8, activation="relu3", reference_penalty=0.1, samples=200)
    zero = found["zero_objective"].values
    np.testing.assert_allclose(zero, 1.0)
    explicit = list(found["reference"].values).index("explicit")
    assert np.all(found["zero_bound"].values[..., explicit] < zero[:, None, None, None])
    assert np.all(found["bound"].values[..., explicit] < zero[:, None, None, None])


def test_adversarial_starts_end_where_random_ones_do_once_the_width_is_large():
    found = model(widths=[2, 128], penalty_power=8, activation="relu3", reference_penalty=0.1, kinds=KINDS, samples=60)
    excess, objective = found["excess"].values, found["objective"].values
    assert excess.shape == (2, 2, 5, 2)
    assert np.all(excess[np.isfinite(excess)] >= 0)
    assert np.isfinite(objective[:, 1]).all()
    assert np.all(objective[..., None] <= found["bound"].values, where=np.isfinite(found["bound"].values))
    assert np.nanmax(excess[:, 1]) < 0.1 * np.nanmax(excess[:, 0])


def test_an_exchanged_start_predicts_the_opposite_and_a_rotated_one_has_the_norm_of_its_reference():
    rows = np.random.default_rng(0).standard_normal((8, 5))
    explicit = np.repeat(np.array([[1.0, 1, 0, 0, 0], [1.0, -1, 0, 0, 0]]), 4, axis=0)
    x, signs = np.random.default_rng(1).standard_normal((50, 5)), np.repeat([1.0, -1.0], 4)

    def outputs(weights):
        return (x @ weights.T) ** 2 @ signs

    exchanged = start_of("exchanged", rows, explicit, 1e-9)
    np.testing.assert_allclose(outputs(exchanged), -outputs(explicit), rtol=1e-5, atol=1e-6)
    rotated = start_of("rotated", rows, explicit, 1e-9)
    np.testing.assert_allclose(rotated @ rotated.T, explicit @ explicit.T, atol=1e-6)
    assert np.abs(rotated - explicit).max() > 0.1
    small, large = (start_of(kind, rows, explicit, 0.1) for kind in ("small", "large"))
    np.testing.assert_allclose(large, 100 * small)


def test_adversarial_starts_of_a_network_end_below_the_bound_and_above_none():
    found = network((1,), widths=[16], kinds=KINDS, references=["explicit", "penalised"], reference_penalty=0.1)
    objective, excess = found["objective"].values, found["excess"].values
    assert objective.shape == excess.shape == (1, 1, 5)
    assert np.all(objective[..., None] <= found["signed_bound"].values)
    assert np.all(excess >= 0) and np.min(excess) == 0
    np.testing.assert_allclose(found["zero_objective"].values, 1.0)
    zero = found["zero_bound"].values
    assert np.all(zero[..., 1] < zero[..., 0])
