"""The tracking probe on a small problem, against the learners trained one by one."""

from dataclasses import replace

import numpy as np
import pytest

from hierlearn.core.problem import ProblemFeatures, pose
from hierlearn.core.protocols import NullMonitor, TrainingData
from hierlearn.core.registry import build, implementation
from hierlearn.core.streams import Streams

WIDTHS, SEEDS = [4, 16], (3, 5)
PARAMETERS = {
    "name": "tracking",
    "network": {"name": "randomised", "steps": 120},
    "widths": WIDTHS,
    "ridges": [1e-2],
    "samples": 50,
    "validation": 40,
    "test": 200,
}


def posed(seeds=SEEDS):
    inputs, teacher = build("inputs", {"name": "hypercube"}, dimension=6), build("teachers", {"name": "parity"})
    return pose(inputs, teacher, "unit", 0.0, Streams(("tracking test",), seeds))


@pytest.fixture(scope="module")
def measured():
    return build("probes", PARAMETERS).measure(posed())


def test_every_measure_has_a_value_per_seed_and_width(measured):
    names = set(implementation("probes", "tracking").MEASURES) - {"other_ratio"}
    assert set(measured) == names | {"seed", "width", "flops"}
    for name in names:
        assert measured[name].dimensions == ("seed", "width")
        assert measured[name].values.shape == (2, 2)
        assert np.isfinite(measured[name].values).all()
    assert measured["width"].values.tolist() == WIDTHS
    assert np.all(measured["flops"].values > 0)


def test_another_network_is_held_against_the_first():
    """Its own twin has the same risk; one that was hardly trained has a larger one."""
    twin = PARAMETERS["network"]
    others = {"twin": twin, "short": twin | {"steps": 5, "start": 1.0}}
    found = build("probes", PARAMETERS | {"others": others, "widths": [16]}).measure(posed((1,)))
    assert found["other_ratio"].dimensions == ("seed", "width", "other")
    assert found["other"].values.tolist() == ["twin", "short"]
    assert found["other_ratio"].values[0, 0, 0] == pytest.approx(1.0, rel=1e-12)
    assert not found["other_ratio"].values[0, 0, 1] <= 1.0


def test_distances_are_between_predictions_of_the_three_learners(measured):
    """Trained here by themselves, on points that are drawn again."""
    problem = replace(posed(), held_out=40)
    raw = build("representations", {"name": "raw"})
    features = ProblemFeatures(problem, raw, raw.fit(None, problem.streams))
    streams, test = problem.streams.at("tracking"), problem.draw("test", 200).target
    curved = {"activation": "relu3", "penalty_power": 8, "width": 16}
    learners = {
        "true": ({"name": "randomised", "steps": 120, **curved}, [1e-2]),
        "quad": ({"name": "taylor", "order": 2, "tolerance": 1e-4, **curved}, [1e-2]),
        "ntk": ({"name": "taylor", "order": 1, "activation": "relu3", "width": 16}, [1e-1, 1e-2, 1e-3, 1e-4]),
    }
    outputs = {}
    for name, (description, ridges) in learners.items():
        learner = build("learners", description)
        fit = learner.fit(TrainingData(problem, features, 50, {"ridge": ridges}, streams), NullMonitor(), {})
        outputs[name] = learner.predict(fit.state, features, "test", 200, {})
        risk = np.mean((outputs[name] - test) ** 2, axis=(1, 2))
        np.testing.assert_allclose(measured[f"{name}_risk"].values[:, 1], risk, rtol=1e-5)
        np.testing.assert_allclose(measured[f"{name}_train_risk"].values[:, 1], fit.train_risk, rtol=1e-5)
    for name in ("quad", "ntk"):
        distance = np.sqrt(np.mean((outputs["true"] - outputs[name]) ** 2, axis=(1, 2)))
        np.testing.assert_allclose(measured[f"true_to_{name}"].values[:, 1], distance, rtol=1e-4)
    ratio = measured["true_to_quad"].values / measured["true_to_ntk"].values
    np.testing.assert_allclose(measured["distance_ratio"].values, ratio)
    np.testing.assert_allclose(
        measured["gap"].values, measured["true_risk"].values - measured["true_train_risk"].values
    )


def test_a_seed_and_a_width_are_measured_the_same_alone(measured):
    alone = build("probes", PARAMETERS | {"widths": [16]}).measure(posed((5,)))
    for name in ("true_to_quad", "true_to_ntk", "true_risk", "true_norm"):
        np.testing.assert_allclose(alone[name].values[0, 0], measured[name].values[1, 1], rtol=1e-6)


def test_a_diverged_network_is_not_a_number():
    broken = PARAMETERS | {"network": {"name": "randomised", "steps": 5, "learning_rate": 1e12}, "widths": [4]}
    found = build("probes", broken).measure(posed((5,)))
    assert np.isnan(found["true_to_quad"].values).all()
    assert np.isfinite(found["quad_risk"].values).all()


@pytest.mark.filterwarnings("error")
def test_a_network_that_predicts_almost_nothing_is_not_close_to_its_model(caplog):
    """Both predict almost 0 at this ridge: a distance ratio near 0 would support the claim for no reason."""
    found = build("probes", PARAMETERS | {"ridges": [1e4], "widths": [4]}).measure(posed((5,)))
    for name in ("true_to_quad", "true_to_ntk", "distance_ratio", "gap", "quad_gap", "true_norm"):
        assert np.isnan(found[name].values).all()
    assert np.isfinite(found["ntk_risk"].values).all()
    lines = [record.getMessage() for record in caplog.records]
    assert [line for line in lines if line.startswith("tracking: network at width 4, seed 5: nearly_collapsed: ")]
    assert [line for line in lines if line.startswith("tracking: quadratic at width 4, seed 5: nearly_collapsed: ")]
    assert all("a smaller ridge" in line for line in lines)


def test_an_uncertified_quadratic_model_is_nothing_to_follow(caplog):
    quadratic = {"name": "taylor", "activation": "relu3", "penalty_power": 8, "max_iterations": 1, "polish_rounds": 0}
    found = build("probes", PARAMETERS | {"quadratic": quadratic, "widths": [4]}).measure(posed((5,)))
    assert np.isnan(found["distance_ratio"].values).all()
    assert np.isfinite(found["true_to_ntk"].values).all()
    assert "quadratic at width 4, seed 5: not_certified" in caplog.text


def test_a_sound_training_says_nothing(caplog):
    build("probes", PARAMETERS | {"widths": [4]}).measure(posed((5,)))
    assert not caplog.records


def test_a_quadratic_model_of_another_w0_is_the_same_learner_on_streams_of_its_own(measured):
    assert np.all(measured["true_to_another"].values != measured["true_to_quad"].values)
    own, other, linear = (measured[f"true_to_{name}"].values for name in ("quad", "another", "ntk"))
    np.testing.assert_allclose(measured["nearness"].values, own / np.minimum(other, linear))
    np.testing.assert_allclose(measured["another_nearness"].values, other / np.minimum(own, linear))


def test_ridges_are_selected_by_each_model_for_itself():
    """Of a ridge at which both nearly collapse and a good one, both take the good one."""
    found = build("probes", PARAMETERS | {"ridges": [1e4, 1e-2], "widths": [16]}).measure(posed((5,)))
    for name in ("true", "quad", "another"):
        assert found[f"{name}_ridge"].values.tolist() == [[1e-2]]
