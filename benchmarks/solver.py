"""What the Taylor solver costs, on one thread.

Its arithmetic rate, seeds in lockstep, paths against Adam, certificates, and polishing.
Run: PYTHONPATH=workflow python benchmarks/solver.py [--json] [--part rate]
Data: a degree-4 Gegenbauer ridge polynomial of points on the sphere; features are centred squares of random
projections, whitened and scaled to norm about 1; gates are steps; ridges c / D^2 for c = 1 ... 1e-6.
"""

import argparse
import json
import math
import time
from collections.abc import Iterator

import numpy as np
from table import Row, as_in_jobs, emit

from hierlearn.solvers.taylor.certificate import certify_and_polish
from hierlearn.solvers.taylor.training import fit_path, fit_paths

# What part of the rate of sgemm the solver has to reach at RATE_SIZES.
RATE_TARGETS = (0.8, 0.6)
# How many times faster than Adam, cold at every ridge, a path has to be.
ADAM_TARGET = 12
# How often iterations and products are timed by turns; the shortest times count.
RATE_ROUNDS = 5
# Seeds whose paths are made in lockstep.
STACK_SEEDS = 5
# Samples, features, width, input dimension (and iterations timed).
RATE_SIZES = ((4000, 500, 400, 31, 40), (1000, 195, 100, 19, 400))
STACK_SIZES = ((60, 8, 20, 6), (150, 12, 60, 8), (400, 20, 100, 10))
PATH_SIZES = ((500, 66, 100, 10), (1000, 195, 100, 18), (2000, 231, 200, 20))
RATES = (3e-3, 1e-2, 3e-2)


def make_case(n, dimension, width, inputs, seed=0):
    """Features (n, D <= dimension) float32, gates, signs, targets of unit root mean square, start, D."""
    rng = np.random.default_rng(seed)

    def sphere(count):
        points = rng.standard_normal((count, inputs))
        return points / np.linalg.norm(points, axis=1, keepdims=True)

    projections, biases = rng.standard_normal((dimension, inputs)), rng.standard_normal(dimension)
    unlabelled, points = sphere(20 * dimension), sphere(n)
    raw = (unlabelled @ projections.T + biases) ** 2
    mean = raw.mean(0)
    values, vectors = np.linalg.eigh((raw - mean).T @ (raw - mean) / len(raw))
    kept = values > 1e-8 * values[-1]
    features = (((points @ projections.T + biases) ** 2 - mean) @ vectors[:, kept]) / np.sqrt(values[kept])
    features /= math.sqrt(features.shape[1])
    cosine = points[:, 0]
    targets = cosine**4 - 6.0 * cosine**2 / (inputs + 4) + 3.0 / ((inputs + 2) * (inputs + 4))
    half = rng.standard_normal((width // 2, features.shape[1]))
    gates = (features @ np.concatenate([half, half]).T >= 0.0).astype(np.float32)
    signs = np.repeat([1.0, -1.0], width // 2)
    start = 0.01 * rng.standard_normal((width, features.shape[1]))
    data = (features.astype(np.float32), gates, signs, targets / np.sqrt(np.mean(targets**2)))
    return data, start, features.shape[1]


def fastest(function, repeats):
    """Shortest wall time of `repeats` calls, s."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        function()
        times.append(time.perf_counter() - began)
    return min(times)


def measure_rate(n, dimension, width, inputs, iterations):
    """Flops of two matrix products per iteration over wall time, beside the rate of those products alone."""
    data, start, actual = make_case(n, dimension, width, inputs)
    ridges = [1e-3 / actual**2]
    settings = {"tolerance": 1e-9}
    features, weights = data[0], start.astype(np.float32)
    inner, out = np.ones(data[1].shape, np.float32), np.empty_like(weights)

    def fit(count):
        fit_path(*data, ridges, start, max_iterations=count, **settings)

    def products():
        for _ in range(iterations):
            np.matmul(features, weights.T, out=inner)
            np.matmul(inner.T, features, out=out)

    # The difference of two runs leaves set-up out. As many products alone take about as long: no shorter moments in
    # which the processor is faster. By turns, as other guests of the machine come and go.
    runs = {"short": lambda: fit(20), "long": lambda: fit(20 + iterations), "products": products}
    seconds = [{name: fastest(run, 1) for name, run in runs.items()} for _ in range(RATE_ROUNDS)]
    least = {name: min(one[name] for one in seconds) for name in runs}
    flops, taken = 4 * n * actual * width * iterations, least["long"] - least["short"]
    achieved, peak = flops / taken, flops / least["products"]
    return {
        "case": f"rate n={n} D={actual} m={width}",
        "iteration_ms": 1e3 * taken / iterations,
        "gflops": achieved / 1e9,
        "sgemm_gflops": peak / 1e9,
        "fraction": achieved / peak,
    }


def measure_stack(n, dimension, width, inputs):
    """Paths of five seeds in lockstep, and one after the other: seconds of each."""
    cases = [make_case(n, dimension, width, inputs, seed) for seed in range(STACK_SEEDS)]
    actual = min(features for _, _, features in cases)
    ridges = np.logspace(0, -4, 5) / actual**2
    problems = [((data[0][:, :actual], *data[1:]), start[:, :actual]) for data, start, _ in cases]
    features, gates, signs, targets = (np.stack(arrays) for arrays in zip(*(data for data, _ in problems), strict=True))
    starts = np.stack([start for _, start in problems])
    apart = fastest(lambda: [fit_path(*data, ridges, start, stop="decrease") for data, start in problems], 5)
    together = fastest(lambda: fit_paths(features, gates, signs[0], targets, ridges, starts, stop="decrease"), 5)
    return {
        "case": f"{STACK_SEEDS} seeds n={n} D={actual} m={width}",
        "apart_s": apart,
        "together_s": together,
        "ratio": apart / together,
    }


def adam_seconds(data, start, ridge, goal, rate, limit, warm=None):
    """Wall time of Adam in scaled weights until the objective is at most `goal`; (seconds, reached, weights)."""
    import torch

    features, gates, signs, targets = (torch.tensor(np.asarray(part, np.float32)) for part in data)
    signed, width = gates * signs, len(signs)
    unit = width**-0.25
    weights = torch.tensor((start / unit).astype(np.float32)) if warm is None else warm.clone()
    weights.requires_grad_(True)
    optimiser = torch.optim.Adam([weights], lr=rate)
    began = time.perf_counter()
    while True:
        outputs = (signed * (features @ weights.T) ** 2).sum(1) * (0.5 / width)
        objective = ((outputs - targets) ** 2).mean() + ridge / width * ((weights**2).sum(1) ** 2).sum()
        seconds = time.perf_counter() - began
        if objective.item() <= goal or seconds > limit:
            return seconds, objective.item() <= goal, weights.detach()
        optimiser.zero_grad()
        objective.backward()
        optimiser.step()


def measure_path(n, dimension, width, inputs, limit, starts=("cold", "warm")):
    """A path of seven ridges by the solver under both stopping rules, and by Adam.

    starts: of Adam at every ridge, from the random start or from the end at the ridge before. Adam goes on until within
    2 % of the objectives of the solver's stricter rule; a run that misses that counts with `limit` seconds, so that
    ratios are at least what is said. `excess` is by how much the looser rule's objectives lie above them.
    """
    import torch

    torch.set_num_threads(1)
    data, start, actual = make_case(n, dimension, width, inputs)
    ridges = np.logspace(0, -6, 7) / actual**2
    fit = fit_path(*data, ridges, start)
    strict = fastest(lambda: fit_path(*data, ridges, start), 2)
    loose = fit_path(*data, ridges, start, stop="decrease")
    ours = fastest(lambda: fit_path(*data, ridges, start, stop="decrease"), 2)
    row = {
        "case": f"path n={n} D={actual} m={width}",
        "certificate_s": strict,
        "decrease_s": ours,
        "iterations_certificate": fit.iterations.tolist(),
        "iterations_decrease": loose.iterations.tolist(),
        "excess": float(np.max(loose.objective / fit.objective - 1.0)),
        "status": sorted(set(fit.status + loose.status)),
    }
    for name in starts:
        total, missed, warm = 0.0, 0, None
        for ridge, objective in zip(ridges, fit.objective, strict=True):
            runs = []
            for rate in RATES:
                # A rate slower than the best so far need not be run to its end.
                ceiling = min([limit] + [run[0] for run in runs if run[1]])
                begin = warm if name == "warm" else None
                runs.append(adam_seconds(data, start, ridge, 1.02 * objective, rate, ceiling, begin))
            reached = [run for run in runs if run[1]]
            best = min(reached or runs, key=lambda run: run[0])
            total, missed, warm = total + best[0], missed + (not reached), best[2]
        row |= {f"adam_{name}_s": total, f"adam_{name}_missed": missed}
        row |= {f"ratio_{name}_decrease": total / ours, f"ratio_{name}_certificate": total / strict}
    return row


def measure_certificate(n, dimension, width, inputs):
    """CPU time of one certificate for every ridge of a path against the time of training the path."""
    data, start, actual = make_case(n, dimension, width, inputs)
    ridges = np.logspace(0, -6, 7) / actual**2
    began = time.process_time()
    fit = fit_path(*data, ridges, start)
    trained = time.process_time() - began
    seconds, products, relative = [], [], []
    for ridge, weights in zip(ridges, fit.weights, strict=True):
        began = time.process_time()
        certificate = certify_and_polish(*data, ridge, weights, max_rounds=0).certificate
        seconds.append(time.process_time() - began)
        products.append(certificate.products)
        relative.append(round(certificate.relative_error, 4))
    return {
        "case": f"certificate n={n} D={actual} m={width}",
        "training_s": trained,
        "certificates_s": sum(seconds),
        "median_s": float(np.median(seconds)),
        "one_over_path": float(np.median(seconds)) / trained,
        "products": products,
        "relative_error": relative,
    }


def measure_polish(n, dimension, width, inputs):
    """CPU time of bringing the settled end at the smallest of seven ridges to a certificate over that of the path."""
    data, start, actual = make_case(n, dimension, width, inputs)
    ridges = np.logspace(0, -6, 7) / actual**2
    began = time.process_time()
    fit = fit_path(*data, ridges, start, stop="decrease")
    trained = time.process_time() - began
    began = time.process_time()
    end = certify_and_polish(*data, ridges[-1], fit.weights[-1])
    return {
        "case": f"polishing n={n} D={actual} m={width}",
        "training_s": trained,
        "polishing_s": time.process_time() - began,
        "steps": end.steps,
        "escapes": end.escapes,
        "relative_error": end.certificate.relative_error,
        "stationary": end.certificate.stationary,
    }


def rows(limit) -> Iterator[Row]:
    """The rates, seeds in lockstep, and paths against Adam and against their certificates."""
    for size, least in zip(RATE_SIZES, RATE_TARGETS, strict=True):
        row = measure_rate(*size)
        note = f"{row['gflops']:.0f} of {row['sgemm_gflops']:.0f} Gflop/s"
        yield Row(row["case"] + ", part of sgemm", row["fraction"], least=least, options="--part rate", note=note)
    for size in STACK_SIZES:
        row = measure_stack(*size)
        yield Row(f"{row['case']}, apart over in lockstep", row["ratio"], "x", options="--part stack")
    for size in PATH_SIZES:
        # Warm Adam at the smallest size alone: it is slow, and the target is the cold one's.
        targets = {"cold": ADAM_TARGET, "warm": None} if size == PATH_SIZES[0] else {"cold": ADAM_TARGET}
        row = measure_path(*size, limit, tuple(targets))
        for start, least in targets.items():
            note = f"{row[f'adam_{start}_missed']} goals missed by Adam in {limit:.0f} s"
            name, ratio = f"{row['case']}, over Adam {start}", row[f"ratio_{start}_decrease"]
            yield Row(name, ratio, "x", least=least, options="--part path", note=note)
        yield Row(f"{row['case']}, above its goal", 100 * row["excess"], "%", most=2, options="--part path")
        row = measure_certificate(*size)
        part = 100 * row["certificates_s"] / row["training_s"]
        note = "of all seven ridges; what studies certify is in certificates.py"
        yield Row(f"{row['case']}, part of training", part, "%", options="--part certificate", note=note)
        row = measure_polish(*size)
        part = 100 * row["polishing_s"] / row["training_s"]
        note = (
            f"the last of seven ridges, {row['steps']} steps, {'certified' if row['stationary'] else 'not certified'}"
        )
        yield Row(f"{row['case']}, part of training", part, "%", options="--part polish", note=note)


def main():
    """Print one row per case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="one JSON object per row")
    parser.add_argument("--part", choices=("rate", "stack", "path", "certificate", "polish"), action="append")
    parser.add_argument("--sizes", type=int, default=3, help="number of path sizes, smallest first")
    parser.add_argument("--limit", type=float, default=10.0, help="longest Adam run, s")
    parser.add_argument("--rows", action="store_true", help="one JSON object a row, for table.py")
    options = parser.parse_args()
    as_in_jobs()
    if options.rows:
        emit(rows(options.limit))
        return
    parts = options.part or ("rate", "stack", "path", "certificate", "polish")
    sizes = PATH_SIZES[: options.sizes]
    cases = [lambda size=size: measure_rate(*size) for size in RATE_SIZES if "rate" in parts]
    cases += [lambda size=size: measure_stack(*size) for size in STACK_SIZES if "stack" in parts]
    cases += [lambda size=size: measure_path(*size, options.limit) for size in sizes if "path" in parts]
    cases += [lambda size=size: measure_certificate(*size) for size in sizes if "certificate" in parts]
    cases += [lambda size=size: measure_polish(*size) for size in sizes if "polish" in parts]
    for case in cases:
        row = case()
        if options.json:
            print(json.dumps(row), flush=True)
        else:
            cells = (f"{k}={v:.3g}" if isinstance(v, float) else f"{k}={v}" for k, v in row.items())
            print("  ".join(cells).removeprefix("case="), flush=True)


if __name__ == "__main__":
    main()
