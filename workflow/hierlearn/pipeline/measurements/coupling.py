"""How closely a randomised two-layer network follows one term of its Taylor series, as it grows wide."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Interval

from hierlearn.core import contracts
from hierlearn.core.parameters import Count
from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Probe
from hierlearn.core.streams import BLOCK_ROWS, Streams
from hierlearn.pipeline.measurements._parameters import Widths, listing
from hierlearn.pipeline.measurements._variables import Variables, describe, require, split
from hierlearn.theory.activations import ACTIVATIONS, derivative
from hierlearn.theory.randomisation import ALIKE, Sums, laws

TERMS = ("linear", "quadratic", "cubic", "quartic")
# A mean of sigma^(k) below this is 0 up to rounding.
NO_MEAN = 1e-9


@dataclass(frozen=True, kw_only=True)
class Coupling(Probe):
    """f(x) = 1/sqrt(m) sum_r a_r sigma(<w0_r + z_r w_r, x> + c) with |w_r| = m^{-1/(2k)}  (bai2020, Sections 3 and 6).

    a = (+1 ... +1, -1 ... -1), the second half of w0 a copy of the first, w0_r ~ N(0, I), |x| = 1. Predicted: f^(j) of
    order m^{-j/(2k)} for j < k, f^(k) of order 1, the rest of order m^{-1/(2k)} (Lemma 11, Section 6.1).

    Aligned weights are what makes f^(k) as large as its bound. The two halves have opposite a_r and the same w0, so
    they must differ or f^(k) is 0. With `signs` z = +-1 has no part in f^(2): the halves take orthogonal directions b
    and b', and f^(2) = E sigma'' (<b, x>^2 - <b', x>^2) / 4 in the limit. With the other laws both halves have the
    direction b and differ in z: f^(k) = E sigma^(k) <b, x>^k / (2 k!). All multipliers `equal`, or signs for k > 2, are
    what the theorems leave out: with directions b and b' an order below k then rules. Random weights have a direction
    per neuron (pairs share it unless z are signs or equal); then f^(k) averages out to m^{-1/2}, below its bound.

    The moments over z are exact; one set of points, of w0 and of uniform numbers behind z serves all widths of a seed,
    the first m/2 neurons being those of width m.
    """

    order: Annotated[int, Interval(ge=2, le=4), "Order k of the term that is to dominate."] = 2
    activation: Annotated[
        Literal["relu2", "relu3", "erf", "sin", "softplus", "tanh"],
        "sigma; orders above 2 and other multipliers than signs need an analytic one.",
    ] = "relu3"
    shift: Annotated[
        float, "c in sigma(<w, x> + c); it breaks the parity of erf and sin, which would make terms cancel."
    ] = 0.0
    weights: Annotated[
        Literal["aligned", "random"],
        "aligned: one direction per sign a_r, so that f^(k) adds up; random: one per neuron.",
    ] = "aligned"
    randomisation: Annotated[
        Literal["signs", "equal", "tight", "matched"],
        "Law of the multipliers: +-1, all 1, or those of order k, where tight and matched say whether their moments of "
        "order k + 1 differ.",
    ] = "signs"
    widths: Widths = listing(100, 1000, 10000)
    points: Annotated[Count, "Number of points x."] = 64
    draws: Annotated[Count, "Number of draws of all multipliers."] = 8
    LAWS = ("sphere", "hypercube", "anisotropic_sphere")
    MEASURES = {
        "linear": "root mean square of f^(1) over points and multipliers",
        "quadratic": "root mean square of f^(2) over points and multipliers",
        "cubic": "root mean square of f^(3) over points and multipliers; NaN for k < 3",
        "quartic": "root mean square of f^(4) over points and multipliers; NaN for k < 4",
        "remainder": "root mean square of f - sum_{j <= k} f^(j) over points and multipliers",
        "distance": "root mean square of f - f^(k) over points and multipliers",
        "remainder_slope": "slope of log remainder in log width from the next smaller width; NaN at the smallest",
        "worst_remainder": "largest |f - sum_{j <= k} f^(j)| over points and all outcomes of the multipliers",
        "one_draw_error": "largest |f - f^(k)| over points for one draw of the multipliers, mean over draws",
    }
    COORDINATES = {"width": "widths"}

    def measure(self, problem: Problem) -> Variables:
        """MEASURES over (seed, width).

        Raises ValueError where sigma has no such Taylor term, where an aligned f^(k) cancels over w0, and for points of
        another norm than 1.
        """
        require(self, problem.inputs)
        self._check()
        streams = problem.streams.at("coupling")
        rows = [
            [self._network(problem.inputs, streams.take([i]), width) for width in self.widths]
            for i in range(len(problem.seeds))
        ]
        measures = split(
            ("seed", "width"), (*TERMS, "remainder", "distance", "worst_remainder", "one_draw_error"), rows
        )
        slopes = _local_slopes(np.array(self.widths), measures["remainder"][1])
        # Of points with a row per pair of neurons: with w0, and with directions if every neuron has one.
        products = 1 if self.weights == "aligned" else 3 if self.randomisation in ALIKE else 2
        flops = 2.0 * self.points * problem.inputs.dimension * sum(self.widths) / 2 * products
        return describe(self, problem, {**measures, "remainder_slope": (("seed", "width"), slopes)}, flops)

    def _check(self) -> None:
        row = ACTIVATIONS[self.activation]
        if self.order > row.largest_order or (not row.analytic and (self.order > 2 or self.randomisation not in ALIKE)):
            raise ValueError(
                f"coupling: activation {self.activation!r} with order {self.order} and {self.randomisation}; "
                "expected an analytic one"
            )
        nodes, masses = np.polynomial.hermite_e.hermegauss(100)
        mean = masses @ derivative(self.activation, self.order)(nodes + self.shift) / np.sum(masses)
        if self.weights == "aligned" and abs(mean) < NO_MEAN:
            raise ValueError(
                f"coupling: f^({self.order}) of {self.activation!r} with shift {self.shift} cancels over w0; "
                "expected another shift or activation"
            )

    def _network(self, inputs, streams: Streams, width: int) -> list[float]:
        """The measures of one seed and width but for the slope."""
        x = contracts.points(inputs, streams.at("points"), "points", 0, self.points)[0].astype(np.float64)
        multipliers, pairs = laws(self.randomisation, self.order), width // 2
        derivatives = [derivative(self.activation, j) for j in range(self.order + 1)]
        sums = Sums(self.order, self.points, self.draws)
        # In the blocks that streams draw, of which none is drawn twice.
        for start in range(0, pairs, BLOCK_ROWS):
            count = min(BLOCK_ROWS, pairs - start)
            before = x @ _normal(streams.at("w0"), start, count, x.shape[1]).T + self.shift
            gates = [of(before) for of in derivatives]
            movements = self._movements(streams, x, start, count)
            for sign, movement, law in zip((1.0, -1.0), movements, multipliers, strict=True):
                scaled = movement * width ** (-0.5 / self.order)
                uniform = streams.at("multipliers", sign).rows(start, count, lambda g, n: g.random((n, self.draws)))[0]
                sums.add(derivatives[0], gates, before, scaled, sign, law, law.positions(uniform))
        terms, rest = sums.sizes(width)
        return [*terms, *[np.nan] * (len(TERMS) - self.order), *rest.values()]

    def _movements(self, streams: Streams, x: np.ndarray, start: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        """<w_r, x> of unit directions for both signs: (n, 1) each if aligned, else (n, count)."""
        apart, dimension = self.randomisation in ALIKE, x.shape[1]
        if self.weights == "aligned":
            one, other = _normal(streams.at("alignment"), 0, 2, dimension)
            one = _units(one)
            other = _units(other - (other @ one) * one) if apart else one
            return x @ one[:, None], x @ other[:, None]
        first = x @ _units(_normal(streams.at("directions", 1), start, count, dimension)).T
        if not apart:
            return first, first
        return first, x @ _units(_normal(streams.at("directions", -1), start, count, dimension)).T


def _normal(streams: Streams, start: int, count: int, dimension: int) -> np.ndarray:
    """Rows start .. start+count of an endless standard normal sample, (count, d)."""
    return streams.rows(start, count, lambda g, rows: g.standard_normal((rows, dimension)))[0]


def _units(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def _local_slopes(widths: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Slopes of log values (S, K) in log widths (K,), each from the next smaller width."""
    order, slopes = np.argsort(widths), np.full(values.shape, np.nan)
    slopes[:, order[1:]] = np.diff(np.log(values[:, order])) / np.diff(np.log(widths[order]))
    return slopes
