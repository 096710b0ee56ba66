"""Snakemake's local executor, with jobs as forks of one process that has loaded the libraries.

A third of a small run would go into imports. A job that is a Python script with one compute thread runs as a fork of
the standard library's fork server, which has loaded what the jobs of this run load. All other jobs run as Snakemake's
own executor runs them: those with an environment, a container, a shadow folder, a benchmark or several threads. Both
ways give the same bytes.

Snakemake finds this package by the beginning of its name and loads it before it reads any workflow. Nothing of
`hierlearn` is imported before the first job, so that a copy of the project runs its own code.
"""

import json
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import threading
import weakref
from collections.abc import Iterable
from contextlib import suppress
from multiprocessing import forkserver, resource_tracker, util
from multiprocessing.connection import wait

import psutil
from snakemake.exceptions import SpawnedJobError
from snakemake.executors.local import Executor as LocalExecutor
from snakemake.executors.local import common_settings
from snakemake.iocontainers import Snakemake
from snakemake.settings.types import DeploymentMethod
from snakemake.sourcecache import LocalSourceFile, infer_source_file

__all__ = ["Executor", "common_settings"]

# What the server loads first, and how it is told what comes next.
SERVER, VARIABLE = "hierlearn.pipeline.run.server", "HIERLEARN_SERVER"
# The number of this process, and the place of a pipe that is open as long as it lives.
ALIVE = "HIERLEARN_ALIVE"
# Bytes of a folder's name in which a socket can lie.
LONGEST = 60
# What multiprocessing says of a process whose server is gone.
LOST = 255


def preload(rules: Iterable[str]) -> list[str]:
    """Name what the jobs of some rules load: modules, and files whose imports count. A Snakefile may replace this."""
    return []


class Executor(LocalExecutor):
    """The executor."""

    def __post_init__(self):
        super().__post_init__()
        self.processes = multiprocessing.get_context("forkserver")
        # The standard library reads the status of every process whenever one starts: two threads must not read at once.
        self.lock = threading.Lock()
        self.has_server: bool | None = None
        self.pipe: int | None = None
        self.is_interrupted = False
        # Where there can be no pipe the next run ends such jobs.
        with suppress(OSError):
            self._open_pipe()

    def run_single_job(self, job):
        """Run a job as a fork if it can be one, else as Snakemake does; returns its future."""
        script = self._script(job)
        if script is None or not self._is_ready():
            return super().run_single_job(job)
        self.workflow.async_run(job.prepare())
        path = script.get_path_or_uri(secret_free=True)
        given = Snakemake(
            *(job.input, job.output, job.params, job.wildcards, job.threads, job.resources, job.log),
            *(self.workflow.config, job.rule.name, None, script.get_basedir().get_path_or_uri(secret_free=True)),
        )
        return self.pool.submit(self.cached_or_run, job, self._fork, path, given)

    def shutdown(self):
        """Wait for the jobs, and leave no process behind."""
        super().shutdown()
        self._stop()

    def cancel(self):
        """Wait for the jobs, which a keyboard's interrupt reaches by itself, and leave no process behind.

        One that the server starts later, as it was still loading, is interrupted then.
        """
        self.is_interrupted = True
        super().cancel()
        self._stop()

    def _script(self, job) -> LocalSourceFile | None:
        """The script of a job that can be a fork."""
        # On the node of a cluster there is one job to run.
        if not (job.is_script and self.workflow.is_main_process) or self.workflow.execution_settings.debug:
            return None
        methods = self.workflow.deployment_settings.deployment_method
        is_elsewhere = (
            (DeploymentMethod.CONDA in methods and job.conda_env)
            or (DeploymentMethod.APPTAINER in methods and job.container_img_url)
            or (DeploymentMethod.ENV_MODULES in methods and job.env_modules)
        )
        threads = job.params.get("compute_threads", job.threads)
        if is_elsewhere or job.is_shadow or job.benchmark or threads != 1 or "{" in str(job.rule.script):
            return None
        file = infer_source_file(str(job.rule.script), job.rule.basedir)
        return file if isinstance(file, LocalSourceFile) and file.get_filename().endswith(".py") else None

    def _fork(self, script: str, given: Snakemake) -> None:
        # Here, as nothing of hierlearn is to be loaded before the workflow is read.
        from hierlearn.pipeline.run import fork

        process = self.processes.Process(target=fork.run, args=(script, given))
        handle = None
        with self.lock:
            # As above: this starts another server where the first was killed.
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                process.start()
                with suppress(psutil.NoSuchProcess):
                    handle = psutil.Process(process.pid)
            except (EOFError, OSError) as error:
                # The server was killed in this moment, or as it loaded what a job needs: jobs run by themselves now.
                self.has_server = False
                raise SpawnedJobError from error
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if self.is_interrupted and handle:
            with suppress(psutil.Error):
                handle.send_signal(signal.SIGINT)
        wait([process.sentinel])
        with self.lock:
            process.join()
            status = process.exitcode
            process.close()
        if status == LOST and handle:
            # A job outlives its server, and would write beside the one that follows it.
            with suppress(psutil.Error):
                handle.kill()
        if status:
            raise SpawnedJobError

    def _is_ready(self) -> bool:
        """Whether there is a server, which starts with the first job; without one jobs run by themselves."""
        if self.has_server is None:
            self.has_server = False
            with suppress(OSError):
                self._start()
                self.has_server = True
        return self.has_server

    def _start(self) -> None:
        rules = {job.rule.name for job in self.dag.needrun_jobs()}
        main = getattr(sys.modules["__main__"], "__file__", None)
        os.environ[VARIABLE] = json.dumps({"main": main and os.path.normpath(main), "names": preload(rules)})
        self.processes.set_forkserver_preload([SERVER])
        chosen = tempfile.tempdir
        if len(os.fsencode(tempfile.gettempdir())) > LONGEST:
            tempfile.tempdir = "/tmp"
        # It lets interrupts through again as it starts, so that the server must find it there.
        resource_tracker.ensure_running()
        # An interrupt is for the jobs, and one that comes as a job begins waits for it.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            # Where sockets lie is chosen once.
            util.get_temp_dir()
            forkserver.ensure_running()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            tempfile.tempdir = chosen

    def _open_pipe(self) -> None:
        """Open the pipe by which a job that is a process of its own sees that the run was killed."""
        folder = tempfile.mkdtemp(prefix="hierlearn-")
        # At the latest as this process ends.
        self.remove_pipe = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        path = os.path.join(folder, "alive")
        os.mkfifo(path, 0o600)
        self.pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        os.write(self.pipe, b"1")
        os.environ[ALIVE] = f"{os.getpid()} {path}"

    def _stop(self) -> None:
        if self.pipe is not None:
            # No job is left that would end with it.
            os.environ.pop(ALIVE, None)
            os.close(self.pipe)
            self.remove_pipe()
            self.pipe = None
        if self.has_server:
            from hierlearn.pipeline.run.insides import stop_fork_server

            stop_fork_server()
