"""What every learner must do where points, targets or one of the values to choose from are odd but legal."""

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from hierlearn.core.problem import ProblemFeatures, pose
from hierlearn.core.protocols import STATUS, NullMonitor, TrainingData
from hierlearn.core.registry import available, build, choices
from hierlearn.core.streams import Streams
from hierlearn.inputs.hypercube import Hypercube
from hierlearn.inputs.sphere import Sphere
from hierlearn.learners.kernel_ridge import KernelRidge
from hierlearn.learners.network_kernel import NetworkKernel
from hierlearn.learners.taylor import Taylor
from hierlearn.teachers.parity import Parity
from hierlearn.teachers.ridge_polynomial import RidgePolynomial

SEEDS, SAMPLES, HELD_OUT = (4,), 12, 10
ORDINARY = {
    "ridge": [1e-2],
    "learning_rate": [0.05],
    "weight_decay": [0.0],
    "bandwidth": [1.0],
    "gap": [0.1],
    "graph": ["skip"],
    "selected_on": ["validation"],
}
# A value of each choice at which nothing can be learned: singular, overflowing or diverging.
HOPELESS = {"ridge": [1e-300, 1e308], "learning_rate": [1e30], "weight_decay": [1e30], "bandwidth": [1e-300]}
PAIRS = [
    (name, choice, value)
    for name in available("learners")
    for choice, values in HOPELESS.items()
    if choice in choices("learners", name)
    for value in values
]


@dataclass(frozen=True)
class Zeros(Sphere):
    """Points that are all zero."""

    def draw(self, generator, rows):
        return np.zeros((rows, self.dimension))


@dataclass(frozen=True)
class Copies(Sphere):
    """Points that are all the same."""

    def draw(self, generator, rows):
        return np.tile(np.eye(self.dimension)[0], (rows, 1))


@dataclass(frozen=True, kw_only=True)
class Constant(RidgePolynomial):
    """A target of one value."""

    value: ClassVar[float] = 1.0

    def target(self, state, x):
        return np.full((*x.shape[:2], 1), self.value)

    def norm(self, state, inputs):
        return np.ones(len(SEEDS))


class Nothing(Constant):
    """A target of zeros."""

    value: ClassVar[float] = 0.0


QUADRATIC = RidgePolynomial(degree=2)
CASES = {
    "points that are all zero": (Zeros(dimension=4), Constant(degree=2), SAMPLES),
    "copies of a point": (Copies(dimension=4), QUADRATIC, SAMPLES),
    "a constant target": (Sphere(dimension=4), Constant(degree=2), SAMPLES),
    "a target of zeros": (Sphere(dimension=4), Nothing(degree=2), SAMPLES),
    "one sample": (Sphere(dimension=4), QUADRATIC, 1),
    "one feature": (Hypercube(dimension=1), Parity(order=1), SAMPLES),
}


def learned(learner, name, inputs, teacher, samples, **changed):
    """The fit, and predictions on test points; a warning is an error."""
    problem = pose(inputs, teacher, "unit", 0.0, Streams(("odd",), SEEDS), HELD_OUT)
    raw = build("representations", {"name": "raw"})
    features = ProblemFeatures(problem, raw, raw.fit(problem.unlabelled(1), problem.streams))
    streams, known = problem.streams.at("learner"), choices("learners", name)
    offered = {key: changed.get(key, ORDINARY.get(key)) for key in known}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = learner.fit(TrainingData(problem, features, samples, offered, streams), NullMonitor(), {})
        return fit, learner.predict(fit.state, features, "test", 8, {})


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", available("learners"))
def test_odd_points_and_targets_are_learned_to_finite_numbers(name, case):
    fit, predictions = learned(build("learners", {"name": name}), name, *CASES[case])
    # Where zero is the only answer, a model that ends there may say that it collapsed.
    allowed = {"ok", "not_converged"} | ({"collapsed"} if "zero" in case else set())
    assert {word for word, code in STATUS.items() if code in fit.status} <= allowed
    for values in (predictions, fit.validation_risk, fit.train_risk):
        assert np.isfinite(values).all()


@pytest.mark.parametrize(("name", "choice", "value"), PAIRS)
def test_a_hopeless_value_leaves_the_others_to_choose_from(name, choice, value):
    learner, case = build("learners", {"name": name}), (Sphere(dimension=4), QUADRATIC, SAMPLES)
    plain, _ = learned(learner, name, *case)
    for order in (1, -1):
        fit, predictions = learned(learner, name, *case, **{choice: [value, *ORDINARY[choice]][::order]})
        # Whether a descent has converged at a chosen end hangs on rounding.
        assert set(fit.status.tolist()) <= {STATUS["ok"], STATUS["not_converged"]}
        assert np.isfinite(predictions).all()
        if fit.choices[choice].tolist() == ORDINARY[choice]:
            np.testing.assert_allclose(fit.validation_risk, plain.validation_risk, rtol=1e-3, atol=1e-6)
        else:
            # What looked hopeless was the better one: interpolation, or a decay that a step forgets.
            assert fit.validation_risk < plain.validation_risk


# The first makes points that are not finite, the second kernel values.
@pytest.mark.parametrize("hopeless", [1e-80, 1e-30])
def test_a_bandwidth_at_which_points_or_kernel_overflow_is_left_out(caplog, hopeless):
    kernel = build("kernels", {"name": "polynomial", "degree": 10})
    learner, case = KernelRidge(kernel=kernel), CASES["a constant target"]
    plain, _ = learned(learner, "kernel_ridge", *case)
    fit, predictions = learned(learner, "kernel_ridge", *case, bandwidth=[hopeless, 1.0])
    assert fit.choices["bandwidth"].tolist() == [1.0]
    assert np.array_equal(fit.state["coefficients"], plain.state["coefficients"])
    assert f"points over the bandwidth {hopeless} overflow; use a larger one" in caplog.text
    alone, lost = learned(learner, "kernel_ridge", *case, bandwidth=[hopeless])
    assert alone.status.tolist() == [STATUS["diverged"]]
    assert np.isfinite(predictions).all()
    assert np.isnan(lost).all()


@pytest.mark.parametrize(
    ("learner", "name"),
    [
        (KernelRidge(kernel=build("kernels", {"name": "arcsin"})), "kernel_ridge"),
        (KernelRidge(kernel=build("kernels", {"name": "ntk_raw", "bias": False})), "kernel_ridge"),
        (NetworkKernel(bias=False), "network_kernel"),
        (Taylor(order=1), "taylor"),
    ],
    ids=["arcsin", "ntk_raw", "network_kernel", "taylor"],
)
def test_a_gram_matrix_of_zeros_has_the_fit_zero(learner, name):
    fit, predictions = learned(learner, name, Zeros(dimension=4), Constant(degree=2), SAMPLES)
    assert fit.status.tolist() == [STATUS["ok"]]
    assert fit.train_risk.tolist() == [1.0]
    assert fit.validation_risk.tolist() == [1.0]
    assert not predictions.any()


def test_a_second_round_goes_on_from_a_first_one_that_is_zero():
    learner = build("learners", {"name": "kernel_rounds", "first": {"name": "arcsin"}})
    fit, _ = learned(learner, "kernel_rounds", Zeros(dimension=4), Constant(degree=2), SAMPLES)
    assert fit.status.tolist() == [STATUS["ok"]]
    assert fit.measures["first_round_risk"].tolist() == [1.0]
    assert fit.train_risk[0] < 1e-3
