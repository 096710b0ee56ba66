"""Exponent of the sample complexity of one learner."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from hierlearn.core.parameters import Reference
from hierlearn.core.protocols import Quantity
from hierlearn.quantities._parameters import Learner, Threshold
from hierlearn.quantities._sizes import fitted_along
from hierlearn.quantities._tables import add_notes, complexities, failures, nonconvergence, regressor, without_interval
from hierlearn.statistics import estimates
from hierlearn.statistics.estimates import Measurement

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class Exponent(Quantity):
    """Slope of log n* on log of a counted dimension or of another axis, a line through the medians over seeds."""

    learner: Learner
    sizes: Annotated[
        list[float] | None,
        Reference("axis values"),
        "Values of the axis that the line is fitted to, named before the run; null: all of the study's.",
    ] = None
    axis: Annotated[str, Reference("axis"), "The axis along which n* grows."] = "dimension"
    where: Annotated[dict[str, Any], Reference("coordinates"), "Values of the other axes."] = field(
        default_factory=dict
    )
    threshold: Threshold = 0.5
    regressor: Annotated[
        Literal["dimension", "harmonic_dimension", "polynomial_dimension", "quad_raw_dimension"],
        "What n* is compared with; dimension is the value of the axis itself.",
    ] = "dimension"
    risk: Annotated[
        Literal["test_risk", "test_error"],
        "test_risk is the ratio estimate, test_error the bare mean over test points.",
    ] = "test_risk"

    @property
    def learners(self) -> list[str]:
        """The learners that the quantity rests on."""
        return [self.learner]

    def measure(self, cube: "xarray.Dataset", probes: "dict[str, xarray.Dataset]") -> Measurement:
        """cube: scores.nc of a study; probes: its probes by name."""
        table = complexities(cube, self.learner, self.where, self.threshold, self.risk, self.axis)
        values = regressor(self.regressor, table.sizes, self.where.get("degree"))
        measured = fitted_along(self.axis, estimates.exponent(table, values, self.sizes))
        rested = cube, self.learner, self.where, table, self.axis
        return add_notes(without_interval(measured, failures(*rested)), nonconvergence(*rested))
