"""Stationary points of the randomised risk of a two-layer network, against Theorem 4 of bai2020."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np
import scipy
from annotated_types import MinLen

from hierlearn.core.parameters import UNIQUE, Count, Positive
from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Experiment
from hierlearn.experiments._failures import report_failure
from hierlearn.files.netcdf import Variable
from hierlearn.probes._parameters import Start, TrainingPoints, Widths
from hierlearn.solvers.losses import SQUARED
from hierlearn.solvers.taylor.training import fit_path
from hierlearn.theory.landscape import (
    RandomisedSquaredRisk,
    curvature_slack,
    eighth_power,
    eighth_power_hessian,
    leading_reference,
    objective_bounds,
    quadratic_expansion,
    quadratic_outputs,
    quartic_norm,
)

# A training that lowers the objective of the zero predictor by no more than this part of it has not left it.
COLLAPSE_GAIN = 1e-6


@dataclass(frozen=True, kw_only=True)
class RandomisedStationaryPoints(Experiment):
    """Both sides of L(W) + ridge |W|^8 <= L^Q(W*) + 2401 ridge |W*|^8 + s / 2 + coupling + error  (bai2020, Theorem 4).

    L is the squared loss of f_{W0 + W S}, sigma = relu^3 / 6, with the mean over random signs S in closed form; W is
    where L-BFGS ends from a small random start. Lemma 1 holds for the quadratic model; the coupling is how far loss,
    gradient and Hessian of the network are from the model's at W, each measured for itself (Lemmas 12 to 14). The
    certificate rests on all eigenvalues of the exact Hessian.
    """

    widths: Widths = field(default_factory=lambda: [4, 8])
    references: Annotated[
        list[Literal["explicit", "quadratic"]],
        MinLen(1),
        UNIQUE,
        "W*: explicit, from leading eigenvectors of the labels; quadratic, the trained quadratic model.",
    ] = field(default_factory=lambda: ["explicit", "quadratic"])
    samples: TrainingPoints = 50
    ridge: Annotated[Positive, "Ridge of |W|_{2,4}^8, for features with |h|^2 = D."] = 1.0e-3
    start: Start = 0.1
    limit: Annotated[Positive, "Certificate error relative to the objective that a point may have."] = 0.01
    max_iterations: Annotated[Count, "Most iterations of L-BFGS."] = 2000
    MEASURES = {
        "objective": "L(W) + ridge |W|^8 at the stationary point of the randomised network",
        "loss": "L(W) of the randomised network",
        "reference_loss": "L^Q(W*)",
        "bound": "L^Q(W*) + 2401 ridge |W*|^8 + s / 2 + coupling + certificate error",
        "sharp_bound": "the same with the penalty's own curvature and slope at W and W* in place of 2401 ridge |W*|^8",
        "coupling": "|L - L^Q| and half the differences of gradient and Hessian along W and W*",
        "norm_ratio": "|W|_{2,4} / |W*|_{2,4}",
        "certificate_error": "error of the certificate relative to the objective",
        "certificate_limit": "what it may be",
        "flops": "floating-point operations of matrix products",
    }
    COORDINATES = {"width": "widths", "reference": "references"}

    def measure(self, problem: Problem) -> dict[str, Variable]:
        """MEASURES over (seed, width, reference), those without W* over (seed, width).

        NaN at an end that diverged, collapsed or is not certified, but for an error that is over the limit.
        """
        streams = problem.streams.at("randomised_stationary_points")
        batch, dimension, widest = problem.draw("training", self.samples), problem.inputs.dimension, max(self.widths)
        w0 = streams.at("w0").stack(lambda g: g.standard_normal((widest // 2, dimension)))
        rows = streams.at("start").stack(lambda g: g.standard_normal((widest, dimension)))
        shape = (len(problem.seeds), len(self.widths))
        ends = {name: np.empty(shape) for name in ("objective", "loss")}
        pairs = {
            name: np.empty((*shape, len(self.references)))
            for name in ("reference_loss", "bound", "sharp_bound", "coupling", "norm_ratio", "certificate_error")
        }
        flops = np.zeros(shape[0])
        for s in range(shape[0]):
            x, targets = batch.x[s].astype(np.float64), batch.labels[s, :, 0]
            for i, width in enumerate(self.widths):
                first, signs = np.tile(w0[s, : width // 2], (2, 1)), np.repeat([1.0, -1.0], width // 2)
                start = self.start * width**-0.25 * rows[s, :width]
                model = (x, np.maximum(x @ first.T, 0.0), signs, targets)
                point = self._train(RandomisedSquaredRisk(x, first, signs, targets), start)
                path = self._quadratic(model, start)
                known = {"explicit": leading_reference(*model), "quadratic": path.weights[0]}
                place = {"seed": problem.seeds[s], "width": width}
                if report_failure("randomised_stationary_points", "taylor", place, path.status[0]):
                    known["quadratic"] = np.full_like(start, np.nan)
                lost = report_failure(
                    "randomised_stationary_points", "network", place, point.status(targets, self.limit)
                )
                for key, value in zip(ends, (point.objective, point.loss), strict=True):
                    ends[key][s, i] = np.nan if lost else value
                for k, name in enumerate(self.references):
                    found = self._compare(model, point, known[name])
                    over = found[-1] > self.limit
                    if over and not lost:
                        report_failure(
                            "randomised_stationary_points", "network", place | {"reference": name}, "not_certified"
                        )
                    if over or lost:
                        found = (*(np.nan,) * (len(pairs) - 1), found[-1] if over else np.nan)
                    for key, value in zip(pairs, found, strict=True):
                        pairs[key][s, i, k] = value
                # A gradient is two matrix products, a Hessian product two, and the Hessian has a column per weight.
                products = 2.0 * point.evaluations + 2.0 * width * dimension
                flops[s] += float(path.flops[0]) + products * 2.0 * self.samples * width * dimension
        measured = {name: (("seed", "width"), values) for name, values in ends.items()}
        pairs["certificate_limit"] = np.full((*shape, len(self.references)), self.limit)
        measured |= {name: (("seed", "width", "reference"), values) for name, values in pairs.items()}
        measured["flops"] = (("seed",), flops)
        found = {
            name: Variable(dims, values, {"units": "1", "long_name": self.MEASURES[name]})
            for name, (dims, values) in measured.items()
        }
        return found | {
            "seed": Variable(("seed",), np.array(problem.seeds)),
            "width": Variable(("width",), np.array(self.widths), {"units": "1", "long_name": "neurons m"}),
            "reference": Variable(("reference",), np.array(self.references), {"long_name": "reference W*"}),
        }

    def _absolute(self, x) -> float:
        """Scaled back to |h|^2 = D: a ridge means the same at every number of features."""
        return self.ridge / x.shape[1] ** 4

    def _quadratic(self, model, start):
        """The quadratic model trained from the same start with the same ridge."""
        options = {"penalty_power": 8, "stop": "decrease", "max_iterations": self.max_iterations}
        return fit_path(*model, [self._absolute(model[0])], start, **options)

    def _train(self, network, start) -> "End":
        ridge = self._absolute(network.features)

        def objective(flat):
            weights = flat.reshape(start.shape)
            risk, gradient = network.risk_and_gradient(weights)
            value, slope = eighth_power(weights)
            return risk + ridge * value, (gradient + ridge * slope).ravel()

        # Flat directions hold the gradient up long after the objective has settled, so the rule is on the gradient.
        options = {"maxiter": self.max_iterations, "maxfun": 2 * self.max_iterations, "ftol": 0.0, "gtol": 1e-7}
        end = scipy.optimize.minimize(objective, start.ravel(), jac=True, method="L-BFGS-B", options=options)
        weights = end.x.reshape(start.shape)
        loss, _ = network.risk_and_gradient(weights)
        hessian = np.empty((start.size, start.size))
        for column, unit in zip(hessian, np.eye(start.size), strict=True):
            column[:] = network.hessian_product(weights, unit.reshape(start.shape)).ravel()
        hessian = (hessian + hessian.T) / 2.0 + ridge * eighth_power_hessian(weights)
        smallest = float(np.linalg.eigvalsh(hessian)[0]) if np.isfinite(hessian).all() else np.nan
        return End(network, weights, float(end.fun), loss, float(np.linalg.norm(end.jac)), smallest, end.nfev)

    def _compare(self, model, point, reference) -> tuple[float, ...]:
        """reference_loss, bound, sharp_bound, coupling, norm_ratio, certificate_error."""
        x, gates, signs, targets = model
        network = point.network.expansion(point.weights, reference)
        quadratic = quadratic_expansion(x, gates, signs, point.weights, reference, targets, SQUARED)
        coupling = abs(network.risk - quadratic.risk) + 0.5 * abs(network.radial - quadratic.radial)
        coupling += 0.5 * abs(network.curvature - quadratic.curvature)
        loss = float(np.mean((quadratic_outputs(x, gates, signs, reference) - targets) ** 2))
        slack = curvature_slack(x, gates, point.weights, reference, np.full(len(targets), 2.0))
        error = point.error(reference)
        open_loss = loss + slack / 2.0 + coupling + error * point.objective
        bounds = objective_bounds(open_loss, point.weights, reference, self._absolute(x), 8)
        ratio = (quartic_norm(point.weights) / quartic_norm(reference)) ** 0.25
        return loss, *bounds, coupling, ratio, error


@dataclass(frozen=True)
class End:
    """An end point of the randomised network: weights (m, D), objective, loss, |gradient|_F, smallest eigenvalue of the
    Hessian, and evaluations spent."""

    network: RandomisedSquaredRisk
    weights: np.ndarray
    objective: float
    loss: float
    gradient_norm: float
    curvature: float
    evaluations: int

    def status(self, targets, limit: float) -> str:
        """ok, diverged, collapsed, or not_certified where the error against W itself is over the limit."""
        zero = float(np.mean(targets**2))
        if not np.isfinite(self.objective):
            return "diverged"
        if zero - self.objective <= COLLAPSE_GAIN * zero:
            return "collapsed"
        return "ok" if self.error(self.weights) <= limit else "not_certified"

    def error(self, reference) -> float:
        """(|gradient| |W|_F + (-curvature)^+ |W*|_F^2) / 2 relative to the objective."""
        steep = self.gradient_norm * np.linalg.norm(self.weights)
        bent = max(0.0, -self.curvature) * np.sum(reference**2)
        return float((steep + bent) / (2.0 * self.objective))
