"""What learners choose from a list whose end decides nothing: the best value may lie beyond it."""

from collections.abc import Mapping
from typing import Any

# What the page calls the list of each choice.
ENDS = {"learning_rate": "learning rates", "ridge": "ridges"}


def told(one: Mapping[str, Any]) -> str:
    """Return what `edges` found of a learner in words."""
    text = "{learner} chose {value:g}, the {end} of its {list}, in {count} of {of} trainings"
    # Stored rows from before ridges were looked at have the rate alone.
    earlier = {"choice": "learning_rate", "value": one.get("rate")}
    return text.format(**earlier | dict(one), list=ENDS[one.get("choice", "learning_rate")])
