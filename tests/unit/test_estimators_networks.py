"""Networks as estimators are the library's learners to the last bit, and say in one line what is wrong."""

import importlib.util

import numpy as np
import pytest

from hierlearn import estimators
from hierlearn.core.problem import ProblemFeatures, pose
from hierlearn.core.protocols import NullMonitor, TrainingData
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.datasets import make_pictures

SEED, SAMPLES, HELD_OUT = 3, 80, 40
PLAIN = {"fit_intercept": False, "scale": None, "refit": False, "random_state": SEED}
VECTORS = ("gaussian", {"name": "quadratic_toy"}, 5)
# Learner, choices and the problem; the estimator and its parameters.
RATES = {"learning_rate": [0.01, 0.003], "weight_decay": [0.0]}
CASES = {
    "randomised": (
        {"name": "randomised", "steps": 20, "width": 8},
        {"ridge": [1e-2, 1e-3]},
        VECTORS,
        ("RandomisedNetworkRegressor", {"max_iter": 20, "width": 8, "alphas": [1e-2, 1e-3]}),
    ),
    "network": (
        {"name": "network", "epochs": 3, "width": 8, "trained": "all", "optimiser": "adam", "bias": False},
        RATES,
        VECTORS,
        ("ResidualNetworkRegressor", {"max_iter": 3, "width": 8, "learning_rate": [0.01, 0.003]}),
    ),
    "densenet": (
        {"name": "densenet", "epochs": 3, "width": 6, "depth": 3, "gap": 0.2, "batch": 50, "graph": [[0, 1], [0, 2]]}
        | {"readout": "refitted"},
        RATES,
        ("gaussian", {"name": "ridge_polynomial", "degree": 2}, 5),
        ("QuadraticDenseNetRegressor", {"max_iter": 3, "width": 6, "learning_rate": [0.01, 0.003]}),
    ),
    "convolutional": (
        {"name": "convolutional", "architecture": "plain", "width": 4, "steps": 3, "head": "flat"},
        {"learning_rate": [0.1, 0.02, 0.005], "weight_decay": [0.0]},
        ("digits", {"name": "picture_class"}, 64),
        ("ConvolutionalClassifier", {"width": 4, "max_iter": 3}),
    ),
    "convolutional_kernel": (
        {"name": "convolutional_kernel", "architecture": "plain", "width": 4, "head": "flat"},
        {"ridge": [0.1, 0.01]},
        ("digits", {"name": "picture_class"}, 64),
        ("ConvolutionalKernelClassifier", {"width": 4, "alphas": [0.1, 0.01]}),
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore:.*lies at the end of its grid")
def test_an_estimator_is_the_workflows_learner_to_the_last_bit(name):
    description, choices, (law, teacher, dimension), (kind, given) = CASES[name]
    inputs, streams = build("inputs", {"name": law}, dimension=dimension), Streams(("arrays",), (SEED,))
    problem = pose(inputs, build("teachers", teacher), "paper", 0.0, streams, HELD_OUT)
    raw = build("representations", {"name": "raw"})
    features = ProblemFeatures(problem, raw, raw.fit(np.zeros((1, 0, dimension)), streams))
    learner = build("learners", description)
    sample = TrainingData(problem, features, SAMPLES, choices, streams.at("learner", learner.stream_key))
    fit = learner.fit(sample, NullMonitor(), {})
    expected = learner.predict(fit.state, features, "validation", HELD_OUT, {})[0]
    batches = [problem.draw("training", SAMPLES), problem.draw("validation", HELD_OUT)]
    X, y = np.concatenate([batch.x[0] for batch in batches]), np.concatenate([batch.labels[0] for batch in batches])
    split = [(np.arange(SAMPLES), np.arange(SAMPLES, SAMPLES + HELD_OUT))]
    model = getattr(estimators, kind)(cv=split, **given, **PLAIN)
    classes = problem.teacher.kind == "classes"
    model.fit(X, y.argmax(axis=1) if classes else y[:, 0])
    got = model.decision_function(X[SAMPLES:]) if classes else model.predict(X[SAMPLES:])[:, None]
    assert np.array_equal(got, expected)


def test_several_outputs_have_a_densenet_each():
    X = np.random.default_rng(0).standard_normal((300, 4))
    y = np.stack([X[:, 0] ** 2, X[:, 1] * X[:, 2]], axis=1)
    model = estimators.QuadraticDenseNetRegressor(width=8, max_iter=10, random_state=0).fit(X[:200], y[:200])
    assert model.predict(X[200:]).shape == (100, 2)
    assert model.score(X[200:], y[200:]) > 0.9
    assert model.learning_rate_ in (1e-2, 1e-3)


@pytest.mark.parametrize("schedule", ["staged", "joint", "layerwise"])
def test_every_schedule_of_a_densenet_learns(schedule):
    X = np.random.default_rng(0).standard_normal((300, 4))
    model = estimators.QuadraticDenseNetRegressor(schedule=schedule, width=8, max_iter=10, random_state=0)
    assert model.fit(X[:200], X[:200, 0] ** 2).score(X[200:], X[200:, 0] ** 2) > 0.9


REFUSED = {
    "RandomisedNetworkRegressor: activation 'relu3' with order 3": (
        "RandomisedNetworkRegressor",
        {"order": 3, "activation": "relu3"},
    ),
    "ResidualNetworkRegressor: architecture 'two_layer' with schedule 'layerwise'": (
        "ResidualNetworkRegressor",
        {"architecture": "two_layer", "schedule": "layerwise"},
    ),
    "ResidualNetworkRegressor: alpha -1; expected at least 0": ("ResidualNetworkRegressor", {"alpha": -1}),
    "ResidualNetworkRegressor: momentum 1.0; expected less than 1": ("ResidualNetworkRegressor", {"momentum": 1.0}),
    "QuadraticDenseNetRegressor: depth 7; expected at most 6": ("QuadraticDenseNetRegressor", {"depth": 7}),
    "ConvolutionalRegressor: shape .* for 16 features; expected": ("ConvolutionalRegressor", {"shape": (1, 3, 5)}),
    "ConvolutionalRegressor: patch .*; expected a divisor": (
        "ConvolutionalRegressor",
        {"architecture": "patches", "patch": 3},
    ),
    "ConvolutionalRegressor: device 'cuda'": ("ConvolutionalRegressor", {"device": "cuda"}),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_trained_is_refused_in_one_line(message):
    X = np.random.default_rng(0).standard_normal((60, 16))
    kind, given = REFUSED[message]
    if given.get("device") == "cuda" and cuda():
        pytest.skip("there is a GPU")
    with pytest.raises(ValueError, match=message) as refused:
        getattr(estimators, kind)(**given).fit(X, X[:, 0])
    assert "\n" not in str(refused.value)


def cuda():
    import torch

    return torch.cuda.is_available()


def test_without_torch_a_line_says_so(monkeypatch):
    X, y = make_pictures(50, random_state=0)
    find = importlib.util.find_spec
    monkeypatch.setattr("hierlearn.estimators._base.find_spec", lambda name: None if name == "torch" else find(name))
    with pytest.raises(ImportError, match="ConvolutionalClassifier: found no torch; install it"):
        estimators.ConvolutionalClassifier().fit(X, y)
