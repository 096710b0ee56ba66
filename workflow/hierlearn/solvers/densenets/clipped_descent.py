"""SGD and Adam with clipped gradients, on many runs in lockstep whose rates differ by run and by matrix."""

from collections.abc import Mapping

import numpy as np

# Decay of Adam's means, and what keeps its denominator from 0: the usual ones.
FIRST, SECOND, SMALL = 0.9, 0.999, 1e-8
# Buffers that every step fills anew.
PASSING = ("slopes", "direction")


class ClippedDescent:
    """Weights by name, each (R, ...), with their slopes and the optimiser's memory.

    All of a kind lie in one buffer (R, P), matrix beside matrix, so that a step costs few passes. A run's numbers do
    not depend on the others. optimiser: sgd (velocity = momentum * velocity + slope) or adam; clip: largest norm of a
    run's slopes over the matrices that move, None for none. Weight decay is added to the slope after it was clipped.
    """

    def __init__(self, start: Mapping[str, np.ndarray], optimiser: str, momentum: float, clip: float | None):
        self.optimiser, self.momentum, self.clip = optimiser, momentum, clip
        self.runs = next(iter(start.values())).shape[0]
        flat = np.concatenate([values.reshape(self.runs, -1) for values in start.values()], axis=1)
        kinds = ("slopes", "direction", "velocity", *(("square",) if optimiser == "adam" else ()))
        self.buffers = {"weights": flat} | {kind: np.zeros_like(flat) for kind in kinds}
        shapes = {name: values.shape for name, values in start.items()}
        self.named = {kind: _views(buffer, shapes) for kind, buffer in self.buffers.items()}
        self.weights, self.slopes = self.named["weights"], self.named["slopes"]
        # Steps since a run's memory was last cleared.
        self.counts = np.zeros(self.runs, dtype=np.int64)

    def forget(self, runs: np.ndarray) -> None:
        """Clear the memory of some runs (R,) bool: they start afresh."""
        for kind in ("velocity", "square"):
            if kind in self.buffers:
                self.buffers[kind][runs] = 0.0
        self.counts[runs] = 0

    def step(self, rates: np.ndarray, decays: np.ndarray | None = None) -> None:
        """Move every matrix along its slope. rates (R, matrices), 0 for one that rests; decays (R,)."""
        weights, slopes, direction = (self.buffers[kind] for kind in ("weights", "slopes", "direction"))
        self.counts += 1
        if self.clip is not None:
            self._clip(rates > 0)
        if decays is not None:
            slopes += decays[:, None] * weights
        if self.optimiser == "sgd":
            velocity = self.buffers["velocity"]
            velocity *= self.momentum
            velocity += slopes
            direction[:] = velocity
        else:
            corrections = np.sqrt(1 - SECOND**self.counts)
            self._adam((SMALL * corrections).astype(direction.dtype))
            rates = rates * (corrections / (1 - FIRST**self.counts))[:, None]
        rates = rates.astype(direction.dtype)
        if (rates == rates[:, :1]).all():
            direction *= rates[:, :1]
        else:
            for rate, part in zip(rates.T, self.named["direction"].values(), strict=True):
                part *= _shaped(rate, part)
        weights -= direction

    def state(self) -> dict[str, np.ndarray]:
        """All that a later `restore` needs to go on to the same bits."""
        kept = {kind: values.copy() for kind, values in self.buffers.items() if kind not in PASSING}
        return kept | {"counts": self.counts.copy()}

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Go back to a `state`."""
        for kind, values in self.buffers.items():
            if kind not in PASSING:
                values[:] = arrays[kind]
        self.counts = np.array(arrays["counts"])

    def _adam(self, small: np.ndarray) -> None:
        """small (R,): what is added to the root of the uncorrected mean square."""
        slopes, square, direction = (self.buffers[kind] for kind in ("slopes", "square", "direction"))
        velocity = self.buffers["velocity"]
        np.subtract(slopes, velocity, out=direction)
        direction *= 1 - FIRST
        velocity += direction
        np.multiply(slopes, slopes, out=direction)
        direction *= 1 - SECOND
        square *= SECOND
        square += direction
        np.sqrt(square, out=direction)
        direction += small[:, None]
        np.divide(velocity, direction, out=direction)

    def _clip(self, moves: np.ndarray) -> None:
        """moves (R, matrices) bool."""
        slopes = self.buffers["slopes"]
        # Matrix by matrix, whichever move: the order of a sum must not depend on the other runs.
        parts = (part.reshape(self.runs, -1) for part in self.slopes.values())
        squares = sum(move * np.vecdot(part, part) for move, part in zip(moves.T, parts, strict=True))
        norms = np.sqrt(squares)
        # Not finite where a slope is not: such a run is lost and has to stay so.
        if not (norms <= self.clip).all():
            slopes *= (self.clip / np.maximum(norms, self.clip)).astype(slopes.dtype)[:, None]


def _views(flat: np.ndarray, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    found, first = {}, 0
    for name, shape in shapes.items():
        size = int(np.prod(shape[1:]))
        found[name] = flat[:, first : first + size].reshape(shape, copy=False)
        first += size
    return found


def _shaped(values: np.ndarray, like: np.ndarray) -> np.ndarray:
    """(R,) for a product with (R, ...)."""
    return values.reshape(-1, *[1] * (like.ndim - 1))
