"""What a GPU makes of convolutional networks: training against a plain PyTorch loop there, and the processor.

    PYTHONPATH=workflow python benchmarks/gpu.py

The network of the published protocol (allenzhu2020, Figure 7: WRN-16-10 with batches of 125 pictures of the shape of
CIFAR's, by SGD with momentum) in float32 and with products in bfloat16: the same steps with the same points and starts
as a loop of modules with channels last, backward and torch.optim, which must make the same outputs. How long its 120
epochs take, its memory, the share of the time in which the GPU computes, and that in which the processor picks, crops
and mirrors points, meanwhile. Narrow networks in one batch against one after the other. The tangent kernel against one
core. Random numbers stand for pictures: they cost as much. Without a GPU one row says that nothing can be measured.
"""

import argparse
import time
from collections.abc import Callable, Iterator

import numpy as np
import torch
from convolutional import BATCH, CLASSES, POINTS, points, time_of_points, tree
from table import Row, as_in_jobs, emit
from torch import nn
from torch.autograd import DeviceType
from torch.nn import functional
from torch.profiler import ProfilerActivity, profile

from hierlearn.learners._convolutional_networks import torch_device
from hierlearn.solvers.convolutional import architecture, model, tangent
from hierlearn.solvers.convolutional.architecture import Architecture
from hierlearn.solvers.convolutional.recipe import Augmentation, Phase, Recipe
from hierlearn.solvers.convolutional.training import ConvolutionalTraining

CIFAR, DEPTH, FILTERS, SHOWN, OUTPUTS = (3, 32, 32), 16, 160, 125, 10
# 16 layers with 2700 steps each: 120 epochs of 45,000 pictures.
STEPS = 43_200
RATE, DECAY, MOMENTUM = 0.1, 5e-4, 0.9
SEEDS, KERNEL_POINTS, KERNEL_FILTERS = 8, 256, 16


class Residual(nn.Module):
    """A block as one would write it, with the activation in front of each convolution."""

    def __init__(self, layer):
        super().__init__()
        first, second = layer.convolutions
        self.norms = nn.ModuleList(nn.BatchNorm2d(one.inputs) for one in layer.convolutions)
        self.convolutions = nn.ModuleList(convolution(one) for one in (first, second))
        self.shortcut = None if layer.shortcut is None else convolution(layer.shortcut)

    def forward(self, x):
        entered = torch.relu(self.norms[0](x))
        found = self.convolutions[1](torch.relu(self.norms[1](self.convolutions[0](entered))))
        return found + (x if self.shortcut is None else self.shortcut(entered))


def convolution(one) -> nn.Conv2d:
    """Of our description of it."""
    return nn.Conv2d(one.inputs, one.outputs, one.kernel, one.stride, one.padding, bias=False)


def plain(net: Architecture, weights) -> nn.Sequential:
    """The wide ResNet with the weights of one of our networks, on pictures with channels first."""

    def set_filters(target, name):
        ours = torch.tensor(weights[name]).view(*target.kernel_size, target.in_channels, target.out_channels)
        target.weight.data = ours.permute(3, 2, 0, 1).contiguous()

    parts = []
    for i, layer in enumerate(net.layers):
        made = Residual(layer) if layer.kind == "residual" else convolution(layer.convolutions[0])
        for j, one in enumerate(made.convolutions if layer.kind == "residual" else [made]):
            set_filters(one, f"layer{i}_weight{j}")
        if layer.shortcut is not None:
            set_filters(made.shortcut, f"layer{i}_shortcut")
        parts.append(made)
    last = nn.Linear(net.features(), OUTPUTS)
    last.weight.data = torch.tensor(weights["head_weight"]).T.contiguous()
    last.bias.data = torch.tensor(weights["head_bias"])[0]
    channels = net.layers[-1].channels
    return nn.Sequential(*parts, nn.BatchNorm2d(channels), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), last)


def trained(net, given, seeds, steps, batch, outputs, device, half=False, augmentation=None) -> ConvolutionalTraining:
    """Seeds as one batch of networks, at the published rate and decay."""
    recipe = Recipe(
        network=net,
        phases=(Phase(len(net.layers), 0, steps),),
        outputs=outputs,
        loss="cross_entropy",
        batch=batch,
        momentum=MOMENTUM,
        augmentation=augmentation or Augmentation(),
        half=half,
    )
    return ConvolutionalTraining(recipe, given, seeds, np.full(len(seeds), RATE), np.full(len(seeds), DECAY), device)


def seconds(work: Callable[[], None], device: str) -> float:
    """That the work takes, with all that it left to the GPU."""
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    wait()
    began = time.perf_counter()
    work()
    wait()
    return time.perf_counter() - began


def computing(work: Callable[[], None], device: str) -> float:
    """Seconds in which the GPU computes at some work."""
    if device == "cpu":
        return float("nan")
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        seconds(work, device)
    return sum(event.device_time_total for event in seen.events() if event.device_type == DeviceType.CUDA) / 1e6


def wide_resnet(filters: int, pictures: int, steps: int, batch: int, half: bool, device: str):
    """Pictures a second of the loop and of ours, how far their outputs are apart at the start relative to their size,
    the share of the time in which the GPU computes, and GB."""
    net = Architecture(CIFAR, architecture.build("wide_resnet", CIFAR, DEPTH, filters))
    given = points(CIFAR, 1, pictures, OUTPUTS)
    ours = trained(net, given, [0], 10 * steps, batch, OUTPUTS, device, half)
    theirs = plain(net, ours.model(0)).to(device, memory_format=torch.channels_last)
    x = torch.tensor(given.x[0]).permute(0, 3, 1, 2).to(device, memory_format=torch.channels_last)
    classes = torch.tensor(given.labels[0].argmax(axis=-1), device=device)

    with torch.no_grad():
        theirs.eval()
        one, other = (found.cpu().numpy() for found in (theirs(x[:batch]), torch.tensor(ours.outputs(given.x)[0])))
        theirs.train()
    apart = np.linalg.norm(one - other[:batch]) / np.linalg.norm(one)
    moves = torch.optim.SGD(theirs.parameters(), lr=RATE, momentum=MOMENTUM, weight_decay=DECAY)
    order = torch.randperm(pictures, generator=torch.Generator().manual_seed(0)).to(device)

    def loop(count):
        for i in range(count):
            rows = order[i % (pictures // batch) * batch :][:batch]
            moves.zero_grad()
            with torch.autocast(device, torch.bfloat16, enabled=half):
                found = theirs(x[rows])
            functional.cross_entropy(found.float(), classes[rows]).backward()
            moves.step()

    loop(3)
    theirs_took = seconds(lambda: loop(steps), device)
    if device == "cuda":
        del theirs, moves
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    ours.advance(3)
    ours_took = seconds(lambda: ours.advance(3 + steps), device)
    share = computing(lambda: ours.advance(3 + 2 * steps), device) / ours_took
    memory = torch.cuda.max_memory_allocated() / 1e9 if device == "cuda" else float("nan")
    return batch * steps / theirs_took, batch * steps / ours_took, float(apart), share, memory


def share_of_points(filters: int, pictures: int, steps: int, batch: int, device: str) -> float:
    """The part of the time of a training in bfloat16 in which the processor picks, crops and mirrors its points."""
    net = Architecture(CIFAR, architecture.build("wide_resnet", CIFAR, DEPTH, filters))
    given = points(CIFAR, 1, pictures, OUTPUTS)
    ours = trained(net, given, [0], 10 * steps, batch, OUTPUTS, device, device == "cuda", Augmentation(4, True, 0))
    ours.advance(3)
    within = time_of_points(ours, time.perf_counter)
    took = seconds(lambda: ours.advance(3 + steps), device)
    return sum(within) / took


def narrow(steps: int, device: str) -> tuple[float, float]:
    """Seconds of narrow networks one after the other, and in one batch."""
    net = tree(4)
    given = points(net.shape, SEEDS, POINTS, CLASSES)
    alone = [trained(net, given, [seed], 2 * steps, BATCH, CLASSES, device) for seed in range(SEEDS)]
    together = trained(net, given, range(SEEDS), 2 * steps, BATCH, CLASSES, device)
    for one in (*alone, together):
        one.advance(3)
    return (
        seconds(lambda: [one.advance(3 + steps) for one in alone], device),
        seconds(lambda: together.advance(3 + steps), device),
    )


def kernels(count: int, device: str) -> tuple[float, float, float]:
    """Seconds of a tangent kernel on one core and on the device, and how far they are apart relative to the largest."""
    net = Architecture(CIFAR, architecture.build("wide_resnet", CIFAR, 4, KERNEL_FILTERS))
    x = np.random.default_rng(0).standard_normal((count, *CIFAR[1:], CIFAR[0])).astype(np.float32)
    shapes = net.shapes() | net.head_shapes(OUTPUTS)
    weights = model.start(shapes, lambda name: np.random.default_rng(list(name.encode())))
    weights |= tangent.statistics_of_points(net, weights, x, "cpu")
    found, took = {}, {}
    tangent.gram(net, weights, x[:8], x[:8], device)
    for one in ("cpu", device):
        took[one] = seconds(lambda one=one: found.update({one: tangent.gram(net, weights, x, x, one)}), device)
    apart = np.abs(found["cpu"] - found[device]).max() / np.abs(found["cpu"]).max()
    return took["cpu"], took[device], float(apart)


def rows(device: str, filters: int, pictures: int, steps: int, batch: int, repeats: int) -> Iterator[Row]:
    """Medians over the repeats."""
    name = torch.cuda.get_device_name() if device == "cuda" else "the processor"
    network = f"WRN-{DEPTH}-{filters // 16}"
    for half in (False, True):
        results = [wide_resnet(filters, pictures, steps, batch, half, device) for _ in range(repeats)]
        theirs, ours, apart, share, memory = np.median(results, axis=0)
        kind = "bfloat16" if half else "float32"
        note = f"{theirs:.0f} and {ours:.0f} pictures a second on {name}, outputs apart {apart:.1e}"
        yield Row(f"training {network} in {kind}, over a loop", ours / theirs, "x", note=note)
        yield Row(f"120 epochs of {network} in {kind}", STEPS * SHOWN / ours / 3600, "h", note=f"{memory:.1f} GB")
    yield Row(f"the GPU computes, of a training of {network} in bfloat16", share)
    found = float(np.median([share_of_points(filters, pictures, steps, batch, device) for _ in range(repeats)]))
    yield Row("points, crops and mirrors, of a training in bfloat16", found)
    alone, together = np.median([narrow(4 * steps, device) for _ in range(repeats)], axis=0)
    note = f"{alone:.2f} s and {together:.2f} s"
    yield Row(f"{SEEDS} trees of 16 channels, one after the other over a batch", alone / together, "x", note=note)
    one, other, apart = kernels(KERNEL_POINTS, device)
    note = f"{one:.1f} s and {other:.2f} s, apart {apart:.1e}"
    yield Row(f"tangent kernel of {KERNEL_POINTS} pictures, one core over {name}", one / other, "x", note=note)


def main() -> None:
    """Print the rows, or that there is no GPU."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--filters", type=int, default=FILTERS)
    parser.add_argument("--batch", type=int, default=SHOWN)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="cpu: to see that it runs")
    parser.add_argument("--rows", action="store_true", help="one JSON object a row, for table.py")
    given = parser.parse_args()
    as_in_jobs()
    if given.device == "cuda" and not torch.cuda.is_available():
        found = [Row("convolutional networks on a GPU", None, note="torch sees no GPU here")]
    else:
        torch_device(given.device)
        pictures = 8 * given.batch
        found = rows(given.device, given.filters, pictures, given.steps, given.batch, given.repeats)
    emit(found, None if given.rows else "gpu")


if __name__ == "__main__":
    main()
