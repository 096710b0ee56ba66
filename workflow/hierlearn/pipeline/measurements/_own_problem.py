"""Networks and kernels that are trained on the points of a problem of their own, and scored."""

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge

from hierlearn.core import contracts, registry
from hierlearn.core.needs import Needs, Sizes, points_presented
from hierlearn.core.parameters import Count, Nested, NotNegative, Positive
from hierlearn.core.problem import Problem, ProblemFeatures, pose
from hierlearn.core.protocols import Fit, Learner, NullMonitor, Objection, Teacher, TrainingData
from hierlearn.core.protocols import Input as Law
from hierlearn.core.streams import Streams
from hierlearn.pipeline.measurements._parameters import Several, TestPoints, TrainingPoints
from hierlearn.pipeline.measurements._trainings import failures, outcomes, shown
from hierlearn.pipeline.measurements._variables import name_of

log = logging.getLogger("hierlearn")
# More of anything of a law or a teacher than any memory has room for.
LARGEST = 10**6
NETWORK = {"name": "convolutional", "depth": 2, "width": 16, "batch": 16, "steps": 8, "head": "flat"}
RIDGES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
LearningRates = Annotated[
    Positive | Several[Positive],
    "Learning rate of all networks, a number above 0; or a list of such, of which every network has the best of each "
    "seed on validation points.",
]


@dataclass(frozen=True, kw_only=True)
class OwnProblem:
    """A problem beside that of the study, and what networks take on it."""

    input: Annotated[Law, Nested("inputs", {"name": "random_hierarchy"}), "Law of x."]
    teacher: Annotated[Teacher, Nested("teachers", {"name": "hierarchy_class"}), "Teacher."]
    dimension: Annotated[Count, "Dimension of x."] = 16
    learning_rate: Annotated[Positive, "Learning rate of all networks."] = 0.2
    weight_decay: Annotated[NotNegative, "Weight decay of all networks."] = 0.0
    samples: TrainingPoints = 64
    validation: Annotated[int, Ge(2), "Number of validation points."] = 50
    test: TestPoints = 500

    def posed(self, problem: Problem) -> tuple[Problem, ProblemFeatures]:
        """The problem of the experiment, with all its points, for the seeds of the study."""
        law = replace(self.input, dimension=self.dimension)
        own = problem.streams.at("side_by_side", self.input.stream_key)
        posed = pose(law, self.teacher, "paper", 0.0, Streams(own.key, own.seeds, len(own.key)), self.validation)
        counts = {"training": self.samples, "validation": self.validation, "test": self.test}
        return shown(posed, registry.build("representations", {"name": "raw"}), posed.streams, counts)

    def train(self, learner: Learner, posed: Problem, features: ProblemFeatures) -> Fit:
        """The fit of one network or kernel."""
        # Networks of one kind begin alike as far as their layers go.
        streams = posed.streams.at("learner", learner.stream_key)
        choices = {"learning_rate": _rates(self), "weight_decay": [self.weight_decay]}
        if _is_kernel(name_of(learner)):
            choices = {"ridge": list(RIDGES)}
        sample = TrainingData(posed, features, self.samples, choices, streams)
        return contracts.fit(learner, sample, NullMonitor(), {})

    def score(self, name: str, learner: Learner, fit: Fit, posed: Problem, features: ProblemFeatures) -> np.ndarray:
        """Scores (S,) of a fit on test points, NaN where the training failed. name: of the learner, for the log."""
        target = posed.pools["test"].target
        risk = posed.risk(contracts.predictions(learner, fit.state, features, "test", target.shape, {}), target)
        scale = 1.0 if posed.teacher.kind == "classes" else np.square(posed.norm)
        failed = failures(name_of(self), name, {}, posed.seeds, outcomes(fit))
        if len(_rates(self)) > 1 and "learning_rate" in fit.choices:
            log.info("%s: learning rates %s", name, " ".join(f"{rate:g}" for rate in fit.choices["learning_rate"]))
        return np.where(failed, np.nan, 1 - risk / scale)


def validate(own: Any, key: str, learners: Mapping[str, Mapping[str, Any]]) -> Iterator[Objection]:
    """What law, teacher and learners by name object to, until something does, the latter under the parameter `key`.

    own: an OwnProblem that is not built.
    """
    for kind, part in (("inputs", "input"), ("teachers", "teacher")):
        described = full(kind, vars(own)[part])
        if kind == "inputs":
            law = registry.build(kind, described, dimension=own.dimension)
        refused = [*_too_large(described), *registry.validate(kind, described, law)]
        for parameter, found, allowed in refused:
            yield part, f"{parameter} {found}", allowed
        if refused:
            return
        laws = registry.implementation(kind, described["name"]).LAWS
        if laws and law.law not in laws:
            yield part, f"{described['name']} for the law {law.law}", f"a teacher for it, not for {', '.join(laws)}"
            return
    target, shown = registry.build("teachers", own.teacher), registry.build("representations", {"name": "raw"})
    for name, described in learners.items():
        whole = full("learners", described)
        refused = registry.validate("learners", whole, law), registry.validate_data(whole, target, shown)
        for parameter, found, allowed in chain(*refused):
            yield key, f"{name}: {parameter} {found}", allowed


def needs(own: Any, learners: Iterable[Mapping[str, Any]], sizes: Sizes) -> Needs:
    """The points of all seeds, and what the learners ask for, which are trained one after the other."""
    points, asked = own.samples + own.validation + own.test, []
    outputs = registry.build("teachers", own.teacher).outputs
    shape = registry.build("inputs", own.input, dimension=own.dimension).shape
    for one in (full("learners", learner) for learner in learners):
        at = Sizes(
            dimension=own.dimension,
            features=own.dimension,
            outputs=outputs,
            validation=own.validation,
            test=own.test,
            samples=own.samples,
            presented=points_presented(one, own.samples),
            choices=len(RIDGES) if _is_kernel(one["name"]) else len(_rates(own)),
            tried=dict.fromkeys(registry.choices("learners", one["name"]), 1),
            shape=shape,
        )
        asked.append(registry.needs("learners", one, at))
    largest = max(one.memory.get(stage, 0.0) for one in asked for stage in ("fit", "predict"))
    return Needs(
        memory={"measure": largest + 3 * sizes.seeds * points * own.dimension},
        work={"measure": sizes.seeds * sum(sum(one.work.values()) for one in asked)},
        gpus=max(one.gpus for one in asked),
    )


def full(kind: str, description: Mapping[str, Any]) -> dict[str, Any]:
    """A description with its defaults."""
    return registry.defaults(kind, description["name"]) | dict(description)


def _rates(own: Any) -> list[float]:
    """The learning rates that networks choose from."""
    return own.learning_rate if isinstance(own.learning_rate, list) else [own.learning_rate]


def _is_kernel(name: str) -> bool:
    return "ridge" in registry.choices("learners", name)


def _too_large(described: Mapping[str, Any]) -> Iterator[Objection]:
    """Numbers of a law or a teacher that no memory has room for; those of a problem are weighed by its sizes."""
    for parameter, value in described.items():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, (int, float)) and one > LARGEST:
                yield parameter, str(one), f"at most {LARGEST}"
