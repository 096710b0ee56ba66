"""The walk from an empty folder to a learner of one's own in the figure beside all others, in CPU-seconds.

    PYTHONPATH=workflow python benchmarks/own.py

Each step is a command of the manual, run in a new folder: a study with the learners of chen2020-sample-complexity, its
run, a learner from its template that becomes that of examples/random-features, its check, and the run with it. What a
step takes goes to stderr.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import yaml
from table import Row, emit

ROOT = Path(__file__).parents[1]
LEARNER = ROOT / "examples" / "random-features" / "learners" / "random_features.py"
PYTHON = sys.executable
SNAKEMAKE = [PYTHON, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--workflow-profile"]
SNAKEMAKE += [str(ROOT / "profiles" / "default"), "--cores", "1", "--config", "own=[mine]", "studies=[beside]"]


def step(words: list[str], folder: Path, what: str) -> str:
    """Runs a command, prints what it took, and returns what it said. Ends the program where it fails."""
    start, before = time.perf_counter(), machine_time()
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "workflow")}
    done = subprocess.run(words, cwd=folder, text=True, stdout=-1, stderr=-2, check=False, env=environment)
    if done.returncode:
        sys.exit(f"error: {what}: {done.stdout}")
    taken = f"{machine_time() - before:.1f} CPU-seconds in {time.perf_counter() - start:.1f} s"
    print(f"{what}: {taken}", file=sys.stderr, flush=True)
    return done.stdout


def machine_time() -> float:
    """CPU-seconds of all commands that have ended, with those that they started."""
    times = os.times()
    return times.children_user + times.children_system


def others(planned: str) -> list[str]:
    """The jobs of a dry run's list that are none of the new learner's: what draws data, and what trains another one.

    Scores, the figure, claims and the page are of all learners together.
    """
    found = []
    for rule, block in re.findall(r"^ *rule (\w+):\n(.*?)\n\n", planned + "\n\n", re.MULTILINE | re.DOTALL):
        words = "".join(re.findall(r"wildcards: (.*)", block))
        if rule in ("generate", "represent", "probe") or (rule == "train" and "learner=mine" not in words):
            found.append(f"{rule} {words}")
    return found


def rows() -> Iterator[Row]:
    """The walk: what it takes, and the jobs of others that the new learner made necessary."""
    start = machine_time()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        new, check = [PYTHON, "-m", "hierlearn.pipeline.command", "new"], [PYTHON, str(ROOT / "tests" / "check.py")]
        of_chen2020 = ["--from", "chen2020-sample-complexity"]
        step(
            [*new, "study", "beside", "--folder", "mine", *of_chen2020],
            folder,
            "a study with the learners that there are",
        )
        step(SNAKEMAKE, folder, "its run")
        step([*new, "learner", "my_learner", "--folder", "mine"], folder, "a learner from its template")
        written = LEARNER.read_text().replace("RandomFeatures", "MyLearner")
        (folder / "mine" / "learners" / "my_learner.py").write_text(written)
        step([*check, "name=my_learner", "folder=mine"], folder, "its check")
        study = folder / "mine" / "studies" / "beside.yaml"
        content = yaml.safe_load(study.read_text())
        width = {"coefficient": 4, "of": "harmonic_dimension"}
        entry = {"label": "Mine", "learner": {"name": "my_learner", "width": width}, "limits": {"dimension": 9}}
        entry |= {"select": {"ridge": [1.0e-2, 1.0e-4, 1.0e-6]}, "samples": content["learners"]["ntk-raw"]["samples"]}
        content["learners"]["mine"] = entry
        content["figure"]["counted"]["mine"] = "harmonic_dimension"
        study.write_text(yaml.safe_dump(content, sort_keys=False))
        planned = step([*SNAKEMAKE, "log=snakemake", "--dry-run"], folder, "what is to be done")
        step(SNAKEMAKE, folder, "the run with the learner")
        jobs = re.findall(r"^ *rule (\w+):$", planned, re.MULTILINE)
        if not (folder / "results" / "quick" / "beside" / "all" / "mine.model.nc").is_file():
            sys.exit("error: the learner was not trained")
    yield Row("walk to a learner of one's own", machine_time() - start, "CPU-s", most=300)
    foreign = others(planned)
    note = "; ".join(foreign) if foreign else f"its own jobs only: {', '.join(sorted(set(jobs)))}"
    yield Row("jobs of others that it takes", len(foreign), most=0, note=note)


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", action="store_true", help="one JSON object a row, for table.py")
    emit(rows(), None if parser.parse_args().rows else "own")


if __name__ == "__main__":
    main()
