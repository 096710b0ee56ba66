"""What the experiments share of their trainings: those that failed, what networks see of a problem, and sizes."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from hierlearn.core.problem import Problem, ProblemFeatures
from hierlearn.core.protocols import OUTCOMES, REMEDIES, Fit, Representation
from hierlearn.core.streams import Streams

log = logging.getLogger("hierlearn")
MESSAGES = REMEDIES | {
    "not_certified": "no second-order stationary point within the limit; allow more iterations",
    "nearly_collapsed": "hardly better than the zero predictor on training points; use a smaller ridge",
}


def report_failure(probe: str, learner: str, cell: Mapping[str, Any], status: str) -> bool:
    """Whether a training's status is one of MESSAGES; says so in one line of the log, with the remedy.

    The place of such a training in its cube is left empty.
    """
    if status not in MESSAGES:
        return False
    place = ", ".join(f"{name} {value}" for name, value in cell.items())
    log.warning("%s: %s at %s: %s: %s", probe, learner, place, status, MESSAGES[status])
    return True


def outcomes(fit: Fit) -> np.ndarray:
    """What became of every seed's training, (S,) words of OUTCOMES."""
    return np.array(OUTCOMES)[fit.status]


def failures(probe: str, learner: str, cell: Mapping[str, Any], seeds: Iterable[int], status: np.ndarray) -> np.ndarray:
    """Which seeds' trainings failed, (S,), each reported; status (S,)."""
    pairs = zip(seeds, status, strict=True)
    return np.array([report_failure(probe, learner, {**cell, "seed": seed}, word) for seed, word in pairs])


def shown(
    problem: Problem, representation: Representation, streams: Streams, counts: Mapping[str, int]
) -> tuple[Problem, ProblemFeatures]:
    """The problem with so many points of every role drawn, and these as a representation shows them."""
    problem = replace(problem, pools={role: problem.draw(role, count) for role, count in counts.items()})
    unlabelled = problem.unlabelled(max(representation.unlabelled, 1))
    state = representation.fit(unlabelled, streams.at("representation"))
    return problem, ProblemFeatures(problem, representation, state)


def mean_square(values: np.ndarray) -> np.ndarray:
    """(S, n, k) -> (S,)."""
    return np.mean(np.sum(values**2, axis=-1), axis=-1)


def movement(fit: Fit) -> np.ndarray:
    """|W|_{2,4} = (sum_r |w_r|^4)^{1/4} over the neurons of all outputs, (S,)."""
    return np.sum(np.sum(fit.state["weights"].astype(np.float64) ** 2, axis=-1) ** 2, axis=(1, 2)) ** 0.25
