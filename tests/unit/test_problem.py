"""Problems: labels, noise, pools, and what each of them may depend on."""

from dataclasses import replace

import numpy as np
import pytest

from hierlearn.core.problem import ProblemFeatures, pose, streams_of
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams

STREAMS = Streams(("problem",), (2, 6, 7))
SPHERE = build("inputs", {"name": "sphere"}, dimension=4)
CUBE = build("inputs", {"name": "hypercube"}, dimension=4)
RIDGE = build("teachers", {"name": "ridge_polynomial", "degree": 2})
SIGNS = build("teachers", {"name": "parity"})
CLASSES = build("teachers", {"name": "parity", "kind": "classes"})


def test_labels_without_noise_are_the_target():
    batch = pose(SPHERE, RIDGE, "unit", 0.0, STREAMS).draw("training", 20)
    assert np.array_equal(batch.labels, batch.target)


def test_regression_noise_is_normal_of_its_size_and_independent_of_the_target():
    batch = pose(SPHERE, RIDGE, "unit", 0.3, STREAMS).draw("training", 20_000)
    noise = batch.labels - batch.target
    assert noise.std() == pytest.approx(0.3, rel=0.03)
    assert abs(noise.mean()) < 0.01
    assert abs(np.mean(noise * batch.target)) < 0.01


def test_noise_of_classes_flips_the_given_share():
    batch = pose(CUBE, CLASSES, "unit", 0.2, STREAMS).draw("training", 20_000)
    assert set(np.unique(batch.labels)) == {-1.0, 1.0}
    assert np.mean(batch.labels != batch.target) == pytest.approx(0.2, abs=0.01)


def test_noise_changes_neither_points_nor_targets():
    quiet, noisy = (pose(SPHERE, RIDGE, "unit", noise, STREAMS).draw("training", 9) for noise in (0.0, 1.0))
    assert np.array_equal(quiet.x, noisy.x)
    assert np.array_equal(quiet.target, noisy.target)


def test_an_error_against_noisy_labels_is_turned_into_the_risk():
    problem = pose(SPHERE, RIDGE, "unit", 0.5, STREAMS)
    batch = problem.draw("validation", 40_000)
    predictions = 0.5 * batch.target
    error = np.mean((predictions - batch.labels) ** 2, axis=(1, 2))
    np.testing.assert_allclose(problem.denoise(error, batch.target), problem.risk(predictions, batch.target), rtol=0.05)


def test_an_error_rate_against_flipped_labels_is_turned_into_the_risk():
    problem = pose(CUBE, CLASSES, "unit", 0.2, STREAMS)
    batch = problem.draw("validation", 40_000)
    wrong = np.where(np.arange(40_000)[:, None] < 12_000, -batch.target, batch.target)
    error = np.mean(np.sign(wrong) != batch.labels, axis=(1, 2))
    np.testing.assert_allclose(problem.risk(wrong, batch.target), 0.3, rtol=1e-12)
    np.testing.assert_allclose(problem.denoise(error, batch.target), 0.3, rtol=0.03)


def test_roles_are_independent_samples():
    problem = pose(SPHERE, RIDGE, "unit", 0.0, STREAMS)
    drawn = [problem.draw(role, 5).x for role in ("training", "validation", "test")] + [problem.unlabelled(5)]
    for i, one in enumerate(drawn):
        assert not any(np.array_equal(one, other) for other in drawn[i + 1 :])


@pytest.mark.parametrize("noise", [0.0, 0.4])
def test_pools_hold_what_would_have_been_drawn(noise):
    problem = pose(SPHERE, RIDGE, "unit", noise, STREAMS)
    pooled = replace(problem, pools={"training": problem.draw("training", 30)})
    for count, start in ((10, 0), (5, 20), (10, 25), (2000, 3)):
        one, other = problem.draw("training", count, start), pooled.draw("training", count, start)
        assert np.array_equal(one.x, other.x)
        assert np.array_equal(one.labels, other.labels)
        assert np.array_equal(one.target, other.target)


def test_a_part_of_the_seeds_is_the_same_problem():
    problem = pose(SPHERE, RIDGE, "unit", 0.4, STREAMS)
    problem = replace(problem, pools={"training": problem.draw("training", 8)})
    part = problem.take([2, 0])
    assert part.seeds == (7, 2)
    for role in ("training", "test"):
        assert np.array_equal(part.draw(role, 8).labels, problem.draw(role, 8).labels[[2, 0]])
    assert np.array_equal(part.unlabelled(4), problem.unlabelled(4)[[2, 0]])


@pytest.mark.parametrize("scale", ["unit", "paper"])
def test_the_zero_predictor_has_exactly_its_true_risk(scale):
    """In few points too; the norm of two terms that are not orthogonal is not 1 in the paper's units."""
    teacher = build("teachers", {"name": "ridge_polynomial", "degree": 2, "rank": 2, "orthonormal": False})
    problem = pose(SPHERE, teacher, scale, 0.0, STREAMS)
    square = np.ones(3) if scale == "unit" else teacher.norm(problem.state, SPHERE) ** 2
    target = problem.draw("test", 10).target
    np.testing.assert_allclose(problem.risk(0 * target, target), square, rtol=1e-12)
    np.testing.assert_allclose(problem.risk(0.5 * target, target), square / 4, rtol=1e-12)
    assert problem.risk(target, target).tolist() == [0.0, 0.0, 0.0]


def test_risk_is_the_mean_square_where_the_target_has_one_size():
    problem = pose(CUBE, SIGNS, "unit", 0.0, STREAMS)
    target = problem.draw("test", 50).target
    wrong = np.where(np.arange(50)[:, None] < 10, -target, target)
    np.testing.assert_allclose(problem.risk(wrong, target), 4 * 10 / 50, rtol=1e-12)


def test_risk_agrees_with_the_bare_mean_on_many_points():
    problem = pose(SPHERE, RIDGE, "unit", 0.0, STREAMS)
    batch = problem.draw("test", 60_000)
    predictions = 0.3 * batch.x[..., :1].astype(float)
    bare = np.mean((predictions - batch.target) ** 2, axis=(1, 2))
    np.testing.assert_allclose(problem.risk(predictions, batch.target), bare, rtol=0.05)


def test_streams_depend_on_the_content_and_not_on_its_order():
    one, other = streams_of({"a": 1, "b": {"c": 2, "d": 3}}, (0,)), streams_of({"b": {"d": 3, "c": 2}, "a": 1}, (0,))
    assert one == other
    assert streams_of({"a": 1.5}, (0,)) != streams_of({"a": 1}, (0,))


def test_features_are_those_of_the_drawn_points_and_are_kept_for_pools():
    neural = build("representations", {"name": "neural", "count": 6, "unlabelled": 50})
    problem = pose(SPHERE, RIDGE, "unit", 0.0, STREAMS)
    state = neural.fit(problem.unlabelled(50), STREAMS)
    fresh = ProblemFeatures(problem, neural, state)
    pooled = ProblemFeatures(replace(problem, pools={"training": problem.draw("training", 30)}), neural, state)
    for count, start in ((30, 0), (4, 7), (10, 25)):
        wanted = neural.apply(state, problem.draw("training", count, start).x)
        np.testing.assert_allclose(fresh.draw("training", count, start), wanted, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(pooled.draw("training", count, start), wanted, rtol=1e-4, atol=1e-5)
    assert pooled.draw("training", 5).base is not None
    np.testing.assert_allclose(
        pooled.take([1]).draw("training", 5), fresh.draw("training", 5)[[1]], rtol=1e-4, atol=1e-5
    )
