"""Certified stationary points of quadratic Taylor models from several starts, against the landscape theorems."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, MinLen

from hierlearn.core.parameters import UNIQUE, Count, Index, Nested, Positive
from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Experiment
from hierlearn.experiments._failures import report_failure
from hierlearn.files.netcdf import Variable
from hierlearn.probes._parameters import Start, TrainingPoints, Widths
from hierlearn.solvers.taylor.certificate import certify_and_polish
from hierlearn.solvers.taylor.training import fit_path
from hierlearn.theory.activations import derivative
from hierlearn.theory.landscape import (
    curvature_slack,
    leading_reference,
    objective_bounds,
    quadratic_outputs,
    quartic_norm,
)

# A training that lowers the objective of the zero predictor by no more than this part of it has not left it.
COLLAPSE_GAIN = 1e-6


WITHOUT_END = ("diverged", "collapsed")


@dataclass(frozen=True, kw_only=True)
class StationaryPoints(Experiment):
    """Both sides of L(W) + ridge |W|^p <= L(W*) + c ridge |W*|^p + s / 2 + error at trained Quad-h, squared loss.

    Lemma 1 of bai2020 for W and W*, with the penalty's part of the Hessian and the gradient, gives c = 9 for p = 4
    (chen2020, Theorem 1(1)) and c = 2401 for p = 8 (bai2020, Theorem 4); |.| is the (2, 4)-norm. The error is what a
    certificate in float64 leaves open, (|gradient| |W|_F + (-curvature)^+ |W*|_F^2) / 2.
    """

    representation: Annotated[Any, Nested("representations", {"name": "raw"}), "Representation h of the input."]
    activation: Annotated[
        Literal["relu2", "relu3"], "sigma: relu2 is relu^2 / 2 (chen2020), relu3 is relu^3 / 6 (bai2020)."
    ] = "relu2"
    penalty_power: Annotated[
        Literal[4, 8], "4: ridge |W|_{2,4}^4 (chen2020, eq. 2); 8: ridge |W|_{2,4}^8 (bai2020, Section 4)."
    ] = 4
    widths: Widths = field(default_factory=lambda: [4, 8])
    starts: Annotated[list[Index], MinLen(2), UNIQUE, "Random starts, by number."] = field(
        default_factory=lambda: [0, 1]
    )
    references: Annotated[
        list[Literal["explicit", "smaller_ridge", "other_start"]],
        MinLen(1),
        UNIQUE,
        "W*: explicit, from leading eigenvectors of the labels; smaller_ridge, the same start at a tenth of "
        "the ridge; other_start, the end point of the next start.",
    ] = field(default_factory=lambda: ["explicit", "smaller_ridge", "other_start"])
    samples: TrainingPoints = 50
    unlabelled: Annotated[int, Ge(2), "Number n0 of unlabelled points of the representation."] = 100
    ridge: Annotated[Positive, "Ridge of the penalty, for features with |h|^2 = D."] = 1.0e-2
    start: Start = 0.1
    limit: Annotated[
        Positive, "Certificate error relative to the objective that a point may have against a reference."
    ] = 0.01
    max_iterations: Annotated[Count, "Most iterations per ridge."] = 500
    polish_rounds: Annotated[Index, "Most attempts to repair a point that fails its certificate."] = 8
    MEASURES = {
        "objective": "L(W) + ridge |W|^p at the stationary point",
        "bound": "L(W*) + c ridge |W*|^p + s / 2 + certificate error",
        "sharp_bound": "the same with the penalty's own curvature and slope at W and W* in place of c ridge |W*|^p",
        "slack": "s of Lemma 1",
        "norm_ratio": "|W|_{2,4} / |W*|_{2,4}",
        "certificate_error": "(|gradient| |W|_F + (-curvature)^+ |W*|_F^2) / 2 relative to the objective",
        "certificate_limit": "what it may be",
        "spread": "range of the objective over starts, relative to the smallest",
        "flops": "floating-point operations of matrix products",
    }
    COORDINATES = {"width": "widths", "start": "starts", "reference": "references"}

    def measure(self, problem: Problem) -> dict[str, Variable]:
        """MEASURES over (seed, width, start, reference), those without W* over fewer.

        NaN at an end that diverged, collapsed or is not certified, but for an error that is over the limit.
        """
        streams = problem.streams.at("stationary_points")
        state = self.representation.fit(problem.unlabelled(self.unlabelled), streams.at("representation"))
        batch = problem.draw("training", self.samples)
        features = self.representation.apply(state, batch.x).astype(np.float64)
        count, widest = features.shape[-1], max(self.widths)
        w0 = streams.at("w0").stack(lambda g: g.standard_normal((widest // 2, count)))
        starts = [streams.at("start", i).stack(lambda g: g.standard_normal((widest, count))) for i in self.starts]
        shape = (len(problem.seeds), len(self.widths), len(self.starts))
        objective = np.empty(shape)
        compared = ("bound", "sharp_bound", "slack", "norm_ratio", "certificate_error")
        pairs = {name: np.empty((*shape, len(self.references))) for name in compared}
        flops = np.zeros(len(problem.seeds))
        for s in range(len(problem.seeds)):
            for i, width in enumerate(self.widths):
                model = self._model(features[s], w0[s, : width // 2], batch.labels[s, :, 0])
                places = [{"seed": problem.seeds[s], "width": width, "start": number} for number in self.starts]
                trained = [
                    self._train(model, start[s, :width], place) for start, place in zip(starts, places, strict=True)
                ]
                flops[s] += sum(point.flops for point in trained)
                for j, point in enumerate(trained):
                    objective[s, i, j] = point.certificate.objective if point.status == "ok" else np.nan
                    known = {
                        "explicit": leading_reference(*model),
                        "smaller_ridge": point.looser,
                        "other_start": trained[(j + 1) % len(trained)].end,
                    }
                    for k, name in enumerate(self.references):
                        found = self._compare(model, point, known[name])
                        if point.status == "ok" and found[-1] > self.limit:
                            report_failure(
                                "stationary_points", "taylor", places[j] | {"reference": name}, "not_certified"
                            )
                        for key, value in zip(pairs, found, strict=True):
                            pairs[key][s, i, j, k] = value
        least = objective.min(axis=2)
        pairs["certificate_limit"] = np.full((*shape, len(self.references)), self.limit)
        measured = {name: (("seed", "width", "start", "reference"), values) for name, values in pairs.items()}
        measured["objective"] = (("seed", "width", "start"), objective)
        measured["spread"] = (("seed", "width"), (objective.max(axis=2) - least) / least)
        measured["flops"] = (("seed",), flops)
        found = {
            name: Variable(dims, values, {"units": "1", "long_name": self.MEASURES[name]})
            for name, (dims, values) in measured.items()
        }
        return found | {
            "seed": Variable(("seed",), np.array(problem.seeds)),
            "width": Variable(("width",), np.array(self.widths), {"units": "1", "long_name": "neurons m"}),
            "start": Variable(("start",), np.array(self.starts), {"units": "1", "long_name": "random start"}),
            "reference": Variable(("reference",), np.array(self.references), {"long_name": "reference W*"}),
        }

    def _model(self, features, w0, targets):
        """features (n, D), gates (n, m), signs (m,), targets (n,) with the symmetric initialisation."""
        inner = np.tile(features @ w0.T, (1, 2))
        gates = derivative(self.activation, 2)(inner)
        return features, gates, np.repeat([1.0, -1.0], len(w0)), targets

    def _absolute(self, features) -> float:
        """Scaled back to |h|^2 = D: a ridge means the same at every number of features."""
        return self.ridge * float(features.shape[1]) ** (-self.penalty_power / 2)

    def _train(self, model, start, place) -> "End":
        """The certified end of one start, and where the path goes from there at a tenth of the ridge."""
        ridge, scale = self._absolute(model[0]), self.start * len(start) ** -0.25
        path = fit_path(
            *model,
            [ridge, 0.1 * ridge],
            scale * start,
            penalty_power=self.penalty_power,
            stop="decrease",
            max_iterations=self.max_iterations,
        )
        looser = path.weights[1]
        if report_failure("stationary_points", "taylor at a tenth of the ridge", place, path.status[1]):
            looser = np.full_like(looser, np.nan)
        if path.status[0] == "diverged":
            report_failure("stationary_points", "taylor", place, "diverged")
            return End(path.weights[0], None, looser, float(np.sum(path.flops)), "diverged")
        # The certificate weighs curvature by |W|^2, the theorem by |W*|^2: half of the limit leaves room for larger W*.
        options = {"penalty_power": self.penalty_power, "limit": 0.5 * self.limit, "max_rounds": self.polish_rounds}
        done = certify_and_polish(*model, ridge, path.weights[0], **options)
        # A Hessian-vector product is four matrix products, an iteration two.
        products = 4.0 * done.certificate.products + 2.0 * done.iterations
        flops = float(np.sum(path.flops)) + products * 2.0 * model[1].size * model[0].shape[1]
        certificate, zero = done.certificate, float(np.mean(model[-1] ** 2))
        status = "ok" if certificate.relative_error <= self.limit else "not_certified"
        status = "collapsed" if zero - certificate.objective <= COLLAPSE_GAIN * zero else status
        report_failure("stationary_points", "taylor", place, status)
        return End(done.weights, certificate, looser, flops, status)

    def _compare(self, model, point, reference) -> tuple[float, ...]:
        """bound, sharp_bound, slack, norm_ratio, certificate_error; the last alone where it is over the limit."""
        if point.status in WITHOUT_END:
            return (np.nan,) * 5
        features, gates, _, targets = model
        loss = float(np.mean((quadratic_outputs(*model[:3], reference) - targets) ** 2))
        slack = curvature_slack(features, gates, point.weights, reference, np.full(len(targets), 2.0))
        steep = point.certificate.gradient_norm * np.linalg.norm(point.weights)
        bent = max(0.0, -point.certificate.curvature_bound) * np.sum(reference**2)
        error = (steep + bent) / 2.0
        open_loss = loss + slack / 2.0 + error
        bounds = objective_bounds(open_loss, point.weights, reference, self._absolute(features), self.penalty_power)
        ratio = (quartic_norm(point.weights) / quartic_norm(reference)) ** 0.25
        relative = error / point.certificate.objective
        if point.status == "not_certified" or relative > self.limit:
            return *(np.nan,) * 4, relative
        return *bounds, slack, ratio, relative


@dataclass(frozen=True)
class End:
    """A stationary point: weights (m, D) with their certificate, weights at a tenth of the ridge, operations spent.

    status: ok, diverged (without a certificate), collapsed or not_certified. Weights of no use as W* are NaN.
    """

    weights: np.ndarray
    certificate: Any
    looser: np.ndarray
    flops: float
    status: str

    @property
    def end(self) -> np.ndarray:
        """The weights as a reference of other points."""
        return np.full_like(self.weights, np.nan) if self.status in WITHOUT_END else self.weights
