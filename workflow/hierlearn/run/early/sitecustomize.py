"""Hands a job over as Python starts, since what Snakemake puts before a script loads half of Snakemake.

Python imports a module of this name before it runs anything; the run puts this folder on the path of its jobs. A module
of the same name that it hides is loaded after it.
"""

import os
import sys
from importlib import import_module

# That of handover.py, said again: every Python that a job starts comes by here and should load nothing for it.
ADDRESS = "HIERLEARN_FORKSERVER"
SCRIPTS = f"{os.sep}.snakemake{os.sep}scripts{os.sep}"
# How a script of this workflow begins; those of other workflows run by themselves.
OURS = b"\nsnakemake = job.start(globals())\n"


def _is_job(file):
    if ADDRESS not in os.environ or SCRIPTS not in os.path.abspath(file):
        return False
    try:
        with open(file, "rb") as script:
            return OURS in script.read()
    except OSError:
        return False


def _load_hidden():
    this, here = sys.modules[__name__], os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != here]
    del sys.modules[__name__]
    try:
        import_module(__name__)
    except ImportError as error:
        if error.name != __name__:
            raise
    finally:
        sys.modules.setdefault(__name__, this)


if __name__ == "sitecustomize":
    if _is_job(sys.argv[0]):
        from hierlearn.run.handover import hand_over

        hand_over(sys.argv[0])
    _load_hidden()
