"""Networks of several depths or schedules, and kernels, side by side on a problem of their own."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, MinLen

from hierlearn.core import boundary, registry
from hierlearn.core.needs import Needs, Sizes, points_presented
from hierlearn.core.parameters import UNIQUE, Count, Nested, NestedByName, NotNegative, Positive
from hierlearn.core.problem import Problem, ProblemFeatures, pose
from hierlearn.core.protocols import STATUS, Experiment, Learner, NullMonitor, Objection, Sample, Teacher
from hierlearn.core.protocols import Input as Law
from hierlearn.core.streams import Streams
from hierlearn.experiments._failures import report_failure
from hierlearn.probes._parameters import TestPoints, TrainingPoints, listing
from hierlearn.probes._variables import Variables, describe, name_of

# More of anything of a law or a teacher than any memory has room for.
LARGEST = 10**6
RIDGES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
SMALL = {"name": "convolutional", "width": 16, "batch": 16, "steps": 8, "head": "flat", "schedule": "staged"}


@dataclass(frozen=True, kw_only=True)
class SideBySide(Experiment):
    """What networks score after training on the same points  (allenzhu2020, Figures 4 and 7).

    Law and teacher are the experiment's own, so that one study measures several problems; those of the study give it
    the seeds alone. All networks take the one learning rate and weight decay; a kernel has the best of RIDGES on
    validation points.
    """

    input: Annotated[Law, Nested("inputs", {"name": "random_hierarchy"}), "Law of x."]
    teacher: Annotated[Teacher, Nested("teachers", {"name": "hierarchy_class"}), "Teacher."]
    dimension: Annotated[Count, "Dimension of x."] = 16
    learners: Annotated[
        Mapping[str, Learner],
        NestedByName("learners", {"one": SMALL | {"depth": 1}, "two": SMALL | {"depth": 2}}),
        "Networks, or kernels, by name.",
    ]
    layers: Annotated[
        list[Annotated[float, Ge(0)]],
        MinLen(1),
        UNIQUE,
        "A number for each network, in their order: of its layers, or of those at rest.",
    ] = listing(1, 2)
    weights: Annotated[list[float], MinLen(1), "What the scores are multiplied with in `contrast`, in their order."] = (
        field(default_factory=lambda: [-1.0, 1.0])
    )
    learning_rate: Annotated[Positive, "Learning rate of all networks."] = 0.2
    weight_decay: Annotated[NotNegative, "Weight decay of all networks."] = 0.0
    samples: TrainingPoints = 64
    validation: Annotated[int, Ge(2), "Number of validation points."] = 50
    test: TestPoints = 500
    MEASURES = {
        "score": "accuracy for classes, else the part of the target's mean square that is explained, on test points",
        "contrast": "sum of scores, each times its weight",
    }
    COORDINATES = {"layers": "layers"}

    def objections(self, inputs: Law | None) -> Iterator[Objection]:
        """Lists of other lengths than there are networks, and what law, teacher and networks object to."""
        for name in ("layers", "weights"):
            if len(vars(self)[name]) != len(self.learners):
                yield name, f"{len(vars(self)[name])} numbers", f"{len(self.learners)}, one for each network"
        for kind, key in (("inputs", "input"), ("teachers", "teacher")):
            described = _full(kind, vars(self)[key])
            if kind == "inputs":
                law = registry.build(kind, described, dimension=self.dimension)
            refused = [*_too_large(described), *registry.objections(kind, described, law)]
            for parameter, found, allowed in refused:
                yield key, f"{parameter} {found}", allowed
            if refused:
                return
            laws = registry.implementation(kind, described["name"]).LAWS
            if laws and law.law not in laws:
                yield key, f"{described['name']} for the law {law.law}", f"a teacher for it, not for {', '.join(laws)}"
                return
        for name, described in self.learners.items():
            for parameter, found, allowed in registry.objections("learners", _full("learners", described), law):
                yield "learners", f"{name}: {parameter} {found}", allowed

    def needs(self, sizes: Sizes) -> Needs:
        """The points of all seeds, and what the networks ask for, which are trained one after the other."""
        points, asked = self.samples + self.validation + self.test, []
        outputs = registry.build("teachers", self.teacher).outputs
        for one in (_full("learners", one) for one in self.learners.values()):
            own = Sizes(
                dimension=self.dimension,
                features=self.dimension,
                outputs=outputs,
                validation=self.validation,
                test=self.test,
                samples=self.samples,
                presented=points_presented(one, self.samples),
                choices=len(RIDGES) if _is_kernel(one["name"]) else 1,
                tried=dict.fromkeys(registry.choices("learners", one["name"]), 1),
            )
            asked.append(registry.needs("learners", one, own))
        return Needs(
            memory={"measure": max(_largest(one) for one in asked) + 2 * sizes.seeds * points * self.dimension},
            work={"measure": sizes.seeds * sum(sum(one.work.values()) for one in asked)},
            gpus=max(one.gpus for one in asked),
        )

    def measure(self, problem: Problem) -> Variables:
        """score (seed, layers), NaN where a training failed, and contrast (seed,)."""
        law = replace(self.input, dimension=self.dimension)
        own = problem.streams.at("side_by_side", self.input.stream_key)
        posed = pose(law, self.teacher, "paper", 0.0, Streams(own.key, own.seeds, len(own.key)), self.validation)
        counts = {"training": self.samples, "validation": self.validation, "test": self.test}
        posed = replace(posed, pools={role: posed.draw(role, count) for role, count in counts.items()})
        raw = registry.build("representations", {"name": "raw"})
        features = ProblemFeatures(posed, raw, raw.fit(posed.unlabelled(1), posed.streams.at("representation")))
        scores, flops = np.empty((len(problem.seeds), len(self.learners))), np.zeros(len(problem.seeds))
        for i, (name, learner) in enumerate(self.learners.items()):
            scores[:, i], cost = self._score(name, learner, posed, features)
            flops += cost
        measures = {"score": (("seed", "layers"), scores), "contrast": (("seed",), scores @ np.array(self.weights))}
        return describe(self, problem, measures, flops)

    def _score(self, name, learner, posed: Problem, features: ProblemFeatures) -> tuple[np.ndarray, np.ndarray]:
        """Scores (S,) of one network, and its operations (S,)."""
        # Networks of one kind begin alike as far as their layers go.
        streams = posed.streams.at("learner", learner.stream_key)
        choices = {"learning_rate": [self.learning_rate], "weight_decay": [self.weight_decay]}
        if _is_kernel(name_of(learner)):
            choices = {"ridge": list(RIDGES)}
        sample = Sample(posed, features, self.samples, choices, streams)
        fit = boundary.fit(learner, sample, NullMonitor(), {})
        target = posed.pools["test"].target
        risk = posed.risk(boundary.predictions(learner, fit.state, features, "test", target.shape, {}), target)
        scale = 1.0 if posed.teacher.kind == "classes" else np.square(posed.norm)
        words = {value: word for word, value in STATUS.items()}
        failed = [
            report_failure("side_by_side", name, {"seed": seed}, words[int(status)])
            for seed, status in zip(posed.seeds, fit.status, strict=True)
        ]
        return np.where(failed, np.nan, 1 - risk / scale), fit.flops


def _largest(needs: Needs) -> float:
    return max(needs.memory.get("fit", 0.0), needs.memory.get("predict", 0.0))


def _is_kernel(name: str) -> bool:
    return "ridge" in registry.choices("learners", name)


def _full(kind: str, description: Mapping[str, Any]) -> dict[str, Any]:
    return registry.defaults(kind, description["name"]) | dict(description)


def _too_large(described: Mapping[str, Any]) -> Iterator[Objection]:
    """Numbers of a law or a teacher that no memory has room for; those of a problem are weighed by its sizes."""
    for parameter, value in described.items():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, (int, float)) and one > LARGEST:
                yield parameter, str(one), f"at most {LARGEST}"
