"""What a student DenseNet is: depth, graph and weights of its layers, and what it predicts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hierlearn.core.protocols import Data, State, Teacher
from hierlearn.learners._runs import BLOCK_ROWS
from hierlearn.learners.densenets.parameters import USUAL_DEPTH
from hierlearn.solvers.densenets.model import Layout
from hierlearn.theory import quadratic_densenets

# Without a teacher that is such a network itself: the weight of a layer over that of the one before.
USUAL_GAP = 0.2


@dataclass(frozen=True)
class Student:
    """What a student has in common with its teacher, resolved for every seed.

    links: J_2 .. J_L; alphas (S, L - 1); scale (S,): what F is multiplied with to be in the problem's units; mean (S,):
    what is taken off the first coordinate to give the threshold of classes, None where there is no threshold; stretch:
    factor of points that gives coordinates of variance 1; centre: what G_1 = x^2 - centre has, 1 but for teachers whose
    squares are not centred; widths: the teacher's k_2 .., if it has them.
    """

    links: tuple[tuple[int, ...], ...]
    alphas: np.ndarray
    scale: np.ndarray
    mean: np.ndarray | None
    stretch: float
    centre: float = 1.0
    widths: tuple[int, ...] | None = None

    @property
    def depth(self) -> int:
        """L."""
        return len(self.links) + 1

    @classmethod
    def of(cls, learner: Any, data: Data) -> "Student":
        """Return the student on some data: what the learner leaves open is taken from the teacher, if known.

        Raises ValueError where graph or alphas do not fit the depth.
        """
        # The truth behind the labels, where it is a network of squares.
        truth = data.oracle if data.oracle is not None and data.oracle.teacher.links is not None else None
        known = () if truth is None else truth.teacher.links or ()
        depth = learner.depth or (USUAL_DEPTH if truth is None else len(known) + 1)
        # Whether every layer has one of the teacher's.
        alike = truth is not None and depth <= len(known) + 1
        if learner.graph is None and alike:
            links = tuple(known[: depth - 1])
        else:
            links = quadratic_densenets.links(depth, learner.graph)
        for layer, below in enumerate(links, start=2):
            if not below or not set(below) <= set(range(layer)):
                raise ValueError(f"graph: layer {layer} sees {list(below)}; expected earlier layers, 0 to {layer - 1}")
        if truth is not None and learner.alphas is None and learner.gap is None and alike:
            alphas = truth.state["alphas"][:, : depth - 1]
        else:
            weights = quadratic_densenets.layer_weights(depth, learner.alphas, learner.gap or USUAL_GAP)
            alphas = np.tile(weights, (len(data.seeds), 1))
        if not len(links) == alphas.shape[1] == depth - 1:
            raise ValueError(f"graph and alphas: {len(links)} and {alphas.shape[1]} layers; expected {depth - 1} each")
        widths = truth.teacher.layer_widths if truth is not None and alike else None
        return cls(
            links,
            np.asarray(alphas, dtype=np.float64),
            np.ones(len(data.seeds)) if truth is None else truth.factor,
            truth.state["mean"] if truth is not None and data.kind == "classes" else None,
            float(np.sqrt(data.dimension)) if data.points_norm == "unit" else 1.0,
            Teacher.centre if data.oracle is None else data.oracle.teacher.centre,
            None if widths is None else widths[: depth - 1],
        )

    def columns(self, x: np.ndarray) -> int:
        """Count d, the columns of points (S, n, ...) that F sees."""
        return int(np.prod(x.shape[2:])) - (self.mean is not None)

    def constants(self) -> State:
        """Return what `predict` needs beside the weights, S first."""
        seeds = len(self.scale)
        table = [np.isin(range(self.depth), below) for below in self.links]
        known = {
            "links": np.repeat(np.array([table], np.int8), seeds, axis=0),
            "scale": self.scale,
            "stretch": np.full(seeds, self.stretch),
            "centre": np.full(seeds, self.centre),
        }
        return known | ({} if self.mean is None else {"threshold_mean": self.mean})

    @classmethod
    def from_state(cls, state: State) -> "Student":
        """Return the student whose weights and `constants` are given."""
        links = tuple(tuple(np.flatnonzero(row).tolist()) for row in state["links"][0])
        mean = state.get("threshold_mean")
        return cls(links, state["alphas"], state["scale"], mean, float(state["stretch"][0]), float(state["centre"][0]))

    def network_input(self, x: np.ndarray, layout: Layout) -> np.ndarray:
        """Join x and G_1 side by side, and the threshold of classes: (S, n, ...) -> (S, n, 2 d (+ 1)) float32, for
        points in float64 float64."""
        x, precision = x.reshape(*x.shape[:2], -1), np.promote_types(x.dtype, np.float32)
        inner = x if self.mean is None else x[..., 1:]
        joined = layout.join((self.stretch * inner).astype(precision), self.centre)
        if self.mean is None:
            return joined
        return np.concatenate([joined, (x[..., :1] - self.mean[:, None, None]).astype(precision)], axis=-1)


def predict(student: Student, layout: Layout, x: np.ndarray, network: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Predict (S, n, 1) float64, problem's units, at points (S, n, ...); network: of a block of inputs, F (S, b, 1)."""
    parts = []
    with np.errstate(over="ignore", invalid="ignore"):
        for i in range(0, x.shape[1], BLOCK_ROWS):
            inputs = student.network_input(x[:, i : i + BLOCK_ROWS], layout)
            outputs = network(inputs)
            if student.mean is not None:
                outputs = outputs + inputs[..., 2 * layout.inputs :]
            parts.append(outputs * student.scale[:, None, None])
    return np.concatenate(parts, axis=1)


def sum_of_layers(student: Student, arguments: Sequence[np.ndarray]) -> np.ndarray:
    """Sum the layers to F (S, n, 1) float64; arguments: what is squared in F_2 .. F_L."""
    sums = np.stack([np.sum(np.square(values, dtype=np.float64), axis=-1) for values in arguments], axis=-1)
    return np.sum(sums * student.alphas[:, None, :], axis=-1, keepdims=True)
