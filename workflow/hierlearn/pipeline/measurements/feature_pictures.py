"""What the units of a layer look for, as pictures, before and after the layers above were trained."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from hierlearn.core.needs import Needs, Sizes
from hierlearn.core.parameters import Count, Nested, Positive
from hierlearn.core.problem import Problem, ProblemFeatures
from hierlearn.core.protocols import STATUS, Experiment, Fit, Learner, Objection
from hierlearn.core.protocols import Input as Law
from hierlearn.pipeline.files.netcdf import Variable
from hierlearn.pipeline.measurements import _own_problem
from hierlearn.pipeline.measurements._own_problem import NETWORK, OwnProblem
from hierlearn.pipeline.measurements._parameters import Several, listing
from hierlearn.pipeline.measurements._trainings import report_failure
from hierlearn.pipeline.measurements._variables import Variables, describe

# A learning rate that leaves a network where it begins.
RESTING = 1e-12
PICTURES = ("picture", "picture_before", "picture_start")
# Of the norm of the picture that the ascent begins with over that of the ball.
FAINT = 0.1


@dataclass(frozen=True, kw_only=True)
class FeaturePictures(OwnProblem, Experiment):
    """How near a unit's picture stays to what it was before correction  (allenzhu2020, Figure 10).

    The first l layers are trained alone, then the whole network, with nothing at rest. The picture of a unit of layer l
    maximises the mean over places of what the unit takes before its activation, by steps along the gradient from one
    faint start, on the ball of a norm. Before correction is the end of the first phase; in its place the start stands
    beside it. Law and teacher are the experiment's own, as in `side_by_side`.
    """

    learner: Annotated[Learner, Nested("learners", NETWORK), "The network, whose schedule is that of the experiment."]
    layers: Annotated[Several[Count], "Layers l whose units are pictured."] = listing(1)
    norm: Annotated[Positive, "Largest L2 norm of a picture."] = 4.0
    ascent: Annotated[Count, "Steps of the ascent."] = 40
    rate: Annotated[Positive, "Length of a step over the norm."] = 0.1
    shown: Annotated[Count, "Units of each layer, from the first, whose pictures are kept."] = 8
    MEASURES = {
        "nearness": "log distance between a unit's pictures before and after correction, less the mean log distance "
        "to those of the other units before, the mean over units",
        "start_nearness": "the same with the units before any training in the place of before correction",
        "found": "share of units to whose picture after correction their own before is the nearest of the layer",
        "start_found": "the same before any training",
        "picture": "pictures of the first units after correction, the mean over channels",
        "picture_before": "the same before correction",
        "picture_start": "the same before any training",
    }
    # A picture has as many rows and columns as its pixels have.
    COORDINATES = {"layers": "layers", "unit": "shown", "row": "dimension", "column": "dimension"}

    def validate(self, inputs: Law | None) -> Iterator[Objection]:
        """Another learner than a convolutional one, and what law, teacher and network object to."""
        if self.learner["name"] != "convolutional":
            yield "learner", f"{self.learner['name']!r}", "convolutional, whose units these are"
            return
        if self.learner["width"] < 2:
            yield "learner", f"width {self.learner['width']}", "at least 2 units, one to compare the other with"
        described = {f"l = {layer}": dict(self.learner) | _corrected(layer) for layer in self.layers}
        yield from _own_problem.validate(self, "learner", described)

    def needs(self, sizes: Sizes) -> Needs:
        # Pictures cost as much as some more steps, and no memory beside a batch.
        modes = [
            dict(self.learner) | mode for layer in self.layers for mode in (_corrected(layer), {"schedule": "only"})
        ]
        return _own_problem.needs(self, modes, sizes)

    def measure(self, problem: Problem) -> Variables:
        """picture... (seed, layers, unit, row, column), the others (seed, layers); NaN where a training failed, or a
        layer has fewer units."""
        posed, features = self.posed(problem)
        fits_of = [self._fits(posed, features, layer) for layer in self.layers]
        _, height, width = fits_of[0][0].state["shape"][0].tolist()
        shape = len(problem.seeds), len(self.layers)
        found = {
            name: np.full((*shape, self.shown, height, width) if name in PICTURES else shape, np.nan)
            for name in self.MEASURES
        }
        flops = np.zeros(shape[0])
        for i, (layer, fits) in enumerate(zip(self.layers, fits_of, strict=True)):
            for s in range(shape[0]):
                if any(fit.status[s] != STATUS["ok"] for fit in fits):
                    report_failure("feature_pictures", f"l = {layer}", {"seed": problem.seeds[s]}, "diverged")
                    continue
                begin = self._faint(posed, s, fits[0])
                way = begin, self.ascent, self.rate * self.norm, self.norm
                drawn = [self.learner.pictures(fit.state, s, layer, *way) for fit in fits]
                for name, of_stage in zip(PICTURES, drawn, strict=True):
                    first = of_stage[: self.shown].mean(axis=-1)
                    found[name][s, i, : len(first)] = first
                for word, other in zip(("", "start_"), drawn[1:], strict=True):
                    found[f"{word}nearness"][s, i], found[f"{word}found"][s, i] = nearness(drawn[0], other)
            flops += sum(fit.flops for fit in fits)
        sizes = {"unit": self.shown, "row": height, "column": width}
        axes = {axis: Variable((axis,), np.arange(size), {"long_name": axis}) for axis, size in sizes.items()}
        pictures = {
            name: Variable(("seed", "layers", *axes), found.pop(name), {"units": "1", "long_name": self.MEASURES[name]})
            for name in PICTURES
        }
        measures = {name: (("seed", "layers"), values) for name, values in found.items()}
        return describe(self, problem, measures, flops) | axes | pictures

    def _fits(self, posed: Problem, features: ProblemFeatures, layer: int) -> tuple[Fit, Fit, Fit]:
        """After correction, before it, and before any training."""
        after = self.train(replace(self.learner, **_corrected(layer)), posed, features)
        # Every schedule has as many times these steps as there are layers: alone as in the first phase, up to rounding.
        steps = max(1, round(self.learner.steps * layer / int(after.state["depth"][0])))
        alone = replace(self.learner, schedule="only", trained=layer, steps=steps)
        resting = replace(self, learning_rate=RESTING)
        before = self.train(alone, posed, features)
        # At rest a few steps bring the running means to the points.
        return after, before, resting.train(replace(alone, steps=1), posed, features)

    def _faint(self, posed: Problem, seed: int, fit: Fit) -> np.ndarray:
        """The picture that every ascent of a seed begins with, (height, width, channels) float32."""
        channels, height, width = (int(size) for size in fit.state["shape"][seed])
        generator = posed.streams.generator(posed.seeds[seed], "ascent")
        normal = generator.standard_normal((height, width, channels))
        return (FAINT * self.norm * normal / np.linalg.norm(normal)).astype(np.float32)


def nearness(corrected: np.ndarray, others: np.ndarray) -> tuple[float, float]:
    """Mean log distance of pictures (units, ...) to their own among others less that to those of other units, and the
    share of them whose own is the nearest."""
    units = len(corrected)
    flat, other = (one.reshape(units, -1).astype(np.float64) for one in (corrected, others))
    distances = np.linalg.norm(flat[:, None] - other[None], axis=-1)
    logs = np.log(np.maximum(distances, np.finfo(np.float32).eps * np.linalg.norm(flat, axis=1, keepdims=True)))
    own = np.diag(logs)
    rest = (logs.sum(axis=1) - own) / (units - 1)
    return float(np.mean(own - rest)), float(np.mean(np.argmin(distances, axis=1) == np.arange(units)))


def _corrected(layer: int) -> dict[str, object]:
    return {"schedule": "fixed", "trained": layer, "fixed": 0}
