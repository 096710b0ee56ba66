"""Whatever is killed, damaged or removed: one plain command finishes, with the same bytes and nothing left behind.

Snakemake keeps its records in files and in a database by turns. STRESS_KILLS: how many kills; from
100 on there are more of the other faults too. STRESS_SEED: repeats what was drawn; `make stress` draws one, and without
one it is always the same.
"""

import base64
import os
import random
import shutil
import subprocess
import time
from itertools import cycle

import pytest
from harness import BACKENDS, COMMANDS, WAYS, Tally, Tree, damage, kill, suspended

from hierlearn.pipeline.files.checksums import beside

KILLS = int(os.environ.get("STRESS_KILLS", "2"))
LONG = KILLS >= 100
# With this one a file and its checksum are damaged in one round.
SEED = os.environ.get("STRESS_SEED") or "293400"
# Where each kind of file lies in a finished tree.
KINDS = {
    "data": "results/quick/small/all/data.nc",
    "representation": "results/quick/small/all/neural.representation.nc",
    "model": "results/quick/small/all/*.model.nc",
    "scores": "results/quick/small/all/scores.nc",
    "traces": "results/quick/small/all/traces.nc",
    "cube": "results/quick/small/scores.nc",
    "cube of traces": "results/quick/small/traces.nc",
    "probe": "results/quick/small/theory.probe.nc",
    "figure": "results/quick/small/figure.*",
    "claims of a study": "results/quick/small/claims.json",
    "ledger": "results/quick/claims.*",
    "page": "results/quick/index.html",
    "checksum": "results/quick/**/.*.checksum",
    "log": "results/quick/logs/**/*.log",
    "record of Snakemake": ".snakemake/{records}",
}
VICTIMS = {"tree": "the process tree", "snakemake": "Snakemake", "job": "a job"}
FOLDERS = [
    "results",
    "results/quick",
    "results/quick/small",
    "results/quick/small/all",
    "results/quick/logs",
    ".snakemake",
    ".snakemake/metadata",
    ".snakemake/incomplete",
    ".snakemake/log",
]


@pytest.fixture(scope="module")
def tally(request):
    counts = Tally(SEED)
    request.config.pluginmanager.register(counts)
    return counts


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    made = Tree.made(tmp_path_factory.mktemp("stress") / "tree")
    yield made
    for process in made.processes():
        process.kill()


@pytest.fixture(scope="module")
def finished(tree):
    """What an undisturbed run leaves, and the seconds that it took."""
    began = time.monotonic()
    assert tree.run("snakemake") == 0, tree.said()
    content = tree.content()
    seconds = time.monotonic() - began
    assert len(content) > 12
    # Where Snakemake has no record of what is there, nothing is made again.
    tree.keep_records_in("db")
    assert tree.run("snakemake") == 0, tree.said()
    assert "Nothing to be done" in tree.said()
    assert tree.content() == content
    assert tree.faults(content) == []
    tree.keep()
    return content, seconds


@pytest.fixture(autouse=True)
def start(request, tree, finished):
    """A fault that is not survived spoils no test after it."""
    before = request.session.testsfailed
    yield
    if request.session.testsfailed > before:
        tree.restore()


class Trial:
    """One fault of a kind, counted; at its end one plain command must finish as if nothing had happened.

    Snakemake keeps its records in `backend` throughout, one that is drawn if none is given.
    """

    def __init__(self, tally, kind, number, tree, backend=None):
        self.tally, self.kind, self.name = tally, kind, f"{kind} {number}"
        self.chance = random.Random(f"{SEED} {self.name}")
        self.command = self.chance.choice(sorted(COMMANDS))
        self.backend = backend or random.Random(f"{SEED} {self.name} backend").choice(sorted(BACKENDS))
        tree.keep_records_in(self.backend)

    def survived(self, tree, whole, what, faults=1):
        self.tally.tried[self.kind] += faults
        code = tree.run(self.command)
        said = f"STRESS_SEED={SEED}, {self.name} ({self.backend}, {what}), then {self.command}: exit {code}"
        assert code == 0, f"{said}\n{tree.said()}"
        assert tree.faults(whole) == [], f"{said}\n{tree.said()}"
        self.tally.survived[self.kind] += faults
        print(said, flush=True)


def undo(tree, chance):
    """Take away some or all of what a run made, so that it has something to do; about how much of it, as a share."""
    files = sorted(tree.content())
    if not files or chance.random() < 0.2:
        shutil.rmtree(tree.folder / "results", ignore_errors=True)
        return 1
    gone = chance.sample(files, chance.randint(1, len(files)))
    for name in gone:
        (tree.results / name).unlink()
    return len(gone) / len(files)


def killed(tree, trial, whom, seconds):
    """Start runs until one was killed at work."""
    while True:
        delay = trial.chance.uniform(0, seconds * undo(tree, trial.chance))
        command = trial.chance.choice(sorted(COMMANDS))
        if kill(tree, tree.start(command), whom, trial.chance, delay):
            return f"{command} killed after {delay:.1f} s"


def test_a_killed_run_is_finished_by_the_next(tree, finished, tally):
    whole, seconds = finished
    for number, whom, backend in zip(range(KILLS), cycle(VICTIMS), cycle(BACKENDS), strict=False):
        trial = Trial(tally, f"kills of {VICTIMS[whom]}", number, tree, backend)
        trial.survived(tree, whole, killed(tree, trial, whom, seconds))


def damages():
    """The damages of each run, (kind, way): all kinds at once, and in the long version each by itself as well."""
    chance = random.Random(SEED)
    if LONG:
        return [[(kind, way) for kind in KINDS] for way in WAYS] + [[(kind, chance.choice(WAYS))] for kind in KINDS]
    return [[(kind, chance.choice(WAYS)) for kind in KINDS] for _ in range(1)]


def test_a_damaged_file_of_any_kind_is_made_again(tree, finished, tally):
    for number, pairs in enumerate(damages()):
        trial = Trial(tally, "damaged files", number, tree)
        for kind, way in pairs:
            files = sorted(tree.folder.glob(KINDS[kind].format(records=BACKENDS[trial.backend])))
            damage(trial.chance.choice(files), way, trial.chance)
        trial.survived(tree, finished[0], pairs, len(pairs))


def record(tree, name, backend):
    """What Snakemake notes of a result; a database as a whole."""
    key = base64.urlsafe_b64encode(f"results/quick/{name}".encode()).decode()
    return tree.records / ("metadata.db" if backend == "db" else f"metadata/{key}")


def test_a_file_is_made_again_whatever_of_all_that_speaks_for_it_is_damaged_too(tree, finished, tally):
    for number in range(20 if LONG else 1):
        trial = Trial(tally, "files damaged with their checksums and records", number, tree)
        names = trial.chance.sample(sorted(finished[0]), trial.chance.randint(1, len(finished[0])))
        for name in names:
            file = tree.results / name
            for one in (file, beside(file), record(tree, name, trial.backend)):
                if one.exists() and trial.chance.random() < 0.8:
                    damage(one, trial.chance.choice(WAYS), trial.chance)
        trial.survived(tree, finished[0], names)


def test_a_removed_folder_is_made_again(tree, finished, tally):
    for number, folder in enumerate(FOLDERS if LONG else random.Random(SEED).sample(FOLDERS, 2)):
        trial = Trial(tally, "removed folders", number, tree)
        shutil.rmtree(tree.folder / folder)
        trial.survived(tree, finished[0], folder)


def interrupted(tree, chance) -> list:
    """The checkpoints of a training that was killed after its first one."""
    model = tree.results / "small" / "all" / "network.model.nc"
    folder = model.with_name(f".{model.name}.checkpoints")
    # A checkpoint goes when its part of the training ends, and all of them with the training: then once more, sooner,
    # and as often as it takes where that is soon.
    for latest in (0.3, 0.1, 0.03, *[0.0] * 10):
        model.unlink(missing_ok=True)
        run = tree.start("snakemake")
        while not list(folder.glob("[!.]*.nc")) and run.poll() is None:
            time.sleep(0.01)
        kill(tree, run, "tree", chance, chance.uniform(0, latest))
        if kept := sorted(folder.glob("[!.]*.nc")):
            return kept
    raise AssertionError(tree.said())


def test_a_damaged_checkpoint_costs_work_alone(tree, finished, tally):
    for number, way in enumerate(WAYS if LONG else random.Random(SEED).sample(WAYS, 1)):
        trial = Trial(tally, "damaged checkpoints", number, tree)
        kept = interrupted(tree, trial.chance)
        for file in kept:
            damage(file, way, trial.chance)
        trial.survived(tree, finished[0], way, len(kept))


@pytest.mark.slow
def test_a_second_run_is_refused_and_the_first_goes_on(tree, finished, tally):
    for number in range(4 if LONG else 1):
        trial = Trial(tally, "second runs", number, tree)
        held = []
        # Anew where the first has ended before it could be stopped.
        while not held:
            shutil.rmtree(tree.folder / "results")
            first = tree.start(trial.command)
            # The first holds its lock before its first job.
            while not tree.jobs() and first.poll() is None:
                time.sleep(0.02)
            time.sleep(trial.chance.uniform(0, 1))
            # Snakemake waits while its jobs go on, or it would be over before a second one has started.
            held = suspended(tree.main())
        try:
            assert tree.run(trial.chance.choice(sorted(COMMANDS)), "second.log") != 0
            assert "error: another run works in this folder" in tree.said("second.log")
        finally:
            for process in held:
                process.resume()
        assert first.wait() == 0
        assert tree.faults(finished[0]) == []
        trial.survived(tree, finished[0], "second run")


@pytest.fixture
def disk(tmp_path):
    """A small disk of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", folder], capture_output=True, text=True
    )
    if mounted.returncode:
        # Only root may mount one, as in .ci/run; without it no folder has an end that a run could meet.
        pytest.skip(f"no small disk to fill: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def test_a_run_on_a_full_disk_is_finished_when_there_is_space_again(disk, tree, finished, tally):
    small = Tree.made(disk / "tree")
    filler = disk / "filler"
    for number in range(10 if LONG else 1):
        trial = Trial(tally, "full disks", number, small)
        shutil.rmtree(small.folder / "results", ignore_errors=True)
        shutil.rmtree(small.records, ignore_errors=True)
        # A whole run leaves some 700 kB.
        room = trial.chance.randrange(4096, 500_000)
        free = shutil.disk_usage(disk).free
        with open(filler, "wb") as file:
            for _ in range(0, free - room, 4096):
                file.write(bytes(4096))
        failed = small.run(trial.command)
        assert failed, small.said()
        filler.unlink()
        trial.survived(small, finished[0], f"{room} bytes free")


def test_after_all_of_it_there_is_nothing_to_do(tree, finished):
    assert tree.run("make") == 0
    assert "Nothing to be done" in tree.said()
