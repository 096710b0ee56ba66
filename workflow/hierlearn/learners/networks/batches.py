"""The points of every step of a stochastic training."""

from collections.abc import Callable

import numpy as np

from hierlearn.core.protocols import Sample

# Fresh points are drawn and kept this many at a time.
FRESH_POINTS = 8192


class Batches:
    """Points and labels of the steps: passes over a training set, in an order of its own for every seed and pass.

    online: instead fresh points from the endless sample, each once. network_input: what is done to points before a
    network sees them. A step's points depend on the seed and the step alone, so that an interrupted training finds them
    again.
    """

    def __init__(
        self, sample: Sample, size: int, online: bool, network_input: Callable[[np.ndarray], np.ndarray] = lambda x: x
    ):
        self.sample, self.online, self.network_input, self.size = sample, online, network_input, min(size, sample.n)
        self.per_epoch = -(-sample.n // self.size)
        self.stretch = max(1, FRESH_POINTS // self.size) if online else self.per_epoch
        self.number, self.points, self.pool, self.buffers = None, None, None, None

    def at(self, step: int) -> tuple[np.ndarray, np.ndarray]:
        """x (S, 1, b, ...) and labels (S, 1, b, k) float32; the last step of a pass may have fewer points.

        Views of what the next pass overwrites.
        """
        number, place = divmod(step, self.stretch)
        if number != self.number:
            self.number, self.points = number, self._fresh(number) if self.online else self._shuffle(number)
        rows = slice(place * self.size, (place + 1) * self.size)
        x, labels = self.points
        return x[:, None, rows], labels[:, None, rows]

    def _shuffle(self, epoch: int) -> tuple[np.ndarray, np.ndarray]:
        if self.pool is None:
            self.pool = self._draw(0, self.sample.n)
            self.buffers = tuple(np.empty_like(values) for values in self.pool)
        for row, seed in enumerate(self.sample.streams.seeds):
            order = self.sample.streams.generator(seed, "order", epoch).permutation(self.sample.n)
            for values, place in zip(self.pool, self.buffers, strict=True):
                # An order is within bounds; checking it would take a copy.
                np.take(values[row], order, axis=0, out=place[row], mode="clip")
        return self.buffers

    def _fresh(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        start = number * self.stretch * self.size
        return self._draw(start, min(self.stretch * self.size, self.sample.n - start))

    def _draw(self, start: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        batch, features = self.sample.problem.draw("training", count, start), self.sample.features
        # Fresh points are drawn once; those of a pool have features that are kept.
        x = features.of(batch.x) if self.online else features.draw("training", count, start)
        return self.network_input(x), batch.labels.astype(np.float32)
