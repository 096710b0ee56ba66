"""The lower bounds that counting sets to learners whose functions are fixed before the teacher is drawn."""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import MinLen

from hierlearn.core.parameters import Count, Reference
from hierlearn.core.protocols import DataArray, Dataset, Probes, Quantity
from hierlearn.quantities._bases import SomeCoordinates
from hierlearn.quantities._tables import of_own, over, trust
from hierlearn.statistics import estimates


@dataclass(frozen=True, kw_only=True)
class CountingQuantity(Quantity):
    """Largest ratio of a bound to the risk over the cells (learner, axes, swept values, n).

    Every seed draws its teacher and its points, and the bound is one on the mean: a cell is the mean over seeds.
    Cells at which the bound says nothing, being 0 or less, are not counted.
    """

    # Coordinates that the bound hangs on, a single value of them too, None being none; and below how many functions it
    # says something, in the paper's letters.
    axes: ClassVar[tuple[str | None, ...]]
    reach: ClassVar[str]
    predictors: Annotated[
        list[str],
        MinLen(1),
        Reference("learners"),
        "Names of the learners: kernels, or linear functions of fixed features.",
    ]
    spans: Annotated[Count, "Among how many kernels, such as those of several bandwidths, the labels chose."] = 1
    where: SomeCoordinates = field(default_factory=dict)

    @property
    def learners(self) -> list[str]:
        return list(self.predictors)

    @abstractmethod
    def _bound(self, cells: Dataset) -> DataArray:
        """The bound in the units of the risk, over axes of the cells. cells: the scores of one learner."""

    def measure(self, cube: Dataset, probes: Probes) -> estimates.Measurement:
        """cube: scores.nc of a study, at either scale. Ratio: the bound over the measured risk."""
        import xarray

        risks, bounds, every, seeds = [], [], [], cube.sizes["seed"]
        for learner in self.predictors:
            cells = of_own(cube.sel(learner=learner, **self.where), (*self.axes, "samples", "seed"))
            bound = self._bound(cells)
            bound = bound.mean("seed") if "seed" in bound.dims else bound
            bound = bound.where(np.isfinite(cells.test_risk).all("seed"))
            risk, bound = xarray.broadcast(cells.test_risk.mean("seed"), bound)
            counted = (bound > 0).values
            risks.append(risk.values[counted])
            bounds.append(bound.values[counted])
            every.append(cells)
        larger, smaller = np.concatenate(risks), np.concatenate(bounds)
        if not larger.size:
            return estimates.no_value(f"no cell below {self.reach} was trained by all seeds", seeds)
        return trust(over(estimates.cases(larger[:, None], smaller[:, None], seeds), cube), "in some cells", *every)
