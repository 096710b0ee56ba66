"""Exponent of the sample complexity of one learner."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from hierlearn.core.parameters import Reference
from hierlearn.core.protocols import Input, Objection
from hierlearn.quantities._bases import OfLearner, OfSampleComplexities
from hierlearn.statistics import estimates

# Axes whose values count the factors of a product.
ORDERS = ("order", "degree")


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
        Literal["dimension", "harmonic_dimension", "polynomial_dimension", "quad_raw_dimension", "products"],
        "What n* is compared with; dimension is the value of the axis itself, products the number of products "
        "of at most k of d signs, along an axis of orders k.",
    ] = "dimension"
    risk: Annotated[
        Literal["test_risk", "test_error"],
        "test_risk is the ratio estimate, test_error the bare mean over test points.",
    ] = "test_risk"

    def objections(self, inputs: Input | None) -> Iterator[Objection]:
        """A count of what hangs on a value that the place does not name, or of products along an axis of no orders."""
        key = {"dimension": None, "products": "dimension"}.get(self.regressor, "degree")
        if key and key not in self.where:
            yield "where", f"no {key} for the regressor {self.regressor}", f"a {key}"
        if self.regressor == "products" and self.axis not in ORDERS:
            yield "axis", f"{self.axis} for the regressor {self.regressor}", f"an axis of orders: {' or '.join(ORDERS)}"

    def _estimate(self, tables, probes) -> estimates.Measurement:
        (table,), (values,) = tables, self.regressor_values(tables)
        return estimates.exponent(table, values, self.sizes)
