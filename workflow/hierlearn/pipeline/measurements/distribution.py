"""Whether laws of x have the properties that a theory of deep quadratic networks asks for."""

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from annotated_types import Ge, Interval

from hierlearn.core import contracts
from hierlearn.core.needs import Needs, Sizes
from hierlearn.core.parameters import Count, Even, NestedByName
from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Input, Probe
from hierlearn.core.streams import Streams
from hierlearn.pipeline.measurements._parameters import Several, listing
from hierlearn.pipeline.measurements._variables import Variables, describe, split
from hierlearn.theory import distributions
from hierlearn.theory.distributions import PRODUCT_LAWS, grid, least_top_share

SCALARS = ("isotropy", "isotropy_of_squares")
BY_DEGREE = ("top_share", "top_share_below", "moment_ratio", "worst_moment_ratio")


@dataclass(frozen=True, kw_only=True)
class Distribution(Probe):
    """Constants of isotropy, degree preservation and hypercontractivity  (allenzhu2020, Section 5, eq. 5.1-5.4).

    Every law is scaled to E|x|^2 = d. Degree preservation: C(P_q) <= c_1(q) E P^2, so that `top_share` is 1 / c_1(q)
    and 0 where the degree is not preserved. Hypercontractivity is measured by the fourth moments that it bounds. Random
    polynomials have independent normal coefficients of their monomials.
    """

    laws: Annotated[
        dict[str, Input],
        NestedByName("inputs", {"gaussian": {"name": "gaussian"}, "uniform": {"name": "uniform"}}),
        "Laws of x by name; the law of the problem has no part in it.",
    ]
    degrees: Annotated[Several[Annotated[int, Interval(ge=1, le=8)]], "Degrees q of polynomials."] = listing(1, 2)
    points: Annotated[Even, "Points per seed, half of them to find the worst polynomial and half to judge it."] = 20000
    monomials: Annotated[
        int,
        Ge(2),
        "Polynomials are of all coordinates if they have at most so many monomials, else of as many of the "
        "first coordinates as that allows.",
    ] = 160
    few: Annotated[Count, "Coordinates in the search for the heaviest polynomial."] = 2
    polynomials: Annotated[Count, "Random polynomials whose fourth moments are averaged, and starts of the search."] = 8
    MEASURES = {
        "isotropy": "largest E <w, x>^2 of unit w",
        "isotropy_of_squares": "largest E <w, x^2 - E x^2>^2 of unit w",
        "normal_isotropy": "largest E <w, x^2 - E x^2>^2 under N(0, I), 2, whatever the law",
        "mixture_isotropy": "2 times the largest eigenvalue of a covariance, a bound on isotropy_of_squares where the "
        "rows of a mixture have equal norms; NaN for other laws",
        "top_share": "least E P^2 over the squared coefficients of highest degree of P, on fresh points",
        "top_share_below": "the same on the points on which P was chosen, which is too small on average",
        "guaranteed_top_share": "a lower bound on it, the exact value for independent coordinates",
        "largest_top_share": "what the largest eigenvalue of a covariance gives in the place of the least: no bound",
        "moment_ratio": "E f^4 / (E f^2)^2 of random polynomials, the median",
        "worst_moment_ratio": "E f^4 / (E f^2)^2 of the heaviest polynomial found, exact for independent coordinates, "
        "else on fresh points",
        "hypercontractive_bound": "upper bound on E f^4 / (E f^2)^2, known for normal laws and their mixtures",
        "normal_bound": "that bound for normal laws, 9^q, whatever the law",
        "variables": "coordinates that the polynomials are of",
    }
    COORDINATES = {"law": "laws", "degree": "degrees"}

    def needs(self, sizes: Sizes) -> Needs:
        """The points, and the monomials of all of them."""
        return Needs(memory={"measure": self.points * (3 * self.monomials + 4 * sizes.dimension)})

    def measure(self, problem: Problem) -> Variables:
        """Isotropies (seed, law), shares and moments (seed, law, degree); bounds (law, degree); variables (degree)."""
        dimension, streams = problem.inputs.dimension, problem.streams.at("distribution")
        laws = [replace(law, dimension=dimension) for law in self.laws.values()]
        seeds, sizes = len(problem.seeds), [distributions.variables(dimension, q, self.monomials) for q in self.degrees]
        scalars, by_degree = np.empty((seeds, len(laws), 2)), np.empty((seeds, len(laws), len(sizes), len(BY_DEGREE)))
        flops = 0.0
        for i in range(seeds):
            for j, (label, law) in enumerate(zip(self.laws, laws, strict=True)):
                own = streams.take([i]).at(label)
                x = contracts.points(law, own, "points", 0, self.points)[0].astype(np.float64)
                # Of mean |x|^2 = d.
                points, fresh = np.split(x * np.sqrt(dimension / np.mean(np.sum(x**2, axis=1))), 2)
                scalars[i, j] = distributions.isotropy(points, fresh)
                flops = flops + 4.0 * len(points) * dimension**2
                for k, (degree, size) in enumerate(zip(self.degrees, sizes, strict=True)):
                    by_degree[i, j, k], cost = self._at(own.at(degree), law, points, fresh, degree, size)
                    flops = flops + cost
        largest = [_largest_eigenvalue(law) for law in laws]
        measures = {
            **split(("seed", "law"), SCALARS, scalars),
            **split(("seed", "law", "degree"), BY_DEGREE, by_degree),
            "normal_isotropy": (("law",), np.full(len(laws), 2.0)),
            "mixture_isotropy": (("law",), 2.0 * np.array(largest)),
            "guaranteed_top_share": (("law", "degree"), [self._lower_bounds(law, sizes) for law in laws]),
            "largest_top_share": (("law", "degree"), [[one**q for q in self.degrees] for one in largest]),
            "hypercontractive_bound": (("law", "degree"), [self._upper_bounds(law) for law in laws]),
            "normal_bound": (("degree",), np.array([distributions.hypercontractive_bound(q) for q in self.degrees])),
            "variables": (("degree",), np.array(sizes, dtype=np.float64)),
        }
        return describe(self, problem, measures, flops / seeds)

    def _at(self, streams: Streams, law: Input, points: np.ndarray, fresh: np.ndarray, degree: int, size: int):
        """BY_DEGREE at one degree, and the operations that they took."""
        generator = streams.generators()[0]
        values, orders = distributions.monomials(points[:, :size], degree)
        judged, _ = distributions.monomials(fresh[:, :size], degree)
        above_below = distributions.top_share(values, judged, orders)[::-1]
        random = generator.standard_normal((len(orders), self.polynomials))
        median = float(np.median(distributions.moment_ratios(judged, random)))
        few = min(self.few, points.shape[1])
        small, small_orders = distributions.monomials(points[:, :few], degree)
        starts = generator.standard_normal((len(small_orders), self.polynomials))
        chosen = distributions.heaviest(small, starts)
        worst = float(np.max(self._moments_of(law, chosen, fresh[:, :few], degree)))
        flops = 2.0 * len(points) * (len(orders) ** 2 + len(small_orders) ** 2 + len(orders) * self.polynomials)
        return (*above_below, median, worst), flops

    def _moments_of(self, law: Input, chosen: np.ndarray, fresh: np.ndarray, degree: int) -> np.ndarray:
        """E f^4 / (E f^2)^2 of polynomials of a few coordinates with coefficients (M, F): (F,).

        A mean over points of a power 4 q of normal coordinates says little: a few points carry it.
        """
        if law.law not in PRODUCT_LAWS:
            return distributions.moment_ratios(distributions.monomials(fresh, degree)[0], chosen)
        nodes, masses = grid(law.law, fresh.shape[1], 4 * degree, _power(law))
        return distributions.moment_ratios(distributions.monomials(nodes, degree)[0], chosen, masses)

    def _lower_bounds(self, law: Input, sizes: list[int]) -> list[float]:
        """Lower bounds on the shares of all degrees, NaN where none is known.

        N(0, Sigma) is the image of N(0, I), of share 1, under a map that shrinks no direction by more than the root of
        the least eigenvalue; the mean square under a mixture is at least the least of its components.
        """
        if law.law in PRODUCT_LAWS:
            return [least_top_share(law.law, q, size, _power(law)) for q, size in zip(self.degrees, sizes, strict=True)]
        if law.law == "gaussian_mixture":
            return [float(np.min(np.linalg.eigvalsh(law.covariances()))) ** q for q in self.degrees]
        return [np.nan] * len(self.degrees)

    def _upper_bounds(self, law: Input) -> list[float]:
        """Upper bounds on the fourth moments at all degrees, NaN where none is known."""
        if law.law == "gaussian":
            return [distributions.hypercontractive_bound(q) for q in self.degrees]
        if law.law == "gaussian_mixture":
            # E f^4 <= 9^q mean_i (E_i f^2)^2 <= 9^q c (mean_i E_i f^2)^2 for c components
            return [law.components * distributions.hypercontractive_bound(q) for q in self.degrees]
        return [np.nan] * len(self.degrees)


def _power(law: Input) -> int:
    """The power of a skewed law, 1 of others."""
    return law.power if law.law == "skewed" else 1


def _largest_eigenvalue(law: Input) -> float:
    """The largest eigenvalue of a mixture's covariances, NaN for other laws."""
    return float(np.max(np.linalg.eigvalsh(law.covariances()))) if law.law == "gaussian_mixture" else np.nan
