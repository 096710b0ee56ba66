"""Stationary points of the randomised risk of a two-layer network, against Theorem 4 of bai2020."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import scipy

from hierlearn.core.parameters import Count, Positive
from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Experiment
from hierlearn.experiments._failures import report_failure
from hierlearn.experiments._models import End, models, normal
from hierlearn.files.netcdf import Variable
from hierlearn.probes._parameters import Several, Start, TrainingPoints, Widths, listing
from hierlearn.probes._variables import describe, split
from hierlearn.solvers.losses import SQUARED
from hierlearn.theory.landscape import (
    RandomisedSquaredRisk,
    eighth_power,
    eighth_power_hessian,
    leading_reference,
    quadratic_expansion,
)

PAIRS = ("reference_loss", "bound", "sharp_bound", "coupling", "norm_ratio", "certificate_error")


@dataclass(frozen=True, kw_only=True)
class RandomisedStationaryPoints(Experiment):
    """Both sides of L(W) + ridge |W|^8 <= L^Q(W*) + 2401 ridge |W*|^8 + s / 2 + coupling + error  (bai2020, Theorem 4).

    L is the squared loss of f_{W0 + W S}, sigma = relu^3 / 6, with the mean over random signs S in closed form; W is
    where L-BFGS ends from a small random start. Lemma 1 holds for the quadratic model; the coupling is how far loss,
    gradient and Hessian of the network are from the model's at W, each measured for itself (Lemmas 12 to 14). The
    certificate rests on all eigenvalues of the exact Hessian.
    """

    widths: Widths = listing(4, 8)
    references: Annotated[
        Several[Literal["explicit", "quadratic"]],
        "W*: explicit, from leading eigenvectors of the labels; quadratic, the trained quadratic model.",
    ] = listing("explicit", "quadratic")
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
        dimension = problem.inputs.dimension
        starts = normal(streams.at("start"), max(self.widths), dimension)
        shape = (len(problem.seeds), len(self.widths))
        ends = {name: np.full(shape, np.nan) for name in ("objective", "loss")}
        values = np.empty((*shape, len(self.references), len(PAIRS)))
        flops = np.zeros(shape[0])
        for s, i, w0, model in models(problem, streams, self.samples, self.widths):
            width = self.widths[i]
            place = {"seed": problem.seeds[s], "width": width}
            start, ridge = self.start * width**-0.25 * starts[s, :width], model.unit_ridge(self.ridge)
            network = RandomisedSquaredRisk(model.features, np.tile(w0, (2, 1)), model.signs, model.targets)
            end, evaluations = self._descend(network, start, ridge)
            path = model.train([ridge], start, max_iterations=self.max_iterations, power=8)
            known = {"explicit": leading_reference(*model), "quadratic": path.weights[0]}
            if report_failure("randomised_stationary_points", "taylor", place, path.status[0]):
                known["quadratic"] = np.full_like(start, np.nan)
            status = end.status(model.targets, self.limit)
            lost = report_failure("randomised_stationary_points", "network", place, status)
            if not lost:
                ends["objective"][s, i] = end.objective
                ends["loss"][s, i], _ = network.risk_and_gradient(end.weights)
            for k, name in enumerate(self.references):
                coupling = _coupling(network, model, end.weights, known[name])
                found = end.compare(model, known[name], ridge, 8, self.limit, coupling)
                if found["certificate_error"] > self.limit and not lost:
                    report_failure(
                        "randomised_stationary_points", "network", place | {"reference": name}, "not_certified"
                    )
                values[s, i, k] = [found[measure] for measure in PAIRS]
            # A gradient is two matrix products, a Hessian product two, and the Hessian has a column per weight.
            products = 2.0 * evaluations + 2.0 * width * dimension
            flops[s] += float(path.flops[0]) + products * 2.0 * self.samples * width * dimension
        axes = ("seed", "width", "reference")
        measures = {
            **{name: (axes[:2], part) for name, part in ends.items()},
            **split(axes, PAIRS, values),
            "certificate_limit": (axes, np.full((*shape, len(self.references)), self.limit)),
        }
        return describe(self, problem, measures, flops)

    def _descend(self, network, start, ridge) -> tuple[End, int]:
        """Where L-BFGS ends with a ridge of |W|_{2,4}^8, and the evaluations that it took."""

        def objective(flat):
            weights = flat.reshape(start.shape)
            risk, gradient = network.risk_and_gradient(weights)
            value, slope = eighth_power(weights)
            return risk + ridge * value, (gradient + ridge * slope).ravel()

        # Flat directions hold the gradient up long after the objective has settled, so the rule is on the gradient.
        options = {"maxiter": self.max_iterations, "maxfun": 2 * self.max_iterations, "ftol": 0.0, "gtol": 1e-7}
        end = scipy.optimize.minimize(objective, start.ravel(), jac=True, method="L-BFGS-B", options=options)
        weights = end.x.reshape(start.shape)
        hessian = np.empty((start.size, start.size))
        for column, unit in zip(hessian, np.eye(start.size), strict=True):
            column[:] = network.hessian_product(weights, unit.reshape(start.shape)).ravel()
        hessian = (hessian + hessian.T) / 2.0 + ridge * eighth_power_hessian(weights)
        smallest = float(np.linalg.eigvalsh(hessian)[0]) if np.isfinite(hessian).all() else np.nan
        return End(weights, float(end.fun), float(np.linalg.norm(end.jac)), smallest), end.nfev


def _coupling(network, model, weights, reference) -> float:
    """How far loss, and half of gradient and Hessian, of the network are from the model's along W and W*."""
    one = network.expansion(weights, reference)
    other = quadratic_expansion(*model, SQUARED, weights, reference)
    coupling = abs(one.risk - other.risk) + 0.5 * abs(one.radial - other.radial)
    return coupling + 0.5 * abs(one.curvature - other.curvature)
