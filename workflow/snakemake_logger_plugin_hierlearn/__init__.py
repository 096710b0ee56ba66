"""What the terminal shows of Snakemake's runs, from the events of its logging interface alone.

Snakemake finds this package by the beginning of its name and loads it before it reads any workflow. Nothing of
`hierlearn` is imported, so that a copy of the project runs its own code: a Snakefile hands over the display that tells
its runs in words of its own (`hierlearn.pipeline.command.display`). Without one every record is shown as Snakemake
words it.
"""

import logging
import sys
from contextlib import suppress
from functools import cached_property
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

# Events of jobs that run.
STARTING = (LogEvent.JOB_STARTED, LogEvent.JOB_INFO)
# The exception that says once more that a job has failed.
AGAIN = "WorkflowError"
STYLES = {logging.WARNING: "yellow", logging.ERROR: "red"}


class LogHandler(LogHandlerBase):
    """The handler of the terminal, of which a process has one.

    What is said before a run is held until it is clear that one begins, which it has nothing to add to.
    """

    # Of this process, once Snakemake has made it.
    current: "LogHandler | None" = None

    writes_to_stream, writes_to_file, has_filter, has_formatter, needs_rulegraph = True, False, False, False, False

    def __post_init__(self) -> None:
        settings = self.common_settings
        self.display: Any = None
        self.is_plain = settings.verbose or settings.debug_dag or settings.printshellcmds
        self.held: list[logging.LogRecord] = []
        # Errors that may say no more than that a job has failed.
        self.doubtful: list[logging.LogRecord] = []
        self.said: set[str] = set()
        self.has_started = self.has_counted = self.has_error = self.has_failed = self.is_closed = False
        LogHandler.current = self

    @cached_property
    def screen(self) -> Any:
        """The terminal."""
        # Here, as Snakemake loads this module in processes that show nothing.
        from snakemake_logger_plugin_hierlearn.screen import Screen

        stream = sys.stdout if self.common_settings.stdout else sys.stderr
        return Screen(stream, not self.common_settings.nocolor)

    def handle(self, record: logging.LogRecord) -> bool:
        """Show a record, hold it, or hand it to the display."""
        event = getattr(record, "event", None)
        with self.lock:
            try:
                self._take(event, record)
            except Exception:
                # The records that follow are shown in any case.
                self.handleError(record)
        return True

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record as Snakemake words it."""
        text = self.format(record)
        # An event without words comes as that of None.
        if text not in ("", "None"):
            from rich.text import Text

            lead = "\n" if getattr(record, "event", None) == LogEvent.JOB_INFO else ""
            self.screen.say(Text(lead + text, style=STYLES.get(record.levelno, "")))

    def close(self) -> None:
        """Tell the end of the run."""
        with self.lock:
            if not self.is_closed:
                self.is_closed = True
                with suppress(Exception):
                    self._end()
        super().close()

    def _take(self, event: str | None, record: logging.LogRecord) -> None:
        self.has_started |= event == LogEvent.WORKFLOW_STARTED
        self.has_counted |= event == LogEvent.RUN_INFO
        is_told = self.display is not None and (self.display.is_begun or self.common_settings.dryrun)
        if event in STARTING and not is_told:
            # The run is of another Snakefile, or without hooks.
            self._be_plain()
        if self.is_plain:
            super().handle(record)
        elif record.levelno >= logging.WARNING:
            self._trouble(event, record)
        elif not is_told:
            self.held.append(record)
        elif event == LogEvent.JOB_INFO:
            self._show_doubtful()
            (self.display.started if self.display.is_begun else self.display.planned)(record)
        elif event == LogEvent.JOB_FINISHED:
            self._show_doubtful()
            self.display.finished(record)
        elif event == LogEvent.RUN_INFO and not self.display.is_begun:
            self.display.counted(record)

    def _trouble(self, event: str | None, record: logging.LogRecord) -> None:
        """Tell an error or a warning, each once; of a failed job the display knows what its own log says."""
        is_error, is_run = record.levelno >= logging.ERROR, self.display is not None and self.display.is_begun
        self.has_error |= is_error
        if is_run and event == LogEvent.JOB_ERROR:
            if self.display.failed(record):
                self._show_doubtful()
            self.has_failed = True
        elif is_run and event == LogEvent.GROUP_ERROR:
            self.display.group_failed(record)
            self.has_failed = True
        elif self.has_failed and event is None and is_error:
            self.doubtful.append(record)
        elif not (self.has_failed and event == LogEvent.ERROR and record.exception == AGAIN):
            self._show_once(record)

    def _show_once(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if text not in self.said:
            self.said.add(text)
            super().handle(record)

    def _show_doubtful(self) -> None:
        """Show errors that others follow than failures that are known: they said something new."""
        doubtful, self.doubtful = self.doubtful, []
        for record in doubtful:
            self._show_once(record)

    def _be_plain(self) -> None:
        """Show what was held, and all that follows, as Snakemake's own handler does."""
        self.is_plain = True
        held, self.held = self.held, []
        for record in held:
            super().handle(record)

    def _end(self) -> None:
        display = self.display
        if self.is_plain:
            return
        if display is not None and display.is_begun:
            display.end()
        elif display is None or not self.has_started:
            # Something else than a run was asked for.
            self._be_plain()
        elif not self.has_error and sys.exc_info()[0] is None:
            (display.end if self.has_counted else display.idle)()
