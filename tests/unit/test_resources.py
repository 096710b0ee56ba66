"""What jobs ask for: products of sizes by the components' own words, for every study and every preset."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
import shipped
import yaml
from small_study import study_of

from hierlearn.core import registry
from hierlearn.core.needs import Sizes, points_presented
from hierlearn.pipeline.files.load import load
from hierlearn.pipeline.plan import component_guards, grid_checks, resources
from hierlearn.pipeline.plan.study import GridPoint, Study

STUDIES = sorted((Path(__file__).parents[2] / "config" / "studies").glob("*.yaml"))
TINY = Path(__file__).parents[1] / "workflow" / "tiny.yaml"


def content() -> dict:
    found, _ = load(TINY, "tiny")
    del found["learners"]["failing"]
    return found


def tiny(**changes) -> Study:
    return study_of(content() | changes, "tiny", "tiny", "quick")


@pytest.mark.parametrize("preset", ["quick", "full", "smoke"])
@pytest.mark.parametrize("file", STUDIES, ids=lambda file: file.stem)
def test_every_job_of_every_study_has_needs(file, preset):
    study, faults = shipped.checked(file, preset)
    assert not faults
    for field, job, needs in resources.largest_jobs(study):
        assert resources.BASE_MB <= needs.mem_mb < resources.ABSURD_MB, (field, job)
        assert needs.runtime >= resources.BASE_MINUTES


@pytest.mark.parametrize("kind", component_guards.STAGES)
def test_components_speak_of_stages_that_there_are(kind):
    stages = {*component_guards.STAGES[kind], *component_guards.KEPT.get(kind, ())}
    sizes = Sizes(dimension=5, features=6, outputs=2, unlabelled=7, validation=8, test=9, samples=10, presented=11)
    for name in registry.available(kind):
        needs = registry.needs(kind, {"name": name}, sizes)
        assert {*needs.memory, *needs.work} <= stages, name
        assert all(number >= 0 for number in (*needs.memory.values(), *needs.work.values(), needs.gpus)), name
        assert 0 <= needs.parallel <= 1, name


def test_what_a_component_leaves_unsaid_is_four_arrays_over_its_two_largest_sizes():
    sizes = Sizes(seeds=3, dimension=8)
    needs = resources._component_needs("probes", {"name": "network_gap", "test": 16, "samples": [64, 32]}, sizes)
    assert needs.memory["measure"] == 4 * 64 * 16
    assert needs.work["measure"] == 1000 * needs.memory["measure"]


def test_a_kernel_asks_for_its_gram_matrix():
    study = tiny()
    task = study.tasks["all"]
    learners = content()["learners"]
    larger = tiny(learners=learners | {"kernel": learners["kernel"] | {"samples": {"at": [4000, 8000]}}})
    more = resources.train(larger, larger.tasks["all"], "kernel").mem_mb - resources.train(study, task, "kernel").mem_mb
    # Three matrices of 8000 x 8000, and two of 50 x 8000.
    gram = (3 * 8000**2 + 2 * 50 * 8000) * 8 / 1e6
    assert gram < more < 1.1 * gram


def test_a_search_asks_for_the_memory_of_its_largest_size_and_for_the_time_and_models_of_a_few():
    learners = content()["learners"]

    def asked(**samples):
        study = tiny(
            learners=learners | {"kernel": learners["kernel"] | {"samples": samples}},
            samples={"per_doubling": 16, "thresholds": [0.5]},
        )
        return resources.train(study, study.tasks["all"], "kernel")

    whole, search = asked(start=64, cap=16000), asked(near=100, start=64, cap=16000)
    assert search.runtime < whole.runtime / 2
    # The Gram matrix is the same, the models are fewer.
    assert 0.8 * whole.mem_mb < search.mem_mb < whole.mem_mb
    assert asked(near=100, start=64, cap=16000, thresholds=[0.5]) == search


@pytest.mark.parametrize("name", registry.available("teachers"))
def test_the_outputs_of_a_teacher_are_those_that_it_draws(name):
    instances = registry.parameters("teachers", name).get("instance", {}).get("enum", [None])
    for instance in instances:
        given = {"name": name} | ({} if instance is None else {"instance": instance})
        if "order" in registry.parameters("teachers", name):
            given["order"] = 5
        posed = {"teacher": registry.defaults("teachers", name) | given}
        assert GridPoint("p", {}, posed).outputs == registry.build("teachers", given).outputs, instance


@pytest.mark.parametrize(
    ("learner", "points"),
    [
        ({"epochs": 7}, 7 * 400),
        ({"epochs": 7, "steps": 90, "batch": 50}, 90 * 50),
        ({"epochs": 7, "steps": 90, "batch": 1000}, 90 * 400),
        ({"epochs": 7, "steps": 90, "online": True}, 400),
        ({"ridge": 1}, 400),
    ],
)
def test_a_training_sees_as_many_points_as_its_steps_or_epochs_say(learner, points):
    assert points_presented(learner, 400) == points


@pytest.mark.parametrize(
    ("parts", "parallel", "cores", "faster"),
    [
        (0.9, 1.0, 1, 1),
        (3, 1.0, 4, 4),
        (3, 0.0, 1, 1),
        # On eight cores 1 / (0.1 + 0.9 / 8) = 4.7 times as fast; sixteen would be less than half used, 6.4 times.
        (3, 0.9, 4, 1 / (0.1 + 0.9 / 4)),
        (100, 0.9, 8, 1 / (0.1 + 0.9 / 8)),
        (100, 1.0, 16, 16),
        (0, 1.0, 1, 1),
    ],
)
def test_a_job_with_a_long_fit_gets_the_cores_that_it_can_use(parts, parallel, cores, faster):
    """parts: of the longest fit in LONG; the whole job has ten such fits."""
    longest = parts * resources.LONG
    needs = resources._request(0.0, resources.Load(0.0, 10 * longest, longest, parallel))
    assert needs.cores == cores
    assert needs.runtime == pytest.approx(resources.BASE_MINUTES + 10 * longest / resources.RATE / 60 / faster, abs=1)


def test_the_cores_of_a_training_are_those_of_its_largest_fit_however_the_jobs_are_split():
    learners = content()["learners"]
    large = {"learners": learners | {"kernel": learners["kernel"] | {"samples": {"at": [100_000]}}}}
    assert resources.train(tiny(), tiny().tasks["all"], "kernel").cores == 1
    for changes in ({}, {"split_jobs_by": ["dimension", "seed"]}, {"seeds": 7}):
        study = tiny(**large, **changes)
        assert {resources.train(study, task, "kernel").cores for task in study.tasks.values()} == {4}, changes
        assert {resources.evaluate(study, task).cores for task in study.tasks.values()} == {1}


@pytest.mark.parametrize("preset", ["quick", "smoke"])
@pytest.mark.parametrize("file", STUDIES, ids=lambda file: file.stem)
def test_small_presets_compute_with_one_thread(file, preset):
    study, _ = shipped.checked(file, preset)
    assert {needs.cores for _, _, needs in resources.largest_jobs(study)} == {1}


def test_a_component_on_a_gpu_asks_for_one(monkeypatch):
    known = registry.needs
    monkeypatch.setattr(registry, "needs", lambda *asked: replace(known(*asked), gpus=1))
    study = tiny()
    task = study.tasks["all"]
    assert resources.train(study, task, "kernel").gpus == 1
    assert resources.represent(study, task, "neural").gpus == 1
    assert resources.probe(study, "theory").gpus == 1
    assert resources.evaluate(study, task).gpus == 1


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"points": {"validation": 50, "test": 10**12}}, "points"),
        ({"probes": {"theory": {"probe": {"name": "coupling", "widths": [10**9], "points": 10**6}}}}, "probes.theory"),
    ],
    ids=["points", "widths"],
)
def test_sizes_that_no_machine_has_are_refused_with_the_memory_they_need(change, field):
    (fault,) = grid_checks.too_large(tiny(**change), resources.ABSURD_MB)
    assert fault.field == field
    assert "MB of memory" in fault.found
    assert fault.allowed == "at most memory_limit_mb = 1,000,000"


def test_a_limit_of_ones_own_is_kept():
    assert not list(grid_checks.too_large(tiny(), 1000))
    assert [fault.field for fault in grid_checks.too_large(tiny(), 200)]


@pytest.mark.parametrize("values", [10, 100, 1000, 2500])
def test_a_study_is_submitted_at_most_two_hundred_times(values):
    noises = [round(i / values, 6) for i in range(values)]
    study = tiny(axes={"dimension": [4], "degree": [1], "label_noise": noises}, split_jobs_by=["label_noise"])
    jobs = len(study.tasks) * (3 + 3) + 1
    pack = resources.pack(study)
    # Beside the packs the probe, and aggregation, figure and verdicts in one.
    submissions = jobs + 2 if pack == 0 else -(-len(study.tasks) // pack) + 2
    assert submissions <= 200
    assert pack == 0 or -(-len(study.tasks) // pack) <= resources.PACKS
    assert pack == 0 or len(study.tasks) / pack > resources.PACKS / 2 or pack == 1


def test_the_profile_of_slurm_has_every_pack():
    """Of a grid of the most points that a study may have, each of them a task."""
    profile = yaml.safe_load((Path(__file__).parents[2] / "profiles" / "slurm" / "config.yaml").read_text())
    most = 2 ** math.ceil(math.log2(grid_checks.MOST / resources.PACKS))
    packs = [2**i for i in range(1, int(math.log2(most)) + 1)]
    assert profile["group-components"] == {f"tasks{pack}": pack for pack in packs}
