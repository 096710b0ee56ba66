"""A learning problem: a law of x, a teacher, a scale and label noise, for several seeds at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from hierlearn.core import contracts, registry
from hierlearn.core.protocols import Batch, Input, Representation, State, Teacher
from hierlearn.core.provenance import canonical
from hierlearn.core.streams import Streams


def streams_of(content: Mapping[str, Any], seeds: tuple[int, ...], draw: str = "") -> Streams:
    """Return the streams of a problem: keyed by its canonical content and by a draw.

    draw: a word for independent numbers of the same problem, which a run's study, preset and revision make; may be "".
    """
    words = (canonical(content), *([draw] if draw else []))
    return Streams(words, tuple(seeds), len(words))


def essential(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a problem's content in the words that key the streams.

    Parameters that have their defaults or say only where it is executed are left out. A component that gains a
    parameter leaves the numbers of all problems before it as they were, and so does one that is renamed, or whose
    parameters are, and says which words it had.
    """
    kept = dict(content)
    for part in ("input", "teacher"):
        name = content[part]["name"]
        component, defaults = registry.implementation(f"{part}s", name), registry.defaults(f"{part}s", name)
        known = registry.parameters(f"{part}s", name)
        kept[part] = {
            component.stream_words.get(key, key): value
            for key, value in content[part].items()
            if (key not in defaults or value != defaults[key]) and not known.get(key, {}).get("execution")
        } | {"name": component.stream_key or name}
    return kept


@dataclass(frozen=True)
class Problem:
    """Labelled points of one teacher per seed.

    state: the teacher's parameters, S first; factor (S,): what the paper-scale target is multiplied with (1/L2 norm for
    `scale: unit`); noise: standard deviation of the Gaussian label noise (regression) or probability of another label
    (classes); held_out: number of validation points; pools: points already drawn, by role; other points are
    drawn when they are asked for, and agree with what a pool would have held.
    """

    inputs: Input
    teacher: Teacher
    state: State
    factor: np.ndarray
    noise: float
    streams: Streams
    held_out: int
    pools: Mapping[str, Batch] = field(default_factory=dict)

    @property
    def seeds(self) -> tuple[int, ...]:
        return self.streams.seeds

    @property
    def outputs(self) -> int:
        return self.teacher.outputs

    @property
    def kind(self) -> str:
        """Of the labels: "regression" or "classes"."""
        return self.teacher.kind

    @property
    def links(self) -> tuple[tuple[int, ...], ...] | None:
        """The graph of the teacher, where it is a network of squares."""
        return self.teacher.links

    @property
    def dimension(self) -> int:
        return self.inputs.dimension

    @property
    def shape(self) -> Sequence[int] | None:
        return self.inputs.shape

    @property
    def points_norm(self) -> str:
        """Root of E|x|^2: "unit" or "sqrt_dimension"."""
        return self.inputs.norm

    @property
    def oracle(self) -> "Problem":
        """The truth behind the labels, which a problem knows."""
        return self

    def stored(self, role: str) -> int:
        """Return how many points of a role were drawn already."""
        pool = self.pools.get(role)
        return 0 if pool is None else pool.x.shape[1]

    @cached_property
    def norm(self) -> np.ndarray:
        """L2 norm (S,) of the target in the paper's units."""
        return contracts.norm(self.teacher, self.state, self.inputs, len(self.seeds))

    def draw(self, role: str, count: int, start: int = 0) -> Batch:
        """Return points start .. start+count of `role` (training, validation, ...), labels noisy, targets clean."""
        pool = self.pools.get(role)
        if pool is not None and start + count <= pool.x.shape[1]:
            return pool[start : start + count]
        x = contracts.points(self.inputs, self.streams.at("points", role), role, start, count)
        rows, known = self.rows(role, count, start), None
        if rows is not None:
            known = contracts.target_of_rows(self.teacher, self.inputs, rows)
        target = contracts.target(self.teacher, self.state, x) if known is None else known
        target = target * self.factor[:, None, None]
        return Batch(x, self._labels(role, start, target), target)

    def rows(self, role: str, count: int, start: int = 0) -> np.ndarray | None:
        """Return the row numbers (S, count) of what `draw` shows of a finite set; None where points are drawn."""
        return contracts.rows(self.inputs, self.streams.at("points", role), role, start, count)

    def check_norm(self) -> None:
        """Raise BrokenContract for a norm that is not the target's; labels of rows say theirs themselves."""
        rows = self.rows("training", 1)
        if rows is None or contracts.target_of_rows(self.teacher, self.inputs, rows) is None:
            contracts.norm_of_points(self.teacher, self.state, self.inputs, self.streams.at("norm-check"))

    def unlabelled(self, count: int) -> np.ndarray:
        """Return points (S, count, *shape) float32 without labels."""
        pool = self.pools.get("unlabelled")
        if pool is not None and count <= pool.x.shape[1]:
            return pool.x[:, :count]
        return contracts.points(self.inputs, self.streams.at("points", "unlabelled"), "unlabelled", 0, count)

    def take(self, positions: Sequence[int]) -> "Problem":
        """Return the same problem for a part of the seeds."""
        part = replace(
            self,
            state={name: values[positions] for name, values in self.state.items()},
            factor=self.factor[positions],
            streams=self.streams.take(positions),
            pools={role: batch.take(positions) for role, batch in self.pools.items()},
        )
        if "norm" in vars(self):
            # Some teachers integrate for it.
            vars(part)["norm"] = self.norm[positions]
        return part

    def risk(self, predictions: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Return E|f - f*|^2 summed over outputs: (S, n, k), (S, n, k) -> (S,), in the problem's units.

        For classes the share of wrong ones.
        """
        if self.teacher.kind == "classes":
            return wrong_classes(predictions, target)
        return self.calibrate(np.mean(np.sum(np.square(predictions - target), axis=-1), axis=-1), target)

    def denoise(self, error: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Return the risk that an error (S,) against noisy labels estimates, on points with this noise-free target.

        Regression: the noise's variance is taken off. Classes: labels of c classes that are another with probability q
        turn a share e of wrong ones into e + q (1 - e c / (c - 1)), if the other is equally likely any.
        """
        if self.teacher.kind == "classes":
            return (error - self.noise) / (1.0 - self.noise * self._classes / (self._classes - 1))
        return self.calibrate(error - self.outputs * self.noise**2, target)

    def calibrate(self, error: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Return |f*|^2 mean|f - f*|^2 / mean|f*|^2 from a mean squared error (S,) on points with a target.

        Polynomials of degree 4 and more are heavy-tailed: a few points carry both the mean of |f*|^2 over thousands of
        points and the mean error, while |f*|^2 itself is known. The zero predictor has exactly its true risk.
        """
        exact = np.square(self.norm * self.factor)
        return error * exact / np.mean(np.sum(np.square(target), axis=-1), axis=-1)

    @property
    def _classes(self) -> int:
        """One output stands for two classes by its sign, more for one each."""
        return max(self.outputs, 2)

    def _labels(self, role: str, start: int, target: np.ndarray) -> np.ndarray:
        if self.noise == 0:
            return target
        streams, (_, count, outputs) = self.streams.at("label-noise", role), target.shape
        if self.teacher.kind == "classes" and outputs > 1:
            drawn = streams.rows(start, count, lambda generator, rows: generator.random((rows, 2)))
            shift = np.where(drawn[..., 0] < self.noise, 1 + (drawn[..., 1] * (outputs - 1)).astype(int), 0)
            labels = (np.argmax(target, axis=-1) + shift) % outputs
            return np.where(labels[..., None] == np.arange(outputs), np.max(target), np.min(target))
        if self.teacher.kind == "classes":
            uniform = streams.rows(start, count, lambda generator, rows: generator.random((rows, outputs)))
            return np.where(uniform < self.noise, -target, target)
        normal = streams.rows(start, count, lambda generator, rows: generator.standard_normal((rows, outputs)))
        return target + self.noise * normal


def wrong_classes(predictions: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the share of predictions (..., n, k) of another class than the labels (..., n, k): (...).

    The class is the sign of a single output, and the place of the largest of several.
    """
    if labels.shape[-1] > 1:
        return np.mean(np.argmax(predictions, axis=-1) != np.argmax(labels, axis=-1), axis=-1)
    return np.mean(np.sign(predictions) != np.sign(labels), axis=(-2, -1))


def pose(
    inputs: Input,
    teacher: Teacher,
    scale: str,
    noise: float,
    streams: Streams,
    held_out: int = 0,
    state: State | None = None,
) -> Problem:
    """Return the problem that a study describes; `state`: the teacher's parameters if they were drawn before."""
    state = contracts.teacher_state(teacher, streams.at("teacher"), inputs) if state is None else state
    norm = contracts.norm(teacher, state, inputs, len(streams.seeds))
    factor = 1.0 / norm if scale == "unit" else np.ones_like(norm)
    return Problem(inputs, teacher, state, factor, noise, streams, held_out)


@dataclass
class ProblemFeatures:
    """The points of a problem as a fitted representation shows them; what was computed once is kept."""

    problem: Problem
    representation: Representation
    state: State
    cache: dict[str, np.ndarray] = field(default_factory=dict)

    def draw(self, role: str, count: int, start: int = 0) -> np.ndarray:
        """Return features (S, count, D) float32 of points start .. start+count of `role`."""
        known = self.cache.get(role)
        if known is None or start + count > known.shape[1]:
            pool = self.problem.pools.get(role)
            if pool is None or start + count > pool.x.shape[1]:
                return self.of(self.problem.draw(role, count, start).x)
            known = self.cache[role] = self.of(pool.x)
        return known[:, start : start + count]

    def of(self, x: np.ndarray) -> np.ndarray:
        """Return features (S, n, D) float32 of points (S, n, *shape) that were drawn already."""
        return contracts.features(self.representation, self.state, x)

    def take(self, positions: Sequence[int]) -> "ProblemFeatures":
        """Return the same features for a part of the seeds."""
        return ProblemFeatures(
            self.problem.take(positions),
            self.representation,
            {name: values[positions] for name, values in self.state.items()},
            {role: values[positions] for role, values in self.cache.items()},
        )
