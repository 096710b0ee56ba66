"""The tests that compute, once for every kind of processor whose arithmetic can be had here: `make test-all`.

    python tests/processors.py [words for pytest]

OpenBLAS and numpy take other instructions for each kind; the last of them runs with two threads. The kind that OpenBLAS
takes by itself is left out: the tests before have run on it. Then draws and linear algebra are a last bit off, by two
seeds (last_bit.py). Ends with 1 if a run failed.
"""

import os
import subprocess
import sys
from pathlib import Path

import threadpoolctl
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

ROOT = Path(__file__).parents[1]
# What a processor of the kind must have here, in Linux's words; whether numpy may use AVX-512 as well; and threads.
KINDS = {"SkylakeX": ("avx512f", True, "1"), "Haswell": ("avx2", False, "1"), "Zen": ("avx2", False, "2")}
SEEDS = (1, 2)
WIDE = [name for name in __cpu_dispatch__ if __cpu_features__.get(name) and ("512" in name or name == "X86_V4")]


def flags() -> set[str]:
    """What this processor can do; nothing where Linux does not say."""
    file = Path("/proc/cpuinfo")
    lines = file.read_text().splitlines() if file.exists() else []
    return {word for line in lines if line.startswith("flags") for word in line.split(":")[1].split()}


def native() -> set[str]:
    """The kinds that OpenBLAS takes here where it is not told."""
    return {one["architecture"] for one in threadpoolctl.threadpool_info() if one["internal_api"] == "openblas"}


def runs() -> list[tuple[str, dict[str, str], list[str]]]:
    """(what it stands for, variables, words for pytest) of every run, and a line for each kind that is not here."""
    found, here, known = [], flags(), native()
    for kind, (needed, wide, threads) in KINDS.items():
        if needed not in here:
            print(f"{kind}, threads: {threads}: skipped, this processor has no {needed}", flush=True)
            continue
        if known == {kind} and threads == "1" and (wide or not WIDE):
            print(f"{kind}, threads: {threads}: the tests before have run on it", flush=True)
            continue
        variables = {"OPENBLAS_CORETYPE": kind, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        variables |= {} if wide else {"NPY_DISABLE_CPU_FEATURES": " ".join(WIDE)}
        found.append((f"{kind}, threads: {threads}", variables, []))
    return found + [(f"last bit, seed {seed}", {}, ["--last-bit", str(seed)]) for seed in SEEDS]


def main(words: list[str]) -> int:
    failed = []
    for name, variables, more in runs():
        print(f"== {name}", flush=True)
        command = [sys.executable, "-m", "pytest", "tests/unit", "tests/contract", "-m", "numeric", *more, *words]
        if subprocess.run(command, cwd=ROOT, env=os.environ | variables, check=False).returncode:
            failed.append(name)
    print("\n".join(f"failed: {name}" for name in failed) or "the same on every processor")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
