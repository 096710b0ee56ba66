"""The tangent kernel of a convolutional network as a learner."""

import numpy as np
import pytest
import torch

from hierlearn.core.problem import ProblemFeatures, pose
from hierlearn.core.protocols import NullMonitor, TrainingData
from hierlearn.core.registry import build, defaults, validate
from hierlearn.core.streams import Streams
from hierlearn.learners import convolutional_kernel
from hierlearn.learners._convolutional_networks import network, pictures
from hierlearn.solvers.convolutional import tangent

NAME = {"name": "convolutional_kernel", "architecture": "plain", "depth": 2, "width": 8}


def digits(seeds=(0, 1)):
    inputs = build("inputs", {"name": "digits"}, dimension=64)
    return pose(inputs, build("teachers", {"name": "picture_class"}), "paper", 0.0, Streams(("t",), seeds, 1), 60)


def fit(problem, n=80, ridges=(1e-3, 1e-5), **parameters):
    learner = build("learners", NAME | parameters)
    raw = build("representations", {"name": "raw"})
    features = ProblemFeatures(problem, raw, raw.fit(None, problem.streams))
    sample = TrainingData(problem, features, n, {"ridge": list(ridges)}, problem.streams.at("learner"))
    return learner, features, learner.fit(sample, NullMonitor(), {})


def test_predictions_are_those_of_kernel_ridge_regression_with_the_networks_kernel():
    problem = digits()
    learner, features, found = fit(problem, ridges=(1e-3,))
    outputs = learner.predict(found.state, features, "test", 50, {})
    net = network(learner, (1, 8, 8))
    x, z = (pictures(features.draw(role, n), net.shape) for role, n in (("training", 80), ("test", 50)))
    labels = problem.draw("training", 80).labels
    for s in range(2):
        weights = {name: values[s] for name, values in found.state.items() if name not in ("coefficients", "shape")}
        kernel = tangent.gram(net, weights, x[s], x[s], "cpu")
        shifted = kernel + 80 * 1e-3 * np.mean(np.diag(kernel)) * np.eye(80)
        wanted = tangent.gram(net, weights, z[s], x[s], "cpu") @ np.linalg.solve(shifted, labels[s])
        np.testing.assert_allclose(outputs[s], wanted, rtol=1e-5, atol=1e-6)
    assert np.all(found.validation_risk < 0.5)


def test_seeds_have_networks_of_their_own_and_keep_them_whoever_is_beside():
    _, _, both = fit(digits())
    _, _, alone = fit(digits((1,)))
    name = "layer0_weight0"
    assert not np.array_equal(*both.state[name])
    assert np.array_equal(both.state[name][1], alone.state[name][0])
    np.testing.assert_allclose(both.validation_risk[1], alone.validation_risk[0])


def test_the_ridge_with_the_least_error_on_validation_points_is_kept():
    alone = [fit(digits(), ridges=(ridge,))[2].validation_risk for ridge in (1e-1, 1e-5)]
    both = fit(digits(), ridges=(1e-1, 1e-5))[2]
    assert np.array_equal(both.validation_risk, np.minimum(*alone))


def test_batches_are_normalised_by_the_first_training_points(monkeypatch):
    monkeypatch.setattr(convolutional_kernel, "NORMALISED_BY", 40)
    small, large = fit(digits(), n=40)[2], fit(digits(), n=80)[2]
    for name in small.state:
        assert name == "coefficients" or np.array_equal(small.state[name], large.state[name])


def test_what_a_picture_cannot_carry_is_an_objection():
    inputs = build("inputs", {"name": "digits"}, dimension=64)
    described = defaults("learners", "convolutional_kernel") | NAME | {"architecture": "vgg", "depth": 5}
    ((parameter, found, _),) = validate("learners", described, inputs)
    assert (parameter, found) == ("depth", "5 layers that pool 4 times on 8 x 8 places")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here: the two devices are not compared")
def test_a_gpu_gives_the_same_kernel_to_rounding():
    found = [fit(digits(), device=device)[2] for device in ("cpu", "cuda")]
    np.testing.assert_allclose(*(one.state["coefficients"] for one in found), rtol=1e-2, atol=1e-3)
