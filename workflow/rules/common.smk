import fcntl
import os
import re
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

# The package lies beside this workflow: for the Snakefiles here, and for the scripts of every job.
WORKFLOW = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).resolve().parent
ROOT = WORKFLOW.parent
sys.path.insert(0, str(WORKFLOW))
os.environ.update(PYTHONPATH=os.pathsep.join(filter(None, [str(WORKFLOW), os.environ.get("PYTHONPATH")])))
# Equal bytes even where a library writes the words of a set.
os.environ.setdefault("PYTHONHASHSEED", "0")

from hierlearn.core import provenance
from hierlearn.files import checksums
from hierlearn.run.job import MEMORY_VARIABLES
from hierlearn.plan.configuration import configured
from hierlearn.plan import jobs

os.environ.update({name: value for name, value in MEMORY_VARIABLES.items() if name not in os.environ})

PLAN = configured(config, Path("config/config.yaml"), ROOT / "config" / "studies")
SETTINGS, STUDIES = PLAN.settings, PLAN.studies
RESULTS = f"{SETTINGS['results']}/{SETTINGS['preset']}"
if workflow.is_main_process and PLAN.warnings:
    print(*PLAN.warnings, sep="\n", file=sys.stderr)


wildcard_constraints:
    study="[a-z0-9-]+",
    task="[^/]+",
    representation="[a-z0-9-]+",
    learner="[a-z0-9-]+",
    probe="[a-z0-9-]+",


def task_of(wildcards):
    return STUDIES[wildcards.study], STUDIES[wildcards.study].tasks[wildcards.task]


@cache
def job(script, study, *names):
    """Parameters and code hash of a job; one reading per job and parse."""
    study = STUDIES[study]
    if names and script in ("generate", "represent", "train", "evaluate"):
        names = (study.tasks[names[0]], *names[1:])
    parameters = getattr(jobs, script)(study, *names)
    return parameters, jobs.code(script, jobs.components_of(parameters))


def parameters(script):
    return lambda wildcards: job(script, *named(wildcards))[0]


def code(script):
    return lambda wildcards: job(script, *named(wildcards))[1]


MAKERS = {
    "data": "generate",
    "representation": "represent",
    "model": "train",
    "scores": "evaluate",
    "traces": "evaluate",
    "probe": "probe",
    "claims": "judge",
    "figure": "figure",
}
LEDGER = ("claims.nc", "claims.csv", "index.html")


@cache
def maker(file):
    """The identity of the job that makes a file."""
    study, *task, name = Path(file).relative_to(RESULTS).parts
    *component, kind = name.split(".")[:-1]
    script = "aggregate" if kind in ("scores", "traces") and not task else MAKERS[kind]
    parameters, code_hash = job(script, study, *task, *component)
    return provenance.identity(code_hash, parameters)


def planned(path):
    """The identity of the job that makes a file; None if no job of the studies as they are does."""
    if path.parent == Path(RESULTS):
        parameters = {"preset": SETTINGS["preset"], "studies": page_entries({})}
        return provenance.identity(jobs.code("ledger", []), parameters) if path.name in LEDGER else None
    try:
        return maker(str(path))
    except (LookupError, TypeError, ValueError):
        return None


def expected(wildcards, input):
    """The identities of the jobs that make the inputs of a job; figures are not read."""
    return {file: maker(file) for file in map(str, input) if not file.endswith(".svg")}


def named(wildcards):
    order = ("study", "task", "representation", "learner", "probe")
    return tuple(wildcards[name] for name in order if name in wildcards.keys())


def urgency(ahead):
    """Priority by the minutes of the longest training that waits: so no core waits for a long job at the end."""

    def asked(wildcards):
        study, task = task_of(wildcards)
        learners = [wildcards.learner] if "learner" in wildcards.keys() else study.learners_in(task)
        waits = (needed("train", wildcards.study, wildcards.task, learner).runtime for learner in learners)
        # A full preset may leave a task to nobody.
        return ahead + max(waits, default=0)

    return asked


def representation_of(wildcards, learner):
    """The representation file that a learner reads; none for raw inputs."""
    name = STUDIES[wildcards.study].content["learners"][learner]["representation"]
    if name == "raw":
        return None
    return f"{RESULTS}/{wildcards.study}/{wildcards.task}/{name}.representation.nc"


def model_of(wildcards, learner):
    return f"{RESULTS}/{wildcards.study}/{wildcards.task}/{learner}.model.nc"


def training_inputs(wildcards):
    representation = representation_of(wildcards, wildcards.learner)
    return {"representation": representation} if representation else {}


def evaluation_files(wildcards):
    """(representations, models) by learner."""
    study, task = task_of(wildcards)
    learners = study.learners_in(task)
    return (
        {name: representation_of(wildcards, name) for name in learners},
        {name: model_of(wildcards, name) for name in learners},
    )


def evaluation_inputs(wildcards):
    representations, models = evaluation_files(wildcards)
    return {
        "representations": sorted({file for file in representations.values() if file}),
        "models": list(models.values()),
    }


def of_tasks(kind):
    """The files of a kind (scores or traces) of all tasks of a study."""
    return lambda wildcards: [
        f"{RESULTS}/{wildcards.study}/{task}/{kind}.nc" for task in STUDIES[wildcards.study].tasks
    ]


def of_study(kind):
    """The cube of a kind (scores or traces) of a study; none where a study only probes."""
    return lambda wildcards: (
        [f"{RESULTS}/{wildcards.study}/{kind}.nc"] if STUDIES[wildcards.study].content["learners"] else []
    )


def probes_of(wildcards):
    return [f"{RESULTS}/{wildcards.study}/{name}.probe.nc" for name in STUDIES[wildcards.study].content["probes"]]


def claims_of_studies(wildcards):
    """The claims that the ledger is built from: all of them, or with `partial` those that a failed run left."""
    files = [f"{RESULTS}/{study}/claims.json" for study in STUDIES]
    return [file for file in files if not SETTINGS["partial"] or current(file)]


@cache
def current(file):
    """Whether a claims.json is there and rests on the studies and the code as they are."""
    return not checksums.fault(Path(file), maker(file))


def figures_of_studies(wildcards):
    files = [file.replace("claims.json", "figure.svg") for file in claims_of_studies(wildcards)]
    return [file for file in files if not SETTINGS["partial"] or Path(file).exists()]


def page_entries(wildcards):
    """What the page says of each study: its file's words, and whether its claims are there."""
    present = set(claims_of_studies(wildcards))
    return {
        name: {key: study.content.get(key, "") for key in ("title", "paper", "place", "summary")}
        | {"present": f"{RESULTS}/{name}/claims.json" in present}
        for name, study in STUDIES.items()
    }


def kept_model(file):
    return file if SETTINGS["keep_models"] else temp(file)


def kept_files(studies):
    """All files that a run leaves of some studies. They are asked for one by one: Snakemake does not make again what is
    missing in the middle of a finished study."""
    return [f"{RESULTS}/{name}/{file}" for name in studies for file in study_files(STUDIES[name])]


def study_files(study):
    yield from ("claims.json", "figure.svg", "figure.pdf", "figure.png")
    yield from (f"{probe}.probe.nc" for probe in study.content["probes"])
    if not study.content["learners"]:
        return
    yield from ("scores.nc", "traces.nc")
    for label, task in study.tasks.items():
        models = [f"{learner}.model" for learner in study.learners_in(task)] if SETTINGS["keep_models"] else []
        representations = [f"{name}.representation" for name in study.representations_in(task)]
        yield from (f"{label}/{name}.nc" for name in ("data", *representations, *models, "scores", "traces"))


def targets():
    """Studies by the name of a target: each study by itself, and all of a paper."""
    names = {study: [study] for study in STUDIES}
    for name, study in STUDIES.items():
        names.setdefault(study.content["paper"], []).append(name)
    return names


# One run per folder. Snakemake's own locks outlive a killed run; this one does not. Whether a run is a dry one is not
# known to Snakemake itself before all files are read; its flags may stand together.
DRY = any(re.fullmatch("--dry-?run|-[Ffkpqt]*n[Ffknpqt]*", word) for word in sys.argv[1:])
if workflow.is_main_process and not DRY:
    Path(".snakemake").mkdir(exist_ok=True)
    RUN_LOCK = open(".snakemake/run.lock", "w")
    try:
        fcntl.flock(RUN_LOCK, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        sys.exit("error: another run works in this folder; wait for it, or stop it and start again")
