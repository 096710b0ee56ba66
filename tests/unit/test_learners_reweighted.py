"""The second fit sees the directions that the first one used."""

import numpy as np
import pytest

from hierlearn.core.problem import ProblemFeatures, pose
from hierlearn.core.protocols import NullMonitor, TrainingData
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.learners.reweighted import Mapped, feature_map

SEEDS = (0, 1, 2)


def fitted(samples=240, dimension=12, **parameters):
    inputs = build("inputs", {"name": "sphere"}, dimension=dimension)
    teacher = build("teachers", {"name": "ridge_polynomial", "basis": "gegenbauer", "degree": 2, "rank": 1})
    problem = pose(inputs, teacher, "unit", 0.0, Streams(("again",), SEEDS), 500)
    features = ProblemFeatures(problem, build("representations", {"name": "raw"}), {"nothing": np.zeros((3, 0))})
    model = {"name": "taylor", "width": 16}
    learner = build("learners", {"name": "reweighted", "model": model} | parameters)
    sample = TrainingData(problem, features, samples, {"ridge": [1e-1, 1e-2, 1e-3]}, problem.streams.at("learner"))
    fit = learner.fit(sample, NullMonitor(), {})
    test = problem.draw("test", 1000)
    risk = problem.risk(learner.predict(fit.state, features, "test", 1000, {}), test.target)
    return fit, risk, problem


def test_the_map_is_the_root_of_the_moment_of_the_weights_and_keeps_the_mean_square():
    generator = np.random.default_rng(0)
    rows, h = generator.standard_normal((5, 4)), generator.standard_normal((60, 4))
    found, seen = feature_map(rows, h, 0.0)
    moment = rows.T @ rows
    np.testing.assert_allclose(found @ found / np.trace(found @ found), moment / np.trace(moment), atol=1e-5)
    assert np.mean(np.sum((h @ found) ** 2, axis=1)) == pytest.approx(1.0, rel=1e-5)
    assert seen == pytest.approx(np.trace(moment) ** 2 / np.trace(moment @ moment), rel=1e-6)
    one, alone = feature_map(np.outer([1.0, 2.0], rows[0]), h, 0.0)
    assert np.linalg.matrix_rank(one, tol=1e-3) == 1
    assert alone == pytest.approx(1.0)
    _, all_of_them = feature_map(rows[:1], h, 1e6)
    assert all_of_them == pytest.approx(4.0, rel=1e-4)
    assert feature_map(np.zeros((5, 4)), h, 0.0)[0].tolist() == np.zeros((4, 4)).tolist()


def test_the_second_fit_of_a_ridge_function_is_better_than_the_first_and_than_one_on_random_directions():
    """The weights point where the function varies; features of other directions shrink."""
    fit, risk, problem = fitted(samples=100)
    first = problem.denoise(fit.measures["first_fit_risk"], problem.draw("validation", 500).target)
    assert np.median(risk) < 0.8 * np.median(first)
    assert np.all(fit.measures["effective_directions"] < 6)
    _, random, _ = fitted(samples=100, directions="random")
    assert np.median(risk) < 0.8 * np.median(random)


def test_the_map_points_along_the_teachers_direction():
    fit, _, problem = fitted(samples=400)
    for seed in range(3):
        direction = problem.state["directions"][seed][0]
        vectors = np.linalg.eigh(fit.state["map"][seed].astype(float))[1]
        assert abs(vectors[:, -1] @ direction) / np.linalg.norm(direction) > 0.9


def test_the_size_of_weights_does_not_enter_random_directions():
    learner, drawn = build("learners", {"name": "reweighted", "directions": "random"}), np.eye(8, 5)[None] + 1
    rows = [learner._directions(size * np.ones((1, 8, 5)), drawn) for size in (1.0, 3.0)]
    maps = [feature_map(one, np.eye(5), 0.0)[0] for one in rows]
    np.testing.assert_allclose(maps[0], maps[1], rtol=1e-5, atol=1e-6)


def test_mapped_features_are_those_of_each_seed_by_itself():
    class Plain:
        def draw(self, role, count, start=0):
            return np.arange(12.0, dtype=np.float32).reshape(2, 3, 2)[:, start : start + count]

        def take(self, positions):
            return self

    maps = np.stack([np.eye(2), 2 * np.eye(2)]).astype(np.float32)
    np.testing.assert_array_equal(Mapped(Plain(), maps).draw("training", 3)[1], 2 * Plain().draw("training", 3)[1])
