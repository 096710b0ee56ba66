"""What counting says of learners whose functions are fixed before the teacher is drawn: bounds, and ratios to them."""

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, MinLen

from hierlearn.core.parameters import Count, NotNegative, Positive, Reference
from hierlearn.core.protocols import DataArray, Dataset, Probes, Quantity
from hierlearn.pipeline.quantities._bases import OfLearner, OfSampleComplexities, SomeCoordinates
from hierlearn.pipeline.quantities._tables import of_own, over, span, trust
from hierlearn.statistics import estimates
from hierlearn.statistics.complexity import observes_every_seed
from hierlearn.theory.dimensions import composition_risk_bound, composition_sample_bound, harmonics

# Parameters whose axes take their places.
BOUNDED_BY = ("alpha", "beta", "order")


@dataclass(frozen=True, kw_only=True)
class _LargestRatio(Quantity):
    """Largest ratio of a bound to the risk over the cells (learner, axes, swept values, n).

    Every seed draws its teacher and its points, and the bound is one on the mean: a cell is the mean over seeds,
    with its interval. Cells at which the bound says nothing, being 0 or less, are not counted.
    """

    UNIT = "largest ratio to the bound"
    METHOD = "largest ratio"
    READS = ("test_risk", "target_norm")
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
            bound = bound.where(np.isfinite(cells.test_risk).all("seed"))
            risk, bound = xarray.broadcast(cells.test_risk, bound)
            risk, bound = (one.transpose(..., "seed").values for one in (risk, bound))
            counted = (bound > 0).all(axis=-1)
            risks.append(risk[counted])
            bounds.append(bound[counted])
            every.append(cells)
        larger, smaller = np.concatenate(risks), np.concatenate(bounds)
        if not larger.size:
            return estimates.no_value(f"no cell below {self.reach} was trained by all seeds", seeds)
        return trust(over(estimates.mean_cases(larger, smaller), cube), "in some cells", *every)


@dataclass(frozen=True, kw_only=True)
class CountingBound(_LargestRatio):
    """Largest ratio of 1 - n / N(d, p) to the risk over the cells (learner, d, p, swept values, n).

    Any predictor sum_i c_i K(x_i, .) lies in a space of n functions that the rotation of the teacher does not enter.
    Averaged over rotations, at most n / N(d, p) of a unit-norm harmonic of degree p lies in it, whatever the kernel,
    the points and the weights (chen2020, Theorem 3). Where the labels choose among B kernels, what they choose lies in
    the span of all, so that n becomes B n (`spans`). Every seed draws its teacher and its points: a cell is the mean
    over seeds. Cells with n >= N(d, p), where the bound says nothing, are not counted.
    """

    axes = "dimension", "degree"
    reach = "n = N(d, p)"

    def _bound(self, cells: Dataset) -> DataArray:
        import xarray

        count = xarray.apply_ufunc(np.vectorize(harmonics, otypes=[float]), cells.dimension, cells.degree)
        return 1.0 - self.spans * cells.samples / count


@dataclass(frozen=True, kw_only=True)
class ComposedCountingBound(_LargestRatio):
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


@dataclass(frozen=True, kw_only=True)
class CountingLogRatio(OfLearner, OfSampleComplexities):
    """Mean over seeds of log(N / n*) at the largest dimension at which every seed is observed.

    N solves k alpha^2 (1 - N / C(d, k)) = `threshold`: the samples that every kernel needs for that risk on the teacher
    residual_composition, `product`, averaged over the coordinates (allenzhu2019, Theorem 3, by counting);
    theory.dimensions has the proof. The threshold is in the target's own units, which risks have with `scale: paper`.
    """

    UNIT = "log ratio"
    METHOD = "t over seeds"
    order: Annotated[int, Ge(2), "Number k of signs in the teacher's product."] = 4
    alpha: Annotated[Positive, "Factor alpha of the teacher."] = 0.3

    def _estimate(self, tables, probes) -> estimates.Measurement:
        (table,) = tables
        seeds = table.samples.shape[1]
        whole = np.flatnonzero(observes_every_seed(table) & (table.sizes >= self.order))
        if not len(whole):
            return estimates.no_value(f"no dimension from k = {self.order} on at which every seed is observed", seeds)
        size = table.sizes[whole[-1]].item()
        count = composition_sample_bound(self.threshold, size, self.order, self.alpha)
        if not count > 0:
            reason = f"nothing is counted: the zero function has a risk of {self.order * self.alpha**2:.3g}"
            return estimates.no_value(reason, seeds)
        ratio = estimates.mean(np.log(count / table.samples[whole[-1]]))
        return replace(ratio, detail={"size": size}, sizes=span("dimension", [size]))
