"""Neural representations as a transformer."""

import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from hierlearn.core.parameters import Count
from hierlearn.core.streams import Streams
from hierlearn.estimators._arrays import KEY
from hierlearn.estimators._base import PREDICTED_ROWS, Scale, scale_of, seed_of
from hierlearn.estimators._limits import component, refuse_annotated
from hierlearn.representations.neural import Neural

WORDS = {"n_components": "count", "activation": "features", "bias": "bias", "whiten": "whiten"}
# Points for each direction with which a covariance is known well enough to be whitened  (chen2020, Section 4).
POINTS_PER_DIRECTION = 8


class NeuralRepresentation(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Map points to whitened features of a random one-hidden-layer network  (Chen et al. 2020, eq. 3 and 4).

    h(x) = S^{-1/2} g(x) / sqrt(D) with g(x) = phi(V x + b), V and b standard normal and S the second moment of g over
    the points of `fit`. The mean squared norm of h is 1.

    Parameters
    ----------
    n_components : int, default=256
        Number D of random features.
    activation : {"step", "relu", "relu2", "quadratic"}, default="quadratic"
        Activation phi of the features.
    bias : bool, default=True
        Whether b is drawn; else b = 0.
    whiten : {"truncated", "full", "none"}, default="truncated"
        "truncated" keeps the leading directions of S. "full" keeps all D and needs at least 8 D points: with fewer, new
        points have far larger norms than those of `fit`, and `fit` warns. "none" only scales.
    n_directions : int or None, default=None
        Directions that "truncated" keeps; None keeps one for every 8 points, at most D.
    scale : {"auto"} or None, default="auto"
        "auto" divides points by the root of their mean squared norm.
    random_state : int, RandomState instance or None, default=None
        Seed of V and b.

    Attributes
    ----------
    spectrum_ : ndarray of shape (n_components,)
        Eigenvalues of S, descending.
    rank_ : int
        Number of eigenvalues above rounding.
    scale_ : float
        What points are divided by.

    Examples
    --------
    >>> import numpy as np
    >>> from hierlearn.datasets import make_points
    >>> from hierlearn.estimators import NeuralRepresentation
    >>> X = make_points(800, n_features=5, random_state=0)
    >>> H = NeuralRepresentation(64, n_directions=16, random_state=0).fit_transform(X)
    >>> H.shape
    (800, 16)
    >>> round(float(np.mean(np.sum(H**2, axis=1))), 3)
    1.0
    """

    _limits: Mapping[str, Any] = {"n_directions": Count | None, "scale": Scale}

    def __init__(
        self,
        n_components: int = 256,
        activation: str = "quadratic",
        bias: bool = True,
        whiten: str = "truncated",
        n_directions: int | None = None,
        scale: str | None = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.activation = activation
        self.bias = bias
        self.whiten = whiten
        self.n_directions = n_directions
        self.scale = scale
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, X_unlabelled: Any = None) -> Self:
        """Draw the features and whiten them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.
        y : ignored
            Not used.
        X_unlabelled : array-like of shape (n_unlabelled, n_features) or None
            Points on which the features are whitened in place of X.

        Returns
        -------
        transformer
            The transformer itself. Raises ValueError, one line, for a parameter or data that are not allowed.
        """
        refuse_annotated(self, self._limits)
        X = validate_data(self, X, ensure_min_samples=2, dtype=[np.float64, np.float32])
        if X_unlabelled is not None:
            X = check_array(X_unlabelled, ensure_min_samples=2, dtype=[np.float64, np.float32])
            if X.shape[1] != self.n_features_in_:
                expected = f"the {self.n_features_in_} of X"
                raise ValueError(f"{type(self).__name__}: X_unlabelled has {X.shape[1]} features; expected {expected}")
        self.scale_ = scale_of(X, self.scale)
        self._layer = component(self, Neural, WORDS, directions=self._directions(len(X)), unlabelled=max(2, len(X)))
        streams = Streams(KEY, (seed_of(self.random_state),)).at("representation", Neural.stream_key)
        self._state = self._layer.fit((X / self.scale_).astype(np.float32, copy=False)[None], streams)
        self.spectrum_, self.rank_ = self._state["spectrum"][0], int(self._state["rank"][0])
        self._n_features_out = self.n_components if self.whiten == "none" else self._state["whitening"].shape[2]
        return self

    def _directions(self, points: int) -> int:
        """Return the directions that are kept; warn where the points are too few to whiten all."""
        needed = POINTS_PER_DIRECTION * self.n_components if isinstance(self.n_components, int) else 0
        if self.whiten == "full" and points < needed:
            warnings.warn(
                f"{type(self).__name__}: {points} points for n_components = {self.n_components} with full whitening; "
                f"expected at least {POINTS_PER_DIRECTION} for each, {needed}, or whiten='truncated'",
                UserWarning,
                stacklevel=3,
            )
        if self.whiten != "truncated":
            return 0
        if self.n_directions is not None:
            return int(self.n_directions)
        return max(1, min(int(self.n_components), points // POINTS_PER_DIRECTION))

    def transform(self, X: Any) -> np.ndarray:
        """Return the features of points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
            Features, float32 for X in float32 and else float64.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        blocks = [X[start : start + PREDICTED_ROWS] / self.scale_ for start in range(0, len(X), PREDICTED_ROWS)]
        return np.concatenate([self._layer.apply(self._state, x[None])[0] for x in blocks])
