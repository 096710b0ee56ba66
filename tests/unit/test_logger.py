"""The plugin takes events of Snakemake's logging interface, and holds, shows or hands over what they say."""

import io
import logging
import subprocess
import sys
from contextlib import suppress

import pytest
from snakemake.logging import DefaultFormatter
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.settings import LogHandlerSettingsBase
from snakemake_interface_logger_plugins.tests import MockOutputSettings, TestLogHandlerBase

from snakemake_logger_plugin_hierlearn import LogHandler
from snakemake_logger_plugin_hierlearn.screen import Screen


class TestInterface(TestLogHandlerBase):
    """What the interface asks of every handler."""

    __test__ = True

    def get_log_handler_cls(self):
        return LogHandler

    def get_log_handler_settings(self):
        return LogHandlerSettingsBase()


class Told:
    """A display that keeps what it is told."""

    def __init__(self, is_begun=True, news=True):
        self.is_begun, self.news, self.calls = is_begun, news, []

    def __getattr__(self, name):
        def told(*records):
            self.calls.append(name)
            return self.news

        return told


def handler(display=None, **settings):
    """A handler whose screen is a stream."""
    common = MockOutputSettings()
    vars(common).update({"printshellcmds": False, **settings})
    found = LogHandler(common, LogHandlerSettingsBase())
    found.setFormatter(DefaultFormatter(quiet=common.quiet))
    vars(found)["screen"] = Screen(io.StringIO())
    found.display = display
    return found


def say(to, event=None, text="", level=logging.INFO, **fields):
    """A record as it comes through Snakemake's queue, in which no message is the word None."""
    record = logging.LogRecord("snakemake", level, "a.py", 1, text or "None", (), None)
    vars(record).update(({"event": event} if event else {}) | fields)
    to.handle(record)


def shown(of):
    return of.screen.file.getvalue().splitlines()


JOB = {"jobid": 1, "rule_name": "train", "log": ["a.log"], "indent": False}


def test_what_comes_before_a_run_is_not_shown_beside_what_the_display_says():
    display = Told(is_begun=False)
    to = handler(display)
    say(to, text="Building DAG of jobs...")
    say(to, LogEvent.WORKFLOW_STARTED, "Workflow has started!")
    say(to, LogEvent.RUN_INFO, "Job stats", stats={"train": 1, "total": 1})
    display.is_begun = True
    say(to, LogEvent.JOB_STARTED, "Execute 1 jobs...", jobs=[1])
    say(to, LogEvent.JOB_INFO, "Rule: train", **JOB)
    say(to, LogEvent.JOB_FINISHED, "Finished jobid: 1", job_id=1)
    say(to, LogEvent.PROGRESS, done=1, total=1)
    say(to, text="Complete log(s): somewhere")
    to.close()
    to.close()
    assert display.calls == ["started", "finished", "end"] and shown(to) == []


def test_a_dry_run_is_told_its_jobs_and_their_number():
    display = Told(is_begun=False)
    to = handler(display, dryrun=True)
    say(to, LogEvent.WORKFLOW_STARTED)
    say(to, LogEvent.RUN_INFO, "Job stats", stats={"total": 1})
    say(to, LogEvent.JOB_INFO, "Rule: train", **JOB)
    to.close()
    assert display.calls == ["counted", "planned", "end"] and shown(to) == []


@pytest.mark.parametrize("dry", [False, True])
def test_a_run_without_jobs_has_nothing_to_do(dry):
    display = Told(is_begun=False)
    to = handler(display, dryrun=dry)
    say(to, LogEvent.WORKFLOW_STARTED)
    say(to, text="in words that may change")
    to.close()
    assert display.calls == ["idle"] and shown(to) == []


def test_nothing_is_said_to_be_done_where_an_error_or_an_interrupt_kept_a_run_from_its_jobs():
    wrong, stopped = Told(is_begun=False), Told(is_begun=False)
    to = handler(wrong)
    say(to, LogEvent.WORKFLOW_STARTED)
    say(to, LogEvent.ERROR, "MissingInputException: a file", logging.ERROR, exception="MissingInputException")
    to.close()
    assert wrong.calls == [] and shown(to) == ["MissingInputException: a file"]
    to = handler(stopped)
    say(to, LogEvent.WORKFLOW_STARTED)
    with suppress(KeyboardInterrupt):
        try:
            raise KeyboardInterrupt
        finally:
            to.close()
    assert stopped.calls == [] and shown(to) == []


def test_what_is_no_run_is_shown_at_its_end():
    to = handler(Told(is_begun=False))
    say(to, text="Unlocked working directory.")
    assert shown(to) == []
    to.close()
    assert shown(to) == ["Unlocked working directory."]


@pytest.mark.parametrize("display", [None, Told(is_begun=False)], ids=["of another Snakefile", "without hooks"])
def test_a_run_that_nobody_tells_is_shown_as_snakemake_words_it(display):
    to = handler(display)
    say(to, text="Building DAG of jobs...")
    say(to, LogEvent.JOB_STARTED, "Execute 1 jobs...", jobs=[1])
    say(to, LogEvent.PROGRESS, done=1, total=2)
    say(to, LogEvent.SHELLCMD)
    to.close()
    assert "Building DAG of jobs..." in shown(to) and shown(to)[-1] == "1 of 2 steps (50%) done"
    assert display is None or display.calls == []


@pytest.mark.parametrize("flag", ["verbose", "debug_dag", "printshellcmds"])
def test_a_flag_that_asks_for_the_log_gets_it_at_once(flag):
    display = Told()
    to = handler(display, **{flag: True})
    say(to, text="Building DAG of jobs...")
    assert shown(to) == ["Building DAG of jobs..."] and display.calls == []


def test_a_warning_is_shown_at_once_and_once():
    to = handler(Told())
    for _ in range(2):
        say(to, text="a warning", level=logging.WARNING)
    assert shown(to) == ["a warning"]


def fail(to):
    say(to, LogEvent.JOB_ERROR, "Error in rule train", logging.ERROR, rule_msg=None, **JOB)


def test_that_jobs_have_failed_is_left_to_the_display_whatever_the_words():
    display = Told()
    to = handler(display)
    fail(to)
    say(to, text="Exiting, in some words", level=logging.ERROR)
    display.news = False
    fail(to)
    say(to, LogEvent.ERROR, "WorkflowError: in some words", logging.ERROR, exception="WorkflowError")
    to.close()
    assert display.calls == ["failed", "failed", "end"] and shown(to) == []


@pytest.mark.parametrize("next_event", [LogEvent.JOB_INFO, LogEvent.JOB_FINISHED, LogEvent.JOB_ERROR])
def test_an_error_that_others_follow_than_the_end_is_shown(next_event):
    to = handler(Told())
    fail(to)
    say(to, text="sbatch: no such partition", level=logging.ERROR)
    assert shown(to) == []
    say(to, next_event, "next", logging.ERROR if next_event == LogEvent.JOB_ERROR else logging.INFO, job_id=2, **JOB)
    assert shown(to) == ["sbatch: no such partition"]


def test_an_error_of_a_run_whose_jobs_all_end_well_is_shown():
    to = handler(Told())
    say(to, LogEvent.ERROR, "WorkflowError: no storage", logging.ERROR, exception="WorkflowError")
    say(to, text="no more space", level=logging.ERROR)
    assert shown(to) == ["WorkflowError: no storage", "no more space"]


def test_a_record_that_cannot_be_shown_keeps_no_other_from_being_shown(monkeypatch):
    to = handler(verbose=True)
    monkeypatch.setattr(logging, "raiseExceptions", False)
    say(to, LogEvent.WORKFLOW_STARTED, "a record without the fields of its event")
    say(to, text="the next")
    assert shown(to) == ["the next"]


def test_jobs_that_were_submitted_together_are_told_together():
    display = Told()
    to = handler(display)
    say(to, LogEvent.GROUP_ERROR, "Error in group", logging.ERROR, groupid="a", aux_logs=[], job_error_info=[])
    assert display.calls == ["group_failed"] and shown(to) == []


def test_the_plugin_loads_nothing_of_the_package_nor_rich_before_a_workflow_is_read():
    code = (
        "import snakemake_logger_plugin_hierlearn, sys; print([n for n in sys.modules if n in ('hierlearn', 'rich')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
