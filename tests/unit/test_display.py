"""What a run says on the terminal: how far it is, what failed and why, the answer of one study, and where to look."""

import io
import json
import os
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from hierlearn.pipeline.command.display import Display
from hierlearn.pipeline.command.progress import Progress, Work
from hierlearn.pipeline.run.job import SHOWN
from snakemake_logger_plugin_hierlearn.screen import Screen


class Moments(threading.Event):
    """An event that nobody waits for. before: what happens between two looks at it."""

    def __init__(self, *before):
        super().__init__()
        self.before = list(before)

    def wait(self, timeout=None):
        """Whether it has come; what happens next comes just after."""
        has_come = self.is_set()
        if self.before:
            self.before.pop(0)()
        return has_come


class Targets:
    """The files of a run."""

    def file(self, *parts):
        return "/".join(["results", *parts])


def job(number, rule, study="small"):
    """A job of a run, as Snakemake's graph and its events have it."""
    log = f"results/logs/{study}/{rule}.log"
    wildcards = {"study": study} if study else {}
    made = {"ledger": ["results/index.html"], "page": [f"results/{study}/index.html"]}.get(rule, [])
    return SimpleNamespace(number=number, rule=SimpleNamespace(name=rule), wildcards=wildcards, log=[log], output=made)


def display(*jobs, studies=("small",), is_live=True, **settings):
    """A display, as yet without a run."""
    common = SimpleNamespace(**{"quiet": None, "nocolor": True, "dryrun": False} | settings)
    handler = SimpleNamespace(common_settings=common, lock=threading.RLock(), screen=Screen(io.StringIO()))
    handler.screen.is_live = is_live
    plan = SimpleNamespace(results="results", studies={}, targets=Targets(), requests=None)
    dag = SimpleNamespace(jobs=jobs, needrun_jobs=lambda: jobs, jobid=lambda one: one.number)
    workflow = SimpleNamespace(
        dag=dag, local_exec=True, resource_settings=SimpleNamespace(cores=2), nodes=None, touch=False
    )
    found = Display(plan, workflow, handler)
    # Of studies whose estimates are not known.
    plan.studies = dict.fromkeys(studies)
    found.known = {study: {} for study in studies}
    return found


def said(of):
    return of.screen.file.getvalue()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "90")
    # Set first, so that what a run sets is taken back where nothing had been.
    monkeypatch.setenv(SHOWN, "")
    monkeypatch.delenv(SHOWN)
    return tmp_path


def ended(of, *numbers):
    for number in numbers:
        of.started(SimpleNamespace(jobid=number))
        of.finished(SimpleNamespace(job_id=number))


def test_a_run_says_how_many_jobs_it_has_and_what_was_found_of_each_study(monkeypatch):
    of = display(job(1, "judge"), job(2, "figure"), job(3, "judge", "other"), studies=("small", "other"), is_live=False)
    of.begin()
    assert said(of).startswith("3 jobs of 2 studies, about ") and os.environ[SHOWN] == "1"
    Path("results/small").mkdir(parents=True)
    Path("results/small/claims.json").write_text(json.dumps({"rows": []}))
    ended(of, 1)
    assert "small:" not in said(of)
    ended(of, 2)
    assert "small: finished  [1 of 2, " in said(of)
    ended(of, 3)
    assert "other: finished  [2 of 2]" in said(of)
    of.end()
    assert said(of).splitlines()[-1] == "3 jobs in 0 s"


def test_jobs_of_other_workflows_and_the_sheet_of_figures_are_no_part_of_a_run():
    other = job(3, "train")
    other.log = ["elsewhere/train.log"]
    of = display(job(1, "judge"), job(2, "contact_sheet", ""), other, is_live=False)
    of.begin()
    assert list(of.progress.jobs) == [1]
    alone = display(other)
    alone.begin()
    alone.end()
    assert said(alone) == ""


def test_a_run_that_touches_files_alone_is_left_to_snakemake():
    of = display(job(1, "judge"))
    of.workflow.touch = True
    of.begin()
    assert not of.is_begun and said(of) == "" and SHOWN not in os.environ


def test_nothing_is_drawn_once_a_run_has_said_its_last_words(monkeypatch):
    of = display()
    monkeypatch.setattr(of, "_live", lambda: ["50 %"])
    of.is_begun = True
    of.ended = Moments(lambda: None, of.end)
    of._redraw()
    # One draw, and the line is cleared.
    assert said(of).count("50 %") == 1 and of.screen.drawn == []


def test_what_cannot_be_shown_once_is_shown_the_next_time(monkeypatch):
    of, answers = display(), [OSError("a log that is gone"), ["60 %"]]

    def live():
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(of, "_live", live)
    of.is_begun = True
    of.ended = Moments(lambda: None, lambda: None, of.end)
    of._redraw()
    assert "60 %" in said(of) and answers == []


def test_the_bar_the_time_left_and_the_steps_of_running_jobs_are_shown():
    of = display(*(job(number, f"rule{number}") for number in range(12)))
    of.progress = Progress({n: Work("small", "train", f"job{n}", f"{n}.log", 10.0) for n in range(12)}, 0.0, 1)
    Path("1.log").write_text("2026-01-01 00:00:00,000 2/3 n = 64: validation risk [0.5]\n")
    for number in range(1, 11):
        of.started(SimpleNamespace(jobid=number))
    of.progress.end(0, time.monotonic())
    of.progress.end(2, time.monotonic(), failed=True)
    of.screen.draw(list(of._live()))
    lines = said(of).splitlines()
    assert "━" in lines[0] and "left, 1 of 12 jobs, 1 failed" in lines[0]
    assert lines[1] == "  small job1  0 s  2/3 n = 64: validation risk [0.5]" and lines[2] == "  small job3  0 s"
    assert lines[9] == "  and 1 more"


def test_a_line_moves_every_second_even_where_the_time_left_stands(monkeypatch):
    of = display(job(1, "train"))
    of.progress = Progress({1: Work("small", "train", "job1", "1.log", 10_000.0)}, 0.0, 1)
    of.progress.start(1, 0.0)
    told = []
    for second in (3000.0, 3001.0):
        monkeypatch.setattr(time, "monotonic", lambda second=second: second)
        told.append(str(next(next(of._live()).columns[1].cells)))
    assert " 0:50:00, " in told[0] and " 0:50:01, " in told[1]
    assert told[0].partition(", ")[2].partition(", ")[2] == told[1].partition(", ")[2].partition(", ")[2]


@pytest.mark.parametrize(("last", "failed"), [("error: no more memory", {0}), ("interrupted", set())])
def test_a_job_that_is_stopped_with_the_run_has_not_failed(folder, last, failed):
    log = folder / "train.log"
    log.write_text(f"2026-01-01 00:00:00,000 step 1\n2026-01-01 00:00:01,000 {last}\n")
    of = display()
    of.progress = Progress({0: Work("small", "train", "all/kernel", str(log), 1.0)}, time.monotonic(), 1)
    of.started(SimpleNamespace(jobid=0))
    record = SimpleNamespace(jobid=0, log=[str(log)], indent=False, rule_name="train")
    assert of.failed(record) == bool(failed)
    assert of.progress.failed == failed and of.progress.running == {}
    told = f"error: no more memory\n  small all/kernel; log: {log}\n" if failed else ""
    assert said(of) == told
    # Snakemake may say it again.
    assert not of.failed(record) and said(of) == told


def test_a_job_without_a_log_ended_without_a_word():
    of = display(job(1, "judge"), is_live=False)
    of.begin()
    ended(of)
    of.failed(SimpleNamespace(jobid=1, log=["results/logs/small/judge.log"], indent=False, rule_name="judge"))
    of.end()
    lines = said(of).splitlines()
    assert lines[1] == "error: small judge ended without a word, as if it was killed or ran out of memory"
    assert lines[-1] == "0 of 1 jobs done in 0 s, 1 failed, 0 not done; the same command goes on from here"


def test_jobs_that_were_submitted_together_are_named_by_their_logs():
    of = display()
    jobs = [{"log": ["a.log"]}, {"log": ["b.log"]}]
    of.group_failed(SimpleNamespace(aux_logs=[], job_error_info=jobs))
    of.group_failed(SimpleNamespace(aux_logs=["slurm.log"], job_error_info=jobs))
    first = "error: jobs submitted together ended with one that failed; logs: "
    assert said(of).splitlines() == [f"{first}a.log, b.log", f"{first}slurm.log"]


def plan_of(of):
    for number, rule in enumerate(("train", "judge", "ledger")):
        study = "" if rule == "ledger" else "small"
        one = job(number, rule, study)
        of.planned(SimpleNamespace(rule_name=rule, wildcards=one.wildcards, log=one.log))
    of.counted(SimpleNamespace(stats={"train": 1, "judge": 1, "ledger": 1, "total": 3}))
    of.end()
    return [line.split() for line in said(of).splitlines()]


def test_a_dry_run_is_a_table_by_study_and_rule_and_without_the_rules_where_they_have_no_room(monkeypatch):
    lines = plan_of(display(dryrun=True))
    assert lines[0] == ["study", "jobs", "train", "judge", "ledger", "core-hours"] and lines[2][:2] == ["small", "2"]
    narrow = display(dryrun=True)
    narrow.screen.width = 30
    assert plan_of(narrow)[0] == ["study", "jobs", "core-hours"]


def test_a_quiet_dry_run_counts_its_jobs():
    quiet = [SimpleNamespace(name="PROGRESS"), SimpleNamespace(name="RULES")]
    lines = plan_of(display(dryrun=True, quiet=quiet))
    assert lines[0] == ["3", "jobs:", "1", "train,", "1", "judge,", "1", "ledger"] and len(lines) == 2


@pytest.mark.parametrize("rules", [["ledger"], ["page"], ["page", "ledger"]])
def test_where_there_is_nothing_to_be_done_the_pages_that_are_there_are_named(monkeypatch, rules):
    jobs = [job(number, rule) for number, rule in enumerate([*rules, "judge"])]
    of, pages = display(*jobs, job(9, "page", "absent")), [job.output[0] for job in jobs if job.output]
    monkeypatch.setattr(of, "_show_answer", lambda: None)
    for page in pages:
        Path(page).parent.mkdir(parents=True, exist_ok=True)
        Path(page).touch()
    of.idle()
    first, *named = said(of).splitlines()
    several = ["The pages are", *(f"  {page}" for page in sorted(pages))]
    assert first.startswith("Nothing to be done")
    assert named == (several if len(pages) > 1 else [f"The page is {pages[0]}"])


@pytest.mark.parametrize(("quiet", "lines"), [("PROGRESS", 1), ("ALL", 0)])
def test_a_quiet_run_says_little_or_nothing(quiet, lines):
    named = [SimpleNamespace(name=quiet)]
    idle, run = display(quiet=named), display(job(1, "judge"), quiet=named)
    idle.idle()
    run.begin()
    # No event of a job comes.
    run.succeed()
    run.end()
    assert len(said(idle).splitlines()) == len(said(run).splitlines()) == lines
