"""Sample complexities and exponents of measured learning curves, with what censored curves leave known."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from hierlearn.statistics.complexity import Complexities
from hierlearn.statistics.exponents import Slope, slope
from hierlearn.statistics.learning_curves import crossings


@dataclass(frozen=True)
class SampleComplexity:
    """Samples at which learning curves fall to a threshold.

    samples: n*, float64; where censored the end of the grid beyond which it lies, NaN where nothing was measured.
    status: "observed", "right_censored" (never below the threshold), "left_censored" (below at the first size) or
    "missing". Both have the shape of the curves without the axis of sizes.
    """

    samples: np.ndarray
    status: np.ndarray


def sample_complexity(sizes: ArrayLike, risks: ArrayLike, threshold: float = 0.5) -> SampleComplexity:
    """Find the samples at which learning curves fall to a threshold.

    The logarithm of the risk is made non-increasing by least squares and interpolated in the logarithm of n.

    Parameters
    ----------
    sizes : array-like of shape (n_sizes,)
        Numbers of samples, positive and increasing.
    risks : array-like of shape (..., n_sizes)
        Risks of one or several curves; NaN where a size was not run, infinite where a run failed.
    threshold : float, default=0.5
        Risk that is to be reached.

    Returns
    -------
    SampleComplexity
        Raises ValueError for sizes that do not increase, a negative risk or a threshold that is not positive.

    Examples
    --------
    >>> from hierlearn.statistics import sample_complexity
    >>> found = sample_complexity([100, 200, 400], [[1.0, 0.6, 0.3], [1.0, 0.9, 0.8]])
    >>> found.samples.round(), found.status.tolist()
    (array([240., 400.]), ['observed', 'right_censored'])
    """
    return SampleComplexity(*crossings(sizes, risks, threshold))


def fit_exponent(
    sizes: ArrayLike, n_star: ArrayLike | SampleComplexity, status: ArrayLike | None = None, level: float = 0.95
) -> Slope:
    """Fit the power with which samples grow with a size, with an interval.

    The line goes through the medians over seeds of log n* at each size. Its interval comes from the scatter of sizes
    about the line, with Student's distribution. Sizes with half their seeds or more censored are left out, and the
    result says which.

    Parameters
    ----------
    sizes : array-like of shape (n_sizes,)
        Sizes, positive and increasing: dimensions, or counted dimensions.
    n_star : array-like of shape (n_sizes, n_seeds) or (n_sizes,), or SampleComplexity
        Samples needed at every size and seed.
    status : array-like of the shape of n_star, default=None
        Status of each, as `sample_complexity` gives it. None: those of a SampleComplexity, else all observed.
    level : float, default=0.95
        Level of the interval.

    Returns
    -------
    Slope
        value, low and high of the exponent; reason where there is no interval; sizes_fitted and sizes_excluded. Raises
        ValueError for shapes that do not fit or numbers that are not positive.

    Examples
    --------
    >>> from hierlearn.statistics import fit_exponent
    >>> fit = fit_exponent([4, 8, 16, 32], [[15, 17], [66, 62], [250, 260], [1000, 1048]])
    >>> print(f"{fit.value:.2f} ({fit.low:.2f} to {fit.high:.2f})")
    2.00 (1.99 to 2.01)
    """
    if isinstance(n_star, SampleComplexity):
        status = n_star.status if status is None else status
    samples = np.asarray(n_star.samples if isinstance(n_star, SampleComplexity) else n_star, np.float64)
    known = np.full(samples.shape, "observed") if status is None else np.asarray(status, str)
    if samples.ndim == 1:
        samples, known = samples[:, None], known.reshape(-1, 1)
    return slope(Complexities(np.asarray(sizes, np.float64), samples, known), level=level)
