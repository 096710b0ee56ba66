"""SGD and Adam with clipped gradients, on many runs in lockstep whose rates differ by run and by matrix."""

from collections.abc import Mapping

import numpy as np
import torch

# Decay of Adam's means, and what keeps its denominator from 0: the usual ones.
FIRST, SECOND, SMALL = 0.9, 0.999, 1e-8
# Buffers that every step fills anew.
PASSING = ("slopes", "direction")


class ClippedDescent:
    """Weights by name, each (R, ...), with their slopes and the optimiser's memory.

    All of a kind lie in one buffer, matrix after matrix, so that a step costs few passes. A run's numbers do not depend
    on the others. optimiser: sgd (velocity = momentum * velocity + slope) or adam; clip: largest norm of a run's slopes
    over the matrices that move, None for none. Weight decay is added to the slope after it was clipped.
    """

    def __init__(self, start: Mapping[str, torch.Tensor], optimiser: str, momentum: float, clip: float | None):
        self.optimiser, self.momentum, self.clip = optimiser, momentum, clip
        self.runs = next(iter(start.values())).shape[0]
        flat = torch.cat([values.reshape(-1) for values in start.values()])
        shapes = {name: values.shape for name, values in start.items()}
        kinds = ("slopes", "direction", "velocity", *(("square",) if optimiser == "adam" else ()))
        self.buffers = {"weights": flat} | {kind: torch.zeros_like(flat) for kind in kinds}
        self.named = {kind: _views(buffer, shapes) for kind, buffer in self.buffers.items()}
        self.weights, self.slopes = self.named["weights"], self.named["slopes"]
        # Steps since a run's memory was last cleared.
        self.counts = np.zeros(self.runs, dtype=np.int64)

    def forget(self, runs: np.ndarray) -> None:
        """Clear the memory of some runs (R,) bool: they start afresh."""
        rows = torch.from_numpy(np.flatnonzero(runs))
        for kind in ("velocity", "square"):
            for values in self.named.get(kind, {}).values():
                values[rows] = 0.0
        self.counts[runs] = 0

    def step(self, rates: np.ndarray, decays: torch.Tensor | None = None) -> None:
        """Move every matrix along its slope. rates (R, matrices), 0 for one that rests; decays (R,)."""
        self.counts += 1
        if self.clip is not None:
            self._clip(torch.from_numpy(rates > 0))
        if decays is not None:
            for name, slope in self.slopes.items():
                slope.addcmul_(self.weights[name], _shaped(decays, slope))
        if self.optimiser == "sgd":
            velocity = self.buffers["velocity"].mul_(self.momentum).add_(self.buffers["slopes"])
            self.buffers["direction"].copy_(velocity)
        else:
            corrections = np.sqrt(1 - SECOND**self.counts)
            self._adam(SMALL * corrections)
            rates = rates * (corrections / (1 - FIRST**self.counts))[:, None]
        moved = torch.from_numpy(-rates).to(self.buffers["direction"].dtype)
        for each, (name, part) in zip(moved.unbind(1), self.named["direction"].items(), strict=True):
            self.weights[name].addcmul_(part, _shaped(each, part))

    def state(self) -> dict[str, np.ndarray]:
        """All that a later `restore` needs to go on to the same bits."""
        kept = {kind: values.numpy().copy() for kind, values in self.buffers.items() if kind not in PASSING}
        return kept | {"counts": self.counts.copy()}

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Go back to a `state`."""
        for kind, values in self.buffers.items():
            if kind not in PASSING:
                values.copy_(torch.from_numpy(np.ascontiguousarray(arrays[kind])))
        self.counts = np.array(arrays["counts"])

    def _adam(self, small: np.ndarray) -> None:
        """small (R,): what is added to the root of the uncorrected mean square."""
        slopes, square, direction = (self.buffers[kind] for kind in ("slopes", "square", "direction"))
        velocity = self.buffers["velocity"].lerp_(slopes, 1 - FIRST)
        square.mul_(SECOND).addcmul_(slopes, slopes, value=1 - SECOND)
        torch.sqrt(square, out=direction)
        if (small == small[0]).all():
            direction.add_(small[0])
        else:
            each = torch.from_numpy(small).to(direction.dtype)
            for part in self.named["direction"].values():
                part.add_(_shaped(each, part))
        torch.div(velocity, direction, out=direction)

    def _clip(self, moves: torch.Tensor) -> None:
        parts = [torch.linalg.vector_norm(slope.flatten(1), dim=1) for slope in self.slopes.values()]
        norms = torch.stack(parts, dim=1).mul_(moves)
        factors = self.clip / torch.linalg.vector_norm(norms, dim=1).clamp_(min=self.clip)
        for slope in self.slopes.values():
            slope.mul_(_shaped(factors, slope))


def _views(flat: torch.Tensor, shapes: Mapping[str, torch.Size]) -> dict[str, torch.Tensor]:
    found, first = {}, 0
    for name, shape in shapes.items():
        found[name] = flat[first : first + shape.numel()].view(shape)
        first += shape.numel()
    return found


def _shaped(values: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """(R,) for a product with (R, ...)."""
    return values.reshape(-1, *[1] * (like.ndim - 1))
