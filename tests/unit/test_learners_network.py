"""Networks as a learner: grids of settings, what is chosen on which points, divergence, interruption, fresh points."""

import numpy as np
import pytest

from hierlearn.core.needs import Sizes, points_presented
from hierlearn.core.problem import ProblemFeatures, pose
from hierlearn.core.protocols import STATUS, TrainingData
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.learners._runs import FRESH_POINTS, Batches
from hierlearn.pipeline.files.checkpoints import Checkpoints
from hierlearn.pipeline.run.monitor import JobMonitor

SEEDS, SAMPLES = (3, 5), 60


def posed(teacher, seeds=SEEDS, held_out=80, scale="unit"):
    cube = build("inputs", {"name": "hypercube"}, dimension=8)
    problem = pose(cube, build("teachers", teacher), scale, 0.0, Streams(("network",), seeds), held_out)
    # A pool of test points, as a job has them.
    problem.pools["test"] = problem.draw("test", 50)
    raw = build("representations", {"name": "raw"})
    return problem, ProblemFeatures(problem, raw, raw.fit(np.empty((len(seeds), 0, 0)), problem.streams))


@pytest.fixture
def parity():
    return posed({"name": "parity", "order": 2})


def fitted(where, choices, samples=SAMPLES, watch=None, cache=None, **parameters):
    problem, features = where
    learner = build("learners", {"name": "network", "width": 20, "epochs": 4} | parameters)
    streams = problem.streams.at("learner", "Network")
    fit = learner.fit(
        TrainingData(problem, features, samples, choices, streams),
        watch or JobMonitor(),
        {} if cache is None else cache,
    )
    return learner, fit


def test_the_setting_that_is_kept_has_the_least_error_on_the_points_it_is_chosen_on(parity):
    rates = [0.5, 0.05, 0.005]
    problem, features = parity
    for rule in ("validation", "test"):
        _, kept = fitted(parity, {"learning_rate": rates, "selected_on": [rule]})
        alone = []
        for rate in rates:
            learner, fit = fitted(parity, {"learning_rate": [rate]})
            batch = problem.draw(rule, 80 if rule == "validation" else 50)
            outputs = learner.predict(fit.state, features, rule, batch.x.shape[1], {})
            alone.append(np.mean(np.sum((outputs - batch.labels) ** 2, -1), -1))
        chosen = np.argmin(alone, axis=0)
        assert kept.choices["learning_rate"].tolist() == [rates[i] for i in chosen]


def test_both_ways_of_choosing_share_one_training(parity):
    cache, choices = {}, {"learning_rate": [0.5, 0.05]}
    _, first = fitted(parity, choices | {"selected_on": ["validation"]}, cache=cache)

    class Refuses(JobMonitor):
        def advance(self, done, total):
            raise AssertionError("trained again")

    _, second = fitted(parity, choices | {"selected_on": ["test"]}, cache=cache, watch=Refuses())
    _, alone = fitted(parity, choices | {"selected_on": ["test"]})
    assert np.array_equal(second.validation_risk, alone.validation_risk)
    assert np.all(first.validation_risk <= second.validation_risk)


def test_other_rates_are_another_training(parity):
    """A study may sweep the rate in place of choosing among rates."""
    cache = {}
    swept = [fitted(parity, {"learning_rate": [rate]}, cache=cache)[1] for rate in (0.5, 0.05)]
    alone = [fitted(parity, {"learning_rate": [rate]})[1] for rate in (0.5, 0.05)]
    assert [fit.train_risk.tolist() for fit in swept] == [fit.train_risk.tolist() for fit in alone]
    assert swept[0].train_risk.tolist() != swept[1].train_risk.tolist()


def test_a_rate_that_diverges_is_counted_and_not_kept(parity):
    _, fit = fitted(parity, {"learning_rate": [1e6, 0.05]})
    assert fit.choices["learning_rate"].tolist() == [0.05, 0.05]
    assert fit.measures["diverged_runs"].tolist() == [1, 1]
    assert fit.status.tolist() == [STATUS["ok"]] * 2


def test_a_seed_without_a_finite_run_has_diverged_and_says_so(parity):
    _, fit = fitted(parity, {"learning_rate": [1e6, 1e5]})
    assert fit.status.tolist() == [STATUS["diverged"]] * 2
    assert fit.measures["diverged_runs"].tolist() == [2, 2]


@pytest.mark.parametrize("kind", ["regression", "classes"])
def test_a_run_of_finite_weights_whose_outputs_are_not_finite_has_diverged(kind):
    where = posed({"name": "parity", "order": 2, "kind": kind})
    # Two steps without momentum: the weights stay below the largest float32, their product does not.
    steps = {"trained": "all", "momentum": 0, "steps": 2}
    _, fit = fitted(where, {"learning_rate": [1e4]}, **steps)
    assert all(np.isfinite(values).all() for values in fit.state.values())
    assert fit.status.tolist() == [STATUS["diverged"]] * 2
    assert np.isnan(fit.validation_risk).all()
    _, fit = fitted(where, {"learning_rate": [1e4, 0.05]}, **steps)
    assert fit.choices["learning_rate"].tolist() == [0.05, 0.05]
    assert fit.status.tolist() == [STATUS["ok"]] * 2


def test_settings_that_diverge_are_told_in_the_scores_and_named_in_the_log(parity):
    lines = []

    class Listening(JobMonitor):
        def report(self, done, total, text):
            lines.append(text)

    choices = {"learning_rate": [0.05, 1e6], "weight_decay": [0.0, 1e-3]}
    _, fit = fitted(parity, choices, watch=Listening())
    assert fit.measures["diverged_runs"].tolist() == [2, 2]
    # The third and the fourth of (0.05, 0), (0.05, 0.001), (1e6, 0), (1e6, 0.001).
    assert fit.measures["diverged_settings"].tolist() == [2**2 + 2**3] * 2
    named = (
        "2 of 4 runs diverged: learning_rate 1000000.0, weight_decay 0.0; learning_rate 1000000.0, weight_decay 0.001"
    )
    assert lines == [f"n = {SAMPLES}, seed {seed}: {named}" for seed in SEEDS]


@pytest.mark.parametrize("trained", ["hidden", "tangent"])
def test_an_interrupted_training_ends_with_the_same_bits(parity, tmp_path, monkeypatch, trained):
    monkeypatch.setattr("hierlearn.pipeline.files.checkpoints.SECONDS_BETWEEN_SAVES", 0.0)
    choices, parameters = {"learning_rate": [0.1, 0.02]}, {"trained": trained, "epochs": 100, "batch": 40}
    _, whole = fitted(parity, choices, **parameters)

    class Killed(JobMonitor):
        def save(self, key, state, final=False):
            super().save(key, state, final)
            if state()["done"] >= 100:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fitted(parity, choices, watch=Killed(Checkpoints(tmp_path / "x.nc", {"a": "b"})), **parameters)
    steps = []

    class Watched(JobMonitor):
        def advance(self, done, total):
            steps.append(done)

    _, again = fitted(parity, choices, watch=Watched(Checkpoints(tmp_path / "x.nc", {"a": "b"})), **parameters)
    assert steps[0] > 100
    for name, values in whole.state.items():
        assert np.array_equal(values, again.state[name])
    for name, values in whole.trace.items():
        assert np.array_equal(values, again.trace[name])


def test_runs_that_do_not_fit_in_memory_together_are_trained_one_after_the_other(parity, monkeypatch):
    choices = {"learning_rate": [0.1, 0.02], "weight_decay": [0.0, 1e-3]}
    _, together = fitted(parity, choices)
    monkeypatch.setattr("hierlearn.learners.networks.runs.BYTES_TOGETHER", 1)
    monkeypatch.setattr("hierlearn.learners.networks.runs.BYTES_IN_CACHE", 1)
    _, apart = fitted(parity, choices)
    np.testing.assert_allclose(together.validation_risk, apart.validation_risk, rtol=1e-5)
    for name, values in together.state.items():
        np.testing.assert_allclose(values, apart.state[name], rtol=0, atol=1e-5 * np.abs(values).max())


def test_seeds_have_the_same_bits_together_and_one_after_the_other(parity, monkeypatch):
    choices = {"learning_rate": [0.1, 0.02], "weight_decay": [0.0, 1e-3]}
    _, together = fitted(parity, choices)
    monkeypatch.setattr("hierlearn.learners.networks.runs.BYTES_IN_CACHE", 1)
    _, apart = fitted(parity, choices)
    assert np.array_equal(together.validation_risk, apart.validation_risk)
    for name, values in together.state.items():
        assert np.array_equal(values, apart.state[name])


def test_a_seed_has_the_same_bits_whoever_else_is_trained(parity):
    problem, features = parity
    for choices in ({"learning_rate": [0.1, 0.02]}, {"learning_rate": [0.1]}):
        _, together = fitted(parity, choices)
        _, alone = fitted((problem.take([1]), features.take([1])), choices)
        for name, values in together.state.items():
            assert np.array_equal(values[1], alone.state[name][0])


def test_an_epoch_shows_every_point_once_in_an_order_of_its_own(parity):
    problem, features = parity
    batches = Batches(TrainingData(problem, features, 25, {}, problem.streams), 10, False, lambda x, y: (x, y))
    epochs = [np.concatenate([batches.at(3 * epoch + i)[0] for i in range(3)], axis=2)[:, 0] for epoch in (0, 1)]
    whole = problem.draw("training", 25).x
    for s in range(2):
        for epoch in epochs:
            assert sorted(map(tuple, epoch[s])) == sorted(map(tuple, whole[s]))
        assert not np.array_equal(epochs[0][s], epochs[1][s])


def test_online_points_are_fresh_and_prefix_stable(parity):
    problem, features = parity
    count = FRESH_POINTS + 100
    batches = Batches(TrainingData(problem, features, count, {}, problem.streams), 50, True, lambda x, y: (x, y))
    steps = -(-count // 50)
    seen = np.concatenate([batches.at(step)[0][:, 0] for step in range(steps)], axis=1)
    assert np.array_equal(seen, problem.draw("training", count).x)
    assert np.array_equal(batches.at(3)[0][:, 0], seen[:, 150:200])


def test_online_training_takes_one_pass(parity):
    _, fit = fitted(parity, {"learning_rate": [0.1]}, samples=1000, online=True, epochs=7)
    assert fit.trace["step"][:, -1].tolist() == [20, 20]


def test_classes_take_the_logistic_loss_and_regression_does_not(parity):
    classes = posed({"name": "parity", "order": 2, "kind": "classes"})
    problem, features = classes
    learner, fit = fitted(
        classes, {"learning_rate": [0.5]}, samples=200, loss="logistic", epochs=60, width=100, architecture="two_layer"
    )
    outputs = learner.predict(fit.state, features, "test", 50, {})
    assert np.all(problem.risk(outputs, problem.draw("test", 50).target) < 0.2)
    with pytest.raises(ValueError, match="logistic"):
        fitted(parity, {"learning_rate": [0.1]}, loss="logistic")


@pytest.mark.parametrize(
    "parameters",
    [
        {"epochs": 3},
        {"steps": 60},
        {"steps": 60, "batch": 500},
        {"epochs": 3, "schedule": "layerwise"},
        {"epochs": 3, "online": True},
        {"epochs": 3, "architecture": "three_layer"},
        {"steps": 60, "architecture": "two_layer"},
    ],
)
def test_the_work_that_is_asked_for_is_about_what_is_counted(parity, parameters):
    learner, fit = fitted(parity, {"learning_rate": [0.1, 0.05]}, samples=100, width=300, **parameters)
    presented = points_presented(vars(learner), 100)
    asked = learner.needs(Sizes(dimension=8, outputs=1, choices=2, samples=100, presented=presented)).work["fit"]
    assert 0.5 * fit.flops[0] < asked < 2 * fit.flops[0]


def test_the_start_has_the_papers_scales():
    learner = build("learners", {"name": "network", "width": 400, "first_scale": 0.3, "second_scale": 2.0})
    weights = learner.initial_weights(50, 30, Streams(("scales",), (0, 1)))
    for name, deviation in (("first", 0.3), ("second", 2 / 20), ("second_bias", 2 / 20), ("last", 1 / 20)):
        assert np.std(weights[name]) == pytest.approx(deviation, rel=0.1)
    signs = build("learners", {"name": "network", "width": 400, "last_weights": "signs"})
    assert np.allclose(np.abs(signs.initial_weights(50, 30, Streams(("scales",), (0, 1)))["last"]), 1 / 20)


def test_the_error_of_the_first_block_is_measured_where_the_teacher_names_its_base():
    where = posed({"name": "residual_composition", "instance": "product", "order": 3}, scale="paper")
    problem, _ = where
    learner, fit = fitted(where, {"learning_rate": [0.2]}, samples=400, epochs=40, width=60)
    x = learner.with_bias(problem.draw("validation", 80).x)
    out = np.maximum(x @ np.swapaxes(fit.state["first"], 1, 2), 0) @ np.swapaxes(fit.state["last"], 1, 2)
    base = problem.teacher.parts(problem.state, problem.draw("validation", 80).x)["base"]
    np.testing.assert_allclose(fit.measures["base_error"], np.mean(np.sum((out - base) ** 2, -1), -1), rtol=1e-4)
