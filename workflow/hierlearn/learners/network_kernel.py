"""Kernel ridge regression with the kernel of a network of finite width at its random start."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from hierlearn.core.needs import Needs, Sizes
from hierlearn.core.parameters import Positive, Schema
from hierlearn.core.protocols import STATUS, Features, Fit, Learner, Monitor, Sample, State
from hierlearn.core.streams import Streams
from hierlearn.learners._selection import best_on_validation, error, fit_of_seed
from hierlearn.learners.networks.start import NetworkParameters
from hierlearn.solvers.networks.model import last_features, tangent_factors
from hierlearn.solvers.ridge import Indefinite, ridge_path

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
    batch_seeds: ClassVar[bool] = False
    stream_key: ClassVar[str] = "NetworkKernel"
    MEASURES = {"ridge_residual": "largest relative residual |(K + n ridge I) alpha - y| / |y| of an output"}

    class Choices:
        ridge: Annotated[Positive, "Ridges in units of the mean diagonal of the kernels of all outputs."]
        selected_on: Annotated[
            Literal["validation", "test"],
            Schema({"rule": "how the other choices are made"}),
            "Points on which the ridge is chosen; test is how allenzhu2019 chose learning rate and weight decay.",
        ] = "validation"

    def needs(self, sizes: Sizes) -> Needs:
        """The weights; activations and factors of the training points and of a block of others; kernels of all outputs.

        work: products with V there and back, and of the factors of two points, for every output.
        """
        n, width, outputs, test = sizes.samples, self.width, sizes.outputs, sizes.test
        square = width**2 if self.architecture == "three_layer" else 0
        shown = n + sizes.validation + test
        return Needs(
            memory={
                "fit": 2 * square + width * (2 * sizes.dimension + 3 * n + 3 * BLOCK_ROWS) + outputs * n * shown,
                "model": n * outputs,
                "predict": 3 * width * (n + BLOCK_ROWS) + outputs * test * n,
            },
            work={
                "fit": outputs * (4 * shown * (square + n * width) + sizes.choices * n**3),
                "predict": 4 * outputs * test * (square + n * width),
            },
            parallel=0.6,
        )

    def fit(self, sample: Sample, monitor: Monitor, cache: dict[Any, Any]) -> Fit:
        """State: coefficients (S, n, k) float64 on the first n training points, key (S, 4) int64 of the weights."""
        rule = sample.choices.get("selected_on", [self.Choices.selected_on])[0]
        # The weights themselves, of three layers a square matrix, would be most of what is stored.
        keys = sample.streams.at("start").stack(lambda generator: generator.integers(0, 2**63, 4))
        ridges, fits = tuple(sample.choices["ridge"]), []
        for i, (seed, key) in enumerate(zip(sample.problem.seeds, keys, strict=True)):
            place = ridges, sample.n, seed
            if place not in cache:
                cache[place] = self._solve(sample, ridges, i, key)
            fits.append(cache[place][rule])
        fit = Fit.stack(fits)
        if "selected_on" in sample.choices:
            fit.choices["selected_on"] = np.full(len(fits), ["validation", "test"].index(rule))
        return fit

    def predict(self, state: State, features: Features, role: str, count: int, cache: dict[Any, Any]) -> np.ndarray:
        """(S, count, k) float64."""
        coefficients, outputs = state["coefficients"], []
        points = self.with_bias(features.draw(role, count))
        support = self.with_bias(features.draw("training", coefficients.shape[1]))
        for i, alpha in enumerate(coefficients):
            place = role, i, len(alpha)
            if place not in cache:
                cache.clear()
                start = self._start(state["key"][i], points.shape[-1] - self.bias, alpha.shape[-1])
                cache[place] = [parts[1] for parts in self._kernels(start, support[[i]], [points[[i]]])]
            outputs.append(_outputs(cache[place], alpha[None])[0])
        return np.stack(outputs)

    def _start(self, key: np.ndarray, inputs: int, outputs: int) -> State:
        """The weights of a key, with a run of one in front."""
        return self.initial_weights(inputs, outputs, Streams((), (0,)).at(*key.tolist()))

    def _solve(self, sample: Sample, ridges: Sequence[float], i: int, key: np.ndarray) -> dict[str, Fit]:
        """The fit of one seed, by the points on which the ridge is chosen."""
        problem, n = sample.problem, sample.n
        kind, pool = problem.teacher.kind, problem.pools.get("test")
        counts = {"validation": problem.held_out} | ({} if pool is None else {"test": pool.x.shape[1]})
        labels = {role: problem.draw(role, count).labels[i] for role, count in counts.items()}
        sets = [("training", n), *counts.items()]
        x, *others = (self.with_bias(sample.features.draw(role, count))[[i]] for role, count in sets)
        y = problem.draw("training", n).labels[i]
        kernels = list(self._kernels(self._start(key, x.shape[-1] - self.bias, problem.outputs), x, others))
        absolute = np.array(ridges) * np.mean([np.mean(np.diag(parts[0])) for parts in kernels])
        try:
            columns = np.array_split(y, len(kernels), axis=1)
            paths = [ridge_path(parts[0], column, absolute) for parts, column in zip(kernels, columns, strict=True)]
        except Indefinite:
            risks = dict.fromkeys(("validation_risk", "train_risk", "flops"), np.nan)
            state, measures = {"coefficients": np.full(y.shape, np.nan), "key": key}, {"ridge_residual": np.nan}
            choices, status = {"ridge": ridges[0]}, STATUS["singular"]
            fit = fit_of_seed(state=state, status=status, choices=choices, measures=measures, **risks)
            return dict.fromkeys(counts, fit)
        alphas = np.concatenate([path.coefficients for path in paths], axis=-1)
        residuals = np.max([path.residuals for path in paths], axis=0)
        train = error(_outputs([parts[0] for parts in kernels], alphas), y, kind)
        outputs = {role: _outputs([parts[p] for parts in kernels], alphas) for p, role in enumerate(counts, start=1)}
        fits = {}
        for role in counts:
            place = best_on_validation(outputs[role], labels[role], kind)
            fits[role] = fit_of_seed(
                state={"coefficients": alphas[place], "key": key},
                status=STATUS["ok" if np.isfinite(alphas[place]).all() else "diverged"],
                validation_risk=error(outputs["validation"][place], labels["validation"], kind),
                train_risk=train[place],
                choices={"ridge": ridges[place]},
                measures={"ridge_residual": residuals[place]},
                flops=2.0 * len(kernels) * n * (n + sum(counts.values())) * self.width,
            )
        return fits

    def _kernels(self, start: State, x: np.ndarray, others: Sequence[np.ndarray]) -> Iterator[list[np.ndarray]]:
        """For each output, or once for all: the kernel of x (1, n, d) with itself and of others (1, n', d) with it."""
        outputs = range(start["last"].shape[-2]) if self.trained == "tangent" else [None]
        for j in outputs:
            factors_of_x = self._factors(start, x, j)
            across = [
                [
                    _product(self._factors(start, one[:, i : i + BLOCK_ROWS], j), factors_of_x)
                    for i in range(0, count, BLOCK_ROWS)
                ]
                for one, count in ((one, one.shape[1]) for one in others)
            ]
            # Of one array with itself BLAS makes a symmetric matrix.
            yield [_product(factors_of_x, factors_of_x), *(np.concatenate(blocks) for blocks in across)]

    def _factors(self, start: State, x: np.ndarray, output: int | None) -> list[tuple[np.ndarray, ...]]:
        """Arrays over the points whose products, entry by entry, add up to the kernel."""
        if output is None:
            return [(last_features(self.architecture, start, x)[0].astype(np.float64),)]
        (factors,) = tangent_factors(self.architecture, start, x, [output])
        return [tuple(factor[0].astype(np.float64) for factor in pair) for pair in factors]


def _product(factors, others) -> np.ndarray:
    """Sum over terms of the product over factors of left right^T: (n, p), (n', p) -> (n, n') float64."""
    terms = ([left @ right.T for left, right in zip(*pair, strict=True)] for pair in zip(factors, others, strict=True))
    return sum(term[0] if len(term) == 1 else term[0] * term[1] for term in terms)


def _outputs(kernels: Sequence[np.ndarray], alphas: np.ndarray) -> np.ndarray:
    """(R, n', k): kernels (n', n), one of every output or one for all, alphas (R, n, k)."""
    if len(kernels) == 1:
        return kernels[0] @ alphas
    return np.stack([alphas[..., j] @ kernel.T for j, kernel in enumerate(kernels)], axis=-1)
