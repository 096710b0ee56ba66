"""How the sample complexity n* of one learner grows, and how far it lies from a theory's."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np

from hierlearn.core.parameters import UNIQUE, Count, Positive, Reference
from hierlearn.core.protocols import Dataset, Input, Objection, Probes
from hierlearn.pipeline.quantities._bases import FittedDimensions, Line, OfLearner, OfSampleComplexities, Place, Probe
from hierlearn.pipeline.quantities._tables import FAILED, at, at_place, compared, trust, variable_at
from hierlearn.statistics import estimates
from hierlearn.statistics.complexity import Complexities
from hierlearn.statistics.exponents import seed_slopes
from hierlearn.statistics.learning_curves import crossings
from hierlearn.theory.stretched_spheres import leading_moment

# Axes whose values count the factors of a product.
ORDERS = ("order", "degree")


@dataclass(frozen=True, kw_only=True)
class Exponent(OfLearner, OfSampleComplexities):
    """Slope of log n* on log of a counted dimension or of another axis, a line through the medians over seeds."""

    UNIT = "slope"
    METHOD = "line through sizes"
    sizes: Annotated[
        list[float] | None,
        Reference("axis values"),
        "Values of the axis that the line is fitted to, named before the run; null: all of the study's.",
    ] = None
    axis: Annotated[str, Reference("axis"), "The axis along which n* grows."] = "dimension"
    regressor: Annotated[
        Literal[
            "dimension",
            "harmonic_dimension",
            "polynomial_dimension",
            "polynomial_dimension_log",
            "polynomial_dimension_log2",
            "quad_raw_dimension",
            "products",
        ],
        "What n* is compared with; dimension is the value of the axis itself, products the number of products "
        "of at most k of d signs, along an axis of orders k; log and log2 are once and twice times log d.",
    ] = "dimension"
    risk: Annotated[
        Literal["test_risk", "test_error"],
        "test_risk is the ratio estimate, test_error the bare mean over test points.",
    ] = "test_risk"

    def validate(self, inputs: Input | None) -> Iterator[Objection]:
        """A count of what hangs on a value that the place does not name, or of products along an axis of no orders."""
        key = {"dimension": None, "products": "dimension"}.get(self.regressor, "degree")
        if key and key not in self.where:
            yield "where", f"no {key} for the regressor {self.regressor}", f"a {key}"
        if self.regressor == "products" and self.axis not in ORDERS:
            yield "axis", f"{self.axis} for the regressor {self.regressor}", f"an axis of orders: {' or '.join(ORDERS)}"

    def _estimate(self, tables, probes) -> estimates.Measurement:
        (table,), (values,) = tables, self.regressor_values(tables)
        return estimates.exponent(table, values, self.sizes)


@dataclass(frozen=True, kw_only=True)
class SlopeChange(OfLearner, OfSampleComplexities):
    """Slope of log(n* at `other` / n* at `where`) of one learner in log d, paired by seed: the change of its exponent.

    Both lines have the same sizes: one at which n* is not known at either place is left out of both.
    """

    UNIT = "difference of slopes"
    METHOD = "line through sizes"
    other: Annotated[dict[str, Any], Reference("coordinates"), "Values of the other axes, of the n* above."]
    sizes: FittedDimensions = None

    def validate(self, inputs: Input | None) -> Iterator[Objection]:
        """A change from a place to itself, which is none."""
        if self.other == self.where:
            yield "other", f"{self.other}, the values in where", "others"

    @property
    def readings(self) -> list[tuple[str, dict[str, Any]]]:
        return [(self.learner, self.other), (self.learner, self.where)]

    def _estimate(self, tables, probes) -> estimates.Measurement:
        return estimates.exponent_difference(*tables, fitted=self.sizes)


@dataclass(frozen=True, kw_only=True)
class DirectionSlope(OfLearner, OfSampleComplexities):
    """Slope of log n* in log |beta|^-2, |beta| the length at which the target <beta, x>^p has an L2 norm of 1.

    Along the share of the second moment that the anisotropic sphere has in the direction beta, its only spike:
    |beta|^-2 = (E t^{2p})^{1/p}, t = x_1, less where the inputs hardly vary. A bound that grows as
    |beta|^{2 ceil(p/2)} (chen2020, Theorem 2) has the slope -ceil(p/2).
    """

    UNIT = "slope"
    METHOD = "line through sizes"
    degree: Annotated[Count, "Degree p of the target."] = 2
    axis: Annotated[str, Reference("axis"), "The axis of the shares."] = "spike_share"

    def _estimate(self, tables, probes) -> estimates.Measurement:
        (table,) = tables
        dimension = int(self.where["dimension"])
        moments = [leading_moment(dimension, 1, share, 2 * self.degree) for share in table.sizes]
        return estimates.exponent(table, np.power(moments, 1 / self.degree))


@dataclass(frozen=True, kw_only=True)
class AccuracyExponent(OfLearner):
    """Slope of log n*(epsilon) in log 1/epsilon at one place, n*(epsilon) being where the risk falls to epsilon.

    All n* of a seed lie on one learning curve, so that the interval is that of the slopes of the seeds. The curve has
    to be visited whole there (`samples.curves` of the study).
    """

    UNIT = "slope"
    METHOD = "t over slopes of seeds"
    READS = ("test_risk",)
    ALONG = "risk"
    risks: Annotated[list[Positive], UNIQUE, "Risks epsilon, three or more."]
    where: Place = field(default_factory=dict)

    def measure(self, cube: Dataset, probes: Probes) -> estimates.Measurement:
        """cube: scores.nc of a study. A risk that a seed does not reach, or starts below, is left out for all seeds."""
        chosen = at(cube, self.learner, self.where, ("seed", "samples"))
        risks = sorted(self.risks, reverse=True)
        found = [crossings(chosen.samples.values, chosen.test_risk.values, risk) for risk in risks]
        samples, status = (np.stack(part) for part in zip(*found, strict=True))
        slopes = seed_slopes(Complexities(1.0 / np.array(risks), samples, status))
        detail = {"medians": [estimates.plain(np.median(one)) for one in samples], "risks": risks}
        seeds = chosen.sizes["seed"]
        failed = int(np.isin(chosen.status.values, FAILED).any(axis=-1).sum())
        exponent = estimates.of_estimate(slopes, seeds, detail)
        return at_place(trust(exponent, f"on the curves of {failed} of {seeds} seeds", chosen), chosen, self.where)


@dataclass(frozen=True, kw_only=True)
class TheoryRatio(OfLearner, OfSampleComplexities):
    """Mean over sizes of the median log(n* / n* of the theory), with a t-interval over the sizes.

    0 where the theory is exact at finite sizes, whatever power law both follow there. detail: every size by itself.
    """

    UNIT = "log ratio"
    METHOD = "t over sizes"
    READS = ("test_risk", "sample_complexity")
    probe: Probe
    line: Line
    sizes: FittedDimensions = None

    def _estimate(self, tables, probes) -> estimates.Measurement:
        (table,) = tables
        theory = self._theory(probes[self.probe], table.sizes)
        # What the probe's grid lacks has no theory; sizes that are not compared need none.
        known = np.isfinite(theory)
        named = table.sizes.tolist() if self.sizes is None else self.sizes
        unknown = sorted(set(named) - set(table.sizes[known].tolist()))
        if unknown:
            raise ValueError(f"probe {self.probe}: no n* of {self.line} at the dimensions {unknown}")
        return compared("dimension", estimates.over_theory(table, np.where(known, theory, 1.0), named))

    def _theory(self, probe: Dataset, sizes: np.ndarray) -> np.ndarray:
        """n* (K,) of the theory at the sizes, NaN where it has none."""
        line = probe.sample_complexity
        place: dict[str, Any] = {"line": self.line, "threshold": self.threshold} | self.where
        for name, value in place.items():
            if name in line.dims and value not in line[name].values:
                raise ValueError(f"probe {self.probe}: found no {name} {value} among {line[name].values.tolist()}")
        line = variable_at(probe, "sample_complexity", place, "dimension")
        return line.transpose("dimension").reindex(dimension=sizes).values
