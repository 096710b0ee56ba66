"""The workflow: studies from files, jobs that measure them, and the pages that judge what was measured.

from hierlearn.pipeline import ask

scores = ask({"name": "ridge_polynomial", "degree": 2}, ["ntk", "taylor"], [4, 6, 8])
"""

from importlib import import_module


def __getattr__(name: str):
    if name != "ask":
        raise AttributeError(f"hierlearn.pipeline has no {name}; it has ask")
    # Loaded when it is asked for: a job imports what it needs and no more.
    return import_module("hierlearn.pipeline.run.ask").ask


def __dir__() -> list[str]:
    return sorted([*globals(), "ask"])
