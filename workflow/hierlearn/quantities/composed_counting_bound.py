"""The lower bound that counting sets to kernels and fixed features on compositions of signs."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import numpy as np
from annotated_types import Ge, MinLen

from hierlearn.core.parameters import Count, NotNegative, Reference
from hierlearn.core.protocols import Quantity
from hierlearn.quantities._parameters import SomeCoordinates, Spans
from hierlearn.quantities._sizes import over
from hierlearn.quantities._tables import FAILED, of_own, without_interval
from hierlearn.statistics import estimates
from hierlearn.statistics.estimates import Measurement
from hierlearn.theory.counting import composition_risk_bound

if TYPE_CHECKING:
    import xarray


# Parameters whose axes take their places.
BOUNDED_BY = ("alpha", "beta", "order")


@dataclass(frozen=True, kw_only=True)
class ComposedCountingBound(Quantity):
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

    predictors: Annotated[
        list[str],
        MinLen(1),
        Reference("learners"),
        "Names of the learners: kernels, or linear functions of fixed features.",
    ]
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
    spans: Spans = 1
    where: SomeCoordinates = field(default_factory=dict)

    @property
    def learners(self) -> list[str]:
        """The learners that the quantity rests on."""
        return list(self.predictors)

    def measure(self, cube: "xarray.Dataset", probes: "dict[str, xarray.Dataset]") -> Measurement:
        """cube: scores.nc of a study, at either scale. Ratio: the bound over the measured risk."""
        import xarray

        measured, bounds, failed, seeds = [], [], [], cube.sizes["seed"]
        for learner in self.predictors:
            own = ("dimension", *BOUNDED_BY, self.features_axis, "samples", "seed")
            chosen = of_own(cube.sel(learner=learner, **self.where), own)
            risk, bound = xarray.broadcast(chosen.test_risk, self._bound(chosen))
            trained = np.isfinite(risk).all("seed") & (bound > 0).all("seed")
            measured.append(risk.mean("seed").values[trained.values])
            bounds.append(bound.mean("seed").values[trained.values])
            if np.isin(chosen.status.values, FAILED).any():
                failed.append(f"{learner}: training failed in some cells")
        larger, smaller = np.concatenate(measured), np.concatenate(bounds)
        if not larger.size:
            return Measurement(np.nan, np.nan, np.nan, "no cell below N = C(d, k) was trained by all seeds", seeds)
        return without_interval(over(estimates.cases(larger[:, None], smaller[:, None], seeds), cube), *failed)

    def _bound(self, chosen: "xarray.Dataset") -> "xarray.DataArray":
        """The bound in the units of the risk, where |H|^2 = k (alpha^2 + beta^2) is the stored norm's square."""
        import xarray

        alpha, beta, order = (chosen.coords.get(name, vars(self)[name]) for name in BOUNDED_BY)
        functions = chosen.coords[self.features_axis or "samples"] if self.features is None else self.features
        paper = xarray.apply_ufunc(
            np.vectorize(composition_risk_bound, otypes=[float]), self.spans * functions, chosen.dimension, order, alpha
        )
        return paper * chosen.target_norm**2 / (order * (alpha**2 + beta**2))
