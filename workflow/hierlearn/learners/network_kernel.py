"""Kernel ridge regression with the kernel of a network of finite width at its random start."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from hierlearn.core.needs import Needs, Sizes
from hierlearn.core.parameters import Positive
from hierlearn.core.protocols import STATUS, Features, Fit, Learner, Monitor, State, TrainingData
from hierlearn.core.streams import Streams
from hierlearn.learners._dual import say_dropped
from hierlearn.learners._selection import (
    SelectionRule,
    best_on_validation,
    error,
    fit_of_seed,
    points_of_rules,
    stack_by_rule,
)
from hierlearn.learners.networks.start import NetworkParameters
from hierlearn.solvers.networks import last_features, tangent_factors
from hierlearn.solvers.ridge import usable_paths

BLOCK_ROWS = 512


@dataclass(frozen=True, kw_only=True)
class NetworkKernel(NetworkParameters, Learner):
    """Every output on its own by kernel ridge regression with a kernel of `solvers.networks` at the start.

    tangent: f_j(x) = <grad_{W,V} f_j(x), Delta_j>, a displacement Delta_j of its own for every output, which is where
    the network's linearisation differs: its outputs share one (learner network, trained: tangent). last: f(x) = A h(x),
    h what the last layer sees. One ridge for all outputs, as one weight decay, chosen by the error summed over them:
    gradient descent with that weight decay comes to it in the end  (allenzhu2019, Figure 2). The weights at the start
    are the seed's, float32; kernels and the solve are float64. Without a ridge that makes every output's matrix
    positive definite the status is `singular`.
    """

    trained: Annotated[
        Literal["tangent", "last"],
        "tangent: the tangent kernel of W and V, one for each output; last: the conjugate kernel of A.",
    ] = "tangent"
    stream_key: ClassVar[str] = "NetworkKernel"
    MEASURES = {"ridge_residual": "largest relative residual |(K + n ridge I) alpha - y| / |y| of an output"}

    class Choices(SelectionRule):
        ridge: Annotated[Positive, "Ridges in units of the mean diagonal of the kernels of all outputs."]

    def needs(self, sizes: Sizes) -> Needs:
        """Count weights; activations, factors of the training points and of a block of others; kernels of all outputs,
        and displacements of one.

        work: products with V there and back and of the factors of two training points for every output; displacements
        and what they predict, or kernels where these cost less.
        """
        n, width, outputs, test = sizes.samples, self.width, sizes.outputs, sizes.test
        square = width**2 if self.architecture == "three_layer" else 0
        others = sizes.validation + test
        return Needs(
            memory={
                "fit": 2 * square + width * (2 * sizes.dimension + 5 * n + 3 * BLOCK_ROWS) + outputs * n * (n + others),
                "model": n * outputs,
                "predict": 2 * square
                + width * (2 * sizes.dimension + 5 * n + 3 * BLOCK_ROWS)
                + (width + outputs) * test,
            },
            work={
                "fit": outputs * (4 * (n + others) * square + (n + others) * n * width + sizes.choices * n**3),
                "predict": 4 * outputs * (n + test) * (square + min(n, width) * width),
            },
            parallel=0.6,
        )

    def fit(self, sample: TrainingData, monitor: Monitor, cache: dict[Any, Any]) -> Fit:
        """Fit all seeds; state: coefficients (S, n, k) float64 of training points, key (S, 4) int64 of the weights."""
        # The weights themselves, of three layers a square matrix, would be most of what is stored.
        keys = sample.streams.at("start").stack(lambda generator: generator.integers(0, 2**63, 4))
        ridges, fits = tuple(sample.choices["ridge"]), []
        for i, (seed, key) in enumerate(zip(sample.data.seeds, keys, strict=True)):
            place = ridges, sample.n, seed
            if place not in cache:
                cache[place] = self._solve(sample, ridges, i, key)
            fits.append(cache[place])
        return stack_by_rule(sample, fits)

    def predict(self, state: State, features: Features, role: str, count: int, cache: dict[Any, Any]) -> np.ndarray:
        """Return predictions (S, count, k) float64."""
        points = self.with_bias(features.draw(role, count))
        support = self.with_bias(features.draw("training", state["coefficients"].shape[1]))
        outputs = []
        for i, alpha in enumerate(state["coefficients"]):
            start = self._start(state["key"][i], points.shape[-1] - self.bias, alpha.shape[-1])
            if self.trained == "tangent":
                outputs.append(self._outputs(start, support[[i]], alpha[None], [points[[i]]])[0][0])
                continue
            # Most of the time goes into what a wide last layer sees: other coefficients on the same points share it.
            place = role, i, len(alpha)
            if place not in cache:
                cache.clear()
                parts = np.array_split(points[[i]], -(-count // BLOCK_ROWS), axis=1)
                cache[place] = [last_features(self.architecture, start, part)[0] for part in (support[[i]], *parts)]
            known, *blocks = cache[place]
            weights = known.T.astype(np.float64) @ alpha
            outputs.append(np.concatenate([block.astype(np.float64) @ weights for block in blocks]))
        return np.stack(outputs)

    def _start(self, key: np.ndarray, inputs: int, outputs: int) -> State:
        """Return the weights of a key, with a run of one in front."""
        return self.initial_weights(inputs, outputs, Streams((), (0,)).at(*key.tolist()))

    def _solve(self, sample: TrainingData, ridges: ArrayLike, i: int, key: np.ndarray) -> dict[str, Fit]:
        """Return the fit of one seed, by the points on which the ridge is chosen."""
        data, n = sample.data, sample.n
        kind, counts = data.kind, points_of_rules(data)
        labels = {role: data.draw(role, count).labels[i] for role, count in counts.items()}
        sets = [("training", n), *counts.items()]
        x, *others = (self.with_bias(sample.features.draw(role, count))[[i]] for role, count in sets)
        y = data.draw("training", n).labels[i]
        start = self._start(key, x.shape[-1] - self.bias, data.outputs)
        kernels = list(self._kernels(start, x))
        offered = np.asarray(ridges, np.float64)
        with np.errstate(over="ignore"):
            absolute = offered * np.mean([np.mean(np.diag(kernel)) for kernel in kernels])
        usable, paths = usable_paths(kernels, np.array_split(y, len(kernels), axis=1), absolute)
        if paths is None:
            risks = dict.fromkeys(("validation_risk", "train_risk", "flops"), np.nan)
            state, measures = {"coefficients": np.full(y.shape, np.nan), "key": key}, {"ridge_residual": np.nan}
            choices, status = {"ridge": offered[0]}, STATUS["singular"]
            fit = fit_of_seed(state=state, status=status, choices=choices, measures=measures, **risks)
            return dict.fromkeys(counts, fit)
        if len(usable) < len(offered):
            say_dropped("network kernel", n, offered, absolute, usable)
            offered = offered[usable]
        alphas = np.concatenate([path.coefficients for path in paths], axis=-1)
        residuals = np.max([path.residuals for path in paths], axis=0)
        columns = [alphas] if len(kernels) == 1 else np.moveaxis(alphas, -1, 0)[..., None]
        fitted = np.concatenate([kernel @ part for kernel, part in zip(kernels, columns, strict=True)], axis=-1)
        train = error(fitted, y, kind)
        outputs = dict(zip(counts, self._outputs(start, x, alphas, others), strict=True))
        fits = {}
        for role in counts:
            place = best_on_validation(outputs[role], labels[role], kind)
            fits[role] = fit_of_seed(
                state={"coefficients": alphas[place], "key": key},
                status=STATUS["ok" if np.isfinite(alphas[place]).all() else "diverged"],
                validation_risk=error(outputs["validation"][place], labels["validation"], kind),
                train_risk=train[place],
                choices={"ridge": offered[place]},
                measures={"ridge_residual": residuals[place]},
                flops=2.0 * len(kernels) * n * (n + sum(counts.values())) * self.width,
            )
        return fits

    def _kernels(self, start: State, x: np.ndarray) -> Iterator[np.ndarray]:
        """For each output, or once for all: the kernel (n, n) float64 of x (1, n, d)."""
        shared: list[np.ndarray] = []
        for j in self._alone(start):
            pairs = self._factors(start, x, j)
            # Of one array with itself BLAS makes a symmetric matrix.
            terms = [pair[0] @ pair[0].T for pair in pairs]
            # What the weights see is the same for all outputs.
            shared = shared or [pair[1] @ pair[1].T for pair in pairs if len(pair) > 1]
            for term, other in zip(terms, shared, strict=False):
                term *= other
            yield sum(terms)

    def _outputs(
        self, start: State, x: np.ndarray, alphas: np.ndarray, others: Sequence[np.ndarray]
    ) -> list[np.ndarray]:
        """(R, n', k) float64 at each of others (1, n', d): of coefficients (R, n, k) on x (1, n, d)."""
        count = sum(other.shape[1] for other in others)
        found = [np.empty((len(alphas), other.shape[1], alphas.shape[-1])) for other in others]
        for j in self._alone(start):
            columns = slice(None) if j is None else slice(j, j + 1)
            models = [_model(pair, alphas[..., columns], count) for pair in self._factors(start, x, j)]
            for one, outputs in zip(others, found, strict=True):
                for i in range(0, one.shape[1], BLOCK_ROWS):
                    rows = slice(i, i + BLOCK_ROWS)
                    pairs = self._factors(start, one[:, rows], j)
                    outputs[:, rows, columns] = sum(model(*pair) for model, pair in zip(models, pairs, strict=True))
        return found

    def _alone(self, start: State) -> Sequence[int | None]:
        """Return the outputs that have a kernel of their own; None for one of all."""
        return range(start["last"].shape[-2]) if self.trained == "tangent" else [None]

    def _factors(self, start: State, x: np.ndarray, output: int | None) -> list[tuple[np.ndarray, ...]]:
        """Arrays over the points whose products, entry by entry, add up to the kernel."""
        if output is None:
            return [(last_features(self.architecture, start, x)[0].astype(np.float64),)]
        (factors,) = tangent_factors(self.architecture, start, x, [output])
        return [tuple(factor[0].astype(np.float64) for factor in pair) for pair in factors]


def _model(pair: tuple[np.ndarray, ...], alphas: np.ndarray, points: int) -> Callable[..., np.ndarray]:
    """Factors of n' points -> (R, n', k): what coefficients (R, n, k) on points with these factors predict there.

    Of two factors, (n, p) and (n, q), k is 1: by the displacement (p, q) of the weights, or by the kernel where that
    costs less for so many points.
    """
    if len(pair) == 1:
        weights = pair[0].T @ alphas
        return lambda features: features @ weights
    left, right = pair
    n, entries = len(left), left.shape[1] * right.shape[1]
    if len(alphas) * (n + points) * entries < n * points * (left.shape[1] + right.shape[1]):
        moves = [left.T @ (right * alpha) for alpha in alphas]
        return lambda a, b: np.stack([np.vecdot(a, b @ move.T) for move in moves])[..., None]
    return lambda a, b: ((a @ left.T) * (b @ right.T)) @ alphas
