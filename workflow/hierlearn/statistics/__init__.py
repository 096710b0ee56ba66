"""Estimates and intervals: functions of arrays.

    from hierlearn.statistics import fit_exponent, sample_complexity

Modules of this room hold the rest, such as `hierlearn.statistics.intervals`.
"""

from importlib import import_module
from typing import Any

# Public name -> the module that defines it. Loaded when it is asked for: a job imports what it needs and no more.
PUBLIC = {
    "SampleComplexity": "hierlearn.statistics.curves",
    "Slope": "hierlearn.statistics.exponents",
    "fit_exponent": "hierlearn.statistics.curves",
    "sample_complexity": "hierlearn.statistics.curves",
}


def __getattr__(name: str) -> Any:
    if name not in PUBLIC:
        raise AttributeError(f"hierlearn.statistics has no {name}; it has {', '.join(PUBLIC)}")
    return vars(import_module(PUBLIC[name]))[name]


def __dir__() -> list[str]:
    return sorted([*globals(), *PUBLIC])
