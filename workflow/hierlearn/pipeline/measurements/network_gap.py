"""Generalisation gaps of trained randomised networks beside the operator-norm bound of their weights' ball."""

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from hierlearn.core import contracts
from hierlearn.core.parameters import Nested, Positive
from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Experiment, Learner, NullMonitor, Representation, TrainingData
from hierlearn.pipeline.measurements._parameters import SampleSizes, TestPoints, Widths, listing
from hierlearn.pipeline.measurements._trainings import failures, mean_square, movement, outcomes, shown
from hierlearn.pipeline.measurements._variables import Variables, describe, require, split
from hierlearn.statistics.features import operator_norm


@dataclass(frozen=True, kw_only=True)
class NetworkGap(Experiment):
    """Test less training error of f_{W0 + WZ} against B_w^2 M_{x,op} / sqrt(n), |x| = 1  (bai2020, Theorem 6).

    B_w is |W|_{2,4} at the end of the training. The labels are noise alone, whatever the teacher: all that the network
    fits is gap, which comes near to what the bound allows. `isotropic_share` has 1/sqrt(d) in the place of M_{x,op}.
    Both leave out the bound's constants and logarithms.
    """

    network: Annotated[Learner, Nested("learners", {"name": "randomised"}), "The network at randomised weights."]
    representation: Annotated[Representation, Nested("representations", {"name": "raw"}), "What it sees of x."]
    samples: SampleSizes = listing(128)
    widths: Widths = listing(64)
    ridge: Annotated[Positive, "Ridge of |W|_{2,4}^power for |x| = 1, at every d the same."] = 1.0e-5
    noise: Annotated[Positive, "Standard deviation of the labels; large, so that fitting them pays for the signs."] = (
        30.0
    )
    test: TestPoints = 2000
    MEASURES = {
        "gap": "squared error on test points less that on training points, each less that of the zero predictor",
        "train_error": "squared error on training points",
        "norm": "|W|_{2,4} of the network's movement",
        "operator_norm": "M_{x,op} of the training points",
        "isotropic_share": "gap over |W|_{2,4}^2 / sqrt(d n)",
        "operator_share": "gap over |W|_{2,4}^2 M_{x,op} / sqrt(n)",
    }
    COORDINATES = {"samples": "samples", "width": "widths"}

    def measure(self, problem: Problem) -> Variables:
        """MEASURES over (seed, samples, width), in the units of the labels; NaN where a training failed.

        Raises ValueError for inputs of another norm than 1.
        """
        require(self, problem.inputs)
        counts = {"training": max(self.samples), "validation": 2, "test": self.test}
        problem = replace(problem, held_out=2, factor=np.zeros_like(problem.factor), noise=self.noise)
        streams = problem.streams.at("network_gap")
        problem, features = shown(problem, self.representation, streams, counts)
        cells = [[self._at(n, width, problem, features, streams) for width in self.widths] for n in self.samples]
        values = np.moveaxis([[values for values, _ in row] for row in cells], 2, 0)
        measures = split(("seed", "samples", "width"), self.MEASURES, values)
        return describe(self, problem, measures, sum(flops for row in cells for _, flops in row))

    def _at(self, samples, width, problem, features, streams) -> tuple[np.ndarray, np.ndarray]:
        """The measures (S, measures) of the trainings at one place, and their operations (S,)."""
        network, test = replace(self.network, width=width), problem.pools["test"]
        # Learners take ridges for features with |h|^2 = D.
        ridge = self.ridge * features.draw("training", 1).shape[-1] ** (network.penalty_power / 2)
        sample = TrainingData(problem, features, samples, {"ridge": [ridge]}, streams)
        fit = contracts.fit(network, sample, NullMonitor(), {})
        outputs = contracts.predictions(network, fit.state, features, "test", test.labels.shape, {})
        # The labels' own mean square differs between the two samples by chance, and is no part of a gap.
        floors = [mean_square(points.labels) for points in (problem.draw("training", samples), test)]
        error = mean_square(outputs - test.labels)
        norm, moment = movement(fit), operator_norm(features.draw("training", samples))
        gap, scale = (error - floors[1]) - (fit.train_risk - floors[0]), norm**2 / np.sqrt(samples)
        shares = gap / (scale / np.sqrt(problem.inputs.dimension)), gap / (scale * moment)
        values = np.stack([gap, fit.train_risk, norm, moment, *shares], axis=-1)
        failed = failures("network_gap", "network", {"samples": samples, "width": width}, problem.seeds, outcomes(fit))
        return np.where(failed[:, None], np.nan, values), fit.flops
