"""Loads the libraries in the fork server, which imports this module before its first fork."""

import gc
import json
import os
import runpy
import sys
from contextlib import suppress
from importlib import import_module

from hierlearn.pipeline.run.job import variables

# Tells the server the main file of the run and what to load; set by the executor.
VARIABLE = "HIERLEARN_SERVER"
# What scipy loads as it is first named, of what our modules name.
LATE = ("scipy.linalg", "scipy.special")


def load(main: str | None, names: list[str]) -> None:
    """Load modules, and what files import. What cannot be loaded is left to the job that needs it.

    main: the main file of the run.
    """
    # Read once, as numpy loads.
    os.environ.update(variables())
    # So that forks do not run it once more, which would load Snakemake's command line, numpy and pandas.
    sys.modules["__main__"].__file__ = main
    for name in ("snakemake.iocontainers", "hierlearn.pipeline.run.fork", *names):
        with suppress(Exception):
            runpy.run_path(name) if name.endswith(".py") else import_module(name)
    for name in LATE if "scipy" in sys.modules else ():
        import_module(name)
    for name, module in list(sys.modules.items()):
        if name.startswith("hierlearn.") and "warm_up" in vars(module):
            # If this fails, each fork does that work itself, later.
            with suppress(Exception):
                module.warm_up()
    # What is there stays: a fork that looked for garbage in it would copy its pages.
    gc.collect()
    gc.freeze()


if VARIABLE in os.environ:
    load(**json.loads(os.environ[VARIABLE]))
