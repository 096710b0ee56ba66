"""How well explicit weights of a quadratic Taylor model express a power of one direction, and how large they are."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import numpy as np
from annotated_types import Interval

from hierlearn.core import contracts
from hierlearn.core.parameters import Count
from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Probe
from hierlearn.core.streams import BLOCK_ROWS, Streams
from hierlearn.pipeline.measurements._parameters import Several, Widths, listing
from hierlearn.pipeline.measurements._variables import Variables, describe, require
from hierlearn.theory.expressivity import best_line, expressible, norm_bound, scales


@dataclass(frozen=True, kw_only=True)
class Expressivity(Probe):
    """f^Q_{W*} against f(x) = <b, x>^p for sigma = relu^3 / 6, |b| = 1, |x| = 1  (bai2020, Lemma 15 and Theorem 7).

    f^Q_W(x) = 1/(2 sqrt(m)) sum_r a_r relu(<w0_r, x>) <w_r, x>^2 with the symmetric initialisation (eq. 3) and
    W* = c b^T built from w0 alone. Predicted: a fit error of order m^{-1/2}, a norm that does not grow with m. For odd
    p >= 5, which the theorem leaves out, W* are the weights of this form that fit best with infinitely many neurons, a
    multiple of those of p = 3, and there is no bound. One set of points and draws of w0 serves all widths of a seed,
    the first m/2 pairs being those of width m.
    """

    degrees: Annotated[
        Several[Annotated[int, Interval(ge=2, le=12)]],
        "Powers p of the direction; Theorem 7 leaves out odd ones from 5.",
    ] = listing(2, 3, 4, 6)
    widths: Widths = listing(100, 1000, 10000)
    points: Annotated[Count, "Number of points x."] = 64
    draws: Annotated[Count, "Number of draws of w0 per seed."] = 8
    failure: Annotated[
        float, Interval(gt=0, le=1), "Probability delta with which the theorem's statement may fail."
    ] = 0.1
    LAWS = ("sphere", "hypercube", "anisotropic_sphere")
    MEASURES = {
        "fit_error": "root mean square over points and draws of f^Q at W* minus the target, relative to the target's",
        "absolute_error": "root mean square over points and draws of f^Q at W* minus the target",
        "norm": "largest |W*|_{2,4} over draws",
        "share_within_bound": "share of the draws whose |W*|_{2,4} is within the bound of Theorem 7",
        "share_without_degree": "the same share for the bound without its growth max(p - 2, 1)^3",
        "norm_bound": "bound of Theorem 7 on |W*|_{2,4}",
        "norm_bound_without_degree": "that bound without its growth max(p - 2, 1)^3",
    }
    COORDINATES = {"degree": "degrees", "width": "widths"}

    def measure(self, problem: Problem) -> Variables:
        """Errors, norms and shares (seed, degree, width), bounds (degree, width), NaN where the theorem has none.

        Raises ValueError for points of another norm than 1.
        """
        require(self, problem.inputs)
        streams = problem.streams.at("expressivity")
        found = [self._seed(problem.inputs, streams.take([i])) for i in range(len(problem.seeds))]
        errors, sizes, norms = map(np.array, zip(*found, strict=True))
        bounds = np.array([norm_bound(p, self.failure) if expressible(p) else np.nan for p in self.degrees])
        lower = np.where(np.isnan(bounds), np.nan, norm_bound(2, self.failure))
        flops = 2.0 * self.draws * (max(self.widths) / 2) * self.points * (problem.inputs.dimension + len(self.degrees))
        axes = ("seed", "degree", "width")
        measures = {
            "fit_error": (axes, errors / sizes),
            "absolute_error": (axes, errors),
            "norm": (axes, np.max(norms, axis=1)),
            "share_within_bound": (axes, _share(norms, bounds)),
            "share_without_degree": (axes, _share(norms, lower)),
            # The same at every width, beside which they are drawn.
            "norm_bound": (axes[1:], np.repeat(bounds[:, None], len(self.widths), axis=1)),
            "norm_bound_without_degree": (axes[1:], np.repeat(lower[:, None], len(self.widths), axis=1)),
        }
        return describe(self, problem, measures, flops)

    def _seed(self, inputs, streams: Streams) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Errors (degrees, widths), sizes of the targets (degrees, 1) and norms (draws, degrees, widths) of a seed."""
        x = contracts.points(inputs, streams.at("points"), "points", 0, self.points)[0].astype(np.float64)
        direction = streams.at("direction").stack(lambda g: g.standard_normal(inputs.dimension))[0]
        direction /= np.linalg.norm(direction)
        along = x @ direction
        target = along ** np.array(self.degrees)[:, None]
        factors = np.array([1.0 if expressible(degree) else best_line(degree, along) for degree in self.degrees])
        squares, norms = [], []
        for draw in range(self.draws):
            outputs, fourth = self._network(streams.at("w0", draw), x, direction)
            outputs *= factors[:, None, None] * np.square(along)
            squares.append(np.mean(np.square(outputs - target[:, None]), axis=-1))
            norms.append((np.square(factors)[:, None] * fourth) ** 0.25)
        size = np.sqrt(np.mean(np.square(target), axis=-1, keepdims=True))
        return np.sqrt(np.mean(squares, axis=0)), size, np.array(norms)

    def _network(self, streams: Streams, x: np.ndarray, direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """f^Q_{W*}(x) / <b, x>^2 (degrees, widths, n) and |W*|_{2,4}^4 (degrees, widths) for one draw of w0.

        Of a power that is left out, those of p = 3.
        """
        powers = [degree if expressible(degree) else 3 for degree in self.degrees]
        outputs = np.empty((len(self.degrees), len(self.widths), len(x)))
        fourth = np.empty(outputs.shape[:2])
        # Sums over pairs of neurons of unit width, carried from one width to the next.
        linear, quartic = np.zeros((len(x), len(self.degrees))), np.zeros(len(self.degrees))
        pairs = np.array(self.widths) // 2
        # In the blocks that streams draw, so that none is drawn twice within a width.
        for start, stop in pairwise(sorted({*range(0, max(pairs), BLOCK_ROWS), *pairs.tolist()})):
            w0 = streams.rows(start, stop - start, lambda g, rows: g.standard_normal((rows, len(direction))))[0]
            squares = np.square([scales(degree, w0 @ direction, 1) for degree in powers])
            relu = x @ w0.T
            np.maximum(relu, 0.0, out=relu)
            linear += relu @ (squares[:, 0] - squares[:, 1]).T
            quartic += np.sum(np.square(squares), axis=(1, 2))
            for i in np.flatnonzero(pairs == stop):
                # c is proportional to m^{-1/4}, and f^Q carries 1/(2 sqrt(m)).
                outputs[:, i], fourth[:, i] = linear.T / (2.0 * self.widths[i]), quartic / self.widths[i]
        return outputs, fourth


def _share(norms: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Share of the draws (S, draws, degrees, widths) within bounds (degrees,), NaN where there is none."""
    return np.where(np.isnan(bounds)[:, None], np.nan, np.mean(norms <= bounds[:, None], axis=1))
