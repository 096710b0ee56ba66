"""Quadratic DenseNets as learners of classes: their last layer refitted, and what they are measured by."""

import numpy as np
import scipy

from hierlearn.core.problem import ProblemFeatures, pose
from hierlearn.core.protocols import NullMonitor, TrainingData
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.learners.densenets import refit

SEEDS = (3, 5, 8)
TEACHER = {"name": "quadratic_densenet", "widths": [2, 1], "gap": 0.3}


def posed(teacher, dimension):
    gaussian = build("inputs", {"name": "gaussian"}, dimension=dimension)
    problem = pose(gaussian, build("teachers", teacher), "paper", 0.0, Streams(("classes",), SEEDS), 300)
    raw = build("representations", {"name": "raw"})
    return problem, ProblemFeatures(problem, raw, raw.fit(np.empty((len(SEEDS), 0, 0)), problem.streams))


def fitted(where, samples=800, **parameters):
    problem, features = where
    learner = build("learners", {"name": "densenet", "width": 8, "steps": 40, "batch": 32} | parameters)
    sample = TrainingData(problem, features, samples, {}, problem.streams.at("learner", "densenet"))
    return learner, learner.fit(sample, NullMonitor(), {})


def test_a_last_layer_refitted_to_classes_is_the_minimiser_of_its_logistic_loss():
    teacher = {"name": "quadratic_densenet", "kind": "classes", "widths": [2, 1]}
    where = problem, features = posed(teacher, 7)
    given = {"schedule": "layerwise", "samples": 4000, "sharpness": 5.0}
    _, trained = fitted(where, **given)
    learner, fit = fitted(where, readout="refitted", **given)
    for name in ("layer_2", "layer_3"):
        assert np.array_equal(fit.state[name], trained.state[name])
    assert np.all(fit.measures["cross_entropy"] < trained.measures["cross_entropy"])
    network = {name: values for name, values in fit.state.items() if name != "correction"}
    y = problem.draw("training", 4000).labels[..., 0]
    f = learner.predict(network, features, "training", 4000, {})[..., 0]
    outputs = learner.predict(fit.state, features, "training", 4000, {})[..., 0]
    for i in range(len(SEEDS)):
        x = problem.draw("training", 4000).x[i, :, 1:].astype(float)
        hidden = np.concatenate([x**2 - 1, x], axis=1) @ fit.state["layer_2"][i].astype(float).T
        columns = np.concatenate([np.ones((4000, 1)), x, hidden**2], axis=1)
        design = np.einsum("na,nb->nab", columns, columns)[:, *np.triu_indices(columns.shape[1])]
        # What is added is in the span of the products, and no step in it that is not tiny lowers the loss by much.
        added = outputs[i] - f[i]
        weights = np.linalg.lstsq(design, added, rcond=1e-9)[0]
        assert np.abs(design @ weights - added).max() < 2e-3 * np.abs(added).max()

        def loss(out, i=i):
            return np.mean(np.log1p(np.exp(-5.0 * y[i] * out)))

        assert loss(outputs[i]) < loss(f[i])
        pull = -y[i] / (1 + np.exp(5.0 * y[i] * outputs[i]))
        curvature = 0.25 * design.T @ design / len(design)
        step = np.linalg.lstsq(curvature * 5.0, -design.T @ pull / len(design), rcond=1e-6)[0]
        assert loss(outputs[i] + design @ step) > 0.98 * loss(outputs[i])


def test_points_far_from_the_margin_are_left_out_as_long_as_they_stay_far():
    rng, v = np.random.default_rng(0), 40.0
    design, offsets = rng.standard_normal((3000, 5)), rng.standard_normal(3000)
    labels = np.sign(offsets + design @ np.array([0.5, -0.4, 0.3, 0.2, 0.6]) + 0.1 * rng.standard_normal(3000))
    margins = v * labels * offsets
    found = refit.logistic_path(design, offsets, labels, v)
    moved = margins + v * labels * (design @ found[-1])
    # Of those far away some come near with the weights, and most stay.
    assert np.sum((margins > refit.FAR) & (moved < refit.NEAR)) > 50
    assert np.sum((margins > refit.FAR) & (moved > refit.FAR)) > 500
    sizes = np.mean(design**2, axis=0)
    for ridge, weights in zip(refit.RIDGES_OF_CLASSES, found, strict=True):

        def loss(w, ridge=ridge):
            terms = np.logaddexp(0.0, -v * labels * (offsets + design @ w))
            return np.mean(terms) / v + ridge * v / 8 * (w**2 @ sizes)

        def gradient(w, ridge=ridge):
            pull = -labels * scipy.special.expit(-v * labels * (offsets + design @ w))
            return pull @ design / len(design) + ridge * v / 4 * sizes * w

        def hessian(w, ridge=ridge):
            share = scipy.special.expit(v * (offsets + design @ w))
            return (design.T * (v * share * (1 - share))) @ design / len(design) + ridge * v / 4 * np.diag(sizes)

        exact = scipy.optimize.minimize(loss, np.zeros(5), jac=gradient, hess=hessian, method="trust-exact")
        assert loss(weights) < (1 + 1e-5) * exact.fun
        np.testing.assert_allclose(weights, exact.x, rtol=1e-3)


def test_the_measures_of_classes_are_those_of_the_margin():
    teacher = TEACHER | {"kind": "classes"}
    where = problem, features = posed(teacher, 6)
    learner, fit = fitted(where, sharpness=4.0)
    x = problem.draw("validation", 300)
    outputs = learner.predict(fit.state, features, "validation", 300, {})
    teacher, state = problem.teacher, problem.state
    inner = sum(part for name, part in teacher.parts(state, x.x).items() if name != "threshold")
    threshold = x.x[..., :1] - state["mean"][:, None, None]
    np.testing.assert_allclose(fit.measures["squared_error"], np.mean((outputs - threshold - inner) ** 2, axis=(1, 2)))
    found = -np.mean(np.log(1 / (1 + np.exp(-4.0 * x.labels * outputs))), axis=(1, 2))
    np.testing.assert_allclose(fit.measures["cross_entropy"], found)


def test_the_squared_error_from_values_is_in_units_of_the_variance_of_the_target():
    where = problem, features = posed(TEACHER, 8)
    learner, fit = fitted(where)
    x, state = problem.draw("validation", 300), problem.state
    outputs = learner.predict(fit.state, features, "validation", 300, {})
    clean = problem.teacher.target(state, x.x)
    expected = np.mean((outputs - clean) ** 2, axis=(1, 2)) / (state["second_moment"] - state["mean"] ** 2)
    np.testing.assert_allclose(fit.measures["squared_error"], expected)
    assert np.isnan(fit.measures["cross_entropy"]).all()
