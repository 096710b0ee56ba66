"""What theory says of learning curves, for a kernel or a target: dimensions by counting, and predicted risks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from hierlearn.theory import deterministic_equivalent as equivalent
from hierlearn.theory.dimensions import harmonics, neurons_of_harmonics, polynomials


class HasProfile(Protocol):
    """A kernel that is a function of the inner product of points of norm 1."""

    def profile(self, t: np.ndarray) -> np.ndarray:
        """Return the kernel of two points of norm 1 with inner product t, of any shape."""


@dataclass(frozen=True)
class Dimensions:
    """Numbers of functions that learning a target of one degree on the sphere is compared with.

    harmonics: N(d, p), of degree p alone; polynomials: of degree p at most; half: of degree ceil(p / 2) at most, which
    a representation must have for a quadratic model to reach p; quadratic: d N(d, p - 2), of a quadratic model of the
    raw input, 0 below degree 2.
    """

    harmonics: int
    polynomials: int
    half: int
    quadratic: int


def counted_dimensions(dimension: int, degree: int) -> Dimensions:
    """Count the functions that a target of one degree on the sphere S^{d-1} asks for.

    Parameters
    ----------
    dimension : int
        Number d of coordinates, at least 2.
    degree : int
        Degree p of the target, at least 0.

    Returns
    -------
    Dimensions
        Exact integers. Raises ValueError outside these limits.

    Examples
    --------
    >>> from hierlearn.theory import counted_dimensions
    >>> counted_dimensions(10, 4)
    Dimensions(harmonics=660, polynomials=935, half=65, quadratic=540)
    """
    return Dimensions(
        harmonics(dimension, degree),
        polynomials(dimension, degree),
        polynomials(dimension, (degree + 1) // 2),
        neurons_of_harmonics(dimension, degree) if degree > 1 else 0,
    )


def predicted_risk(
    kernel: HasProfile,
    n: ArrayLike,
    *,
    dimension: int,
    target: int | Mapping[int, float],
    alpha: float = 0.0,
    noise: float = 0.0,
) -> np.ndarray:
    """Predict the risk of kernel ridge regression on the sphere by its deterministic equivalent.

    Parameters
    ----------
    kernel : kernel
        A function of the inner product, such as `hierlearn.build("kernels", {"name": "ntk"})`.
    n : int or array-like of int
        Numbers of training points.
    dimension : int
        Number d of coordinates of points that are uniform on the sphere.
    target : int or mapping
        Degree of a target of norm 1, or the squared norm of every degree.
    alpha : float, default=0.0
        Ridge in units of the Gram matrix's mean diagonal, as in `NTKRegressor`.
    noise : float, default=0.0
        Standard deviation of the noise of labels.

    Returns
    -------
    ndarray of the shape of n
        E|f - f*|^2 against the noise-free target, float64; infinite where the theory's variance is. Raises ValueError
        for a kernel that is no function of the inner product.

    Examples
    --------
    >>> import hierlearn
    >>> from hierlearn.theory import predicted_risk
    >>> kernel = hierlearn.build("kernels", {"name": "ntk", "depth": 3})
    >>> predicted_risk(kernel, [30, 100, 300], dimension=10, target=2).round(3)
    array([0.972, 0.351, 0.054])
    """
    squares = (
        {int(target): 1.0} if isinstance(target, int | np.integer) else {int(k): float(v) for k, v in target.items()}
    )
    spectrum = equivalent.spectrum_for(kernel.profile, dimension, max(squares))
    ridge = alpha * float(np.asarray(kernel.profile(np.ones(1)))[0])
    samples = np.asarray(n, np.float64)
    risks = [equivalent.expected_risk(spectrum, squares, size, ridge, noise) for size in samples.reshape(-1)]
    return np.array(risks).reshape(samples.shape)


def predicted_sample_complexity(
    kernel: HasProfile,
    *,
    dimension: int,
    degree: int,
    threshold: float = 0.5,
    alphas: Sequence[float] = (0.0,),
    noise: float = 0.0,
) -> float:
    """Predict how many samples kernel ridge regression needs for a risk, at the best of some ridges.

    Parameters
    ----------
    kernel : kernel
        As in `predicted_risk`.
    dimension, degree : int
        Coordinates of points on the sphere, and the degree of a target of norm 1.
    threshold : float, default=0.5
        Risk that is to be reached, below 1.
    alphas : sequence of float, default=(0.0,)
        Ridges in units of the Gram matrix's mean diagonal.
    noise : float, default=0.0
        Standard deviation of the noise of labels.

    Returns
    -------
    float
        Number of samples, a real number; NaN where 1e16 are not enough.

    Examples
    --------
    >>> import hierlearn
    >>> from hierlearn.theory import predicted_sample_complexity
    >>> kernel = hierlearn.build("kernels", {"name": "ntk", "depth": 3})
    >>> round(predicted_sample_complexity(kernel, dimension=10, degree=2))
    74
    """
    unit = float(np.asarray(kernel.profile(np.ones(1)))[0])
    ridges = [alpha * unit for alpha in alphas]
    return equivalent.sample_complexity(kernel.profile, dimension, degree, threshold, ridges, noise)
