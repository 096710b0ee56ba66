"""A study that is cut along seeds and swept parameters has the results of the whole, number by number."""

import gc
import runpy
import weakref
from dataclasses import replace

import numpy as np
import pytest

from hierlearn.core.provenance import PACKAGE
from hierlearn.pipeline.files import netcdf
from hierlearn.pipeline.plan import jobs, resources
from hierlearn.pipeline.run import sample_sizes

STEPS = {"epochs": 2, "batch": 20}
NETWORKS = {
    "one": {
        "label": "One",
        "learner": {"name": "network", "architecture": "two_layer"} | STEPS,
        "select": {"learning_rate": [0.1, 0.01]},
        "sweep": {"width": [4, 8], "selected_on": ["validation", "test"]},
        "samples": {"at": [30, 60]},
    },
    # Without the larger width, and not at the smaller dimension; with more points than the other ever sees.
    "other": {
        "label": "Other",
        "learner": {"name": "network"} | STEPS,
        "representation": "neural",
        "select": {"learning_rate": [0.1]},
        "sweep": {"width": [4]},
        "samples": {"at": [30, 60, 90]},
        "only": [{"dimension": 4}, {"dimension": 5, "samples": [30, 90]}],
    },
}


FIGURE = {"name": "panels", "panels": [{"kind": "risk", "title": "T", "x": "samples", "lines": []}]}


@pytest.fixture
def cut(content, check):
    """A function: along what -> the study."""

    def study(along):
        changes = {
            "axes": {"dimension": [3, 4, 5], "degree": [1]},
            "learners": NETWORKS,
            "split_jobs_by": along,
            "seeds": 2,
            "points": {"validation": 40, "test": 50},
            "samples": {"thresholds": []},
            "claims": {},
            "probes": {},
            "presets": {},
            "figure": FIGURE,
        }
        found, faults = check(content | changes)
        assert not faults, faults
        return found

    return study


def cubes(study, folder):
    """scores.nc and traces.nc of a study, by its scripts one after the other."""
    folder.mkdir()

    def run(script, *arguments):
        runpy.run_path(str(PACKAGE.parent / "scripts" / f"{script}.py"), run_name="imported")[script](
            *arguments, "code"
        )

    written = {"scores": [], "traces": []}
    for name, task in study.tasks.items():
        here = folder / name
        here.mkdir()
        run("generate", here / "data.nc", jobs.generate(study, task))
        for representation in study.representations_in(task):
            file = here / f"{representation}.representation.nc"
            run("represent", here / "data.nc", file, jobs.represent(study, task, representation))
        learners = study.learners_in(task)
        used = {one: study.learners[one].representation for one in learners}
        fitted = {one: None if r == "raw" else here / f"{r}.representation.nc" for one, r in used.items()}
        models = {one: here / f"{one}.model.nc" for one in learners}
        for one in learners:
            run("train", here / "data.nc", fitted[one], models[one], jobs.train(study, task, one))
        outputs = {kind: here / f"{kind}.nc" for kind in written}
        run("evaluate", here / "data.nc", fitted, models, outputs, jobs.evaluate(study, task))
        for kind, file in outputs.items():
            written[kind].append(file)
    whole = {kind: folder / f"{kind}.nc" for kind in written}
    run("aggregate", written, whole, jobs.aggregate(study))
    return [netcdf.read(file)[""] for file in whole.values()]


def test_the_cubes_are_those_of_the_whole(cut, tmp_path):
    whole, parts = cut([]), cut(["seed", "dimension", "width"])
    assert list(whole.tasks) == ["all"]
    assert len(parts.tasks) == 2 * 3 * 2
    for one, other in zip(cubes(whole, tmp_path / "whole"), cubes(parts, tmp_path / "parts"), strict=True):
        assert set(one) == set(other)
        for name, variable in one.items():
            assert np.array_equal(variable.values, other[name].values, equal_nan=variable.values.dtype.kind == "f"), (
                name
            )


def test_a_training_finds_no_points_of_an_earlier_problem_in_memory(cut, tmp_path, monkeypatch):
    seen, kept, train_curve = [], [], sample_sizes.train_curve

    def watched(learner, problem, *others):
        points = problem.pools["training"].x
        kept.extend(one for of_it in seen if (one := of_it()) is not None and one is not points)
        seen.append(weakref.ref(points))
        return train_curve(learner, problem, *others)

    monkeypatch.setattr(sample_sizes, "train_curve", watched)
    gc.disable()
    try:
        cubes(cut([]), tmp_path / "whole")
    finally:
        gc.enable()
    assert len(seen) > 3
    assert not kept


def test_a_part_trains_its_own_seed_and_width_alone(cut):
    study = cut(["seed", "width"])
    small, large = study.tasks["seed-1_width-4"], study.tasks["seed-1_width-8"]
    assert (study.learners_in(small), study.learners_in(large)) == (["one", "other"], ["one"])
    for point in jobs.train(study, large, "one")["points"]:
        assert point["seeds"] == [1]
        assert [variant["coordinates"]["width"] for variant in point["variants"]] == [8, 8]
    assert all(point["seeds"] == [1] for point in jobs.generate(study, large)["points"])


def minutes(study, task):
    """What the training of one learner asks for beside the start of a job, as if it had many epochs."""
    study.learners["one"].component["epochs"] = 10**9
    # What was answered for fewer is remembered.
    study = replace(study)
    return resources.train(study, study.tasks[task], "one").runtime - resources.BASE_MINUTES


def test_the_parts_ask_for_the_time_of_the_whole_in_all(cut):
    parts = cut(["seed", "width"])
    small, large = (minutes(parts, f"seed-1_width-{width}") for width in (4, 8))
    assert large == pytest.approx(2 * small, rel=0.01)
    assert minutes(cut([]), "all") == pytest.approx(2 * (small + large), rel=0.01)


def test_another_way_to_choose_takes_no_other_training(cut):
    twice, once = cut([]), cut([])
    once.learners["one"].sweep["selected_on"] = ["validation"]
    assert minutes(twice, "all") == minutes(once, "all")


def test_a_size_that_is_skipped_at_a_place_is_not_trained_there(cut):
    study = cut([])
    sizes = {p.dimension: study.sample_sizes("other", p) for p in study.training_points("other", study.tasks["all"])}
    assert sizes == {4: [30, 60, 90], 5: [30, 90]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"split_jobs_by": ["selected_on"]},
            "split_jobs_by[0]: found 'selected_on'; expected one of degree, dimension, seed, width",
        ),
        (
            {"split_jobs_by": ["samples"]},
            "split_jobs_by[0]: found 'samples'; expected one of degree, dimension, seed, width",
        ),
        (
            {"learners": {"one": NETWORKS["one"] | {"only": [{"samples": [30, 50]}]}}},
            "learners.one.only[0].samples: found 50; expected one of 30, 60",
        ),
    ],
)
def test_what_is_no_part_of_the_study_is_refused(content, check, changes, message):
    changed = {
        "learners": NETWORKS,
        "claims": {},
        "probes": {},
        "presets": {},
        "figure": FIGURE,
    }
    _, faults = check(content | changed | changes)
    assert any(message in str(fault) for fault in faults), faults
