"""The points of every step of a stochastic training."""

from collections.abc import Callable

import numpy as np

from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Features
from hierlearn.core.streams import Streams

# Fresh points are drawn and kept this many at a time.
FRESH_POINTS = 8192


class Batches:
    """Points and labels of the steps: passes over a training set, in an order of its own for every seed and pass.

    online: instead fresh points from the endless sample, each once. seen: what is done to points before a network sees
    them. A step's points depend on the seed and the step alone, so that an interrupted training finds them again.
    """

    def __init__(
        self,
        problem: Problem,
        features: Features,
        samples: int,
        size: int,
        online: bool,
        streams: Streams,
        seen: Callable[[np.ndarray], np.ndarray] = lambda x: x,
    ):
        self.problem, self.features, self.samples, self.online = problem, features, samples, online
        self.streams, self.seen, self.size = streams, seen, min(size, samples)
        self.per_epoch = -(-samples // self.size)
        self.stretch = max(1, FRESH_POINTS // self.size) if online else self.per_epoch
        self.held, self.points, self.whole, self.shuffled = None, None, None, None

    def at(self, step: int) -> tuple[np.ndarray, np.ndarray]:
        """x (S, 1, b, ...) and labels (S, 1, b, k) float32; the last step of a pass may have fewer points.

        Views of what the next pass overwrites.
        """
        number, place = divmod(step, self.stretch)
        if number != self.held:
            self.held, self.points = number, self._fresh(number) if self.online else self._ordered(number)
        rows = slice(place * self.size, (place + 1) * self.size)
        x, labels = self.points
        return x[:, None, rows], labels[:, None, rows]

    def _ordered(self, epoch: int) -> tuple[np.ndarray, np.ndarray]:
        if self.whole is None:
            self.whole = self._drawn(0, self.samples)
            self.shuffled = tuple(np.empty_like(values) for values in self.whole)
        for row, seed in enumerate(self.streams.seeds):
            order = self.streams.generator(seed, "order", epoch).permutation(self.samples)
            for values, place in zip(self.whole, self.shuffled, strict=True):
                # An order is within bounds; checking it would take a copy.
                np.take(values[row], order, axis=0, out=place[row], mode="clip")
        return self.shuffled

    def _fresh(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        start = number * self.stretch * self.size
        return self._drawn(start, min(self.stretch * self.size, self.samples - start))

    def _drawn(self, start: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        batch = self.problem.draw("training", count, start)
        # Fresh points are drawn once; those of a pool have features that are kept.
        features = self.features.of(batch.x) if self.online else self.features.draw("training", count, start)
        return self.seen(features), batch.labels.astype(np.float32)
