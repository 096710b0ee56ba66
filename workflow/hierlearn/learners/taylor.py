"""Taylor models of a wide two-layer network on a representation: NTK-h (order 1) and Quad-h (order 2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hierlearn.learners._dual import crossed, fit_dual, grown
from hierlearn.protocols import STATIONARY, STATUS, Features, Fit, Monitor, State
from hierlearn.solvers import taylor as solver
from hierlearn.solvers.certificate import certify_and_polish
from hierlearn.streams import Streams

PARAMETERS = {
    "order": {"description": "Order of the expansion: 1 is NTK-h, 2 is Quad-h.", "enum": [1, 2], "default": 2},
    "activation": {
        "description": "sigma: relu2 is relu^2 / 2 (chen2020), relu3 is relu^3 / 6 (bai2020).",
        "enum": ["relu2", "relu3"],
        "default": "relu2",
    },
    "width": {
        "description": "Number m of neurons, even.",
        "type": "integer",
        "minimum": 2,
        "multipleOf": 2,
        "default": 8,
    },
    "loss": {
        "description": "Loss of the training objective; squared is (f - y)^2.",
        "enum": ["squared", "logistic", "soft_hinge"],
        "default": "squared",
    },
    "penalty_power": {
        "description": "4: ridge |W|_{2,4}^4 (chen2020, eq. 2); 8: ridge |W|_{2,4}^8 (bai2020, Section 4). Order 2.",
        "enum": [4, 8],
        "default": 4,
    },
    "start": {
        "description": "Size of <w_r, h> m^{1/4} at the random start; W = 0 is a saddle.",
        "type": "number",
        "exclusiveMinimum": 0,
        "default": 0.1,
    },
    "tolerance": {
        "description": "The descent ends when ten iterations lower the objective by less than this part of it.",
        "type": "number",
        "exclusiveMinimum": 0,
        "default": 2.0e-3,
    },
    "max_iterations": {"description": "Most iterations per ridge.", "type": "integer", "minimum": 1, "default": 500},
    "polish_rounds": {
        "description": "Most attempts to repair a chosen point that fails its certificate.",
        "type": "integer",
        "minimum": 0,
        "default": 4,
    },
}
CHOICES = {
    "ridge": {
        "description": "Order 1: in units of the Gram matrix's mean diagonal. Order 2: for features with |h|^2 = D.",
        "type": "number",
        "exclusiveMinimum": 0,
    },
}

# sigma^(k) of relu^q / q! is relu^(q-k) / (q-k)!.
DERIVATIVES = {
    0: lambda t: (t >= 0).astype(t.dtype),
    1: lambda t: np.maximum(t, 0),
    2: lambda t: np.square(np.maximum(t, 0)) / 2,
}
POWERS = {"relu2": 2, "relu3": 3}
BLOCK_ROWS = 2048


@dataclass(frozen=True)
class Taylor:
    """f(x) = 1/(sqrt(m) k!) sum_r a_r sigma^(k)(<w0_r, h(x)>) <w_r, h(x)>^k, k = order  (chen2020, NTK-h and Quad-h).

    Symmetric initialisation (bai2020, eq. 3): a = (+1 ... +1, -1 ... -1), the second half of w0 a copy of the first,
    w0_r ~ N(0, I). Order 2 minimises mean loss + ridge |W|_{2,4}^power to a certified second-order stationary point;
    order 1 with squared loss is solved exactly. Several outputs are trained one by one on the same w0.
    """

    order: int = 2
    activation: str = "relu2"
    width: int = 8
    loss: str = "squared"
    penalty_power: int = 4
    start: float = 0.1
    tolerance: float = 2.0e-3
    max_iterations: int = 500
    polish_rounds: int = 4
    together: ClassVar[bool] = False

    def __post_init__(self):
        if self.order == 1 and self.loss != "squared":
            raise ValueError(f"taylor: loss {self.loss!r} with order 1; expected squared")

    def fit(
        self,
        problem: Any,
        features: Features,
        samples: int,
        choices: Mapping[str, Sequence[float]],
        streams: Streams,
        monitor: Monitor,
        memory: dict[Any, Any],
    ) -> Fit:
        """State: w0 (S, m/2, D), weights (S, k, m, D) float32."""
        training, held_out = problem.draw("training", samples), problem.draw("validation", problem.held_out)
        h, validation = features.draw("training", samples), features.draw("validation", problem.held_out)
        w0 = streams.at("w0").stack(lambda g: self._normal(g, self.width // 2, h.shape[-1]))
        train = self._fit_linear if self.order == 1 else self._fit_curved
        fits = []
        for i, (seed, generator) in enumerate(zip(problem.seeds, streams.at("start").generators(), strict=True)):
            points = (h[i], training.labels[i], validation[i], held_out.labels[i])
            fits.append(train(w0[i], *points, choices["ridge"], generator, seed, memory))
        parts = {name: np.stack([fit[name] for fit in fits]) for name in fits[0]}
        certificate = {name: parts[name] for name in CERTIFICATE} if self.order > 1 else None
        return Fit(
            state={"w0": w0, "weights": parts["weights"].astype(np.float32)},
            status=parts["status"].astype(np.int8),
            validation_risk=parts["validation_risk"],
            train_risk=parts["train_risk"],
            choices={"ridge": parts["ridge"]},
            certificate=certificate,
            flops=parts["flops"],
        )

    def predict(self, state: State, features: Features, role: str, count: int, memory: dict[Any, Any]) -> np.ndarray:
        """(S, count, k) float64."""
        h = features.draw(role, count)
        return np.stack([self._outputs(w0, w, x) for w0, w, x in zip(state["w0"], state["weights"], h, strict=True)])

    @property
    def signs(self) -> np.ndarray:
        """a (m,) of +1 and -1."""
        return np.repeat([1.0, -1.0], self.width // 2).astype(np.float32)

    def gates(self, w0: np.ndarray, h: np.ndarray) -> np.ndarray:
        """sigma^(k)(<w0_r, h_i>): (m/2, D), (n, D) -> (n, m), the second half a copy of the first."""
        half = DERIVATIVES[POWERS[self.activation] - self.order](h @ w0.T)
        return np.concatenate([half, half], axis=1)

    def _normal(self, generator: np.random.Generator, rows: int, columns: int) -> np.ndarray:
        return generator.standard_normal((rows, columns)).astype(np.float32)

    def _outputs(self, w0: np.ndarray, weights: np.ndarray, h: np.ndarray) -> np.ndarray:
        """(m/2, D), (..., k, m, D), (n, D) -> (..., n, k)."""
        blocks = []
        for start in range(0, len(h), BLOCK_ROWS):
            part = h[start : start + BLOCK_ROWS]
            gates = self.gates(w0, part)
            if self.order == 1:
                signed = gates * self.signs / np.sqrt(self.width)
                blocks.append(np.einsum("nm,...nm->...n", signed, part @ np.swapaxes(weights, -1, -2)))
            else:
                blocks.append(solver.predict(part, gates, self.signs, weights, self.order))
        return np.moveaxis(np.concatenate(blocks, axis=-1), -2, -1).astype(np.float64)

    def _fit_linear(self, w0, h, labels, validation, validation_labels, ridges, generator, seed, memory):
        """Order 1 in its dual: the Gram matrix is (1/m) (s s^T) o (h h^T)."""

        def kernel(x, z=None):
            left = self.gates(w0, x)[:, : self.width // 2].astype(np.float64)
            right = left if z is None else self.gates(w0, z)[:, : self.width // 2].astype(np.float64)
            gram = left @ right.T
            gram *= 2.0 / self.width
            gram *= x.astype(np.float64) @ (x if z is None else z).astype(np.float64).T
            return gram

        gram = grown(kernel, h, memory, ("gram", seed))
        across = crossed(kernel, validation, h, memory, ("validation", seed))
        fit = fit_dual(gram, labels, across, validation_labels, ridges)
        signed = self.gates(w0, h) * self.signs / np.sqrt(self.width)
        weights = np.stack([(signed * alpha[:, None]).T.astype(np.float64) @ h for alpha in fit.coefficients.T])
        return {
            "weights": weights,
            "status": fit.status,
            "ridge": fit.ridge,
            "validation_risk": fit.validation_risk,
            "train_risk": fit.train_risk,
            "flops": fit.flops,
        }

    def _fit_curved(self, w0, h, labels, validation, validation_labels, ridges, generator, seed, memory):
        """Order 2: the path over ridges for every output, the ridge chosen on validation, its point certified."""
        gates, scale = self.gates(w0, h), self.start * self.width**-0.25
        # Scaled back to |h|^2 = D: a ridge means the same at every number of features.
        absolute = np.asarray(ridges) * float(h.shape[1]) ** (-self.penalty_power / 2)
        options = {"order": self.order, "loss": self.loss, "penalty_power": self.penalty_power}
        limits = {"tolerance": self.tolerance, "max_iterations": self.max_iterations, "stop": "decrease"}
        starts = [scale * self._normal(generator, self.width, h.shape[1]) for _ in labels.T]
        paths = [
            solver.fit_path(h, gates, self.signs, y, absolute, start, **options, **limits)
            for y, start in zip(labels.T, starts, strict=True)
        ]
        weights = np.stack([path.weights for path in paths], axis=1)
        risks = np.mean(np.sum((self._outputs(w0, weights, validation) - validation_labels) ** 2, axis=-1), axis=-1)
        best = int(np.argmin(np.where(np.isfinite(risks), risks, np.inf)))
        ends = [
            self._certified(h, gates, y, absolute[best], path.weights[best], path.status[best], options)
            for y, path in zip(labels.T, paths, strict=True)
        ]
        chosen = np.stack([end.pop("weights") for end in ends])
        flops = sum(float(np.sum(path.flops)) for path in paths) + sum(end.pop("flops") for end in ends)
        return {
            "weights": chosen,
            "status": max(end.pop("status") for end in ends),
            "ridge": float(ridges[best]),
            "validation_risk": self._risk(w0, chosen, validation, validation_labels),
            "train_risk": self._risk(w0, chosen, h, labels),
            "flops": flops,
        } | _worst(ends)

    def _certified(self, h, gates, y, ridge, weights, status, options):
        """The chosen point of one output, polished and certified; a failed one is returned as it is."""
        if status in ("diverged", "collapsed"):
            uncertified = dict.fromkeys(CERTIFICATE, np.nan) | {"stationary": STATIONARY["no"]}
            return uncertified | {"weights": weights, "flops": 0.0, "status": STATUS[status]}
        done = certify_and_polish(h, gates, self.signs, y, ridge, weights, **options, max_rounds=self.polish_rounds)
        certificate = done.certificate
        # A Hessian-vector product is four matrix products, an iteration two.
        products = 4.0 * certificate.products + 2.0 * done.iterations
        return {
            "gradient_norm": certificate.gradient_norm,
            "smallest_curvature": certificate.smallest_curvature,
            "certificate_error": certificate.relative_error,
            "stationary": STATIONARY["yes" if certificate.stationary else "no"],
            "weights": done.weights.astype(np.float32),
            "flops": products * 2.0 * gates.size * h.shape[1],
            "status": STATUS["ok" if certificate.stationary else "not_converged"],
        }

    def _risk(self, w0, weights, h, labels) -> float:
        return float(np.mean(np.sum((self._outputs(w0, weights, h) - labels) ** 2, axis=-1)))


CERTIFICATE = ("gradient_norm", "smallest_curvature", "certificate_error", "stationary")


def _worst(rows: list[dict[str, float]]) -> dict[str, float]:
    """The certificate of several outputs is that of the worst one."""
    return {
        "gradient_norm": max(row["gradient_norm"] for row in rows),
        "smallest_curvature": min(row["smallest_curvature"] for row in rows),
        "certificate_error": max(row["certificate_error"] for row in rows),
        "stationary": min(row["stationary"] for row in rows),
    }
