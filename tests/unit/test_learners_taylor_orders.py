"""Taylor learners of every order, regulariser and loss, against what their definition says, computed another way."""

import math

import numpy as np
import pytest

from hierlearn.core.problem import ProblemFeatures, pose
from hierlearn.core.protocols import STATIONARY, NullMonitor, TrainingData
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.learners._selection import best_on_validation
from hierlearn.learners.taylor import Taylor, inverse_root

STREAMS = Streams(("taylor learners",), (1, 2))
RAW = {"name": "raw"}
# Fewer features than the 15 dimensions of the polynomials that they lie in: all directions are used.
NEURAL = {"name": "neural", "features": "quadratic", "count": 12, "whiten": "none", "unlabelled": 300}
CASES = [("relu2", 1), ("relu2", 2), ("relu3", 1), ("relu3", 2)]
CASES += [(activation, order) for activation in ("erf", "sin", "softplus") for order in (1, 2, 3, 4)]


def posed(representation=RAW, law="sphere", teacher=None, noise=0.0, dimension=4, streams=STREAMS):
    teacher = teacher or {"name": "ridge_polynomial", "degree": 2}
    inputs = build("inputs", {"name": law}, dimension=dimension)
    problem = pose(inputs, build("teachers", teacher), "unit", noise, streams, held_out=200)
    seen = build("representations", representation)
    return problem, ProblemFeatures(problem, seen, seen.fit(problem.unlabelled(max(seen.unlabelled, 1)), streams))


def classes(noise=0.1):
    return posed(RAW, "hypercube", {"name": "parity", "kind": "classes"}, noise, dimension=8)


def fitted(learner, problem, features, ridges, samples=60):
    return learner.fit(TrainingData(problem, features, samples, {"ridge": ridges}, STREAMS), NullMonitor(), {})


def network(torch, activation):
    """sigma itself, on torch tensors."""
    return {
        "relu2": lambda t: torch.relu(t) ** 2 / 2,
        "relu3": lambda t: torch.relu(t) ** 3 / 6,
        "erf": torch.erf,
        "sin": torch.sin,
        "softplus": torch.nn.functional.softplus,
    }[activation]


@pytest.mark.parametrize(("activation", "order"), CASES)
def test_the_model_is_that_term_of_the_true_networks_taylor_series(activation, order):
    """f^(k) is the k-th derivative of t -> f_{W0 + t W} at 0 over k!, here by nested automatic differentiation."""
    torch = pytest.importorskip("torch")
    problem, features = posed()
    width, learner = 6, Taylor(order=order, activation=activation, width=6)
    generator = np.random.default_rng(0)
    state = {
        "w0": generator.standard_normal((2, width // 2, 4)).astype(np.float32),
        "weights": generator.standard_normal((2, 2, width, 4)).astype(np.float32),
    }
    predicted = learner.predict(state, features, "test", 12, {})
    assert predicted.shape == (2, 12, 2)
    x = torch.as_tensor(problem.draw("test", 12).x, dtype=torch.float64)
    signs = torch.tensor([1.0] * 3 + [-1.0] * 3, dtype=torch.float64)
    for seed in range(2):
        w0 = torch.as_tensor(np.concatenate([state["w0"][seed]] * 2), dtype=torch.float64)
        for output in range(2):
            w = torch.as_tensor(state["weights"][seed, output], dtype=torch.float64)
            t = torch.zeros((), dtype=torch.float64, requires_grad=True)
            values = network(torch, activation)(x[seed] @ (w0 + t * w).T) @ signs / math.sqrt(width)
            for i in range(12):
                term = values[i]
                for _ in range(order):
                    (term,) = torch.autograd.grad(term, t, create_graph=True)
                expected = term.item() / math.factorial(order)
                assert predicted[seed, i, output] == pytest.approx(expected, rel=2e-4, abs=2e-5)


@pytest.mark.parametrize(
    ("activation", "order", "power"), [("softplus", 2, 8), ("softplus", 3, 4), ("softplus", 4, 4), ("sin", 3, 8)]
)
def test_a_certified_end_is_stationary_for_the_objective_as_written(activation, order, power):
    """1/2 |gradient| |W| is below the certificate's 1 % of the objective, by automatic differentiation."""
    torch = pytest.importorskip("torch")
    degree = 3 if activation == "sin" else 2
    problem, features = posed(teacher={"name": "ridge_polynomial", "degree": degree})
    learner = Taylor(order=order, activation=activation, width=8, penalty_power=power, start=0.5)
    fit, ridge = fitted(learner, problem, features, [1e-3]), 1e-3
    assert np.all(fit.certificate["stationary"] == 1)
    training = problem.draw("training", 60)
    for seed in range(2):
        x, y = (torch.as_tensor(values[seed], dtype=torch.float64) for values in (training.x, training.labels[..., 0]))
        weights = torch.as_tensor(fit.state["weights"][seed, 0], dtype=torch.float64).requires_grad_()
        gates = torch.as_tensor(learner.gates(fit.state["w0"][seed], training.x[seed]), dtype=torch.float64)
        outputs = gates * (x @ weights.T) ** order @ torch.as_tensor(learner.signs, dtype=torch.float64)
        outputs = outputs / (math.sqrt(8) * math.factorial(order))
        penalty = (weights**2).sum(1).square().sum() ** (power // 4)
        # |h|^2 = 1 here, and the ridge is meant for |h|^2 = D = 4.
        objective = ((outputs - y) ** 2).mean() + ridge * 4.0 ** (-power / 2) * penalty
        objective.backward()
        error = 0.5 * weights.grad.norm() * weights.detach().norm()
        assert error.item() < 0.011 * objective.item()
        assert objective.item() < 0.9 * (y**2).mean().item()


@pytest.mark.parametrize("order", [3, 4])
@pytest.mark.parametrize("activation", ["relu2", "relu3"])
def test_orders_without_a_taylor_series_are_refused(order, activation):
    with pytest.raises(ValueError, match=f"'{activation}' with order {order}; expected erf, sin or softplus") as caught:
        Taylor(order=order, activation=activation)
    assert "\n" not in str(caught.value)


def test_the_inverse_root_whitens():
    generator = np.random.default_rng(0)
    h = (generator.standard_normal((500, 6)) @ np.diag([3.0, 1.0, 1.0, 0.3, 0.1, 0.0])).astype(np.float32)
    root = inverse_root(h)
    np.testing.assert_allclose(root, root.T, atol=1e-6)
    seen = h.astype(float) @ root.astype(float)
    values = np.linalg.eigvalsh(seen.T @ seen / 500)
    np.testing.assert_allclose(values, [0.0, 0.2, 0.2, 0.2, 0.2, 0.2], atol=1e-5)


def test_a_minimiser_of_the_data_regulariser_is_stationary_in_the_papers_weights():
    """mean loss + ridge sum_r |S^{1/2} w_r|^4 with unwhitened features, its gradient by automatic differentiation."""
    torch = pytest.importorskip("torch")
    problem, features = posed(NEURAL)
    learner, ridge = Taylor(width=8, regulariser="data", activation="relu3"), 1e-2
    fit = fitted(learner, problem, features, [ridge])
    assert np.all(fit.certificate["stationary"] == 1)
    h, labels = features.draw("training", 60), problem.draw("training", 60).labels
    unlabelled = features.draw("unlabelled", 300).astype(np.float64)
    for seed in range(2):
        second = unlabelled[seed].T @ unlabelled[seed] / 300
        x, y = torch.as_tensor(h[seed], dtype=torch.float64), torch.as_tensor(labels[seed, :, 0])
        weights = fit.state["weights"][seed, 0].astype(float) @ fit.state["root"][seed].astype(float)
        weights = torch.as_tensor(weights).requires_grad_()
        gates = torch.as_tensor(learner.gates(fit.state["w0"][seed], h[seed]), dtype=torch.float64)
        outputs = gates * (x @ weights.T) ** 2 @ torch.as_tensor(learner.signs, dtype=torch.float64)
        norms = torch.einsum("rd,de,re->r", weights, torch.as_tensor(second), weights)
        objective = ((outputs / (2 * math.sqrt(8)) - y) ** 2).mean() + ridge * (norms**2).sum()
        objective.backward()
        # The gradient's norm is measured dual to |S^{1/2} W|.
        values, vectors = np.linalg.eigh(second)
        kept = values > 1e-9 * values[-1]
        dual = weights.grad.numpy() @ vectors[:, kept] / np.sqrt(values[kept])
        error = 0.5 * np.linalg.norm(dual) * math.sqrt(norms.sum().item())
        assert error < 0.012 * objective.item()
        predicted = learner.predict(fit.state, features, "training", 60, {})[seed, :, 0]
        np.testing.assert_allclose(outputs.detach().numpy() / (2 * math.sqrt(8)), predicted, atol=2e-3)


@pytest.mark.parametrize("order", [1, 2])
def test_on_whitened_features_both_regularisers_are_the_same(order):
    problem, features = posed(NEURAL | {"whiten": "full"})
    plain, data = (
        fitted(Taylor(order=order, width=8, regulariser=name), problem, features, [1e-2]) for name in ("plain", "data")
    )
    np.testing.assert_allclose(data.validation_risk, plain.validation_risk, rtol=2e-3)


def test_the_first_order_with_the_data_regulariser_is_ridge_regression_on_whitened_gradients():
    problem, features = posed(NEURAL)
    learner, ridge = Taylor(order=1, width=6, regulariser="data"), 1e-2
    fit = fitted(learner, problem, features, [ridge])
    predicted = learner.predict(fit.state, features, "test", 20, {})
    h, test, unlabelled = (
        features.draw(*role).astype(float) for role in (("training", 60), ("test", 20), ("unlabelled", 300))
    )
    labels = problem.draw("training", 60).labels
    for seed in range(2):
        values, vectors = np.linalg.eigh(unlabelled[seed].T @ unlabelled[seed] / 300)
        kept = values > 1e-9 * values[-1]
        whitening = vectors[:, kept] / np.sqrt(values[kept])
        w0 = np.concatenate([fit.state["w0"][seed]] * 2).astype(float)

        def gradient(x, w0=w0, whitening=whitening):
            gates = np.maximum(x @ w0.T, 0) * np.repeat([1.0, -1.0], 3)
            return (gates[:, :, None] * (x @ whitening)[:, None, :]).reshape(len(x), -1)

        phi = gradient(h[seed])
        system = phi.T @ phi + 60 * ridge * np.mean(np.sum(phi**2, axis=1)) * np.eye(phi.shape[1])
        weights = np.linalg.solve(system, phi.T @ labels[seed])
        np.testing.assert_allclose(predicted[seed], gradient(test[seed]) @ weights, rtol=5e-3, atol=1e-3)


def test_the_data_regulariser_needs_unlabelled_points():
    problem, features = posed()
    with pytest.raises(ValueError, match="regulariser 'data' without unlabelled points; expected plain"):
        fitted(Taylor(regulariser="data"), problem, features, [1e-2])


def test_a_loss_of_classes_is_refused_on_a_regression_teacher():
    problem, features = posed()
    with pytest.raises(ValueError, match="loss 'logistic' with a target of regression; expected squared"):
        fitted(Taylor(loss="logistic"), problem, features, [1e-2])


@pytest.mark.parametrize(("order", "loss"), [(1, "squared"), (2, "squared"), (2, "logistic"), (2, "soft_hinge")])
def test_classes_are_scored_by_the_share_of_wrong_signs(order, loss):
    problem, features = classes()
    learner = Taylor(order=order, activation="relu3", width=16, loss=loss)
    fit = fitted(learner, problem, features, [1e-1, 1e-3], samples=120)
    for role, count, risk in (("validation", 200, fit.validation_risk), ("training", 120, fit.train_risk)):
        predicted, labels = learner.predict(fit.state, features, role, count, {}), problem.draw(role, count).labels
        np.testing.assert_allclose(risk, np.mean(predicted * labels <= 0, axis=(1, 2)), atol=0.5 / count)


@pytest.mark.parametrize(("order", "loss"), [(1, "squared"), (2, "logistic")])
def test_the_ridge_with_the_fewest_wrong_signs_on_validation_points_is_kept(order, loss):
    problem, features = classes()
    learner, ridges = Taylor(order=order, activation="relu3", width=16, loss=loss), [1e1, 1e-1, 1e-3]
    # Every ridge alone, but for the path's warm start; polishing ends both at the same point.
    singles = np.stack([fitted(learner, problem, features, [ridge], 120).validation_risk for ridge in ridges])
    together = fitted(learner, problem, features, ridges, 120)
    np.testing.assert_allclose(together.validation_risk, singles.min(axis=0), atol=0.011)


def test_equal_shares_of_wrong_signs_are_told_apart_by_the_loss():
    labels = np.array([[1.0], [-1.0]])
    predictions = np.array([[[0.1], [-0.1]], [[2.0], [-2.0]], [[0.9], [-0.9]], [[1.0], [1.0]], [[np.nan], [0.0]]])
    assert best_on_validation(predictions, labels, "classes") == 2
    assert best_on_validation(predictions, labels, "classes", lambda f, y: np.exp(-f * y)) == 1
    assert best_on_validation(predictions[[3, 0]], labels, "classes") == 1
    assert best_on_validation(predictions[[4, 3]], labels, "classes") == 1
    assert best_on_validation(predictions[[1, 1]], labels, "regression") == 0


def test_points_that_are_not_certified_say_that_they_were_not_checked():
    streams = Streams(("taylor learners",), (4, 5))
    problem, features = posed(noise=0.3, streams=streams)
    fits = {
        asked: Taylor(width=8, certify=asked).fit(
            TrainingData(problem, features, 128, {"ridge": [1e-2, 1e-3]}, streams), NullMonitor(), {}
        )
        for asked in ("all", "some", "none")
    }
    checked = {asked: fit.certificate["stationary"].tolist() for asked, fit in fits.items()}
    yes, no = STATIONARY["yes"], STATIONARY["not_checked"]
    assert checked == {"all": [yes, yes], "some": [no, yes], "none": [no, no]}
    assert np.isnan(fits["some"].certificate["certificate_error"]).tolist() == [True, False]
    for seed, like in enumerate(("none", "all")):
        np.testing.assert_array_equal(fits["some"].state["weights"][seed], fits[like].state["weights"][seed])
    # Polishing goes on from where the descent has settled.
    assert (fits["all"].certificate["gradient_norm"] < fits["none"].certificate["gradient_norm"]).all()


@pytest.mark.parametrize(("samples", "certified"), [(54, 10), (64, 9), (76, 8), (91, 7), (108, 6), (128, 5)])
def test_of_eleven_seeds_one_is_certified_and_at_the_next_size_another_one(samples, certified):
    streams = Streams(("taylor learners",), tuple(range(11)))
    problem, features = posed(noise=0.3, streams=streams)
    learner = Taylor(width=8, certify="some", polish_rounds=0)
    fit = learner.fit(TrainingData(problem, features, samples, {"ridge": [1e-2]}, streams), NullMonitor(), {})
    checked = fit.certificate["stationary"] != STATIONARY["not_checked"]
    assert np.flatnonzero(checked).tolist() == [certified]
