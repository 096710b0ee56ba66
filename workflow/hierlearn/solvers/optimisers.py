"""SGD with momentum and Adam on many runs at once: init/update pairs in the manner of optax, which keep nothing.

Weights are a list of arrays whose first axes count runs that do not know of each other. Weights, gradients and memory
are written to, as buffers that are donated: what is as large as the weights is not made again every step.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hierlearn.solvers.blas_inplace import add_multiple, add_product

# Gradients (runs, p, q) as what they are made of: the sum of left^T right over pairs (runs, b, p) and (runs, b, q).
Factors = list[tuple[np.ndarray, np.ndarray]]
# Of one array of weights; None where it rests.
Gradient = np.ndarray | Factors | None
# Decay of Adam's means, and what keeps its denominator from 0: the usual ones.
FIRST, SECOND, SMALL = 0.9, 0.999, 1e-8
# Entries of one run's matrix from which runs move one by one: its arrays stay in a core's cache then.
IN_CACHE = 4096
# Velocities below it move no weight. Without a gradient they would go on to fall, in more steps than these, to
# subnormal numbers, with which a processor is many times slower.
NEGLIGIBLE, STEPS_BETWEEN_SWEEPS = 1e-30, 100


@dataclass
class Memory:
    """first: velocities or means of gradients, second: means of their squares (none for SGD), like the weights.

    counts (runs): steps of a run since it was last cleared; steps: those of all.
    """

    first: list[np.ndarray]
    second: list[np.ndarray]
    counts: np.ndarray
    steps: int = 0

    def clear(self, runs: np.ndarray | slice = slice(None)) -> None:
        """Let some runs, or all, start afresh."""
        for values in (*self.first, *self.second):
            values[runs] = 0.0
        self.counts[runs] = 0

    def arrays(self) -> dict[str, np.ndarray]:
        """Return its arrays by name: all but the number of steps."""
        of = {f"{kind}_{i}": v for kind in ("first", "second") for i, v in enumerate(vars(self)[kind])}
        return of | {"counts": self.counts}


@dataclass(frozen=True)
class Optimiser:
    """moments: how many means of gradients it keeps. update: (weights, gradients, memory, rates, decays, masks).

    gradients: one for each array of weights; rates: likewise, of a shape that broadcasts to (runs); decays (runs): what
    of the weights is added to their gradients, None for nothing; masks: for each array what its step is multiplied
    with, 0 for what rests, None for 1.
    """

    moments: int
    update: Callable[..., None]

    def init(self, weights: Sequence[np.ndarray], axes: int = 1) -> Memory:
        """Return the memory of weights whose first `axes` axes count runs."""
        first, second = ([np.zeros_like(v) for v in weights] if k < self.moments else [] for k in range(2))
        return Memory(first, second, np.zeros(weights[0].shape[:axes], dtype=np.int64))


def sgd(momentum: float) -> Optimiser:
    """Return SGD: velocity <- momentum velocity + gradient + decay weights, weights <- weights - rate velocity."""

    def update(
        weights: Sequence[np.ndarray],
        gradients: Sequence[Gradient],
        memory: Memory,
        rates: Sequence[np.ndarray],
        decays: np.ndarray | None = None,
        masks: Sequence[np.ndarray] | None = None,
    ) -> None:
        memory.counts += 1
        for i, (values, gradient) in enumerate(zip(weights, gradients, strict=True)):
            if gradient is None:
                continue
            velocity, rate = memory.first[i], rates[i].astype(values.dtype, copy=False)
            if isinstance(gradient, list) and values[(0,) * memory.counts.ndim].size >= IN_CACHE:
                _each_run(values, velocity, gradient, momentum, rate, decays, memory.counts.shape)
                continue
            change = total_gradient(gradient)
            if decays is not None:
                change += along_runs(decays, values) * values
            velocity *= momentum
            velocity += change
            np.multiply(velocity, along_runs(rate, values), out=change)
            if masks is not None:
                change *= masks[i]
            values -= change
        if memory.steps % STEPS_BETWEEN_SWEEPS == 0:
            for velocity in memory.first:
                velocity[np.abs(velocity) < NEGLIGIBLE] = 0
        memory.steps += 1

    return Optimiser(1, update)


def adam() -> Optimiser:
    """Return Adam with the decay of weights in its gradient, as torch.optim.Adam."""

    def update(
        weights: Sequence[np.ndarray],
        gradients: Sequence[Gradient],
        memory: Memory,
        rates: Sequence[np.ndarray],
        decays: np.ndarray | None = None,
        masks: Sequence[np.ndarray] | None = None,
    ) -> None:
        memory.counts += 1
        memory.steps += 1
        corrections = np.sqrt(1 - SECOND**memory.counts)
        for i, (values, gradient) in enumerate(zip(weights, gradients, strict=True)):
            if gradient is None:
                continue
            first, second, change = memory.first[i], memory.second[i], total_gradient(gradient)
            if decays is not None:
                change += along_runs(decays, values) * values
            step = change * change
            step *= 1 - SECOND
            second *= SECOND
            second += step
            change -= first
            change *= 1 - FIRST
            first += change
            np.sqrt(second, out=step)
            # Both means are corrected here: the denominator's factor is the numerator's.
            step += along_runs((SMALL * corrections).astype(values.dtype), values)
            np.divide(first, step, out=step)
            rate = rates[i] * (corrections / (1 - FIRST**memory.counts))
            step *= along_runs(rate.astype(values.dtype), values)
            if masks is not None:
                step *= masks[i]
            values -= step

    return Optimiser(2, update)


def get_optimiser(name: str, momentum: float) -> Optimiser:
    """Return sgd or adam by its name. Raises KeyError."""
    return {"sgd": sgd(momentum), "adam": adam()}[name]


def clip_factors(gradients: Sequence[np.ndarray], limit: float, moves: np.ndarray) -> np.ndarray | None:
    """Return what a run's gradients (R, ...) are multiplied with so that their common norm is at most `limit`, (R,).

    None where none is larger. moves (R, arrays): which of them count. Not finite where a gradient is not: such a run is
    lost and has to stay so.
    """
    # Array by array, whichever move: the order of a sum must not depend on the other runs.
    parts = (values.reshape(len(values), -1) for values in gradients)
    norms = np.sqrt(sum(move * np.vecdot(part, part) for move, part in zip(moves.T, parts, strict=True)))
    return None if (norms <= limit).all() else limit / np.maximum(norms, limit)


def cosine_factor(step: float | np.ndarray, steps: float | np.ndarray) -> Any:
    """Return what a rate is multiplied with that falls from 1 to 0 along half a cosine, over so many steps."""
    return 0.5 + 0.5 * np.cos(np.pi * step / steps)


def total_gradient(gradient: np.ndarray | Factors) -> np.ndarray:
    """Return a gradient as one array: itself, or the sum of its factors' products left^T right."""
    if isinstance(gradient, np.ndarray):
        return gradient
    left, right = gradient[0]
    return sum((left.mT @ right for left, right in gradient[1:]), start=left.mT @ right)


def along_runs(values: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Reshape (runs) for a product with (runs, ...)."""
    return values.reshape(*values.shape, *[1] * (like.ndim - values.ndim))


def _each_run(
    values: np.ndarray,
    velocity: np.ndarray,
    factors: Factors,
    momentum: float,
    rates: np.ndarray,
    decays: np.ndarray | None,
    shape: tuple[int, ...],
) -> None:
    """Make a step of SGD with no array for the gradient, run after run."""
    # What runs share stands there once. BLAS takes numbers of Python's sooner than those of numpy.
    pairs = [[np.broadcast_to(part, shape + part.shape[-2:]) for part in pair] for pair in factors]
    rate = np.broadcast_to(rates, shape).ravel().tolist()
    decay = None if decays is None else np.broadcast_to(decays, shape).ravel().tolist()
    for i, run in enumerate(np.ndindex(*shape)):
        weights, change = values[run], velocity[run]
        # Not BLAS's own factor of what is there: OpenBLAS takes a fifth of the product's time over it.
        change *= momentum
        for left, right in pairs:
            add_product(left[run], right[run], change)
        if decay is not None:
            add_multiple(decay[i], weights, change)
        add_multiple(-rate[i], change, weights)
