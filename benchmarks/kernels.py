"""What a Gram matrix costs: seconds of every kernel; speed against neural-tangents, memory and error of some.

    PYTHONPATH=workflow python benchmarks/kernels.py [--points 4000] [--dimension 20]
    ... [--reference-python ntenv/bin/python] [--only ntk-2 --only ntk-4 ...]

First every kernel with its defaults, best of three. Then symmetric matrices of points on the sphere in both precisions,
each in a process of its own on two cores: the peak memory that the call adds to its inputs, the result included, and
the largest deviation from quadrature (tests/oracles/quadrature.py) on the first 100 points, in units of the largest
entry. With the interpreter of an environment that has neural-tangents,

    python -m venv ntenv
    ntenv/bin/pip install neural-tangents==0.6.5 jax==0.4.35 jaxlib==0.4.35 numpy==1.26.4 scipy==1.13.1
    (or jax==0.4.30 jaxlib==0.4.30)

that library computes the same matrices in the same precision on the same cores, and a row says how many times longer
it takes: by the clock and, in brackets, in processor seconds, which suffer less where the machine does other work.
"""

import argparse
import os
import runpy
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from table import Row, as_in_jobs, emit

from hierlearn.core.registry import available, build

REFERENCE = Path(__file__).parent / "reference" / "kernels.py"
QUADRATURE = Path(__file__).parents[1] / "tests" / "oracles" / "quadrature.py"
# Kernels, and how many times faster than neural-tangents they should be. ntk-L: L layers of weights.
COMPARED = {
    "ntk-raw": ({"name": "ntk_raw", "activation": "relu2", "bias": True}, 2.0),
    "ntk-2": ({"name": "ntk", "depth": 2, "trained": "all", "bias": True}, 2.0),
    "ntk-3": ({"name": "ntk", "depth": 3, "trained": "all", "bias": True}, 6.0),
    "ntk-4": ({"name": "ntk", "depth": 4, "trained": "all", "bias": True}, 6.0),
    "ntk-neural": ({"name": "ntk_neural", "features": "step", "activation": "relu2", "bias": True}, 6.0),
}
# Largest deviation from quadrature, and most memory in MB, by precision; float64 takes 128 MB for its result alone.
ERROR = {"float64": 1e-10, "float32": 1e-5}
MEMORY = {"float64": None, "float32": 100.0}
CHECKED = 100


def seconds(call, clock=time.perf_counter, repeats: int = 3) -> float:
    """Of the fastest of some calls."""
    times = []
    for _ in range(repeats):
        start = clock()
        call()
        times.append(clock() - start)
    return min(times)


def plain(points: int, dimension: int) -> Iterator[Row]:
    """Every kernel with its defaults, beside the matrix product on which all rest; one thread."""
    generator = np.random.default_rng(0)
    x, z = (generator.standard_normal((points, dimension)) for _ in range(2))
    size = f"n = {points}, d = {dimension}"
    yield Row(f"product x x^T, {size}", seconds(lambda: x @ x.T), "s", note=f"x z^T {seconds(lambda: x @ z.T):.3f} s")
    for name in available("kernels"):
        kernel = build("kernels", {"name": name})
        cases = ((None, np.float64), (None, np.float32), (z, np.float64))
        whole, single, across = (seconds(lambda case=case, k=kernel: k(x, *case)) for case in cases)
        yield Row(f"{name}, {size}", whole, "s", note=f"float32 {single:.3f} s, two sets of points {across:.3f} s")


def memory(which: str) -> int:
    """Memory of this process in bytes: VmRSS now, VmHWM at most."""
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{which}:")[1].split()[0]) * 1024


def own(points: str, case: str, dtype: str, target: str) -> None:
    """One of this package's kernels, measured in the process that it is called in."""
    kernel, x = build("kernels", COMPARED[case][0]), np.load(points)
    kernel(x[:16], dtype=dtype)
    # The peak is counted anew from here (Linux).
    Path("/proc/self/clear_refs").write_text("5")
    before = memory("VmRSS")
    result = kernel(x, dtype=dtype)
    added = memory("VmHWM") - before
    np.save(target, result[:CHECKED, :CHECKED])
    del result
    clocks = (time.perf_counter, time.process_time)
    print(*(seconds(lambda: kernel(x, dtype=dtype), clock) for clock in clocks), added)


def compared(points: int, dimension: int, reference: str | None, cases: Sequence[str]) -> Iterator[Row]:
    """Speed against neural-tangents, memory and error of every case in both precisions, on two cores."""
    if not hasattr(os, "sched_setaffinity"):
        yield Row("kernels against neural-tangents", None, note="cores and memory are told as Linux has it")
        return
    cores = sorted(os.sched_getaffinity(0))[:2]
    os.sched_setaffinity(0, cores)
    # Here threads share out tiles, whose products are too small to be shared out again.
    environment = os.environ | {"OMP_NUM_THREADS": str(len(cores)), "OPENBLAS_NUM_THREADS": "1"}
    # The reference must not see this project's packages.
    bare = {key: value for key, value in os.environ.items() if key != "PYTHONPATH" and "THREADS" not in key}
    exact = runpy.run_path(str(QUADRATURE))["KERNELS"]
    option = f"--reference-python {reference}" if reference else ""
    with tempfile.TemporaryDirectory() as folder:
        file, target = str(Path(folder, "points.npy")), str(Path(folder, "result.npy"))
        x = np.random.default_rng(0).standard_normal((points, dimension))
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        np.save(file, x)

        def run(command, variables):
            done = subprocess.run([*command, target], env=variables, check=True, capture_output=True, text=True)
            return [float(word) for word in done.stdout.split()[-3:]], np.load(target)

        for case in cases:
            described, faster = COMPARED[case]
            given = {key: value for key, value in described.items() if key != "name"}
            expected = exact[described["name"]](x[:CHECKED], **given)
            for dtype in ("float64", "float32"):
                title = f"{case} in {dtype}"
                (spent, busy, added), gram = run([sys.executable, __file__, "--own", file, case, dtype], environment)
                theirs, note = None, "needs --reference-python"
                if reference:
                    (clock, processor, extra), other = run([reference, str(REFERENCE), file, case, dtype], bare)
                    error = np.nanmax(np.abs(other - expected)) / np.max(expected)
                    theirs, note = clock / spent, f"{processor / busy:.1f}; {spent:.3f} s here, there {clock:.3f} s, "
                    note += f"{extra / 1e6:.0f} MB, error {error:.1e}"
                # float32 is what neural-tangents computes in by default.
                least = faster if dtype == "float32" else None
                yield Row(f"{title}: times faster than neural-tangents", theirs, least=least, options=option, note=note)
                yield Row(f"{title}: memory", added / 1e6, "MB", most=MEMORY[dtype])
                yield Row(f"{title}: error", np.max(np.abs(gram - expected)) / np.max(expected), most=ERROR[dtype])


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=4000)
    parser.add_argument("--dimension", type=int, default=20)
    parser.add_argument("--reference-python", metavar="PATH", help="interpreter with neural-tangents")
    parser.add_argument("--only", action="append", choices=COMPARED, help="this one beside neural-tangents alone")
    parser.add_argument("--rows", action="store_true", help="one JSON object a row, for table.py")
    parser.add_argument("--own", nargs=4, metavar=("POINTS", "CASE", "PRECISION", "RESULT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.own:
        own(*options.own)
        return
    as_in_jobs()
    module = None if options.rows else "kernels"
    if not options.only:
        emit(plain(options.points, options.dimension), module)
    cases = options.only or list(COMPARED)
    emit(compared(options.points, options.dimension, options.reference_python, cases), module)


if __name__ == "__main__":
    main()
