"""The exact Rademacher complexity of a ball of quadratic Taylor models, against samples, features and width."""

from dataclasses import dataclass

import numpy as np

from hierlearn.core.needs import Needs, Sizes
from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Probe
from hierlearn.pipeline.measurements._parameters import Draws, SampleSizes, Spectra, Widths, listing
from hierlearn.pipeline.measurements._variables import Variables, describe, require, split
from hierlearn.theory import rademacher
from hierlearn.theory.spectra import SHAPES, colour, eigenvalues


@dataclass(frozen=True, kw_only=True)
class Rademacher(Probe):
    """E_sigma sup_{|W|_{2,4} <= 1} (1/n) sum_i sigma_i f_W(x_i), Quad-h, sigma'' = 1{t >= 0}  (chen2020, Theorem 1).

    Features are the input's coordinates with a chosen spectrum and E|h|^2 = 1, so their number is the dimension; a and
    w0 are those of the symmetric initialisation (bai2020, eq. 3), and neurons of a smaller width are the first ones of
    a larger width.
    """

    spectra: Spectra = listing("isotropic", "spiked")
    samples: SampleSizes = listing(64)
    widths: Widths = listing(4)
    draws: Draws = 8
    LAWS = ("sphere", "hypercube")
    MEASURES = {
        "complexity": "Rademacher complexity of the ball |W|_{2,4} <= 1",
        "standard_error": "its standard error over draws of the signs",
        "bound_maximum": "bound of Theorem 1 with B_h the largest |h(x_i)|",
        "bound_mean_square": "bound of Theorem 1 with B_h the root mean square of |h(x_i)|",
        "equal_signs": "the same supremum with all signs equal, which no number of samples makes small",
        "operator_norm": "operator norm of the features' second moment",
        "each_neuron": "complexity of the ball |w_r| <= 1 of every neuron, |W|_{2,inf} <= 1",
        "isotropic_edge": "complexity of isotropic features by random-matrix theory at this number of features",
        "theory": "complexity by random-matrix theory: of Gaussian matrices of the same covariances",
        "isotropic_theory": "the same of isotropic features of the same number and norm",
    }
    COORDINATES = {"spectrum": "spectra", "samples": "samples", "width": "widths"}

    def needs(self, sizes: Sizes) -> Needs:
        """The points and signs of all seeds; of one seed the points of a spectrum, as float64 and times its signs, and
        the gates of its neurons."""
        one, signs, width = max(self.samples) * sizes.dimension, max(self.samples) * self.draws, max(self.widths)
        gates = (max(self.samples) + sizes.seeds * sizes.dimension) * width
        return Needs(memory={"measure": sizes.seeds * (one + 3 * signs) + 6 * one + gates})

    def measure(self, problem: Problem) -> Variables:
        """MEASURES over (seed, spectrum, samples, width). Raises ValueError for x other than isotropic of unit norm."""
        require(self, problem.inputs)
        most, dimension = max(self.samples), problem.inputs.dimension
        streams = problem.streams.at("rademacher")
        x = problem.draw("training", most).x
        w0 = streams.at("w0").stack(lambda g: g.standard_normal((max(self.widths) // 2, dimension)))
        draws = streams.at("signs").stack(lambda g: 1.0 - 2.0 * g.integers(0, 2, (most, self.draws))).swapaxes(1, 2)
        values = [
            [
                [self._at(colour(points[:n], spectrum), first, signs[:, :n]) for n in self.samples]
                for spectrum in self.spectra
            ]
            for points, first, signs in zip(x, w0.astype(np.float32), draws.astype(np.float32), strict=True)
        ]
        law = problem.inputs.law
        theory = {
            name: rademacher.gaussian_complexities(
                dimension * eigenvalues(name, dimension, **SHAPES[name]), self.widths, law
            )
            for name in {*self.spectra, "isotropic"}
        }
        root = np.sqrt(np.array(self.samples))[:, None]
        flops = self.draws * max(self.widths) / 2 * dimension**2 * sum(self.samples) * len(self.spectra)
        names = ("complexity", "standard_error", "bound_maximum", "bound_mean_square", "equal_signs", "operator_norm")
        names += ("each_neuron",)
        measures = {
            **split(("seed", "spectrum", "samples", "width"), names, values),
            "theory": (("spectrum", "samples", "width"), np.stack([theory[name] / root for name in self.spectra])),
            "isotropic_theory": (("samples", "width"), theory["isotropic"] / root),
            "isotropic_edge": (("samples",), [rademacher.isotropic_edge(n, dimension) for n in self.samples]),
        }
        return describe(self, problem, measures, flops)

    def _at(self, features, w0, draws) -> list[list[float]]:
        """Complexity, its error, both bounds, the supremum without signs, the operator norm and the complexity of the
        ball of every neuron, for every width at one spectrum and sample size."""
        gates = features @ w0.T >= 0
        extremes = rademacher.extreme_eigenvalues(features, gates, draws)
        equal = rademacher.extreme_eigenvalues(features, gates, np.ones_like(draws[:1]))
        norms, size = np.linalg.norm(features.astype(np.float64), axis=1), rademacher.operator_norm(features)
        result = []
        for width in self.widths:
            values = rademacher.symmetric_suprema(extremes, width)
            bounds = [rademacher.matrix_bound(features, width, b) for b in (norms.max(), np.sqrt(np.mean(norms**2)))]
            error = values.std(ddof=1) / np.sqrt(len(values))
            each = rademacher.symmetric_suprema(extremes, width, each=True).mean()
            unsigned = rademacher.symmetric_suprema(equal, width).item()
            result.append([values.mean(), error, *bounds, unsigned, size, each])
        return result
