"""Limited-memory BFGS directions in the compact form: two matrix-vector products per direction.

The inverse Hessian estimate gamma I + [S, gamma Y] M [S, gamma Y]^T (Byrd, Nocedal and Schnabel 1994, eq. 3.1)
needs the history only through V g and V^T c with V = [S; Y] contiguous; inner products between stored pairs are
carried in float64 from one direction to the next. With a metric M in place of I, Y holds M^{-1} times the changes.
"""

import numpy as np
import scipy

from hierlearn.solvers.in_place import add_combination


class History:
    """The last `memory` pairs (step, gradient change) of vectors of `size` elements."""

    def __init__(self, memory, size, dtype):
        self.memory = memory
        self.vectors = np.zeros((2, memory, size), dtype)
        self.clear()

    def clear(self):
        self.count = 0
        self.order = []
        # Inner products of steps with changes and of changes among each other, oldest pair first.
        self.step_change = np.zeros((self.memory, self.memory))
        self.change_change = np.zeros((self.memory, self.memory))
        self.products = None

    def slot(self):
        """Views (step, change) to be filled with the next pair before `push`; the oldest pair is overwritten."""
        j = self.count % self.memory
        if len(self.order) == self.memory:
            del self.order[0]
            for matrix in (self.step_change, self.change_change):
                matrix[:-1, :-1] = matrix[1:, 1:]
        return self.vectors[0, j], self.vectors[1, j]

    def push(self, old_gradient):
        """Take up the pair written to `slot`; its inner products come with the next `direction`."""
        j = self.count % self.memory
        self.order.append(j)
        self.count += 1
        self.products[:, j] = self.vectors[:, j] @ old_gradient

    def direction(self, gradient, lifted, out):
        """Write -(inverse Hessian estimate) gradient to `out`, all (size,); returns out.

        lifted: M^{-1} gradient, the gradient itself without a metric; the changes stored must be of it. Call after
        every `push` and with the gradient at the newest point. Without pairs: the negative of lifted.
        """
        used = min(self.count, self.memory)
        if not used:
            self.products = np.zeros((2, self.memory))
            return np.negative(lifted, out=out)
        products = np.zeros((2, self.memory))
        if used == self.memory:
            # As one product, which reads the gradient once.
            products.reshape(-1)[:] = self.vectors.reshape(2 * used, -1) @ gradient
        else:
            for half in range(2):
                products[half, :used] = self.vectors[half, :used] @ gradient
        order = np.array(self.order)
        change = (products - self.products)[:, order]
        self.products = products
        upper, changes = self.step_change[:used, :used], self.change_change[:used, :used]
        upper[:, -1] = change[0]
        changes[:, -1] = changes[-1] = change[1]
        gamma = upper[-1, -1] / changes[-1, -1]
        along_steps, along_changes = products[:, order]
        # Only the upper triangle is read: entries below it belong to no pair's update.
        weights = scipy.linalg.lapack.dtrtrs(upper, along_steps)[0]
        middle = upper.diagonal() * weights + gamma * (changes @ weights - along_changes)
        coefficients = np.empty((2, used), gradient.dtype)
        coefficients[0, order] = -scipy.linalg.lapack.dtrtrs(upper, middle, trans=1)[0]
        coefficients[1, order] = gamma * weights
        np.multiply(lifted, -gamma, out=out)
        # Backwards: what the products read last is still in cache.
        for half in (1, 0):
            add_combination(coefficients[half], self.vectors[half, :used], out)
        return out
