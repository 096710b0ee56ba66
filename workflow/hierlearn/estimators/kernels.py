"""Kernel ridge regression with tangent kernels, exact and on landmarks, as regressor and classifier."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self

import numpy as np
from annotated_types import Interval

from hierlearn.core import registry
from hierlearn.core.parameters import Count
from hierlearn.core.protocols import Fit, Kernel
from hierlearn.estimators import _arrays
from hierlearn.estimators._base import Classification, Progress, Regression, Selecting, scale_of
from hierlearn.estimators._limits import component
from hierlearn.estimators._points import Weighted, distinct, landmarks, weights_of
from hierlearn.kernels.ntk import Ntk
from hierlearn.learners.kernel_ridge import KernelRidge
from hierlearn.solvers.nystrom import Nystrom
from hierlearn.solvers.ridge import Indefinite, ridge_path
from hierlearn.solvers.ridge_spectrum import leave_one_out_path

# Up to so many points leave-one-out errors choose the ridge; their decomposition takes as long as 14 factorisations.
LEAVE_ONE_OUT_POINTS = 5000
# Bytes of a block of the kernel between points and support points.
BLOCK_BYTES = 1 << 27
ALPHAS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)

PARAMETERS = """
    Parameters
    ----------
    depth : int, default=1
        Number of hidden layers of the network whose tangent kernel it is.
    bias : bool, default=True
        Whether the network sees (x, 1) / sqrt(2) for x.
    trained : {"all", "hidden", "last"}, default="all"
        Layers that are trained; "last" is the conjugate kernel.
    kernel : None, str, mapping or kernel, default=None
        Another kernel in place of depth, bias and trained: a name of `hierlearn.available("kernels")`, a mapping with
        its `name` and parameters, or a kernel that `hierlearn.build` made.
    alphas : float or sequence of float, default=(1, 1e-1, ..., 1e-8)
        Ridges in units of the Gram matrix's mean diagonal.
    n_landmarks : int or None, default=None
        Number of landmarks, drawn among the distinct points, that carry the model (Nystrom). Memory then grows with its
        square and time with the number of points. None: all points, exactly.
    fit_intercept : bool, default=True
        Whether targets are centred; of classes nothing is.
    scale : {"auto"} or None, default="auto"
        "auto" divides points by the root of their mean squared norm, and targets by their standard deviation.
    validation_fraction : float, default=0.2
        Share of the points on which the ridge is chosen with landmarks, or beyond 5000 points.
    cv : int, splitter or iterable, default=None
        Folds on which the ridge is chosen. None: exact leave-one-out errors up to 5000 points, for which equal points
        count as one, then a share of the points.
    refit : bool, default=True
        Whether the model is fitted on all points once held-out points have chosen the ridge.
    verbose : int, default=0
        Whether progress is printed.
    random_state : int, RandomState instance or None, default=None
        Seed of landmarks and of the held-out share.

    Attributes
    ----------
    alpha_ : float
        The chosen ridge.
    X_fit_ : ndarray of shape (n_support, n_features)
        Points that carry the model, over `scale_`.
    dual_coef_ : ndarray of shape (n_support, n_outputs)
        Their coefficients.
    loo_risks_ : ndarray of shape (n_alphas,)
        Mean squared leave-one-out error at every ridge, in units of the scaled targets; where it was used.
    kernel_ : kernel
        The kernel.
    scale_ : float
        What points are divided by.
"""


class _KernelRidge(Selecting):
    """Kernel ridge regression on support points: all points, or landmarks."""

    _limits: Mapping[str, Any] = {
        **Selecting._limits,
        "fit_intercept": bool,
        "n_landmarks": Count | None,
        "depth": Annotated[int, Interval(ge=1, le=19)],
    }

    def __init__(
        self,
        depth: int = 1,
        bias: bool = True,
        trained: str = "all",
        kernel: Any = None,
        alphas: float | Sequence[float] = ALPHAS,
        n_landmarks: int | None = None,
        fit_intercept: bool = True,
        scale: str | None = "auto",
        validation_fraction: float = 0.2,
        cv: Any = None,
        refit: bool = True,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        super().__init__(fit_intercept, scale, validation_fraction, cv, refit, verbose, random_state)
        self.depth = depth
        self.bias = bias
        self.trained = trained
        self.kernel = kernel
        self.alphas = alphas
        self.n_landmarks = n_landmarks

    def _kernel(self) -> Kernel:
        if self.kernel is None:
            words = {"bias": "bias", "trained": "trained"}
            return component(self, Ntk, words, depth=int(self.depth) + 1)
        if isinstance(self.kernel, str | Mapping):
            given = {"name": self.kernel} if isinstance(self.kernel, str) else self.kernel
            try:
                return registry.build("kernels", given)
            except ValueError as error:
                raise ValueError(f"{type(self).__name__}: kernel: {error}") from error
        if not callable(self.kernel):
            expected = "None, a name, a mapping with a name and parameters, or a kernel of hierlearn"
            raise ValueError(f"{type(self).__name__}: kernel {self.kernel!r}; expected {expected}")
        return self.kernel

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.
        y : array-like of shape (n_samples,) or, for regression, (n_samples, n_outputs)
            Targets, or classes of any type.
        sample_weight : array-like of shape (n_samples,), a number or None
            Weights of the squared errors. A point of weight 2 counts as two copies, one of weight 0 as none.

        Returns
        -------
        estimator
            The estimator itself. Raises ValueError, one line, for a parameter or data that are not allowed.
        """
        X, y = self._read(X, y)
        self.kernel_, alphas = self._kernel(), self._grid("alphas")
        weights = weights_of(self, sample_weight, len(X))
        labels = self._encode(y, weights)
        self.scale_ = scale_of(X, self.scale, weights)
        if self.n_landmarks is not None:
            self._fit_landmarks(X, labels, weights, alphas)
        else:
            self._fit_exactly(X / self.scale_, labels, weights, alphas)
        return self

    def _fit_exactly(self, x: np.ndarray, labels: np.ndarray, weights: np.ndarray | None, alphas: list[float]) -> None:
        if self.cv is None and len(alphas) > 1 and len(x) <= LEAVE_ONE_OUT_POINTS:
            self._fit_by_leaving_one_out(*distinct(x, labels, weights), alphas)
            return
        kernel, shown = self.kernel_, x
        if weights is not None:
            # The errors of weighted points are those of points times roots of weights.
            root = np.sqrt(weights / np.mean(weights))[:, None]
            kernel, shown, labels = Weighted(kernel), np.hstack([x, root]), labels * root
        data = kernel, shown, labels
        coefficients, chosen, rows = self._select(data, labels, {"ridge": alphas})
        self.alpha_ = float(chosen["ridge"])
        self.X_fit_ = x if len(rows) == len(x) else x[rows]
        self.dual_coef_ = coefficients.state["coefficients"][0]
        if weights is not None:
            self.dual_coef_ = self.dual_coef_ * root[rows]

    def _train(
        self, data: Any, rows: np.ndarray, held: np.ndarray, choices: Mapping[str, Any]
    ) -> tuple[Fit, dict[str, Any]]:
        kernel, x, labels = data
        training, held_out = (_arrays.Rows(x[some], labels[some]) for some in (rows, held))
        if len(choices["ridge"]) == 1 and len(rows) == len(x):
            return self._solve(kernel, training, float(choices["ridge"][0]))
        fit = _arrays.fit(
            KernelRidge(kernel=kernel), "regression", training, held_out, choices, self._seed, None, Progress(self)
        )
        if not np.isfinite(fit.state["coefficients"]).all():
            self._refuse_ridges(choices["ridge"])
        return fit, {"ridge": float(fit.choices["ridge"][0])}

    def _risk(self, data: Any, fit: Fit, rows: np.ndarray, held: np.ndarray) -> float:
        """Mean squared error on held-out points, of which weighted ones count by their weights."""
        kernel, x, labels = data
        errors = kernel(x[held], x[rows]) @ fit.state["coefficients"][0] - labels[held]
        mass = np.sum(x[held, -1] ** 2) if isinstance(kernel, Weighted) else len(held)
        return float(np.sum(errors**2) / mass)

    def _solve(self, kernel: Kernel, points: _arrays.Rows, alpha: float) -> tuple[Fit, dict[str, Any]]:
        """Solve for one ridge on all points: there is nothing to choose."""
        gram = kernel(points.x)
        try:
            duals = ridge_path(gram, points.labels, np.array([alpha * float(np.mean(np.diag(gram)))]))
        except Indefinite:
            self._refuse_ridges([alpha])
        unknown = np.full(1, np.nan)
        fit = Fit({"coefficients": duals.coefficients}, np.zeros(1, np.int8), unknown, unknown)
        return fit, {"ridge": alpha}

    def _fit_by_leaving_one_out(
        self, x: np.ndarray, labels: np.ndarray, weights: np.ndarray, alphas: list[float]
    ) -> None:
        """Choose the ridge by exact leave-one-out errors. x (n, d): distinct points; weights (n,) of mean 1."""
        root = np.sqrt(weights)[:, None]
        gram = Weighted(self.kernel_)(np.hstack([x, root])) if np.ptp(weights) else self.kernel_(x)
        unit = float(np.mean(np.diag(gram)))
        found = leave_one_out_path(gram, labels * root, np.asarray(alphas) * unit)
        del gram
        errors = np.mean(np.sum(found.errors**2, axis=-1), axis=-1)
        if not np.isfinite(errors).any():
            self._refuse_ridges(alphas)
        place = int(np.nanargmin(errors))
        self.alpha_, self.loo_risks_ = alphas[place], errors
        self._warn_end(
            "alpha_", self.alpha_, [alpha for alpha, e in zip(alphas, errors, strict=True) if np.isfinite(e)]
        )
        self.X_fit_, self.dual_coef_ = x, found.coefficients[place] * root

    def _refuse_ridges(self, alphas: Sequence[float]) -> None:
        found = f"alphas up to {max(alphas):g} leave a singular matrix"
        raise ValueError(f"{type(self).__name__}: {found}; expected larger ones, or another kernel")

    def _fit_landmarks(
        self, X: np.ndarray, labels: np.ndarray, weights: np.ndarray | None, alphas: list[float]
    ) -> None:
        """Fit on landmarks, with points in blocks; held-out points that chose the ridge join the others at the end."""
        self.landmark_indices_ = landmarks(X, weights, int(self.n_landmarks or 0), self._seed)
        self.X_fit_ = X[self.landmark_indices_] / self.scale_
        gram, every = self.kernel_(self.X_fit_), np.arange(len(X))
        ridges = np.asarray(alphas) * float(np.mean(np.diag(gram)))
        sums = Nystrom(gram, labels.shape[1])
        splits = self._splits(labels) if len(alphas) > 1 or not self.refit else [(every, every[:0])]
        if len(splits) > 1 and not self.refit:
            self._refuse_folds(len(splits))
        risks, data = np.zeros(len(alphas)), (X, labels, weights)
        for training, held in splits:
            sums.clear()
            self._add_blocks(sums, *data, training)
            places, found = sums.solve(ridges)
            left = np.full(len(alphas), np.inf)
            # Where a landmark was held out nothing but the ridge ties the model down: its error tells of no new point.
            new = np.setdiff1d(held, self.landmark_indices_)
            left[places] = self._risks_on(*data, new if len(new) else held, found) if len(held) else 0.0
            risks += left / len(splits)
        if not np.isfinite(risks).any():
            self._refuse_ridges(alphas)
        place = int(np.argmin(risks))
        self.alpha_ = alphas[place]
        if len(alphas) > 1:
            self.validation_risk_ = float(risks[place])
            self._warn_end("alpha_", self.alpha_, [a for a, r in zip(alphas, risks, strict=True) if np.isfinite(r)])
        if not self.refit or not len(held):
            self.dual_coef_ = found[list(places).index(place)]
            return
        if len(splits) > 1:
            sums.clear()
        self._add_blocks(sums, *data, held if len(splits) == 1 else every)
        self.dual_coef_ = sums.solve(ridges[place : place + 1])[1][0]

    def _blocks(self, rows: np.ndarray) -> list[np.ndarray]:
        size = self._rows_at_once()
        return [rows[start : start + size] for start in range(0, len(rows), size)]

    def _add_blocks(
        self, sums: Nystrom, X: np.ndarray, labels: np.ndarray, weights: np.ndarray | None, rows: np.ndarray
    ) -> None:
        blocks, progress = self._blocks(rows), Progress(self)
        for number, some in enumerate(blocks, start=1):
            own = None if weights is None else weights[some]
            sums.add(self.kernel_(X[some] / self.scale_, self.X_fit_), labels[some], own)
            progress.advance(number, len(blocks))

    def _risks_on(
        self, X: np.ndarray, labels: np.ndarray, weights: np.ndarray | None, rows: np.ndarray, coefficients: np.ndarray
    ) -> np.ndarray:
        """Mean squared errors (R,) of coefficients (R, m, k) on some rows."""
        total, mass = np.zeros(len(coefficients)), 0.0
        flat = np.concatenate(list(coefficients), axis=1)
        for some in self._blocks(rows):
            outputs = (self.kernel_(X[some] / self.scale_, self.X_fit_) @ flat).reshape(
                len(some), len(coefficients), -1
            )
            own = np.ones(len(some)) if weights is None else weights[some]
            total += own @ np.sum((outputs - labels[some][:, None]) ** 2, axis=-1)
            mass += own.sum()
        return total / mass

    def _rows_at_once(self) -> int:
        return max(1, BLOCK_BYTES // (8 * len(self.X_fit_)))

    def _outputs(self, X: np.ndarray) -> np.ndarray:
        return self.kernel_(X / self.scale_, self.X_fit_) @ self.dual_coef_


class NTKRegressor(_KernelRidge, Regression):
    __doc__ = f"""Fit kernel ridge regression with the tangent kernel of a wide network  (Jacot et al. 2018).

    The ridge is chosen by exact leave-one-out errors, of all ridges from one eigendecomposition.
{PARAMETERS}
    Examples
    --------
    >>> from hierlearn.datasets import make_ridge_polynomial
    >>> from hierlearn.estimators import NTKRegressor
    >>> X, y = make_ridge_polynomial(400, n_features=5, degree=2, noise=0.1, random_state=0)
    >>> model = NTKRegressor(depth=2).fit(X[:300], y[:300])
    >>> bool(model.score(X[300:], y[300:]) > 0.9)
    True
    """


class NTKClassifier(_KernelRidge, Classification):
    __doc__ = f"""Classify by kernel ridge regression with the tangent kernel of a wide network  (Jacot et al. 2018).

    Classes are fitted as -1 and +1, one output for two classes and one for each of more.
{PARAMETERS}
    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from hierlearn.estimators import NTKClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = NTKClassifier(n_landmarks=200, random_state=0).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.95)
    True
    """
