"""Closed forms of the papers: functions of numbers and arrays.

    from hierlearn.theory import counted_dimensions, predicted_risk, predicted_sample_complexity

Modules of this room hold the rest, such as `hierlearn.theory.gegenbauer`.
"""

from importlib import import_module
from typing import Any

# Public name -> the module that defines it. Loaded when it is asked for: a job imports what it needs and no more.
PUBLIC = {
    "Dimensions": "hierlearn.theory.predictions",
    "counted_dimensions": "hierlearn.theory.predictions",
    "predicted_risk": "hierlearn.theory.predictions",
    "predicted_sample_complexity": "hierlearn.theory.predictions",
}


def __getattr__(name: str) -> Any:
    if name not in PUBLIC:
        raise AttributeError(f"hierlearn.theory has no {name}; it has {', '.join(PUBLIC)}")
    return vars(import_module(PUBLIC[name]))[name]


def __dir__() -> list[str]:
    return sorted([*globals(), *PUBLIC])
