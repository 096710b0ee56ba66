"""What is done in a training: which layers are there and move in its phases, versions of pictures, and constants."""

from dataclasses import dataclass, field

import numpy as np

from hierlearn.solvers.convolutional.architecture import Architecture


@dataclass(frozen=True)
class Phase:
    """depth: layers in front of the head; rest: how many of them, from the first, do not move; steps: how many.

    pull: whether layers are drawn to where they were when the phase began, as far as they were trained before.
    """

    depth: int
    rest: int
    steps: int
    pull: bool = False


def phases(
    schedule: str, depth: int, steps: int, trained: int = 1, fixed: int | None = None, refit: int = 0
) -> list[Phase]:
    """Return a schedule's phases  (allenzhu2020, Figures 7 and 8): steps times depth in all, and those of the refit.

    joint: all at once; staged: one layer more in each, nothing at rest; layerwise: one layer more, all before it at
    rest; only: the first `trained` layers alone, under a head of their own; fixed: these first, then the whole network
    with its first `fixed` layers at rest (as many as were trained, if None). refit: steps of the last head alone.
    """
    fixed = trained if fixed is None else fixed
    found = {
        "joint": [Phase(depth, 0, steps * depth)],
        "staged": [Phase(layer, 0, steps) for layer in range(1, depth + 1)],
        "layerwise": [Phase(layer, layer - 1, steps) for layer in range(1, depth + 1)],
        "only": [Phase(trained, 0, steps * depth)],
        "fixed": [Phase(trained, 0, steps * trained), Phase(depth, fixed, steps * (depth - trained), pull=True)],
    }[schedule]
    return found + ([Phase(found[-1].depth, found[-1].depth, refit)] if refit else [])


@dataclass(frozen=True)
class Augmentation:
    """crop: how many zeros are put around a picture, of which one of its size is cut; flip: mirrored or not, left and
    right, with equal chances; hole: side of a square of zeros around a uniform place, cut at the edges (Cutout)."""

    crop: int = 0
    flip: bool = False
    hole: int = 0

    def __bool__(self) -> bool:
        return bool(self.crop or self.flip or self.hole)

    def apply(self, generator: np.random.Generator, x: np.ndarray) -> np.ndarray:
        """Change pictures, each for itself: (n, height, width, channels) -> the same shape."""
        n, height, width, _ = x.shape
        pictures = np.arange(n)[:, None, None]
        rows = np.arange(height)[None, :, None] + generator.integers(-self.crop, self.crop + 1, (n, 1, 1))
        columns = np.arange(width)[None, None, :] + generator.integers(-self.crop, self.crop + 1, (n, 1, 1))
        mirrored = generator.integers(0, 2, (n, 1, 1)) == 1
        if self.flip:
            columns = np.where(mirrored, width - 1 - columns, columns)
        inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
        centre = [generator.integers(0, side, (n, 1, 1)) for side in (height, width)]
        if self.hole:
            corners = [place - self.hole // 2 for place in centre]
            places = np.arange(height)[None, :, None] - corners[0], np.arange(width)[None, None, :] - corners[1]
            inside = inside & ~np.logical_and(*((place >= 0) & (place < self.hole) for place in places))
        found = x[pictures, np.clip(rows, 0, height - 1), np.clip(columns, 0, width - 1)]
        return np.where(inside[..., None], found, np.float32(0.0))


@dataclass(frozen=True)
class Recipe:
    """loss: cross_entropy (classes), logistic (one output's sign) or squared, |f - y|^2 / 2.

    milestones: parts of a phase after which the learning rate is divided by 10; pull: factor of the distance to where a
    layer was trained before, in its gradient. half: products and convolutions of a step in bfloat16, normalisation,
    loss, weights and their steps in float32.
    """

    network: Architecture
    phases: tuple[Phase, ...]
    outputs: int
    loss: str
    batch: int
    momentum: float = 0.9
    milestones: tuple[float, ...] = ()
    pull: float = 0.0
    augmentation: Augmentation = field(default_factory=Augmentation)
    half: bool = False
