"""A real Slurm of two nodes on this machine, for as long as the tests need it, and runs of the workflow on it.

Both nodes are this machine under two names and ports. Nothing outside a folder of its own is written; a user without
rights runs the workflow. Where that user cannot enter the folder of the Python that runs the tests, the daemons and the
runs see an opened copy of it, in a mount namespace of their own.
"""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
STUDY = ROOT / "tests" / "workflow"
TOOLS = Path(sys.executable).parent
PROGRAMS = ("slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "scontrol", "munged", "unshare", "nsenter")
USER = "nobody"
NODES = ("n1", "n2")
# Per node, more than the tiny study asks for. Slurm is told so, whatever the machine has.
MEMORY_MB = 6000


def missing() -> str:
    """Why there can be no cluster here, "" if there can."""
    absent = [name for name in PROGRAMS if shutil.which(name) is None]
    if absent:
        return f"{', '.join(absent)} not installed (Debian: slurmctld slurmd slurm-client munge)"
    return "" if os.geteuid() == 0 else "daemons of Slurm need root"


@dataclass
class Cluster:
    """A running cluster. holder: the process whose mount namespace daemons and runs share; runs: those started."""

    folder: Path
    holder: subprocess.Popen
    runs: list[subprocess.Popen] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        """What the workflow's user sees."""
        paths = [str(TOOLS), *os.environ["PATH"].split(os.pathsep), "/usr/sbin"]
        return {
            "PATH": os.pathsep.join(paths),
            "HOME": str(self.folder / "home"),
            "LANG": "C.UTF-8",
            "OMP_NUM_THREADS": "1",
        }

    def inside(self, *words: str, user: str = "root") -> list[str]:
        """A command as it is started on the cluster's machine."""
        entered = ["nsenter", f"--target={self.holder.pid}", "--mount", "--wd=/", "--"]
        account = pwd.getpwnam(user)
        become = ["setpriv", f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups"]
        return [*entered, *(become if user != "root" else []), *words]

    def ask(self, *words: str) -> str:
        """The answer of a Slurm command."""
        done = subprocess.run(
            self.inside(*words), env=self.environment, text=True, capture_output=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def jobs(self, *states: str) -> list[list[str]]:
        """(id, state, nodes, memory, minutes, comment) of every job, of the given states only if there are any."""
        listed = self.ask("squeue", "--noheader", "--states=all", "--format=%i|%T|%N|%m|%l|%k")
        rows = [line.split("|") for line in listed.splitlines()]
        return [row for row in rows if not states or row[1] in states]

    def start(self, tree: Path, *words: str, profile: str = "slurm") -> subprocess.Popen:
        """Snakemake in a tree as the user without rights; what it prints goes to run.log."""
        # Seconds instead of most of a minute until the first look at what became of a job.
        often = ["--slurm-init-seconds-before-status-checks", "2"] if profile == "slurm" else []
        asked = [str(TOOLS / "snakemake"), "--workflow-profile", str(tree / "profiles" / profile), *often, *words]
        command = self.inside("env", f"--chdir={tree}", *asked, user=USER)
        with open(tree / "run.log", "a") as log:
            run = subprocess.Popen(command, env=self.environment, stdout=log, stderr=log, start_new_session=True)
        self.runs.append(run)
        return run

    def run(self, tree: Path, *words: str, profile: str = "slurm") -> int:
        """The exit code of a run that is left alone."""
        return self.start(tree, *words, profile=profile).wait(timeout=600)

    def tree(self, name: str, of: Path | None = None, study: Path = STUDY / "tiny.yaml") -> Path:
        """A copy of the workflow with one study, or of another tree, that belongs to the user without rights."""
        folder = self.folder / name
        if of is not None:
            shutil.copytree(of, folder, symlinks=True)
        else:
            ignored = shutil.ignore_patterns("__pycache__", ".*", "studies")
            for part in ("workflow", "config", "profiles", "envs"):
                shutil.copytree(ROOT / part, folder / part, ignore=ignored)
            shutil.copy2(ROOT / "Snakefile", folder)
            (folder / "config" / "studies").mkdir()
            shutil.copy(study, folder / "config" / "studies")
            shutil.copy(STUDY / "failing.py", folder / "workflow" / "hierlearn" / "learners")
        subprocess.run(["chown", "-R", USER, str(folder)], check=True)
        return folder


def results(tree: Path, preset: str = "quick") -> dict[str, bytes]:
    """What a run is for, by name: everything but logs."""
    folder = tree / "results" / preset
    files = [file for file in folder.rglob("*") if file.is_file()]
    names = {file.relative_to(folder).as_posix(): file for file in files}
    return {
        name: file.read_bytes()
        for name, file in names.items()
        if not name.startswith("logs/") and file.suffix != ".checksum"
    }


def said(tree: Path) -> str:
    """The ends of what Snakemake printed and of the logs of the cluster's jobs."""
    logs = [tree / "run.log", *sorted((tree / ".snakemake" / "slurm_logs").rglob("*.log"))]
    return "\n".join(f"--- {log.name}\n{log.read_text()[-3000:]}" for log in logs if log.exists())


def until(condition: Callable[[], object], seconds: float, what: str) -> object:
    """Wait until a condition holds, and give its value."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.2)
    raise AssertionError(f"{what} did not happen within {seconds:g} s")


@contextmanager
def started() -> Iterator[Cluster]:
    """A cluster with both nodes idle."""
    folder = Path(tempfile.mkdtemp(prefix="hierlearn-slurm-"))
    folder.chmod(0o755)
    holder = subprocess.Popen(["unshare", "--mount", "--propagation", "private", "sleep", "infinity"])
    cluster, daemons = Cluster(folder, holder), []
    try:
        # Until then the holder is still in the namespace of the tests.
        own = os.readlink("/proc/self/ns/mnt")
        until(lambda: os.readlink(f"/proc/{holder.pid}/ns/mnt") != own, 10, "a mount namespace")
        _open_folders(cluster)
        _described(cluster)
        (folder / "home").mkdir()
        shutil.chown(folder / "home", USER)
        daemons.append(_munged(cluster))
        until((folder / "munge" / "socket").exists, 10, "munged")
        for words in (["slurmctld", "-D"], *(["slurmd", "-D", "-N", node] for node in NODES)):
            with open(folder / f"{words[0]}-{words[-1]}.log", "w") as log:
                command = cluster.inside(*words)
                daemons.append(subprocess.Popen(command, env=cluster.environment, stdout=log, stderr=log))
        until(lambda: _idle(cluster), 60, "two idle nodes")
        yield cluster
    finally:
        _stopped(cluster, daemons)
        holder.kill()
        holder.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _open_folders(cluster: Cluster) -> None:
    """Let the user without rights enter the folders of this Python, seen from inside the namespace alone.

    A closed folder is covered by an open one with the parts of it that lead to the programs, and with no others.
    """
    needed: dict[Path, set[str]] = {}
    for program in (Path(sys.executable).absolute(), Path(sys.executable).resolve()):
        closed = [parent for parent in program.parents if not parent.stat().st_mode & 0o001]
        if closed:
            needed.setdefault(closed[-1], set()).add(program.relative_to(closed[-1]).parts[0])
    for number, (folder, parts) in enumerate(needed.items()):
        opened = cluster.folder / "opened" / str(number)
        for part in sorted(parts):
            (opened / part).mkdir(parents=True)
            subprocess.run(cluster.inside("mount", "--rbind", str(folder / part), str(opened / part)), check=True)
        subprocess.run(cluster.inside("mount", "--rbind", str(opened), str(folder)), check=True)


def _described(cluster: Cluster) -> None:
    """Write slurm.conf, and put it where all parts of Slurm look for it.

    SLURM_CONF does not do: the plugin's jobs start srun without Slurm's variables.
    """
    folder = cluster.folder
    with _free_ports(1 + len(NODES)) as ports:
        host = socket.gethostname().split(".")[0]
        lines = [
            "ClusterName=tests",
            f"SlurmctldHost={host}(127.0.0.1)",
            f"SlurmctldPort={ports[0]}",
            "SlurmUser=root",
            "AuthType=auth/munge",
            f"AuthInfo=socket={folder}/munge/socket",
            f"StateSaveLocation={folder}/state",
            f"SlurmctldPidFile={folder}/slurmctld.pid",
            f"SlurmdPidFile={folder}/slurmd-%n.pid",
            f"SlurmdSpoolDir={folder}/spool-%n",
            "ProctrackType=proctrack/linuxproc",
            "TaskPlugin=task/none",
            "SelectType=select/cons_tres",
            "SelectTypeParameters=CR_CPU_Memory",
            "SlurmdParameters=config_overrides",
            "ReturnToService=1",
            "KillWait=2",
            "MinJobAge=300",
            "MpiDefault=none",
            *(
                f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=4 RealMemory={MEMORY_MB}"
                for node, port in zip(NODES, ports[1:], strict=True)
            ),
            f"PartitionName=batch Nodes={','.join(NODES)} Default=YES LLN=YES State=UP",
        ]
    for name in ("etc", "state", *(f"spool-{node}" for node in NODES)):
        (folder / name).mkdir()
    (folder / "etc" / "slurm.conf").write_text("\n".join(lines) + "\n")
    subprocess.run(cluster.inside("mount", "--bind", str(folder / "etc"), "/etc/slurm"), check=True)


@contextmanager
def _free_ports(count: int) -> Iterator[list[int]]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        yield [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def _munged(cluster: Cluster) -> subprocess.Popen:
    """The daemon by which Slurm's parts know each other, as the user munge."""
    folder = cluster.folder / "munge"
    folder.mkdir()
    (folder / "key").write_bytes(os.urandom(128))
    (folder / "key").chmod(0o400)
    for path in (folder, folder / "key"):
        shutil.chown(path, "munge", "munge")
    names = {"key-file": "key", "socket": "socket", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
    options = [f"--{option}={folder / name}" for option, name in names.items()]
    with open(cluster.folder / "munged.log", "w") as log:
        command = cluster.inside("munged", "--foreground", *options, user="munge")
        return subprocess.Popen(command, stdout=log, stderr=log)


def _idle(cluster: Cluster) -> bool:
    asked = cluster.inside("sinfo", "--noheader", "--Node", "--format=%T")
    done = subprocess.run(asked, env=cluster.environment, text=True, capture_output=True, check=False)
    return done.stdout.split() == ["idle"] * len(NODES)


def _stopped(cluster: Cluster, daemons: list[subprocess.Popen]) -> None:
    """End what a failed test left running, all jobs, and then all daemons, the last started first."""
    for run in cluster.runs:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
    quiet = {"env": cluster.environment, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    for user in (USER, "root"):
        subprocess.run(cluster.inside("scancel", f"--user={user}"), **quiet, timeout=60, check=False)
    time.sleep(1 if daemons else 0)
    for daemon in reversed(daemons):
        daemon.terminate()
    for daemon in reversed(daemons):
        try:
            daemon.wait(timeout=20)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()
