"""Seconds that each kernel takes for a Gram matrix, on one core.

    OPENBLAS_NUM_THREADS=1 PYTHONPATH=workflow python benchmarks/kernels.py [--points 4000] [--dimension 20]

Best of three runs with each kernel's default parameters: the symmetric matrix, that of two sets of points, and the
plain matrix product x x^T on which both rest. Where neural-tangents can be imported, its kernel of a two-layer ReLU
network is timed beside them, compiled beforehand.
"""

import argparse
import time
from math import sqrt

import numpy as np

from hierlearn.components import available, build


def seconds(call, repeats: int = 3) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def neural_tangents(x: np.ndarray) -> float | None:
    """Seconds of the library's NTK of the same size in float64; None where it is not installed."""
    try:
        import jax
        from neural_tangents import stax
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    layers = stax.Dense(1, W_std=sqrt(2.0 * x.shape[1])), stax.Relu(), stax.Dense(1)
    kernel = jax.jit(stax.serial(*layers)[2], static_argnames="get")
    kernel(x, x, "ntk").block_until_ready()
    return seconds(lambda: kernel(x, x, "ntk").block_until_ready())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=4000)
    parser.add_argument("--dimension", type=int, default=20)
    options = parser.parse_args()
    generator = np.random.default_rng(0)
    x, z = (generator.standard_normal((options.points, options.dimension)) for _ in range(2))
    print(f"{options.points} points in dimension {options.dimension}, float64")
    print(f"{'kernel':<24}{'symmetric':>12}{'rectangular':>14}")
    print(f"{'x x^T':<24}{seconds(lambda: x @ x.T):>10.3f} s{seconds(lambda: x @ z.T):>12.3f} s")
    for name in available("kernels"):
        kernel = build("kernels", {"name": name})
        symmetric, rectangular = (seconds(lambda right=right, k=kernel: k(x, right)) for right in (None, z))
        print(f"{name:<24}{symmetric:>10.3f} s{rectangular:>12.3f} s")
    library = neural_tangents(x)
    print(
        f"{'neural-tangents, NTK':<24}{'not installed':>26}"
        if library is None
        else f"{'neural-tangents, NTK':<24}{'':>12}{library:>12.3f} s"
    )


if __name__ == "__main__":
    main()
