"""The walk from an empty folder to a learner of one's own in the figure beside all others, in seconds.

    python benchmarks/own.py

Each step is a command of the manual, run in a new folder: the study with the learners that there are, the learner from
its template, its check, and the study with it. The last line says which jobs the new learner took.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
PYTHON = sys.executable
SNAKEMAKE = [PYTHON, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--workflow-profile"]
SNAKEMAKE += [str(ROOT / "profiles" / "default"), "--cores", "1", "--config", "own=[mine]", "studies=[beside]"]


def step(words: list[str], folder: Path, what: str) -> str:
    """Runs a command, prints its seconds, and returns what it said. Ends the program where it fails."""
    start = time.perf_counter()
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "workflow")}
    done = subprocess.run(words, cwd=folder, text=True, stdout=-1, stderr=-2, check=False, env=environment)
    if done.returncode:
        sys.exit(f"error: {what}: {done.stdout}")
    print(f"{what}: {time.perf_counter() - start:.1f} s", flush=True)
    return done.stdout


def main() -> None:
    """The walk."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        new, check = [PYTHON, "-m", "hierlearn.plan.template"], [PYTHON, str(ROOT / "tests" / "check.py")]
        step([*new, "kind=study", "name=beside", "folder=mine"], folder, "a study from its template")
        step(SNAKEMAKE, folder, "the study with the learners that there are")
        step([*new, "kind=learner", "name=my_learner", "folder=mine"], folder, "a learner from its template")
        step([*check, "name=my_learner", "folder=mine"], folder, "its check")
        study = folder / "mine" / "studies" / "beside.yaml"
        content = yaml.safe_load(study.read_text())
        entry = {"label": "Mine", "learner": {"name": "my_learner"}, "select": {"ridge": [1.0e-1, 1.0e-4]}}
        content["learners"]["mine"] = entry | {"samples": {"near": 20, "cap": 400}}
        study.write_text(yaml.safe_dump(content, sort_keys=False))
        planned = step([*SNAKEMAKE, "log=snakemake", "--dry-run"], folder, "what is to be done")
        step(SNAKEMAKE, folder, "the study with the learner")
        print(f"in all: {time.perf_counter() - start:.1f} s")
        print("jobs of the learner:", ", ".join(re.findall(r"^ *rule (\w+):$", planned, re.MULTILINE)))


if __name__ == "__main__":
    main()
