"""Pictures at random places, mirrored and with a hole: new versions of a batch at every step."""

from dataclasses import dataclass

import numpy as np


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
        """(n, height, width, channels) -> the same shape; each picture for itself."""
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
