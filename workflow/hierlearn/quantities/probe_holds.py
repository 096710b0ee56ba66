"""An inequality between two variables of a probe, case by case."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from hierlearn.core.parameters import Reference
from hierlearn.core.protocols import Quantity
from hierlearn.quantities._parameters import Probe
from hierlearn.quantities._probes import variable_at
from hierlearn.quantities._sizes import over
from hierlearn.statistics import estimates
from hierlearn.statistics.estimates import Measurement

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class ProbeHolds(Quantity):
    """The largest ratio smaller / larger over the cases of the inequality larger >= smaller."""

    probe: Probe
    larger: Annotated[str, Reference("probe measures"), "The side that is to be larger."]
    smaller: Annotated[str, Reference("probe measures"), "The other side."]
    level: Annotated[
        float | None,
        "A number that takes the place of the smaller side, such as the loss of the predictor zero; null: none.",
    ] = None
    where: Annotated[
        dict[str, Any],
        Reference("some probe coordinates"),
        "Coordinates that are fixed; every other place, and every seed, is a case.",
    ] = field(default_factory=dict)

    @property
    def learners(self) -> list[str]:
        """None: a probe is no learner."""
        return []

    def measure(self, cube: "xarray.Dataset", probes: "dict[str, xarray.Dataset]") -> Measurement:
        """probes: datasets by name. A case that was not measured leaves the claim inconclusive."""
        import xarray

        larger = variable_at(probes[self.probe], self.larger, self.where)
        smaller = variable_at(probes[self.probe], self.smaller, self.where)
        larger, smaller = xarray.broadcast(larger, smaller)
        smaller = smaller if self.level is None else xarray.full_like(smaller, self.level, dtype=float)
        seeds = larger.sizes.get("seed", 0)
        sides = [side.transpose(..., "seed", missing_dims="ignore").values for side in (larger, smaller)]
        return over(estimates.cases(*(side if seeds else side[..., None] for side in sides), seeds), larger)
