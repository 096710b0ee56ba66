"""Checkpoints: kept for the very job that wrote them, ignored by any other, gone when the target is there."""

import os
import pty
import re
import select
import subprocess
import sys
import termios

import numpy as np
import pytest

from hierlearn.core.provenance import PACKAGE
from hierlearn.pipeline.files.checkpoints import Checkpoints
from hierlearn.pipeline.run.monitor import JobMonitor

IDENTITY = {"code_hash": "a", "parameters_hash": "b"}
STATE = {"weights": np.arange(6.0).reshape(2, 3), "done": np.array(7)}


PERIOD, MOST = (f"hierlearn.pipeline.files.checkpoints.{name}" for name in ("SECONDS_BETWEEN_SAVES", "MOST_WAITING"))


@pytest.fixture
def kept(tmp_path, monkeypatch):
    monkeypatch.setattr(PERIOD, 0.0)
    checkpoints = Checkpoints(tmp_path / "learner.model.nc", IDENTITY)
    JobMonitor(checkpoints).within("point/only").save("n8", lambda: STATE, final=True)
    return tmp_path


def restored(folder, identity=IDENTITY, name="point/only"):
    return JobMonitor(Checkpoints(folder / "learner.model.nc", identity)).within(name).restore("n8")


def test_what_was_saved_comes_back(kept):
    found = restored(kept)
    assert set(found) == set(STATE)
    for name, values in STATE.items():
        assert np.array_equal(found[name], values)


@pytest.mark.parametrize("change", ["code_hash", "parameters_hash"])
def test_another_job_ignores_it(kept, change):
    assert restored(kept, IDENTITY | {change: "other"}) is None


def test_another_part_of_the_job_has_its_own(kept):
    assert restored(kept, name="point/other") is None


def test_a_damaged_file_is_ignored(kept):
    (file,) = (kept / ".learner.model.nc.checkpoints").glob("[!.]*")
    file.write_bytes(file.read_bytes()[:100])
    assert restored(kept) is None


def test_it_is_saved_now_and_then_only(tmp_path, monkeypatch):
    monitor = JobMonitor(Checkpoints(tmp_path / "learner.model.nc", IDENTITY)).within("point/only")
    monitor.save("n8", lambda: STATE)
    assert restored(tmp_path) is None
    monkeypatch.setattr(PERIOD, 0.0)
    monitor.save("n8", lambda: STATE)
    assert restored(tmp_path) is not None


def test_what_has_ended_is_saved_the_next_time(tmp_path, monkeypatch):
    monitor = JobMonitor(Checkpoints(tmp_path / "learner.model.nc", IDENTITY))
    monitor.within("first").save("n8", lambda: STATE, final=True)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(PERIOD, 0.0)
    monitor.within("second").save("n8", lambda: STATE)
    assert np.array_equal(restored(tmp_path, name="first")["weights"], STATE["weights"])
    assert restored(tmp_path, name="second") is not None


def test_no_more_waits_than_memory_is_meant_for(tmp_path, monkeypatch):
    monitor, size = JobMonitor(Checkpoints(tmp_path / "learner.model.nc", IDENTITY)), STATE["weights"].nbytes
    monkeypatch.setattr(MOST, 2 * size)
    monitor.within("first").save("n8", lambda: STATE, final=True)
    assert restored(tmp_path, name="first") is None
    monitor.within("second").save("n8", lambda: STATE, final=True)
    assert restored(tmp_path, name="first") is not None
    assert restored(tmp_path, name="second") is not None


def test_nothing_is_left_once_the_target_is_there(kept):
    Checkpoints(kept / "learner.model.nc", IDENTITY).clear()
    assert list(kept.iterdir()) == []


TRAINING = """
import sys
import time
from hierlearn.pipeline.run.monitor import JobMonitor
watch = JobMonitor(title=sys.argv[1]).within("point/only")
watch.advance(1, 100)
# A bar is drawn ten times a second at most.
time.sleep(0.2)
watch.advance(25, 100)
sys.stdin.readline()
watch.advance(100, 100)
"""


def test_bars_of_jobs_on_one_terminal_name_their_jobs_and_keep_their_lines():
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    jobs = []

    def start(title):
        """What a job writes once it has said its name, up to its bar at a quarter."""
        pipes = {"stdin": subprocess.PIPE, "stderr": theirs, "cwd": PACKAGE.parent}
        jobs.append(subprocess.Popen([sys.executable, "-c", TRAINING, title], **pipes))
        text = ""
        while not re.search(f"25%, .* left: {title} point/only", text):
            assert select.select([ours], [], [], 30)[0], text
            text += os.read(ours, 10_000).decode()
        return text.partition(title)[2]

    def end():
        for job in jobs:
            job.communicate(b"\n")
            assert job.returncode == 0
        jobs.clear()

    up = "\x1b[A"
    assert up not in start("study/all/one")
    assert up in start("study/all/two")
    end()
    assert up not in start("study/all/three")
    end()


def test_without_a_terminal_there_is_no_bar():
    words = [sys.executable, "-c", TRAINING, "study/all/one"]
    done = subprocess.run(words, cwd=PACKAGE.parent, input="\n", capture_output=True, text=True, check=True)
    assert done.stderr == ""
