"""Kernels of neural-tangents at the size of a benchmark; `kernels.py --reference-python` runs it.

    REFERENCE-PYTHON benchmarks/reference/kernels.py POINTS.npy CASE float32|float64 RESULT.npy

Its interpreter has neural-tangents 0.6.5 and jax 0.4.35 (benchmarks/kernels.py says how to set it up), and nothing of
this project. Prints seconds and processor seconds (best of three, compiled beforehand), the peak memory in bytes that
the first call of that size added, its compilation included; writes the kernel of the first 100 points.
"""

import sys
import time
from functools import partial
from math import sqrt
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from neural_tangents import stax


def lifted(x, scale):
    return jnp.concatenate([x, jnp.ones((len(x), 1), x.dtype)], axis=1) * x.dtype.type(scale)


def ntk_raw(x):
    """E[sigma'(u) sigma'(v)] <x, z> for sigma = relu^2 / 2 on (x, 1) / sqrt(2)."""
    x = lifted(x, sqrt(0.5))
    covariance = stax.serial(stax.Dense(1, W_std=sqrt(x.shape[1])), stax.RectifiedMonomial(1))[2](x, None, "nngp")
    return covariance * (x @ x.T)


def ntk(x, depth):
    """The tangent kernel of a ReLU network with `depth` layers of weights on (x, 1) / sqrt(2)."""
    x = lifted(x, sqrt(0.5))
    layers = [stax.Dense(1, W_std=sqrt(2.0 * x.shape[1])), stax.Relu()]
    for _ in range(depth - 2):
        layers += [stax.Dense(1, W_std=sqrt(2.0)), stax.Relu()]
    return stax.serial(*layers, stax.Dense(1))[2](x, None, "ntk")


def ntk_neural(x):
    """The same expectation as `ntk_raw` over the covariance of step features of (x, 1)."""
    x = lifted(x, 1.0)
    seen = stax.Dense(1, W_std=sqrt(x.shape[1]))[2](x, None)
    second = stax.RectifiedMonomial(0)[2](seen)
    # The library's variances are NaN, as its formula is singular where two points coincide; they are 1/2.
    second = second.replace(cov1=jnp.full_like(seen.cov1, 0.5))
    outer = stax.RectifiedMonomial(1)[2](stax.Dense(1)[2](second))
    return outer.nngp * second.nngp


CASES = {"ntk-raw": ntk_raw, "ntk-neural": ntk_neural}
CASES |= {f"ntk-{depth}": partial(ntk, depth=depth) for depth in (2, 3, 4)}


def memory(which: str) -> int:
    """Memory of this process in bytes: VmRSS now, VmHWM at most since the last `forget_peak`."""
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{which}:")[1].split()[0]) * 1024


def forget_peak() -> None:
    """Start counting the peak anew (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")


def main() -> None:
    points, case, dtype, target = sys.argv[1:]
    jax.config.update("jax_enable_x64", dtype == "float64")
    kernel, x = jax.jit(CASES[case]), jnp.asarray(np.load(points).astype(dtype))
    kernel(x[:16]).block_until_ready()
    forget_peak()
    before = memory("VmRSS")
    result = kernel(x).block_until_ready()
    added = memory("VmHWM") - before
    np.save(target, np.asarray(result)[:100, :100])
    del result
    spent, busy = [], []
    for _ in range(3):
        start, processor = time.perf_counter(), time.process_time()
        kernel(x).block_until_ready()
        spent.append(time.perf_counter() - start)
        busy.append(time.process_time() - processor)
    print(min(spent), min(busy), added)


if __name__ == "__main__":
    main()
