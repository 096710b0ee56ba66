"""The exact Rademacher complexity of a ball of quadratic Taylor models, against samples, features and width."""

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from annotated_types import Ge, MinLen

from hierlearn.core.parameters import UNIQUE
from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Probe
from hierlearn.files.netcdf import Variable
from hierlearn.probes._parameters import Draws, Spectra, Widths
from hierlearn.theory.rademacher import extreme_eigenvalues, isotropic_edge, matrix_bound, operator_norm, suprema
from hierlearn.theory.spectra import colour


@dataclass(frozen=True, kw_only=True)
class Rademacher(Probe):
    """E_sigma sup_{|W|_{2,4} <= 1} (1/n) sum_i sigma_i f_W(x_i), Quad-h, sigma'' = 1{t >= 0}  (chen2020, Theorem 1).

    Features are the input's coordinates with a chosen spectrum and E|h|^2 = 1, so their number is the dimension; a and
    w0 are those of the symmetric initialisation (bai2020, eq. 3), and neurons of a smaller width are the first ones of
    a larger width.
    """

    spectra: Spectra = field(default_factory=lambda: ["isotropic", "spiked"])
    samples: Annotated[
        list[Annotated[int, Ge(2)]],
        MinLen(1),
        UNIQUE,
        "Numbers n of points; a smaller sample is the beginning of a larger one.",
    ] = field(default_factory=lambda: [64])
    widths: Widths = field(default_factory=lambda: [4])
    draws: Draws = 8
    LAWS = ("sphere", "hypercube")
    MEASURES = {
        "complexity": "Rademacher complexity of the ball |W|_{2,4} <= 1",
        "standard_error": "its standard error over draws of the signs",
        "bound_maximum": "bound of Theorem 1 with B_h the largest |h(x_i)|",
        "bound_mean_square": "bound of Theorem 1 with B_h the root mean square of |h(x_i)|",
        "operator_norm": "operator norm of the features' second moment",
        "isotropic_edge": "complexity of isotropic features by random-matrix theory at this number of features",
        "flops": "floating-point operations of matrix products",
    }
    COORDINATES = {"spectrum": "spectra", "samples": "samples", "width": "widths"}

    def measure(self, problem: Problem) -> dict[str, Variable]:
        """MEASURES over (seed, spectrum, samples, width). Raises ValueError for x other than isotropic of unit norm."""
        if problem.inputs.law not in self.LAWS:
            raise ValueError(f"rademacher: input law {problem.inputs.law!r}; expected one of {', '.join(self.LAWS)}")
        if problem.inputs.norm != "unit":
            raise ValueError(f"rademacher: input of norm {problem.inputs.norm}; expected unit")
        most, dimension = max(self.samples), problem.inputs.dimension
        streams = problem.streams.at("rademacher")
        x = problem.draw("training", most).x
        w0 = streams.at("w0").stack(lambda g: g.standard_normal((max(self.widths) // 2, dimension)))
        draws = streams.at("signs").stack(lambda g: 1.0 - 2.0 * g.integers(0, 2, (most, self.draws))).swapaxes(1, 2)
        values = np.empty((len(x), len(self.spectra), len(self.samples), len(self.widths), len(MEASURED)))
        for s, (first, signs) in enumerate(zip(w0.astype(np.float32), draws.astype(np.float32), strict=True)):
            for i, spectrum in enumerate(self.spectra):
                for j, n in enumerate(self.samples):
                    values[s, i, j] = self._at(colour(x[s, :n], spectrum), first, signs[:, :n])
        dims = ("seed", "spectrum", "samples", "width")
        flops = self.draws * max(self.widths) / 2 * dimension**2 * sum(self.samples) * len(self.spectra)
        found = {
            name: Variable(dims, values[..., i], {"units": "1", "long_name": self.MEASURES[name]})
            for i, name in enumerate(MEASURED)
        }
        return found | {
            "isotropic_edge": Variable(
                ("samples",),
                np.array([isotropic_edge(n, dimension) for n in self.samples]),
                {"units": "1", "long_name": self.MEASURES["isotropic_edge"]},
            ),
            "seed": Variable(("seed",), np.array(problem.seeds)),
            "spectrum": Variable(("spectrum",), np.array(self.spectra), {"long_name": "spectrum of the features"}),
            "samples": Variable(("samples",), np.array(self.samples), {"units": "1", "long_name": "points n"}),
            "width": Variable(("width",), np.array(self.widths), {"units": "1", "long_name": "neurons m"}),
            "flops": Variable(
                ("seed",), np.full(len(x), float(flops)), {"units": "1", "long_name": self.MEASURES["flops"]}
            ),
        }

    def _at(self, features, w0, draws) -> list[list[float]]:
        """MEASURED for every width at one spectrum and sample size."""
        extremes = extreme_eigenvalues(features, features @ w0.T >= 0, draws)
        norms, size = np.linalg.norm(features.astype(np.float64), axis=1), operator_norm(features)
        result = []
        for width in self.widths:
            half = extremes[:, : width // 2]
            values = suprema(np.concatenate([half, half], axis=1), np.repeat([1.0, -1.0], width // 2))
            bounds = [matrix_bound(features, width, b) for b in (norms.max(), np.sqrt(np.mean(norms**2)))]
            error = values.std(ddof=1) / np.sqrt(len(values))
            result.append([values.mean(), error, *bounds, size])
        return result


MEASURED = ("complexity", "standard_error", "bound_maximum", "bound_mean_square", "operator_norm")
