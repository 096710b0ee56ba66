"""What exact kernel ridge regression costs: 20 ridges against three float64 Cholesky factorisations. One thread.

Run: PYTHONPATH=workflow python benchmarks/ridge.py [--samples 4000]
Kernel: the tangent kernel of a two-layer ReLU network (both layers) plus a constant, of uniform points on the sphere;
ridges 1e-8 ... 1e-1 times the mean diagonal.
"""

import argparse
import time
from collections.abc import Iterator

import numpy as np
from scipy.linalg import cho_factor
from table import Row, as_in_jobs, emit

from hierlearn.solvers.ridge import ridge_path

INPUTS = (6, 10, 20, 40)
# How many factorisations a path may cost.
TARGET = 3.0


def make_case(samples, inputs, seed=0):
    """Kernel (n, n) float64 and targets (n,): a quartic and a linear function of single coordinates."""
    points = np.random.default_rng(seed).standard_normal((samples, inputs))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    cosine = np.clip(points @ points.T, -1.0, 1.0)
    np.fill_diagonal(cosine, 1.0)
    angle = np.arccos(cosine)
    kernel = (2.0 * cosine * (np.pi - angle) + np.sqrt(1.0 - cosine**2)) / np.pi + 0.1
    targets = points[:, 0] ** 4 * inputs**2 + points[:, 1] * inputs**0.5
    return 0.5 * (kernel + kernel.T), targets


def measure(samples, inputs, ridges):
    """Seconds of the path and of one Cholesky factorisation, best of two each; the path's method and residual."""
    kernel, targets = make_case(samples, inputs)
    grid = np.logspace(-8, -1, ridges) * np.trace(kernel) / samples
    factor_times, path_times = [], []
    for _ in range(2):
        shifted = np.asfortranarray(kernel + samples * grid[-1] * np.eye(samples))
        began = time.perf_counter()
        cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
        factor_times.append(time.perf_counter() - began)
        began = time.perf_counter()
        duals = ridge_path(kernel, targets, grid)
        path_times.append(time.perf_counter() - began)
    return min(path_times), min(factor_times), duals.method, float(duals.residuals.max())


def rows(samples, ridges) -> Iterator[Row]:
    """A path in factorisations, per input dimension."""
    for inputs in INPUTS:
        path, factor, method, residual = measure(samples, inputs, ridges)
        name = f"path of {ridges} ridges, n = {samples}, d = {inputs}, in Choleskys"
        note = f"{path:.2f} s, {factor:.2f} s, {method}, residual {residual:.1e}"
        yield Row(name, path / factor, most=TARGET, note=note)


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=4000)
    parser.add_argument("--ridges", type=int, default=20)
    parser.add_argument("--rows", action="store_true", help="one JSON object a row, for table.py")
    given = parser.parse_args()
    as_in_jobs()
    emit(rows(given.samples, given.ridges), None if given.rows else "ridge")


if __name__ == "__main__":
    main()
