"""Sums of polynomials of one direction each."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import prod, sqrt
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Interval, MinLen

from hierlearn.core import contracts
from hierlearn.core.parameters import UNIQUE, Count, Positive, Schema
from hierlearn.core.protocols import Input, Objection, State, Teacher
from hierlearn.core.streams import Streams
from hierlearn.teachers._directions import orthonormal_columns
from hierlearn.theory.gegenbauer import hermite, orthonormal, quadrature

# An estimate of the norm to about half a per cent.
NORM_POINTS, NORM_BLOCK = 1 << 16, 1 << 12
# Terms cancel where the square of their sum is this share of what it could be: rounding of their products.
CANCELLED = 1e-12


@dataclass(frozen=True, kw_only=True)
class RidgePolynomial(Teacher):
    """f(x) = length^p sum_s alpha_s q_p(<beta_s, x>), |beta_s| = 1  (chen2020, eq. 5; bai2020, Section 5.2).

    q_p is the degree-p Gegenbauer polynomial on the sphere, the Hermite polynomial under a normal law (`gegenbauer`),
    or a power (`monomial`), of unit L2 norm under the law of <beta, x>; on the anisotropic sphere, which has powers
    only, with the factor of the uniform one.
    """

    degree: Annotated[int, Interval(ge=1, le=12), "Degree p of every term."] = 4
    basis: Annotated[
        Literal["gegenbauer", "monomial"], "gegenbauer: no component of degree below p; monomial: a bare power."
    ] = "gegenbauer"
    rank: Annotated[Count, "Number r* of terms."] = 1
    orthonormal: Annotated[bool, "Whether the directions are orthonormal (else independent on the sphere)."] = True
    directions: Annotated[
        list[Annotated[list[float], MinLen(1), Schema({"contains": {"not": {"const": 0}}})]] | None,
        MinLen(1),
        UNIQUE,
        "The directions themselves, each a list of at most d numbers, padded with zeros and scaled to norm 1;"
        " their number is the rank. null: drawn per seed.",
    ] = None
    coefficients: Annotated[list[float] | None, MinLen(1), "One factor alpha_s per term; null: all 1/sqrt(r)."] = None
    length: Annotated[Positive, "Norm of the directions: the target is multiplied by its p-th power."] = 1
    stream_key: ClassVar[str] = "ridge_polynomial"
    LAWS = ("sphere", "gaussian", "anisotropic_sphere")

    def validate(self, inputs: Input) -> Iterator[Objection]:
        """Object to polynomials of other laws, directions or coefficients that do not fit, and targets that are 0."""
        found = list(RidgePolynomial._misfits(self, inputs))
        yield from found or RidgePolynomial._vanishing(self, inputs)

    def _misfits(self, inputs: Input) -> Iterator[Objection]:
        if inputs.law == "gaussian" and inputs.norm != "sqrt_dimension":
            yield "basis", f"the input gaussian of norm {inputs.norm}", "norm sqrt_dimension"
        if inputs.law == "anisotropic_sphere" and self.basis != "monomial":
            yield "basis", f"{self.basis!r} with law {inputs.law!r}", "monomial, or another input"
        terms = self.rank if self.directions is None else len(self.directions)
        if self.orthonormal and self.directions is None and self.rank > inputs.dimension:
            yield "rank", f"{self.rank}", f"at most the dimension {inputs.dimension}"
        if self.coefficients is not None and len(self.coefficients) != terms:
            yield "coefficients", f"{len(self.coefficients)} of them", f"{terms}, one a term"
        if self.directions is not None and max(map(len, self.directions)) > inputs.dimension:
            yield "directions", "more entries than coordinates", f"at most the dimension {inputs.dimension}"

    def _vanishing(self, inputs: Input) -> Iterator[Objection]:
        """Terms whose sum is 0, or whose norm is no number; directions that are drawn do not cancel."""
        terms = self.rank if self.directions is None else len(self.directions)
        given = self.coefficients is not None
        alpha = np.asarray(self.coefficients if given else np.full(terms, 1.0 / sqrt(terms)), dtype=np.float64)
        with np.errstate(all="ignore"):
            power = np.float64(self.length) ** self.degree
            factors = alpha * power
            square, most = factors @ factors, np.sum(np.abs(factors)) ** 2
        if not alpha.any():
            yield "coefficients", "zeros only, a target of norm 0", "one other than 0"
        elif not 0 < square <= most < np.inf and 0 < power * power < np.inf:
            largest = alpha[np.argmax(np.abs(alpha))]
            yield "coefficients", f"{largest:g} as the largest", "factors whose squares are numbers above 0"
        elif not 0 < square <= most < np.inf:
            yield "length", f"{self.length:g} to the power {self.degree}", "factors whose squares are numbers above 0"
        elif self.directions is not None:
            with np.errstate(all="ignore"):
                directions = _unit_rows(self.directions, inputs.dimension)
            if not np.isfinite(directions).all():
                yield "directions", "one whose norm is 0 or no number", "directions that can be scaled to norm 1"
                return
            means = RidgePolynomial._means(self, inputs, np.clip(directions @ directions.T, -1.0, 1.0))
            if factors @ means @ factors <= CANCELLED * most:
                yield "directions", "terms that cancel, a target of norm 0", "terms whose sum is not 0"

    def draw(self, streams: Streams, inputs: Input) -> State:
        """Draw directions (S, r, d), coefficients (S, r) float64. Raises ValueError where they do not fit into d."""
        self.raise_for(inputs)

        def one(generator: np.random.Generator) -> np.ndarray:
            if self.orthonormal:
                return orthonormal_columns(generator, inputs.dimension, self.rank).T
            normal = generator.standard_normal((inputs.dimension, self.rank))
            return (normal / np.linalg.norm(normal, axis=0)).T

        seeds = len(streams.seeds)
        if self.directions is None:
            directions = streams.at("directions").stack(one)
        else:
            directions = np.repeat(_unit_rows(self.directions, inputs.dimension)[None], seeds, axis=0)
        terms = directions.shape[1]
        alpha = np.full(terms, 1 / sqrt(terms)) if self.coefficients is None else self.coefficients
        factors = np.asarray(alpha, dtype=np.float64) * self.length**self.degree
        state = {
            "directions": directions,
            "coefficients": np.repeat(factors[None], seeds, axis=0),
            "on_sphere": np.full(seeds, inputs.law != "gaussian").astype(np.int8),
        }
        if inputs.law == "anisotropic_sphere":
            points = partial(contracts.points, inputs, streams.at("norm"), "norm", count=NORM_BLOCK)
            targets = [self.target(state, points(start=start)) for start in range(0, NORM_POINTS, NORM_BLOCK)]
            state["sampled_norm"] = np.sqrt(np.mean(np.concatenate(targets, axis=1)[..., 0] ** 2, axis=1))
        return state

    def target(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return targets: (S, n, d) -> (S, n, 1) float64."""
        t, dimension, sphere = _projections(state, x), x.shape[-1], bool(state["on_sphere"][0])
        if self.basis == "gegenbauer":
            terms = _polynomial(self.degree, dimension, t, sphere)
        else:
            # E t^{2 p}: (2 p - 1)!! under N(0, I), over d (d + 2) ... on the sphere.
            steps = range(0, 2 * self.degree, 2)
            terms = t**self.degree / sqrt(prod((j + 1) / (dimension + j) if sphere else j + 1 for j in steps))
        return np.sum(terms * state["coefficients"][:, None, :], axis=-1, keepdims=True)

    def norm(self, state: State, inputs: Input) -> np.ndarray:
        """Return the L2 norm (S,), exact: ridge functions' products have closed-form means in inner products.

        On the anisotropic sphere the estimate from NORM_POINTS points that `draw` made.
        """
        if "sampled_norm" in state:
            return state["sampled_norm"]
        gram = np.clip(np.einsum("srd,std->srt", state["directions"], state["directions"]), -1.0, 1.0)
        alpha = state["coefficients"]
        return np.sqrt(np.einsum("sr,srt,st->s", alpha, self._means(inputs, gram), alpha))

    def degrees(self) -> tuple[int, ...]:
        """Return p alone for `gegenbauer`; the positive degrees of a power."""
        return (self.degree,) if self.basis == "gegenbauer" else tuple(range(self.degree, 0, -2))

    def bases(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return q_1 .. q_{ceil(p/2)} of all directions: quadratic models of them reach degree p (chen2020, 4.2)."""
        t, sphere, half = _projections(state, x), bool(state["on_sphere"][0]), (self.degree + 1) // 2
        return np.concatenate([_polynomial(j, x.shape[-1], t, sphere) for j in range(1, half + 1)], axis=-1)

    def _means(self, inputs: Input, cosine: np.ndarray) -> np.ndarray:
        """E q_p(<b, x>) q_p(<b', x>) at <b, b'> = cosine."""
        weights = RidgePolynomial._weights(self, inputs)
        correlation = partial(RidgePolynomial._correlation, self)
        means = (weight * correlation(k, inputs, cosine) for k, weight in enumerate(weights) if weight)
        return sum(means, start=np.zeros(()))

    def _weights(self, inputs: Input) -> list[float]:
        """Squared coefficients of q_p in the orthonormal polynomials of degree 0 .. p."""
        if self.basis == "gegenbauer":
            return [0.0] * self.degree + [1.0]
        sphere = inputs.law == "sphere"
        if sphere:
            nodes, masses = quadrature(inputs.dimension, self.degree + 1)
        else:
            nodes, masses = np.polynomial.hermite_e.hermegauss(self.degree + 1)
            masses = masses / np.sum(masses)
        basis = [_polynomial(k, inputs.dimension, nodes, sphere) for k in range(self.degree + 1)]
        power = nodes**self.degree / np.sqrt(np.sum(masses * nodes ** (2 * self.degree)))
        return [float(np.sum(masses * power * values)) ** 2 for values in basis]

    def _correlation(self, degree: int, inputs: Input, cosine: np.ndarray) -> np.ndarray:
        """E q_k(<b, x>) q_k(<b', x>) at <b, b'> = cosine."""
        if inputs.law == "gaussian":
            return cosine**degree
        return orthonormal(degree, inputs.dimension, cosine) / orthonormal(degree, inputs.dimension, np.ones(()))


def _unit_rows(directions: list[list[float]], dimension: int) -> np.ndarray:
    """Directions padded with zeros and scaled to norm 1: (r, d)."""
    padded = [[*beta, *[0.0] * (dimension - len(beta))] for beta in directions]
    return np.asarray(padded) / np.linalg.norm(padded, axis=1, keepdims=True)


def _projections(state: State, x: np.ndarray) -> np.ndarray:
    return np.einsum("snd,srd->snr", x.astype(np.float64), state["directions"], optimize=True)


def _polynomial(degree: int, dimension: int, t: np.ndarray, sphere: bool) -> np.ndarray:
    """Return the Gegenbauer or Hermite polynomial of unit L2 norm at projections t."""
    return orthonormal(degree, dimension, t) if sphere else hermite(degree, t)
