"""What counts as the error of predictions, which of several fits is best, which of them diverged, and fits by seed."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import numpy as np

from hierlearn.core.parameters import Schema
from hierlearn.core.problem import wrong_classes
from hierlearn.core.protocols import Data, Fit, Labels, Monitor, Objection, TrainingData

# Measures of learners that train many settings of the steps.
DIVERGED = {
    "diverged_runs": "settings (learning rate, weight decay) whose weights or outputs were not finite at the end",
    "diverged_settings": "sum of 2^i over the settings in diverged_runs, i = 0, 1, ... in the order of the study, the "
    "last choice varying fastest",
}


class SelectionRule:
    """The choice of the points by which the others are made."""

    selected_on: Annotated[
        Literal["validation", "test"],
        Schema({"rule": "how the other choices are made"}),
        "Points on which the other choices are made; test is how allenzhu2019 chose.",
    ] = "validation"


def points_of_rules(data: Data) -> dict[str, int]:
    """How many points there are of each role on which choices may be made: of test points, those that are stored."""
    test = data.stored("test")
    return {"validation": data.held_out} | ({"test": test} if test else {})


def stack_by_rule(sample: TrainingData, fits: Iterable[Mapping[str, Fit]]) -> Fit:
    """All seeds' fits by the rule that the sample asks for. fits: of each seed, by the role of the points."""
    rule = sample.choices.get("selected_on", [SelectionRule.selected_on])[0]
    fit = Fit.stack(one[rule] for one in fits)
    if "selected_on" in sample.choices:
        fit.choices["selected_on"] = np.full(len(fit.status), ["validation", "test"].index(rule))
    return fit


def error(predictions: np.ndarray, labels: np.ndarray, kind: str) -> np.ndarray:
    """Mean squared error summed over outputs; for classes the share of wrong ones. (..., n, k), (n, k) -> (...).

    NaN where a prediction is not finite: its sign means nothing.
    """
    if kind == "classes":
        errors = wrong_classes(predictions, labels)
    else:
        errors = np.mean(np.sum((predictions - labels) ** 2, axis=-1), axis=-1)
    return np.where(np.isfinite(predictions).all(axis=(-2, -1)), errors, np.nan)


def divergence(
    monitor: Monitor, samples: int, seed: int, finite: np.ndarray, settings: Sequence[Mapping[str, Any]]
) -> dict[str, float]:
    """Return measures of DIVERGED of one seed; a line of the log names its settings that diverged, if there are
    any; finite (G,): which settings ended with finite values."""
    lost = np.flatnonzero(~finite)
    if len(lost):
        named = "; ".join(", ".join(f"{name} {value}" for name, value in settings[i].items()) for i in lost.tolist())
        monitor.report(1, 1, f"n = {samples}, seed {seed}: {len(lost)} of {len(settings)} runs diverged: {named}")
    return {"diverged_runs": float(len(lost)), "diverged_settings": float(np.sum(2.0**lost))}


def best(errors: np.ndarray, losses: np.ndarray) -> int:
    """Position of the least error (R,), among equal ones of the least loss (R,), then the first; not finite is last."""
    finite = np.where(np.isfinite(losses), losses, np.inf)
    return int(np.lexsort((finite, np.where(np.isfinite(finite), errors, np.inf)))[0])


def best_on_validation(
    predictions: np.ndarray,
    labels: np.ndarray,
    kind: str,
    loss: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
) -> int:
    """Position of the best of predictions (R, n, k) on validation points with labels (n, k).

    Regression: the least mean squared error. Classes: the least share of wrong ones, which often has ties, and among
    those the least mean of `loss`, a function of predictions and labels (squared by default).
    """
    losses = error(predictions, labels, "regression") if loss is None else np.mean(loss(predictions, labels), (-2, -1))
    return best(losses if kind == "regression" else error(predictions, labels, kind), losses)


def loss_of_classes(loss: str, labels: Labels) -> Iterator[Objection]:
    """Object to a loss that is for classes alone, on another target."""
    if loss != "squared" and labels.kind != "classes":
        yield "loss", f"{loss!r} with a target of {labels.kind}", "squared"


def points_by_seed(sample: TrainingData) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Features and labels of each seed's training points, (n, D) and (n, k), and the same of its validation points."""
    points = [("training", sample.n), ("validation", sample.data.held_out)]
    arrays = [of for point in points for of in (sample.features.draw(*point), sample.data.draw(*point).labels)]
    return zip(*arrays, strict=True)


def fit_of_seed(status: int, **parts: Any) -> Fit:
    """Return the fit of one seed, whose parts are those of `Fit` without the axis of seeds."""

    def with_axis(part: Any) -> Any:
        if isinstance(part, dict):
            return {name: with_axis(one) for name, one in part.items()}
        return np.asarray(part)[None]

    return Fit(status=np.array([status], np.int8), **with_axis(parts))
