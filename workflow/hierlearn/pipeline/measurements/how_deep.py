"""Networks whose first layers are trained first and then rest, or move again, by how many layers these are."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from hierlearn.core.needs import Needs, Sizes
from hierlearn.core.parameters import Count, Nested, NotNegative
from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Experiment, Learner, Objection
from hierlearn.core.protocols import Input as Law
from hierlearn.pipeline.measurements import _own_problem
from hierlearn.pipeline.measurements._own_problem import NETWORK, LearningRates, OwnProblem
from hierlearn.pipeline.measurements._parameters import Several, listing
from hierlearn.pipeline.measurements._variables import Variables, describe


@dataclass(frozen=True, kw_only=True)
class HowDeep(OwnProblem, Experiment):
    """The table of training up to layer l and then fixing it  (allenzhu2020, Figures 8 and 9).

    Four modes, in as many steps and at the same learning rates each: only the first l layers are trained; after these
    the rest, with them at rest, or with the first l - j of them; or all, with a pull of the layers that were trained
    back to where they were. Law and teacher are the experiment's own, as in `side_by_side`.
    """

    learner: Annotated[Learner, Nested("learners", NETWORK), "The network, whose schedule is that of the mode."]
    layers: Annotated[Several[Count], "Numbers l of layers that are trained first."] = listing(1)
    learning_rate: LearningRates = 0.2
    less: Annotated[Count, "j: by how many layers fewer are at rest in `fixed_less`."] = 1
    pull: Annotated[NotNegative, "Factor of the distance from where they were, in the gradient of layers in `all`."] = (
        5e-4
    )
    MEASURES = {
        "trained": "score of the first l layers alone, as `score` of side_by_side",
        "fixed": "score with the first l layers trained first and then at rest",
        "fixed_less": "score with the first l - j of them at rest, none where j is l or more",
        "all": "score with the first l layers trained first and then all, with a pull",
        "cost": "all minus fixed",
        "cost_less": "all minus fixed_less",
        "kept": "cosine between a filter of the first layer at the end of the first phase and at the end of `all`, the "
        "mean over filters",
        "start": "the same between the start and the end of `all`",
    }
    COORDINATES = {"layers": "layers"}

    def validate(self, inputs: Law | None) -> Iterator[Objection]:
        """Another learner than a convolutional one, and what law, teacher and network object to."""
        if self.learner["name"] != "convolutional":
            yield "learner", f"{self.learner['name']!r}", "convolutional, whose schedules these are"
            return
        described = {
            f"l = {layers}": dict(self.learner) | _mode("fixed", layers, layers, self.pull) for layers in self.layers
        }
        yield from _own_problem.validate(self, "learner", described)

    def needs(self, sizes: Sizes) -> Needs:
        modes = [dict(self.learner) | mode for layers in self.layers for mode in _modes(self, layers).values()]
        return _own_problem.needs(self, modes, sizes)

    def measure(self, problem: Problem) -> Variables:
        """All (seed, layers), NaN where a training failed."""
        posed, features = self.posed(problem)
        shape = len(problem.seeds), len(self.layers)
        found, flops = {name: np.full(shape, np.nan) for name in self.MEASURES}, np.zeros(shape[0])
        for i, layers in enumerate(self.layers):
            for name, mode in _modes(self, layers).items():
                learner = replace(self.learner, **mode)
                fit = self.train(learner, posed, features)
                found[name][:, i] = self.score(f"{name}, l = {layers}", learner, fit, posed, features)
                flops += fit.flops
                if name == "all":
                    for measure, theirs in (("kept", "first_layer_kept"), ("start", "first_layer_start")):
                        found[measure][:, i] = np.where(np.isnan(found[name][:, i]), np.nan, fit.measures[theirs])
        found["cost"], found["cost_less"] = (found["all"] - found[name] for name in ("fixed", "fixed_less"))
        return describe(self, problem, {name: (("seed", "layers"), values) for name, values in found.items()}, flops)


def _modes(self: Any, layers: int) -> dict[str, dict[str, Any]]:
    """What a learner is told in every mode that there is at a number of layers."""
    modes = {"trained": _mode("only", layers, None), "fixed": _mode("fixed", layers, layers)}
    if layers > self.less:
        modes["fixed_less"] = _mode("fixed", layers, layers - self.less)
    return modes | {"all": _mode("fixed", layers, 0, self.pull)}


def _mode(schedule: str, trained: int, fixed: int | None, pull: float = 0.0) -> dict[str, Any]:
    return {"schedule": schedule, "trained": trained, "fixed": fixed, "pull": pull}
