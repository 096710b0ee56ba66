"""The lower bound that counting sets to every kernel method."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import numpy as np
from annotated_types import MinLen

from hierlearn.core.parameters import Reference
from hierlearn.core.protocols import Quantity
from hierlearn.quantities._parameters import SomeCoordinates, Spans
from hierlearn.quantities._sizes import over
from hierlearn.quantities._tables import FAILED, of_own, without_interval
from hierlearn.statistics import estimates
from hierlearn.statistics.estimates import Measurement
from hierlearn.theory.dimensions import harmonics

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True, kw_only=True)
class CountingBound(Quantity):
    """Largest ratio of 1 - n / N(d, p) to the risk over the cells (learner, d, p, swept values, n).

    Any predictor sum_i c_i K(x_i, .) lies in a space of n functions that the rotation of the teacher does not enter.
    Averaged over rotations, at most n / N(d, p) of a unit-norm harmonic of degree p lies in it, whatever the kernel,
    the points and the weights (chen2020, Theorem 3). Where the labels choose among B kernels, what they choose lies in
    the span of all, so that n becomes B n (`spans`). Every seed draws its teacher and its points: a cell is the mean
    over seeds. Cells with n >= N(d, p), where the bound says nothing, are not counted.
    """

    predictors: Annotated[list[str], MinLen(1), Reference("learners"), "Names of the kernel learners."]
    spans: Spans = 1
    where: SomeCoordinates = field(default_factory=dict)

    @property
    def learners(self) -> list[str]:
        """The learners that the quantity rests on."""
        return list(self.predictors)

    def measure(self, cube: "xarray.Dataset", probes: "dict[str, xarray.Dataset]") -> Measurement:
        """cube: scores.nc of a study with the axes dimension and degree. Ratio: the bound over the measured risk."""
        import xarray

        measured, bounds, failed, seeds = [], [], [], cube.sizes["seed"]
        for learner in self.predictors:
            chosen = of_own(cube.sel(learner=learner, **self.where), ("dimension", "degree", "samples", "seed"))
            left = [axis for axis in chosen.test_risk.dims if axis != "seed"]
            table = chosen.test_risk.transpose(*left, "seed")
            count = xarray.zeros_like(table.isel(seed=0), dtype=float)
            for d in np.atleast_1d(chosen.dimension.values):
                for p in np.atleast_1d(chosen.degree.values):
                    here = {axis: value for axis, value in (("dimension", d), ("degree", p)) if axis in count.dims}
                    count.loc[here] = harmonics(int(d), int(p))
            bound = 1.0 - self.spans * chosen.samples / count
            trained = np.isfinite(table).all("seed") & (bound > 0)
            measured.append(table.mean("seed").values[trained.values])
            bounds.append(bound.transpose(*left).values[trained.values])
            if np.isin(chosen.status.values, FAILED).any():
                failed.append(f"{learner}: training failed in some cells")
        larger, smaller = np.concatenate(measured), np.concatenate(bounds)
        if not larger.size:
            return Measurement(np.nan, np.nan, np.nan, "no cell below n = N(d, p) was trained by all seeds", seeds)
        return without_interval(over(estimates.cases(larger[:, None], smaller[:, None], seeds), cube), *failed)
