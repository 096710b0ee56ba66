"""How wide an interval will be, and how probably a rule will decide: what a design promises before it is registered.

The model is the one that the coverage of `exponents.slope` was shown on: log n* of a size and a seed is a line in the
log of a regressor, plus what each size adds (lack of fit, shared by its seeds), plus what each seed adds.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from hierlearn.statistics.complexity import Complexities
from hierlearn.statistics.exponents import Slope, slope
from hierlearn.statistics.intervals import t_quantile

# A median of S normal values has about pi / 2 times the variance of their mean.
MEDIAN_VARIANCE = np.pi / 2


@dataclass(frozen=True)
class Scatter:
    """What scatters log n* about its line: standard deviations in natural logs, of seeds within a size and of sizes."""

    seed: float
    size: float


def scatter(table: Complexities, fit: Slope) -> Scatter:
    """Return the scatter of a pilot about its fit: pooled over sizes within, the rest of the residuals between.

    Censored seeds are left out of the first. Raises ValueError where no size has two observed seeds.
    """
    groups = [
        np.log(samples[status == "observed"])
        for samples, status in zip(table.samples, table.status, strict=True)
        if np.sum(status == "observed") > 1
    ]
    spare = sum(len(group) - 1 for group in groups)
    if not spare:
        raise ValueError("a pilot without two observed seeds at a size says nothing of their scatter")
    within = sum(float(np.sum((group - group.mean()) ** 2)) for group in groups) / spare
    of_medians = _variance_of_a_median(table.samples.shape[1]) * within
    residual = 0.0 if np.isnan(fit.residual_sd) else fit.residual_sd**2
    return Scatter(float(np.sqrt(within)), float(np.sqrt(max(residual - of_medians, 0.0))))


def expected_width(regressor: ArrayLike, seeds: int, noise: Scatter) -> float:
    """Return the mean full width of the 95 % interval of a slope over sizes (K,) at so many seeds.

    2 t_{K-2} E[s] / sqrt(sum (x - mean x)^2), where s^2 (K - 2) / sigma^2 is chi-square with K - 2 degrees of freedom.
    """
    x = np.log(np.asarray(regressor, dtype=np.float64))
    dof = len(x) - 2
    if dof < 1:
        return float("inf")
    sigma = np.sqrt(noise.size**2 + _variance_of_a_median(seeds) * noise.seed**2)
    mean_sd = sigma * np.sqrt(2 / dof) * np.exp(scipy.special.gammaln((dof + 1) / 2) - scipy.special.gammaln(dof / 2))
    return float(2 * t_quantile(dof) * mean_sd / np.sqrt(np.sum((x - x.mean()) ** 2)))


def _variance_of_a_median(seeds: int) -> float:
    """Of so many normal values of variance 1, about. The median of one or two is their mean."""
    return (MEDIAN_VARIANCE if seeds > 2 else 1.0) / seeds


def simulate(
    regressor: ArrayLike, exponent: float, noise: Scatter, seeds: int, trials: int, generator: np.random.Generator
) -> list[Slope]:
    """Simulate `trials` studies whose n* follow regressor^exponent with this scatter; return their fitted slopes.

    regressor: (K,) positive, increasing. generator: a numpy Generator.
    """
    x = np.log(np.asarray(regressor, dtype=np.float64))
    of_size = noise.size * generator.normal(size=(trials, len(x), 1))
    of_seed = noise.seed * generator.normal(size=(trials, len(x), seeds))
    # Any level will do: a slope does not depend on it.
    logs = exponent * (x - x.mean())[:, None] + of_size + of_seed
    status = np.full((len(x), seeds), "observed")
    return [slope(Complexities(np.exp(x), np.exp(one), status)) for one in logs]


def decision_probability(
    regressor: ArrayLike,
    exponent: float,
    noise: Scatter,
    seeds: int,
    verdict: Callable[[float, float, float], bool],
    trials: int = 1000,
    seed: int = 0,
) -> float:
    """Return the share of simulated studies that a rule decides when the true slope is `exponent`.

    verdict(value, low, high): whether the rule decides on an interval, either way.
    """
    found = simulate(regressor, exponent, noise, seeds, trials, np.random.default_rng(seed))
    return float(np.mean([verdict(one.value, one.low, one.high) for one in found]))
