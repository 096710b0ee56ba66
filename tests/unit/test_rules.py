"""What rules ask: files by their names, what jobs read and are, and what they need."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from small_study import STUDY, study_of

from hierlearn.core import provenance
from hierlearn.pipeline.command.refusals import unknown_targets
from hierlearn.pipeline.files import results
from hierlearn.pipeline.plan import jobs, resources
from hierlearn.pipeline.plan.configuration import Plan
from hierlearn.pipeline.run import recovery


class Wildcards(dict):
    """The wildcards of a job as Snakemake has them: by name."""

    __getattr__ = dict.__getitem__


def rules(content=None, **settings):
    study = study_of(content or yaml.safe_load(STUDY), "small", "small.yaml", "quick")
    probing = replace(study, name="probing", learners={}, representations={})
    usual = {"results": "results", "preset": "quick", "keep_models": True, "partial": False}
    return Plan(usual | settings, {"small": study, "probing": probing})


@pytest.fixture
def plan():
    return rules()


LEDGER = ("claims.nc", "claims.csv", "index.html")
TASK = Wildcards(study="small", task="dimension-3")


def test_every_file_that_a_run_leaves_has_a_job_and_its_identity(plan):
    files = [*plan.targets.files_of(["small", "probing"]), *plan.targets.ledger]
    made = {plan.targets.job(Path(file))[0] for file in files}
    assert made == {"generate", "represent", "train", "evaluate", "probe", "aggregate", "figure", "judge", "ledger"}
    identities = {file: plan.inputs.identity(file) for file in files}
    assert all(set(identity) == {"code_hash", "parameters_hash"} for identity in identities.values())
    # Outputs of one job share its identity, and no two jobs of a study do.
    small = {file: identity for file, identity in identities.items() if "/probing/" not in file}
    of_jobs = {plan.targets.job(Path(file)): tuple(identity.values()) for file, identity in small.items()}
    assert len(set(of_jobs.values())) == len(of_jobs)


@pytest.mark.parametrize(
    "name",
    [
        "notes.txt",
        "small/notes.nc",
        "small/figure.html",
        "small/claims.json.old",
        "other/claims.json",
        "small/dimension-99/data.nc",
        "small/dimension-3/nobody.model.nc",
        "small/nothing.probe.nc",
        "small/dimension-3/.kernel.model.nc.checkpoints/n8.nc",
        "logs/small/judge.log",
    ],
)
def test_what_no_job_of_the_studies_makes_has_no_identity(plan, name):
    assert plan.inputs.identity(plan.targets.file(name)) is None
    assert plan.inputs.identity(Path("elsewhere", name)) is None


def test_the_identity_of_a_file_is_that_of_its_job(plan):
    study = plan.targets.studies["small"]
    parameters = jobs.train(study, study.tasks["dimension-3"], "kernel")
    code = jobs.code("train", jobs.components_of(parameters))
    where = Wildcards(study="small", task="dimension-3", learner="kernel")
    assert plan.inputs.parameters("train")(where) == parameters
    assert plan.inputs.code("train")(where) == code
    file = plan.targets.file("small/dimension-3/kernel.model.nc")
    assert plan.inputs.expected(where, [file, "figure.svg"]) == {file: provenance.identity(code, parameters)}


def test_models_that_are_not_kept_are_not_asked_for(plan):
    assert any(file.endswith(".model.nc") for file in plan.targets.files_of(["small"]))
    assert not any(file.endswith(".model.nc") for file in rules(keep_models=False).targets.files_of(["small"]))


def test_a_study_that_only_probes_has_neither_scores_nor_traces(plan):
    wildcards = Wildcards(study="probing")
    assert plan.inputs.of_study("scores")(wildcards) == []
    assert plan.inputs.probes(wildcards) == ["results/quick/probing/theory.probe.nc"]
    assert not any("scores" in file for file in plan.targets.files_of(["probing"]))


def test_studies_are_targets_by_their_own_names_and_their_papers(plan):
    assert plan.targets.by_name() == {"small": ["small"], "probing": ["probing"], "chen2020": ["small", "probing"]}


def test_an_odd_spelling_of_the_folder_is_the_folder():
    assert rules(results="a//b/.").results == "a/b/quick"


def test_the_inputs_of_a_task_are_the_files_of_its_learners(plan):
    """The kernel sees raw points, and no dimension above 4."""
    folder = "results/quick/small/dimension-3"
    assert plan.inputs.models(TASK) == [f"{folder}/kernel.model.nc", f"{folder}/linear.model.nc"]
    assert plan.inputs.representations(TASK) == {"kernel": None, "linear": f"{folder}/neural.representation.nc"}
    assert plan.inputs.representation_files(TASK) == [f"{folder}/neural.representation.nc"]
    assert plan.inputs.representation(Wildcards(TASK, learner="kernel")) == []
    assert plan.inputs.representation(Wildcards(TASK, learner="linear")) == [f"{folder}/neural.representation.nc"]
    assert len(plan.inputs.models(Wildcards(study="small", task="dimension-5"))) == 1
    assert plan.inputs.of_tasks("traces")(TASK) == [f"results/quick/small/dimension-{d}/traces.nc" for d in (5, 4, 3)]


def test_the_ledger_of_a_second_draw_is_read_where_there_is_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert rules().inputs.second() == []
    file = Path("results/quick-replicate-1/small/claims.json")
    file.parent.mkdir(parents=True)
    file.write_text("{}")
    assert rules().inputs.second() == [file.as_posix()]
    assert rules().inputs.expected({}, [file.as_posix()]) == {file.as_posix(): None}
    # Its own page and that of a pilot stand alone.
    assert rules(replicate=1).inputs.second() == rules(pilot=True).inputs.second() == []


def test_a_run_of_some_studies_ends_with_a_page_of_each_and_has_no_files_of_all(plan):
    own = ["results/quick/small/index.html", "results/quick/probing/index.html"]
    assert plan.targets.pages == plan.targets.ledger == [f"results/quick/{one}" for one in LEDGER]
    some = rules(studies=["small", "probing"])
    assert some.targets.pages == own and some.targets.ledger == []
    assert set(own) <= some.targets.all_files and set(plan.targets.ledger).isdisjoint(some.targets.all_files)
    assert some.inputs.identity(plan.targets.ledger[0]) is None and plan.inputs.identity(plan.targets.ledger[0])
    assert some.inputs.identity(own[0]) and some.inputs.identity(own[0]) != some.inputs.identity(own[1])
    (line,) = unknown_targets(["ledger"], some, [])
    assert line.startswith("error: target 'ledger': found no study of this name")


def test_a_page_changes_with_what_it_says_of_its_study_alone():
    before, page = rules(), "results/quick/small/index.html"
    renamed = {**yaml.safe_load(STUDY), "summary": "In other words"}
    assert rules(renamed).inputs.identity(page) != before.inputs.identity(page)
    assert rules(renamed).inputs.identity("results/quick/small/claims.json") == before.inputs.identity(
        "results/quick/small/claims.json"
    )


def test_a_partial_ledger_takes_the_claims_that_are_there_and_of_this_plan(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan, partial = rules(), rules(partial=True)
    small, probing = (plan.targets.file(name, "claims.json") for name in ("small", "probing"))
    results.write_claims(small, [], plan.inputs.identity(small))
    results.write_claims(probing, [], provenance.identity("older", {}))
    assert plan.inputs.claims() == [small, probing]
    assert partial.inputs.claims() == [small]
    assert partial.inputs.figures() == []
    assert [entry["present"] for entry in partial.inputs.page().values()] == [True, False]
    # The page of a part is another one than that of the whole.
    page = plan.targets.ledger[-1]
    assert partial.inputs.identity(page) != plan.inputs.identity(page)


def test_a_job_asks_for_its_needs_and_twice_as_much_the_second_time(plan):
    study = plan.targets.studies["small"]
    needs = resources.train(study, study.tasks["dimension-3"], "kernel")
    where = Wildcards(TASK, learner="kernel")
    assert plan.requests.memory("train")(where, attempt=1) == needs.mem_mb
    assert plan.requests.memory("train")(where, attempt=2) == 2 * needs.mem_mb
    assert plan.requests.minutes("train")(where, attempt=2) == 2 * needs.runtime
    assert plan.requests.cores("train")(where) == needs.cores
    assert plan.requests.gpus("train")(where) == needs.gpus
    assert plan.requests.memory("ledger")(Wildcards(), attempt=1) == resources.ledger().mem_mb


def test_jobs_of_a_pack_ask_for_as_much_as_the_largest_of_their_kind(monkeypatch):
    assert rules().requests.pack(TASK) is None
    monkeypatch.setattr(resources, "JOBS", 1)
    plan = rules()
    assert plan.requests.pack(TASK) == "tasks1"
    study = plan.targets.studies["small"]
    largest = max(resources.generate(study, task).mem_mb for task in study.tasks.values())
    assert plan.requests.memory("generate")(TASK, attempt=1) == largest
    # Joining the tasks is no part of a pack.
    assert plan.requests.memory("judge")(Wildcards(study="small"), attempt=1) == resources.judge(study).mem_mb


def test_jobs_of_this_folder_alone_are_cancelled_on_a_cluster(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    here, lines, cancelled = str(tmp_path), [], []
    lines += [f"1|hierlearn_x|{here}", f"2|hierlearn_x|{here}/other", f"3|other|{here}", f"4|hierlearn_y|{here}"]

    def asked(words, **_):
        if words[0] == "scancel":
            cancelled.extend(words[1:])
            lines[:] = [line for line in lines if line.split("|")[0] not in words]
        return subprocess.CompletedProcess(words, 0, stdout="\n".join(lines).encode())

    monkeypatch.setattr(recovery.subprocess, "run", asked)
    monkeypatch.setattr(recovery.time, "sleep", lambda _: None)
    recovery.cancel_orphans()
    assert sorted(cancelled) == ["1", "4"]


def test_jobs_that_do_not_end_stop_the_run_and_a_machine_without_a_cluster_does_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    listed = subprocess.CompletedProcess([], 0, stdout=f"1|hierlearn_x|{tmp_path}".encode())
    monkeypatch.setattr(recovery.subprocess, "run", lambda *_, **__: listed)
    monkeypatch.setattr(recovery.time, "sleep", lambda _: None)
    with pytest.raises(SystemExit, match="scancel them and start again"):
        recovery.cancel_orphans()
    monkeypatch.setattr(recovery.subprocess, "run", lambda *_, **__: (_ for _ in ()).throw(FileNotFoundError("squeue")))
    recovery.cancel_orphans()


def test_parameters_are_ready_for_a_record(plan):
    for rule, names in (("judge", ("small",)), ("ledger", ()), ("evaluate", ("small", "dimension-3"))):
        json.dumps(plan.inputs.job(rule, *names)[0])


def test_targets_of_a_run_are_its_studies_their_papers_rules_and_files(plan):
    sound = ["small", "chen2020", "all", "results/quick/small/dimension-3/data.nc", "results/quick/logs/ledger.log"]
    assert unknown_targets(sound, plan, ["small"]) == []


@pytest.mark.parametrize(
    ("word", "line"),
    [
        ("smal", "found no study of this name; expected a study of this run, a paper, a rule or a file of results"),
        (
            "others",
            "found a study that this run leaves out; expected one of small, probing, chen2020, or other `studies`",
        ),
        ("bai2020", "found a paper that this run leaves out; expected one of small"),
        (
            "results/quick/smal/claims.json",
            "found no file of this run; expected a file that it makes below results/quick",
        ),
        ("results/quick/small/dimension-3/dta.nc", "found no file of this run"),
        ("results/quick/small/dimension-9/data.nc", "found no file of this run"),
        ("results/full/small/claims.json", "found no file of this run"),
        ("small/", "found no file of this run"),
    ],
)
def test_a_target_that_is_none_is_one_line(plan, word, line):
    (error,) = unknown_targets([word], plan, ["small", "probing", "others"])
    assert error.startswith(f"error: target {word!r}: {line}")


@pytest.mark.parametrize(
    ("word", "nearest"),
    [
        ("smal", "small"),
        ("results/quick/smal/claims.json", "results/quick/small/claims.json"),
        ("results/quick/small/dimension-3/dta.nc", "results/quick/small/dimension-3/data.nc"),
    ],
)
def test_a_target_that_is_none_is_named_with_the_nearest(plan, word, nearest):
    assert unknown_targets([word], plan, ["small"])[0].endswith(f"(nearest: {nearest})")
