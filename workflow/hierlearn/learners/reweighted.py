"""Quad-h fitted twice: on the representation, and on what the weights of the first fit make of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from hierlearn.core import registry
from hierlearn.core.needs import Needs, Sizes
from hierlearn.core.parameters import Nested, NotNegative, Positive
from hierlearn.core.protocols import (
    Features,
    Fit,
    Input,
    Learner,
    Monitor,
    Objection,
    Representation,
    State,
    TrainingData,
)

# The models whose weights are directions w_r.
WITH_DIRECTIONS = ("taylor", "randomised")


@dataclass(frozen=True, kw_only=True)
class Reweighted(Learner):
    """Quad-h, then Quad on A^{1/2} h with A proportional to sum_r w_r w_r^T + floor  (chen2020, Section 7).

    Both fits are on the same n labelled points, which are all that are spent; each chooses its ridge on the same
    validation points. A^{1/2} h is scaled back to E|h|^2 = 1 on the training points, so that a ridge means the same in
    both. directions: weights of random directions and of the same norms are what learns nothing from the labels.
    """

    model: Annotated[
        Learner, Nested("learners", {"name": "taylor"}), "The model that is fitted twice, with weights w_r: taylor."
    ]
    directions: Annotated[
        Literal["fitted", "random"], "fitted: the weights w_r of the first fit; random: directions that know no label."
    ] = "fitted"
    floor: Annotated[NotNegative, "What is added to the mean eigenvalue 1 of sum_r w_r w_r^T in every direction."] = 0.0
    stream_key: ClassVar[str] = "Reweighted"
    MEASURES = {
        "first_fit_risk": "error of the first fit alone on validation points, against the labels",
        "effective_directions": "(tr A)^2 / tr A^2, the number of directions that the second fit sees",
    }

    class Choices:
        ridge: Annotated[Positive, "Ridges for features with |h|^2 = D; each fit takes the best for itself."]

    def validate(self, inputs: Input | None) -> Iterator[Objection]:
        """Object to models of the project that have no directions."""
        described: Any = self.model
        name = described["name"]
        if name not in WITH_DIRECTIONS and registry.path("learners", name).is_relative_to(registry.PACKAGE):
            yield "model", repr(name), " or ".join(WITH_DIRECTIONS)

    def needs(self, sizes: Sizes) -> Needs:
        """Count those of a Quad model twice, one after the other, and the map of the features."""
        described: Any = self.model
        once, square = registry.needs("learners", described, sizes), sizes.features**2
        shown = (sizes.samples + sizes.validation) * sizes.features
        return Needs(
            memory={
                "fit": once.memory["fit"] + 4 * square + shown,
                "kept": 0,
                "model": once.memory["model"] + square,
                "predict": once.memory["predict"] + sizes.test * sizes.features,
            },
            work={"fit": 2 * once.work["fit"] + 20 * sizes.features**3, "predict": 2 * once.work["predict"]},
            parallel=once.parallel,
        )

    def fit(self, sample: TrainingData, monitor: Monitor, cache: dict[Any, Any]) -> Fit:
        """Fit all seeds; state: of the second fit, and map (S, D, D) float32. Raises ValueError without weights."""
        first = self.model.fit(replace(sample, streams=sample.streams.at("first")), monitor, {})
        if "weights" not in first.state:
            raise ValueError("reweighted: found a model without weights; expected taylor")
        features = sample.features.draw("training", sample.n)
        draws = sample.streams.at("directions").stack(
            lambda g: g.standard_normal(first.state["weights"].shape[1:]).astype(np.float32)
        )
        rows = map(self._directions, first.state["weights"], draws)
        pairs = [feature_map(own, h, self.floor) for own, h in zip(rows, features, strict=True)]
        maps, seen = (np.array(parts) for parts in zip(*pairs, strict=True))
        shown = Mapped(sample.features, maps)
        second = self.model.fit(replace(sample, features=shown, streams=sample.streams.at("second")), monitor, {})
        return replace(
            second,
            state=second.state | {"map": maps},
            # A first fit that failed leaves the second nothing to build on.
            status=np.where(np.isfinite(seen), second.status, first.status).astype(np.int8),
            measures={"first_fit_risk": first.validation_risk, "effective_directions": seen},
            flops=None if first.flops is None or second.flops is None else first.flops + second.flops,
        )

    def predict(self, state: State, features: Features, role: str, count: int, cache: dict[Any, Any]) -> np.ndarray:
        """Return predictions (S, count, k) float64."""
        inner = {name: values for name, values in state.items() if name != "map"}
        return self.model.predict(inner, Mapped(features, state["map"]), role, count, {})

    def _directions(self, weights: np.ndarray, drawn: np.ndarray) -> np.ndarray:
        """Return the rows (k m, D) that A is made of."""
        if self.directions == "random":
            norms = np.linalg.norm(weights, axis=-1, keepdims=True)
            weights = drawn * norms / np.linalg.norm(drawn, axis=-1, keepdims=True)
        return weights.reshape(-1, weights.shape[-1])


def feature_map(rows: np.ndarray, h: np.ndarray, floor: float) -> tuple[np.ndarray, float]:
    """Return A^{1/2} (D, D) float32, A = sum_r w_r w_r^T over its mean eigenvalue, plus floor, scaled so that mean
    |A^{1/2} h|^2 is 1; and (tr A)^2 / tr A^2. Zeros and NaN where the weights are not finite or 0.

    rows: w_r (m, D); h (n, D).
    """
    dimension = rows.shape[1]
    moment = rows.T.astype(np.float64) @ rows
    total = float(np.trace(moment))
    if not (np.isfinite(total) and total > 0.0):
        return np.zeros((dimension, dimension), np.float32), np.nan
    values, vectors = np.linalg.eigh(moment * (dimension / total))
    values = np.maximum(values, 0.0) + floor
    root = (vectors * np.sqrt(values)) @ vectors.T
    size = np.mean(np.sum((h.astype(np.float64) @ root) ** 2, axis=1))
    # Points that are all zero stay so, whatever the scale.
    return (root / np.sqrt(size or 1.0)).astype(np.float32), float(values.sum() ** 2 / np.sum(values**2))


@dataclass(frozen=True)
class Mapped:
    """Features of another, each seed's multiplied with a map (S, D, D)."""

    features: Features
    maps: np.ndarray

    @property
    def representation(self) -> Representation:
        """That below the map."""
        return self.features.representation

    def draw(self, role: str, count: int, start: int = 0) -> np.ndarray:
        """Return mapped features (S, count, D) float32."""
        return self.features.draw(role, count, start) @ self.maps

    def of(self, x: np.ndarray) -> np.ndarray:
        """Return mapped features (S, n, D) float32 of points (S, n, *shape)."""
        return self.features.of(x) @ self.maps

    def take(self, positions: Sequence[int]) -> "Mapped":
        """Return the same for a part of the seeds."""
        return Mapped(self.features.take(positions), self.maps[positions])
