"""Kernel ridge regression with any kernel, solved exactly."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from hierlearn.core.needs import Needs, Sizes
from hierlearn.core.parameters import Nested, Positive
from hierlearn.core.protocols import Features, Fit, Kernel, Learner, Monitor, State, TrainingData
from hierlearn.learners._dual import DualFit, cross_gram_matrix, fit_dual, gram_matrix, no_fit
from hierlearn.learners._selection import best, fit_of_seed, points_by_seed
from hierlearn.theory.gegenbauer import spectrum

log = logging.getLogger("hierlearn")
# Bytes of the kernel matrices of all bandwidths up to which they are kept for the next sample size. Beyond, those of
# one bandwidth are in memory at a time, and are computed again, which takes less than the solve.
KEPT_BYTES = 1e9


@dataclass(frozen=True, kw_only=True)
class KernelRidge(Learner):
    """f(x) = sum_i alpha_i K(x_i / b, x / b), (K + n ridge mean(diag K) I) alpha = y in float64  (chen2020, eq. 8).

    The bandwidth b changes nothing for a homogeneous kernel without a bias. Of choices with equal errors on validation
    points the one with the least squared error is kept, then the first, the ridge varying fastest.
    """

    kernel: Annotated[Kernel, Nested("kernels", {"name": "ntk_raw"}), "The kernel and its parameters."]
    stream_key: ClassVar[str] = "KernelRidge"
    MEASURES = {"ridge_residual": "relative residual |(K + n ridge I) alpha - y| / |y| at the chosen ridge"}

    class Choices:
        ridge: Annotated[Positive, "Ridges in units of the mean diagonal of the Gram matrix."]
        bandwidth: Annotated[Positive, "What the input is divided by before the kernel sees it."] = 1.0

    def needs(self, sizes: Sizes) -> Needs:
        """Count Gram matrices, a smaller predecessor and a factor; kernels between points and others, while it grows.

        parallel: rows of the kernel's tiles, factors and products of Gram matrices, but not the choice of a ridge.
        """
        n, tried = sizes.samples, sizes.tried.get("bandwidth", 1)
        entries = n * (n + sizes.validation)
        kept = tried * entries if _keeps(tried, n, sizes.validation) else 0
        return Needs(
            memory={
                "fit": 2 * n**2 + sizes.validation * n + max(kept, entries),
                "kept": kept,
                "model": n * sizes.outputs,
                "predict": 2 * sizes.test * n,
            },
            work={"fit": sizes.choices * n**3 + 200 * tried * entries, "predict": 200 * sizes.test * n},
            parallel=0.7,
        )

    def fit(self, sample: TrainingData, monitor: Monitor, cache: dict[Any, Any]) -> Fit:
        """Fit all seeds; state: coefficients (S, n, k) float64 on the first n training points, bandwidth (S,)."""
        bandwidths = sample.choices.get("bandwidth", [self.Choices.bandwidth])
        for key in [key for key in cache if key[-1] not in bandwidths]:
            # Gram matrices of a bandwidth that was swept before are in the way of this one's.
            del cache[key]
        if not (keeps := _keeps(len(bandwidths), sample.n, sample.data.held_out)):
            cache.clear()
        fits = []
        for seed, points in zip(sample.data.seeds, points_by_seed(sample), strict=True):
            tried = []
            for b in bandwidths:
                try:
                    tried.append(self._fit_bandwidth(b, points, sample, cache, seed))
                except OverflowError:
                    log.warning("kernel ridge: points over the bandwidth %s overflow; use a larger one", b)
                    tried.append(no_fit(points[1], sample.choices["ridge"][0], "diverged"))
                if not keeps:
                    cache.clear()
            place = best(*np.transpose([(fit.validation_risk, fit.validation_loss) for fit in tried]))
            fit, b = tried[place], bandwidths[place]
            choices = {"ridge": fit.ridge} | ({"bandwidth": b} if "bandwidth" in sample.choices else {})
            parts = fit.parts | {"choices": choices, "flops": sum(fit.flops for fit in tried)}
            fits.append(fit_of_seed(state={"coefficients": fit.coefficients, "bandwidth": float(b)}, **parts))
        return Fit.stack(fits)

    def _fit_bandwidth(
        self, b: float, points: Sequence[np.ndarray], sample: TrainingData, cache: dict[Any, Any], seed: int
    ) -> DualFit:
        """points: x, y and those of validation. Raises OverflowError where the kernel is beyond the range."""
        x, y, z, labels = points
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            x, z = x / b, z / b
        if not (np.isfinite(x).all() and np.isfinite(z).all()):
            raise OverflowError(f"points over the bandwidth {b}")
        gram = gram_matrix(self.kernel, x, cache, ("gram", seed, b))
        across = cross_gram_matrix(self.kernel, z, x, cache, ("validation", seed, b))
        return fit_dual(gram, y, across, labels, sample.choices["ridge"], sample.data.kind)

    def unreachable(self, dimension: int, degree: int) -> str:
        """Return why the kernel of the raw input cannot represent a degree, in one line; "" if it can."""
        if spectrum(self.kernel.profile, dimension, [degree]).eigenvalues[0] > 0:
            return ""
        return f"the kernel has no eigenvalue at degree {degree}; give it a bias or use another one"

    def predict(self, state: State, features: Features, role: str, count: int, cache: dict[Any, Any]) -> np.ndarray:
        """Return predictions (S, count, k) float64."""
        coefficients, bandwidths = state["coefficients"], state["bandwidth"]
        points, support = features.draw(role, count), features.draw("training", coefficients.shape[1])
        outputs = []
        for i, (alpha, b) in enumerate(zip(coefficients, bandwidths.tolist(), strict=True)):
            if cache.get(("bandwidth", role, i), b) != b:
                cache.pop((role, i), None)
            cache["bandwidth", role, i] = b
            if not np.isfinite(alpha).all():
                # Nothing was learned, perhaps because the kernel sees no finite points.
                outputs.append(np.full((count, alpha.shape[-1]), np.nan))
                continue
            with np.errstate(over="ignore"):
                near, apart = support[i] / b, points[i] / b
            outputs.append(cross_gram_matrix(self.kernel, apart, near, cache, (role, i)) @ alpha)
        return np.stack(outputs)


def _keeps(bandwidths: int, samples: int, validation: int) -> bool:
    return 8 * bandwidths * samples * (samples + validation) <= KEPT_BYTES
