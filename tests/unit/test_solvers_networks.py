"""Networks in batches against autograd, against one-by-one training, and against torch's own optimisers."""

import numpy as np
import pytest
import torch

from hierlearn.solvers import optimisers
from hierlearn.solvers.networks import NetworkTraining, Recipe, forward, last_features, shapes, tangent, trainable

SEEDS, SETTINGS, POINTS, INPUTS, WIDTH, OUTPUTS = 2, 3, 7, 5, 6, 2


def start(architecture, bias, dtype=torch.float64, seed=0, width=WIDTH):
    generator = torch.Generator().manual_seed(seed)
    known = shapes(architecture, INPUTS, width, OUTPUTS, bias)
    return {
        name: torch.randn(SEEDS, 1, *shape, dtype=torch.float64, generator=generator).to(dtype)
        for name, shape in known.items()
    }


def recipe(architecture, trained, bias, **changes):
    settings = {
        "loss": "squared",
        "optimiser": "sgd",
        "momentum": 0.9,
        "steps": 12,
        "milestones": (0.5,),
        "ratio": 1.0,
        "phases": ((2, trainable(architecture, trained, bias)),),
    }
    return Recipe(architecture, trained, **(settings | changes))


def training_of(plan, origin, rates, decays):
    """A training from tensors."""
    return NetworkTraining(
        plan, {name: values.numpy() for name, values in origin.items()}, rates.numpy(), decays.numpy()
    )


def batches(x, labels):
    return lambda step: (x.numpy(), labels.numpy())


def points(bias, dtype=torch.float64):
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(SEEDS, 1, POINTS, INPUTS, dtype=torch.float64, generator=generator)
    x = torch.cat([x, torch.ones_like(x[..., :1])], -1) if bias else x
    labels = torch.randn(SEEDS, 1, POINTS, OUTPUTS, dtype=torch.float64, generator=generator)
    return x.to(dtype), labels.to(dtype)


def network(architecture, weights, x):
    """One network on (n, d) by torch's own layers: outputs and what the last layer sees."""
    linear, relu = torch.nn.functional.linear, torch.relu
    hidden = relu(linear(x, weights["first"]))
    if architecture == "two_layer":
        return linear(hidden, weights["last"]), hidden
    below = hidden if architecture == "three_layer" else linear(hidden, weights["last"])
    top = relu(linear(below, weights["second"], weights.get("second_bias")))
    if architecture == "three_layer":
        return linear(top, weights["last"]), top
    return below + linear(top, weights["last"]), hidden + top


def reference(architecture, trained, origin, weights, x):
    """Output of one run, (n, d) -> (n, k), for any choice of what is trained."""
    if trained in ("hidden", "all"):
        return network(architecture, {**origin, **weights}, x)[0]
    if trained == "last":
        return torch.nn.functional.linear(network(architecture, origin, x)[1], weights["last"])
    names = tuple(weights)

    def moved(*values):
        return network(architecture, {**origin, **dict(zip(names, values, strict=True))}, x)[0]

    _, out = torch.func.jvp(moved, tuple(origin[name] for name in names), tuple(weights[name] for name in names))
    return out


def agree(found, wanted):
    """To 1e-12 of the largest entry, which is rounding in double precision."""
    wanted = wanted.detach().numpy()
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())


def gradients(training, x, labels, blocks, names):
    parts = training.gradients(x.numpy(), labels.numpy(), blocks, names)
    return {name: optimisers.total_gradient(gradient) for name, gradient in parts.items()}


ARCHITECTURES, TRAINED = ("two_layer", "three_layer", "resnet"), ("hidden", "last", "all", "tangent")
CASES = [(a, t, b) for a in ARCHITECTURES for t in TRAINED for b in (True, False)]


@pytest.mark.parametrize(("architecture", "trained", "bias"), CASES)
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_outputs_and_gradients_are_those_of_autograd(architecture, trained, bias, loss):
    rates = torch.ones(SETTINGS, dtype=torch.float64)
    origin, names = start(architecture, bias), trainable(architecture, trained, bias)
    training = training_of(recipe(architecture, trained, bias, loss=loss), origin, rates, 0 * rates)
    generator = np.random.default_rng(2)
    for values in training.weights.values():
        values += 0.3 * generator.standard_normal(values.shape)
    x, labels = points(bias)
    labels = torch.sign(labels) if loss == "logistic" else labels
    found, outputs = gradients(training, x, labels, 2, names), training.outputs(x.numpy())
    for s in range(SEEDS):
        for g in range(SETTINGS):
            weights = {name: torch.tensor(training.weights[name][s, g], requires_grad=True) for name in names}
            out = reference(architecture, trained, {n: v[s, 0] for n, v in origin.items()}, weights, x[s, 0])
            agree(outputs[s, g], out)
            y = labels[s, 0]
            value = 0.5 * (out - y).square() if loss == "squared" else torch.logaddexp(0 * out, -y * out)
            slopes = torch.autograd.grad(value.sum(-1).mean(), list(weights.values()))
            for name, slope in zip(weights, slopes, strict=True):
                agree(found[name][s, g], slope)


@pytest.mark.parametrize("blocks", [1, 2])
def test_a_resnet_may_be_trained_layer_by_layer(blocks):
    origin, rates = start("resnet", True), torch.ones(1, dtype=torch.float64)
    names = {1: ("first",), 2: ("second", "second_bias")}[blocks]
    training = training_of(
        recipe("resnet", "hidden", True, phases=((1, ("first",)), (2, names))), origin, rates, 0 * rates
    )
    x, labels = points(True)
    found = gradients(training, x, labels, blocks, names)
    weights = {name: origin[name][0, 0].clone().requires_grad_(True) for name in origin}
    hidden = torch.relu(x[0, 0] @ weights["first"].T)
    out = hidden @ weights["last"].T if blocks == 1 else network("resnet", weights, x[0, 0])[0]
    slopes = torch.autograd.grad(0.5 * (out - labels[0, 0]).square().sum(-1).mean(), [weights[n] for n in names])
    assert set(found) == set(names)
    for name, slope in zip(names, slopes, strict=True):
        agree(found[name][0, 0], slope)


@pytest.mark.parametrize("in_cache", [optimisers.IN_CACHE, 0], ids=["together", "one by one"])
@pytest.mark.parametrize("architecture", ["three_layer", "resnet"])
@pytest.mark.parametrize("optimiser", ["sgd", "adam"])
def test_steps_are_those_of_torchs_optimisers(monkeypatch, optimiser, architecture, in_cache):
    monkeypatch.setattr(optimisers, "IN_CACHE", in_cache)
    rates, decays = torch.tensor([0.02, 0.05], dtype=torch.float64), torch.tensor([1e-2, 0.0], dtype=torch.float64)
    origin, (x, labels) = start(architecture, True), points(True)
    training = training_of(recipe(architecture, "all", True, optimiser=optimiser), origin, rates, decays)
    training.advance(batches(x, labels), 12)
    for g in range(2):
        weights = {name: origin[name][1, 0].clone().requires_grad_(True) for name in origin}
        settings = {"lr": float(rates[g]), "weight_decay": float(decays[g])}
        theirs = (
            torch.optim.SGD(weights.values(), momentum=0.9, **settings)
            if optimiser == "sgd"
            else torch.optim.Adam(weights.values(), **settings)
        )
        plan = torch.optim.lr_scheduler.MultiStepLR(theirs, milestones=[6], gamma=0.1)
        for _ in range(12):
            theirs.zero_grad()
            out = network(architecture, weights, x[1, 0])[0]
            (0.5 * (out - labels[1, 0]).square().sum(-1).mean()).backward()
            theirs.step()
            plan.step()
        for name, values in weights.items():
            np.testing.assert_allclose(training.weights[name][1, g], values.detach(), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("trained", TRAINED)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_seed_is_what_it_would_be_alone_to_the_bit_and_a_setting_to_rounding(architecture, trained):
    rates, decays = torch.tensor([1e-6, 3e-6, 5e-6]), torch.tensor([1e-3, 0.0, 1e-2])
    origin, (x, labels) = start(architecture, True, torch.float32, width=50), points(True, torch.float32)
    together = training_of(recipe(architecture, trained, True), origin, rates, decays)
    together.advance(batches(x, labels), 12)
    part = {name: values[1:] for name, values in origin.items()}
    seed, setting = (training_of(recipe(architecture, trained, True), part, rates[g:], decays[g:]) for g in (0, 2))
    for alone in (seed, setting):
        alone.advance(batches(x[1:], labels[1:]), 12)
    for name, values in together.weights.items():
        assert np.array_equal(seed.weights[name][0], values[1])
        scale = np.abs(values[1, 2]).max()
        np.testing.assert_allclose(setting.weights[name][0, 0], values[1, 2], rtol=0, atol=2e-5 * scale)


def test_a_training_goes_on_from_its_state_to_the_same_bits():
    rates, origin, (x, labels) = torch.tensor([0.03]), start("resnet", True, torch.float32), points(True, torch.float32)
    plan = recipe("resnet", "hidden", True, phases=((1, ("first",)), (2, ("second", "second_bias"))))
    whole = training_of(plan, origin, rates, 0 * rates)
    whole.advance(batches(x, labels), 24)
    first = training_of(plan, origin, rates, 0 * rates)
    first.advance(batches(x, labels), 17)
    second = training_of(plan, origin, rates, 0 * rates)
    second.restore(first.state())
    second.advance(batches(x, labels), 24)
    for name, values in whole.weights.items():
        assert np.array_equal(values, second.weights[name])


def test_a_velocity_without_a_gradient_comes_to_rest():
    rates, origin, (x, _) = torch.zeros(1), start("three_layer", True), points(True)
    training = training_of(recipe("three_layer", "hidden", True, steps=1000, milestones=()), origin, rates, rates)
    points_alone = batches(x, torch.from_numpy(training.outputs(x.numpy())[:, :1]))
    # A phase begins at rest.
    training.advance(points_alone, 1)
    for velocity in training.memory.first:
        velocity[...] = 1.0
    training.advance(points_alone, 1000)
    assert not any(velocity.any() for velocity in training.memory.first)


def test_the_rate_of_the_second_layer_has_its_own_factor():
    rates, origin, (x, labels) = torch.tensor([0.01]), start("resnet", False), points(False)
    rates = rates.double()
    moves = {}
    for ratio in (1.0, 0.25):
        plan = recipe("resnet", "hidden", False, ratio=ratio, momentum=0.0, milestones=())
        training = training_of(plan, origin, rates, 0 * rates)
        training.advance(batches(x, labels), 1)
        moves[ratio] = {name: training.weights[name] - origin[name].numpy() for name in training.weights}
    np.testing.assert_allclose(moves[0.25]["second"], 0.25 * moves[1.0]["second"], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(moves[0.25]["first"], moves[1.0]["first"])


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_outputs_are_those_of_torch_s_layers(architecture):
    origin, (x, _) = start(architecture, True), points(True)
    arrays, seen = {name: values[:, 0].numpy() for name, values in origin.items()}, x[:, 0].numpy()
    other = {name: values[:, 0].numpy() for name, values in start(architecture, True, seed=5).items()}
    known = forward(architecture, arrays, seen)
    for s in range(SEEDS):
        tensors = {name: torch.from_numpy(values[s]) for name, values in arrays.items()}
        out, features = network(architecture, tensors, x[s, 0])
        np.testing.assert_allclose(known["out"][s], out)
        np.testing.assert_allclose(last_features(architecture, arrays, seen)[s], features)
        moved = {name: torch.from_numpy(other[name][s]) for name in trainable(architecture, "tangent", True)}
        linear = reference(architecture, "tangent", tensors, moved, x[s, 0])
        np.testing.assert_allclose(tangent(architecture, arrays, known, other)["out"][s], linear)
