"""Limited-memory BFGS directions in the compact form, for a stack of problems in lockstep: two products a direction.

The inverse Hessian estimate gamma I + [S, gamma Y] N [S, gamma Y]^T (Byrd, Nocedal and Schnabel 1994, eq. 3.1)
needs the history only through V g and V^T c with V = [S; Y] contiguous; inner products between stored pairs are
carried in float64 from one direction to the next. With a metric M in place of I, Y holds M^{-1} times the changes.
"""

import numpy as np
import scipy


class History:
    """The last `memory` pairs (step, gradient change) of vectors of `size` elements, of each of P problems.

    All problems store a pair at the same time. A pair that a problem has not is of zeros, and its rows of the inner
    products are those of the identity, which leaves directions alone.
    """

    def __init__(self, problems: int, memory: int, size: int, dtype: np.dtype) -> None:
        self.memory, self.stored = memory, 0
        places = np.arange(memory)
        self.orders = [((places + first) % memory, (places - first) % memory) for first in places]
        # Pairs that a problem has stored since it was cleared.
        self.counts = [0] * problems
        self.vectors = np.zeros((problems, 2 * memory, size), dtype)
        # Inner products of steps with changes, the upper triangle of which is used, of changes among each other, and of
        # both with the gradient at the newest pair's beginning; the oldest pair first.
        self.triangle = np.zeros((problems, memory, memory))
        self.triangle[:] = np.eye(memory)
        self.changes = np.zeros((problems, memory, memory))
        self.before = np.zeros((problems, 2, memory))

    def clear(self, problem: int) -> None:
        """Forget the pairs of a problem."""
        self.counts[problem] = 0
        self.triangle[problem] = np.eye(self.memory)
        for array in (self.vectors, self.changes, self.before):
            array[problem] = 0.0

    def keep(self, which: list[int]) -> None:
        """Go on with a list of the problems alone."""
        self.counts = [self.counts[i] for i in which]
        self.vectors, self.before = self.vectors[which], self.before[which]
        self.triangle, self.changes = self.triangle[which], self.changes[which]

    def slot(self) -> tuple[np.ndarray, np.ndarray]:
        """Return views (steps, changes), (P, size) each, to fill with the next pairs before `push`; they replace the
        oldest ones."""
        j = self.stored % self.memory
        return self.vectors[:, j], self.vectors[:, self.memory + j]

    def push(self, old_gradients: np.ndarray) -> None:
        """Take up the pairs written to `slot`; their inner products come with the next `direction`.

        A problem that has none must be cleared after this.
        """
        newest = self.vectors[:, self.stored % self.memory :: self.memory]
        self.stored += 1
        self.counts = [count + 1 for count in self.counts]
        for matrix in (self.triangle, self.changes):
            matrix[:, :-1, :-1] = matrix[:, 1:, 1:]
        self.before[:, :, :-1] = self.before[:, :, 1:]
        self.before[:, :, -1] = np.vecdot(newest, old_gradients[:, None])

    def direction(self, gradients: np.ndarray, lifted: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Write -(inverse Hessian estimate) gradient to `out`, all (P, size); returns out.

        lifted: M^{-1} gradient, the gradient itself without a metric; the changes stored must be of it. Call after
        every `push` and with the gradient at the newest point. Without pairs: the negative of lifted.
        """
        if not any(self.counts):
            return np.negative(lifted, out=out)
        # From the oldest slot to the newest one, and back.
        slots, ages = self.orders[self.stored % self.memory]
        products = np.matvec(self.vectors, gradients).astype(np.float64).reshape(self.before.shape)
        products = products.take(slots, axis=2)
        change = products - self.before
        self.before = products
        triangle, changes = self.triangle, self.changes
        triangle[:, :, -1] = change[:, 0]
        changes[:, :, -1] = changes[:, -1] = change[:, 1]
        for problem, count in enumerate(self.counts):
            if not count:
                triangle[problem, -1, -1] = changes[problem, -1, -1] = 1.0
        gamma = triangle[:, -1, -1] / changes[:, -1, -1]
        weights = _solved(triangle, products[:, 0], transposed=False)
        middle = np.einsum("sii->si", triangle) * weights
        middle += gamma[:, None] * (np.matvec(changes, weights) - products[:, 1])
        coefficients = np.empty_like(products)
        coefficients[:, 0] = -_solved(triangle, middle, transposed=True)
        coefficients[:, 1] = gamma[:, None] * weights
        coefficients = coefficients.take(ages, axis=2).astype(out.dtype).reshape(len(out), -1)
        np.multiply(lifted, -gamma.astype(out.dtype)[:, None], out=out)
        out += np.vecmat(coefficients, self.vectors)
        return out


def _solved(triangles: np.ndarray, right: np.ndarray, transposed: bool) -> np.ndarray:
    """x of each problem's triangular system: (P, memory, memory), of which the upper part is read, and (P, memory)."""
    solve = scipy.linalg.lapack.dtrtrs
    return np.array([solve(*one, trans=int(transposed))[0] for one in zip(triangles, right, strict=True)])
