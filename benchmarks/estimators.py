"""Estimators beside their peers, in processor seconds of one thread: ridges, landmarks, large n, and where models win.

    PYTHONPATH=workflow python benchmarks/estimators.py [--only example --only ridges ...]

example: the first example of the manual from the start of Python, imports included. ridges: 20 ridges of a tangent
kernel at n = 2000 beside scikit-learn's KernelRidge, and their exact leave-one-out errors beside RidgeCV. large: 20 000
points of 784 coordinates with 10 outputs and 4 ridges, exactly. million: a million points of 100 coordinates on 4000
landmarks. taylor: a quadratic Taylor model brought to the same objective by torch's LBFGS with strong Wolfe steps, five
seeds; LBFGS is told the objective and stops there, our descent is timed until there and until its own rule ends it.
control: relative risk of models on a ridge polynomial of degree 4, where Quad-Neural wins at few samples and is passed
at many. Falkon and EigenPro, the peers of landmarks, have no wheels that pip could install here.
"""

import argparse
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from table import Row, as_in_jobs, emit

EXAMPLE = """
from hierlearn.datasets import make_ridge_polynomial
from hierlearn.estimators import NeuralRepresentation, NTKRegressor, TaylorRegressor
from sklearn.pipeline import make_pipeline
X, y = make_ridge_polynomial(512, n_features=10, degree=4, random_state=0)
model = make_pipeline(NeuralRepresentation(256, n_directions=65, random_state=0), TaylorRegressor(random_state=0))
model.fit(X[:400], y[:400]).score(X[400:], y[400:])
NTKRegressor(depth=2).fit(X[:400], y[:400]).score(X[400:], y[400:])
"""
REPEATS = 3


def busy(call: Callable[[], object], repeats: int = REPEATS) -> float:
    """Processor seconds of the fastest of some calls."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def peak() -> float:
    """Most memory that this process has held, in GiB."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 2**20


def example() -> Iterator[Row]:
    """The first example, imports included."""
    began, before = time.perf_counter(), os.times()
    subprocess.run([sys.executable, "-W", "ignore", "-c", EXAMPLE], check=True)
    after, waited = os.times(), time.perf_counter() - began
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    name = "first example of the manual, imports included"
    yield Row(name, spent, "s", most=5.0, note=f"{waited:.1f} s by the clock")


def on_sphere(count: int, dimension: int, seed: int = 0) -> np.ndarray:
    """Uniform points on the sphere."""
    x = np.random.default_rng(seed).standard_normal((count, dimension))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def ridges() -> Iterator[Row]:
    """20 ridges of a tangent kernel beside scikit-learn."""
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.linear_model import RidgeCV

    from hierlearn.core.registry import build
    from hierlearn.solvers.ridge import ridge_path
    from hierlearn.solvers.ridge_spectrum import leave_one_out_path

    n, x = 2000, on_sphere(2000, 20)
    gram = build("kernels", {"name": "ntk", "depth": 3})(x)
    y = 20 * x[:, 0] * x[:, 1] + np.random.default_rng(1).standard_normal(n) / 10
    unit, grid = float(np.mean(np.diag(gram))), np.logspace(0, -6, 20)

    def theirs():
        for ridge in grid:
            KernelRidge(alpha=n * ridge * unit, kernel="precomputed").fit(gram, y)

    ours, other = busy(lambda: ridge_path(gram, y, grid * unit)), busy(theirs, 1)
    note = f"{ours:.2f} s here, there {other:.2f} s"
    yield Row(f"20 ridges, n = {n}: times faster than KernelRidge", other / ours, least=10.0, note=note)
    # Leave-one-out errors of ridge regression on the kernel's features, which RidgeCV takes from one decomposition.
    values, vectors = np.linalg.eigh(gram)
    features = vectors * np.sqrt(np.maximum(values, 0.0))
    ours = busy(lambda: leave_one_out_path(gram.copy(), y, grid * unit))
    other = busy(lambda: RidgeCV(n * grid * unit, fit_intercept=False).fit(features, y), 1)
    note = f"{ours:.2f} s here, there {other:.2f} s"
    yield Row(f"20 ridges left one out, n = {n}: times faster than RidgeCV", other / ours, least=1.0, note=note)


def large() -> Iterator[Row]:
    """20 000 points exactly, at the best of four ridges on held-out points of their own."""
    from hierlearn.core.registry import build
    from hierlearn.solvers.ridge import ridge_path

    x = on_sphere(20_000, 784).astype(np.float32)
    y = np.where(np.random.default_rng(1).integers(0, 10, (20_000, 1)) == np.arange(10), 1.0, -1.0)
    began = time.process_time()
    gram = build("kernels", {"name": "ntk", "depth": 4})(x)
    kernel = time.process_time() - began
    duals = ridge_path(gram, y, np.array([1.0, 1e-1, 1e-2, 1e-3]) * float(np.mean(np.diag(gram))))
    spent = time.process_time() - began
    note = f"kernel {kernel:.0f} s, {duals.method}, residual {duals.residuals.max():.0e}"
    yield Row("n = 20 000, d = 784, 10 outputs, 4 ridges, exactly", spent, "s", most=30.0, note=note)
    yield Row("the same: memory", peak(), "GiB", most=3.5)


def million() -> Iterator[Row]:
    """A million points on 4000 landmarks."""
    from hierlearn.estimators import NTKRegressor

    n, d, generator = 1_000_000, 100, np.random.default_rng(0)
    X = generator.standard_normal((n, d), dtype=np.float32)
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.1 * generator.standard_normal(n, dtype=np.float32)
    model = NTKRegressor(alphas=(1e-4, 1e-5, 1e-6, 1e-7), n_landmarks=4000, validation_fraction=0.01, random_state=0)
    began = time.process_time()
    model.fit(X[:-10_000], y[:-10_000])
    spent = time.process_time() - began
    score = model.score(X[-10_000:], y[-10_000:])
    note = f"R2 {score:.3f} on 10 000 others, ridge {model.alpha_:g}"
    yield Row("n = 990 000, d = 100, 4000 landmarks, 4 ridges", spent, "s", most=900.0, note=note)
    yield Row("the same: memory", peak(), "GiB", most=4.0)


def taylor() -> Iterator[Row]:
    """The descent of a quadratic Taylor model beside torch's LBFGS from the same start to the same objective."""
    import torch

    torch.set_num_threads(1)
    n, d, m, ridge = 2000, 50, 200, 1e-3
    ratios: dict[str, list[float]] = {"its own stopping rule included": [], "until it is there": []}
    signs = np.repeat([1.0, -1.0], m // 2).astype(np.float32)
    # The first is to load the libraries.
    for seed in (0, *range(5)):
        generator = np.random.default_rng(seed)
        h = on_sphere(n, d, seed).astype(np.float32)
        y = d * h[:, 0] * h[:, 1] + 0.1 * generator.standard_normal(n)
        w0 = generator.standard_normal((m // 2, d)).astype(np.float32)
        gates = np.tile((h @ w0.T > 0).astype(np.float32), 2)
        start = (0.1 * m**-0.25 * generator.standard_normal((m, d))).astype(np.float32)

        problem = h[None], gates[None], signs, y[None], [ridge], start[None]
        whole, path = _timed(problem, trace=True)
        goal = 1.0005 * float(path.objective[0])
        # LBFGS is told the goal, and stops there.
        there, _ = _timed(problem, max_iterations=int(np.argmax(path.trace[0] <= goal)))
        peer = _lbfgs(h, gates * signs, y, ridge, start, goal)
        for found, spent in zip(ratios.values(), (whole, there), strict=True):
            found.append(peer / spent)
    for end, found in ratios.items():
        told = ", ".join(f"{ratio:.1f}" for ratio in found[1:])
        name = f"Taylor order 2, n = {n}, {end}: times faster than LBFGS of torch, median of five seeds"
        yield Row(name, float(np.median(found[1:])), least=3.0, note=told)


def _timed(problem: tuple[Any, ...], **given: Any) -> tuple[float, Any]:
    """Processor seconds of a descent, and what it found."""
    from hierlearn.solvers.taylor.training import fit_paths

    began = time.process_time()
    (path,) = fit_paths(*problem, stop="decrease", **given)
    return time.process_time() - began, path


def _lbfgs(h: np.ndarray, gates: np.ndarray, y: np.ndarray, ridge: float, start: np.ndarray, goal: float) -> float:
    """Processor seconds until the objective is reached; infinity where it is not within 500 iterations."""
    import torch

    features, gated = torch.from_numpy(h), torch.from_numpy(gates)
    labels, weights = torch.from_numpy(y.astype(np.float32)), torch.from_numpy(start.copy()).requires_grad_()
    factor, best = 0.5 / start.shape[0] ** 0.5, [np.inf]
    optimiser = torch.optim.LBFGS([weights], max_iter=20, history_size=10, line_search_fn="strong_wolfe")

    def closure():
        optimiser.zero_grad()
        outputs = factor * (gated * (features @ weights.T) ** 2).sum(1)
        objective = ((outputs - labels) ** 2).mean() + ridge * ((weights**2).sum(1) ** 2).sum()
        objective.backward()
        best[0] = min(best[0], float(objective.detach()))
        return objective

    began = time.process_time()
    for _ in range(25):
        optimiser.step(closure)
        if best[0] <= goal:
            return time.process_time() - began
    return np.inf


def control() -> Iterator[Row]:
    """Relative risk on a degree-4 ridge polynomial, d = 10, three seeds."""
    from sklearn.pipeline import make_pipeline

    from hierlearn.datasets import make_ridge_polynomial
    from hierlearn.estimators import NeuralRepresentation, NTKRegressor, TaylorRegressor

    for n in (256, 512, 1024):
        risks: dict[str, list[float]] = {}
        for seed in range(3):
            X, y = make_ridge_polynomial(n, random_state=seed)
            Z, target = make_ridge_polynomial(4000, random_state=seed, role="test")
            given = {"fit_intercept": False, "scale": None, "random_state": seed}
            representation = NeuralRepresentation(110, n_directions=55, random_state=seed)
            quad = TaylorRegressor(width=100, alphas=(1e-1, 1e-2, 3e-3), tol=3e-4, **given)
            raw = TaylorRegressor(width=220, activation="relu3", alphas=(1e-3, 3e-5, 1e-5), **given)
            models = {"Quad-Neural": make_pipeline(representation, quad), "Quad-Raw": raw, "NTK": NTKRegressor(depth=3)}
            for name, model in models.items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    model.fit(X, y)
                error = np.mean((model.predict(Z) - target) ** 2) / np.mean(target**2)
                risks.setdefault(name, []).append(float(error))
        told = ", ".join(f"{name} {np.mean(of):.2f} +- {np.std(of, ddof=1):.2f}" for name, of in risks.items())
        best = min(np.mean(of) for name, of in risks.items() if name != "Quad-Neural")
        name = f"degree 4, d = 10, n = {n}: risk of Quad-Neural over the best other"
        yield Row(name, np.mean(risks["Quad-Neural"]) / best, note=told)


PARTS = {part.__name__: part for part in (example, ridges, large, million, taylor, control)}


def main() -> None:
    """Print the rows, each part in a process of its own, so that memory is its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=PARTS, help="this part alone")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--rows", action="store_true", help="one JSON object a row, for table.py")
    given = parser.parse_args()
    as_in_jobs()
    for part in given.only or PARTS:
        if given.here:
            emit(PARTS[part](), None if given.rows else "estimators")
            continue
        command = [sys.executable, __file__, "--here", "--only", part, *(["--rows"] if given.rows else [])]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
