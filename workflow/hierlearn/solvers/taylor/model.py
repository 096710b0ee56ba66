"""The order-k Taylor model with scalar output, its objective along lines, and its gradient.

f_i(W) = 1/(sqrt(m) k!) sum_r a_r s_ir <w_r, h_i>^k with fixed gates s_ir = sigma^(k)(<w0_r, h_i>)
(chen2020, eq. 1 for k = 2; bai2020, section 6), objective mean_i loss(f_i, y_i) + ridge (sum_r |w_r|^4)^(power/4), or
ridge sum_r |w_r|^2 for the power 2.

All work is in scaled weights U, w_r = m^(-1/(2k)) u_r, in which f = 1/(m k!) sum_r a_r s_r <u_r, h>^k and the
entries of U stay of one order over widths. Sums over samples and rows are float64, matrices have the features' dtype.

Problems of one shape and model may be stacked: arrays then have one more axis in front, ... below.
"""

import copy
import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from hierlearn.solvers.blas_inplace import add_multiple, outer_products
from hierlearn.solvers.losses import LOSSES, Loss
from hierlearn.solvers.taylor.line_search import penalty_polynomial

# Of a block of rows of an (n, m) matrix. Smaller blocks stay in cache from one step to the next, but every product over
# a block packs the weights again.
BLOCK_BYTES = 1 << 20


@dataclass(frozen=True)
class TaylorProblem:
    """Training sets under one model: features (..., n, D), signed gates (..., n, m), targets (..., n) float64."""

    features: np.ndarray
    signed_gates: np.ndarray
    targets: np.ndarray
    order: int
    loss: Loss
    penalty_power: int

    @property
    def width(self) -> int:
        """Number of neurons m."""
        return self.signed_gates.shape[-1]

    @property
    def weight_unit(self) -> float:
        """m^(-1/(2k)): weights W are this times scaled weights U."""
        return self.width ** (-0.5 / self.order)

    @property
    def output_scale(self) -> float:
        """1/(m k!): the factor of sum_r a_r s_ir <u_r, h_i>^k in the output."""
        return 1.0 / (self.width * math.factorial(self.order))

    @property
    def product_flops(self) -> int:
        """Floating-point operations of one matrix product of features with weights, 2 n m D, of one problem."""
        return 2 * self.targets.shape[-1] * self.width * self.features.shape[-1]

    @property
    def zero_objective(self) -> Any:
        """The objective of W = 0, (...)."""
        return np.mean(self.loss.value(np.zeros_like(self.targets), self.targets), axis=-1)

    def scaled_ridge(self, ridge: float) -> float:
        """Return the factor of the penalty of U that equals `ridge` times that of W."""
        return ridge * self.weight_unit**self.penalty_power

    @cached_property
    def gram(self) -> np.ndarray:
        """The lower triangle of features features^T, (n, n), zeros above: metrics of one problem share it."""
        return outer_products(self.features)

    def at(self, index: int | list[int] | None) -> "TaylorProblem":
        """Return those problems of a stack, or for None the stack of this one."""
        return replace(
            self,
            features=self.features[index],
            signed_gates=self.signed_gates[index],
            targets=self.targets[index],
        )

    def astype(self, dtype: DTypeLike) -> "TaylorProblem":
        """Return the problem with its matrices in another dtype."""
        return replace(self, features=self.features.astype(dtype), signed_gates=self.signed_gates.astype(dtype))


def make_problem(
    features: np.ndarray,
    gates: np.ndarray,
    signs: np.ndarray,
    targets: np.ndarray,
    order: int = 2,
    loss: str = "squared",
    penalty_power: int = 4,
) -> TaylorProblem:
    """Check shapes and build a `TaylorProblem`: features (n, D), gates (n, m), signs (m,) of -1, +1, targets (n,).

    Matrices take the features' dtype (float32 or float64); loss: a name in LOSSES. Raises ValueError for shapes that do
    not fit, an order below 2, a penalty power other than 2, 4 or 8, and signs other than -1 and +1.
    """
    features = np.ascontiguousarray(features)
    if features.dtype not in (np.float32, np.float64):
        raise ValueError(f"features must be float32 or float64, not {features.dtype}")
    gates, signs, targets = np.asarray(gates), np.asarray(signs), np.asarray(targets, np.float64)
    if min(features.ndim, gates.ndim) < 2 or not features.shape[:-1] == gates.shape[:-1] == targets.shape:
        raise ValueError(f"shapes do not fit: features {features.shape}, gates {gates.shape}, targets {targets.shape}")
    if signs.shape != gates.shape[-1:] or not np.all(np.abs(signs) == 1):
        raise ValueError(f"signs must be {gates.shape[-1]} values of -1 and +1")
    # These two would give a wrong number without a word.
    if order < 2:
        raise ValueError(f"order must be a whole number from 2, not {order}")
    if penalty_power not in (2, 4, 8):
        raise ValueError(f"penalty_power must be 2, 4 or 8, not {penalty_power}")
    signed = np.ascontiguousarray(gates * signs, dtype=features.dtype)
    return TaylorProblem(features, signed, targets, order, LOSSES[loss], penalty_power)


def row_dots(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return <left_r, right_r> of each row: (..., m, D), (..., m, D) -> (..., m) float64."""
    return np.vecdot(left, right).astype(np.float64)


def row_blocks(matrix: np.ndarray) -> list[slice]:
    """Return slices of rows, small enough for what one step makes of a block to be in cache for the next one."""
    count, columns = matrix.shape[-2:]
    rows = max(8, BLOCK_BYTES // (columns * matrix.itemsize))
    return [slice(i, min(i + rows, count)) for i in range(0, count, rows)]


class TaylorPoint:
    """Scaled weights U (..., m, D) with everything that lines through them need.

    Holds the outputs (..., n), squared row norms (..., m) and B = A o Z^(k-1) (..., n, m) for A the signed gates and
    Z = H U^T, all kept up to date along steps at no further matrix product.
    """

    def __init__(self, problem: TaylorProblem, scaled_weights: np.ndarray) -> None:
        self.problem = problem
        self.weights = np.array(scaled_weights, problem.features.dtype, order="C")
        self.power = np.empty_like(problem.signed_gates)
        self.gated = np.empty_like(self.power)
        # Of each block the index into (..., n, columns) and that into (..., n).
        blocks = row_blocks(self.power)
        self.blocks: list[tuple[Any, Any]] = (
            [((..., rows, slice(None)), (..., rows)) for rows in blocks] if len(blocks) > 1 else [(..., ...)]
        )
        # Above order 2, Z and its change along a line are kept; at order 2 a block of them serves.
        self.keeps = problem.order > 2
        self.moved = np.empty_like(self.power if self.keeps else self.power[self.blocks[0][0]])
        self.inner = np.empty_like(self.power) if self.keeps else self.moved
        # The gradient B^T diag(gradient) H scales whichever matrix has fewer columns.
        self.narrow = problem.features.shape[-1] < problem.width
        self.scratch = np.empty_like(problem.features) if self.narrow else self.gated
        self.outputs = np.empty(self.power.shape[:-1])
        self.norms = np.empty(self.weights.shape[:-1])
        self.refresh()

    def at(self, index: int | list[int] | None) -> "TaylorPoint":
        """Return those points of a stack, or for None this one stacked; they share memory unless index is a list."""
        other = copy.copy(self)
        other.problem, parts = self.problem.at(index), vars(other)
        parts.update({name: part[index] for name, part in parts.items() if isinstance(part, np.ndarray)})
        return other

    def refresh(self) -> None:
        """Recompute outputs, norms and B from U by one matrix product, so that rounding does not build up."""
        problem = self.problem
        for rows, places in self.blocks:
            inner = self._of_block(self.inner, rows)
            np.matmul(problem.features[rows], self.weights.mT, out=inner)
            self._raise_power(rows, inner)
            self.outputs[places] = np.vecdot(self.power[rows], inner)
        self.outputs *= problem.output_scale
        self.norms[...] = row_dots(self.weights, self.weights)

    def _of_block(self, matrix: np.ndarray, rows: Any) -> np.ndarray:
        """Return a block's rows of an (..., n, m) matrix, or of one that only holds a block."""
        if matrix.shape[-2] == self.power.shape[-2]:
            return matrix[rows]
        return matrix[..., : rows[1].stop - rows[1].start, :]

    def _raise_power(self, rows: Any, inner: np.ndarray) -> None:
        power = self.power[rows]
        np.multiply(self.problem.signed_gates[rows], inner, out=power)
        for _ in range(self.problem.order - 2):
            power *= inner

    def line(self, direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Expand along U + t P: coefficients of the outputs, (k+1, ..., n), and of the penalty, (power + 1, ...).

        direction: P (..., m, D). One matrix product. Float64, ascending powers of t.
        """
        problem, order = self.problem, self.problem.order
        coefficients = np.empty((order + 1, *self.outputs.shape))
        for rows, places in self.blocks:
            moved, gated = self._of_block(self.moved, rows), self.gated[rows]
            np.matmul(problem.features[rows], direction.mT, out=moved)
            coefficients[1][places] = np.vecdot(self.power[rows], moved)
            np.multiply(problem.signed_gates[rows], moved, out=gated)
            partial = gated
            for j in range(2, order + 1):
                term = partial
                for _ in range(order - j):
                    term = term * self.inner[rows]
                coefficients[j][places] = np.vecdot(term, moved)
                partial = partial * moved if j < order else partial
        for j in range(1, order + 1):
            coefficients[j] *= math.comb(order, j) * problem.output_scale
        coefficients[0] = self.outputs
        norms = np.array([self.norms, 2.0 * row_dots(self.weights, direction), row_dots(direction, direction)])
        self.norms_along = norms.swapaxes(0, -2)
        return coefficients, penalty_polynomial(norms, problem.penalty_power)

    def move(self, t: float | np.ndarray, step: np.ndarray, coefficients: np.ndarray) -> None:
        """Go to U + step, step = t P for the direction and the coefficients of the last call of `line`, t (...)."""
        self.weights += step
        powers = np.asarray(t)[..., None] ** np.arange(len(coefficients))
        self.outputs[...] = np.vecmat(powers, coefficients.swapaxes(0, -2))
        self.norms[...] = np.maximum(np.vecmat(powers[..., :3], self.norms_along), 0.0)
        gradient, scaled = self._output_gradient(), self.problem.features if self.narrow else self.power
        for rows, _ in self.blocks:
            if not self.keeps:
                self._add(t, self.gated[rows], self.power[rows])
            else:
                self._add(t, self.moved[rows], self.inner[rows])
                self._raise_power(rows, self.inner[rows])
            block = scaled[rows]
            np.multiply(block, gradient[rows], out=self.scratch[rows])

    @staticmethod
    def _add(t: Any, change: np.ndarray, out: np.ndarray) -> None:
        """out <- out + t change, of each of a stack."""
        for factor, of, to in zip(t, change, out, strict=True) if np.ndim(t) else [(t, change, out)]:
            add_multiple(factor, of, to)

    def prepare_gradient(self) -> None:
        """Fill what `gradient` multiplies; `move` has done it for the point that it went to."""
        np.multiply(self.problem.features if self.narrow else self.power, self._output_gradient(), out=self.scratch)

    def _output_gradient(self) -> np.ndarray:
        problem = self.problem
        gradient = problem.loss.gradient(self.outputs, problem.targets)
        gradient *= problem.order * problem.output_scale / gradient.shape[-1]
        return gradient.astype(self.power.dtype)[..., None]

    def gradient(self, scaled_ridge: float | np.ndarray, out: np.ndarray, scratch: np.ndarray) -> np.ndarray:
        """Write the gradient in U of mean loss + scaled_ridge penalty() to out (..., m, D); return out.

        One matrix product. Call after `move` or `prepare_gradient`; scaled_ridge (...), scratch is like out.
        """
        left, right = (self.power, self.scratch) if self.narrow else (self.scratch, self.problem.features)
        np.matmul(left.mT, right, out=out)
        ridge = np.asarray(scaled_ridge)[..., None]
        factor = 4.0 * ridge * self.norms
        if self.problem.penalty_power == 2:
            factor = np.broadcast_to(2.0 * ridge, factor.shape)
        elif self.problem.penalty_power == 8:
            factor *= 2.0 * np.vecdot(self.norms, self.norms)[..., None]
        np.multiply(self.weights, factor.astype(out.dtype)[..., None], out=scratch)
        out += scratch
        return out

    def train_loss(self) -> Any:
        """Return the mean loss over the samples, (...) float64."""
        return np.mean(self.problem.loss.value(self.outputs, self.problem.targets), axis=-1)

    def penalty(self) -> Any:
        """Return (sum_r |u_r|^4)^(power/4), or sum_r |u_r|^2, (...) float64."""
        if self.problem.penalty_power == 2:
            return self.norms.sum(axis=-1)
        return np.vecdot(self.norms, self.norms) ** (self.problem.penalty_power // 4)
