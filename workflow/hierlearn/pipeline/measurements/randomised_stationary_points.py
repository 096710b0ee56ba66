"""Stationary points of the randomised risk of a two-layer network, against Theorem 4 of bai2020."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from hierlearn.core.parameters import Count, Index, Positive
from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Experiment
from hierlearn.pipeline.measurements import _models
from hierlearn.pipeline.measurements._models import End, ReferencePenalty, StartKinds, models, normal, training
from hierlearn.pipeline.measurements._parameters import Several, Start, TrainingPoints, Widths, listing
from hierlearn.pipeline.measurements._trainings import report_failure
from hierlearn.pipeline.measurements._variables import Variables, describe, split
from hierlearn.solvers.losses import SQUARED
from hierlearn.solvers.randomised import curvature_bound, descend, escape
from hierlearn.theory.landscape import (
    RandomisedSquaredRisk,
    leading_reference,
    quadratic_expansion,
)

PAIRS = (
    "reference_loss",
    "bound",
    "sharp_bound",
    "zero_bound",
    "signed_bound",
    "coupling",
    "norm_ratio",
    "certificate_error",
)


@dataclass(frozen=True, kw_only=True)
class RandomisedStationaryPoints(Experiment):
    """Both sides of L(W) + ridge |W|^8 <= L^Q(W*) + 2401 ridge |W*|^8 + s / 2 + coupling + error  (bai2020, Theorem 4).

    L is the squared loss of f_{W0 + W S}, sigma = relu^3 / 6, with the mean over random signs S in closed form; W is
    where L-BFGS ends from a random or an adversarial start. Lemma 1 holds for the quadratic model; the coupling is how
    far loss, gradient and Hessian of the network are from the model's at W, each measured for itself (Lemmas 12 to
    14). The certificate rests on a Lanczos sweep over exact Hessian products.
    """

    widths: Widths = listing(4, 8)
    kinds: StartKinds = listing("small")
    references: Annotated[
        Several[Literal["explicit", "penalised", "quadratic"]],
        "W*: explicit, from leading eigenvectors of the labels; penalised, from there down L^Q(W*) + 2401 ridge "
        "|W*|^8; quadratic, the trained quadratic model.",
    ] = listing("explicit", "quadratic")
    samples: TrainingPoints = 50
    ridge: Annotated[Positive, "Ridge of |W|_{2,4}^8, for features with |h|^2 = D."] = 1.0e-3
    reference_penalty: ReferencePenalty = None
    start: Start = 0.1
    limit: Annotated[Positive, "Certificate error relative to the objective that a point may have."] = 0.01
    max_iterations: Annotated[Count, "Most iterations of L-BFGS."] = 2000
    max_products: Annotated[Count, "Most Hessian products of a certificate."] = 300
    polish_rounds: Annotated[Index, "Most times that negative curvature is left behind."] = 8
    MEASURES = {
        "objective": "L(W) + ridge |W|^8 at the stationary point of the randomised network",
        "loss": "L(W) of the randomised network",
        "reference_loss": "L^Q(W*)",
        "bound": "L^Q(W*) + 2401 ridge |W*|^8 + s / 2 + coupling + certificate error",
        "sharp_bound": "the same with the penalty's own curvature and slope at W and W* in place of 2401 ridge |W*|^8",
        "signed_bound": "the first bound with the three differences of the coupling as they enter the proof, signed",
        "coupling": "|L - L^Q| and half the differences of gradient and Hessian along W and W*",
        "norm_ratio": "|W|_{2,4} / |W*|_{2,4}",
        "excess": "objective less the least one of all starts of the width",
        "zero_objective": "L(0), stationary to first order only",
        "zero_bound": "L^Q(W*) + 2401 ridge |W*|^8, the bound at W = 0 without coupling and certificate",
        "certificate_error": "error of the certificate relative to the objective",
        "certificate_limit": "what it may be",
    }
    COORDINATES = {"width": "widths", "kind": "kinds", "reference": "references"}

    def measure(self, problem: Problem) -> Variables:
        """MEASURES over (seed, width, kind, reference), those without W* over fewer.

        NaN at an end that diverged, collapsed or is not certified, but for an error that is over the limit.
        """
        streams = problem.streams.at("randomised_stationary_points")
        dimension = problem.inputs.dimension
        rows = normal(streams.at("start"), max(self.widths), dimension)
        shape = (len(problem.seeds), len(self.widths), len(self.kinds))
        ends = {name: np.full(shape, np.nan) for name in ("objective", "loss")}
        values = np.empty((*shape, len(self.references), len(PAIRS)))
        flops, zero = np.zeros(shape[0]), np.empty(shape[0])
        data = training(problem, streams, self.samples)
        for s, i, w0, model in models(*data, streams, self.widths):
            width, zero[s] = self.widths[i], float(np.mean(model.targets**2))
            network = RandomisedSquaredRisk(model.features, np.tile(w0, (2, 1)), model.signs, model.targets)
            explicit = leading_reference(*model)
            small = _models.start_of("small", rows[s, :width], explicit, self.start)
            ridge = model.unit_ridge(self.ridge)
            if self.reference_penalty is not None:
                ridge = _models.ridge_of(self.reference_penalty, explicit, 8)
            path = model.train([ridge], small, max_iterations=self.max_iterations, power=8)
            known = {"explicit": explicit, "quadratic": path.weights[0]}
            if "penalised" in self.references:
                known["penalised"] = _models.penalised_reference(model, explicit, ridge, 8, self.max_iterations)
            place = {"seed": problem.seeds[s], "width": width}
            if report_failure("randomised_stationary_points", "taylor", place, path.status[0]):
                known["quadratic"] = np.full_like(small, np.nan)
            for j, kind in enumerate(self.kinds):
                start = _models.start_of(kind, rows[s, :width], explicit, self.start)
                end, spent = self._train(network, start, ridge)
                at = place | {"kind": kind}
                status = end.status(model.targets, self.limit)
                lost = report_failure("randomised_stationary_points", "network", at, status)
                if not lost:
                    ends["objective"][s, i, j] = end.objective
                    ends["loss"][s, i, j], _ = network.risk_and_gradient(end.weights)
                for k, name in enumerate(self.references):
                    coupling, signed = _couplings(network, model, end.weights, known[name])
                    found = end.compare(model, known[name], ridge, 8, self.limit, coupling)
                    found["signed_bound"] = found["bound"] - coupling + signed
                    if found["certificate_error"] > self.limit and not lost:
                        report_failure(
                            "randomised_stationary_points", "network", at | {"reference": name}, "not_certified"
                        )
                    values[s, i, j, k] = [found[measure] for measure in PAIRS]
                # Gradients and Hessian products are two matrix products each.
                flops[s] += 4.0 * spent * self.samples * width * dimension
            flops[s] += float(path.flops[0])
        axes = ("seed", "width", "kind", "reference")
        measures = {
            **{name: (axes[:3], part) for name, part in ends.items()},
            **split(axes, PAIRS, values),
            "certificate_limit": (axes, np.full((*shape, len(self.references)), self.limit)),
            "excess": (axes[:3], _models.excess(ends["objective"])),
            "zero_objective": (axes[:1], zero),
        }
        return describe(self, problem, measures, flops)

    def _train(self, network, start, ridge) -> tuple[End, int]:
        """The end of a training with its certificate, and evaluations and Hessian products spent."""
        # The theorem weighs curvature by |W*|^2, which may be larger than |W|^2: shares of the limit leave room for it.
        share, total, weights = 0.2 * self.limit, 0, start
        for attempt in range(self.polish_rounds + 1):
            weights, objective, norm, spent = descend(network, weights, ridge, share, self.max_iterations)
            if not np.isfinite(objective):
                return End(weights, np.nan, np.nan, np.nan), total + spent
            allowed = 0.4 * self.limit * objective / float(np.sum(weights**2))
            curvature, direction, products = curvature_bound(network, weights, ridge, allowed, self.max_products)
            total += spent + products
            if curvature >= -allowed or attempt == self.polish_rounds:
                break
            weights = escape(network, weights, ridge, direction)
        return End(weights, objective, norm, curvature), total


def _couplings(network, model, weights, reference) -> tuple[float, float]:
    """How far loss, and half of gradient and Hessian, of the network are from the model's along W and W*: the sum of
    their sizes, and of what enters the theorem's proof with its signs."""
    one = network.expansion(weights, reference)
    other = quadratic_expansion(*model, SQUARED, weights, reference)
    parts = one.risk - other.risk, 0.5 * (other.radial - one.radial), 0.5 * (one.curvature - other.curvature)
    return sum(map(abs, parts)), sum(parts)
