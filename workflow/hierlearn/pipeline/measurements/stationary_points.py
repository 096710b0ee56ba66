"""Certified stationary points of quadratic Taylor models from several starts, against the landscape theorems."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from annotated_types import Ge, MinLen

from hierlearn.core.parameters import UNIQUE, Count, Index, Nested, Positive
from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Experiment
from hierlearn.pipeline.measurements import _models
from hierlearn.pipeline.measurements._models import End, ReferencePenalty, StartKinds, models, normal, training
from hierlearn.pipeline.measurements._parameters import Several, Start, TrainingPoints, Widths, listing
from hierlearn.pipeline.measurements._trainings import report_failure
from hierlearn.pipeline.measurements._variables import Variables, describe, split
from hierlearn.solvers.taylor.certificate import certify_and_polish
from hierlearn.theory.landscape import leading_reference

PAIRS = ("bound", "sharp_bound", "zero_bound", "reference_objective", "slack", "norm_ratio", "certificate_error")


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
    widths: Widths = listing(4, 8)
    starts: Annotated[list[Index], MinLen(2), UNIQUE, "Random starts, by number."] = listing(0, 1)
    kinds: StartKinds = listing("small")
    references: Annotated[
        Several[Literal["explicit", "penalised", "smaller_ridge", "other_start"]],
        "W*: explicit, from leading eigenvectors of the labels; penalised, from there down L(W*) + c ridge |W*|^p; "
        "smaller_ridge, the same start at a tenth of the ridge; other_start, the end point of the next start.",
    ] = listing("explicit", "smaller_ridge", "other_start")
    samples: TrainingPoints = 50
    unlabelled: Annotated[int, Ge(2), "Number n0 of unlabelled points of the representation."] = 100
    ridge: Annotated[Positive, "Ridge of the penalty, for features with |h|^2 = D."] = 1.0e-2
    reference_penalty: ReferencePenalty = None
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
        "reference_objective": "L(W*) + ridge |W*|^p",
        "excess": "objective less the least one known: of all starts and references of the width that ended",
        "zero_objective": "L(0), stationary to first order only",
        "zero_bound": "L(W*) + c ridge |W*|^p, the bound at W = 0 where s = 0, without a certificate",
        "spread": "range of the objective over starts, relative to the smallest",
    }
    COORDINATES = {"width": "widths", "kind": "kinds", "start": "starts", "reference": "references"}

    def measure(self, problem: Problem) -> Variables:
        """MEASURES over (seed, width, kind, start, reference), those without W* over fewer.

        NaN at an end that diverged, collapsed or is not certified, but for an error that is over the limit.
        """
        streams, power = problem.streams.at("stationary_points"), self.penalty_power
        data = training(problem, streams, self.samples, self.representation, self.unlabelled)
        starts = [normal(streams.at("start", i), max(self.widths), data[0].shape[-1]) for i in self.starts]
        shape = (len(problem.seeds), len(self.widths), len(self.kinds), len(self.starts))
        objective, flops, zero = np.full(shape, np.nan), np.zeros(len(problem.seeds)), np.empty(len(problem.seeds))
        values = np.empty((*shape, len(self.references), len(PAIRS)))
        for s, i, _, model in models(*data, streams, self.widths, self.activation):
            width, explicit = self.widths[i], leading_reference(*model)
            zero[s] = float(np.mean(model.targets**2))
            ridge = self.ridge * float(model.features.shape[1]) ** (-power / 2)
            if self.reference_penalty is not None:
                ridge = _models.ridge_of(self.reference_penalty, explicit, power)
            fixed = {"explicit": explicit}
            if "penalised" in self.references:
                fixed["penalised"] = _models.penalised_reference(model, explicit, ridge, power, self.max_iterations)
            for j, kind in enumerate(self.kinds):
                places = [
                    {"seed": problem.seeds[s], "width": width, "kind": kind, "start": number} for number in self.starts
                ]
                begins = [_models.start_of(kind, row[s, :width], explicit, self.start) for row in starts]
                runs = [self._train(model, begin, ridge, place) for begin, place in zip(begins, places, strict=True)]
                flops[s] += sum(run.flops for run in runs)
                for k, run in enumerate(runs):
                    known = fixed | {"smaller_ridge": run.looser, "other_start": runs[(k + 1) % len(runs)].reference}
                    objective[s, i, j, k] = run.end.objective if run.status == "ok" else np.nan
                    values[s, i, j, k] = self._compare(model, run, known, ridge, places[k])
        axes, least = ("seed", "width", "kind", "start", "reference"), objective.min(axis=3)
        measures = {
            **split(axes, PAIRS, values),
            "certificate_limit": (axes, np.full(values.shape[:-1], self.limit)),
            "objective": (axes[:4], objective),
            "excess": (axes[:4], _models.excess(objective, values[..., PAIRS.index("reference_objective")])),
            "spread": (axes[:3], (objective.max(axis=3) - least) / least),
            "zero_objective": (("seed",), zero),
        }
        return describe(self, problem, measures, flops)

    def _compare(self, model, run, known, ridge, place) -> list[list[float]]:
        """PAIRS of one end against each reference."""
        rows = []
        for name in self.references:
            found = run.end.compare(model, known[name], ridge, self.penalty_power, self.limit)
            if run.status == "ok" and found["certificate_error"] > self.limit:
                report_failure("stationary_points", "taylor", place | {"reference": name}, "not_certified")
            rows.append([found[measure] for measure in PAIRS])
        return rows

    def _train(self, model, start, ridge, place) -> "Run":
        """The certified end of one start, and where the path goes from there at a tenth of the ridge."""
        power = self.penalty_power
        ridges = [ridge, 0.1 * ridge] if "smaller_ridge" in self.references else [ridge]
        path = model.train(ridges, start, power=power, max_iterations=self.max_iterations)
        looser, flops = path.weights[-1], float(np.sum(path.flops))
        if report_failure("stationary_points", "taylor at the smallest ridge", place, path.status[-1]):
            looser = np.full_like(looser, np.nan)
        end = End(path.weights[0], np.nan, np.nan, np.nan)
        if path.status[0] != "diverged":
            # The certificate weighs curvature by |W|^2, the theorem by |W*|^2: half of the limit leaves room for it.
            options = {"penalty_power": power, "limit": 0.5 * self.limit, "max_rounds": self.polish_rounds}
            done = certify_and_polish(*model, ridge, path.weights[0], **options)
            found = done.certificate
            end = End(done.weights, found.objective, found.gradient_norm, found.curvature_bound)
            flops += done.products * 2.0 * model.gates.size * model.features.shape[1]
        status = end.status(model.targets, self.limit)
        report_failure("stationary_points", "taylor", place, status)
        reference = end.weights * (np.nan if status in ("diverged", "collapsed") else 1.0)
        return Run(end, status, looser, reference, flops)


class Run(NamedTuple):
    """The end of one start, what became of it, weights at a tenth of the ridge, those that serve as W* of other ends
    (NaN where they are of no use), and operations spent."""

    end: End
    status: str
    looser: np.ndarray
    reference: np.ndarray
    flops: float
