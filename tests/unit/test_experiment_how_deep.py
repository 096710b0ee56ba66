"""The table of fixing layers: its modes are schedules of the learner, on one problem, and what is refused."""

import numpy as np
import pytest

from hierlearn.core.needs import Sizes
from hierlearn.core.problem import pose
from hierlearn.core.registry import build, defaults, needs, validate
from hierlearn.core.streams import Streams

SEEDS = (3, 5)
NETWORK = {"name": "convolutional", "depth": 3, "width": 16, "batch": 16, "steps": 6, "head": "flat"}
TREE = {"dimension": 32, "learner": NETWORK, "layers": [1, 2]}


def problem():
    law, teacher = build("inputs", {"name": "sphere"}, dimension=6), build("teachers", {"name": "ridge_polynomial"})
    return pose(law, teacher, "unit", 0.0, Streams(("a test",), SEEDS, 1), 40)


def described(**parameters):
    return {"name": "how_deep"} | defaults("probes", "how_deep") | parameters


def side_by_side(schedule, layers, fixed, pull):
    """Scores of one network alone, which sees the same points."""
    network = NETWORK | {"schedule": schedule, "trained": layers, "fixed": fixed, "pull": pull}
    given = defaults("probes", "side_by_side") | {"learners": {"one": network}, "layers": [1], "weights": [1]}
    return (
        build("probes", {"name": "side_by_side"} | given | {"dimension": 32}).measure(problem())["score"].values[:, 0]
    )


def test_every_mode_is_a_schedule_of_the_learner_on_the_points_of_networks_side_by_side():
    found = build("probes", described(**TREE)).measure(problem())
    values = {name: one.values for name, one in found.items()}
    assert values["layers"].tolist() == [1, 2]
    np.testing.assert_array_equal(values["trained"][:, 1], side_by_side("only", 2, None, 0.0))
    np.testing.assert_array_equal(values["fixed"][:, 1], side_by_side("fixed", 2, 2, 0.0))
    np.testing.assert_array_equal(values["fixed_less"][:, 1], side_by_side("fixed", 2, 1, 0.0))
    np.testing.assert_array_equal(values["all"][:, 1], side_by_side("fixed", 2, 0, 5e-4))
    np.testing.assert_array_equal(values["cost"], values["all"] - values["fixed"])
    # One layer fewer than one is none.
    assert np.isnan(values["fixed_less"][:, 0]).all() and np.isfinite(values["fixed"]).all()
    assert np.all(values["kept"] > values["start"])


def test_it_asks_for_the_work_of_all_modes():
    alone = defaults("learners", "convolutional") | NETWORK
    problem = {"dimension": 32, "features": 32, "outputs": 4, "shape": (4, 1, 8)}
    sizes = Sizes(**problem, validation=50, test=500, samples=64, presented=6 * 16)
    one = sum(needs("learners", alone, sizes).work.values())
    asked = needs("probes", described(**TREE), Sizes(seeds=2))
    # Three modes of one layer and four of two, as if all of their layers moved in every step.
    assert asked.work["measure"] == pytest.approx(2 * 7 * one)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"layers": [3]}, ("learner", "l = 3: trained 3 of 3 layers with schedule 'fixed'", "at most 2")),
        ({"learner": {"name": "linear"}}, ("learner", "'linear'", "convolutional, whose schedules these are")),
        ({"dimension": 20}, ("input", "dimension 20", "v s^L = 4 x 2^L, L at least 1")),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_runs(change, said):
    assert validate("probes", described(**TREE | change), None) == [said]
