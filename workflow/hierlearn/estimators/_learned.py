"""Estimators that train a learner of the library through the bridge."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from hierlearn.core.protocols import Learner, State
from hierlearn.estimators import _arrays
from hierlearn.estimators._base import NAMES, Progress, Selecting, scale_of


class Learned(Selecting):
    """A learner on arrays; a subclass builds it, says what it chooses among, and reads its fit."""

    # What to do where a training did not settle, and whether the model remembers its training points.
    _remedy = ""
    _keeps_points = False

    def _learner(self) -> Learner:
        """Build the learner from the parameters. Raises ValueError."""
        raise NotImplementedError

    def _choices(self) -> dict[str, list[float]]:
        """Return what the learner chooses among on held-out points."""
        raise NotImplementedError

    def _finish(self, fit: Any, choices: Mapping[str, Any]) -> None:
        """Set the fitted attributes."""
        raise NotImplementedError

    def _see(self, X: np.ndarray) -> np.ndarray:
        """Return points (n, D) as the model sees them, in their precision."""
        return X / self.scale_

    def _shape(self) -> tuple[int, int, int] | None:
        """Return the shape of pictures, None for vectors."""
        return None

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.
        y : array-like of shape (n_samples,) or, for regression, (n_samples, n_outputs)
            Targets, or classes of any type.

        Returns
        -------
        estimator
            The estimator itself. Raises ValueError, one line, for a parameter or data that are not allowed.
        """
        X, y = self._read(X, y)
        self._model, choices, labels = self._learner(), self._choices(), self._encode(y, None)
        self.scale_ = scale_of(X, self.scale)
        x = self._see(X).astype(np.float32, copy=False)
        fit, chosen, rows = self._select((x, labels), labels, choices)
        self._state = self._state_of(fit)
        self._points = x[rows] if self._keeps_points else None
        self.status_ = NAMES[self._status_of(fit)]
        self._finish(fit, chosen)
        self._warn(self.status_, self._remedy)
        return self

    def _state_of(self, fit: Any) -> Any:
        return fit.state

    def _status_of(self, fit: Any) -> int:
        return int(fit.status[0])

    def _train(
        self, data: Any, rows: np.ndarray, held: np.ndarray, choices: Mapping[str, Sequence[Any]]
    ) -> tuple[Any, dict[str, Any]]:
        x, labels = data
        fit = self._fit_columns(x, labels, rows, held, choices, self._kind)
        return fit, {name: values[0] for name, values in fit.choices.items()}

    def _fit_columns(
        self,
        x: np.ndarray,
        labels: np.ndarray,
        rows: np.ndarray,
        held: np.ndarray,
        choices: Mapping[str, Sequence[Any]],
        kind: str,
    ) -> Any:
        training, held_out = (_arrays.Rows(x[some], labels[some]) for some in (rows, held))
        options: dict[str, Any] = {"shape": self._shape(), "monitor": Progress(self)}
        try:
            return _arrays.fit(self._model, kind, training, held_out, choices, self._seed, **options)
        except ValueError as error:
            # A learner's own name says less than the estimator's.
            _, _, rest = str(error).partition(": ")
            raise ValueError(f"{type(self).__name__}: {rest}") from error

    def _outputs(self, X: np.ndarray) -> np.ndarray:
        x = self._see(X)
        points = None if self._points is None else self._points.astype(x.dtype, copy=False)
        return _arrays.predict(self._model, in_precision(self._state, x), x, points)


def in_precision(state: State, x: np.ndarray) -> State:
    """Return a state whose single numbers have the precision of points, so that predictions do not hang on a batch."""
    if x.dtype != np.float64:
        return state
    return {name: values.astype(np.float64) if values.dtype == np.float32 else values for name, values in state.items()}
