"""The lower bound that counting sets to every kernel method."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hierlearn.core.protocols import DataArray, Dataset
from hierlearn.quantities._counting import CountingQuantity
from hierlearn.theory.dimensions import harmonics


@dataclass(frozen=True, kw_only=True)
class CountingBound(CountingQuantity):
    """Largest ratio of 1 - n / N(d, p) to the risk over the cells (learner, d, p, swept values, n).

    Any predictor sum_i c_i K(x_i, .) lies in a space of n functions that the rotation of the teacher does not enter.
    Averaged over rotations, at most n / N(d, p) of a unit-norm harmonic of degree p lies in it, whatever the kernel,
    the points and the weights (chen2020, Theorem 3). Where the labels choose among B kernels, what they choose lies in
    the span of all, so that n becomes B n (`spans`). Every seed draws its teacher and its points: a cell is the mean
    over seeds. Cells with n >= N(d, p), where the bound says nothing, are not counted.
    """

    UNIT: ClassVar[str] = "largest ratio to the bound"
    axes = "dimension", "degree"
    reach = "n = N(d, p)"

    def _bound(self, cells: Dataset) -> DataArray:
        import xarray

        count = xarray.apply_ufunc(np.vectorize(harmonics, otypes=[float]), cells.dimension, cells.degree)
        return 1.0 - self.spans * cells.samples / count
