"""What data.nc holds is the problem itself."""

import numpy as np
import pytest

from hierlearn.pipeline.files import netcdf, problems, results
from hierlearn.pipeline.files.netcdf import Variable

POINT = {
    "name": "degree-2",
    "coordinates": {"dimension": 4, "degree": 2},
    "problem": {
        "scale": "unit",
        "label_noise": 0.2,
        "dimension": 4,
        "input": {"name": "sphere"},
        "teacher": {"name": "ridge_polynomial", "degree": 2, "basis": "gegenbauer", "rank": 1, "orthonormal": True},
    },
    "seeds": [0, 3],
    "counts": {"training": 12, "unlabelled": 9, "validation": 5, "test": 6},
    "validation": 5,
}


@pytest.fixture
def group(tmp_path):
    results.write(tmp_path / "data.nc", {"degree-2": problems.draw(POINT)}, {})
    return netcdf.read(tmp_path / "data.nc")["degree-2"]


def test_the_stored_problem_is_the_drawn_one(group):
    drawn, loaded = problems.problem_of(POINT), problems.load(POINT, group)
    assert loaded.seeds == (0, 3)
    assert loaded.held_out == 5
    for role in ("training", "validation", "test", "something else"):
        one, other = drawn.draw(role, 5), loaded.draw(role, 5)
        assert np.array_equal(one.x, other.x)
        assert np.array_equal(one.labels, other.labels)
        assert np.array_equal(one.target, other.target)
    assert np.array_equal(drawn.unlabelled(9), loaded.unlabelled(9))
    assert np.array_equal(drawn.unlabelled(20), loaded.unlabelled(20))
    assert np.array_equal(drawn.factor, loaded.factor)


def test_more_points_or_seeds_change_none_that_are_there(group):
    more = problems.draw(POINT | {"seeds": [7, 3, 0], "counts": POINT["counts"] | {"training": 1500}})
    for name in ("training_x", "training_labels", "training_target"):
        assert np.array_equal(more[name].values[[2, 1], :12], group[name].values), name
    assert np.array_equal(more["teacher_directions"].values[[2, 1]], group["teacher_directions"].values)


def test_another_problem_draws_other_points(group):
    content = POINT["problem"] | {"label_noise": 0.1}
    assert not np.array_equal(problems.draw(POINT | {"problem": content})["test_x"].values, group["test_x"].values)


def test_variables_are_described_and_sized(group):
    assert group["training_x"].dimensions == ("seed", "training_point", "feature")
    assert group["training_x"].values.dtype == np.float32
    assert group["test_target"].values.shape == (2, 6, 1)
    assert group["training_labels"].attributes["long_name"] == "training labels, noisy"
    assert "unlabelled_labels" not in group
    np.testing.assert_allclose(group["target_norm"].values, 1.0)


def test_states_are_stored_and_found_under_their_prefix():
    state = {"weights": np.ones((2, 3, 4)), "rank": np.arange(2), "two_words": np.zeros((2, 0))}
    group = problems.pack("state", state) | {"seed": Variable(("seed",), np.arange(2))}
    assert group["state_weights"].dimensions == ("seed", "state_weights_1", "state_weights_2")
    found = problems.unpack("state", group)
    assert set(found) == set(state)
    assert all(np.array_equal(found[name], state[name]) for name in state)


def test_a_parameter_at_its_default_does_not_enter_the_streams():
    content = {
        "input": {"name": "sphere"},
        "teacher": {"name": "ridge_polynomial", "degree": 2, "rank": 1, "length": 1},
        "scale": "unit",
        "label_noise": 0,
        "dimension": 4,
    }
    shorter = content | {"teacher": {"name": "ridge_polynomial", "degree": 2}}
    other = content | {"teacher": {"name": "ridge_polynomial", "degree": 2, "length": 2}}
    one, same, different = (
        problems.problem_of({"problem": c, "seeds": [0]}).streams for c in (content, shorter, other)
    )
    assert one == same
    assert one != different
