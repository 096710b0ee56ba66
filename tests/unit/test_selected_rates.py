"""What is said of learning rates that trainings chose at an end of the list."""

import numpy as np
import pytest
import xarray
import yaml
from small_study import STUDY, study_of

from hierlearn.pipeline.plan import jobs
from hierlearn.pipeline.quantities._edges import edges
from hierlearn.pipeline.quantities._ends import told

RATIO = {"name": "log_risk_ratio", "above": "a", "below": "b", "samples": 8, "where": {"width": 4}}
RATES = {name: {"learning_rate": [0.1, 0.2, 0.4]} for name in ("a", "b")}


@pytest.fixture
def cube():
    """Two learners, of which b does not sweep the width; both chose the middle everywhere."""
    axes = {"learner": ["a", "b"], "width": [4, 8], "samples": [8, 16], "seed": [0, 1, 2]}
    shape = tuple(map(len, axes.values()))
    risks = np.random.default_rng(0).uniform(size=shape)
    risks[1] = risks[1, :1]
    measured = {"test_risk": risks, "selected_learning_rate": np.full(shape, 0.2)}
    return xarray.Dataset({name: (tuple(axes), values) for name, values in measured.items()}, axes)


def test_nothing_is_said_of_a_rate_inside_the_list(cube):
    assert edges(RATIO, cube, RATES) == []


def test_an_end_that_most_trainings_chose_is_said_with_how_many(cube):
    here = {"learner": "a", "width": 4, "samples": 8}
    cube.selected_learning_rate.loc[here | {"seed": [0, 2]}] = 0.4
    told = {"learner": "a", "choice": "learning_rate", "value": 0.4, "end": "largest", "count": 2, "of": 3}
    assert edges(RATIO, cube, RATES) == [told]
    # Not at another width, nor of half of the seeds or less, nor of a training that failed.
    assert edges(RATIO | {"where": {"width": 8}}, cube, RATES) == []
    cube.selected_learning_rate.loc[here | {"seed": 2}] = 0.1
    assert edges(RATIO, cube, RATES) == []
    cube.selected_learning_rate.loc[here | {"seed": 2}] = np.nan
    assert edges(RATIO, cube, RATES) == []
    cube.selected_learning_rate.loc[here | {"seed": 0}] = np.nan
    cube.selected_learning_rate.loc[here | {"seed": 1}] = 0.1
    assert edges(RATIO, cube, RATES) == [told | {"value": 0.1, "end": "smallest", "count": 1, "of": 1}]


def test_trainings_are_counted_once_where_other_learners_sweep(cube):
    cube.selected_learning_rate.loc[{"learner": "b"}] = 0.1
    (told,) = edges({"name": "score_mean", "learner": "b", "samples": 8, "where": {}}, cube, RATES)
    assert (told["count"], told["of"]) == (3, 3)


def test_every_side_and_place_of_a_quantity_is_looked_at_by_itself(cube):
    cube.selected_learning_rate.loc[{"learner": "a", "width": 8, "samples": 8}] = 0.4
    told = {"learner": "a", "choice": "learning_rate", "value": 0.4, "end": "largest", "count": 3, "of": 3}
    sides = {"name": "log_risk_ratio", "above": "a", "below": "b", "samples": 8, "where": {}}
    assert edges(sides | {"above_where": {"width": 8}}, cube, RATES) == [told]
    assert edges(sides | {"above_where": {"width": 4}}, cube, RATES) == []
    same = sides | {"below": "a", "above_where": {"width": 4}}
    assert edges(same | {"below_where": {"width": 8}}, cube, RATES) == [told]
    assert edges(same | {"below_where": {"width": 4}}, cube, RATES) == []
    places = [{"width": 4}, {"width": 8}]
    largest = {"name": "largest_score_mean", "learner": "a", "samples": 8}
    assert edges(largest | {"places": places}, cube, RATES) == [told]
    assert edges(largest | {"places": places[:1]}, cube, RATES) == []
    fall = {"name": "log_fall_ratio", "of": ["a"], "first": places[:1], "middle": places[:1], "samples": 8}
    assert edges(fall | {"last": places[1:]}, cube, RATES) == [told]
    assert edges(fall | {"last": places[:1]}, cube, RATES) == []


def test_a_single_rate_has_no_end_and_a_probe_no_list(cube):
    cube.selected_learning_rate[:] = 0.1
    assert edges(RATIO, cube, {"a": {"learning_rate": [0.1]}}) == []
    assert edges({"name": "probe_mean", "probe": "one", "variable": "gap"}, cube, RATES) == []
    assert edges(RATIO, cube.drop_vars("selected_learning_rate"), RATES) == []


def test_the_job_that_judges_knows_the_lists():
    content = yaml.safe_load(STUDY)
    content["learners"]["kernel"]["select"] = {"learning_rate": [0.4, 0.1], "ridge": [1]}
    asked = jobs.judge(study_of(content, "small", "small.yaml"))
    assert asked["grids"]["kernel"] == {"learning_rate": [0.1, 0.4], "ridge": [1]} and asked["noise"] == 0


def ridges(cube, value):
    """The same trainings, which chose a ridge."""
    return cube.assign(selected_ridge=cube.selected_learning_rate * 0 + value)


def test_the_smallest_ridge_is_an_end_where_labels_have_noise_and_the_largest_always(cube):
    grids = {"a": {"ridge": [1e-9, 1e-3, 1.0]}}
    said = {"name": "score_mean", "learner": "a", "samples": 8, "where": {"width": 4}}
    assert edges(said, ridges(cube, 1e-9), grids) == [] == edges(said, ridges(cube, 1e-3), grids, 0.5)
    (smallest,) = edges(said, ridges(cube, 1e-9), grids, 0.5)
    assert (smallest["choice"], smallest["end"]) == ("ridge", "smallest")
    (largest,) = edges(said, ridges(cube, 1.0), grids)
    assert told(largest) == "a chose 1, the largest of its ridges, in 3 of 3 trainings"
    # Where the noise is a coordinate of the scores, the place says it.
    noisy = xarray.concat(
        [ridges(cube, 1e-9)] * 2, xarray.DataArray([0.0, 0.5], dims="label_noise", name="label_noise")
    )
    places = [said | {"where": {"width": 4, "label_noise": noise}} for noise in (0.0, 0.5)]
    assert [len(edges(place, noisy, grids)) for place in places] == [0, 1]


def test_a_stored_row_from_before_ridges_says_its_rate():
    earlier = {"learner": "a", "rate": 0.4, "end": "largest", "count": 2, "of": 3}
    assert told(earlier) == "a chose 0.4, the largest of its learning rates, in 2 of 3 trainings"
