"""How the norm of trained quadratic Taylor models depends on their width, with a penalty and without one."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge

from hierlearn.core.parameters import Nested, Positive
from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Experiment
from hierlearn.pipeline.measurements._models import models, normal, ridge_of, training
from hierlearn.pipeline.measurements._parameters import MaxIterations, TrainingPoints, Widths, listing
from hierlearn.pipeline.measurements._trainings import report_failure
from hierlearn.pipeline.measurements._variables import Variables, describe, split
from hierlearn.theory.landscape import leading_reference, quartic_norm

# Of the ridge: small enough to leave no penalty, as the solver takes none of 0.
NO_PENALTY = 1e-9


@dataclass(frozen=True, kw_only=True)
class PenaltyNorms(Experiment):
    """|W|_{2,4} / |W*|_{2,4} of Quad-h after descent from standard normal weights  (chen2020, Theorem 1(1)).

    The ridge is that at which 9 ridge |W*|_{2,4}^4 of the explicit W* is `reference_penalty`, squared loss. The start
    has |W|_{2,4} ~ m^{1/4}; without the penalty a wide model fits its labels near it.
    """

    representation: Annotated[Any, Nested("representations", {"name": "raw"}), "Representation h of the input."]
    widths: Widths = listing(4, 8)
    samples: TrainingPoints = 50
    unlabelled: Annotated[int, Ge(2), "Number n0 of unlabelled points of the representation."] = 100
    reference_penalty: Annotated[Positive, "What 9 ridge |W*|^4 is at the explicit W*."] = 1.0e-2
    start: Annotated[Positive, "Standard deviation of the entries of W at the start, at every width."] = 1.0
    max_iterations: MaxIterations = 1500
    MEASURES = {
        "norm_ratio": "|W|_{2,4} / |W*|_{2,4} at the end with the penalty",
        "unpenalised_norm_ratio": "the same without the penalty",
        "start_norm_ratio": "the same at the start",
        "train_loss": "training loss at the end with the penalty",
        "unpenalised_train_loss": "the same without the penalty",
    }
    COORDINATES = {"width": "widths"}

    def measure(self, problem: Problem) -> Variables:
        """MEASURES over (seed, width); NaN where a descent diverged or collapsed."""
        streams = problem.streams.at("penalty_norms")
        data = training(problem, streams, self.samples, self.representation, self.unlabelled)
        starts = normal(streams.at("start"), max(self.widths), data[0].shape[-1])
        values = np.empty((len(problem.seeds), len(self.widths), len(self.MEASURES)))
        flops = np.zeros(len(problem.seeds))
        for s, i, _, model in models(*data, streams, self.widths, "relu2"):
            width, explicit = self.widths[i], leading_reference(*model)
            ridge, begin = ridge_of(self.reference_penalty, explicit, 4), self.start * starts[s, :width]
            norms, losses = [], []
            for penalty in (ridge, NO_PENALTY * ridge):
                path = model.train([penalty], begin, power=4, max_iterations=self.max_iterations)
                place = {"seed": problem.seeds[s], "width": width, "ridge": penalty}
                failed = report_failure("penalty_norms", "taylor", place, path.status[0])
                norms.append(np.nan if failed else quartic_norm(path.weights[0]) ** 0.25)
                losses.append(np.nan if failed else float(path.train_loss[0]))
                flops[s] += float(np.sum(path.flops))
            sizes = np.array([*norms, quartic_norm(begin) ** 0.25]) / quartic_norm(explicit) ** 0.25
            values[s, i] = (*sizes, *losses)
        return describe(self, problem, split(("seed", "width"), self.MEASURES, values), flops)
