"""Convolutional networks as lists of layers, each of which a phase of training may add."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import NamedTuple

Size = tuple[int, int]
# Convolutions per stage of VGG19; other depths are spread evenly, the later stages first.
VGG19 = (2, 2, 4, 4, 4)
STEM = 16
ALIGNED = 16
# Filters on so few channels are faster as one product for all networks than as torch's convolution for each.
NARROW = 2
# Points whose gradients are made at once, and how many numbers of gradients are held: those of one output in any case.
BLOCK_POINTS, GRADIENT_ENTRIES = 128, 1 << 25


class Misfit(ValueError):
    """A network that a picture cannot carry: parameter, what was found, what is allowed."""


class Convolution(NamedTuple):
    """inputs and outputs: channels; the others are (height, width).

    wrap: first columns that are put behind the last ones too, where a row is a circle.
    """

    inputs: int
    outputs: int
    kernel: Size
    stride: Size = (1, 1)
    padding: Size = (0, 0)
    wrap: int = 0

    def size(self, size: Size) -> Size:
        """Return height and width of what it makes of a picture."""
        size = (size[0], size[1] + self.wrap)
        counted = zip(size, self.kernel, self.stride, self.padding, strict=True)
        height, width = ((n + 2 * p - k) // s + 1 for n, k, s, p in counted)
        return height, width

    @property
    def weights(self) -> tuple[int, int]:
        """Entries of a patch and filters: the shape of its matrix."""
        return prod(self.kernel) * self.inputs, self.outputs

    @property
    def is_patchless(self) -> bool:
        """Whether it needs no copy of its patches: they do not overlap, or torch convolves."""
        return (self.kernel == self.stride and self.padding == (0, 0)) or self.inputs > NARROW


@dataclass(frozen=True)
class Layer:
    """What a phase adds: a convolution with its activation, or a residual block of two.

    kind: plain, stem (a convolution alone, before blocks that begin with an activation) or residual. pool: side of the
    squares over which the output is pooled; whole: whether it is the mean over all places instead; size: height and
    width of the output; given: of the input.
    """

    kind: str
    convolutions: tuple[Convolution, ...]
    given: Size
    size: Size
    shortcut: Convolution | None = None
    pool: int = 1
    whole: bool = False

    @property
    def channels(self) -> int:
        """Of the output."""
        return self.convolutions[-1].outputs

    def entries(self) -> int:
        """Count the entries of its output for one picture, before it is pooled."""
        return self.channels * prod(self.given if self.whole else self.size) * self.pool**2

    def steps(self) -> Iterator[tuple[Convolution, Size, Size]]:
        """Yield its convolutions but for the shortcut, with height and width of what each is given and makes."""
        made = self.given
        for convolution in self.convolutions:
            given, made = made, convolution.size(made)
            yield convolution, given, made

    @property
    def places(self) -> int:
        """Places at which the filters of its first convolution stand, before it pools."""
        return prod(self.convolutions[0].size(self.given))

    @property
    def is_factored(self) -> bool:
        """Whether products of gradients in its weights take less by their factors, what every place gives and gets,
        than as they are: patches that do not overlap, few places and many channels."""
        one = self.convolutions[0]
        apart = self.kind == "plain" and one.kernel == one.stride and one.padding == (0, 0) and not one.wrap
        return apart and self.places**2 * sum(one.weights) < prod(one.weights)

    def products(self) -> int:
        """Count multiplications for one picture."""
        total = sum(prod(size) * prod(one.weights) for one, _, size in self.steps())
        return total if self.shortcut is None else total + prod(self.size) * prod(self.shortcut.weights)


@dataclass(frozen=True)
class Architecture:
    """shape: (channels, height, width) of a picture.

    activation: relu, after batch normalisation, or quadratic: z + 0.1 z^2, before it. links: whether the head sees
    every layer or the last alone. pooling: how layers pool, max or mean; head: mean, over all places, or flat.
    """

    shape: tuple[int, int, int]
    layers: tuple[Layer, ...]
    activation: str = "relu"
    links: bool = False
    pooling: str = "max"
    head: str = "mean"

    def cut(self, depth: int) -> "Architecture":
        """Return the network of the first `depth` layers."""
        return replace(self, layers=self.layers[:depth])

    @property
    def linked(self) -> tuple[int, ...]:
        """The layers that the head sees."""
        return tuple(range(len(self.layers))) if self.links else (len(self.layers) - 1,)

    def features(self) -> int:
        """Count what the head sees of a picture."""
        places = [1 if self.head == "mean" else prod(self.layers[i].size) for i in self.linked]
        return sum(self.layers[i].channels * n for i, n in zip(self.linked, places, strict=True))

    def norms(self, index: int) -> tuple[int, ...]:
        """Return the channels of the batch normalisations of a layer."""
        layer = self.layers[index]
        if layer.kind == "stem" and self.activation == "relu":
            return ()
        if layer.kind == "residual" and self.activation == "relu":
            return tuple(convolution.inputs for convolution in layer.convolutions)
        return tuple(convolution.outputs for convolution in layer.convolutions)

    @property
    def head_norms(self) -> tuple[int, ...]:
        """Channels that are normalised in front of the head: residual blocks of ReLUs end in a sum."""
        if self.activation != "relu":
            return ()
        return tuple(self.layers[i].channels for i in self.linked if self.layers[i].kind != "plain")

    def entries(self) -> int:
        """Count the entries of the largest output of a layer for one picture."""
        return max(layer.entries() for layer in self.layers)

    def products(self) -> int:
        """Count multiplications for one picture, without the head."""
        return sum(layer.products() for layer in self.layers)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the layers' weights, by name; those of batch normalisations are scale and shift."""
        found: dict[str, tuple[int, ...]] = {}
        for i, layer in enumerate(self.layers):
            found |= {f"layer{i}_weight{j}": one.weights for j, one in enumerate(layer.convolutions)}
            if layer.shortcut is not None:
                found[f"layer{i}_shortcut"] = layer.shortcut.weights
            for j, channels in enumerate(self.norms(i)):
                found |= {f"layer{i}_scale{j}": (1, channels), f"layer{i}_shift{j}": (1, channels)}
        return found

    def head_shapes(self, outputs: int) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the head's weights, by name."""
        found: dict[str, tuple[int, ...]] = {"head_weight": (self.features(), outputs), "head_bias": (1, outputs)}
        for j, channels in enumerate(self.head_norms):
            found |= {f"head_scale{j}": (1, channels), f"head_shift{j}": (1, channels)}
        return found

    def weights(self, outputs: int) -> int:
        """Count the numbers of all layers and the head, with the means and variances beside scales and shifts."""
        shapes = self.shapes() | self.head_shapes(outputs)
        return sum(prod(size) * (2 if "scale" in name or "shift" in name else 1) for name, size in shapes.items())

    @property
    def factored(self) -> tuple[int, ...]:
        """Layers whose gradients in the weights are held as factors."""
        return tuple(i for i, layer in enumerate(self.layers) if layer.is_factored)

    def _entries_apart(self) -> int:
        """Entries of a gradient in all weights but those of factored layers and of the head."""
        factored = sum(prod(self.layers[i].convolutions[0].weights) for i in self.factored)
        return sum(map(prod, self.shapes().values())) - factored + 2 * sum(self.head_norms)

    def gradient_entries(self) -> int:
        """Count the numbers that hold the gradient of one output: the head and factored layers by their factors."""
        factors = sum(self.layers[i].places * sum(self.layers[i].convolutions[0].weights) for i in self.factored)
        return self._entries_apart() + self.features() + 1 + factors

    def outputs_at_once(self, outputs: int, points: int) -> int:
        """Count the outputs whose gradients at so many points are held together: one pass forward serves them all."""
        return min(outputs, max(1, GRADIENT_ENTRIES // (self.gradient_entries() * (points + BLOCK_POINTS))))

    def gradient_products(self, outputs: int, points: int) -> int:
        """Count multiplications for the sum over outputs j of <grad f_j(x), grad f_j(z)>; points: how many z are held.

        What outputs share, the head's inputs and what layers see, is multiplied once for those that are held together.
        """
        step = self.outputs_at_once(outputs, points)
        passes = -(-outputs // step)
        layers = [(self.layers[i].places ** 2, *self.layers[i].convolutions[0].weights) for i in self.factored]
        shared = self.features() + 1 + sum(pairs * entries for pairs, entries, _ in layers)
        own = self._entries_apart() + sum(pairs * filters for pairs, _, filters in layers)
        return passes * shared + outputs * own

    def activations(self) -> int:
        """Count the numbers that one picture leaves for the way back, itself among them."""
        return prod(self.shape) + sum(sum(self._arrays(layer)) for layer in self.layers)

    def largest(self) -> int:
        """Count what the largest layer holds of one picture on the way forward: patches, arrays before and after."""
        return max(
            max(self._arrays(layer)) + 3 * layer.pool**2 * prod(layer.size) * layer.channels for layer in self.layers
        )

    def _arrays(self, layer: Layer) -> list[int]:
        """Entries of what a layer leaves for one picture: copies of patches, normalised and activated arrays."""
        found = [prod(layer.size) * layer.channels if layer.pool > 1 else 0]
        for one, given, size in layer.steps():
            found.append(0 if one.is_patchless else prod(size) * one.weights[0])
            if self.activation == "quadratic":
                found += [prod(size) * one.outputs] * 3
            elif layer.kind == "residual":
                found += [prod(given) * one.inputs] * 2
            elif layer.kind == "plain":
                found += [prod(size) * one.outputs] * 2
        return found

    def is_aligned(self, batch: int, outputs: int) -> bool:
        """Return whether all networks' matrices begin at a multiple of ALIGNED numbers where those of many follow one
        another: a product's last bits hang on where its matrices begin."""
        sizes = [self.features() * outputs, batch * self.features(), batch * outputs]
        for layer in self.layers:
            for one, _, size in layer.steps():
                sizes += [prod(one.weights), *(batch * prod(size) * n for n in one.weights)]
            if layer.shortcut is not None:
                sizes.append(prod(layer.shortcut.weights))
            sizes.append(batch * prod(layer.size) * layer.channels)
        return all(size % ALIGNED == 0 for size in sizes)


def build(name: str, shape: tuple[int, int, int], depth: int, width: int, patch: int = 2) -> tuple[Layer, ...]:
    """Build the layers of an architecture by its name. Raises Misfit."""
    if min(shape) < 1:
        raise Misfit(
            "architecture", f"{name} on pictures of {' x '.join(map(str, shape))}", "a place and a channel at least"
        )
    makers = {maker.__name__: maker for maker in (patches, dense, circular, plain, vgg, wide_resnet)}
    return makers[name](shape, depth, width, patch)


def patches(shape: tuple[int, int, int], depth: int, width: int, patch: int) -> tuple[Layer, ...]:
    """Build filters of `patch` places in a row, or patch x patch, that do not overlap: the tree of a hierarchy."""
    channels, size, layers = shape[0], shape[1:], []
    for level in range(depth):
        kernel = min(patch, size[0]), min(patch, size[1])
        if any(n % k for n, k in zip(size, kernel, strict=True)):
            found = f"{patch} at layer {level + 1}, on {size[0]} x {size[1]} places"
            raise Misfit("patch", found, "a divisor of height and width")
        one = Convolution(channels, width, kernel, kernel)
        layers.append(Layer("plain", (one,), size, one.size(size)))
        channels, size = width, layers[-1].size
    return tuple(layers)


def levels(size: Size, patch: int) -> int:
    """Count the layers of `patches` until one place is left, at least 1."""
    depth, most = 1, max(size)
    while patch > 1 and most > patch**depth:
        depth += 1
    return depth


def dense(shape: tuple[int, int, int], depth: int, width: int, patch: int) -> tuple[Layer, ...]:
    """Build fully connected layers, on vectors: pictures of one pixel."""
    if shape[1:] != (1, 1):
        raise Misfit("architecture", f"dense on {shape[1]} x {shape[2]} places", "points as vectors")
    return patches(shape, depth, width, 1)


def circular(shape: tuple[int, int, int], depth: int, width: int, patch: int) -> tuple[Layer, ...]:
    """Build a filter as long as the row at all places of a circle, their mean, then fully connected layers."""
    if shape[1] != 1:
        raise Misfit("architecture", f"circular on {shape[1]} x {shape[2]} places", "a row, of height 1")
    one = Convolution(shape[0], width, (1, shape[2]), wrap=shape[2] - 1)
    above = patches((width, 1, 1), depth - 1, width, 1)
    return Layer("plain", (one,), shape[1:], (1, 1), whole=True), *above


def plain(shape: tuple[int, int, int], depth: int, width: int, patch: int) -> tuple[Layer, ...]:
    """Build filters of (2 patch - 1)^2 places, 3 x 3 for a patch of 2; from layer 2 on every second one pools."""
    stages = [2] * (depth // 2) + [1] * (depth % 2)
    return _stages(shape, stages, [width] * len(stages), 2 * patch - 1)


def vgg(shape: tuple[int, int, int], depth: int, width: int, patch: int) -> tuple[Layer, ...]:
    """Build five stages of 3 x 3 filters, each of which ends in pooling; w to 8w wide (VGG19: 16 layers, w 64)."""
    if depth < 5:
        raise Misfit("depth", f"{depth} layers of vgg", "at least 5, one for each stage")
    stages = list(VGG19) if depth == sum(VGG19) else [depth // 5 + (i >= 5 - depth % 5) for i in range(5)]
    return _stages(shape, stages, [width * factor for factor in (1, 2, 4, 8, 8)], 3, every=True)


def wide_resnet(shape: tuple[int, int, int], depth: int, width: int, patch: int) -> tuple[Layer, ...]:
    """Build a convolution and blocks in three stages of widths w, 2w, 4w (WRN-(6n+4)-k: 3n + 1 layers, w = 16 k)."""
    if depth < 4:
        raise Misfit("depth", f"{depth} layers of wide_resnet", "at least 4, one for each stage and the first")
    size = shape[1:]
    first = Convolution(shape[0], min(STEM, width), (3, 3), (1, 1), (1, 1))
    layers, channels = [Layer("stem", (first,), size, size)], first.outputs
    blocks = [(depth - 1) // 3 + (i >= 3 - (depth - 1) % 3) for i in range(3)]
    for stage, count in enumerate(blocks):
        for block in range(count):
            stride = 2 if stage > 0 and block == 0 else 1
            if stride == 2 and min(size) < 2:
                raise Misfit("architecture", f"wide_resnet on {shape[1]} x {shape[2]} places", "at least 3 x 3")
            outputs, strides = width * 2**stage, (stride, stride)
            one = Convolution(channels, outputs, (3, 3), strides, (1, 1))
            two = Convolution(outputs, outputs, (3, 3), (1, 1), (1, 1))
            shortcut = None if stride == 1 and channels == outputs else Convolution(channels, outputs, (1, 1), strides)
            layers.append(Layer("residual", (one, two), size, one.size(size), shortcut))
            channels, size = outputs, layers[-1].size
    return tuple(layers)


def _stages(
    shape: tuple[int, int, int], stages: list[int], widths: list[int], kernel: int, *, every: bool = False
) -> tuple[Layer, ...]:
    """Convolutions that keep the size, the last of a stage with pooling over squares of 2.

    every: in a stage of one layer as well.
    """
    channels, size, layers = shape[0], shape[1:], []
    for stage, (count, width) in enumerate(zip(stages, widths, strict=True)):
        for i in range(count):
            one = Convolution(channels, width, (kernel, kernel), (1, 1), (kernel // 2, kernel // 2))
            pool = 2 if i == count - 1 and (count > 1 or every) else 1
            after = size[0] // pool, size[1] // pool
            if min(after) < 1:
                found = f"{sum(stages)} layers that pool {stage + 1} times on {shape[1]} x {shape[2]} places"
                raise Misfit("depth", found, f"height and width of at least {2 ** (stage + 1)}")
            layers.append(Layer("plain", (one,), size, after, None, pool))
            channels, size = width, after
    return tuple(layers)
