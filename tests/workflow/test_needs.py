"""What jobs used, as they measured it, beside what they would ask a cluster for."""

import os
import re
import shutil

import pytest
from conftest import HERE, snakemake

from hierlearn.pipeline.files.load import load
from hierlearn.pipeline.plan import resources
from hierlearn.pipeline.plan.study import Study
from hierlearn.pipeline.plan.study_spec import parts


@pytest.fixture(scope="module")
def study() -> Study:
    """The study without the learner that only its tree has."""
    content, _ = load(HERE / "tiny.yaml", "tiny")
    del content["learners"]["failing"]
    return Study("tiny", "tiny", "quick", {}, **parts(content))


def used(log) -> float:
    """Largest memory of a job in MB, by the last line of its log."""
    return float(re.search(r" (\d+) MB at the peak$", log.read_text(), flags=re.MULTILINE)[1])


def test_jobs_stay_below_the_memory_that_they_ask_for(study, results):
    task, folder = study.tasks["all"], results / "logs" / "tiny"
    asked = {
        "all/generate.log": resources.generate(study, task),
        "all/neural.represent.log": resources.represent(study, task, "neural"),
        "all/evaluate.log": resources.evaluate(study, task),
        "theory.probe.log": resources.probe(study, "theory"),
        "aggregate.log": resources.aggregate(study),
        "figure.log": resources.figure(study),
        "judge.log": resources.judge(study),
    }
    asked |= {f"all/{name}.train.log": resources.train(study, task, name) for name in study.learners}
    for name, needs in asked.items():
        assert used(folder / name) < needs.mem_mb, name


def test_a_long_training_has_the_threads_of_its_sizes_wherever_it_runs(tree, tmp_path):
    """As many on one core as on two, so that the bytes are the same. Here every training counts as a long one."""
    model, made = "results/quick/tiny/all/kernel.model.nc", []
    for cores in ({min(os.sched_getaffinity(0))}, os.sched_getaffinity(0)):
        folder = shutil.copytree(tree, tmp_path / str(len(made)))
        file = folder / "workflow" / "hierlearn" / "pipeline" / "plan" / "resources.py"
        text = file.read_text()
        changed = text.replace(
            "LONG, CORES, WORTH = 1.0e14, (1, 2, 4, 8, 16), 0.5", "LONG, CORES, WORTH = 0.0, (1, 2), 0.5"
        )
        assert changed != text
        file.write_text(changed)
        known = os.sched_getaffinity(0)
        os.sched_setaffinity(0, cores)
        try:
            done = snakemake(folder, "--cores", str(len(cores)), "--", model)
        finally:
            os.sched_setaffinity(0, known)
        assert done.code == 0, done.end
        assert "2 threads" in (folder / "results/quick/logs/tiny/all/kernel.train.log").read_text()
        made.append((folder / model).read_bytes())
    assert made[0] == made[1]
