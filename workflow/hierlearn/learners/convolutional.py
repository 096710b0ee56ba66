"""Convolutional networks, trained at once or layer by layer, with or without what is below at rest."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Interval

from hierlearn.core.needs import Needs, Sizes
from hierlearn.core.parameters import EXECUTION, Count, Index, NotNegative, Share
from hierlearn.core.protocols import STATUS, Features, Fit, Input, Learner, Monitor, Objection, State, TrainingData
from hierlearn.learners._convolutional_networks import (
    ConvolutionalParameters,
    Device,
    layers,
    network,
    network_of,
    pictures,
    shape_of,
    torch_device,
)
from hierlearn.learners._convolutional_runs import TRACED_POINTS, Block
from hierlearn.learners._runs import Rates, Setting, grid
from hierlearn.learners._selection import DIVERGED, best, divergence, fit_of_seed
from hierlearn.solvers.convolutional.recipe import Augmentation, Recipe, phases

# Networks are trained together as long as an activation of all of them stays in a processor's cache.
NUMBERS_TOGETHER = 1 << 16
# What layers at rest make of all points is kept where it is no more than so many numbers; points shown at once.
KEPT, ROWS = 1 << 26, 512
# What importing torch takes, in numbers of 8 bytes; operations that an entry of a layer costs beside the products.
TORCH, ENTRY = 45e6, 500


@dataclass(frozen=True, kw_only=True)
class Convolutional(ConvolutionalParameters, Learner):
    """Networks of convolutions with batch normalisation, by SGD with momentum  (allenzhu2020, Figures 7 to 11).

    Pictures are those of the input, points without a shape are vectors. Classes are learned by cross-entropy, or
    logistic loss for one output, else the squared loss. The error on validation points chooses the setting. float32; a
    seed's weights at the start, order and augmentation are the same in every setting. Raises ValueError for
    `device: cuda` where there is none.
    """

    schedule: Annotated[
        Literal["joint", "staged", "layerwise", "only", "fixed"],
        "joint: all layers at once; staged: one layer more per phase, nothing at rest; layerwise: one layer more, with "
        "those below at rest; only: the first `trained` layers alone; fixed: these, then all with `fixed` at rest.",
    ] = "joint"
    trained: Annotated[Count, "only, fixed: number of layers that are trained first."] = 1
    fixed: Annotated[Index | None, "fixed: number of layers at rest in the second phase; null: as many."] = None
    pull: Annotated[NotNegative, "fixed: weight decay toward what was trained first, of layers that move again."] = 0.0
    refit: Annotated[Index, "Steps of a last phase in which a new output alone is trained."] = 0
    steps: Annotated[
        Count, "Steps per layer: a phase of staged and layerwise has so many, every schedule depth times as many."
    ] = 150
    batch: Annotated[int, Ge(2), "Points per step."] = 32
    momentum: Annotated[float, Interval(ge=0, lt=1), "Momentum."] = 0.9
    milestones: Annotated[list[Share], "Parts of a phase after which the learning rate is divided by 10."] = field(
        default_factory=lambda: [0.7]
    )
    crop: Annotated[Index, "Zeros around a picture, of which one of its size is cut at random."] = 0
    flip: Annotated[bool, "Whether pictures are mirrored, left and right, at random."] = False
    hole: Annotated[Index, "Side of a square of zeros at a random place (Cutout)."] = 0
    device: Device = "cpu"
    precision: Annotated[
        Literal["single", "half"],
        EXECUTION,
        "half: products and convolutions of steps in bfloat16, on a GPU; single: float32, as everything else is.",
    ] = "single"
    batch_seeds = True
    stream_key: ClassVar[str] = "Convolutional"
    MEASURES = {
        **DIVERGED,
        "first_layer_kept": "cosine between a filter of the first layer at the end of the first phase and at the end, "
        "the mean over filters",
        "first_layer_start": "the same between the start and the end",
        "synonym_variance": "part of the first layer's variance among strings of one symbol of a hierarchy, over "
        "validation points",
        "hidden_bit_decoded": "part of the variance of a bit that pairs of symbols hide which a linear function of the "
        "first layer's features explains, fitted on every second of the validation points, over the others",
    }
    TRACES = {
        "layers": "layers in front of the output",
        "train_loss": f"squared error on at most {TRACED_POINTS} training points, summed over outputs; "
        "classes: error rate",
        "validation_risk": f"the same against the labels of at most {TRACED_POINTS} validation points",
    }
    Choices = Rates

    def validate(self, inputs: Input | None) -> Iterator[Objection]:
        """Object to networks that the pictures cannot carry, and layers that are none of theirs."""
        if (self.fixed or 0) > self.trained:
            yield "fixed", f"{self.fixed}", f"at most trained = {self.trained}"
        if self.precision == "half" and self.device == "cpu":
            yield "precision", "'half' with device 'cpu'", "single, or device cuda or auto"
        refused = [*ConvolutionalParameters.validate(self, inputs)]
        yield from refused
        if inputs is None or refused:
            return
        depth = len(layers(self, shape_of(self, inputs)))
        most = depth - (self.schedule == "fixed")
        if self.schedule in ("only", "fixed") and self.trained > most:
            yield "trained", f"{self.trained} of {depth} layers with schedule {self.schedule!r}", f"at most {most}"

    def needs(self, sizes: Sizes) -> Needs:
        """Count torch, points, weights, and activations of networks that are trained together or of a block of points.

        work: products of a step forward and twice back, all layers moving; ENTRY operations for every entry of a layer,
        as batch normalisation and activations take as long.
        """
        net = network_of(self, sizes)
        weights, size = net.weights(sizes.outputs), min(self.batch, sizes.samples or self.batch)
        together = max(NUMBERS_TOGETHER / (size * net.entries()), 1)
        # Numbers of torch have half the bytes. On the way back slopes of a layer stand beside what it left.
        trained = together * size * (net.activations() + 3 * net.largest()) / 2
        shown = ROWS * net.largest() / 2
        rests = self.schedule in ("layerwise", "fixed")
        kept = min(KEPT, together * sizes.samples * net.entries()) / 2 if rests else 0.0
        points = sizes.samples * sizes.dimension
        entries = sum(layer.entries() for layer in net.layers)
        step = 6 * (net.products() + net.features() * sizes.outputs) + ENTRY * entries
        presented = sizes.presented * len(net.layers) + self.refit * size
        return Needs(
            memory={
                "fit": TORCH + 3 * sizes.choices * weights + max(trained, shown) + kept + points,
                "model": weights,
                "predict": TORCH + weights + shown + sizes.test * sizes.dimension,
            },
            work={"fit": sizes.choices * presented * step, "predict": sizes.test * step / 3},
            gpus=int(self.device == "cuda"),
        )

    def fit(self, sample: TrainingData, monitor: Monitor, cache: dict[Any, Any]) -> Fit:
        """Fit all seeds; state: weights, running statistics (S, ...) float32, shape (S, 3) of a picture, depth (S,)."""
        from hierlearn.solvers.convolutional.training import ConvolutionalTraining, Points

        data, settings = sample.data, grid(sample.choices)
        net, device = network(self, shape_of(self, data)), torch_device(self.device)
        points = Points(
            pictures(sample.features.draw("training", sample.n), net.shape),
            data.draw("training", sample.n).labels.astype(np.float32),
            lambda place, *words: sample.streams.generator(data.seeds[place], *words),
        )
        of_classes = "cross_entropy" if data.outputs > 1 else "logistic"
        recipe = Recipe(
            network=net,
            phases=tuple(phases(self.schedule, len(net.layers), self.steps, self.trained, self.fixed, self.refit)),
            outputs=data.outputs,
            loss=of_classes if data.kind == "classes" else "squared",
            batch=self.batch,
            momentum=self.momentum,
            milestones=tuple(self.milestones),
            pull=self.pull,
            augmentation=Augmentation(self.crop, self.flip, self.hole),
            half=self.precision == "half" and device == "cuda",
        )
        runs = [(s, setting) for s in range(len(data.seeds)) for setting in settings]
        size = min(self.batch, sample.n)
        aligned = all(net.cut(phase.depth).is_aligned(size, data.outputs) for phase in recipe.phases)
        together = max(1, NUMBERS_TOGETHER // (size * net.entries())) if aligned or device == "cuda" else 1
        blocks = []
        for first in range(0, len(runs), together):
            part = runs[first : first + together]
            rates, decays = (np.array([setting[name] for _, setting in part], np.float32) for name in settings[0])
            training = ConvolutionalTraining(recipe, points, [s for s, _ in part], rates, decays, device)
            block = Block(training, sample, part)
            block.train(monitor, f"n{sample.n}-seed{data.seeds[part[0][0]]}-part{first}")
            blocks.append(block)
        flops, seeds = blocks[0].training.operations() * len(settings), range(len(data.seeds))
        return Fit.stack(self._best(sample, monitor, blocks, seed, settings, flops) for seed in seeds)

    def predict(self, state: State, features: Features, role: str, count: int, cache: dict[Any, Any]) -> np.ndarray:
        """Return predictions (S, count, k) float64."""
        import torch

        from hierlearn.solvers.convolutional import model

        shape, depth = tuple(state["shape"][0].tolist()), int(state["depth"][0])
        net, device = network(self, shape).cut(depth), torch_device(self.device)
        found = []
        for s, points in enumerate(pictures(features.draw(role, count), shape)):
            own = {name: torch.tensor(values[[s]], device=device) for name, values in state.items()}
            with torch.no_grad():
                parts = [
                    model.outputs(net, own, own, torch.tensor(points[None, i : i + ROWS], device=device)).cpu()
                    for i in range(0, count, ROWS)
                ]
            found.append(torch.cat(parts, dim=1)[0].numpy())
        return np.stack(found).astype(np.float64)

    def pictures(
        self, state: State, seed: int, layer: int, begin: np.ndarray, steps: int, length: float, norm: float
    ) -> np.ndarray:
        """Return what the units of a layer, from 1, of a seed's network look for, as `model.pictures` has it."""
        import torch

        from hierlearn.solvers.convolutional import model

        device = torch_device("cpu")
        own = {name: torch.tensor(values[[seed]], device=device) for name, values in state.items()}
        net = network(self, tuple(state["shape"][seed].tolist())).cut(layer)
        return model.pictures(net, own, begin, steps, length, norm)

    def _best(
        self,
        sample: TrainingData,
        monitor: Monitor,
        blocks: Sequence[Block],
        seed: int,
        settings: Sequence[Setting],
        flops: float,
    ) -> Fit:
        """Return the fit of one seed: of its settings the one with the least error on validation points."""
        places = [(block, row) for block in blocks for row, (s, _) in enumerate(block.runs) if s == seed]
        errors = np.array([block.errors["validation"][row] for block, row in places])
        finite = np.isfinite(errors)
        measures = divergence(monitor, sample.n, sample.data.seeds[seed], finite, settings)
        place = best(errors, errors)
        block, row = places[place]
        training, correlations = block.training, block.training.correlations()
        shape = {"shape": np.array(training.recipe.network.shape), "depth": np.array(len(training.network.layers))}
        measures |= {"first_layer_kept": correlations["phase"][row], "first_layer_start": correlations["start"][row]}
        measures |= {name: values[row] for name, values in block.features.items() if values is not None}
        return fit_of_seed(
            state=training.model(row) | shape,
            status=STATUS["ok" if finite[place] else "diverged"],
            validation_risk=errors[place],
            train_risk=block.errors["training"][row],
            choices=settings[place],
            measures=measures,
            trace={name: np.array([values[row] for values in looks]) for name, looks in block.trace.items()},
            flops=flops,
        )
