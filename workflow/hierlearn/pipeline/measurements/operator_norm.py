"""The operator norm of the empirical second moment of the inputs, which a quadratic model's sample complexity feels."""

from dataclasses import dataclass, field
from typing import Annotated, Literal, TypedDict

import numpy as np
from annotated_types import MinLen

from hierlearn.core import contracts
from hierlearn.core.parameters import Count, NotNegative, Schema, Share
from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Probe
from hierlearn.core.streams import Streams
from hierlearn.pipeline.measurements._parameters import Several, listing
from hierlearn.pipeline.measurements._variables import Variables, describe
from hierlearn.theory.spectra import eigenvalues, stretch


class Law(TypedDict, total=False):
    """How points are drawn and stretched."""

    base: Annotated[Literal["problem", "signs"], Schema({"default": "problem"})]
    spectrum: Annotated[Literal["isotropic", "power", "spiked"], Schema({"default": "isotropic"})]
    exponent: NotNegative
    spikes: Count
    spike_share: Share


@dataclass(frozen=True, kw_only=True)
class OperatorNorm(Probe):
    """M_{x,op} = B_x^{-1} (E |(1/n) sum_i x_i x_i^T|_op)^{1/2}  (bai2020, Theorem 6).

    B_x is the largest norm of a point; all points here have norm B_x = 1. M_{x,op} <= 1 always, of order 1/sqrt(d) for
    isotropic points with n >= d up to a constant. The laws share their points before they are stretched.
    """

    laws: Annotated[
        dict[str, Law],
        MinLen(1),
        "Laws of x by name: the problem's points, or random signs, stretched by a spectrum and scaled to norm 1.",
    ] = field(default_factory=lambda: {"problem": {}})
    ratios: Annotated[Several[Count], "Numbers of points per dimension, n / d."] = listing(50)
    repeats: Annotated[Count, "Independent samples whose norms are averaged for the expectation."] = 4
    MEASURES = {
        "m_op": "M_{x,op}, root of the expected operator norm of the empirical second moment",
        "prediction": "1 / sqrt(d), the size for isotropic points",
    }
    COORDINATES = {"law": "laws", "samples_per_dimension": "ratios"}

    def measure(self, problem: Problem) -> Variables:
        """m_op (seed, law, samples_per_dimension); prediction ().

        Raises ValueError for more spikes than dimensions.
        """
        dimension, streams = problem.inputs.dimension, problem.streams.at("operator-norm")
        values = [self._norms(problem.inputs, streams.take([i])) for i in range(len(problem.seeds))]
        flops = 2.0 * dimension**3 * self.repeats * sum(self.ratios) * len(self.laws)
        measures = {
            "m_op": (("seed", "law", "samples_per_dimension"), values),
            "prediction": ((), dimension**-0.5),
        }
        return describe(self, problem, measures, flops)

    def _norms(self, inputs, streams: Streams) -> np.ndarray:
        """M_{x,op} of one seed, (laws, ratios), from `repeats` samples that are as long as the largest ratio asks."""
        norms = np.empty((self.repeats, len(self.laws), len(self.ratios)))
        for repeat in range(self.repeats):
            points = self._points(inputs, streams.at("sample", repeat))
            for i, law in enumerate(self.laws.values()):
                shape = {key: value for key, value in law.items() if key not in ("base", "spectrum")}
                spectrum = eigenvalues(law.get("spectrum", "isotropic"), inputs.dimension, **shape)
                x = stretch(points[law.get("base", "problem")], spectrum)
                for j, ratio in enumerate(self.ratios):
                    count = ratio * inputs.dimension
                    norms[repeat, i, j] = np.linalg.eigvalsh(x[:count].T @ x[:count] / count)[-1]
        return np.sqrt(np.mean(norms, axis=0))

    def _points(self, inputs, streams: Streams) -> dict[str, np.ndarray]:
        """The points (n, d) that the laws start from, by their base."""
        count = max(self.ratios) * inputs.dimension
        points = {}
        for base in {law.get("base", "problem") for law in self.laws.values()}:
            if base == "signs":
                drawn = streams.at(base).rows(0, count, lambda g, rows: g.integers(0, 2, (rows, inputs.dimension)))
                points[base] = 2.0 * drawn[0] - 1.0
            else:
                points[base] = contracts.points(inputs, streams.at("points"), "points", 0, count)[0].astype(np.float64)
        return points
