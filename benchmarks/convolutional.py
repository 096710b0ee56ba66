"""Batched training of narrow convolutional networks against a plain PyTorch loop over the seeds, on equal cores.

    PYTHONPATH=workflow python benchmarks/convolutional.py

8 seeds of a tree of filters with three levels, 16 channels and batch 64, by SGD with momentum: the same steps with the
same points and starts, which must end in the same weights. The loop is what one would write: modules, backward,
torch.optim. The share of the time of a training that picks its points, crops and mirrors them, for residual blocks
of 32 channels on pictures of the shape of CIFAR's. And the tangent kernel of such a tree of 64 channels at 512 points
against products of the Jacobians that torch.func gives. One thread; times are those of the processor.
"""

import time
from collections.abc import Callable, Iterator

import numpy as np
import torch
from table import Row, batches
from torch import nn

from hierlearn.solvers.convolutional import architecture, model, tangent
from hierlearn.solvers.convolutional.architecture import Architecture
from hierlearn.solvers.convolutional.recipe import Augmentation, Phase, Recipe
from hierlearn.solvers.convolutional.training import ConvolutionalTraining, Points

CHANNELS, LEVELS, BATCH, CLASSES, POINTS, RATE, MOMENTUM = 16, 3, 64, 4, 1024, 0.1, 0.9
CIFAR, FILTERS, SHOWN = (3, 32, 32), 32, 32
WIDE, KNOWN = 64, 512
# How many times faster than the loop training has to be; what part of it may go into points; how many times faster than
# whole Jacobians a tangent kernel has to be.
TARGET, SHARE, FACTORS = 2.5, 0.1, 3
# Of the largest entry: how far apart the two kernels may be by rounding.
APART = 1e-4


def tree(symbols: int, channels: int = CHANNELS) -> Architecture:
    """Pairs of places become one, until one is left."""
    shape = symbols, 1, 2**LEVELS
    return Architecture(shape, architecture.build("patches", shape, LEVELS, channels), head="flat")


def points(shape, seeds, count, classes):
    """Numbers without a rule: what is learned of them costs as much."""
    channels, *size = shape
    generator = np.random.default_rng(0)
    x = generator.standard_normal((seeds, count, *size, channels)).astype(np.float32)
    chosen = generator.integers(0, classes, (seeds, count, 1))
    labels = np.where(chosen == np.arange(classes), 1, -1).astype(np.float32)
    return Points(x, labels, lambda seed, *words: np.random.default_rng([seed, *"".join(map(str, words)).encode()]))


def training(net, given, seeds, steps, batch, classes, augmentation):
    """All seeds as one."""
    recipe = Recipe(
        network=net,
        phases=(Phase(len(net.layers), 0, steps),),
        outputs=classes,
        loss="cross_entropy",
        batch=batch,
        momentum=MOMENTUM,
        augmentation=augmentation,
    )
    return ConvolutionalTraining(recipe, given, range(seeds), np.full(seeds, RATE), np.zeros(seeds), "cpu")


def module(net, weights) -> nn.Sequential:
    """The tree of one seed as one would write it, channels first."""
    parts = []
    for i, layer in enumerate(net.layers):
        (one,) = layer.convolutions
        convolution = nn.Conv2d(one.inputs, one.outputs, one.kernel, one.stride, bias=False)
        ours = torch.tensor(weights[f"layer{i}_weight0"]).view(*one.kernel, one.inputs, one.outputs)
        convolution.weight.data = ours.permute(3, 2, 0, 1).contiguous()
        parts += [convolution, nn.BatchNorm2d(one.outputs), nn.ReLU()]
    last = nn.Linear(net.features(), CLASSES)
    last.weight.data, last.bias.data = (torch.tensor(weights[f"head_{name}"]) for name in ("weight", "bias"))
    last.weight.data, last.bias.data = last.weight.data.T.contiguous(), last.bias.data[0]
    return nn.Sequential(*parts, nn.Flatten(), last)


def looped(network, x, classes, orders) -> np.ndarray:
    """Train one seed; its last weights."""
    moves = torch.optim.SGD(network.parameters(), lr=RATE, momentum=MOMENTUM)
    for rows in orders:
        moves.zero_grad()
        nn.functional.cross_entropy(network(x[rows]), classes[rows]).backward()
        moves.step()
    return network[-1].weight.detach().numpy().T


def compared(seeds, steps):
    """Seconds of the loop and of the batch, and the largest difference of the last weights at the end."""
    net = tree(4)
    given = points(net.shape, seeds, POINTS, CLASSES)
    batched = training(net, given, seeds, steps, BATCH, CLASSES, Augmentation())
    starts = [module(net, batched.model(seed)) for seed in range(seeds)]
    x = torch.tensor(given.x).permute(0, 1, 4, 2, 3).contiguous()
    classes = torch.tensor(given.labels.argmax(axis=-1))
    began, per_epoch, ends = time.process_time(), POINTS // BATCH, []
    for seed, network in enumerate(starts):
        epochs = [
            given.generators(seed, "order", 0, epoch).permutation(POINTS) for epoch in range(steps // per_epoch + 1)
        ]
        orders = [epochs[i // per_epoch][i % per_epoch * BATCH :][:BATCH] for i in range(steps)]
        ends.append(looped(network, x[seed], classes[seed], orders))
    loop = time.process_time() - began
    began = time.process_time()
    batched.advance(steps)
    batch = time.process_time() - began
    return loop, batch, max(float(np.abs(batched.model(i)["head_weight"] - end).max()) for i, end in enumerate(ends))


def share(steps) -> float:
    """The part of the time of a training in which its points are picked and changed."""
    net = Architecture(CIFAR, architecture.build("wide_resnet", CIFAR, 4, FILTERS))
    trained = training(net, points(CIFAR, 1, 2 * SHOWN, 10), 1, steps + 1, SHOWN, 10, Augmentation(4, True, 0))
    trained.advance(1)
    within = time_of_points(trained, time.process_time)
    began = time.process_time()
    trained.advance(steps + 1)
    return sum(within) / (time.process_time() - began)


def time_of_points(trained: ConvolutionalTraining, clock: Callable[[], float]) -> list[float]:
    """To be filled by a training, as it goes on, with what each step takes to pick and change its points."""
    within, picked = [], trained._pictures

    def timed(here):
        began = clock()
        found = picked(here)
        within.append(clock() - began)
        return found

    trained._pictures = timed
    return within


def kernels() -> tuple[float, float, float]:
    """Seconds of the tangent kernel by Jacobians and by factors, and how far apart they are, of the largest entry."""
    net = tree(4, WIDE)
    generator = np.random.default_rng(0)
    weights = model.start(net.shapes() | net.head_shapes(CLASSES), lambda name: generator)
    weights |= model.statistics(weights)
    channels, *size = net.shape
    x = generator.standard_normal((KNOWN, *size, channels)).astype(np.float32)
    began = time.process_time()
    ours = tangent.gram(net, weights, x, x, "cpu")
    factors = time.process_time() - began
    network = module(net, weights).eval()
    parameters, fixed = dict(network.named_parameters()), dict(network.named_buffers())

    def outputs(values, point):
        return torch.func.functional_call(network, values | fixed, (point[None],))[0]

    began = time.process_time()
    points = torch.tensor(x).permute(0, 3, 1, 2)
    found = torch.func.vmap(torch.func.jacrev(outputs), (None, 0))(parameters, points)
    rows = torch.cat([values.flatten(1) for values in found.values()], dim=1).detach()
    theirs = (rows @ rows.T / CLASSES).numpy()
    whole, apart = time.process_time() - began, float(np.abs(ours - theirs).max() / theirs.max())
    if apart > APART:
        raise ValueError(f"the two kernels are {apart:.1e} of the largest entry apart; expected at most {APART}")
    return whole, factors, apart


def rows(seeds, steps, repeats) -> Iterator[Row]:
    """How many times faster the batch is than the loop, the share of points, and the kernel: medians."""
    # What torch loads on first use is no part of either side. Rounding grows with the steps, so few are compared.
    apart = compared(seeds, 10)[2]
    results = [compared(seeds, steps) for _ in range(repeats)]
    loop, batch = (float(np.median([result[i] for result in results])) for i in (0, 1))
    note = f"{loop:.2f} s, {batch:.2f} s, weights apart {apart:.1e} after 10 steps"
    name = f"training {seeds} x trees of {CHANNELS} channels, over a loop"
    yield Row(name, loop / batch, "x", least=TARGET, note=note)
    found = float(np.median([share(10) for _ in range(repeats)]))
    yield Row(f"points, crops and mirrors, of a training of {FILTERS} channels", found, "", most=SHARE)
    # torch.func is loaded on first use.
    kernels()
    results = [kernels() for _ in range(repeats)]
    whole, factors, apart = (float(np.median([result[i] for result in results])) for i in range(3))
    note = f"{whole:.2f} s, {factors:.2f} s, entries apart {apart:.1e}"
    yield Row(
        f"tangent kernel, tree of {WIDE} channels, over torch.func", whole / factors, "x", least=FACTORS, note=note
    )


if __name__ == "__main__":
    batches("convolutional", __doc__, rows, steps=200)
