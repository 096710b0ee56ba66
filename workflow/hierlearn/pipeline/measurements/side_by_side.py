"""Networks of several depths or schedules, and kernels, side by side on a problem of their own."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import MinLen

from hierlearn.core.needs import Needs, Sizes
from hierlearn.core.parameters import NestedByName, NotNegative
from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Experiment, Learner, Objection
from hierlearn.core.protocols import Input as Law
from hierlearn.pipeline.measurements import _own_problem
from hierlearn.pipeline.measurements._own_problem import LearningRates, OwnProblem
from hierlearn.pipeline.measurements._parameters import Several, listing
from hierlearn.pipeline.measurements._variables import Variables, describe

SMALL = {"name": "convolutional", "width": 16, "batch": 16, "steps": 8, "head": "flat", "schedule": "staged"}


@dataclass(frozen=True, kw_only=True)
class SideBySide(OwnProblem, Experiment):
    """What networks score after training on the same points  (allenzhu2020, Figures 4 and 7).

    Law and teacher are the experiment's own, so that one study measures several problems; those of the study give it
    the seeds alone. Networks choose from the same learning rates, at one weight decay, and kernels from seven ridges,
    1e-1 to 1e-7 of the mean diagonal: each seed has the best on validation points, and the log says which.
    """

    learners: Annotated[
        Mapping[str, Learner],
        NestedByName("learners", {"one": SMALL | {"depth": 1}, "two": SMALL | {"depth": 2}}),
        "Networks, or kernels, by name.",
    ]
    layers: Annotated[
        Several[NotNegative], "A number for each network, in their order: of its layers, or of those at rest."
    ] = listing(1, 2)
    learning_rate: LearningRates = 0.2
    weights: Annotated[list[float], MinLen(1), "What the scores are multiplied with in `contrast`, in their order."] = (
        listing(-1.0, 1.0)
    )
    MEASURES = {
        "score": "accuracy for classes, else the part of the target's mean square that is explained, on test points",
        "contrast": "sum of scores, each times its weight",
    }
    COORDINATES = {"layers": "layers"}

    def validate(self, inputs: Law | None) -> Iterator[Objection]:
        """Lists of other lengths than there are networks, and what law, teacher and networks object to."""
        for name in ("layers", "weights"):
            if len(vars(self)[name]) != len(self.learners):
                yield name, f"{len(vars(self)[name])} numbers", f"{len(self.learners)}, one for each network"
        yield from _own_problem.validate(self, "learners", self.learners)

    def needs(self, sizes: Sizes) -> Needs:
        return _own_problem.needs(self, self.learners.values(), sizes)

    def measure(self, problem: Problem) -> Variables:
        """score (seed, layers), NaN where a training failed, and contrast (seed,)."""
        posed, features = self.posed(problem)
        scores, flops = np.empty((len(problem.seeds), len(self.learners))), np.zeros(len(problem.seeds))
        for i, (name, learner) in enumerate(self.learners.items()):
            fit = self.train(learner, posed, features)
            scores[:, i] = self.score(name, learner, fit, posed, features)
            flops += fit.flops
        measures = {"score": (("seed", "layers"), scores), "contrast": (("seed",), scores @ np.array(self.weights))}
        return describe(self, problem, measures, flops)
