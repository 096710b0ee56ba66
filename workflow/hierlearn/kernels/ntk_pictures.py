"""The tangent and conjugate kernels of convolutional ReLU networks on pictures, flattened or pooled at the end."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isqrt
from typing import Annotated, Literal

import numpy as np
from annotated_types import Interval
from numpy.typing import DTypeLike

from hierlearn.core.parameters import Count
from hierlearn.core.protocols import Input, Kernel, Objection
from hierlearn.kernels._arccos import relu_layer_of
from hierlearn.kernels._tiles import ORDINARY, check_range, fill_blocks, ordinary_sizes, pair

# Numbers of a tile, pairs of points times pairs of places: what a core's cache holds with its temporaries.
NUMBERS = 1 << 14
Axes = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, kw_only=True)
class NtkPictures(Kernel):
    """The kernels of an infinitely wide convolutional ReLU network on pictures  (Arora et al. 2019: the CNTK).

    x is channels by height by width. With p, p' the pixels of x and z, S_0 = <x_p, z_p'>, and M the mean over the
    patch x patch pixels p + a, p' + a that a filter sees, zero beyond the edge: S_l = M[A_{l-1}], A_l = 2 E[u_+ v_+],
    A'_l = 2 E[1{u > 0} 1{v > 0}] with (u, v) ~ N(0, S_l); T_1 = S_1, T_{l+1} = S_{l+1} + M[T_l A'_l]. K is the mean
    of A_L + T_L A'_L over the pixels p = p', with pooling over all pairs; `last` leaves A_L. Scale: as ntk of depth
    L + 1 without a bias, less what filters miss beyond the edge.
    """

    height: Annotated[Count | None, "Pixels of a column; null: of a square picture of one channel, else 1."] = None
    width: Annotated[Count | None, "Pixels of a row; null: as many as are left for one channel."] = None
    patch: Annotated[Literal[1, 3, 5, 7], "Side of the filters."] = 3
    depth: Annotated[int, Interval(ge=1, le=20), "Layers of filters L."] = 2
    pooling: Annotated[bool, "Whether the output sees the mean over pixels, or every pixel."] = False
    trained: Annotated[Literal["all", "last"], "Layers that are trained: all; last, the conjugate kernel."] = "all"

    def validate(self, inputs: Input | None) -> Iterator[Objection]:
        """Object to pictures that do not have the coordinates."""
        if inputs is not None:
            height, width = NtkPictures._size(self, inputs.dimension)
            if inputs.dimension % (height * width):
                found = f"{height} x {width} pixels of x of dimension {inputs.dimension}"
                yield "height", found, "numbers whose product divides the dimension"

    def __call__(self, x: np.ndarray, z: np.ndarray | None = None, dtype: DTypeLike = np.float64) -> np.ndarray:
        """(n, D), (n', D) -> (n, n') float64 or float32; z None: x with itself, exactly symmetric.

        Raises ValueError for wrong shapes, values that are not finite, pixels that do not fit, kernel values that the
        dtype does not hold, or another dtype.
        """
        x, z = pair(x, z, dtype)
        left, left_size = self._pictures(x)
        right, right_size = (left, left_size) if z is None else self._pictures(z)
        left_square = np.einsum("nchw,nchw->nhw", left, left)
        right_square = left_square if z is None else np.einsum("nchw,nchw->nhw", right, right)
        result, pixels = np.empty((len(left), len(right)), dtype), left.shape[2] * left.shape[3]
        rows = max(1, isqrt(NUMBERS // (pixels**2 if self.pooling else pixels)))

        def tile(a: slice, b: slice) -> np.ndarray:
            values = self._tile(left[a], right[b], left_square[a], right_square[b])
            values *= left_size[a][:, None]
            values *= right_size[b]
            return values

        # Values beyond the range are refused at the end.
        with np.errstate(over="ignore"):
            fill_blocks(result, tile, rows, rows, symmetric=z is None)
        extreme = bool(np.any(left_size != 1.0) or np.any(right_size != 1.0))
        return check_range(result, np.inf if extreme else ORDINARY**2)

    def profile(self, t: np.ndarray) -> np.ndarray:
        """Raise ValueError: K is no function of the inner product."""
        raise ValueError("kernel ntk_pictures: no function of the inner product; expected a kernel that is")

    def _size(self, dimension: int) -> tuple[int, int]:
        """Height and width of pictures of so many coordinates."""
        if self.height is None and self.width is None:
            side = isqrt(dimension)
            return (side, side) if side**2 == dimension else (1, dimension)
        height = self.height or 1
        return height, self.width or max(1, dimension // height)

    def _pictures(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n, D) -> (n, channels, height, width) and sizes (n,), by which the mean over pixels of S_0 is |x|^2."""
        height, width = self._size(x.shape[1])
        if x.shape[1] % (height * width):
            raise ValueError(f"x: dimension {x.shape[1]}; expected a multiple of the {height} x {width} pixels")
        size = ordinary_sizes(x)
        pictures = (x / size[:, None]).reshape(len(x), x.shape[1] // (height * width), height, width)
        return pictures * np.sqrt(height * width), size

    def _tile(self, x: np.ndarray, z: np.ndarray, square: np.ndarray, other: np.ndarray) -> np.ndarray:
        """K of points (n, c, h, w), (n', c, h, w) with the squares of their pixels' norms, (n, h, w) -> (n, n')."""
        # For rows and columns the axes that a filter moves along: of pairs, of x alone and of z alone.
        both: Axes = ((2, 4), (3, 5)) if self.pooling else ((2,), (3,))
        right: Axes = ((4,), (5,)) if self.pooling else ((2,), (3,))
        left: Axes = ((2,), (3,))
        if self.pooling:
            inner = np.einsum("ichw,jcuv->ijhwuv", x, z, optimize=True)
            square, other = square[:, None, :, :, None, None], other[None, :, None, None]
        else:
            inner = np.einsum("ichw,jchw->ijhw", x, z, optimize=True)
            square, other = square[:, None], other[None]
        below = np.zeros_like(inner)
        for _ in range(self.depth):
            inner, below = self._seen(inner, both), self._seen(below, both)
            # Of a point with itself at one pixel A is S, so that its variances are means of means alone.
            square, other = self._seen(square, left), self._seen(other, right)
            inner, below = relu_layer_of(inner, inner + below, square, other)
        conjugate, tangent = (values.mean(axis=tuple(range(2, values.ndim))) for values in (inner, below))
        return conjugate + tangent if self.trained == "all" else conjugate

    def _seen(self, values: np.ndarray, moved: Axes) -> np.ndarray:
        """Return the mean over what a filter sees, zero beyond the edge; moved: axes of rows and columns that move."""
        for axes in moved:
            total = values.copy()
            for shift in range(1, min(self.patch // 2, values.shape[axes[0]] - 1) + 1):
                kept, gone = [slice(None)] * values.ndim, [slice(None)] * values.ndim
                for axis in axes:
                    kept[axis], gone[axis] = slice(None, -shift), slice(shift, None)
                total[tuple(kept)] += values[tuple(gone)]
                total[tuple(gone)] += values[tuple(kept)]
            values = total / self.patch
        return values
