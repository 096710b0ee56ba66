"""Exponent of the sample complexity of one learner."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from hierlearn.core.parameters import Reference
from hierlearn.quantities._bases import OfLearner, OfSampleComplexities
from hierlearn.statistics import estimates


@dataclass(frozen=True, kw_only=True)
class Exponent(OfLearner, OfSampleComplexities):
    """Slope of log n* on log of a counted dimension or of another axis, a line through the medians over seeds."""

    UNIT: ClassVar[str] = "slope"
    sizes: Annotated[
        list[float] | None,
        Reference("axis values"),
        "Values of the axis that the line is fitted to, named before the run; null: all of the study's.",
    ] = None
    axis: Annotated[str, Reference("axis"), "The axis along which n* grows."] = "dimension"
    regressor: Annotated[
        Literal["dimension", "harmonic_dimension", "polynomial_dimension", "quad_raw_dimension"],
        "What n* is compared with; dimension is the value of the axis itself.",
    ] = "dimension"
    risk: Annotated[
        Literal["test_risk", "test_error"],
        "test_risk is the ratio estimate, test_error the bare mean over test points.",
    ] = "test_risk"

    def _estimate(self, tables, probes) -> estimates.Measurement:
        (table,), (values,) = tables, self.regressor_values(tables)
        return estimates.exponent(table, values, self.sizes)
