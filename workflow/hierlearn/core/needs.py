"""What a component asks for, from the sizes that it meets: memory and operations by stage, threads, GPUs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """What a component works on; 0 where a stage has none.

    choices: combinations of all that is selected, tried: values of each; presented: points that all steps of a training
    see, each as often as it is seen; shape: (channels, height, width) of pictures, None for vectors. A learner and a
    representation speak of one seed, a probe of all.
    """

    seeds: int = 1
    dimension: int = 0
    features: int = 0
    outputs: int = 0
    unlabelled: int = 0
    validation: int = 0
    test: int = 0
    samples: int = 0
    presented: float = 0
    choices: int = 1
    tried: Mapping[str, int] = field(default_factory=dict)
    shape: tuple[int, int, int] | None = None


@dataclass(frozen=True, kw_only=True)
class Needs:
    """What a component holds at once, in float64 numbers, and what it computes, in floating-point operations, by stage.

    Stages of a learner are `fit`, `kept` (what a fit leaves to the next that differs in its choices alone), `model`
    (what is stored of one fit) and `predict`, that of a representation is `fit`, of a probe `measure`. parallel: the
    share of the operations that threads divide among themselves, as measured on two; gpus: how many it computes on.
    """

    memory: Mapping[str, float] = field(default_factory=dict)
    work: Mapping[str, float] = field(default_factory=dict)
    parallel: float = 0.0
    gpus: int = 0


def points_presented(learner: Mapping[str, Any], samples: int) -> float:
    """Return how many points the steps see: each fresh one once, a batch for each step, or all in every epoch."""
    if learner.get("online"):
        return samples
    if learner.get("steps"):
        return learner["steps"] * min(learner.get("batch", samples), samples)
    return learner.get("epochs", 1) * samples
