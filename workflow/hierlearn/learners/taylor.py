"""Taylor models of a wide two-layer network on a representation: NTK-h (order 1), Quad-h (order 2), and beyond."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from hierlearn.core.needs import Needs, Sizes
from hierlearn.core.parameters import Count, Even, Index, Positive
from hierlearn.core.protocols import (
    STATIONARY,
    STATUS,
    Features,
    Fit,
    Input,
    Labels,
    Learner,
    Monitor,
    Objection,
    Representation,
    State,
    TrainingData,
)
from hierlearn.learners._dual import cross_gram_matrix, fit_dual, gram_matrix
from hierlearn.learners._selection import best_on_validation, error, fit_of_seed, loss_of_classes, points_by_seed
from hierlearn.learners._symmetric_gates import Loss, first_layers, gates_of, linear_outputs, normal, signs_of
from hierlearn.solvers.losses import LOSSES
from hierlearn.solvers.taylor import training as solver
from hierlearn.solvers.taylor.certificate import certify_and_polish
from hierlearn.theory.activations import ANALYTIC_GATES
from hierlearn.theory.expressivity import taylor_reaches

BLOCK_ROWS = 2048
# Directions whose second moment is below this part of the largest are rounding.
ROUNDING = 1e-10
# With `certify: some` one of so many seeds is certified; which one changes so many times in a factor of 2 of the
# samples, so that over sizes all have their turn: a prime, so that they do where a study leaves sizes out. A
# certificate takes several times what the training took.
CERTIFIED_SEEDS, CERTIFIED_SIZES = 11, 4


@dataclass(frozen=True)
class _Seed:
    """What one seed's model is made of and trained on, in the order in which `fit` gives it.

    w0 (m/2, D), root (D, D) or None, h (n, D) and labels (n, k), and the same of validation points.
    """

    seed: int
    generator: np.random.Generator
    w0: np.ndarray
    root: np.ndarray | None
    h: np.ndarray
    labels: np.ndarray
    validation: np.ndarray
    validation_labels: np.ndarray


@dataclass(frozen=True, kw_only=True)
class Taylor(Learner):
    """f(x) = 1/(sqrt(m) k!) sum_r a_r sigma^(k)(<w0_r, h(x)>) <w_r, h(x)>^k, k = order  (chen2020; bai2020, Section 6).

    Symmetric initialisation (bai2020, eq. 3): a = (+1 ... +1, -1 ... -1), the second half of w0 a copy of the first,
    w0_r ~ N(0, I). Above order 1, mean loss + ridge |W|_{2,4}^power (for the power 2 ridge |W|_F^2) is minimised by
    descents along the ridges until it has settled; those points that `certify` names are then brought to a certified
    second-order stationary point. Order 1 with squared loss is solved exactly. All outputs have the same w0, and are
    otherwise trained by themselves.

    At every order f is odd in h with erf and sin, and even with softplus (but for a linear part at order 1).

    The regulariser `data` is chen2020's alternative to whitening (Section 4.2): sum_r |S^{1/2} w_r|^4 with S the second
    moment of the unwhitened h. In u = S^{1/2} w it is the plain one of weights on the whitened S^{-1/2} h, while the
    gates stay those of h; a ridge means the same as on the whitened representation.

    Raises ValueError for what it objects to, of targets and representations in `fit`.
    """

    order: Annotated[
        Literal[1, 2, 3, 4], "Order k of the expansion: 1 is NTK-h, 2 is Quad-h; 3 and 4 need erf, sin or softplus."
    ] = 2
    activation: Annotated[
        Literal["relu2", "relu3", "erf", "sin", "softplus"],
        "sigma: relu2 is relu^2 / 2 (chen2020), relu3 is relu^3 / 6 (bai2020), the others are analytic.",
    ] = "relu2"
    width: Annotated[Even, "Number m of neurons, even."] = 8
    loss: Loss = "squared"
    penalty_power: Annotated[
        Literal[2, 4, 8],
        "From order 2: power of |W|_{2,4}, 4 (chen2020, eq. 2) or 8 (bai2020, Section 4); 2: |W|_F^2.",
    ] = 4
    regulariser: Annotated[
        Literal["plain", "data"],
        "plain: norms |w_r|; data: norms |S^{1/2} w_r|, S the second moment of unlabelled features.",
    ] = "plain"
    start: Annotated[Positive, "Size of <w_r, h> m^{1/(2k)} at the random start, as W = 0 is stationary."] = 0.1
    tolerance: Annotated[
        Positive, "The descent ends when ten iterations lower the objective by less than this part of it."
    ] = 2.0e-3
    max_iterations: Annotated[Count, "Most iterations per ridge."] = 500
    certify: Annotated[
        Literal["all", "some", "none"],
        "Which chosen points are polished and certified: all, one of eleven seeds (which one changes with n), or none.",
    ] = "all"
    polish_rounds: Annotated[Index, "Most attempts to repair a chosen point that fails its certificate."] = 4
    stream_key: ClassVar[str] = "Taylor"
    MEASURES = {"ridge_residual": "relative residual |(K + n ridge I) alpha - y| / |y| at the chosen ridge"}

    class Choices:
        ridge: Annotated[
            Positive, "Order 1: in units of the Gram matrix's mean diagonal. Above: for features with |h|^2 = D."
        ]

    def __post_init__(self) -> None:
        super().__post_init__()
        self.raise_for()

    def validate(self, inputs: Input | None) -> Iterator[Objection]:
        """Object to derivatives that an activation does not have, and losses whose minimum no linear system solves."""
        if self.order > 2 and self.activation not in ANALYTIC_GATES:
            found = f"{self.activation!r} with order {self.order}"
            yield "activation", found, "erf, sin or softplus, or an order up to 2"
        if self.order == 1 and self.loss != "squared":
            yield "loss", f"{self.loss!r} with order 1", "squared, or another order"

    def validate_data(self, labels: Labels, representation: Representation) -> Iterator[Objection]:
        """Object to a loss of classes on another target, and a second moment of points that there are not."""
        yield from loss_of_classes(self.loss, labels)
        if self.regulariser == "data" and not representation.unlabelled:
            yield "regulariser", "'data' without unlabelled points", "plain, or a representation that is fitted"

    def needs(self, sizes: Sizes) -> Needs:
        """Count at order 1 as kernel ridge regression, and gates. Above: the metric's n x n factor, gates, activations
        of the descent in both precisions, the vectors of the weights' size that descent and certificate keep, and what
        a descent keeps of other seeds.

        work: five thousand products for polishing and certificate, more than nearly all take; parallel: products with
        the points, as activations and gates take one thread.
        """
        n, width, features, outputs = sizes.samples, self.width, sizes.features, sizes.outputs
        shown, weights = n * (n + sizes.validation), outputs * width * features
        root = features**2 if self.regulariser == "data" else 0
        if self.order == 1:
            held, kept = 2 * n * (sizes.validation + width), shown
            work = sizes.choices * n**3 + 4 * shown * features
        else:
            held, kept = (10 * n + 300 * features) * width + solver.STACK_BYTES // 8, 0
            work = (4 * sizes.choices * self.max_iterations + 10000) * n * weights
        return Needs(
            memory={
                "fit": 3 * n**2 + held + 3 * root,
                "kept": kept + root,
                "model": weights + root,
                "predict": 2 * sizes.test * features + 4 * weights,
            },
            work={"fit": work, "predict": 4 * sizes.test * weights},
            parallel=0.6,
        )

    def fit(self, sample: TrainingData, monitor: Monitor, cache: dict[Any, Any]) -> Fit:
        """Fit all seeds; state: w0 (S, m/2, D), weights (S, k, m, D) float32; with `data` root (S, D, D) too."""
        self.raise_for_data(sample)
        data = sample.data
        w0, roots = first_layers(sample, self.width), self._roots(data.seeds, sample.features, cache)
        generators = sample.streams.at("start").generators()
        given = zip(data.seeds, generators, w0, roots, points_by_seed(sample), strict=True)
        seeds = [_Seed(seed, generator, own, root, *points) for seed, generator, own, root, points in given]
        kind, ridges = data.kind, sample.choices["ridge"]
        if self.order == 1:
            found: Iterable[dict[str, Any]] = [self._fit_linear(one, kind, ridges, cache) for one in seeds]
        else:
            found = self._fit_curved(seeds, kind, ridges)
        fits = []
        for one, parts in zip(seeds, found, strict=True):
            state = {"w0": one.w0, "weights": parts.pop("weights").astype(np.float32)}
            fits.append(fit_of_seed(state=state if one.root is None else state | {"root": one.root}, **parts))
        return Fit.stack(fits)

    def predict(self, state: State, features: Features, role: str, count: int, cache: dict[Any, Any]) -> np.ndarray:
        """Return predictions (S, count, k) float64."""
        roots = state.get("root", [None] * len(state["w0"]))
        parts = zip(state["w0"], roots, state["weights"], features.draw(role, count), strict=True)
        return np.stack([self.outputs(own, weights, h, root) for own, root, weights, h in parts])

    def unreachable(self, dimension: int, degree: int) -> str:
        """Return why the model of the raw input cannot represent a degree, in one line; "" if it can."""
        if taylor_reaches(self.activation, self.order, degree):
            return ""
        return (
            f"gates sigma^({self.order}) of {self.activation} leave out degree {degree} of the raw input; "
            "use another activation"
        )

    @property
    def signs(self) -> np.ndarray:
        """a (m,) of +1 and -1."""
        return signs_of(self.width)

    def gates(self, w0: np.ndarray, h: np.ndarray) -> np.ndarray:
        """Return sigma^(k)(<w0_r, h_i>): (m/2, D), (n, D) -> (n, m), the second half a copy of the first."""
        return gates_of(self.activation, self.order, w0, h)

    def _roots(self, seeds: Sequence[int], features: Features, cache: dict[Any, Any]) -> list[np.ndarray | None]:
        """(D, D) of `inverse_root` for each seed, from the representation's unlabelled points; None for `plain`."""
        if self.regulariser == "plain":
            return [None] * len(seeds)
        if any(("root", seed) not in cache for seed in seeds):
            unlabelled = features.draw("unlabelled", features.representation.unlabelled)
            cache.update({("root", seed): inverse_root(x) for seed, x in zip(seeds, unlabelled, strict=True)})
        return [cache["root", seed] for seed in seeds]

    def outputs(self, w0: np.ndarray, weights: np.ndarray, h: np.ndarray, root: np.ndarray | None = None) -> np.ndarray:
        """Return f(h): (m/2, D), (..., k, m, D), (n, D), (D, D) or None -> (..., n, k) float64."""
        blocks = []
        for start in range(0, len(h), BLOCK_ROWS):
            part = h[start : start + BLOCK_ROWS]
            gates, seen = self.gates(w0, part), rooted(part, root)
            if self.order == 1:
                blocks.append(linear_outputs(gates, weights, seen))
            else:
                blocks.append(solver.predict(seen, gates, self.signs, weights, self.order))
        return np.moveaxis(np.concatenate(blocks, axis=-1), -2, -1).astype(np.float64)

    def _fit_linear(self, one: _Seed, kind: str, ridges: Sequence[float], cache: dict[Any, Any]) -> dict[str, Any]:
        """Order 1 of a seed in its dual: the Gram matrix is (1/m) (s s^T) o (h h^T)."""

        def parts(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            gates = self.gates(one.w0, x)[:, : self.width // 2]
            return gates.astype(np.float64), rooted(x, one.root).astype(np.float64)

        def kernel(x: np.ndarray, z: np.ndarray | None = None) -> np.ndarray:
            left, left_seen = parts(x)
            right, right_seen = (left, left_seen) if z is None else parts(z)
            gram = left @ right.T
            gram *= 2.0 / self.width
            gram *= left_seen @ right_seen.T
            return gram

        gram = gram_matrix(kernel, one.h, cache, ("gram", one.seed))
        across = cross_gram_matrix(kernel, one.validation, one.h, cache, ("validation", one.seed))
        fit = fit_dual(gram, one.labels, across, one.validation_labels, ridges, kind)
        signed, seen = self.gates(one.w0, one.h) * self.signs / np.sqrt(self.width), rooted(one.h, one.root)
        weights = np.stack([(signed * alpha[:, None]).T.astype(np.float64) @ seen for alpha in fit.coefficients.T])
        return {"weights": weights} | fit.parts

    def _fit_curved(self, seeds: Sequence[_Seed], kind: str, ridges: Sequence[float]) -> Iterator[dict[str, Any]]:
        """Order >= 2, an iterator over seeds: for every output the path over ridges, some seeds' paths in lockstep."""
        samples, features = seeds[0].h.shape
        scale = self.start * self.width ** (-0.5 / self.order)
        # Scaled back to |h|^2 = D: a ridge means the same at every number of features.
        absolute = np.asarray(ridges) * float(features) ** (-self.penalty_power / 2)
        options: dict[str, Any] = {"order": self.order, "loss": self.loss, "penalty_power": self.penalty_power}
        limits: dict[str, Any] = {
            "tolerance": self.tolerance,
            "max_iterations": self.max_iterations,
            "stop": "decrease",
        }
        outputs = seeds[0].labels.shape[1]
        size = solver.stack_size(samples, features, self.width)
        for some in _groups(seeds, max(1, size // outputs)):
            problems = []
            for one in some:
                gates, seen = self.gates(one.w0, one.h), rooted(one.h, one.root)
                starts = [scale * normal(one.generator, self.width, features) for _ in range(outputs)]
                problems += [(seen, gates, y, start) for y, start in zip(one.labels.T, starts, strict=True)]
            paths = []
            for stack in _groups(problems, size):
                seen, gates, y, start = (_stacked(arrays) for arrays in zip(*stack, strict=True))
                paths += solver.fit_paths(seen, gates, self.signs, y, absolute, start, **options, **limits)
            for one, own, fits in zip(some, _groups(problems, outputs), _groups(paths, outputs), strict=True):
                seen, gates, _, _ = own[0]
                yield self._choose(one, seen, gates, fits, kind, ridges, absolute, options)

    def _choose(
        self,
        one: _Seed,
        seen: np.ndarray,
        gates: np.ndarray,
        paths: Sequence[solver.PathFit],
        kind: str,
        ridges: Sequence[float],
        absolute: np.ndarray,
        options: dict[str, Any],
    ) -> dict[str, Any]:
        """Return the ridge of a seed chosen on validation, and its points, of every output, certified."""
        weights = np.stack([path.weights for path in paths], axis=1)
        offered = self.outputs(one.w0, weights, one.validation, one.root)
        kept = best_on_validation(offered, one.validation_labels, kind, LOSSES[self.loss].value)
        certify = self._certifies(one.seed, len(one.h))
        ends = [
            self._chosen(seen, gates, y, absolute[kept], path, kept, options, certify)
            for y, path in zip(one.labels.T, paths, strict=True)
        ]
        found, statuses, flops, certificates = zip(*ends, strict=True)
        norms, curvatures, errors, stationary = zip(*certificates, strict=True)
        chosen, points = np.stack(found), ((one.validation, one.validation_labels), (one.h, one.labels))
        risks = [error(self.outputs(one.w0, chosen, x, one.root), y, kind) for x, y in points]
        return {
            "weights": chosen,
            "status": max(statuses),
            "choices": {"ridge": float(ridges[kept])},
            "validation_risk": risks[0],
            "train_risk": risks[1],
            # That of several outputs is that of the worst one.
            "certificate": {
                "gradient_norm": max(norms),
                "smallest_curvature": min(curvatures),
                "certificate_error": max(errors),
                "stationary": min(stationary),
            },
            "flops": sum(float(np.sum(path.flops)) for path in paths) + sum(flops),
            "iterations": max(path.iterations[kept] for path in paths),
        }

    def _certifies(self, seed: int, samples: int) -> bool:
        """Whether the points of a seed are certified at a number of samples: at every problem alike."""
        place = seed + round(CERTIFIED_SIZES * np.log2(samples))
        return self.certify == "all" or (self.certify == "some" and place % CERTIFIED_SEEDS == 0)

    def _chosen(
        self,
        seen: np.ndarray,
        gates: np.ndarray,
        y: np.ndarray,
        ridge: float,
        path: solver.PathFit,
        kept: int,
        options: dict[str, Any],
        certify: bool,
    ) -> tuple[np.ndarray, int, float, tuple[float, float, float, int]]:
        """Return the chosen point of one output: weights, status, flops, and the parts of the certificate.

        Polished and certified, or as the descent left it; a failed one is returned as it is.
        """
        weights, status, flops = path.weights[kept], path.status[kept], 0.0
        if status in ("diverged", "collapsed"):
            return weights, STATUS[status], flops, (np.nan, np.nan, np.nan, STATIONARY["no"])
        if not certify:
            return weights, STATUS[status], flops, (path.gradient_norm[kept], np.nan, np.nan, STATIONARY["not_checked"])
        done = certify_and_polish(seen, gates, self.signs, y, ridge, weights, **options, max_rounds=self.polish_rounds)
        found, flops = done.certificate, done.products * 2.0 * gates.size * seen.shape[1]
        status, word = ("ok", "yes") if found.stationary else ("not_converged", "no")
        certificate = found.gradient_norm, found.smallest_curvature, found.relative_error, STATIONARY[word]
        return done.weights.astype(np.float32), STATUS[status], flops, certificate


def _groups(items: Sequence[Any], size: int) -> list[Sequence[Any]]:
    """Return the items in their order, `size` of them in each group."""
    return [items[first : first + size] for first in range(0, len(items), size)]


def _stacked(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """With an axis in front; one array, which may be large, is not copied."""
    return np.stack(arrays) if len(arrays) > 1 else arrays[0][None]


def rooted(h: np.ndarray, root: np.ndarray | None) -> np.ndarray:
    """Return what the weights see of h (n, D): h root, or h itself."""
    return h if root is None else h @ root


def inverse_root(unlabelled: np.ndarray) -> np.ndarray:
    """Return S^{-1/2} / sqrt(rank) of S = (1/n0) sum h h^T, symmetric: (n0, D) -> (D, D) float32.

    Rounding directions of S are left out. h times this is the whitened representation's h, of mean square 1.
    """
    moment = np.zeros((unlabelled.shape[1],) * 2)
    for start in range(0, len(unlabelled), BLOCK_ROWS):
        block = unlabelled[start : start + BLOCK_ROWS].astype(np.float64)
        moment += block.T @ block
    values, vectors = np.linalg.eigh(moment / len(unlabelled))
    kept = values > ROUNDING * values[-1]
    vectors = vectors[:, kept]
    return (vectors / np.sqrt(values[kept] * np.sum(kept)) @ vectors.T).astype(np.float32)
