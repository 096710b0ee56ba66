"""A job loads what it needs: the start-up of heavy libraries would cost more than most jobs."""

import subprocess
import sys

from conftest import ROOT

JOB = """
import sys
from pathlib import Path
workflow, studies, results, output = map(Path, sys.argv[1:])
sys.path[:0] = [str(workflow), str(workflow / "scripts")]
import train, generate, represent
from hierlearn.pipeline.plan.configuration import configure
from hierlearn.pipeline.plan import jobs
study = configure({}, Path("none"), studies).studies["tiny"]
task = study.tasks["all"]
generate.generate(output / "data.nc", jobs.generate(study, task), "")
represent.represent(output / "data.nc", output / "neural.nc", jobs.represent(study, task, "neural"), "")
for learner in study.learners_in(task):
    representation = {"features": output / "neural.nc"}.get(learner)
    train.train(output / "data.nc", representation, output / "model.nc", jobs.train(study, task, learner), "")
    for heavy in ("torch", "xarray", "matplotlib", "sklearn", "pandas"):
        if heavy in sys.modules:
            print(learner, heavy)
"""


def test_jobs_without_networks_load_no_heavy_library(tree, tmp_path):
    words = [tree / "workflow", tree / "config" / "studies", tree, tmp_path]
    done = subprocess.run(
        [sys.executable, "-c", JOB, *map(str, words)], cwd=ROOT, text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert (tmp_path / "model.nc").exists()


HEAVY = ("torch", "scipy.linalg", "scipy.special", "xarray", "matplotlib", "netCDF4", "sklearn", "pandas")


def test_reading_the_plan_loads_no_heavy_library(tree):
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[1]);"
        "from hierlearn.pipeline.plan import jobs; from hierlearn.pipeline.plan.configuration import configure;"
        "study = configure({}, Path('none'), Path(sys.argv[2])).studies['tiny'];"
        "jobs.code('train', jobs.components_of(jobs.train(study, study.tasks['all'], 'kernel')));"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    words = [str(tree / "workflow"), str(tree / "config" / "studies")]
    done = subprocess.run([sys.executable, "-c", code, *words], text=True, capture_output=True, check=True)
    assert done.stdout.strip() == "[]"
