"""The least norm of networks that are a parity, by going through all cells on which the overlap is linear."""

from itertools import product

import numpy as np
import scipy

# Cones that are not solid leave a residual of rounding errors, the solid ones of k <= 6 at least 0.03.
SOLID = 1e-6


def least_norm(order: int) -> float:
    """N, below which |W|_F / sqrt(d) of no network that is the parity of k signs lies; exact up to rounding.

    E[chi relu(<u, z> + b)] is piecewise linear in b and vanishes for large |b|, so its extremes lie where some
    <u, s> + b = 0. With u_i s_i in place of u_i it is then 2^{-k} sum_S (-1)^{|S|} |u(S)| up to its sign, u(S) the sum
    over a set S of coordinates. That is linear on each cell of the arrangement of hyperplanes u(S) = 0, and its maximum
    on the unit vectors of a cell is the norm of a projection onto it. Cells with u_1 >= ... >= u_k and u([k]) >= 0
    stand for all. 112 cells for k = 5 and 1512 for k = 6.
    """
    # Small sets first make few cells on the way; the last is [k].
    sets = np.array(sorted(product((0.0, 1.0), repeat=order), key=sum)[1:])
    parity = (-1.0) ** np.sum(sets, axis=1)
    chamber = np.concatenate([np.eye(order)[:-1] - np.eye(order)[1:], np.ones((1, order))])
    cells = [(chamber, _interior(chamber), [])]
    for normal in sets[:-1]:
        cells = [part for cell in cells for part in _split(cell, normal)]
    largest = 0.0
    for inequalities, _, sides in cells:
        slope = (parity * [*sides, 1.0]) @ sets
        # By Moreau's decomposition the residual to the polar cone is the projection onto the cone.
        largest = max(largest, *(scipy.optimize.nnls(-inequalities.T, sign * slope)[1] for sign in (1.0, -1.0)))
    return 2.0**order / largest


def _split(cell, normal: np.ndarray):
    """The one or two cells that a hyperplane makes of one (inequalities, a point inside, sides of the hyperplanes)."""
    inequalities, point, sides = cell
    for side in (1.0, -1.0):
        cut = np.vstack([inequalities, side * normal])
        inside = point if side * (normal @ point) > 0 else _interior(cut)
        if inside is not None:
            yield cut, inside, [*sides, side]


def _interior(inequalities: np.ndarray) -> np.ndarray | None:
    """A u with A u > 0, None if there is none: by Gordan's alternative A^T y = 0, y >= 0, sum y = 1."""
    system = np.vstack([inequalities.T, np.ones(len(inequalities))])
    wanted = np.append(np.zeros(inequalities.shape[1]), 1.0)
    weights, residual = scipy.optimize.nnls(system, wanted)
    return (system @ weights - wanted)[:-1] if residual > SOLID else None
