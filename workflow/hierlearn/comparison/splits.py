"""Random splits of one table, and the training sizes of a learning curve."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hierlearn.comparison.data import Data
from hierlearn.core.words import show

# Of a table: the share that is held out, the most rows of it, and the most rows to train on unless sizes are given.
TEST_SHARE, MOST_TEST, MOST_TRAINING = 0.25, 10_000, 4_096
# The smallest size of a curve, unless sizes are given, and how many there are.
SMALLEST, POINTS = 20, 5
# Of each class, so that tuning has one to train on and one to test.
OF_A_CLASS = 2
# Of any training set.
FEWEST = 4


@dataclass(frozen=True)
class Splits:
    """Splits of a table, and training sizes.

    training: (S, P) rows in the order in which a curve takes them, so that larger sizes contain smaller ones. test:
    (S, T) rows, None where the table has test rows of its own. sizes: increasing. ratio: test rows over the rows that
    are left, by which an interval over splits is corrected; 0 where the test rows are the same in all splits.
    """

    training: np.ndarray
    test: np.ndarray | None
    sizes: list[int]
    ratio: float


def split(data: Data, count: int, share: float, sizes: Any, seed: int) -> Splits:
    """Draw splits; of classes, every stretch of rows has nearly the shares of the table.

    Raises ValueError, one line, where the rows do not suffice.
    """
    rows = len(data.x)
    generator = np.random.default_rng(seed)
    orders = np.stack([_order(data, generator) for _ in range(count)])
    held = 0 if data.test is not None else min(MOST_TEST, round(share * rows))
    if data.test is None and not 1 <= held <= rows - 2:
        raise ValueError(f"test: a share of {share:g} leaves {held} of {rows} rows for testing; expected at least 1")
    training = orders[:, held:]
    if training.shape[1] < FEWEST:
        told = f"{rows} rows, {training.shape[1]} of them to train on"
        raise ValueError(f"X: found {told}; expected {FEWEST} or more of these")
    chosen = _default_sizes(data, training) if sizes is None else _given_sizes(sizes, training.shape[1])
    if (short := _short_of(data, training, chosen[0])) is not None:
        name, found = short
        numbers = data.y.dtype.kind in "iuf"
        remedy = "say kind 'regression' if these are numbers" if numbers else "leave the class out"
        expected = f"at least {OF_A_CLASS} of every class; give larger sizes, or {remedy}"
        raise ValueError(f"y: found {found} of class {name!r} among {chosen[0]} training rows; expected {expected}")
    if data.test is not None:
        return Splits(training, None, chosen, 0.0)
    return Splits(training, orders[:, :held], chosen, held / (rows - held))


def _order(data: Data, generator: np.random.Generator) -> np.ndarray:
    """Return all rows in a random order; classes come at even distances."""
    order = generator.permutation(len(data.x))
    if not data.classes:
        return order
    place = np.empty(len(order))
    for name in np.unique(data.y):
        own = np.flatnonzero(data.y[order] == name)
        place[own] = (np.arange(len(own)) + generator.random()) / len(own)
    return order[np.argsort(place, kind="stable")]


def _default_sizes(data: Data, training: np.ndarray) -> list[int]:
    """Return sizes that halve from the largest, as long as rows and classes suffice."""
    sizes = [min(training.shape[1], MOST_TRAINING)]
    while len(sizes) < POINTS and (half := round(sizes[0] / 2)) >= SMALLEST:
        if _short_of(data, training, half) is not None:
            break
        sizes.insert(0, half)
    return sizes


def _given_sizes(sizes: Any, most: int) -> list[int]:
    expected = f"whole numbers from {FEWEST} to {most}"
    several = list(sizes) if isinstance(sizes, Iterable) and not isinstance(sizes, str) else [sizes]
    for size in several:
        whole = isinstance(size, int | np.integer) and not isinstance(size, bool)
        if not whole or not FEWEST <= size <= most:
            raise ValueError(f"sizes: found {show(size)}; expected {expected}, the training rows")
    if not several:
        raise ValueError(f"sizes: found none; expected {expected}")
    return sorted({int(size) for size in several})


def _short_of(data: Data, training: np.ndarray, size: int) -> tuple[Any, int] | None:
    """Return the class of which the first rows of a split have too few, and how many; None if they suffice."""
    if not data.classes:
        return None
    for rows in training:
        for name in np.unique(data.y):
            found = int(np.sum(data.y[rows[:size]] == name))
            if found < OF_A_CLASS:
                return name.item(), found
    return None
