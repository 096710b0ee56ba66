"""What all estimators share: points, labels, splits and warnings in scikit-learn's manner."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from itertools import product
from numbers import Integral
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import MinLen
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv, train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from hierlearn.core.parameters import Index, Positive, Share, schema
from hierlearn.core.protocols import REMEDIES, STATUS, Monitor, State
from hierlearn.estimators._limits import refuse, refuse_annotated

NAMES = {code: name for name, code in STATUS.items()}
# Rows that `predict` shows a model at once.
PREDICTED_ROWS = 8192
Scale = Literal["auto"] | None


class Progress(Monitor):
    """Prints lines of a long fit, from `verbose` 1 on."""

    def __init__(self, estimator: Any) -> None:
        self.name, self.verbose = type(estimator).__name__, int(estimator.verbose)

    def report(self, done: int, total: int, text: str) -> None:
        """Print a line."""
        if self.verbose:
            print(f"[{self.name}] {text}", flush=True)

    def advance(self, done: int, total: int) -> None:
        """Print every tenth part of the steps."""
        if self.verbose and (done == total or done * 10 // total > (done - 1) * 10 // total):
            print(f"[{self.name}] {done} of {total}", flush=True)

    def restore(self, key: str) -> None:
        """Keep nothing from one fit to the next."""
        return

    def save(self, key: str, state: Callable[[], State], final: bool = False) -> None:
        """Keep nothing from one fit to the next."""


def seed_of(random_state: Any) -> int:
    """Return the seed of the library's streams: an integer as it is, else a number that the generator draws."""
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))


def scale_of(x: np.ndarray, scale: str | None, weights: np.ndarray | None = None) -> float:
    """Return the root of the points' mean squared norm, 1 where that is 0 or `scale` is None: inputs have |x| = 1."""
    if scale is None:
        return 1.0
    return float(np.sqrt(np.average(np.einsum("nd,nd->n", x, x, dtype=np.float64), weights=weights))) or 1.0


def need_torch(estimator: Any) -> None:
    """Raise ImportError, one line, where torch is not installed."""
    if find_spec("torch") is None:
        raise ImportError(f"{type(estimator).__name__}: found no torch; install it, such as by pip install torch")


class Supervised(BaseEstimator):
    """Reads points and labels, chooses among settings on held-out points, and warns.

    A subclass has the parameters `scale`, `random_state`, `verbose` and those of `_limits`.
    """

    _kind: str
    _limits: Mapping[str, Any] = {"scale": Scale, "verbose": Index | bool}

    def _encode(self, y: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        """Return labels (n, k) float64 for the learners, and keep how to give them back."""
        raise NotImplementedError

    def _give(self, outputs: np.ndarray) -> np.ndarray:
        """Turn outputs (n, k) of the learners into predictions."""
        raise NotImplementedError

    def _read(self, X: Any, y: Any, **options: Any) -> tuple[np.ndarray, Any]:
        """Check parameters, X and y; keep the seed."""
        refuse_annotated(self, self._limits)
        targets = {} if self._kind == "classes" else {"multi_output": True, "y_numeric": True}
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], ensure_min_samples=2, **targets, **options)
        self._seed = seed_of(self.random_state)
        return X, y

    def _new_points(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return validate_data(self, X, reset=False, dtype=[np.float64, np.float32])

    def _outputs(self, X: np.ndarray) -> np.ndarray:
        """Return outputs (n, k) of a fitted model at a block of new points."""
        raise NotImplementedError

    def _rows_at_once(self) -> int:
        """Return how many points `_outputs` is shown at once."""
        return PREDICTED_ROWS

    def _outputs_in_blocks(self, X: Any) -> np.ndarray:
        X = self._new_points(X)
        rows = self._rows_at_once()
        return np.concatenate([self._outputs(X[start : start + rows]) for start in range(0, len(X), rows)])

    def _warn(self, status: str, remedy: str) -> None:
        """Warn where a training did not end well."""
        if status != "ok":
            why = REMEDIES.get(status, f"the training did not settle; {remedy}")
            warnings.warn(f"{type(self).__name__}: {status}: {why}", ConvergenceWarning, stacklevel=3)

    def _warn_end(self, name: str, chosen: float, offered: Sequence[float]) -> None:
        """Warn where a choice lies at an end of what was offered."""
        for end, word in ((min(offered), "smaller"), (max(offered), "larger")):
            if chosen == end and len(set(offered)) > 1:
                text = f"{name} = {chosen:g} lies at the end of its grid; offer {word} values"
                warnings.warn(f"{type(self).__name__}: {text}", UserWarning, stacklevel=3)

    def _grid(self, name: str) -> list[float]:
        """Return a parameter that is a positive number or several, as a list. Raises ValueError."""
        given = np.asarray(vars(self)[name])
        values = given.reshape(-1).tolist() if given.ndim < 2 else given.tolist()
        refuse(self, name, values, schema(Annotated[list[Positive], MinLen(1)]))
        return [float(value) for value in values]


class Classification(ClassifierMixin, Supervised):
    """Classes as -1 and +1: one output for two classes, one for each of more."""

    _kind = "classes"

    def _encode(self, y: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        check_classification_targets(y)
        self.classes_, places = np.unique(y, return_inverse=True)
        present = self.classes_ if weights is None else np.unique(places[weights > 0])
        if len(present) < 2:
            raise ValueError(
                f"{type(self).__name__}: y has one class, {self.classes_.tolist()[0]!r}; expected at least 2 classes"
            )
        wanted = [1] if len(self.classes_) == 2 else np.arange(len(self.classes_))
        return np.where(places[:, None] == wanted, 1.0, -1.0)

    def _give(self, outputs: np.ndarray) -> np.ndarray:
        places = (outputs[:, 0] > 0).astype(int) if outputs.shape[1] == 1 else outputs.argmax(axis=1)
        return self.classes_[places]

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the outputs that decide on a class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Of two classes one number, positive for the second; else one for each class.
        """
        outputs = self._outputs_in_blocks(X)
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of every point.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,)
            Classes, of the labels' type.
        """
        return self._give(self._outputs_in_blocks(X))


class Regression(MultiOutputMixin, RegressorMixin, Supervised):
    """Targets of one or several columns, centred with `fit_intercept` and of variance 1 with `scale`."""

    _kind = "regression"

    def _encode(self, y: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
        labels = np.asarray(y, np.float64)
        self._flat = labels.ndim == 1
        labels = labels.reshape(len(labels), -1)
        none = np.zeros(labels.shape[1])
        self.intercept_ = np.average(labels, axis=0, weights=weights) if self.fit_intercept else none
        spread = np.ones(labels.shape[1])
        if self.scale is not None:
            spread = np.sqrt(np.average((labels - self.intercept_) ** 2, axis=0, weights=weights))
        self._spread = np.where(spread > 0, spread, 1.0)
        return (labels - self.intercept_) / self._spread

    def _give(self, outputs: np.ndarray) -> np.ndarray:
        outputs = outputs * self._spread + self.intercept_
        return outputs[:, 0] if self._flat else outputs

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted target of every point.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Targets, with a column for each if `fit` was given several.
        """
        return self._give(self._outputs_in_blocks(X))


SPLITS: Mapping[str, Any] = {"validation_fraction": Share, "refit": bool}


class Selecting(Supervised):
    """Chooses settings on held-out points: a share of them, or the folds of `cv`.

    A subclass names these parameters among its own.
    """

    _limits: Mapping[str, Any] = {**Supervised._limits, **SPLITS}

    def __init__(
        self,
        fit_intercept: bool,
        scale: str | None,
        validation_fraction: float,
        cv: Any,
        refit: bool,
        verbose: int,
        random_state: Any,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.scale = scale
        self.validation_fraction = validation_fraction
        self.cv = cv
        self.refit = refit
        self.verbose = verbose
        self.random_state = random_state

    def _splits(self, labels: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return pairs of rows (training, held out)."""
        rows, classes = np.arange(len(labels)), None
        if self._kind == "classes":
            classes = labels.argmax(axis=1) if labels.shape[1] > 1 else labels[:, 0] > 0
        if self.cv is not None:
            return list(check_cv(self.cv, classes, classifier=classes is not None).split(rows, classes))
        for stratify in (classes, None):
            try:
                share = {"test_size": self.validation_fraction, "random_state": self._seed % 2**32}
                return [tuple(train_test_split(rows, stratify=stratify, **share))]
            except ValueError:
                # Too few points of a class.
                continue
        raise ValueError(
            f"{type(self).__name__}: validation_fraction {self.validation_fraction} of {len(rows)} samples; "
            "expected a share that leaves points on both sides"
        )

    def _train(
        self, data: Any, rows: np.ndarray, held: np.ndarray, choices: Mapping[str, Sequence[Any]]
    ) -> tuple[Any, dict[str, Any]]:
        """Train on some rows of the data and choose on others; returns the fit and its choices by name."""
        raise NotImplementedError

    def _select(
        self, data: Any, labels: np.ndarray, choices: Mapping[str, Sequence[Any]]
    ) -> tuple[Any, dict[str, Any], np.ndarray]:
        """Choose a setting and train with it; returns what `_train` returns and the rows that the model has seen.

        One setting needs no held-out points. Several folds train every setting in each, and the least mean error wins;
        with one split the learner chooses by itself.
        """
        every, single = np.arange(len(labels)), all(len(values) == 1 for values in choices.values())
        if single and (self.refit or self.cv is None):
            return *self._train(data, every, every, choices), every
        splits = self._splits(labels)
        if len(splits) > 1 and not self.refit:
            self._refuse_folds(len(splits))
        if len(splits) == 1 and self._chooses(labels):
            ((training, held),) = splits
            fit, values = self._train(data, training, held, choices)
            self.validation_risk_ = self._risk(data, fit, training, held)
            chosen = {name: [values[name]] for name in choices}
        else:
            chosen, self.validation_risk_ = self._best_of_folds(data, splits, choices)
            training, held = splits[-1]
            fit, values = None, {}
        if "ridge" in choices:
            self._warn_end("alpha_", chosen["ridge"][0], choices["ridge"])
        if self.refit:
            return *self._train(data, every, held, chosen), every
        return *((fit, values) if fit is not None else self._train(data, training, held, chosen)), training

    def _chooses(self, labels: np.ndarray) -> bool:
        """Return whether the learner chooses among settings by itself."""
        return True

    def _refuse_folds(self, count: int) -> None:
        raise ValueError(f"{type(self).__name__}: refit False with {count} folds; expected one split, or refit True")

    def _risk(self, data: Any, fit: Any, rows: np.ndarray, held: np.ndarray) -> float:
        """Return the error of a fit on held-out points."""
        return float(fit.validation_risk[0])

    def _best_of_folds(
        self, data: Any, splits: Sequence[Any], choices: Mapping[str, Sequence[Any]]
    ) -> tuple[dict[str, list[Any]], float]:
        best: dict[str, list[Any]] = {}
        least = np.inf
        for setting in _settings(choices):
            risks = [self._risk(data, self._train(data, rows, held, setting)[0], rows, held) for rows, held in splits]
            if not best or np.mean(risks) < least:
                best, least = setting, float(np.mean(risks))
        return best, least


def _settings(choices: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, list[Any]]]:
    """Yield every combination of choices, each as choices of one value."""
    for values in product(*choices.values()):
        yield {name: [value] for name, value in zip(choices, values, strict=True)}
