"""A small study that is run, killed and damaged; and the count of what was tried and what was survived."""

import fcntl
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
TOOLS = Path(sys.executable).parent
# Both front doors, with no word that helps.
COMMANDS = {"make": ["make"], "snakemake": ["snakemake", "--cores", "all"]}
# What Snakemake may keep its records in, and where they lie then.
BACKENDS = {"file": "metadata/*", "db": "metadata.db"}
# What two runs need not have in common: the lines of a log.
NOT_COMPARED = "logs/"
# Seconds after which a run that takes half a minute on a busy machine hangs.
HANGS = 900


class Tally:
    """Faults tried and survived, by kind; pytest prints them at the end."""

    def __init__(self, seed: str):
        self.seed, self.tried, self.survived = seed, Counter(), Counter()

    def pytest_terminal_summary(self, terminalreporter):
        terminalreporter.section(f"faults (STRESS_SEED={self.seed})")
        for kind, tried in self.tried.items():
            terminalreporter.write_line(f"{kind}: {tried} tried, {self.survived[kind]} survived")


@dataclass(frozen=True)
class Tree:
    """A copy of the workflow with the study small.yaml."""

    folder: Path

    @classmethod
    def made(cls, folder: Path) -> "Tree":
        """The copy, with an environment that `make` takes for its own and with checkpoints several times a second."""
        ignored = shutil.ignore_patterns("__pycache__", ".*", "studies")
        for name in ("workflow", "config", "profiles", "envs"):
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        for name in ("Snakefile", "Makefile"):
            shutil.copy2(ROOT / name, folder)
        (folder / "config" / "studies").mkdir()
        shutil.copy(HERE / "small.yaml", folder / "config" / "studies")
        checkpoints = folder / "workflow" / "hierlearn" / "pipeline" / "files" / "checkpoints.py"
        text, period = checkpoints.read_text(), "SECONDS_BETWEEN_SAVES = 20.0"
        assert period in text
        checkpoints.write_text(text.replace(period, "SECONDS_BETWEEN_SAVES = 0.03"))
        (folder / ".venv" / "bin").mkdir(parents=True)
        (folder / ".venv" / "bin" / "snakemake").symlink_to(TOOLS / "snakemake")
        (folder / ".venv" / ".installed").touch()
        (folder / "tmp").mkdir()
        return cls(folder)

    def keep_records_in(self, backend: str) -> None:
        """Have all runs from now on keep Snakemake's records in files or in a database."""
        profile = self.folder / "profiles" / "default" / "config.yaml"
        lines = [line for line in profile.read_text().splitlines() if not line.startswith("persistence-backend")]
        profile.write_text("\n".join([*lines, f"persistence-backend: {backend}", ""]))

    @property
    def results(self) -> Path:
        return self.folder / "results" / "quick"

    @property
    def records(self) -> Path:
        return self.folder / ".snakemake"

    def keep(self) -> None:
        """Remember the state that the tree is in."""
        for name in ("results", ".snakemake"):
            shutil.copytree(self.folder / name, self.folder.with_name("kept") / name)

    def restore(self) -> None:
        """Return to the state that was kept."""
        for process in self.processes():
            process.kill()
        for name in ("results", ".snakemake"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
            shutil.copytree(self.folder.with_name("kept") / name, self.folder / name)
        shutil.rmtree(self.folder / "tmp")
        (self.folder / "tmp").mkdir()

    def start(self, command: str, log: str = "run.log") -> subprocess.Popen:
        """A run in a process group of its own."""
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {
            # On a full disk Python itself may leave a part of a file of bytecode, which no later start gets by.
            "PYTHONDONTWRITEBYTECODE": "1",
            "PATH": f"{TOOLS}{os.pathsep}{os.environ['PATH']}",
            "TMPDIR": str(self.folder / "tmp"),
        }
        with open(self.folder / log, "w") as file:
            return subprocess.Popen(
                COMMANDS[command], cwd=self.folder, env=environment, stdout=file, stderr=file, start_new_session=True
            )

    def run(self, command: str, log: str = "run.log") -> int:
        """The exit status of a run; one that hangs is ended with an error."""
        run = self.start(command, log)
        try:
            return run.wait(timeout=HANGS)
        finally:
            if run.poll() is None:
                os.killpg(run.pid, signal.SIGKILL)

    def said(self, log: str = "run.log") -> str:
        """What the last command printed, its end."""
        return (self.folder / log).read_text()[-3000:]

    def content(self) -> dict[str, bytes]:
        """What a run is for, by name."""
        files = {file.relative_to(self.results).as_posix(): file for file in self.results.rglob("*") if file.is_file()}
        return {
            name: file.read_bytes()
            for name, file in sorted(files.items())
            if not name.startswith(NOT_COMPARED) and not file.name.endswith(".checksum")
        }

    def interrupted(self) -> list[str]:
        """What Snakemake takes for files of interrupted jobs, by its records of either kind."""
        names = [file.name for file in (self.records / "incomplete").glob("*")]
        if not (self.records / BACKENDS["db"]).exists():
            return names
        with closing(sqlite3.connect(self.records / BACKENDS["db"])) as database:
            rows = database.execute("SELECT target FROM snakemake_metadata WHERE incomplete").fetchall()
        return names + [target for (target,) in rows]

    def processes(self) -> list[psutil.Process]:
        """Whatever works in this folder."""
        return [process for process in psutil.process_iter() if _works_in(process, self.folder)]

    def jobs(self) -> list[psutil.Process]:
        """Running scripts."""
        return [process for process in self.processes() if _is_fork(process)]

    def main(self) -> list[psutil.Process]:
        """Snakemake itself."""
        return [process for process in self.processes() if any(word.endswith("/snakemake") for word in _words(process))]

    def faults(self, whole: dict[str, bytes]) -> list[str]:
        """How the folder differs from that of an undisturbed run that has ended."""
        found, content = [], self.content()
        found += [f"missing: {name}" for name in whole.keys() - content.keys()]
        found += [f"left behind: {name}" for name in content.keys() - whole.keys()]
        found += [f"other bytes: {name}" for name in whole.keys() & content.keys() if whole[name] != content[name]]
        found += [f"left behind: {file}" for file in (self.records / "scripts").glob("*")]
        found += [f"interrupted: {name}" for name in self.interrupted()]
        # Killed, Snakemake itself leaves an empty folder behind, and Python what it writes as it tries a folder.
        # Of copies of rules only those are found again that a run has noted, which it cannot before it has read them.
        temporary = [file for file in (self.folder / "tmp").rglob("*") if file.is_file() and not _is_rules(file)]
        found += [f"left behind: {file}" for file in temporary if file.read_bytes() not in (b"", b"blat")]
        found += [f"alive: {process}" for process in self.processes()]
        with open(self.records / "run.lock") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                found.append("the lock is held")
        return sorted(found)


def _works_in(process: psutil.Process, folder: Path) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE and process.cwd() == str(folder)
    except psutil.Error:
        return False


def _is_rules(file: Path) -> bool:
    """Whether a file is a copy of rules that Snakemake itself has made."""
    return file.suffix in ("", ".smk") and any(part.startswith("snakemake") for part in file.parts)


def _is_fork(process: psutil.Process) -> bool:
    """Whether a process runs a script: the server of forks is its parent, and has its command line."""
    words = _words(process)
    with suppress(psutil.Error):
        return any("forkserver" in word for word in words) and process.parent().cmdline() == words
    return False


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def suspended(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those that could be stopped, as they have not ended yet."""
    found = []
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.suspend()
            found.append(process)
    return found


def kill(tree: Tree, run: subprocess.Popen, whom: str, chance: random.Random, delay: float) -> bool:
    """SIGKILL the whole process tree, Snakemake alone, or a running job; False if the run ended before.

    Some jobs of a killed Snakemake hang: they would hold their files for ever.
    """
    deadline = time.monotonic() + delay
    while time.monotonic() < deadline and run.poll() is None:
        time.sleep(0.02)
    victims = []
    while not victims and run.poll() is None:
        # At the start there is no job yet: the first one then.
        victims = {"job": tree.jobs, "snakemake": tree.main, "tree": tree.processes}[whom]()
    if run.poll() is not None:
        return False
    try:
        if whom == "tree":
            os.killpg(run.pid, signal.SIGKILL)
        else:
            if whom == "snakemake" and (jobs := tree.jobs()):
                chance.choice(jobs).suspend()
            chance.choice(victims).kill()
    except (psutil.NoSuchProcess, ProcessLookupError):
        # It ended in this very moment.
        for process in tree.processes():
            process.kill()
        run.wait()
        return False
    run.wait()
    return True


WAYS = ("halved", "emptied", "garbled", "one byte", "one byte, same time", "longer", "removed")


def damage(file: Path, way: str, chance: random.Random) -> None:
    """Damage a file from outside."""
    state, content = file.stat(), bytearray(file.read_bytes())
    if way == "removed":
        file.unlink()
        return
    if way == "halved":
        content = content[: len(content) // 2]
    elif way == "emptied":
        content = b""
    elif way == "garbled":
        content = chance.randbytes(len(content) or 100)
    elif way == "longer":
        content += chance.randbytes(100)
    elif content:
        content[chance.randrange(len(content))] ^= 0xFF
    file.write_bytes(content)
    if way == "one byte, same time":
        os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
