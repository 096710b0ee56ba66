"""The randomised network against sums over all its multipliers, automatic differentiation and its Taylor term."""

import itertools
import math

import numpy as np
import pytest

from hierlearn.core.problem import ProblemFeatures, pose
from hierlearn.core.protocols import STATUS, NullMonitor, TrainingData
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.learners._randomised import exact_squared_loss, mean_outputs, network, sample_loss
from hierlearn.learners.randomised import Randomised
from hierlearn.learners.taylor import Taylor
from hierlearn.solvers.losses import LOSSES

STREAMS = Streams(("randomised learners",), (1, 2))
NETWORKS = [(2, "relu3"), (2, "relu2"), (2, "erf"), (3, "sin"), (4, "softplus")]
SIGMA = {
    "relu3": lambda torch, t: torch.relu(t) ** 3 / 6,
    "relu2": lambda torch, t: torch.relu(t) ** 2 / 2,
    "erf": lambda torch, t: torch.erf(t),
    "sin": lambda torch, t: torch.sin(t),
    "softplus": lambda torch, t: torch.nn.functional.softplus(t),
}


def posed(kind="regression", degree=2, noise=0.0):
    law, teacher = "sphere", {"name": "ridge_polynomial", "degree": degree}
    if kind == "classes":
        law, teacher = "hypercube", {"name": "parity", "kind": kind}
    inputs = build("inputs", {"name": law}, dimension=5)
    problem = pose(inputs, build("teachers", teacher), "unit", noise, STREAMS, held_out=150)
    raw = build("representations", {"name": "raw"})
    return problem, ProblemFeatures(problem, raw, raw.fit(None, STREAMS))


def fitted(learner, problem, features, ridges, samples=60):
    return learner.fit(TrainingData(problem, features, samples, {"ridge": ridges}, STREAMS), NullMonitor(), {})


def drawn(net, points=7, seed=0):
    generator = np.random.default_rng(seed)
    inner = generator.standard_normal((points, net.width // 2))
    moved = 0.7 * generator.standard_normal((points, net.directions))
    return inner, moved, generator.standard_normal(points)


def outputs_of(torch, net, activation, inner, moved, multipliers):
    """f by the formula of the paper, at one draw (z+, z-) of (m/2,) each."""
    half = net.width // 2
    positive, negative = (moved[:, :half], moved[:, half:]) if net.order == 2 else (moved, moved)
    plus, minus = (torch.as_tensor(np.asarray(z, float)) for z in multipliers)
    values = SIGMA[activation](torch, inner + plus * positive) - SIGMA[activation](torch, inner + minus * negative)
    return values.sum(1) / math.sqrt(net.width)


def everything(net):
    """Every draw of the multipliers with its probability."""
    half = net.width // 2
    laws = [list(zip(law.values, law.probabilities, strict=True)) for law in net.laws for _ in range(half)]
    for draw in itertools.product(*laws):
        values, probability = [value for value, _ in draw], math.prod(p for _, p in draw)
        yield (values[:half], values[half:]), probability


def test_sums_over_samples_lose_nothing_in_single_precision():
    net = network(2048, 2, "relu")
    shift = np.random.default_rng(0).integers(-127, 128, (50, 2048))
    inner, labels = np.full((50, 1024), 1024, np.float32), np.zeros(50)
    # Every neuron is on, so that its output has the variance of its shift and the mean output is 0; integers add up
    # exactly in single precision along a row, and over rows in double precision alone.
    loss, _ = exact_squared_loss(net, inner, shift.astype(np.float32), labels)
    assert loss * 50 * 2048 == pytest.approx(int(np.square(shift).sum()), rel=1e-12)


@pytest.mark.parametrize(("order", "activation"), NETWORKS)
def test_mean_and_loss_are_those_over_every_draw(order, activation):
    torch = pytest.importorskip("torch")
    net = network(4, order, activation)
    inner, moved, labels = drawn(net)
    tensors = torch.as_tensor(inner), torch.as_tensor(moved).requires_grad_(), torch.as_tensor(labels)
    mean, loss = 0.0, 0.0
    for multipliers, probability in everything(net):
        outputs = outputs_of(torch, net, activation, *tensors[:2], multipliers)
        mean = mean + probability * outputs
        loss = loss + probability * ((outputs - tensors[2]) ** 2).mean()
    loss.backward()
    np.testing.assert_allclose(mean_outputs(net, inner, moved), mean.detach().numpy(), rtol=1e-10, atol=1e-12)
    value, gradient = exact_squared_loss(net, inner, moved, labels)
    assert value == pytest.approx(loss.item(), rel=1e-10)
    np.testing.assert_allclose(gradient, tensors[1].grad.numpy(), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize(("order", "activation"), [(2, "relu3"), (3, "sin")])
def test_the_gradient_at_one_draw_agrees_with_differences(order, activation, name):
    net, loss = network(6, order, activation), LOSSES[name]
    inner, moved, labels = drawn(net)
    labels = labels if name == "squared" else np.sign(labels)
    # Float64 here, so that differences resolve the gradient.
    multipliers = [np.random.default_rng(3).choice(law.values, (7, 3), p=law.probabilities) for law in net.laws]
    direction = np.random.default_rng(4).standard_normal(moved.shape)
    _, gradient = sample_loss(net, loss, inner, moved, labels, multipliers)
    ends = [sample_loss(net, loss, inner, moved + step * direction, labels, multipliers)[0] for step in (1e-5, -1e-5)]
    assert np.sum(gradient * direction) == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(("order", "activation"), NETWORKS)
def test_draws_have_the_exact_loss_as_their_mean(order, activation):
    net, generator = network(8, order, activation), np.random.default_rng(5)
    inner, moved, labels = drawn(net, points=40)
    draws = [
        sample_loss(net, LOSSES["squared"], inner, moved, labels, net.multipliers(generator, 40)) for _ in range(400)
    ]
    value, gradient = exact_squared_loss(net, inner, moved, labels)
    values = np.array([draw[0] for draw in draws])
    assert abs(np.mean(values) - value) < 5 * np.std(values) / 20
    error = np.std([draw[1] for draw in draws], axis=0) / 20
    assert np.all(np.abs(np.mean([draw[1] for draw in draws], axis=0) - gradient) < 6 * error + 1e-12)


@pytest.mark.parametrize(("order", "activation"), [(2, "erf"), (2, "softplus"), (3, "sin"), (4, "softplus")])
def test_small_movements_leave_the_taylor_term_of_that_order(order, activation):
    """E_z f / t^k tends to f^(k) at weights t W: the lower orders are averaged out."""
    net, generator = network(8, order, activation), np.random.default_rng(6)
    w0, w, x = (generator.standard_normal(shape) for shape in ((4, 3), (net.directions, 3), (9, 3)))
    learner = Taylor(order=order, activation=activation, width=8)
    # For orders above 2 the pair shares its direction, and z+ and z- make the sign.
    gates = learner.gates(w0, x) * learner.signs if order == 2 else learner.gates(w0, x)[:, :4]
    term = np.sum(gates * (x @ w.T) ** order, axis=1) / (math.sqrt(8) * math.factorial(order))
    scale = 0.01
    np.testing.assert_allclose(mean_outputs(net, x @ w0.T, scale * x @ w.T) / scale**order, term, rtol=2e-2, atol=1e-3)


def test_it_starts_where_the_taylor_learner_starts():
    problem, features = posed()
    # So slow that it stays where it is.
    still = fitted(Randomised(width=6, steps=1, learning_rate=1e-12), problem, features, [1e-3])
    taylor = fitted(Taylor(activation="relu3", width=6, penalty_power=8), problem, features, [1e-3])
    assert np.array_equal(still.state["w0"], taylor.state["w0"])
    for seed, generator in enumerate(STREAMS.at("start").generators()):
        start = 0.1 * 6**-0.25 * generator.standard_normal((6, 5))
        np.testing.assert_allclose(still.state["weights"][seed, 0], start, rtol=1e-5)


@pytest.mark.parametrize(("power", "ridge"), [(8, 1e-2), (4, 1e-2)])
def test_the_end_is_a_minimiser_of_the_regularised_mean_loss(power, ridge):
    """Another optimiser, started there on the objective as written, finds next to nothing."""
    torch = pytest.importorskip("torch")
    problem, features = posed()
    learner = Randomised(width=6, penalty_power=power, steps=1000)
    fit, training = fitted(learner, problem, features, [ridge]), problem.draw("training", 60)
    for seed in range(2):
        x, y = torch.as_tensor(training.x[seed]).double(), torch.as_tensor(training.labels[seed, :, 0])
        inner = (x @ torch.as_tensor(fit.state["w0"][seed]).double().T).repeat(1, 2)
        signs = torch.tensor([1.0] * 3 + [-1.0] * 3, dtype=torch.float64)
        weights = torch.as_tensor(fit.state["weights"][seed, 0]).double().requires_grad_()
        optimiser = torch.optim.LBFGS([weights], max_iter=60, line_search_fn="strong_wolfe")

        def objective(weights=weights, x=x, y=y, inner=inner, signs=signs, optimiser=optimiser):
            optimiser.zero_grad()
            up, down = (SIGMA["relu3"](torch, inner + s * (x @ weights.T)) for s in (1, -1))
            mean, variance = (up + down) / 2 @ signs / math.sqrt(6), ((up - down) / 2).square().sum(1) / 6
            penalty = (weights**2).sum(1).square().sum() ** (power // 4)
            value = ((mean - y) ** 2 + variance).mean() + ridge * 5.0 ** (-power / 2) * penalty
            value.backward()
            return value

        before = objective().item()
        assert before < 0.95 * (y**2).mean().item()
        optimiser.step(objective)
        assert objective().item() > before * (1 - 2e-3)


@pytest.mark.parametrize(("order", "activation", "degree"), [(3, "sin", 3), (2, "relu3", 2)])
def test_what_is_averaged_out_is_in_the_way_of_a_narrow_network_only(order, activation, degree):
    """The variance of the lower orders falls with the width, slowly for order 3: wide networks learn."""
    problem, features = posed(degree=degree)
    narrow, wide = (
        fitted(Randomised(order=order, activation=activation, width=m, start=1.0), problem, features, [1e-5], 150)
        for m in (8, 256)
    )
    assert np.all(wide.train_risk < 0.5)
    assert np.all(wide.train_risk < 0.6 * narrow.train_risk)


def test_batches_of_points_cost_less_and_learn_too():
    problem, features = posed()
    whole = fitted(Randomised(width=16), problem, features, [1e-3], samples=120)
    parts = fitted(Randomised(width=16, batch=30), problem, features, [1e-3], samples=120)
    np.testing.assert_allclose(parts.flops, whole.flops / 4)
    assert np.all(parts.validation_risk < 0.7)
    assert not np.array_equal(parts.validation_risk, whole.validation_risk)
    all_of_them = fitted(Randomised(width=16, batch=120), problem, features, [1e-3], samples=120)
    assert np.array_equal(all_of_them.validation_risk, whole.validation_risk)


def test_a_diverged_training_is_a_status_and_never_chosen():
    problem, features = posed()
    fit = fitted(Randomised(width=4, learning_rate=1e12), problem, features, [1e-3])
    assert fit.status.tolist() == [STATUS["diverged"]] * 2
    assert np.isnan(fit.validation_risk).all()
    assert np.isnan(Randomised(width=4).predict(fit.state, features, "test", 3, {})).all()
    # The penalty's slope overflows at the first ridge alone.
    mixed = fitted(Randomised(width=4, steps=60), problem, features, [1e38, 1e-3])
    assert mixed.status.tolist() == [STATUS["ok"]] * 2
    assert mixed.choices["ridge"].tolist() == [1e-3] * 2


def test_a_penalty_that_keeps_the_weights_at_zero_is_a_collapse():
    problem, features = posed()
    fit = fitted(Randomised(width=4, penalty_power=4), problem, features, [1e9])
    assert fit.status.tolist() == [STATUS["collapsed"]] * 2


@pytest.mark.parametrize("loss", ["logistic", "soft_hinge"])
def test_classes_are_learned_from_sampled_draws(loss):
    problem, features = posed("classes", noise=0.05)
    learner = Randomised(width=16, loss=loss, draws="sampled", steps=200)
    fit = fitted(learner, problem, features, [1e-1, 1e-3], samples=100)
    predicted = learner.predict(fit.state, features, "validation", 150, {})
    labels = problem.draw("validation", 150).labels
    np.testing.assert_allclose(fit.validation_risk, np.mean(predicted * labels <= 0, axis=(1, 2)))
    assert np.all(fit.validation_risk < 0.25)
    again = fitted(learner, problem, features, [1e-1, 1e-3], samples=100)
    assert np.array_equal(again.validation_risk, fit.validation_risk)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"order": 3}, "activation 'relu3' with order 3; expected erf, sin or softplus"),
        ({"loss": "logistic"}, "loss 'logistic' with draws 'exact'; expected squared, or sampled draws"),
        ({"order": 3, "activation": "sin", "draws": "none"}, "draws 'none' with order 3; expected exact, sampled"),
    ],
)
def test_what_does_not_go_together_is_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        Randomised(**parameters)


def test_a_loss_of_classes_is_refused_on_a_regression_teacher():
    problem, features = posed()
    with pytest.raises(ValueError, match="loss 'logistic' with a target of regression; expected squared"):
        fitted(Randomised(loss="logistic", draws="sampled"), problem, features, [1e-2])


def test_what_the_mean_over_multipliers_cannot_represent_is_said():
    """Its outputs at x and -x add up to the part of even degrees."""
    problem, features = posed(degree=2)
    x = problem.draw("test", 50).x
    for activation, order, even in [("sin", 2, False), ("erf", 2, False), ("sin", 3, False), ("softplus", 2, True)]:
        learner = Randomised(activation=activation, order=order, width=8, steps=20)
        fit = fitted(learner, problem, features, [1e-3])
        forth, back = (
            mean_outputs(network(8, order, activation), s * x[0] @ fit.state["w0"][0].T, s * x[0] @ w.T)
            for s in (1, -1)
            for w in [fit.state["weights"][0, 0]]
        )
        assert (np.max(np.abs(forth + back)) > 1e-3 * np.max(np.abs(forth))) == even
        assert (learner.unreachable(5, 2) == "") == even
    why = Randomised(activation="sin").unreachable(5, 2)
    assert "degree 2" in why
    assert "another activation" in why


@pytest.mark.parametrize(("activation", "degree"), [("relu3", 2), ("relu3", 3), ("relu2", 3), ("sin", 3)])
def test_what_it_can_represent_is_not_warned_of(activation, degree):
    assert Randomised(activation=activation).unreachable(5, degree) == ""


def test_without_draws_it_is_the_plain_network_whose_linear_term_stays():
    """f_{W0 + W} written out here; odd in small movements, where the mean over signs is even."""
    problem, features = posed(degree=2)
    learner = Randomised(width=8, steps=20, draws="none")
    fit = fitted(learner, problem, features, [1e-2])
    x, w0, weights = problem.draw("test", 50).x[0], fit.state["w0"][0], fit.state["weights"][0, 0]
    moved = np.maximum(x @ (np.concatenate([w0, w0]) + weights).T, 0.0) ** 3 / 6
    by_hand = (moved[:, :4].sum(axis=1) - moved[:, 4:].sum(axis=1)) / np.sqrt(8)
    np.testing.assert_allclose(
        learner.predict(fit.state, features, "test", 50, {})[0, :, 0], by_hand, rtol=1e-4, atol=1e-6
    )
    net, (inner, shift, labels) = network(8, 2, "relu3", random=False), (x @ w0.T, 1e-3 * x @ weights.T, by_hand)
    forth, back = (mean_outputs(net, inner, sign * shift) for sign in (1, -1))
    assert np.linalg.norm(forth + back) < 0.1 * np.linalg.norm(forth)
    loss, _ = exact_squared_loss(net, inner, shift, labels)
    assert loss == pytest.approx(np.mean((forth - labels) ** 2), rel=1e-5)
