"""Networks of squares whose layers see all layers before them: targets that are learned layer by layer."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Interval, MinLen

from hierlearn.core import contracts
from hierlearn.core.parameters import Count, Index, NotNegative, Positive
from hierlearn.core.protocols import Input, Objection, State, Teacher
from hierlearn.core.streams import Streams
from hierlearn.teachers._directions import orthonormal_columns
from hierlearn.theory import quadratic_densenets
from hierlearn.theory.distributions import PRODUCT_LAWS, quadratic_feature_moments, rule

# The moments of layers that have none in closed form, see `draw`.
# More where one of them carries much of the norm, up to the last number.
MOMENT_POINTS, MOST_ERROR, MOST_POINTS = 1 << 17, 0.05, 1 << 21
# Of the second moment of Sum(G*_2) in one coordinate.
EXACT_DEGREE = 8


@dataclass(frozen=True, kw_only=True)
class QuadraticDensenet(Teacher):
    """G*(x) = sum_{l=2}^L alpha_l Sum(G*_l(x)), G*_l = (S*_l)^2, S*_l = sum_{j in J_l} W_lj G*_j  (allenzhu2020, 1.3).

    G*_0 = x and G*_1 = x^2 - E x^2. W_lj = U diag(s) V^T in R^{k_l x k_j} with random orthonormal U, V; with `unit`
    features W_l is then divided by the root of the mean variance of the coordinates of S*_l. All weights are redrawn
    per seed. Label noise makes it the agnostic setting.

    classes (Theorem 3.3): y = sgn(x_0 - E G* + G*(x_1, ..., x_{d-1})), the alphas scaled by one factor to Var G* = 1: a
    threshold of law N(-E G*, 1), independent of G*.

    misfit_of (agnostic without randomness, Theorem 3.2): the target is G* + e, E e^2 = misfit^2 = OPT up to what a
    network can make of e. wave: e = misfit sqrt(2) sin(frequency <u, x> + 1) for a random unit u; target: the same
    wave of (G* - E G*) / std G*; heavy: the first times |G* - E G*| / std G*, so that large targets are off by more.

    Resolved parameters are `layer_widths` (k_2 .. k_L), `links` (J_2 .. J_L) and state["alphas"] (S, L - 1).
    """

    depth: Annotated[int, Interval(ge=2, le=6), "Number L of layers, x being none."] = 3
    widths: Annotated[
        list[Count] | None, MinLen(1), "k_2 .. k_L, not growing; one: of all layers; null: 4, 2, 1, 1, ..."
    ] = None
    first_width: Annotated[Count | None, "k_2 in the place of what `widths` says; null: as it says."] = None
    graph: Annotated[
        list[Annotated[list[Index], MinLen(1)]] | None,
        MinLen(1),
        "J_2 .. J_L, the layers that each layer sees, 0 being x and 1 its centred squares; null: [0, 1], then"
        " [0, l - 1].",
    ] = None
    kappa: Annotated[
        float, Ge(1), "Singular values of all weights are drawn from [1/kappa, kappa], uniformly in their logarithm."
    ] = 1
    gap: Annotated[Positive, "alpha_{l+1} / alpha_l where `alphas` is null."] = 0.2
    last_gap: Annotated[
        Positive | None, "alpha_L / alpha_{L-1} in the place of what the gap or `alphas` say, for L >= 3."
    ] = None
    alphas: Annotated[
        list[NotNegative] | None, MinLen(1), "alpha_2 .. alpha_L; null: powers of the gap, alpha_2 = 1."
    ] = None
    alpha_by: Annotated[
        Literal["weight", "variance"],
        "weight: alpha is the factor of a layer; variance: the variance that the layer adds, over that of a "
        "layer with 1, layer 2 being left as it is.",
    ] = "weight"
    features: Annotated[
        Literal["unit", "drawn"],
        "unit: the weights of a layer are scaled together, so that the coordinates of S_l have mean variance "
        "1; drawn: left as drawn.",
    ] = "unit"
    kind: Annotated[
        Literal["regression", "classes"], "regression, or classes: the sign of the target less a normal threshold."
    ] = "regression"
    misfit_of: Annotated[Literal["none", "wave", "target", "heavy"], "What the misfit e is a function of."] = "none"
    misfit: Annotated[NotNegative, "Root of E e^2, in the target's own units."] = 0.4
    frequency: Annotated[Positive, "Frequency of e; a fast wave is no polynomial of low degree."] = 20.0
    stream_key: ClassVar[str] = "quadratic_densenet"
    LAWS = ("gaussian", "uniform", "gaussian_mixture", "skewed")

    def validate(self, inputs: Input) -> Iterator[Objection]:
        """Object to classes without a normal threshold, and networks that there are not."""
        if self.kind == "classes" and inputs.law != "gaussian":
            wanted = "regression, or the input gaussian, of which one coordinate is the threshold"
            yield "kind", f"'classes' with law {inputs.law!r}", wanted
        if self.kind == "classes" and self.misfit_of != "none":
            yield "misfit_of", f"{self.misfit_of!r} with classes", "none, or regression"
        yield from quadratic_densenets.faults(vars(self), {"name": inputs.law} | vars(inputs), inputs.dimension)

    def warnings(self, inputs: Input) -> Iterator[Objection]:
        """Warn of what is possible but outside the theorems, or cannot be measured."""
        yield from quadratic_densenets.warnings(vars(self), {"name": inputs.law} | vars(inputs), inputs.dimension)

    @property
    def layer_widths(self) -> tuple[int, ...]:
        """k_2 .. k_L."""
        return quadratic_densenets.layer_widths(self.depth, self.widths, self.first_width)

    @property
    def links(self) -> tuple[tuple[int, ...], ...]:
        """J_2 .. J_L."""
        return quadratic_densenets.links(self.depth, self.graph)

    def draw(self, streams: Streams, inputs: Input) -> State:
        """Draw weights_l_j (S, k_l, k_j) and alphas (S, L-1), and find what is known of the target.

        layer_means (S, L-1) and layer_covariance (S, L-1, L-1) are those of Sum(G*_2), ..., Sum(G*_L), mean (S,) and
        second_moment (S,) those of G*: exact for L = 2 and independent coordinates, else means over MOMENT_POINTS
        points of a stream of their own. norm_error (S,) is the relative standard error of the root of E G*^2: near 1 %
        for normal points at L = 3 and up to 4 % at L = 4, 0.2 to 0.5 % for uniform ones; where it would be above
        MOST_ERROR, at the alphas before any scaling by variances, there are more points. Raises ValueError where the
        parameters, the law and the dimension do not fit together.
        """
        self.raise_for(inputs)
        seeds = [self._one(streams.take([i]), inputs) for i in range(len(streams.seeds))]
        state = {name: np.stack([state[name] for state in seeds]) for name in seeds[0]}
        if self.misfit_of != "none":
            direction = streams.at("misfit").stack(lambda generator: generator.standard_normal(inputs.dimension))
            state["wave_direction"] = direction / np.linalg.norm(direction, axis=1, keepdims=True)
        return state

    def hidden(self, state: State, x: np.ndarray) -> dict[str, np.ndarray]:
        """Return S*_2 .. S*_L, before their squares, as S_2 .. S_L: (S, n, d) -> (S, n, k_l) float64 each."""
        return self._features(state, x)

    def parts(self, state: State, x: np.ndarray) -> dict[str, np.ndarray]:
        """Return alpha_l Sum(G*_l) as layer_2 .. layer_L, for classes threshold x_0 - E G*; (S, n, 1) float64 each.

        They sum to the target, for classes to what it is the sign of.
        """
        sums = self._sums(self.hidden(state, x)) * state["alphas"][:, None, :]
        found = {f"layer_{i + 2}": sums[..., i : i + 1] for i in range(self.depth - 1)}
        if self.kind == "classes":
            found["threshold"] = x[..., :1].astype(np.float64) - state["mean"][:, None, None]
        return found

    def target(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return targets: (S, n, d) -> (S, n, 1) float64; for classes -1 or +1."""
        total = sum(self.parts(state, x).values(), start=np.zeros(()))
        if self.misfit_of != "none":
            total = total + self._misfit(state, x, total)
        return np.where(total < 0, -1.0, 1.0) if self.kind == "classes" else total

    def norm(self, state: State, inputs: Input) -> np.ndarray:
        """Return the L2 norm (S,) from E G*^2 as in `draw`; 1 for classes."""
        misfit = 0.0 if self.misfit_of == "none" else self.misfit**2
        return np.ones(len(state["mean"])) if self.kind == "classes" else np.sqrt(state["second_moment"] + misfit)

    def degrees(self) -> tuple[int, ...]:
        """Return 1 .. 2^L."""
        return tuple(range(1, 2**self.depth + 1))

    def bases(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return S*_2, which every other layer is made from: (S, n, k_2)."""
        return self.hidden(state, x)["S_2"]

    def _misfit(self, state: State, x: np.ndarray, clean: np.ndarray) -> np.ndarray:
        """e at points (S, n, d) where G* is `clean` (S, n, 1): (S, n, 1)."""
        spread = np.sqrt(state["second_moment"] - state["mean"] ** 2)
        standard = (clean - state["mean"][:, None, None]) / spread[:, None, None]
        along = x.astype(np.float64) @ state["wave_direction"][:, :, None]
        wave = np.sin(self.frequency * (standard if self.misfit_of == "target" else along) + 1.0)
        return self.misfit * sqrt(2) * wave * (np.abs(standard) if self.misfit_of == "heavy" else 1.0)

    def _one(self, streams: Streams, inputs: Input) -> Mapping[str, Any]:
        """Return the state of one seed, without the seed's dimension."""
        size = inputs.dimension - (self.kind == "classes")
        state = self._weights(streams.at("weights").generators()[0], size)
        alphas = np.array(quadratic_densenets.layer_weights(self.depth, self.alphas, self.gap, self.last_gap))
        if self.depth == 2 and inputs.law in PRODUCT_LAWS:
            (means, moments), sums = self._exact(state, inputs), None
        else:
            points = partial(contracts.points, inputs, streams.at("moments"), "moments", count=MOMENT_POINTS)
            sums = self._sums(self._features(state, points(start=0), rescale=True))[0]
            while len(sums) < MOST_POINTS and _root_error((sums @ alphas) ** 2) > MOST_ERROR:
                more = self._features(state, points(start=len(sums)))
                sums = np.concatenate([sums, self._sums(more)[0]])
            means, moments = np.mean(sums, axis=0), sums.T @ sums / len(sums)
        covariance = moments - np.outer(means, means)
        if self.alpha_by == "variance":
            alphas = np.sqrt(alphas * covariance[0, 0] / np.diag(covariance))
        if self.kind == "classes":
            alphas = alphas / sqrt(alphas @ covariance @ alphas)
        return {name: values[0] for name, values in state.items()} | {
            "alphas": alphas,
            "layer_means": means,
            "layer_covariance": covariance,
            "mean": alphas @ means,
            "second_moment": alphas @ moments @ alphas,
            "norm_error": np.array(0.0 if sums is None else _root_error((sums @ alphas) ** 2)),
        }

    def _weights(self, generator: np.random.Generator, size: int) -> State:
        sizes = (size, size, *self.layer_widths)
        weights = {}
        for layer, sources in enumerate(self.links, start=2):
            for source in sources:
                k = sizes[layer]
                u, v = (orthonormal_columns(generator, rows, k) for rows in (k, sizes[source]))
                values = np.exp(np.log(self.kappa) * generator.uniform(-1.0, 1.0, k))
                weights[f"weights_{layer}_{source}"] = ((u * values) @ v.T)[None]
        return weights

    def _exact(self, state: State, inputs: Any) -> tuple[np.ndarray, np.ndarray]:
        """Scales the weights of layer 2 and returns E Sum(G*_2) (1,) and E Sum(G*_2)^2 (1, 1)."""
        size = inputs.dimension - (self.kind == "classes")
        nothing = np.zeros((1, self.layer_widths[0], size))
        parts = [state.get(f"weights_2_{source}", nothing)[0] for source in (0, 1)]
        power = inputs.power if inputs.law == "skewed" else 1
        covariance, fourth = quadratic_feature_moments(parts[0], parts[1], *rule(inputs.law, EXACT_DEGREE, power))
        variance = np.trace(covariance)
        factor = self._rescale(state, 2, variance / len(covariance))
        return np.array([variance * factor**2]), np.array([[fourth * factor**4]])

    def _rescale(self, state: State, layer: int, variance: float) -> float:
        """Return the factor that gives S*_l a variance of 1 from the one it has; the weights are multiplied by it."""
        factor = variance**-0.5 if self.features == "unit" else 1.0
        for source in self.links[layer - 2]:
            state[f"weights_{layer}_{source}"] = state[f"weights_{layer}_{source}"] * factor
        return factor

    def _features(self, state: State, x: np.ndarray, rescale: bool = False) -> dict[str, np.ndarray]:
        """S*_2 .. S*_L from those before them, (S, n, k_l) each; rescale: the weights of each layer by its own S*_l."""
        # For classes the first coordinate is the threshold's.
        x = (x[..., 1:] if self.kind == "classes" else x).astype(np.float64)
        seen, hidden = {0: x, 1: x**2 - 1.0}, {}
        for layer, sources in enumerate(self.links, start=2):
            terms = (seen[source] @ state[f"weights_{layer}_{source}"].swapaxes(1, 2) for source in sources)
            found = sum(terms, start=np.zeros(()))
            if rescale:
                found = found * self._rescale(state, layer, float(np.mean(np.var(found[0], axis=0))))
            hidden[f"S_{layer}"], seen[layer] = found, found**2
        return hidden

    def _sums(self, hidden: Mapping[str, np.ndarray]) -> np.ndarray:
        """Sum(G*_2) .. Sum(G*_L): (S, n, L-1)."""
        return np.stack([np.sum(one**2, axis=-1) for one in hidden.values()], axis=-1)


def _root_error(squares: np.ndarray) -> float:
    """Relative standard error of the root of a mean of squares (n,)."""
    return float(np.std(squares) / np.mean(squares) / (2 * sqrt(len(squares))))
