"""Batched training of quadratic DenseNets against a plain PyTorch loop over the seeds, on equal cores.

    PYTHONPATH=workflow python benchmarks/densenets.py

8 seeds of the plain network and of the one with distillation (allenzhu2020, eq. 1.2 and 2.1-2.3) at L = 3, d = 20,
k = (4, 2), m = 24, batch 64, Adam with clipped gradients: the same steps with the same points and starts, which must
end in the same weights. The loop is what one would write: a module, backward, torch.optim. One thread.
"""

import time
from collections.abc import Iterator
from functools import partial

import numpy as np
import torch
from table import Row, batches

from hierlearn.core.streams import Streams
from hierlearn.solvers.densenets.distillation import truncated_square
from hierlearn.solvers.densenets.distilled_training import DistilledTraining, Rules
from hierlearn.solvers.densenets.model import Layout
from hierlearn.solvers.densenets.phases import Clock, Schedule
from hierlearn.solvers.densenets.training import DensenetTraining

DIMENSION, WIDTH, BATCH, RATE, CLIP, POINTS, BOUND = 20, 24, 64, 0.005, 1.0, 4096, 10.0
GRAPH, ALPHAS, MOST = ((0, 1), (0, 2)), (1.0, 0.2), (4, 2)
LAMBDAS, SHRINKAGE = ((0.8, 0.7, 0.6), (0.04, 0.03, 0.02)), 1e-6
# How many times faster than the loop training has to be.
TARGET = 4.0


class Plain(torch.nn.Module):
    """The network of eq. 1.2 as one would write it, for one seed."""

    def __init__(self, layout, weights):
        super().__init__()
        self.layout, self.matrices = layout, torch.nn.ParameterDict(weights)

    def seen(self, name, blocks, layer):
        """sum_j M_lj G_j."""
        places = self.layout.places(layer).items()
        return sum(torch.nn.functional.linear(blocks[j], self.matrices[name][:, place]) for j, place in places)

    def forward(self, x):
        blocks, out = {0: x, 1: x.square() - 1}, 0.0
        for layer, alpha in zip(self.layout.layers, ALPHAS, strict=True):
            blocks[layer] = self.seen(f"layer_{layer}", blocks, layer).square()
            out = out + alpha * blocks[layer].sum(-1)
        return out

    def penalty(self):
        return 0.0


class Distilled(Plain):
    """The network of eq. 2.1-2.2 with the regularisers of eq. 2.3."""

    def __init__(self, layout, weights, fixed):
        parts = {}
        for (name, values), most in zip(weights.items(), MOST, strict=True):
            parts |= {f"inner_{name}": values[:most].clone(), f"outer_{name}": values[most:].clone()}
        super().__init__(layout, parts)
        self.fixed = fixed

    def forward(self, x):
        blocks, out = {0: x, 1: x.square() - 1}, 0.0
        for layer, alpha in zip(self.layout.layers, ALPHAS, strict=True):
            out = out + alpha * self.seen(f"outer_layer_{layer}", blocks, layer).square().sum(-1)
            if layer == 2:
                features = self.seen(f"inner_layer_{layer}", blocks, layer)
                blocks[layer] = truncated_square(torch.nn.functional.linear(features, self.fixed), BOUND)
        return out

    def penalty(self):
        total = 0.0
        for layer, lambdas in zip(self.layout.layers, LAMBDAS, strict=True):
            inner, outer = self.matrices[f"inner_layer_{layer}"], self.matrices[f"outer_layer_{layer}"]
            places = self.layout.places(layer)
            last, rest = places[layer - 1], places[0]
            for left, right, weight in zip((last, last, slice(None)), (rest, last, slice(None)), lambdas, strict=True):
                apart = inner[:, left].T @ inner[:, right] - outer[:, left].T @ outer[:, right]
                total = total + weight * apart.square().sum()
            total = total + SHRINKAGE * (inner.square().sum() + outer.square().sum())
        return total


def looped(network, x, labels, orders):
    """Train one seed; its matrices, K above W."""
    moves = torch.optim.Adam(network.parameters(), lr=RATE)
    for rows in orders:
        moves.zero_grad()
        loss = (network(x[rows]) - labels[rows, 0]).square().mean() + network.penalty()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), CLIP)
        moves.step()
    known = {name: values.detach() for name, values in network.matrices.items()}
    if isinstance(network, Distilled):
        layers = network.layout.layers
        return {f"layer_{i}": torch.cat([known[f"inner_layer_{i}"], known[f"outer_layer_{i}"]]) for i in layers}
    return known


def compared(kind, seeds, steps):
    """Seconds of the loop and of the batch, and the largest difference of the weights at the end."""
    generator = torch.Generator().manual_seed(0)
    distils = kind == "distilled"
    offered = (MOST[0] * (MOST[0] + 1) // 2, 0) if distils else (WIDTH, WIDTH)
    layout = Layout(DIMENSION, offered, GRAPH)
    x = torch.randn(seeds, POINTS, DIMENSION, generator=generator)
    labels = x[..., :4].square().sum(-1, keepdim=True)
    orders = torch.randint(0, POINTS, (steps, seeds, BATCH), generator=generator)
    start = {}
    for layer, most in zip(layout.layers, MOST, strict=True):
        shape = seeds, WIDTH + (most if distils else 0), layout.size(layer)
        start[f"layer_{layer}"] = 0.5 * (shape[1] * shape[2]) ** -0.5 * torch.randn(shape, generator=generator).numpy()
    clock = Clock(Schedule("joint", len(GRAPH) + 1, (), (), steps, "constant"), seeds)
    given = layout, clock, start, np.tile(ALPHAS, (seeds, 1)), np.full(seeds, RATE), np.zeros(seeds)
    if distils:
        rules = Rules(
            most=MOST,
            thresholds=np.zeros((seeds, len(GRAPH))),
            latest=(0, 0),
            smallest=1e-6,
            lambdas=np.tile(LAMBDAS, (seeds, 1, 1)),
            shrinkage=(SHRINKAGE, SHRINKAGE),
            target=1e-30,
            bound=BOUND,
            noise=0.0,
            warm_start="svd",
        )
        generators = [partial(Streams(("benchmark",), (seed,)).generator, seed) for seed in range(seeds)]
        training = DistilledTraining(rules, np.ones(seeds), generators, *given, clip=CLIP)
        training.attend(0)
        # So small an error that the decay is never quartered: the loop does not know of it.
        training.errors[:] = 1e-20
    else:
        training = DensenetTraining(*given, clip=CLIP)

    began, runs = time.perf_counter(), []
    for seed in range(seeds):
        weights = {name: torch.tensor(values[seed]) for name, values in training.weights.items()}
        fixed = torch.tensor(training.fixed[0][seed]) if distils else None
        network = Distilled(layout, weights, fixed) if distils else Plain(layout, weights)
        runs.append(looped(network, x[seed], labels[seed], orders[:, seed]))
    loop = time.perf_counter() - began

    began = time.perf_counter()
    seen, wanted, rows = layout.join(x.numpy(), 1.0), labels.numpy(), orders.numpy()
    every = np.arange(seeds)[:, None]
    training.advance(lambda step: (seen[every, rows[step]][:, None], wanted[every, rows[step]][:, None]), steps)
    batch = time.perf_counter() - began
    weights = training.weights
    apart = (np.abs(weights[n][i] - run[n].numpy()).max() for i, run in enumerate(runs) for n in run)
    return loop, batch, float(max(apart))


def rows(seeds, steps, repeats) -> Iterator[Row]:
    """How many times faster the batch is than the loop: medians."""
    for kind in ("plain", "distilled"):
        # What torch loads on first use is no part of either side.
        compared(kind, 2, 5)
        results = [compared(kind, seeds, steps) for _ in range(repeats)]
        loop, batch = (float(np.median([result[i] for result in results])) for i in (0, 1))
        note = f"{loop:.2f} s, {batch:.2f} s, weights apart {max(result[2] for result in results):.1e}"
        yield Row(
            f"training {seeds} x {kind} DenseNet, m = {WIDTH}, over a loop", loop / batch, "x", least=TARGET, note=note
        )


if __name__ == "__main__":
    batches("densenets", __doc__, rows, steps=200)
