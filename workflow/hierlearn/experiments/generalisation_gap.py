"""Generalisation gaps of trained quadratic Taylor models beside the Rademacher complexity of the ball they end in."""

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from annotated_types import Ge, MinLen

from hierlearn.core.parameters import UNIQUE, Positive
from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Experiment
from hierlearn.experiments._failures import report_failure
from hierlearn.files.netcdf import Variable
from hierlearn.probes._parameters import Draws, MaxIterations, Spectra, Start, TestPoints, Widths
from hierlearn.solvers.losses import LOGISTIC
from hierlearn.solvers.taylor.training import fit_path, predict
from hierlearn.theory.rademacher import extreme_eigenvalues, matrix_bound, suprema
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

    spectra: Spectra = field(default_factory=lambda: ["isotropic", "spiked"])
    samples: Annotated[
        list[Annotated[int, Ge(2)]],
        MinLen(1),
        UNIQUE,
        "Numbers n of training points; a smaller sample is the beginning of a larger one.",
    ] = field(default_factory=lambda: [64])
    widths: Widths = field(default_factory=lambda: [4])
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
        "flops": "floating-point operations of matrix products",
    }
    COORDINATES = {"spectrum": "spectra", "samples": "samples", "width": "widths"}

    def measure(self, problem: Problem) -> dict[str, Variable]:
        """MEASURES over (seed, spectrum, samples, width); NaN where a training diverged or collapsed.

        Raises ValueError for x other than isotropic of unit norm.
        """
        if problem.inputs.law not in self.LAWS:
            found = problem.inputs.law
            raise ValueError(f"generalisation_gap: input law {found!r}; expected one of {', '.join(self.LAWS)}")
        if problem.inputs.norm != "unit":
            raise ValueError(f"generalisation_gap: input of norm {problem.inputs.norm}; expected unit")
        most, dimension = max(self.samples), problem.inputs.dimension
        streams = problem.streams.at("generalisation_gap")
        training, test = problem.draw("training", most), problem.draw("test", self.test)
        w0 = streams.at("w0").stack(lambda g: g.standard_normal((max(self.widths) // 2, dimension))).astype(np.float32)
        starts = streams.at("start").stack(lambda g: g.standard_normal((max(self.widths), dimension)))
        draws = streams.at("signs").stack(lambda g: 1.0 - 2.0 * g.integers(0, 2, (most, self.draws))).swapaxes(1, 2)
        shape = (len(problem.seeds), len(self.spectra), len(self.samples), len(self.widths))
        values, flops = np.empty((*shape, len(MEASURED))), np.zeros(len(problem.seeds))
        for s in range(len(problem.seeds)):
            labels, test_labels = (np.where(b.labels[s, :, 0] >= 0, 1.0, -1.0) for b in (training, test))
            for i, spectrum in enumerate(self.spectra):
                h, unseen = colour(training.x[s], spectrum), colour(test.x[s], spectrum)
                norms = np.linalg.norm(h.astype(np.float64), axis=1)
                for j, n in enumerate(self.samples):
                    extremes = extreme_eigenvalues(h[:n], h[:n] @ w0[s].T >= 0, draws[s, :, :n].astype(np.float32))
                    flops[s] += self.draws * len(w0[s]) * n * dimension**2
                    for k, width in enumerate(self.widths):
                        half = width // 2
                        complexity = _complexity(extremes[:, :half])
                        points = (h[:n], labels[:n], unseen, test_labels)
                        end, status, spent = self._train(*points, w0[s, :half], starts[s, :width])
                        place = {"seed": problem.seeds[s], "spectrum": spectrum, "samples": n, "width": width}
                        if report_failure("generalisation_gap", "taylor", place, status):
                            end = (np.nan,) * len(end)
                        bound = matrix_bound(h[:n], width, norms[:n].max())
                        values[s, i, j, k] = (*end, *(2.0 * end[-1] ** 2 * ball for ball in (complexity, bound)))
                        flops[s] += spent
        dims = ("seed", "spectrum", "samples", "width")
        found = {
            name: Variable(dims, values[..., i], {"units": "1", "long_name": self.MEASURES[name]})
            for i, name in enumerate(MEASURED)
        }
        return found | {
            "seed": Variable(("seed",), np.array(problem.seeds)),
            "spectrum": Variable(("spectrum",), np.array(self.spectra), {"long_name": "spectrum of the features"}),
            "samples": Variable(("samples",), np.array(self.samples), {"units": "1", "long_name": "points n"}),
            "width": Variable(("width",), np.array(self.widths), {"units": "1", "long_name": "neurons m"}),
            "flops": Variable(("seed",), flops, {"units": "1", "long_name": self.MEASURES["flops"]}),
        }

    def _train(self, h, labels, unseen, test_labels, w0, start) -> tuple[tuple[float, float, float], str, float]:
        """(gap, train loss, norm) of one training, what became of it, and its matrix products' operations."""
        width, dimension = start.shape
        signs = np.repeat([1.0, -1.0], width // 2)
        gates, new = (np.tile(x @ w0.T >= 0, (1, 2)).astype(np.float32) for x in (h, unseen))
        # E|h|^2 = 1 here: scaled to |h|^2 = D, where a ridge means the same at every number of features.
        path = fit_path(
            h,
            gates,
            signs,
            labels,
            [self.ridge / dimension**2],
            self.start * width**-0.25 * start,
            loss="logistic",
            stop="decrease",
            max_iterations=self.max_iterations,
        )
        weights = path.weights[0].astype(np.float64)
        norm = float(np.sum(np.sum(weights**2, axis=1) ** 2) ** 0.25)
        loss = float(np.mean(LOGISTIC.value(predict(unseen, new, signs, weights), test_labels)))
        return (loss - float(path.train_loss[0]), float(path.train_loss[0]), norm), path.status[0], float(path.flops[0])


MEASURED = ("gap", "train_loss", "norm", "complexity_bound", "operator_norm_bound")


def _complexity(half: np.ndarray) -> float:
    """The complexity of the unit ball from the eigenvalues of the first half of the neurons."""
    width = half.shape[1]
    return float(np.mean(suprema(np.concatenate([half, half], axis=1), np.repeat([1.0, -1.0], width))))
