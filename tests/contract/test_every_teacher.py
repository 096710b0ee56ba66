"""What every teacher must do."""

from itertools import product

import dimensions
import numpy as np
import pytest

from hierlearn.core.problem import pose
from hierlearn.core.registry import available, build, defaults, implementation, parameters, validate
from hierlearn.core.streams import Streams

STREAMS = Streams(("a test",), (4, 7, 9))
# Of teachers and laws that have one dimension only.
DIMENSIONS = dimensions.DIMENSIONS | {"composed_sines": 4}
LAWS = [
    (name, law)
    for name in available("teachers")
    for law in implementation("teachers", name).LAWS or available("inputs")
]


@pytest.fixture(params=LAWS, ids="-".join)
def parts(request):
    name, law = request.param
    inputs = build("inputs", {"name": law}, dimension=dimension(name, law))
    return build("teachers", {"name": name} | allowed(name, law)), inputs


def dimension(name, law):
    return DIMENSIONS.get(name, DIMENSIONS.get(law, 6))


def allowed(name, law):
    """The first words for its parameters to which the teacher has no objection under this law."""
    known, inputs = parameters("teachers", name), build("inputs", {"name": law}, dimension=dimension(name, law))
    words = {key: sorted(s["enum"], key=lambda word: word != s["default"]) for key, s in known.items() if "enum" in s}
    for values in product(*words.values()):
        chosen = dict(zip(words, values, strict=True))
        if not validate("teachers", {"name": name} | defaults("teachers", name) | chosen, inputs):
            return chosen
    raise AssertionError(f"{name} objects to everything under {law}")


def test_targets_have_seed_point_and_output(parts):
    teacher, inputs = parts
    state = teacher.draw(STREAMS, inputs)
    x = inputs.sample(STREAMS, "test", 0, 13)
    target = teacher.target(state, x)
    assert target.shape == (3, 13, teacher.outputs)
    assert target.dtype == np.float64
    assert teacher.kind in ("regression", "classes")
    assert all(len(values) == 3 for values in state.values())


def test_unit_scale_makes_the_l2_norm_one(parts):
    teacher, inputs = parts
    problem = pose(inputs, teacher, "unit", 0.0, STREAMS)
    squares = np.sum(problem.draw("test", 40_000).target ** 2, axis=-1)
    error = squares.std(axis=1) / np.sqrt(squares.shape[1])
    assert np.all(np.abs(squares.mean(axis=1) - 1) <= 4 * error + 1e-12)


def test_paper_scale_leaves_the_target_alone(parts):
    teacher, inputs = parts
    problem = pose(inputs, teacher, "paper", 0.0, STREAMS)
    batch = problem.draw("test", 9)
    assert np.array_equal(batch.target, teacher.target(problem.state, batch.x))


def test_a_seed_has_its_teacher_whoever_else_is_drawn(parts):
    teacher, inputs = parts
    together = teacher.draw(STREAMS, inputs)
    for position in range(3):
        alone = teacher.draw(STREAMS.take([position]), inputs)
        for name, values in together.items():
            assert np.array_equal(alone[name][0], values[position]), name


def test_seeds_have_different_teachers_but_agree_on_what_a_picture_shows(parts):
    teacher, inputs = parts
    x = inputs.sample(STREAMS, "test", 0, 50)[[0, 0, 0]]
    targets = teacher.target(teacher.draw(STREAMS, inputs), x)
    # Pictures of a stored set, rather than points that are drawn, bring their classes with them.
    stored = bool(teacher.LAWS and inputs.supply())
    assert np.allclose(targets[0], targets[1]) == stored


def test_targets_do_not_depend_on_batching(parts):
    teacher, inputs = parts
    state = teacher.draw(STREAMS, inputs)
    x = inputs.sample(STREAMS, "test", 0, 30)
    pieces = np.concatenate([teacher.target(state, x[:, :7]), teacher.target(state, x[:, 7:])], axis=1)
    np.testing.assert_allclose(pieces, teacher.target(state, x), rtol=1e-10, atol=1e-12)


def test_bases_have_a_column_per_function_and_vary(parts):
    teacher, inputs = parts
    x = inputs.sample(STREAMS, "test", 0, 200)
    bases = teacher.bases(teacher.draw(STREAMS, inputs), x)
    assert bases.shape[:2] == (3, 200)
    assert bases.shape[2] >= 1
    assert np.all(bases.std(axis=1) > 0)


@pytest.mark.parametrize("name", [name for name in available("teachers") if implementation("teachers", name).LAWS])
def test_a_law_that_does_not_suit_is_refused_in_one_line(name):
    class Foreign:
        dimension, law = 6, "foreign"

    with pytest.raises(ValueError, match="input law 'foreign'; expected one of") as caught:
        build("teachers", {"name": name}).draw(STREAMS, Foreign())
    assert "\n" not in str(caught.value)
