"""The two small targets with which backward feature correction is explained."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from hierlearn.core.parameters import NotNegative
from hierlearn.core.protocols import Input, Objection, State, Teacher
from hierlearn.core.streams import Streams
from hierlearn.theory.distributions import grid

# Coordinates that the targets use, and their degrees in a coordinate.
COORDINATES = {"toy_quartic": 3, "toy_two_level": 4}
DEGREES = {"toy_quartic": 4, "toy_two_level": 8}


@dataclass(frozen=True, kw_only=True)
class QuadraticToy(Teacher):
    """Quadratic networks of three layers on 3 or 4 of the coordinates  (allenzhu2020, eq. 1.1 and Section 1.2).

    - toy_quartic: S_2 = (u_1, sqrt(2) u_2), S_3 = u_1^2 + 2 u_2^2 + u_3; its features are linear in x.
    - toy_two_level: S_2 = (u_1^2, u_2^2), S_3 = (u_1^4 + u_3, u_2^4 + u_4), with squares that are not centred.

    G_1 = x^2 is not centred, which `centre` tells a student. The coordinates u of x are redrawn per seed, which a
    learner without preferred coordinates cannot notice.
    """

    instance: Annotated[
        Literal["toy_quartic", "toy_two_level"],
        "toy_quartic: u_1^2 + 2 u_2^2 + alpha (u_1^2 + 2 u_2^2 + u_3)^2. toy_two_level: u_1^4 + u_2^4 + alpha"
        " ((u_1^4 + u_3)^2 + (u_2^4 + u_4)^2).",
    ] = "toy_quartic"
    alpha: Annotated[NotNegative, "Weight of the higher layer."] = 0.1
    alpha_by: Annotated[
        Literal["weight", "variance"],
        "weight: alpha is the factor of the higher layer; variance: its variance over that of the lower.",
    ] = "weight"
    depth: ClassVar[int] = 3
    centre = 0.0
    stream_key: ClassVar[str] = "quadratic_toy"
    LAWS = ("gaussian", "uniform", "skewed")

    def validate(self, inputs: Input) -> Iterator[Objection]:
        """Object to fewer coordinates than the target has, or of another variance."""
        if inputs.dimension < COORDINATES[self.instance]:
            yield "dimension", f"{inputs.dimension}", f"at least {COORDINATES[self.instance]} for {self.instance}"
        if inputs.law == "gaussian" and inputs.norm != "sqrt_dimension":
            yield "instance", f"the input gaussian of norm {inputs.norm}", "norm sqrt_dimension"

    @property
    def layer_widths(self) -> tuple[int, ...]:
        """k_2 and k_3."""
        return (2, 1) if self.instance == "toy_quartic" else (2, 2)

    @property
    def links(self) -> tuple[tuple[int, ...], ...]:
        """J_2 and J_3, the layer 1 being x^2."""
        return ((0,) if self.instance == "toy_quartic" else (1,), (0, 2))

    def draw(self, streams: Streams, inputs: Any) -> State:
        """Draw coordinates (S, 3 or 4); return alphas (S, 2) and second_moment (S,), E G*^2 by a Gauss rule, too.

        Raises ValueError for another law, or too small a dimension.
        """
        self.raise_for(inputs)
        seeds, count = len(streams.seeds), COORDINATES[self.instance]
        coordinates = streams.at("coordinates").stack(lambda g: g.permutation(inputs.dimension)[:count])
        power = inputs.power if inputs.law == "skewed" else 1
        points, masses = grid(inputs.law, count, 2 * DEGREES[self.instance], power)
        lower, higher = self._sums(self._features(points))
        weight = self.alpha
        if self.alpha_by == "variance":
            of_lower, of_higher = (masses @ values**2 - (masses @ values) ** 2 for values in (lower, higher))
            weight = float(np.sqrt(self.alpha * of_lower / of_higher))
        square = masses @ (lower + weight * higher) ** 2
        return {
            "coordinates": coordinates,
            "alphas": np.tile([1.0, weight], (seeds, 1)),
            "second_moment": np.full(seeds, square),
        }

    def hidden(self, state: State, x: np.ndarray) -> dict[str, np.ndarray]:
        """Return the features before their squares: S_2 (S, n, 2), S_3 (S, n, 1 or 2), float64."""
        return self._features(np.take_along_axis(x, state["coordinates"][:, None, :], axis=-1).astype(np.float64))

    def parts(self, state: State, x: np.ndarray) -> dict[str, np.ndarray]:
        """Return what the layers add, as layer_2 and layer_3, whose sum is the target; (S, n, 1) float64 each."""
        lower, higher = (values[..., None] for values in self._sums(self.hidden(state, x)))
        return {"layer_2": lower, "layer_3": state["alphas"][:, 1, None, None] * higher}

    def target(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return targets: (S, n, d) -> (S, n, 1) float64."""
        return sum(self.parts(state, x).values(), start=np.zeros(()))

    def norm(self, state: State, inputs: Input) -> np.ndarray:
        """Return the L2 norm (S,) from E G*^2 as in `draw`, stored so that no job integrates again."""
        return np.sqrt(state["second_moment"])

    def degrees(self) -> tuple[int, ...]:
        """Return all degrees up to the largest."""
        return tuple(range(1, DEGREES[self.instance] + 1))

    def bases(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return the features of the second layer: (S, n, 2)."""
        return self.hidden(state, x)["S_2"]

    def _sums(self, hidden: dict[str, np.ndarray]) -> list[np.ndarray]:
        """Return what the two layers add but for the weight, (...) each."""
        return [np.sum(values**2, axis=-1) for values in hidden.values()]

    def _features(self, u: np.ndarray) -> dict[str, np.ndarray]:
        squares = u[..., :2] ** 2
        if self.instance == "toy_quartic":
            second = u[..., :2] * np.sqrt([1.0, 2.0])
            return {"S_2": second, "S_3": squares @ np.array([[1.0], [2.0]]) + u[..., 2:3]}
        return {"S_2": squares, "S_3": squares**2 + u[..., 2:4]}
