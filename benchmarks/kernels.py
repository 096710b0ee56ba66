"""Seconds that each kernel takes for a Gram matrix, and how that compares with neural-tangents.

    OPENBLAS_NUM_THREADS=1 PYTHONPATH=workflow python benchmarks/kernels.py [--points 4000] [--dimension 20]
    ... [--reference-python PATH]

Best of three runs with each kernel's default parameters: the symmetric matrix, that of two sets of points, and the
plain matrix product x x^T on which both rest. With the interpreter of an environment that has neural-tangents
(tests/oracles/generate_neural_tangents.py says how to make one), the symmetric matrices of three kernels are computed
by both, each in a process of its own on the same two cores: seconds, peak memory that the call adds (the result, 8 or 4
bytes an entry, included), the largest deviation in units of the largest entry, and how many entries are not finite.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from hierlearn.components import available, build

REFERENCE = Path(__file__).parent / "reference" / "kernels.py"
COMPARED = {
    "ntk_raw": {"name": "ntk_raw", "activation": "relu2", "bias": True},
    "ntk": {"name": "ntk", "depth": 3, "trained": "all", "bias": True},
    "ntk_neural": {"name": "ntk_neural", "features": "step", "activation": "relu2", "bias": True},
}


def seconds(call, repeats: int = 3) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def table(points: int, dimension: int) -> None:
    """Every kernel with its defaults."""
    generator = np.random.default_rng(0)
    x, z = (generator.standard_normal((points, dimension)) for _ in range(2))
    print(f"{points} points in dimension {dimension}, float64")
    print(f"{'kernel':<24}{'symmetric':>12}{'rectangular':>14}")
    print(f"{'x x^T':<24}{seconds(lambda: x @ x.T):>10.3f} s{seconds(lambda: x @ z.T):>12.3f} s")
    for name in available("kernels"):
        kernel = build("kernels", {"name": name})
        symmetric, rectangular = (seconds(lambda right=right, k=kernel: k(x, right)) for right in (None, z))
        print(f"{name:<24}{symmetric:>10.3f} s{rectangular:>12.3f} s")


def memory(which: str) -> int:
    """Memory of this process in bytes: VmRSS now, VmHWM at most."""
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{which}:")[1].split()[0]) * 1024


def own(points: str, case: str, target: str) -> None:
    """One of this package's kernels, measured in the process that it is called in."""
    kernel, x = build("kernels", COMPARED[case]), np.load(points)
    kernel(x[:16])
    # The peak is counted anew from here (Linux).
    Path("/proc/self/clear_refs").write_text("5")
    before = memory("VmRSS")
    result = kernel(x)
    added = memory("VmHWM") - before
    np.save(target, result)
    del result
    print(seconds(lambda: kernel(x)), added)


def compare(points: int, dimension: int, reference: str) -> None:
    """Both libraries on two cores."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    os.sched_setaffinity(0, cores)
    # Here threads share out tiles, whose products are too small to be shared out again.
    own_environment = os.environ | {"OMP_NUM_THREADS": str(len(cores)), "OPENBLAS_NUM_THREADS": "1"}
    # The reference must not see this project's packages.
    bare = {key: value for key, value in os.environ.items() if key != "PYTHONPATH" and "THREADS" not in key}
    print(f"\nsymmetric matrix of {points} points on the sphere in dimension {dimension}, {len(cores)} cores")
    print(f"{'kernel':<12}{'by':<28}{'seconds':>9}{'ratio':>8}{'memory':>11}{'deviation':>12}{'not finite':>12}")
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder, "points.npy"))
        x = np.random.default_rng(0).standard_normal((points, dimension))
        np.save(file, x / np.linalg.norm(x, axis=1, keepdims=True))
        for case in COMPARED:
            first = None
            for label, command, environment in (
                ("this package, float64", [sys.executable, __file__, "--own", file, case], own_environment),
                *(
                    (f"neural-tangents, {dtype}", [reference, str(REFERENCE), file, case, dtype], bare)
                    for dtype in ("float64", "float32")
                ),
            ):
                target = str(Path(folder, "result.npy"))
                done = subprocess.run([*command, target], env=environment, check=True, capture_output=True, text=True)
                spent, added = map(float, done.stdout.split()[-2:])
                gram = np.load(target)
                first = first or (spent, gram)
                deviation = np.nanmax(np.abs(gram - first[1])) / np.max(np.abs(first[1]))
                broken = int(np.sum(~np.isfinite(gram)))
                print(
                    f"{case:<12}{label:<28}{spent:>7.3f} s{spent / first[0]:>8.2f}{added / 2**20:>7.0f} MiB"
                    f"{deviation:>12.1e}{broken:>12}"
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=4000)
    parser.add_argument("--dimension", type=int, default=20)
    parser.add_argument("--reference-python", metavar="PATH", help="interpreter with neural-tangents")
    parser.add_argument("--own", nargs=3, metavar=("POINTS", "CASE", "RESULT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.own:
        own(*options.own)
        return
    table(options.points, options.dimension)
    if options.reference_python:
        compare(options.points, options.dimension, options.reference_python)


if __name__ == "__main__":
    main()
