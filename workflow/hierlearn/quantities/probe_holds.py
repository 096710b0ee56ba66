"""An inequality between two variables of a probe, case by case."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from hierlearn.quantities._bases import OfInequality
from hierlearn.quantities._sizes import over
from hierlearn.statistics import estimates
from hierlearn.statistics.estimates import Measurement

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class ProbeHolds(OfInequality):
    """The largest ratio smaller / larger over the cases of the inequality larger >= smaller."""

    level: Annotated[
        float | None,
        "A number that takes the place of the smaller side, such as the loss of the predictor zero; null: none.",
    ] = None

    def measure(self, cube: "xarray.Dataset", probes: "dict[str, xarray.Dataset]") -> Measurement:
        """probes: datasets by name. A case that was not measured leaves the claim inconclusive."""
        import xarray

        larger, smaller = self.sides(probes)
        smaller = smaller if self.level is None else xarray.full_like(smaller, self.level, dtype=float)
        seeds = larger.sizes.get("seed", 0)
        sides = [side.transpose(..., "seed", missing_dims="ignore").values for side in (larger, smaller)]
        return over(estimates.cases(*(side if seeds else side[..., None] for side in sides), seeds), larger)
