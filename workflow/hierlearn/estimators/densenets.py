"""Quadratic DenseNets as regressor and classifier."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from hierlearn.core.protocols import Fit, State
from hierlearn.estimators import _arrays
from hierlearn.estimators._base import Classification, Regression
from hierlearn.estimators._learned import in_precision
from hierlearn.estimators.networks import DENSE_WORDS, FITTED, SELECTION, STEPS, Steps
from hierlearn.learners.densenet import Densenet


@dataclass(frozen=True)
class _Columns:
    """One fit for every output: these networks have a single one."""

    fits: list[Fit]

    @property
    def validation_risk(self) -> np.ndarray:
        """Mean squared error summed over outputs, (1,)."""
        return np.sum([fit.validation_risk for fit in self.fits], axis=0)

    @property
    def choices(self) -> dict[str, np.ndarray]:
        """What the first output chose."""
        return self.fits[0].choices


class _QuadraticDenseNet(Steps):
    _kind_of_learner, _words = Densenet, DENSE_WORDS

    def __init__(
        self,
        depth: int = 3,
        width: int = 24,
        gap: float = 0.2,
        schedule: str = "staged",
        readout: str = "refitted",
        solver: str = "adam",
        learning_rate: float | Sequence[float] = (1e-2, 1e-3),
        alpha: float | Sequence[float] = 0.0,
        momentum: float = 0.9,
        batch_size: int = 50,
        max_iter: int = 200,
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
        self.width = width
        self.gap = gap
        self.schedule = schedule
        self.readout = readout
        self.solver = solver
        self.learning_rate = learning_rate
        self.alpha = alpha
        self.momentum = momentum
        self.batch_size = batch_size
        self.max_iter = max_iter

    def _see(self, X: np.ndarray) -> np.ndarray:
        # Coordinates of variance 1, as the first layer x^2 - 1 expects them.
        return X / self.scale_ * sqrt(X.shape[1]) if self.scale is not None else X

    def _chooses(self, labels: np.ndarray) -> bool:
        # Several outputs have one setting together.
        return labels.shape[1] == 1

    def _fit_columns(
        self,
        x: np.ndarray,
        labels: np.ndarray,
        rows: np.ndarray,
        held: np.ndarray,
        choices: Mapping[str, Sequence[Any]],
        kind: str,
    ) -> _Columns:
        # Classes are fitted as -1 and +1: the learner's own losses of classes are for targets with a threshold.
        columns = [labels[:, [j]] for j in range(labels.shape[1])]
        return _Columns(
            [super(_QuadraticDenseNet, self)._fit_columns(x, y, rows, held, choices, "regression") for y in columns]
        )

    def _state_of(self, fit: _Columns) -> list[State]:
        return [one.state for one in fit.fits]

    def _status_of(self, fit: _Columns) -> int:
        return max(int(one.status[0]) for one in fit.fits)

    def _outputs(self, X: np.ndarray) -> np.ndarray:
        x = self._see(X)
        parts = [_arrays.predict(self._model, in_precision(state, x), x) for state in self._state]
        return np.concatenate(parts, axis=1)


DENSE = f"""
    Parameters
    ----------
    depth : int, default=3
        Number L of layers, 2 to 6; their degree is 2^L.
    width : int, default=24
        Number of neurons of a layer.
    gap : float, default=0.2
        Weight of a layer in the output over that of the one before.
    schedule : {{"staged", "joint", "layerwise", "restart"}}, default="staged"
        "staged" adds layer after layer and keeps the lower ones moving, "joint" trains all from the start, "layerwise"
        rests the lower ones, "restart" never adds the last.
    readout : {{"refitted", "trained"}}, default="refitted"
        "refitted" replaces the last layer by ridge regression on products of what it sees. "trained" keeps it: the
        output is then a sum of squares, which is never negative.
{STEPS}    fit_intercept : bool, default=True
        Whether targets are centred.
{SELECTION}{FITTED}"""


class QuadraticDenseNetRegressor(_QuadraticDenseNet, Regression):
    __doc__ = f"""Fit a DenseNet of quadratic layers, trained layer after layer or at once  (Allen-Zhu, Li 2020).

    Each layer squares linear functions of those before it. Points are scaled to coordinates of variance 1, and several
    outputs have a network each.
{DENSE}
    Examples
    --------
    >>> from hierlearn.datasets import make_quadratic_densenet
    >>> from hierlearn.estimators import QuadraticDenseNetRegressor
    >>> X, y = make_quadratic_densenet(1200, n_features=8, random_state=0)
    >>> model = QuadraticDenseNetRegressor(max_iter=50, learning_rate=1e-2, random_state=0).fit(X[:1000], y[:1000])
    >>> bool(model.score(X[1000:], y[1000:]) > 0.9)
    True
    """


class QuadraticDenseNetClassifier(_QuadraticDenseNet, Classification):
    __doc__ = f"""Classify by a DenseNet of quadratic layers  (Allen-Zhu, Li 2020).

    Classes are fitted as -1 and +1 by the squared loss, with a network for two classes and one for each of more.
{DENSE}
    Examples
    --------
    >>> from hierlearn.datasets import make_points
    >>> from hierlearn.estimators import QuadraticDenseNetClassifier
    >>> X = make_points(600, 4, law="gaussian", random_state=0)
    >>> y = X[:, 0] ** 2 + X[:, 1] ** 2 > 1.5
    >>> model = QuadraticDenseNetClassifier(max_iter=50, learning_rate=1e-2, random_state=0).fit(X[:400], y[:400])
    >>> bool(model.score(X[400:], y[400:]) > 0.9)
    True
    """
