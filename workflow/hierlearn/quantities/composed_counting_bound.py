"""The lower bound that counting sets to kernels and fixed features on compositions of signs."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge

from hierlearn.core.parameters import Count, NotNegative, Reference
from hierlearn.core.protocols import DataArray, Dataset
from hierlearn.quantities._counting import CountingQuantity
from hierlearn.theory.dimensions import composition_risk_bound

# Parameters whose axes take their places.
BOUNDED_BY = ("alpha", "beta", "order")


@dataclass(frozen=True, kw_only=True)
class ComposedCountingBound(CountingQuantity):
    """Largest ratio of k alpha^2 (1 - N / C(d, k)) to the risk over the cells (learner, axes, swept values, n).

    N = n points of any kernel at any weights  (allenzhu2019, Theorems 2 and 3), or D fixed features (Theorem 4), on the
    teacher residual_composition, `product`. Proof, in two steps: adding all d signs to the N functions makes the span
    larger, so F can be had for nothing; what is left of the span beside the signs has at most N dimensions, and as the
    products of k signs are orthonormal, and orthogonal to F, at most N / C(d, k) of a random one lies in it. Each of
    the k outputs has the same product to fit and a span of its own. A ridge may be chosen by the labels, points,
    features and the kernel's own parameters may not: the span must not know the coordinates. Where the labels choose
    among B kernels, what they choose lies in the span of all, so that N is B n (`spans`).

    The bound is one on the mean over coordinates: every seed draws its own, and a cell is the mean over seeds. Cells
    with N >= C(d, k), where the bound says nothing, are not counted.
    """

    UNIT: ClassVar[str] = "largest ratio to the bound"
    reach = "N = C(d, k)"
    features: Annotated[
        Count | None, "Number D of fixed features. null: a kernel, which has one function per sample."
    ] = None
    features_axis: Annotated[
        str | None, Reference("axis"), "Axis that holds the number of features, in place of `features`."
    ] = None
    alpha: Annotated[NotNegative, "Factor alpha of the teacher; an axis of this name takes its place."] = 0.3
    beta: Annotated[NotNegative, "Factor beta of the teacher; an axis of this name takes its place."] = 1
    order: Annotated[
        int, Ge(2), "Number k of signs in the teacher's product; an axis of this name takes its place."
    ] = 4

    @property
    def axes(self) -> tuple[str | None, ...]:
        return ("dimension", *BOUNDED_BY, self.features_axis)

    def _bound(self, cells: Dataset) -> DataArray:
        """The bound in the units of the risk, where |H|^2 = k (alpha^2 + beta^2) is the stored norm's square."""
        import xarray

        alpha, beta, order = (cells.coords.get(name, vars(self)[name]) for name in BOUNDED_BY)
        functions = cells.coords[self.features_axis or "samples"] if self.features is None else self.features
        paper = xarray.apply_ufunc(
            np.vectorize(composition_risk_bound, otypes=[float]), self.spans * functions, cells.dimension, order, alpha
        )
        return paper * cells.target_norm**2 / (order * (alpha**2 + beta**2))
