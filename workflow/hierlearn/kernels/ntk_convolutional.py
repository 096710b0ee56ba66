"""The tangent and conjugate kernels of convolutional ReLU networks, with and without global average pooling."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Interval
from numpy.typing import DTypeLike

from hierlearn.core.parameters import Count, Index
from hierlearn.core.protocols import Input, Kernel, Objection
from hierlearn.kernels._arccos import relu_layer_of
from hierlearn.kernels._tiles import ORDINARY, TILE, check_range, fill_blocks, ordinary_sizes, pair

# Rows of a tile at many places: shorter ones are mostly overhead.
SHORTEST = 16


@dataclass(frozen=True, kw_only=True)
class NtkConvolutional(Kernel):
    """The kernels of an infinitely wide convolutional ReLU network in one dimension  (Arora et al. 2019: the CNTK).

    x is channels by places, places last. For places p of x and p' of z S_0 = <x_p, z_p'>, and with M the mean over the
    places p + a, p' + a that a filter sees: S_l = M[A_{l-1}], A_l = 2 E[u_+ v_+], A'_l = 2 E[1{u > 0} 1{v > 0}] with
    (u, v) ~ N(0, S_l); T_1 = S_1, T_{l+1} = S_{l+1} + M[T_l A'_l]. K is the mean of A_L + T_L A'_L over the pairs
    p = p', with pooling over all pairs; `last` leaves A_L. Scale: as ntk of depth L + 1 without a bias, which it is
    where filters see everything: K(x, x) = (L + 1) |x|^2 without pooling.
    """

    places: Annotated[
        Count | None, "Places of x, which has as many channels as are left; null: every coordinate is a place."
    ] = None
    filters: Annotated[
        Literal["circular", "tree"],
        "circular: a filter at every place, the last one beside the first; tree: filters that do not overlap.",
    ] = "circular"
    patch: Annotated[Count | None, "Places that a filter sees; null: all."] = None
    depth: Annotated[int, Interval(ge=1, le=20), "Layers of filters L."] = 1
    pooling: Annotated[bool, "Whether the output sees the mean over places, or every place."] = False
    dense: Annotated[Index, "Fully connected ReLU layers between the places, or their mean, and the output."] = 0
    trained: Annotated[Literal["all", "last"], "Layers that are trained: all; last, the conjugate kernel."] = "all"

    def validate(self, inputs: Input | None) -> Iterator[Objection]:
        """Object to filters that the places do not carry, and places that are none of the law's."""
        places = self.places or (None if inputs is None else inputs.dimension)
        if inputs is not None and places is not None and inputs.dimension % places:
            yield "places", f"{places} of x of dimension {inputs.dimension}", "a divisor of the dimension"
        if places is None or self.patch is None:
            return
        if self.patch > places:
            yield "patch", f"{self.patch}", f"at most the {places} places"
        elif self.filters == "tree" and places % self.patch**self.depth:
            found = f"{self.patch} with {self.depth} layers of a tree on {places} places"
            yield "patch", found, "a divisor of the places, layer by layer"

    def __call__(self, x: np.ndarray, z: np.ndarray | None = None, dtype: DTypeLike = np.float64) -> np.ndarray:
        """(n, D), (n', D) -> (n, n') float64 or float32; z None: x with itself, exactly symmetric.

        Raises ValueError for wrong shapes, values that are not finite, other places, kernel values that the dtype does
        not hold, or another dtype.
        """
        x, z = pair(x, z, dtype)
        left, left_size = self._pictures(x)
        right, right_size = (left, left_size) if z is None else self._pictures(z)
        extreme = bool(np.any(left_size != 1.0) or np.any(right_size != 1.0))
        left_square = self._own(left)
        right_square = left_square if z is None else self._own(right)
        result, held = np.empty((left.shape[1], right.shape[1]), dtype), len(self._joined(left[:, :1]))
        rows = max(SHORTEST, TILE // held)

        def tile(a: slice, b: slice) -> np.ndarray:
            values = self._tile(left[:, a], right[:, b], left_square[a], right_square[b])
            if extreme:
                values *= left_size[a][:, None]
                values *= right_size[b]
            return values

        # Values beyond the range are refused at the end.
        with np.errstate(over="ignore"):
            fill_blocks(result, tile, rows, TILE, symmetric=z is None)
        return check_range(result, np.inf if extreme else ORDINARY**2)

    def profile(self, t: np.ndarray) -> np.ndarray:
        """Raise ValueError: K is no function of the inner product."""
        raise ValueError("kernel ntk_convolutional: no function of the inner product; expected a kernel that is")

    def _pictures(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n, D) -> (P, n, channels) and sizes (n,): the mean over places of inner products is that of x over sizes.

        The kernel is homogeneous. Sizes are powers of two, which move no digit, and 1 for points whose squares of
        squares stay well within the range.
        """
        places = self.places or x.shape[1]
        if x.shape[1] % places:
            raise ValueError(f"x: dimension {x.shape[1]}; expected a multiple of the {places} places")
        size = ordinary_sizes(x)
        pictures = (x / size[:, None]).reshape(len(x), x.shape[1] // places, places).transpose(2, 0, 1)
        return np.ascontiguousarray(pictures) * np.sqrt(places), size

    def _shifts(self, places: int) -> list[int]:
        """By which z is moved so that all pairs of places of the last layer become p = p'."""
        step = 1 if self.filters == "circular" else (self.patch or places) ** self.depth
        return list(range(0, places, step)) if self.pooling else [0]

    def _own(self, x: np.ndarray) -> np.ndarray:
        """A_L of every point with itself, (n,), which fully connected layers behind it divide by."""
        here, shifts = self._joined(x), self._shifts(len(x))
        total: np.ndarray = np.zeros(())
        square = _products(here, here)
        for shift in shifts:
            moved = self._joined(np.roll(x, shift, axis=0))
            total = total + self._stack(_products(here, moved), square, _products(moved, moved))[0]
        return total / len(shifts)

    def _tile(self, x: np.ndarray, z: np.ndarray, own: np.ndarray, other: np.ndarray) -> np.ndarray:
        """K of some points with others: (P, n, c), (P, n', c), A_L of each with itself -> (n, n')."""
        here, shifts = self._joined(x), self._shifts(len(x))
        conjugate: np.ndarray = np.zeros(())
        tangent = conjugate
        square = _products(here, here)[:, :, None]
        for shift in shifts:
            moved = self._joined(np.roll(z, shift, axis=0))
            parts = self._stack(here @ moved.swapaxes(1, 2), square, _products(moved, moved)[:, None, :])
            conjugate, tangent = conjugate + parts[0] / len(shifts), tangent + parts[1] / len(shifts)
        for _ in range(self.dense):
            conjugate, tangent = relu_layer_of(conjugate, conjugate + tangent, own[:, None], other[None, :])
        return conjugate + tangent if self.trained == "all" else conjugate

    def _stack(self, inner: np.ndarray, square: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means over places of A_L and T_L A'_L, from inner products (P, ...) and squares of norms that fit them."""
        below: np.ndarray = np.zeros(())
        for layer in range(self.depth):
            inner, square, other = (self._seen(values) for values in (inner, square, other))
            tangent = inner + (self._seen(below) if layer else 0.0)
            inner, below = relu_layer_of(inner, tangent, square, other)
        return inner.mean(axis=0), below.mean(axis=0)

    def _joined(self, x: np.ndarray) -> np.ndarray:
        """(P, n, c) as it is, or (1, n, P c) where filters see all: one product is then the mean over places."""
        if self.patch is not None and self.patch < len(x):
            return x
        return np.concatenate(list(x), axis=-1)[None] / np.sqrt(len(x))

    def _seen(self, values: np.ndarray) -> np.ndarray:
        """Return the mean over what a filter sees, (P, ...) -> (P', ...); of filters that see all, one a place."""
        if self.patch is None or self.patch >= len(values):
            return values.mean(axis=0, keepdims=True)
        if self.filters == "tree":
            return values.reshape(-1, self.patch, *values.shape[1:]).mean(axis=1)
        moved = (np.roll(values, -shift, axis=0) for shift in range(self.patch))
        return sum(moved, start=np.zeros(())) / self.patch


def _products(x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Inner products of points with their partners at every place: (P, n, c), (P, n, c) -> (P, n)."""
    return np.einsum("pnc,pnc->pn", x, z)
