"""Batched training of small networks against a plain PyTorch loop over the runs, on equal cores.

    PYTHONPATH=workflow python benchmarks/networks.py

8 seeds times 6 settings of the three-layer ResNet (allenzhu2019, Section 6) at m = 200, d = 40, k = 4, batch 50: the
same steps with the same points and starts, which must end in the same weights. One thread. Three fully connected layers
show where the gain ends: at m = 200 their matrix products alone, which no batch saves, take two fifths of the loop's
time, so that a little more than twice as fast is the most there is. The products of the batch are OpenBLAS's, those of
the loop MKL's: with OPENBLAS_CORETYPE set to an older processor the batch alone is slower. The note says which it was.
"""

import time
from collections.abc import Iterator

import numpy as np
import torch
from table import Row, batches
from threadpoolctl import threadpool_info

from hierlearn.solvers.networks import NetworkTraining, Recipe, shapes, trainable

DIMENSION, OUTPUTS, BATCH = 40, 4, 50
RATES = (0.02, 0.01, 0.005, 0.002, 0.001, 0.0005)
# Architecture, width, and how many times faster than the loop training has to be.
CASES = (("resnet", 200, 4.0), ("two_layer", 200, 4.0), ("three_layer", 200, 2.0), ("resnet", 100, 4.0))


class Plain(torch.nn.Module):
    """The network as one would write it."""

    def __init__(self, architecture, weights):
        super().__init__()
        self.architecture = architecture
        self.hidden = torch.nn.ParameterDict({name: v.clone() for name, v in weights.items() if name != "last"})
        self.last = weights["last"]

    def forward(self, x):
        linear, weights = torch.nn.functional.linear, self.hidden
        hidden = torch.relu(linear(x, weights["first"]))
        if self.architecture == "two_layer":
            return linear(hidden, self.last)
        below = linear(hidden, self.last) if self.architecture == "resnet" else hidden
        top = linear(torch.relu(linear(below, weights["second"], weights["second_bias"])), self.last)
        return below + top if self.architecture == "resnet" else top


def compared(architecture, width, seeds, steps):
    """Seconds of the loop and of the batch, and the largest difference of the weights at the end."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(seeds, 1000, DIMENSION + 1, generator=generator) / DIMENSION**0.5
    labels = torch.randn(seeds, 1000, OUTPUTS, generator=generator)
    orders = torch.randint(0, 1000, (steps, seeds, BATCH), generator=generator)
    known = shapes(architecture, DIMENSION, width, OUTPUTS, True)
    scales = {"first": DIMENSION**-0.5, "second": width**-0.5, "second_bias": width**-0.5, "last": width**-0.5}
    start = {n: scales[n] * torch.randn(seeds, 1, *shape, generator=generator) for n, shape in known.items()}

    began = time.perf_counter()
    looped = []
    for seed in range(seeds):
        for rate in RATES:
            network = Plain(architecture, {name: values[seed, 0] for name, values in start.items()})
            steps_of = torch.optim.SGD(network.parameters(), lr=rate, momentum=0.9, weight_decay=1e-4)
            for step in range(steps):
                rows = orders[step, seed]
                steps_of.zero_grad()
                loss = 0.5 * (network(x[seed, rows]) - labels[seed, rows]).square().sum(-1).mean()
                loss.backward()
                steps_of.step()
            looped.append({name: values.detach() for name, values in network.hidden.items()})
    loop = time.perf_counter() - began

    began = time.perf_counter()
    names = trainable(architecture, "hidden", True)
    plan = Recipe(architecture, "hidden", "squared", "sgd", 0.9, steps, (), 1.0, ((2, names),))
    rates, every = np.array(RATES, np.float32), np.arange(seeds)[:, None]
    points, answers, rows = x.numpy(), labels.numpy(), orders.numpy()
    training = NetworkTraining(
        plan, {name: values.numpy() for name, values in start.items()}, rates, np.full_like(rates, 1e-4)
    )
    training.advance(lambda step: (points[every, rows[step]][:, None], answers[every, rows[step]][:, None]), steps)
    batch = time.perf_counter() - began
    flat = {name: values.reshape(-1, *values.shape[2:]) for name, values in training.weights.items()}
    apart = max(float(np.abs(flat[name][i] - run[name].numpy()).max()) for i, run in enumerate(looped) for name in run)
    return loop, batch, apart


def products(architecture, width, runs, steps):
    """Seconds of the hidden layers' matrix products alone: forward, gradients, and back through the second layer."""
    generator = np.random.default_rng(0)
    known = shapes(architecture, DIMENSION, width, OUTPUTS, True)
    total = 0.0
    for name, times in (("first", 2), ("second", 3)):
        if name not in known:
            continue
        above, below = known[name]
        x = generator.standard_normal((runs, BATCH, below), np.float32)
        weights = generator.standard_normal((runs, below, above), np.float32)
        out = np.empty((runs, BATCH, above), np.float32)
        began = time.perf_counter()
        for _ in range(steps):
            np.matmul(x, weights, out=out)
        total += times * (time.perf_counter() - began)
    return total


def medians(architecture, width, seeds, steps, repeats):
    """Median seconds of the loop and of the batch, and the largest difference of the weights."""
    results = [compared(architecture, width, seeds, steps) for _ in range(repeats)]
    loop, batch = (float(np.median([result[i] for result in results])) for i in (0, 1))
    return loop, batch, max(result[2] for result in results)


def rows(seeds, steps, repeats) -> Iterator[Row]:
    """How many times faster the batch is than the loop."""
    kernels = " and ".join(sorted({one["architecture"] for one in threadpool_info() if "architecture" in one}))
    for architecture, width, least in CASES:
        loop, batch, apart = medians(architecture, width, seeds, steps, repeats)
        name = f"training {seeds * len(RATES)} x {architecture}, m = {width}, over a loop"
        alone = products(architecture, width, seeds * len(RATES), steps)
        note = f"{loop:.2f} s, {batch:.2f} s, of which {alone:.2f} s matrix products"
        note += f" (OpenBLAS for {kernels}); weights apart {apart:.1e}"
        yield Row(name, loop / batch, "x", least=least, note=note)


if __name__ == "__main__":
    batches("networks", __doc__, rows, steps=100)
