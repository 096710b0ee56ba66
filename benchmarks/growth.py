"""How seconds and memory grow with n, d, m and the number of jobs, beside what theory says. One thread.

    PYTHONPATH=workflow python benchmarks/growth.py [--part kernel|ridge|taylor|networks|jobs]

Every row is an exponent: the slope of the logarithm of the seconds, best of three, or of the memory that is allocated
at the peak beside what is given, against the logarithm of a size, by least squares over sizes that double. Theory
counts operations at sizes without end; what does not grow, such as the start of a dry run, makes a slope smaller, and
what leaves a cache makes it larger, so that a row is met up to a quarter above theory.
"""

import argparse
import gc
import resource
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import workflow
import yaml
from table import Row, as_in_jobs, emit

from hierlearn.kernels.ntk_raw import NtkRaw
from hierlearn.solvers.networks import NetworkTraining, Recipe, shapes, trainable
from hierlearn.solvers.ridge import ridge_path
from hierlearn.solvers.taylor.training import fit_path

# Above the exponent of theory.
SLACK = 0.25
# Of a descent that is to make them all; and of a training.
ITERATIONS, STEPS = 20, 10


def slope(sizes: Iterable[float], costs: Iterable[float]) -> float:
    return float(np.polyfit(np.log(list(sizes)), np.log(list(costs)), 1)[0])


def cost(run: Callable[[], object]) -> tuple[float, float]:
    """Seconds, best of three, and MB allocated at the peak by one more call."""
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - began)
    gc.collect()
    tracemalloc.start()
    try:
        run()
        return min(seconds), tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def grown(part: str, what: str, variable: str, sizes, prepare, seconds: float, memory: float | None) -> Iterator[Row]:
    """The exponents of the function that `prepare(size)` returns. seconds, memory: theory's, None to leave out."""
    costs = [cost(prepare(size)) for size in sizes]
    yield from compared(part, what, variable, sizes, costs, seconds, memory)


def compared(part, what, variable, sizes, costs, seconds, memory) -> Iterator[Row]:
    for i, (name, unit, theory) in enumerate((("seconds", "s", seconds), ("memory", "MB", memory))):
        if theory is None:
            continue
        ends = f"{costs[0][i]:.2g} to {costs[-1][i]:.2g} {unit} at {variable} = {sizes[0]} to {sizes[-1]}"
        yield Row(
            f"{what}: {name} against {variable}",
            slope(sizes, [one[i] for one in costs]),
            most=theory + SLACK,
            options=f"--part {part}",
            note=f"{ends}; theory {theory:g}",
        )


def kernel() -> Iterator[Row]:
    """The Gram matrix of the tangent kernel: n^2 (d + the cost of an arc cosine), and n^2 numbers."""

    def gram(n, d):
        x = np.random.default_rng(0).standard_normal((n, d))
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        return lambda: NtkRaw()(x)

    yield from grown("kernel", "kernel", "n", (500, 1000, 2000, 4000), lambda n: gram(n, 20), 2, 2)
    yield from grown("kernel", "kernel", "d", (256, 512, 1024, 2048), lambda d: gram(2000, d), 1, None)


def ridge() -> Iterator[Row]:
    """Kernel ridge regression by a factorisation: n^3 / 3, and n^2 numbers."""

    def path(n):
        x = np.random.default_rng(0).standard_normal((n, 10))
        gram, targets = np.exp(-0.05 * np.sum((x[:, None] - x) ** 2, axis=2)), x[:, 0] * x[:, 1]
        # No product is tried before.
        return lambda: ridge_path(gram, targets, [1e-6], budget=0.0)

    yield from grown("ridge", "ridge regression", "n", (500, 1000, 2000, 4000), path, 3, 2)


def taylor() -> Iterator[Row]:
    """A quadratic Taylor model: two products of n D m each iteration; features, gates, weights and their history."""

    def descent(n, features, width):
        generator = np.random.default_rng(0)
        x = generator.standard_normal((n, features), np.float32)
        gates = np.maximum(generator.standard_normal((n, width), np.float32), 0.0)
        signs, targets = np.where(np.arange(width) % 2, -1.0, 1.0), x[:, 0] * x[:, 1]
        start = 0.1 * generator.standard_normal((width, features), np.float32)
        options = {"tolerance": 1e-12, "max_iterations": ITERATIONS}
        return lambda: fit_path(x, gates, signs, targets, [1e-4], start, **options)

    sizes = (1000, 2000, 4000, 8000)
    yield from grown("taylor", "Taylor model", "n", sizes, lambda n: descent(n, 200, 200), 1, 1)
    sizes = (100, 200, 400, 800)
    yield from grown("taylor", "Taylor model", "d", sizes, lambda d: descent(2000, d, 200), 1, 1)
    yield from grown("taylor", "Taylor model", "m", sizes, lambda m: descent(2000, 200, m), 1, 1)


def networks() -> Iterator[Row]:
    """Steps of three fully connected layers: runs times m^2 operations and numbers."""

    def training(runs, width):
        generator, inputs, outputs, batch = np.random.default_rng(0), 40, 4, 50
        known = shapes("three_layer", inputs, width, outputs, True)
        start = {
            name: generator.standard_normal((runs, 1, *shape), np.float32) / np.float32(width**0.5)
            for name, shape in known.items()
        }
        x = generator.standard_normal((runs, 1, batch, inputs + 1), np.float32)
        labels = generator.standard_normal((runs, 1, batch, outputs), np.float32)
        names = trainable("three_layer", "hidden", True)
        recipe = Recipe("three_layer", "hidden", "squared", "sgd", 0.9, STEPS, (), 1.0, ((2, names),))
        rates = np.array([1e-3], np.float32)
        return lambda: NetworkTraining(recipe, start, rates, rates).advance(lambda step: (x, labels), STEPS)

    yield from grown("networks", "networks", "m", (100, 200, 400, 800), lambda m: training(8, m), 2, 2)
    yield from grown("networks", "networks", "runs", (4, 8, 16, 32), lambda runs: training(runs, 200), 1, 1)


def jobs() -> Iterator[Row]:
    """A dry run from nothing of a study that is cut into more and more jobs."""
    study = yaml.safe_load((Path(__file__).parent / "cells.yaml").read_text())
    dimensions = study["axes"]["dimension"]
    numbers, costs = [], []
    for count in (3, 6, 12, 24):
        study |= {"seeds": 10, "split_jobs_by": ["dimension", "seed"], "axes": {"dimension": dimensions[:count]}}
        with tempfile.TemporaryDirectory() as name:
            folder = workflow.copied(Path(name))
            for file in (folder / "config" / "studies").iterdir():
                file.unlink()
            file = folder / "config" / "studies" / f"{workflow.CELLS}.yaml"
            file.write_text(yaml.safe_dump(study, sort_keys=False))
            wall, printed = workflow.snakemake(folder, "--dry-run", "--config", "log=snakemake", "--", workflow.CELLS)
        total = next(line for line in printed.splitlines() if line.startswith("total"))
        numbers.append(int(total.split()[1]))
        # The largest child so far: sizes grow.
        costs.append((wall, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3))
    yield from compared("jobs", "dry run", "jobs", numbers, costs, 1, 1)


PARTS = {"kernel": kernel, "ridge": ridge, "taylor": taylor, "networks": networks, "jobs": jobs}


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=PARTS, help="this part alone")
    parser.add_argument("--rows", action="store_true", help="one JSON object a row, for table.py")
    given = parser.parse_args()
    as_in_jobs()
    chosen = [PARTS[given.part]] if given.part else PARTS.values()
    emit((row for part in chosen for row in part()), None if given.rows else "growth")


if __name__ == "__main__":
    main()
