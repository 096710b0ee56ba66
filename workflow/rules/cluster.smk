# What a cluster is asked for, from the sizes of each job (hierlearn.plan.resources); on one machine nothing of this
# limits anything unless --resources does.
import subprocess
import time

from hierlearn.plan import resources as needs


@cache
def needed(script, study, *names):
    """What a job needs."""
    study = STUDIES[study]
    if script in ("generate", "represent", "train", "evaluate"):
        names = (study.tasks[names[0]], *names[1:])
    return getattr(needs, script)(study, *names)


@cache
def largest(script, name):
    """The memory of a study's largest job of a kind."""
    study = STUDIES[name]
    parts = {"represent": study.representations_in, "train": study.learners_in}
    places = [
        (label, *part)
        for label, task in study.tasks.items()
        for part in ([(one,) for one in parts[script](task)] if script in parts else [()])
    ]
    return max(needed(script, name, *place).mem_mb for place in places)


@cache
def tasks_in_a_pack(name):
    """How many tasks of a study are submitted together; 0: every job on its own."""
    return needs.pack(STUDIES[name])


def memory(script):
    """Memory of a job in MB; twice as much when it is tried a second time.

    The jobs of a pack run in any order, several at a time: each asks for as much as the largest of its kind.
    """

    def asked(wildcards, attempt):
        pack = "task" in wildcards.keys() and tasks_in_a_pack(wildcards.study)
        return attempt * (largest(script, wildcards.study) if pack else needed(script, *named(wildcards)).mem_mb)

    return asked


def minutes(script):
    """Wall time of a job in minutes; twice as much when it is tried a second time."""
    return lambda wildcards, attempt: attempt * needed(script, *named(wildcards)).runtime


def cores(script):
    """The threads that a job computes with: as many wherever it runs, for its bytes hang on them."""
    return lambda wildcards: needed(script, *named(wildcards)).cores


def gpus(script):
    """The GPUs of a job."""
    return lambda wildcards: needed(script, *named(wildcards)).gpus


def packed(wildcards):
    """The group of a task's jobs where a study is submitted in packs: profiles/slurm joins so many tasks in each."""
    tasks = tasks_in_a_pack(wildcards.study)
    return f"tasks{tasks}" if tasks else None


def cancel_orphans():
    """Cancels the cluster's jobs of an earlier run in this folder that was killed: they would write beside this one."""
    asked = ["squeue", "--me", "--noheader", "--format=%F|%j|%Z"]
    for _ in range(60):
        try:
            listed = subprocess.run(asked, capture_output=True, text=True, timeout=60, check=True).stdout
        except (OSError, subprocess.SubprocessError):
            return
        fields = [line.split("|", 2) for line in listed.splitlines()]
        orphans = {job for job, name, folder in fields if name.startswith("hierlearn_") and folder == os.getcwd()}
        if not orphans:
            return
        subprocess.run(["scancel", *orphans], check=False)
        time.sleep(1)
    sys.exit("error: jobs of an earlier run in this folder do not end; scancel them and start again")


if workflow.is_main_process and not DRY:
    cancel_orphans()
