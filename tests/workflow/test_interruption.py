"""A training that is killed goes on from its last checkpoint and ends with the same bytes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hierlearn.core.registry import PACKAGE
from hierlearn.pipeline.plan import checking, jobs

STUDY = Path(__file__).parents[2] / "config" / "studies" / "allenzhu2019-figure-2b.yaml"
# The script as a job runs it, but with a checkpoint at every sign of life.
JOB = """
import json, sys
sys.path[:0] = [{package!r}, {scripts!r}]
import hierlearn.pipeline.files.checkpoints
hierlearn.pipeline.files.checkpoints.SECONDS_BETWEEN_SAVES = 0.0
import generate, train
parameters = json.loads(open(sys.argv[1]).read())
if sys.argv[2] == "generate":
    generate.generate(sys.argv[3], parameters["generate"], "code")
else:
    train.train(sys.argv[3], None, sys.argv[4], parameters["train"], "code")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Parameters and data of one training of about 600 steps."""
    folder = tmp_path_factory.mktemp("killed")
    study, faults = checking.study(STUDY, STUDY.name, "smoke")
    assert not faults
    (task,) = study.tasks.values()
    parameters = {"generate": jobs.generate(study, task), "train": jobs.train(study, task, "resnet")}
    for part in parameters.values():
        part["points"] = part["points"][:1]
    (point,) = parameters["train"]["points"]
    point["variants"] = [variant for variant in point["variants"] if variant["coordinates"]["width"] == 200]
    for variant in point["variants"]:
        variant["learner"]["epochs"] = 30
    (folder / "parameters.json").write_text(json.dumps(parameters))
    started(folder, "generate", folder / "data.nc").wait()
    return folder


def started(folder, *arguments):
    text = JOB.format(package=str(PACKAGE.parent), scripts=str(PACKAGE.parent / "scripts"))
    command = [sys.executable, "-c", text, str(folder / "parameters.json"), *map(str, arguments)]
    return subprocess.Popen(command, env=os.environ | {"OMP_NUM_THREADS": "1"})


def test_a_killed_training_ends_with_the_same_bytes(folder):
    data, whole, killed = folder / "data.nc", folder / "whole.nc", folder / "killed.nc"
    assert started(folder, "train", data, whole).wait() == 0
    checkpoints = folder / ".killed.nc.checkpoints"
    for _ in range(3):
        job = started(folder, "train", data, killed)
        before = {file: file.stat().st_mtime_ns for file in checkpoints.glob("*.nc")}
        while job.poll() is None and all(before.get(f) == f.stat().st_mtime_ns for f in checkpoints.glob("*.nc")):
            time.sleep(0.01)
        job.send_signal(signal.SIGKILL)
        job.wait()
        assert not killed.exists() and list(checkpoints.glob("*.nc"))
    assert started(folder, "train", data, killed).wait() == 0
    assert killed.read_bytes() == whole.read_bytes()
    assert not checkpoints.exists()
