"""The draw of a run: no two studies, presets, revisions or replicates share data, and a pilot none with any of them."""

from dataclasses import replace

import numpy as np
import pytest
import yaml
from small_study import STUDY, study_of

from hierlearn.core import provenance
from hierlearn.pipeline.files import problems
from hierlearn.pipeline.plan import jobs
from hierlearn.pipeline.plan.replicates import Draw

SMALL = study_of(yaml.safe_load(STUDY), "small", "small.yaml", "quick")
OTHERS = {
    "study": replace(SMALL, name="other"),
    "preset": replace(SMALL, preset="full"),
    "replicate": replace(SMALL, run=Draw(replicate=1)),
    "another replicate": replace(SMALL, run=Draw(replicate=2)),
    "pilot": replace(SMALL, run=Draw(pilot=True)),
}


def points_of(study):
    """The first training points of the first task."""
    task = next(iter(study.tasks.values()))
    return problems.problem_of(jobs.generate(study, task)["points"][0]).draw("training", 5).x


def test_a_draw_is_named_after_the_study_the_preset_and_the_revision():
    assert SMALL.draw == "small/quick/1"
    assert Draw(replicate=3).word("small", "full", 2) == "small/full/2/replicate-3"
    assert Draw(pilot=True).word("small", "full", 2) == "pilot"


@pytest.mark.parametrize("other", OTHERS)
def test_another_draw_has_other_points_of_the_same_problem(other):
    one, two = points_of(SMALL), points_of(OTHERS[other])
    assert one.shape == two.shape
    # Independent points: none of them is met again.
    assert not np.isin(one, two).any()


def test_the_same_draw_has_the_same_points():
    np.testing.assert_array_equal(points_of(SMALL), points_of(replace(SMALL)))


def test_pilots_of_all_studies_and_presets_share_their_data():
    one, two = OTHERS["pilot"], replace(OTHERS["pilot"], name="other", preset="full")
    np.testing.assert_array_equal(points_of(one), points_of(two))


@pytest.mark.parametrize("other", OTHERS)
def test_every_job_that_computes_is_another_one_on_another_draw(other):
    def identities(study):
        task = next(iter(study.tasks.values()))
        made = [jobs.generate(study, task), jobs.evaluate(study, task), *(jobs.probe(study, n) for n in study.probes)]
        made += [jobs.represent(study, task, name) for name in study.representations_in(task)]
        made += [jobs.train(study, task, name) for name in study.learners_in(task)]
        return {provenance.identity("", one)["parameters_hash"] for one in [*made, jobs.judge(study)]}

    assert not identities(SMALL) & identities(OTHERS[other])


def test_every_kind_of_run_has_a_folder_of_its_own():
    runs = [Draw(), Draw(pilot=True), Draw(replicate=1), Draw(replicate=2)]
    assert [run.folder("quick") for run in runs] == ["quick", "quick-pilot", "quick-replicate-1", "quick-replicate-2"]


def test_only_the_first_draw_goes_without_a_note():
    assert [bool(run.note()) for run in (Draw(), Draw(pilot=True), Draw(replicate=2))] == [False, True, True]
