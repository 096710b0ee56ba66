"""A function plus a small multiple of another one of its values: what a residual network can learn in two steps."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import prod, sqrt
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Interval

from hierlearn.core import contracts
from hierlearn.core.parameters import Count, NotNegative
from hierlearn.core.protocols import Input, Objection, State, Teacher
from hierlearn.core.streams import Streams
from hierlearn.teachers._directions import orthonormal_columns
from hierlearn.theory.activations import Elementwise, derivative

# Outputs of the parities, each a product of two of twice as many signs.
PARITIES = {"parities_8": 8, "parities_15": 15}
# Sampled norms: std(|H|^2) / (2 E|H|^2 sqrt(points)) of relative error, 0.2 % where |H|^2 spreads by its own size.
NORM_POINTS, NORM_BLOCK = 1 << 16, 1 << 12


@dataclass(frozen=True, kw_only=True)
class ResidualComposition(Teacher):
    """H(x) = beta F(x) + alpha G(F(x)), F: R^d -> R^k, G: R^k -> R^k  (allenzhu2019, Concept 1, eq. 5.1-5.2, Figure 2).

    Inputs of norm 1 and of norm sqrt(d) pose the same problem: z is x scaled to E|z|^2 = d, its signs s on the cube.

    - product (Section 7): F = (s_{i1}, ..., s_{ik}), G(y)_j = y_1 ... y_k for every j.
    - parities_8 (Figure 2): F = (s_1 s_2, ..., s_15 s_16), G = y_1 y_2 y_3 y_4 four times, then y_5 y_6 y_7 y_8.
    - parities_15 (a later version of it): F = (s_1 s_2, ..., s_29 s_30), G_i = (-1)^i y_1 y_2 y_3 y_4, i = 1 .. 15.
    - polynomial: F = Wz, W with orthonormal rows, G(y)_j = y_j y_{j+1} ... y_{j+p-1}, indices mod k.
    - powers (Section 2.1): F = Wz with two orthonormal rows, G(y)_1 = G(y)_2 = c (y_1^p - y_2^p) with E G_j^2 = 1: bare
      tenth powers of normal variables are 10^4 times as large as F.
    - smooth (eq. 5.2, Example 4.1): F_r = sum_i a_ri phi(<w_ri, z>), G alike in y, rows uniform on the sphere of
      radius 1/sqrt(2), a uniform on [-1, 1]; with `arguments` unit x scaled to norm 1 takes the place of z.

    Coordinates, W and the networks are redrawn per seed.
    """

    instance: Annotated[
        Literal["product", "parities_8", "parities_15", "polynomial", "powers", "smooth"],
        "product: F is k signs, G their product. parities_8, parities_15: F is 8 or 15 products of two signs,"
        " G products of four of them. polynomial: F is linear, G products of its coordinates. powers: F is "
        "two linear functions, G the difference of their powers. smooth: two networks with smooth "
        "activations.",
    ] = "product"
    alpha: Annotated[float, Interval(ge=0, lt=1), "Factor of G(F(x))."] = 0.3
    beta: Annotated[NotNegative, "Factor of F(x) where it stands alone."] = 1
    order: Annotated[int, Ge(2), "product, polynomial, smooth: number k of coordinates of F, and of outputs."] = 4
    degree: Annotated[
        int, Interval(ge=2, le=12), "polynomial: number of coordinates in a product; powers: the power."
    ] = 4
    base_activation: Annotated[
        Literal["sin", "exponential", "tanh"], "smooth: activation of F; exponential is exp - 1."
    ] = "sin"
    composite_activation: Annotated[Literal["sin", "exponential", "tanh"], "smooth: activation of G."] = "sin"
    base_neurons: Annotated[Count, "smooth: neurons p_F per output of F."] = 4
    composite_neurons: Annotated[Count, "smooth: neurons p_G per output of G."] = 4
    arguments: Annotated[
        Literal["unit", "sqrt_dimension"],
        "smooth: norm to which F scales x. unit is the letter of Concept 1, where F is the closer to a linear"
        " function the larger the dimension; with sqrt_dimension the arguments keep their size.",
    ] = "sqrt_dimension"
    stream_key: ClassVar[str] = "residual_composition"
    LAWS = ("hypercube", "sphere", "gaussian")

    def validate(self, inputs: Input) -> Iterator[Objection]:
        """Object to instances of other laws, more coordinates than there are, and targets without a second moment."""
        law, dimension, instance = inputs.law, inputs.dimension, self.instance
        exponentials = self.base_activation == self.composite_activation == "exponential"
        if law != "hypercube" and instance in ("product", *PARITIES):
            wanted = "polynomial, powers or smooth, or the input hypercube"
            yield "instance", f"{instance!r} with law {law!r}", wanted
        if law == "hypercube" and instance in ("polynomial", "powers"):
            wanted = "product, parities_8, parities_15 or smooth, or the input sphere or gaussian"
            yield "instance", f"{instance!r} with law {law!r}", wanted
        # The exponential of an exponential of a normal variable has no second moment, and of large arguments none in
        # reach.
        if law == "gaussian" and exponentials:
            found = "'exponential' with law 'gaussian', base_activation 'exponential'"
            yield "composite_activation", found, "sin or tanh for one of the two"
        if self.arguments == "sqrt_dimension" and exponentials:
            found = "'sqrt_dimension' with base_activation 'exponential', composite_activation 'exponential'"
            yield "arguments", found, "arguments unit, or sin or tanh for one of the two"
        if self.alpha == self.beta == 0:
            yield "beta", f"{self.beta} with alpha {self.alpha}", "one of them above 0"
        if instance in ("product", "polynomial") and self.order > dimension:
            yield "order", f"{self.order}", f"at most the dimension {dimension}"
        if instance == "polynomial" and self.degree > self.order:
            yield "degree", f"{self.degree}", f"at most the order {self.order}"
        if instance in PARITIES and 2 * PARITIES[instance] > dimension:
            yield "dimension", f"{dimension}", f"at least {2 * PARITIES[instance]} for {instance}"

    @property
    def outputs(self) -> int:
        """k."""
        return PARITIES.get(self.instance, 2 if self.instance == "powers" else self.order)

    def draw(self, streams: Streams, inputs: Input) -> State:
        """Draw by instance; product, parities: coordinates (S, c). polynomial, powers: rows (S, k, d) of F in x.

        powers: factor (S,), c. smooth: base_rows (S, k, p_F, d), base_coefficients (S, k, p_F), composite_rows
        (S, k, p_G, k), composite_coefficients (S, k, p_G), sampled_norm (S,). Raises ValueError where the instance does
        not suit the law, does not fit into d, or is zero.
        """
        self.raise_for(inputs)
        dimension, k = inputs.dimension, self.outputs
        if self.instance == "product" or self.instance in PARITIES:
            count = 2 * k if self.instance in PARITIES else k
            return {"coordinates": streams.at("coordinates").stack(lambda g: g.permutation(dimension)[:count])}
        # From x to z; a law without a choice of norm is one of norm 1.
        stretch = 1.0 if inputs.norm == "sqrt_dimension" else sqrt(dimension)
        if self.instance in ("polynomial", "powers"):
            rows = stretch * streams.at("rows").stack(lambda g: orthonormal_columns(g, dimension, k).T)
            if self.instance == "polynomial":
                return {"rows": rows}
            p = self.degree
            square = 2 * (_moment([2 * p], inputs) - _moment([p, p], inputs))
            return {"rows": rows, "factor": np.full(len(streams.seeds), square**-0.5)}
        if self.arguments == "unit":
            stretch /= sqrt(dimension)
        state = {}
        for part, neurons, size, scale in (
            ("base", self.base_neurons, dimension, stretch),
            ("composite", self.composite_neurons, k, 1.0),
        ):
            own = streams.at(part)
            rows = own.at("rows").stack(partial(_directions, shape=(k, neurons, size)))
            state[f"{part}_rows"] = scale * rows / sqrt(2)
            state[f"{part}_coefficients"] = own.at("coefficients").stack(partial(_between, shape=(k, neurons)))
        points = partial(contracts.points, inputs, streams.at("norm"), "norm", count=NORM_BLOCK)
        squares = (self.target(state, points(start=start)) ** 2 for start in range(0, NORM_POINTS, NORM_BLOCK))
        return state | {"sampled_norm": np.sqrt(sum(np.sum(one, axis=(1, 2)) for one in squares) / NORM_POINTS)}

    def parts(self, state: State, x: np.ndarray) -> dict[str, np.ndarray]:
        """Return beta F(x) as `base` and alpha G(F(x)) as `composite`, which sum to the target; (S, n, k) float64."""
        y = self.bases(state, x)
        return {"base": self.beta * y, "composite": self.alpha * self._composite(state, y)}

    def target(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return targets: (S, n, d) -> (S, n, k) float64."""
        return sum(self.parts(state, x).values(), start=np.zeros(()))

    def norm(self, state: State, inputs: Input) -> np.ndarray:
        """Return the L2 norm (S,), exact: F is orthogonal to G(F). smooth: an estimate from NORM_POINTS points."""
        if "sampled_norm" in state:
            return state["sampled_norm"]
        square = _moment([2] * self.degree, inputs) if self.instance == "polynomial" else 1.0
        seeds = len(next(iter(state.values())))
        return np.full(seeds, sqrt(self.outputs * (self.beta**2 + self.alpha**2 * square)))

    def degrees(self) -> tuple[int, ...]:
        """Return those of F and of G(F). smooth: the first of endlessly many, odd ones only if both are odd."""
        if self.instance == "smooth":
            return (1, 3) if "exponential" not in (self.base_activation, self.composite_activation) else (1, 2, 3)
        base, composite = {
            "product": ((1,), (self.order,)),
            "polynomial": ((1,), (self.degree,)),
            "powers": ((1,), tuple(range(self.degree, 0, -2))),
        }.get(self.instance, ((2,), (8,)))
        return tuple(sorted({*(base if self.beta else ()), *(composite if self.alpha else ())}))

    def bases(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return F(x), which the whole target is a function of: (S, n, d) -> (S, n, k)."""
        if self.instance == "smooth":
            activation = derivative(self.base_activation, 0)
            return _network(x, state["base_rows"], state["base_coefficients"], activation)
        if self.instance in ("polynomial", "powers"):
            return np.einsum("snd,skd->snk", x.astype(np.float64), state["rows"], optimize=True)
        signs = np.sign(np.take_along_axis(x, state["coordinates"][:, None, :], axis=-1)).astype(np.float64)
        return signs[..., ::2] * signs[..., 1::2] if self.instance in PARITIES else signs

    def _composite(self, state: State, y: np.ndarray) -> np.ndarray:
        """G(y): (S, n, k) -> (S, n, k)."""
        k = y.shape[-1]
        if self.instance == "product":
            return np.repeat(np.prod(y, axis=-1, keepdims=True), k, axis=-1)
        if self.instance == "parities_8":
            return np.repeat(np.prod(y.reshape(*y.shape[:-1], 2, 4), axis=-1), 4, axis=-1)
        if self.instance == "parities_15":
            return np.prod(y[..., :4], axis=-1, keepdims=True) * (-1.0) ** np.arange(1, k + 1)
        if self.instance == "polynomial":
            return np.prod([np.roll(y, -shift, axis=-1) for shift in range(self.degree)], axis=0)
        if self.instance == "powers":
            difference = y[..., :1] ** self.degree - y[..., 1:] ** self.degree
            return np.repeat(state["factor"][:, None, None] * difference, k, axis=-1)
        activation = derivative(self.composite_activation, 0)
        return _network(y, state["composite_rows"], state["composite_coefficients"], activation)


def _network(x: np.ndarray, rows: np.ndarray, coefficients: np.ndarray, activation: Elementwise) -> np.ndarray:
    """sum_i a_ri phi(<w_ri, x>): (S, n, d), (S, k, p, d), (S, k, p) -> (S, n, k)."""
    seeds, k, neurons, size = rows.shape
    inner = x.astype(np.float64) @ rows.reshape(seeds, k * neurons, size).swapaxes(1, 2)
    return np.einsum("snkp,skp->snk", activation(inner.reshape(*x.shape[:2], k, neurons)), coefficients)


def _directions(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Independent uniform points of the unit sphere along the last axis."""
    normal = generator.standard_normal(shape)
    return normal / np.linalg.norm(normal, axis=-1, keepdims=True)


def _between(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return generator.uniform(-1.0, 1.0, shape)


def _moment(powers: list[int], inputs: Input) -> float:
    """E z_1^{q_1} z_2^{q_2} ..., z with E|z|^2 = d, normal or on the sphere: 0 if a power is odd."""
    if any(power % 2 for power in powers):
        return 0.0
    normal = float(prod(prod(range(1, power, 2)) for power in powers))
    if inputs.law == "gaussian":
        return normal
    # |z|^2 of a normal point is independent of its direction.
    d = inputs.dimension
    return normal * prod(d / (d + 2 * j) for j in range(sum(powers) // 2))
