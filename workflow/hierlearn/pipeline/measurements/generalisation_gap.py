"""Generalisation gaps of trained quadratic Taylor models beside the Rademacher complexity of the ball they end in."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from hierlearn.core.parameters import Positive
from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Experiment
from hierlearn.pipeline.measurements._models import normal, symmetric_model
from hierlearn.pipeline.measurements._parameters import (
    Draws,
    MaxIterations,
    SampleSizes,
    Spectra,
    Start,
    TestPoints,
    Widths,
    listing,
)
from hierlearn.pipeline.measurements._trainings import report_failure
from hierlearn.pipeline.measurements._variables import Variables, describe, require, split
from hierlearn.solvers.losses import LOGISTIC
from hierlearn.solvers.taylor.training import predict
from hierlearn.theory.landscape import quartic_norm
from hierlearn.theory.rademacher import extreme_eigenvalues, matrix_bound, symmetric_suprema
from hierlearn.theory.spectra import colour


@dataclass(frozen=True, kw_only=True)
class GeneralisationGap(Experiment):
    """Test less training loss of Quad-h trained on signs of the target, and 2 Rad(|W|_{2,4})  (chen2020, Theorem 1(2)).

    The logistic loss is 1-Lipschitz, so symmetrisation and contraction bound the mean gap over a fixed ball by twice
    the ball's complexity; here the ball is that of the end point, as in the paper's use of the theorem. The bound by
    the operator norm, with its logarithm and constant, is that of bai2020, Theorem 6:
    2 Rad <= B_h |W|_{2,4}^2 (2 log(2 m D) |(1/n) sum h h^T|_op / n)^{1/2}, B_h the largest |h(x_i)|. Features, a and w0
    as in the probe of the complexity.
    """

    spectra: Spectra = listing("isotropic", "spiked")
    samples: SampleSizes = listing(64)
    widths: Widths = listing(4)
    ridge: Annotated[Positive, "Ridge of |W|_{2,4}^4 for features with |h|^2 = D."] = 1.0e-3
    start: Start = 0.1
    test: TestPoints = 2000
    draws: Draws = 8
    max_iterations: MaxIterations = 500
    LAWS = ("sphere", "hypercube")
    MEASURES = {
        "gap": "logistic loss on test points less that on training points",
        "train_loss": "logistic loss on training points",
        "norm": "|W|_{2,4} of the trained weights",
        "complexity_bound": "twice the Rademacher complexity of the ball of the trained weights' norm",
        "operator_norm_bound": "what the operator norm of the features' second moment bounds that by",
        "fast_complexity_bound": "the first bound over the root of the number of samples: one that falls as 1/n",
        "fast_operator_norm_bound": "the second bound over that root",
    }
    COORDINATES = {"spectrum": "spectra", "samples": "samples", "width": "widths"}

    def measure(self, problem: Problem) -> Variables:
        """MEASURES over (seed, spectrum, samples, width); NaN where a training diverged or collapsed.

        Raises ValueError for x other than isotropic of unit norm.
        """
        require(self, problem.inputs)
        most, dimension = max(self.samples), problem.inputs.dimension
        streams = problem.streams.at("generalisation_gap")
        training, test = problem.draw("training", most), problem.draw("test", self.test)
        w0 = normal(streams.at("w0"), max(self.widths) // 2, dimension).astype(np.float32)
        starts = normal(streams.at("start"), max(self.widths), dimension)
        draws = streams.at("signs").stack(lambda g: 1.0 - 2.0 * g.integers(0, 2, (most, self.draws))).swapaxes(1, 2)
        shape = (len(problem.seeds), len(self.spectra), len(self.samples), len(self.widths))
        values, flops = np.empty((*shape, len(self.MEASURES))), np.zeros(len(problem.seeds))
        for s, seed in enumerate(problem.seeds):
            labels, test_labels = (np.where(b.labels[s, :, 0] >= 0, 1.0, -1.0) for b in (training, test))
            for i, spectrum in enumerate(self.spectra):
                h, unseen = colour(training.x[s], spectrum), colour(test.x[s], spectrum)
                norms = np.linalg.norm(h.astype(np.float64), axis=1)
                for j, n in enumerate(self.samples):
                    extremes = extreme_eigenvalues(h[:n], h[:n] @ w0[s].T >= 0, draws[s, :, :n].astype(np.float32))
                    flops[s] += self.draws * len(w0[s]) * n * dimension**2
                    for k, width in enumerate(self.widths):
                        first = w0[s, : width // 2]
                        model = symmetric_model(h[:n], first, labels[:n], "relu2")
                        fresh = symmetric_model(unseen, first, test_labels, "relu2")
                        end, status, cost = self._train(model, fresh, starts[s, :width])
                        place = {"seed": seed, "spectrum": spectrum, "samples": n, "width": width}
                        if report_failure("generalisation_gap", "taylor", place, status):
                            end = (np.nan,) * len(end)
                        complexity = np.mean(symmetric_suprema(extremes, width))
                        bound = matrix_bound(h[:n], width, norms[:n].max())
                        balls = 2.0 * end[-1] ** 2 * np.array([complexity, bound])
                        values[s, i, j, k] = (*end, *balls, *balls / np.sqrt(n))
                        flops[s] += cost
        axes = ("seed", "spectrum", "samples", "width")
        return describe(self, problem, split(axes, self.MEASURES, values), flops)

    def _train(self, model, test, start) -> tuple[tuple[float, float, float], str, float]:
        """(gap, train loss, norm) of one training, what became of it, and its matrix products' operations."""
        width, dimension = start.shape
        # E|h|^2 = 1 here: scaled to |h|^2 = D, where a ridge means the same at every number of features.
        options = {"loss": "logistic", "power": 4, "max_iterations": self.max_iterations}
        path = model.train([self.ridge / dimension**2], self.start * width**-0.25 * start, **options)
        weights, train_loss = path.weights[0].astype(np.float64), float(path.train_loss[0])
        loss = float(np.mean(LOGISTIC.value(predict(*test[:3], weights), test.targets)))
        return (loss - train_loss, train_loss, quartic_norm(weights) ** 0.25), path.status[0], float(path.flops[0])
