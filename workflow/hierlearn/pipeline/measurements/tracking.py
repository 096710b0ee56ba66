"""Which of its Taylor models a trained randomised network follows: the quadratic one or its tangent kernel."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from annotated_types import Ge

from hierlearn.core import contracts
from hierlearn.core.parameters import Nested, NestedByName, Positive
from hierlearn.core.problem import Problem
from hierlearn.core.protocols import (
    REMEDIES,
    STATIONARY,
    Experiment,
    Fit,
    Learner,
    NullMonitor,
    Representation,
    TrainingData,
)
from hierlearn.pipeline.measurements._parameters import Several, TestPoints, TrainingPoints, Widths, listing
from hierlearn.pipeline.measurements._trainings import failures, mean_square, movement, outcomes, shown
from hierlearn.pipeline.measurements._variables import Variables, describe

# Two models that both predict almost 0 are close to each other, and say nothing of who follows whom.
LEAST_FIT = 0.1


@dataclass(frozen=True, kw_only=True)
class Tracking(Experiment):
    """Trains f_{W0 + WZ}, its Quad and its NTK on the same points from the same w0  (bai2020, Section 3, Theorem 6).

    The network and the quadratic model minimise their losses plus a ridge |W|_{2,4}^power, each at the best of the same
    ridges, from the same small start; a network that follows its quadratic part comes closer to that model as it
    widens, and neither to the other nor as close to the quadratic model of another draw of w0.
    """

    network: Annotated[Learner, Nested("learners", {"name": "randomised"}), "The true network at randomised weights."]
    quadratic: Annotated[
        Learner,
        Nested(
            "learners", {"name": "taylor", "order": 2, "activation": "relu3", "penalty_power": 8, "tolerance": 1.0e-4}
        ),
        "Its second-order model, of the same activation, penalty and start.",
    ]
    linear: Annotated[
        Learner, Nested("learners", {"name": "taylor", "order": 1, "activation": "relu3"}), "Its first-order model."
    ]
    others: Annotated[
        Mapping[str, Learner],
        NestedByName("learners", {}),
        "More networks by name, whose risk is held against that of the first.",
    ]
    representation: Annotated[Representation, Nested("representations", {"name": "raw"}), "What the three see of x."]
    widths: Widths = listing(32, 128)
    ridges: Annotated[
        Several[Positive],
        "Ridges of the networks and of the quadratic models; for each the best on validation points counts.",
    ] = listing(1.0e-3)
    linear_ridges: Annotated[
        Several[Positive], "Ridges of the first-order model; the best on validation points counts."
    ] = listing(1.0e-1, 1.0e-2, 1.0e-3, 1.0e-4)
    samples: TrainingPoints = 300
    validation: Annotated[int, Ge(2), "Number of validation points."] = 500
    test: TestPoints = 2000
    MEASURES = {
        "true_to_quad": "L2 distance of the network from the quadratic model on test points",
        "true_to_ntk": "L2 distance of the network from the first-order model on test points",
        "true_to_another": "L2 distance of the network from the quadratic model of another draw of w0 on test points",
        "distance_ratio": "distance from the quadratic model over that from the first-order model",
        "another_ratio": "distance from the quadratic model of another draw of w0 over that from the first-order model",
        "nearness": "distance from the quadratic model over the smaller of the other two distances",
        "another_nearness": "distance from the quadratic model of another draw of w0 over the smaller of the other two",
        "gap": "squared error of the network on test points less that on training points",
        "quad_gap": "squared error of the quadratic model on test points less that on training points",
        "true_risk": "squared error of the network on test points",
        "quad_risk": "squared error of the quadratic model on test points",
        "another_risk": "squared error of the quadratic model of another draw of w0 on test points",
        "ntk_risk": "squared error of the first-order model on test points",
        "true_train_risk": "squared error of the network on training points",
        "quad_train_risk": "squared error of the quadratic model on training points",
        "ntk_train_risk": "squared error of the first-order model on training points",
        "another_train_risk": "squared error of the quadratic model of another draw of w0 on training points",
        "other_ratio": "squared error on test points of another network over that of the first",
        "true_norm": "|W|_{2,4} of the network's movement",
        "quad_norm": "|W|_{2,4} of the quadratic model's movement",
        "another_norm": "|W|_{2,4} of the movement of the quadratic model of another draw of w0",
        "true_ridge": "ridge that the network chose",
        "quad_ridge": "ridge that the quadratic model chose",
        "another_ridge": "ridge that the quadratic model of another draw of w0 chose",
    }
    COORDINATES = {"width": "widths", "other": "others"}

    def measure(self, problem: Problem) -> Variables:
        """MEASURES over (seed, width), in the target's units; NaN what rests on a training that failed.

        other_ratio is over (seed, width, other).
        """
        streams = problem.streams.at("tracking")
        counts = {"training": self.samples, "validation": self.validation, "test": self.test}
        problem, features = shown(replace(problem, held_out=self.validation), self.representation, streams, counts)
        rows = [self._at(width, problem, features, streams) for width in self.widths]
        axes, flops = ("seed", "width"), np.sum([row.pop("flops") for row in rows], axis=0)
        measures = {name: (axes, np.stack([row[name] for row in rows], axis=1)) for name in rows[0]}
        if self.others:
            pairs = [[(*other, width, self.ridges) for other in self.others.items()] for width in self.widths]
            more = [[self._fit(*pair, problem, features, streams) for pair in row] for row in pairs]
            risks = np.array([[risk for _, risk, _ in row] for row in more])
            ratios = np.moveaxis(risks, 2, 0) / measures["true_risk"][1][:, :, None]
            flops = flops + sum(fit.flops for row in more for fit, *_ in row)
            measures["other_ratio"] = ((*axes, "other"), ratios)
        return describe(self, problem, measures, flops)

    def _at(self, width, problem, features, streams) -> dict[str, np.ndarray]:
        """Every measure (S,) at one width, but for those of other networks."""
        learners = {
            "true": ("network", self.network, self.ridges, streams),
            "quad": ("quadratic", self.quadratic, self.ridges, streams),
            "another": ("quadratic of another w0", self.quadratic, self.ridges, streams.at("another")),
            "ntk": ("linear", self.linear, self.linear_ridges, streams),
        }
        found, outputs, flops = {}, {}, 0.0
        for name, (title, learner, ridges, drawn) in learners.items():
            fit, risk, outputs[name] = self._fit(title, learner, width, ridges, problem, features, drawn)
            found[f"{name}_risk"], sound = risk, np.where(np.isnan(risk), np.nan, 1.0)
            found[f"{name}_train_risk"] = fit.train_risk * sound
            if name != "ntk":
                found[f"{name}_norm"] = movement(fit) * sound
                found[f"{name}_ridge"] = fit.choices["ridge"] * sound
            flops = flops + fit.flops
        own, other, linear = (np.sqrt(mean_square(outputs["true"] - outputs[name])) for name in list(learners)[1:])
        return found | {
            "true_to_quad": own,
            "true_to_another": other,
            "true_to_ntk": linear,
            "distance_ratio": own / linear,
            "another_ratio": other / linear,
            "nearness": own / np.minimum(other, linear),
            "another_nearness": other / np.minimum(own, linear),
            "gap": found["true_risk"] - found["true_train_risk"],
            "quad_gap": found["quad_risk"] - found["quad_train_risk"],
            "flops": flops,
        }

    def _fit(self, title, template, width, ridges, problem, features, streams) -> tuple[Fit, np.ndarray, np.ndarray]:
        """A learner's fit, its risk (S,) and its outputs on test points, NaN where it failed."""
        learner, test = replace(template, width=width), problem.pools["test"]
        sample = TrainingData(problem, features, self.samples, {"ridge": ridges}, streams)
        fit = contracts.fit(learner, sample, NullMonitor(), {})
        share = 1.0 - fit.train_risk / mean_square(problem.pools["training"].labels)
        # A tangent kernel that learns nothing is a finding.
        share = np.ones_like(share) if template is self.linear else share
        failed = failures("tracking", title, {"width": width}, problem.seeds, _outcomes(fit, share))
        outputs = contracts.predictions(learner, fit.state, features, "test", test.target.shape, {})
        outputs = outputs * np.where(failed, np.nan, 1.0)[:, None, None]
        return fit, mean_square(outputs - test.target), outputs


def _outcomes(fit: Fit, share: np.ndarray) -> np.ndarray:
    """What became of every seed's training, (S,). share (S,): part of the labels' mean square that the fit explains."""
    words = outcomes(fit)
    sound = ~np.isin(words, list(REMEDIES))
    uncertified = fit.certificate is not None and fit.certificate["stationary"] == STATIONARY["no"]
    words = np.where(sound & (share < LEAST_FIT), "nearly_collapsed", words)
    return np.where(sound & uncertified, "not_certified", words)
