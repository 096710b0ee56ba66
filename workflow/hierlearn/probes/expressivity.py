"""How well explicit weights of a quadratic Taylor model express a power of one direction, and how large they are."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import numpy as np
from annotated_types import Interval

from hierlearn.core import boundary
from hierlearn.core.parameters import Count
from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Probe
from hierlearn.core.streams import BLOCK_ROWS, Streams
from hierlearn.files.netcdf import Variable
from hierlearn.probes._parameters import Several, Widths, listing
from hierlearn.probes._variables import describe, require
from hierlearn.theory.expressivity import expressible, norm_bound, scales


@dataclass(frozen=True, kw_only=True)
class Expressivity(Probe):
    """f^Q_{W*} against f(x) = <b, x>^p for sigma = relu^3 / 6, |b| = 1, |x| = 1  (bai2020, Lemma 15 and Theorem 7).

    f^Q_W(x) = 1/(2 sqrt(m)) sum_r a_r relu(<w0_r, x>) <w_r, x>^2 with the symmetric initialisation (eq. 3) and
    W* = c b^T built from w0 alone. Predicted: a fit error of order m^{-1/2}, a norm that does not grow with m. One set
    of points and draws of w0 serves all widths of a seed, the first m/2 pairs being those of width m.
    """

    degrees: Annotated[
        Several[Annotated[int, Interval(ge=2, le=12)]], "Powers p of the direction: 2, 3 and even numbers."
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
        "norm": "largest |W*|_{2,4} over draws",
        "share_within_bound": "share of the draws whose |W*|_{2,4} is within the bound of Theorem 7",
        "norm_bound": "bound of Theorem 7 on |W*|_{2,4}",
        "flops": "floating-point operations of matrix products",
    }
    COORDINATES = {"degree": "degrees", "width": "widths"}

    def measure(self, problem: Problem) -> dict[str, Variable]:
        """fit_error, norm and share_within_bound (seed, degree, width), norm_bound (degree, width).

        Raises ValueError for points of another norm than 1 and for powers that relu has no component for.
        """
        require(self, problem.inputs)
        for degree in self.degrees:
            if not expressible(degree):
                raise ValueError(f"expressivity: degree {degree}; expected 2, 3 or an even number")
        streams, seeds = problem.streams.at("expressivity"), len(problem.seeds)
        found = [self._seed(problem.inputs, streams.take([i])) for i in range(seeds)]
        bounds = np.array([norm_bound(degree, self.failure) for degree in self.degrees])
        widest = max(self.widths) / 2
        flops = 2.0 * self.draws * widest * self.points * (problem.inputs.dimension + len(self.degrees))
        axes = ("seed", "degree", "width")
        measures = {
            "fit_error": (axes, [errors for errors, _ in found]),
            "norm": (axes, [np.max(norms, axis=0) for _, norms in found]),
            "share_within_bound": (axes, [np.mean(norms <= bounds[:, None], axis=0) for _, norms in found]),
            # The same at every width, beside which it is drawn.
            "norm_bound": (axes[1:], np.repeat(bounds[:, None], len(self.widths), axis=1)),
        }
        return describe(self, problem, measures, flops)

    def _seed(self, inputs, streams: Streams) -> tuple[np.ndarray, np.ndarray]:
        """Fit errors (degrees, widths) and norms (draws, degrees, widths) of one seed."""
        x = boundary.points(inputs, streams.at("points"), "points", 0, self.points)[0].astype(np.float64)
        direction = streams.at("direction").stack(lambda g: g.standard_normal(inputs.dimension))[0]
        direction /= np.linalg.norm(direction)
        along = x @ direction
        target = along ** np.array(self.degrees)[:, None]
        squares, norms = [], []
        for draw in range(self.draws):
            outputs, fourth = self._network(streams.at("w0", draw), x, direction)
            squares.append(np.mean(np.square(outputs * np.square(along) - target[:, None]), axis=-1))
            norms.append(fourth**0.25)
        size = np.sqrt(np.mean(np.square(target), axis=-1, keepdims=True))
        return np.sqrt(np.mean(squares, axis=0)) / size, np.array(norms)

    def _network(self, streams: Streams, x: np.ndarray, direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """f^Q_{W*}(x) / <b, x>^2 (degrees, widths, n) and |W*|_{2,4}^4 (degrees, widths) for one draw of w0."""
        order = np.argsort(self.widths)
        outputs = np.empty((len(self.degrees), len(self.widths), len(x)))
        fourth = np.empty(outputs.shape[:2])
        # Sums over pairs of neurons of unit width, carried from one width to the next.
        linear, quartic = np.zeros((len(x), len(self.degrees))), np.zeros(len(self.degrees))
        ends = [self.widths[i] // 2 for i in order]
        for i, (start, stop) in zip(order, pairwise([0, *ends]), strict=True):
            width = self.widths[i]
            first = start
            while first < stop:
                # Up to the end of a block that streams draw, so that none is drawn twice within a width.
                count = min(BLOCK_ROWS - first % BLOCK_ROWS, stop - first)
                w0 = streams.rows(first, count, lambda g, rows: g.standard_normal((rows, len(direction))))[0]
                squares = np.square([scales(degree, w0 @ direction, 1) for degree in self.degrees])
                relu = x @ w0.T
                np.maximum(relu, 0.0, out=relu)
                linear += relu @ (squares[:, 0] - squares[:, 1]).T
                quartic += np.sum(np.square(squares), axis=(1, 2))
                first += count
            # c is proportional to m^{-1/4}, and f^Q carries 1/(2 sqrt(m)).
            outputs[:, i], fourth[:, i] = linear.T / (2.0 * width), quartic / width
        return outputs, fourth
