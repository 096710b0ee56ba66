"""Measure learning curves of learners on one table, all tuned alike."""

import re
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit
from threadpoolctl import threadpool_limits

from hierlearn.comparison.data import Data, check
from hierlearn.comparison.learners import Learner, learners_of
from hierlearn.comparison.result import Comparison, Tuning
from hierlearn.comparison.splits import TEST_SHARE, Splits, split
from hierlearn.core.words import show

LEARNERS = ("ntk", "quad-neural", "ridge")
# Settings are compared by folds below so many training rows, and on one held-out share from there on.
FOLDS, FOLDED_ROWS, HELD_OUT = 3, 250, 0.2
# Below so many training rows one thread fits faster: several wait for each other, on a busy processor most of the time.
THREADED_ROWS = 2000
# Letters of a message, and warnings that say nothing of a fit.
LONGEST, CODERS = 160, (DeprecationWarning, PendingDeprecationWarning, FutureWarning)


def compare(
    X: Any,
    y: Any,
    learners: Any = LEARNERS,
    *,
    kind: str = "auto",
    test: Any = TEST_SHARE,
    sizes: Any = None,
    splits: int = 5,
    error: float | None = None,
    random_state: int = 0,
    verbose: int = 0,
    name: str = "data",
) -> Comparison:
    """Compare learners on your own data: learning curves, and the rows that each needs for an error.

    Each split of the table holds test rows out and trains every learner on the first rows of the others, at growing
    sizes. Every learner chooses among at most 6 settings on the same held-out training rows, and is then fitted on all
    training rows. Columns are scaled to variance 1 where a learner depends on their scale.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points: finite numbers.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Targets, or classes of any type.
    learners : str, estimator, tuple, or several of them, default=("ntk", "quad-neural", "ridge")
        A word of `hierlearn.comparison.WORDS` (ntk, quad-neural, quad, ridge, logistic, rbf, forest, boosting, mlp);
        any scikit-learn estimator, which is fitted as it is; (name, estimator); or (name, estimator, grid) with a
        parameter grid of at most 6 settings.
    kind : {"auto", "classes", "regression"}, default="auto"
        What y is; "auto" takes text, truth values and at most 20 different whole numbers for classes.
    test : float or (X, y), default=0.25
        Share of the rows on which errors are measured, at most 10 000 of them; or test rows of their own.
    sizes : sequence of int or None, default=None
        Training rows; None halves from the largest, at most 4096, up to five times.
    splits : int, default=5
        Random splits, at least 2.
    error : float or None, default=None
        Error for which rows are counted; None takes what the best learner reaches at the second largest size.
    random_state : int, default=0
        Seed of the splits and of the learners.
    verbose : int, default=0
        Whether a line is printed for each split.
    name : str, default="data"
        What the data are called in the table and the figure.

    Returns
    -------
    Comparison
        `print` shows its table; `to_csv` and `plot` write it. Errors are 1 - R^2 for numbers, and the share of wrong
        classes. Intervals are of the splits of this table, corrected for their overlap (Nadeau and Bengio 2003).
        Raises ValueError, one line, for data, learners or arguments that are not allowed.

    Examples
    --------
    >>> from hierlearn import compare
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> found = compare(X, y, ["ntk", "ridge"], splits=3)
    >>> found.sizes, bool(found.mean("ntk")[-1] < found.mean("ridge")[-1])
    ([28, 56, 112], True)
    """
    own = test if isinstance(test, tuple) else None
    share = 0.0 if own else _number("test", test, "a share between 0 and 1, or a pair (X, y)", most=1.0)
    data = check(X, y, kind, own)
    return run(data, learners, share, sizes, splits, error, random_state, print if verbose else None, name)


def run(
    data: Data,
    learners: Any,
    share: float,
    sizes: Any,
    splits: int,
    error: float | None,
    random_state: int,
    say: Callable[[str], object] | None,
    name: str,
) -> Comparison:
    """Compare learners on rows that were checked; the arguments of `compare`.

    say: is given a line for each split.
    """
    seed, count = _whole("random_state", random_state, 0), _whole("splits", splits, 2)
    asked = None if error is None else _number("error", error, "a number above 0")
    found = learners_of(learners, data.classes)
    return _measured(data, found, split(data, count, share, sizes, seed), asked, seed, say, name)


def _whole(what: str, value: Any, least: int) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < least:
        raise ValueError(f"{what}: found {show(value)}; expected a whole number of at least {least}")
    return int(value)


def _number(what: str, value: Any, expected: str, most: float = np.inf) -> float:
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < most:
        raise ValueError(f"{what}: found {show(value)}; expected {expected}")
    return float(value)


def _measured(
    data: Data,
    learners: list[Learner],
    splits: Splits,
    asked: float | None,
    seed: int,
    say: Callable[[str], object] | None,
    name: str,
) -> Comparison:
    """Fit every learner at every size of every split."""
    shape = (len(learners), len(splits.training), len(splits.sizes))
    errors, seconds = np.full(shape, np.nan), np.full(shape, np.nan)
    told, grids = [_Told() for _ in learners], [learner.grid(data.x.shape[1]) for learner in learners]
    began = time.perf_counter()
    for i, order in enumerate(splits.training):
        test, labels = _test_rows(data, splits, i)
        for k, size in enumerate(splits.sizes):
            rows = order[:size]
            validation = folds(data, rows, seed + i)
            for j, learner in enumerate(learners):
                model = learner.build(size, data.x.shape[1], seed + i)
                with _listening(told[j]), _threads(size):
                    start = time.process_time()
                    fitted = _tuned(model, grids[j], validation, data.classes)
                    fitted.fit(data.x[rows], data.labels[rows])
                    seconds[j, i, k] = time.process_time() - start
                    errors[j, i, k] = error_of(labels, fitted.predict(test), data.classes)
        if say is not None:
            say(f"split {i + 1} of {len(splits.training)}, {time.perf_counter() - began:.0f} s")
    names, fits = [learner.name for learner in learners], errors[0].size
    tuning = Tuning({n: len(grid) for n, grid in zip(names, grids, strict=True)}, FOLDS, FOLDED_ROWS, HELD_OUT)
    return Comparison(
        name=name,
        kind="classes" if data.classes else "regression",
        rows=len(data.x),
        columns=data.x.shape[1],
        constant=data.constant,
        test_rows=len(test),
        sizes=splits.sizes,
        learners=names,
        errors=errors,
        seconds=seconds,
        ratio=splits.ratio,
        asked=asked,
        tuning=tuning,
        notes=[f"{n}: {line}" for n, one in zip(names, told, strict=True) for line in one.lines(fits)],
    )


def _test_rows(data: Data, splits: Splits, place: int) -> tuple[np.ndarray, np.ndarray]:
    if splits.test is None:
        own = data.test or data
        return own.x, own.labels
    rows = splits.test[place]
    return data.x[rows], data.labels[rows]


def folds(data: Data, rows: np.ndarray, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return pairs of places (training, held out) among some rows, the same for every learner."""
    if len(rows) >= FOLDED_ROWS:
        kind = StratifiedShuffleSplit if data.classes else ShuffleSplit
        splitter = kind(1, test_size=HELD_OUT, random_state=seed)
    else:
        rarest = min(Counter(data.y[rows].tolist()).values()) if data.classes else len(rows)
        kind = StratifiedKFold if data.classes else KFold
        splitter = kind(max(2, min(FOLDS, rarest)), shuffle=True, random_state=seed)
    return list(splitter.split(rows, data.y[rows] if data.classes else None))


def _tuned(model: Any, grid: Any, validation: Any, classes: bool) -> Any:
    if len(grid) == 1:
        return model.set_params(**grid[0])
    scoring = "accuracy" if classes else "neg_mean_squared_error"
    lists = [{key: [value] for key, value in setting.items()} for setting in grid]
    return GridSearchCV(model, lists, cv=validation, scoring=scoring)


def error_of(labels: np.ndarray, predicted: np.ndarray, classes: bool) -> float:
    """Return the share of wrong classes, or the mean squared error over the variance of the labels, 1 - R^2.

    labels, predicted: (T,) or, of several targets, (T, k), of which the mean is taken. Infinite predictions have an
    infinite error.
    """
    if classes:
        return float(np.mean(np.asarray(predicted).reshape(-1) != labels))
    aim = np.asarray(labels, np.float64).reshape(len(labels), -1)
    guess = np.asarray(predicted, np.float64).reshape(aim.shape)
    with np.errstate(over="ignore", invalid="ignore"):
        parts = np.mean((guess - aim) ** 2, axis=0) / np.var(aim, axis=0)
    return float(np.mean(np.where(np.isfinite(parts), parts, np.inf)))


class _Told:
    """What fits of one learner warned of and failed with, each kind of message counted once a fit."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.texts: dict[str, str] = {}

    def add(self, texts: set[str]) -> None:
        """Count messages of a fit; those that differ in numbers alone are one."""
        found = {}
        for text in sorted(texts):
            line = next((line.strip() for line in text.splitlines() if line.strip()), "no word")
            line = line if len(line) <= LONGEST else line[: LONGEST - 3] + "..."
            found[re.sub(r"[0-9.e+-]+", "0", line)] = line
        self.counts.update(list(found))
        self.texts = found | self.texts

    def lines(self, fits: int) -> list[str]:
        """Return a line for each kind of message, the most frequent first. fits: how many there were."""
        return [f"{count} of {fits} fits {self.texts[key]}" for key, count in self.counts.most_common()]


def _threads(rows: int) -> AbstractContextManager[Any]:
    """Return one thread for the arithmetic of a small fit, those of the process for a large one."""
    return threadpool_limits(1) if rows < THREADED_ROWS else nullcontext()


@contextmanager
def _listening(told: _Told) -> Iterator[None]:
    """Count warnings and what ends a fit, so that one learner's fault leaves the others."""
    failures: set[str] = set()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            yield
        except Exception as error:
            failures = {f"failed: {str(error).strip() or type(error).__name__}"}
    told.add(failures | {f"warned: {str(one.message).strip()}" for one in seen if not issubclass(one.category, CODERS)})
