"""What the workflow itself costs: dry runs, overhead, imports, memory and disk of a whole preset on two cores.

    PYTHONPATH=workflow python benchmarks/workflow.py [--part dry|run|imports] [--preset quick]

Parts: `dry` times dry runs: of the preset from nothing, of the study cells.yaml, and of a finished preset (whose files
are empty here: Snakemake looks at their times and at what it noted of the jobs, never into them). `run` reads the
logs of the last whole run in this folder (`make` from empty results makes one). `imports` lists by stage
what starting Python and importing costs a job, at most: everything that its script and its components name.

Overhead is wall time times cores less the CPU time of jobs, as part of the former; it includes what one core waits for
the other at the end, and what other work on the machine takes away. Imports are part of the jobs.
"""

import argparse
import ast
import functools
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from table import Row, emit

from hierlearn.core import provenance, registry
from hierlearn.pipeline.plan import jobs
from hierlearn.pipeline.plan.configuration import configure

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("workflow", "config", "profiles", "envs")
CELLS = "chen2020-cells"
# What the jobs of the quick preset may take on one core.
QUICK_SECONDS = 600
# What Snakemake's own lines above a script import.
PREAMBLE = ("snakemake.script", "snakemake.logging", "snakemake.iocontainers")


def snakemake(folder: Path, *words: str) -> tuple[float, str]:
    """Wall time in s of one call of Snakemake in a folder that has a copy of the workflow, and what it printed."""
    command = [str(Path(sys.executable).parent / "snakemake"), "--cores", "2", *words]
    start = time.perf_counter()
    done = subprocess.run(command, cwd=folder, check=False, stdout=-1, stderr=-2, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}")
    return time.perf_counter() - start, done.stdout


def copied(folder: Path) -> Path:
    """A copy of the workflow without results."""
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy2(ROOT / "Snakefile", folder)
    return folder


def finished(folder: Path, printed: str) -> None:
    """Make a folder look like one in which a preset was run: every output empty, every job noted."""
    for line in re.findall(r"^ +output: (.*)$", printed, flags=re.MULTILINE):
        for name in re.sub(r" \([^)]*\)", "", line).split(", "):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).touch()
    snakemake(folder, "--touch", "--forceall", "--quiet", "all")


def dry(preset: str) -> Iterator[Row]:
    """Dry runs; their seconds grow with what else the machine does, so the CPU's are noted beside them."""

    def timed(*words):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        wall, printed = snakemake(folder, "--dry-run", *words)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return wall, f"{spent:.1f} s of CPU", printed

    with tempfile.TemporaryDirectory() as name:
        folder, setting = copied(Path(name)), ("--config", f"preset={preset}", "log=snakemake")
        wall, note, printed = timed(*setting)
        total = int(re.search(r"^total +(\d+)", printed, flags=re.MULTILINE)[1])
        studies = len(list((ROOT / "config" / "studies").glob("*.yaml")))
        yield Row(f"jobs of {preset}", total, most=10 * studies, options="--part dry", note=f"{studies} studies")
        yield Row(f"dry run of {preset} from nothing", wall, "s", options="--part dry", note=note)
        finished(folder, printed)
        wall, note, printed = timed(*setting)
        if "Nothing to be done" not in printed:
            raise RuntimeError(f"a finished {preset} has jobs left:\n{printed[-2000:]}")
        yield Row(f"dry run of a finished {preset}", wall, "s", most=3, options="--part dry", note=note)
        shutil.copy2(ROOT / "benchmarks" / "cells.yaml", folder / "config" / "studies" / f"{CELLS}.yaml")
        wall, note, printed = timed(CELLS)
        yield Row("dry run of a study of 10 000 cells", wall, "s", most=10, options="--part dry", note=note)


def whole_run(preset: str) -> tuple[float, int] | None:
    """Wall time in s and cores of the last run in this folder that ran every job of a preset; None without one."""
    files = logs(ROOT, preset)
    for log in sorted((ROOT / ".snakemake" / "log").glob("*.log"), reverse=True):
        text = log.read_text()
        steps = re.findall(r"^(\d+) of (\d+) steps \(100%\) done$", text, flags=re.MULTILINE)
        elapsed = re.search(r"^Elapsed time: (\d+):(\d+):([\d.]+)$", text, flags=re.MULTILINE)
        whole = f"results/{preset}/index.html" in text and any(int(done) >= len(files) for done, _ in steps)
        if files and elapsed and whole and "--touch" not in text:
            hours, minutes, seconds = map(float, elapsed.groups())
            cores = int(re.search(r"^Provided cores: (\d+)", text, flags=re.MULTILINE)[1])
            return 3600 * hours + 60 * minutes + seconds, cores
    return None


def logs(folder: Path, preset: str) -> list[Path]:
    """The logs of a run's jobs; the sheet of all figures is no part of a run. folder: where the run was."""
    files = (folder / "results" / preset / "logs").rglob("*.log")
    return [file for file in files if file.stem != "contact_sheet"]


def measures(preset: str, folder: Path = ROOT) -> list[dict[str, float]]:
    """CPU time in s and peak memory in MB of every job, from the last line of its log. folder: where the run was."""
    found = []
    for log in logs(folder, preset):
        spent = re.findall(r" ([\d.]+) s of CPU, (\d+) MB at the peak$", log.read_text(), flags=re.MULTILINE)
        if not spent:
            raise RuntimeError(f"{log} does not say what the job has cost; make clean and make again")
        cpu, peak = spent[-1]
        found.append({"cpu": float(cpu), "mb": float(peak)})
    return found


def together(found: list[dict[str, float]], cores: int) -> float:
    """Memory in MB of as many jobs as there are cores, the largest ones, each at its peak: more than there ever was."""
    return sum(sorted(row["mb"] for row in found)[-cores:])


def run(preset: str) -> Iterator[Row]:
    """What the last whole run cost."""
    options = "--part run"
    names = ("wall time", "CPU time of the jobs", "workflow overhead", "imports", "memory", "disk", "second run")
    last, found = whole_run(preset), measures(preset)
    if last is None:
        for name in names:
            yield Row(f"{name} of {preset}", None, options=options, note="run make first, from empty results")
        return
    wall, cores = last
    offered, work = wall * cores, sum(row["cpu"] for row in found)
    # Snakemake itself holds what a dry run holds.
    # Linux counts kilobytes, macOS bytes.
    snake = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    held = together(found, cores) + max(snake, 200.0)
    disk = sum(file.stat().st_size for file in (ROOT / "results" / preset).rglob("*") if file.is_file())
    # Jobs are forks of a process that loads once what all of them need.
    everything = set().union(*(libraries(script, named) for script, named in scripts(preset)))
    paid = start_up(everything)
    noted = f"{len(found)} jobs, {work:.0f} s of CPU in {offered:.0f} s offered by {cores} cores"
    yield Row(f"wall time of {preset}", wall / 60, "min", most=20, options=options, note=f"{cores} cores")
    most = QUICK_SECONDS if preset == "quick" else None
    yield Row(f"CPU time of the jobs of {preset}", work, "s", most=most, options=options, note=f"{len(found)} jobs")
    yield Row(f"workflow overhead of {preset}", 100 * (1 - work / offered), "%", most=8, options=options, note=noted)
    yield Row(f"imports of {preset}, at most", 100 * paid / offered, "%", most=10, options=options)
    yield Row(f"memory of {preset}, at most", held / 1000, "GB", most=3, options=options)
    yield Row(f"disk of {preset}", disk / 1e9, "GB", most=2, options=options)
    setting = ("--config", f"preset={preset}")
    if "Nothing to be done" not in snakemake(ROOT, "--dry-run", *setting)[1]:
        yield Row(f"second run of {preset}", None, options=options, note="code or design has changed since the run")
        return
    # The tools of `make bench` may have been installed since, and a plan is kept for the packages that are there.
    snakemake(ROOT, *setting)
    yield Row(f"second run of {preset}", snakemake(ROOT, *setting)[0], "s", most=5, options=options)


def scripts(preset: str) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    """(script, its components) of every job of a preset."""
    plan = configure({"preset": preset}, ROOT / "config" / "config.yaml", ROOT / "config" / "studies")
    for study in plan.studies.values():
        asked = [("figure",), ("judge",), *([("aggregate",)] if study.learners else [])]
        asked += [("probe", name) for name in study.probes]
        for task in study.tasks.values() if study.learners else ():
            asked += [("generate", task), ("evaluate", task)]
            asked += [("represent", task, name) for name in study.representations_in(task)]
            asked += [("train", task, name) for name in study.learners_in(task)]
        for script, *rest in asked:
            yield script, tuple(jobs.components_of(getattr(jobs, script)(study, *rest)))
    yield "ledger", ()


@functools.cache
def libraries(script: str, named: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """Every module that a job's code names in an import, wherever that stands."""
    files = [jobs.SCRIPTS / f"{script}.py", *(registry.path(kind, name) for kind, name in named)]
    found = set(PREAMBLE)
    for file in frozenset().union(*(provenance.closure(file) for file in files)):
        if file.parent != jobs.SCRIPTS:
            parts = file.relative_to(provenance.PACKAGE.parent).with_suffix("").parts
            found.add(".".join(parts).removesuffix(".__init__"))
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add(node.module)
    return tuple(sorted(found))


def start_up(modules: set[str]) -> float:
    """CPU seconds of a Python that imports some modules and ends as a job does."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", f"import os, {', '.join(sorted(modules))}; os._exit(0)"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@functools.cache
def imports(preset: str) -> dict[tuple[str, tuple[str, ...]], tuple[int, float]]:
    """(number of jobs, CPU seconds of each) by script and the libraries of others that it loads.

    The modules of this package cost little beside those: jobs that differ in them alone are measured with all of them.
    """
    counted, loaded = Counter(), {}
    for script, named in scripts(preset):
        modules = libraries(script, named)
        others = tuple(module for module in modules if module.split(".")[0] != provenance.PACKAGE.name)
        counted[script, others] += 1
        loaded.setdefault((script, others), set()).update(modules)
    return {key: (count, start_up(loaded[key])) for key, count in counted.items()}


def by_stage(preset: str) -> None:
    """Print what start-up costs the jobs of each stage where each runs by itself, as on a cluster."""
    stages: dict[str, list[tuple[int, float]]] = {}
    for (script, _), one in imports(preset).items():
        stages.setdefault(script, []).append(one)
    print(f"{'stage':<12}{'jobs':>6}{'s of CPU each':>18}{'s of all':>10}")
    for script, found in stages.items():
        each = f"{min(seconds for _, seconds in found):.2f} to {max(seconds for _, seconds in found):.2f}"
        total = sum(count * seconds for count, seconds in found)
        print(f"{script:<12}{sum(count for count, _ in found):>6}{each:>18}{total:>10.1f}")


def main() -> None:
    """Print the rows of some parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=("dry", "run", "imports"), action="append")
    parser.add_argument("--preset", default="quick")
    parser.add_argument("--rows", action="store_true", help="one JSON object a row, for table.py")
    given = parser.parse_args()
    for part in given.part or ("dry", "run"):
        if part == "imports":
            by_stage(given.preset)
            continue
        emit({"dry": dry, "run": run}[part](given.preset), None if given.rows else "workflow")


if __name__ == "__main__":
    main()
