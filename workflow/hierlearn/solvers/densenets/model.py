"""Quadratic DenseNets of many runs at once: where layers lie side by side, and their forward passes.

R runs, n points, d inputs, L the last layer; layers are counted from
2, since G_0 = x and G_1 = x^2 - E x^2. (allenzhu2020, eq. 1.2 and 2.1-2.2)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, permutations
from typing import Any

import numpy as np

# Orders of more blocks than this are too many to try all; the natural one is as good as any.
TRIED_BLOCKS = 7


@dataclass(frozen=True)
class Layout:
    """Columns of one buffer for what all layers see.

    inputs: d; offered: columns that layers 2 .. L offer to later ones; graph: J_2 .. J_L, the blocks that each sees.
    Blocks are put in an order in which every layer's own lie side by side where that is possible, so that its input is
    a view and needs no copy; x and G_1 are always neighbours.
    """

    inputs: int
    offered: tuple[int, ...]
    graph: tuple[tuple[int, ...], ...]

    @property
    def layers(self) -> range:
        """2 .. L."""
        return range(2, len(self.graph) + 2)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The blocks 0 .. L from left to right."""
        natural = tuple(range(len(self.graph) + 2))
        if len(natural) > TRIED_BLOCKS:
            return natural
        tried = (order for order in permutations(natural) if abs(order.index(0) - order.index(1)) == 1)
        return min(tried, key=lambda order: sum(_spans(order, blocks) for blocks in self.graph))

    def width(self, block: int) -> int:
        return self.inputs if block < 2 else self.offered[block - 2]

    @cached_property
    def columns(self) -> dict[int, slice]:
        """Place of every block in the buffer."""
        return self._places(self.order)

    @property
    def points(self) -> slice:
        """Place of x and G_1, in the order of `order`."""
        first = min(self.columns[0].start, self.columns[1].start)
        return slice(first, first + 2 * self.inputs)

    @property
    def total(self) -> int:
        """Columns of the buffer."""
        return sum(self.width(block) for block in self.order)

    def places(self, layer: int) -> dict[int, slice]:
        """Return the place of every block that a layer sees among that layer's own columns."""
        return self._places([block for block in self.order if block in self.graph[layer - 2]])

    def size(self, layer: int) -> int:
        """Count the columns that a layer sees."""
        return sum(self.width(block) for block in self.graph[layer - 2])

    def within(self, wider: "Layout", layer: int) -> np.ndarray:
        """Return where the columns of a layer lie among those of a layout in which it sees more, (size,) int."""
        there = wider.places(layer)
        return np.concatenate([np.arange(there[block].start, there[block].stop) for block in self.places(layer)])

    def spans(self, layer: int) -> list[slice]:
        """Return what a layer sees in the buffer, as few slices from left to right."""
        result: list[slice] = []
        for block in self.places(layer):
            here = self.columns[block]
            if result and result[-1].stop == here.start:
                here = slice(result.pop().start, here.stop)
            result.append(here)
        return result

    def part_blocks(self, x: Any) -> dict[int, Any]:
        """Return x and G_1 by their number, from side by side (..., 2 d)."""
        first, second = [block for block in self.order if block < 2]
        return {first: x[..., : self.inputs], second: x[..., self.inputs : 2 * self.inputs]}

    def join(self, x: np.ndarray, centre: float) -> np.ndarray:
        """Join x (..., d) and G_1 = x^2 - centre side by side: (..., 2 d)."""
        parts = {0: x, 1: x * x - np.float32(centre)}
        return np.concatenate([parts[block] for block in self.order if block < 2], axis=-1)

    def _places(self, blocks: Sequence[int]) -> dict[int, slice]:
        known, first = {}, 0
        for block in blocks:
            known[block] = slice(first, first + self.width(block))
            first += self.width(block)
        return known


def pre_activations(weights: Sequence[Any], x: Any, layout: Layout) -> list[Any]:
    """Return P_l = sum_j M_{l,j} G_j, G_l = P_l^2 of the plain network: one (R, n, m) per layer.  (eq. 1.2)

    weights: M_2 .. of the layers that are wanted, (R, m, size) with columns in the layout's order; x (R, n, 2 d): x
    and G_1 side by side in that order.
    """
    blocks, result = layout.part_blocks(x), []
    for layer, matrix in zip(layout.layers, weights, strict=False):
        result.append(linear_image(matrix, blocks, layout.places(layer)))
        blocks[layer] = result[-1] * result[-1]
    return result


def distilled_pre_activations(
    inner: Sequence[Any], outer: Sequence[Any], fixed: Sequence[Any], x: Any, layout: Layout
) -> tuple[list[Any], list[Any]]:
    """Return S_l (R, n, k_l) and the argument of F_l (R, n, m) per layer, without truncation.  (eq. 2.1-2.2)

    inner: K_2 .. K_L; outer: W_2 .. W_L; fixed: R_2 .. R_{L-1}; x: as in `pre_activations`.
    """
    blocks, features, arguments = layout.part_blocks(x), [], []
    for i, layer in enumerate(layout.layers):
        features.append(linear_image(inner[i], blocks, layout.places(layer)))
        arguments.append(linear_image(outer[i], blocks, layout.places(layer)))
        if i < len(fixed):
            mixed = features[-1] @ fixed[i].swapaxes(-1, -2)
            blocks[layer] = mixed * mixed
    return features, arguments


def linear_image(matrix: Any, blocks: Mapping[int, Any], places: Mapping[int, slice]) -> Any:
    """Return sum_j block_j M_j^T: (R, m, size) and blocks (R, n, .) -> (R, n, m)."""
    parts = [blocks[block] @ matrix[..., place].swapaxes(-1, -2) for block, place in places.items()]
    return sum(parts[1:], start=parts[0])


def _spans(order: Sequence[int], blocks: Sequence[int]) -> int:
    """Into how many pieces the blocks that a layer sees fall."""
    at = sorted(order.index(block) for block in blocks)
    return 1 + sum(right - left > 1 for left, right in pairwise(at))
