"""An inequality between two variables of a probe, case by case."""

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from hierlearn.core.parameters import Reference
from hierlearn.quantities._bases import OfProbe
from hierlearn.quantities._tables import over, variable_at
from hierlearn.statistics import estimates


@dataclass(frozen=True, kw_only=True)
class ProbeHolds(OfProbe):
    """The largest ratio smaller / larger over the cases of the inequality larger >= smaller."""

    UNIT: ClassVar[str] = "largest ratio to the bound"
    larger: Annotated[str, Reference("probe measures"), "The side that is to be larger."]
    smaller: Annotated[str, Reference("probe measures"), "The other side."]
    where: Annotated[
        dict[str, Any],
        Reference("some probe coordinates"),
        "Coordinates that are fixed; every other place, and every seed, is a case.",
    ] = field(default_factory=dict)
    level: Annotated[
        float | None,
        "A number that takes the place of the smaller side, such as the loss of the predictor zero; null: none.",
    ] = None

    def _estimate(self, probe) -> estimates.Measurement:
        import xarray

        names = self.larger, self.smaller
        larger, smaller = xarray.broadcast(*(variable_at(probe, name, self.where) for name in names))
        smaller = smaller if self.level is None else xarray.full_like(smaller, self.level, dtype=float)
        seeds = larger.sizes.get("seed", 0)
        sides = [side.transpose(..., "seed", missing_dims="ignore").values for side in (larger, smaller)]
        return over(estimates.cases(*(side if seeds else side[..., None] for side in sides), seeds), larger)
