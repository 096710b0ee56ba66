"""What the learners that are quadratic DenseNets, or are trained like them, declare of themselves."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from annotated_types import Interval, MinLen

from hierlearn.core.needs import Needs, Sizes
from hierlearn.core.parameters import Count, Index, NotNegative, Positive, Share
from hierlearn.core.protocols import Labels, Objection, Representation
from hierlearn.learners._runs import FRESH_POINTS, Rates
from hierlearn.learners._selection import DIVERGED

# Points of the training and validation sets that a trace looks at.
TRACED_POINTS = 1000
# L without a teacher that is such a network itself.
USUAL_DEPTH = 3
# The choice that is none: what the parameters say.
NOTHING: Any = None


@dataclass(frozen=True, kw_only=True)
class TrainingParameters:
    """How a network is trained."""

    annealing: Annotated[
        Literal["cosine", "constant"],
        "cosine: the learning rate falls to 0 by the planned end of a phase and is restored with the next one.",
    ] = "cosine"
    optimiser: Annotated[Literal["sgd", "adam"], "Rule of the steps."] = "adam"
    momentum: Annotated[float, Interval(ge=0, lt=1), "Momentum of sgd."] = 0.9
    clip: Annotated[Positive | None, "Largest norm of a gradient; null: none."] = 1.0
    sharpness: Annotated[Positive, "v of the logistic loss log(1 + exp(-v y (x_0 + F))), for classes."] = 10.0
    batch: Annotated[Count, "Points per step."] = 128
    epochs: Annotated[Count, "Passes over the training points."] = 100
    steps: Annotated[Count | None, "Steps, in place of epochs."] = None
    online: Annotated[bool, "One pass over fresh points: the number of samples is steps times batch."] = False

    def validate_data(self, labels: Labels, representation: Representation) -> Iterator[Objection]:
        """Object to several outputs, and classes without the threshold that the network is added to."""
        if labels.outputs > 1:
            found = f"a network of one output for a target of {labels.outputs} outputs"
            yield "name", found, "another learner, or a target of one output"
        elif labels.kind == "classes" and labels.links is None:
            found = "a network with the teacher's threshold for classes that have none"
            yield "name", found, "another learner, the teacher quadratic_densenet, or regression"


@dataclass(frozen=True, kw_only=True)
class LayerParameters(TrainingParameters):
    """What a DenseNet is, and when its layers come."""

    depth: Annotated[
        int | None, Interval(ge=2, le=6), "Number L of layers, x being none; null: the teacher's, or 3."
    ] = None
    graph: Annotated[
        list[Annotated[list[Index], MinLen(1)]] | None,
        MinLen(1),
        "J_2 .. J_L, the layers that each layer sees, 0 being x and 1 its centred squares; null: the "
        "teacher's, or [0, 1], then [0, l - 1].",
    ] = None
    alphas: Annotated[list[NotNegative] | None, MinLen(1), "alpha_2 .. alpha_L; null: powers of the gap."] = None
    gap: Annotated[
        Positive | None, "alpha_{l+1} / alpha_l where `alphas` is null; null: the teacher's alphas, or 0.2."
    ] = None
    width: Annotated[Count, "Number m of neurons per layer."] = 24
    starts: Annotated[
        list[Share] | None, "Parts of the training after which layers 3 .. L come at the latest; null: evenly spread."
    ] = None

    def validate_data(self, labels: Labels, representation: Representation) -> Iterator[Objection]:
        """Object to targets of another kind, and lists that do not fit the depth, which may be the teacher's."""
        yield from TrainingParameters.validate_data(self, labels, representation)
        depth = self.depth or (USUAL_DEPTH if labels.links is None else len(labels.links) + 1)
        layers = {"graph": depth - 1, "alphas": depth - 1, "distils": depth - 1, "starts": depth - 2}
        for name, count in (layers | {"thresholds": depth - 2}).items():
            given = vars(self).get(name)
            # No thresholds at all are as good as null.
            if given is not None and len(given) != count and (name, len(given)) != ("thresholds", 0):
                yield name, f"{len(given)} entries at depth {depth}", f"{count}, one a layer"
        if self.starts is not None and list(self.starts) != sorted(set(self.starts)):
            yield "starts", f"{self.starts}", "parts of the training that grow"
        for layer, below in enumerate(self.graph or (), start=2):
            if not set(below) <= set(range(layer)):
                yield "graph", f"{list(below)} for layer {layer}", f"earlier layers, 0 to {layer - 1}"

    def needs(self, sizes: Sizes) -> Needs:
        """Count weights, Adam's memory and activations of all runs; points beside their squares, float32, in order and
        shuffled."""
        width, inputs, batch = self.width, sizes.dimension, self.batch
        points = min(sizes.samples, FRESH_POINTS) if self.online else sizes.samples
        run = width * (10 * inputs + 10 * width + 8 * batch + 4 * TRACED_POINTS) + 2 * TRACED_POINTS * inputs
        return Needs(
            memory={
                "fit": sizes.seeds * (sizes.choices * run / 2 + 2 * points * inputs),
                "model": width * (2 * inputs + 3 * width),
                "predict": 512 * (4 * width + 2 * inputs),
            },
            work={
                "fit": sizes.choices * sizes.presented * width * (24 * inputs + 12 * width),
                "predict": sizes.test * width * (8 * inputs + 4 * width),
            },
        )


class LayerChoices(Rates):
    """Choices of the steps, and of the layers in place of the parameters."""

    gap: Annotated[Positive, "alpha_{l+1} / alpha_l, in place of what the parameters say."] = NOTHING
    graph: Annotated[
        Literal["own", "skip", "chain", "dense"],
        "Layers that layer l sees: skip, 0 and l - 1; chain, l - 1 alone; dense, all before it; own: what the"
        " parameters say.",
    ] = "own"


# Measured at the end, and along the training; of the layers that studies look at.
MEASURED_LAYERS = (2, 3, 4)
LOOKED_AT = {"frobenius_norm": "Frobenius norm of the weights that are trained"} | {
    f"{name}_{layer}": text.format(layer=layer)
    for name, text in {
        "risk_layer": "validation_risk of the layers up to {layer} alone",
        "feature_error": "min_U E|U S_{layer} - S*_{layer}|^2 / E|S*_{layer}|^2, U with orthonormal rows, "
        "on validation points",
        "whole_feature_error": "min_V E|S_{layer} - V S*_{layer}|^2 / E|S*_{layer}|^2, V with orthonormal columns, on "
        "validation points",
        "linear_feature_error": "min_B E|B S_{layer} - S*_{layer}|^2 / E|S*_{layer}|^2, any B, on validation points",
        "feature_size": "E|S_{layer}|^2 on validation points",
    }.items()
    for layer in MEASURED_LAYERS
}
# Errors of features, at the end and when a later layer came.
FEATURE_ERRORS = ("feature_error", "linear_feature_error", "whole_feature_error")
LAYER_MEASURES = {
    **LOOKED_AT,
    **DIVERGED,
    **{f"start_{layer}": f"step at which layer {layer} came" for layer in MEASURED_LAYERS},
    **{
        f"{kind}_{layer}_before": f"{kind}_{layer} when the layer above came, or would have come"
        for kind in FEATURE_ERRORS
        for layer in MEASURED_LAYERS[:-1]
    },
    "feature_error_2_after_3": "feature_error_2 when layer 4 came, or would have come",
    **{
        f"weight_correlation_{layer}{past}": f"correlation of the weights of layer {layer} at the end with those {when}"
        for layer in MEASURED_LAYERS[:-1]
        for past, when in {"": "when the layer above came", "_start": "at the start"}.items()
    },
}
LAYER_TRACES = {
    **LOOKED_AT,
    "train_loss": f"squared error on at most {TRACED_POINTS} training points; classes: error rate",
    "validation_risk": f"the same against the labels of at most {TRACED_POINTS} validation points",
}
