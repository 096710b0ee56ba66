"""What convolutional networks and their kernels share: the architecture, and pictures as it sees them."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from math import prod
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge

from hierlearn.core.needs import Sizes
from hierlearn.core.parameters import EXECUTION, Count
from hierlearn.core.protocols import Data, Input, Labels, Objection, Representation
from hierlearn.solvers.convolutional import architecture
from hierlearn.solvers.convolutional.architecture import Architecture, Layer, Misfit

Shape = tuple[int, int, int]
Device = Annotated[
    Literal["auto", "cpu", "cuda"], EXECUTION, "cuda: one GPU; auto: one if there is one, else the processor."
]


@dataclass(frozen=True, kw_only=True)
class ConvolutionalParameters:
    """The architecture."""

    architecture: Annotated[
        Literal["patches", "dense", "circular", "plain", "vgg", "wide_resnet"],
        "patches: filters that do not overlap, a tree; dense: fully connected layers; circular: a filter as long as a "
        "row, the mean over its places on a circle, then fully connected layers; plain: filters that keep the size, "
        "pooling after every second; vgg; wide_resnet.",
    ] = "patches"
    depth: Annotated[
        Count | None,
        "Number of layers: convolutions, or for wide_resnet a convolution and blocks; null: for patches as many as "
        "leave one place, else 2.",
    ] = None
    width: Annotated[Count, "Channels, those of the first stage for vgg and wide_resnet."] = 32
    patch: Annotated[int, Ge(1), "Side of the filters of patches; plain has 2 patch - 1."] = 2
    activation: Annotated[
        Literal["relu", "quadratic"],
        "relu, after batch normalisation; quadratic: z + 0.1 z^2, before it.",
    ] = "relu"
    links: Annotated[bool, "Whether the output sees every layer, or the last alone."] = False
    pooling: Annotated[Literal["max", "mean"], "How layers pool."] = "max"
    head: Annotated[
        Literal["mean", "flat"], "What the output sees of a layer: its mean over places, or every place."
    ] = "mean"

    def validate(self, inputs: Input | None) -> Iterator[Objection]:
        """Networks that the pictures cannot carry."""
        try:
            if inputs is not None:
                layers(self, shape_of(self, inputs))
        except Misfit as misfit:
            yield misfit.args

    def validate_data(self, labels: Labels, representation: Representation) -> Iterator[Objection]:
        """Features, which are no picture."""
        if representation.unlabelled:
            yield "name", "a network of pictures on features", "the representation raw, or another learner"


def network(learner: Any, shape: Shape) -> Architecture:
    """Return the network of a learner on pictures (channels, height, width). Raises Misfit."""
    return Architecture(shape, layers(learner, shape), learner.activation, learner.links, learner.pooling, learner.head)


def network_of(learner: Any, sizes: Sizes) -> Architecture:
    """Return the network that a learner has at some sizes; dense layers where the pictures cannot carry it."""
    try:
        return network(learner, shape_of(learner, sizes))
    except Misfit:
        shape = max(sizes.dimension, 1), 1, 1
        return Architecture(shape, architecture.dense(shape, learner.depth or 2, learner.width, 1))


def layers(learner: Any, shape: Shape) -> tuple[Layer, ...]:
    """Its layers. Raises Misfit."""
    depth = learner.depth
    if depth is None:
        depth = architecture.levels(shape[1:], learner.patch) if learner.architecture == "patches" else 2
    return architecture.build(learner.architecture, shape, depth, learner.width, learner.patch)


def shape_of(learner: Any, points: Data | Input | Sizes) -> Shape:
    """Of a picture; a vector is a picture of one pixel, as for dense layers every picture is, or else a circle."""
    if points.shape is None and learner.architecture == "circular":
        return 1, 1, points.dimension
    if points.shape is None or learner.architecture == "dense":
        return points.dimension, 1, 1
    channels, height, width = points.shape
    return channels, height, width


def pictures(features: np.ndarray, shape: Shape) -> np.ndarray:
    """(S, n, D), channels first, -> (S, n, height, width, channels)."""
    if features.shape[-1] != prod(shape):
        found = f"{features.shape[-1]} features of pictures of {' x '.join(map(str, shape))}"
        raise ValueError(f"convolutional: {found}; expected the raw input")
    return np.ascontiguousarray(np.moveaxis(features.reshape(*features.shape[:2], *shape), 2, -1))


def warm_up() -> None:
    """Load the library, which takes longer than many a fit. Called by the process whose forks are jobs."""
    import_module("torch")


def torch_device(asked: str) -> str:
    """cpu or cuda, on as many threads as the job has: their number is part of what rounding makes of a sum."""
    import torch

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    if asked == "cpu" or not torch.cuda.is_available():
        if asked == "cuda":
            raise ValueError("convolutional: device 'cuda' where torch sees no GPU; expected auto, cpu, or a GPU")
        return "cpu"
    # Unless it is told, torch convolves numbers in single precision with ten bits after the point.
    cudnn: Any = torch.backends.cudnn
    cudnn.conv.fp32_precision = "ieee"
    return "cuda"
