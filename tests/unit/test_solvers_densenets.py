"""Quadratic DenseNets in lockstep: gradients against autograd, schedules, distillation, the truncated square."""

from functools import partial

import numpy as np
import pytest
import torch

from hierlearn.core.streams import Streams
from hierlearn.solvers.densenets.distillation import distil, truncated_gradient, truncated_square
from hierlearn.solvers.densenets.distilled_training import DistilledTraining, Rules
from hierlearn.solvers.densenets.model import Layout, pre_activations
from hierlearn.solvers.densenets.phases import Clock, Schedule
from hierlearn.solvers.densenets.training import DensenetTraining, PolynomialTraining

INPUTS, WIDTH, POINTS, RUNS = 5, 4, 7, 3
GRAPHS = {
    2: ((0, 1),),
    3: ((0, 1), (0, 2)),
    4: ((0, 1), (0, 2), (0, 1, 3)),
    5: ((0, 1), (0, 2), (1, 3), (0, 2, 4)),
}


def schedule(kind="joint", depth=3, starts=(), thresholds=(), total=100, annealing="constant"):
    return Schedule(kind, depth, starts, thresholds, total, annealing)


def points(layout, rng, columns=0, seeds=RUNS):
    """What a network sees of normal points, as (S, 1, b, .) float64."""
    x = rng.standard_normal((seeds, 1, POINTS, layout.inputs))
    blocks = [{0: x, 1: x * x - 1}[block] for block in layout.order if block < 2]
    return np.concatenate([*blocks, rng.standard_normal((seeds, 1, POINTS, columns))], axis=-1)


def plain(depth, graph=None, kind="joint", loss="squared", rng=None, **given):
    rng = np.random.default_rng(0) if rng is None else rng
    layout = Layout(INPUTS, (WIDTH,) * (depth - 1), graph or GRAPHS[depth])
    start = {f"layer_{i}": 0.3 * rng.standard_normal((RUNS, WIDTH, layout.size(i))) for i in layout.layers}
    alphas = rng.uniform(0.2, 1.0, (RUNS, depth - 1))
    clock = Clock(schedule(kind, depth, **given), RUNS)
    return DensenetTraining(layout, clock, start, alphas, np.full(RUNS, 0.01), np.zeros(RUNS), loss=loss, sharpness=3.0)


def mean_loss(training, seen, labels, outputs):
    """The mean loss of every run, torch."""
    seen, labels = torch.from_numpy(seen), torch.from_numpy(labels)
    labels = labels.flatten(0, 1)[..., 0]
    if training.loss == "squared":
        return (outputs - labels).square().mean(1)
    margin = training.sharpness * labels * (seen[:, 0, :, -1] + outputs)
    return torch.logaddexp(torch.zeros_like(margin), -margin).mean(1)


def agree(found, wanted):
    """To 1e-12 of the largest entry, which is rounding in double precision."""
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 * float(wanted.abs().max()))


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("depth", GRAPHS)
def test_gradients_of_the_plain_network_are_those_of_autograd(depth, loss):
    training, rng = plain(depth, loss=loss), np.random.default_rng(1)
    seen = points(training.layout, rng, columns=1 if loss == "logistic" else 0)
    labels = np.sign(rng.standard_normal((RUNS, 1, POINTS, 1)))
    losses = training.backward(seen, labels)
    weights = {name: torch.tensor(values, requires_grad=True) for name, values in training.weights.items()}
    arguments = pre_activations(list(weights.values()), torch.from_numpy(seen[:, 0]), training.layout)
    alphas = torch.from_numpy(training.alphas)
    outputs = sum(alphas[:, i, None] * values.square().sum(-1) for i, values in enumerate(arguments))
    wanted = mean_loss(training, seen, labels, outputs)
    wanted.sum().backward()
    np.testing.assert_allclose(losses, wanted.detach(), rtol=1e-8)
    for name, slope in training.gradient.items():
        agree(slope, weights[name].grad)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("degree", [2, 4, 5])
def test_gradients_of_two_layers_with_a_power_are_those_of_autograd(degree, loss):
    rng = np.random.default_rng(0)
    layout = Layout(INPUTS, (WIDTH,), ((0, 1),))
    start = {"layer_2": 0.3 * rng.standard_normal((RUNS, WIDTH, 2 * INPUTS + 1))}
    given = layout, Clock(schedule("joint", 2), RUNS), start, np.ones((RUNS, 1)), np.full(RUNS, 0.01), np.zeros(RUNS)
    training = PolynomialTraining(degree, *given, loss=loss, sharpness=3.0)
    seen = points(layout, rng, columns=1 if loss == "logistic" else 0)
    labels = np.sign(rng.standard_normal((RUNS, 1, POINTS, 1)))
    losses = training.backward(seen, labels)
    weights = torch.tensor(start["layer_2"], requires_grad=True)
    inner = torch.from_numpy(seen[:, 0, :, : 2 * INPUTS]) @ weights[..., :-1].mT + weights[:, None, :, -1]
    outputs = (inner**degree * torch.tensor([1.0, -1.0, 1.0, -1.0])).sum(-1)
    wanted = mean_loss(training, seen, labels, outputs)
    wanted.sum().backward()
    np.testing.assert_allclose(losses, wanted.detach(), rtol=1e-8)
    agree(training.gradient["layer_2"], weights.grad)
    np.testing.assert_allclose(
        training.cumulative(training.forward(seen[:, 0, :, : 2 * INPUTS])[1])[..., 0], outputs.detach()
    )


def test_several_settings_of_a_seed_see_its_points():
    training, rng = plain(3), np.random.default_rng(1)
    seen = points(training.layout, rng, seeds=1)
    labels = rng.standard_normal((1, 1, POINTS, 1))
    losses = training.backward(seen, labels)
    outputs = training.cumulative(training.forward(np.repeat(seen[:, 0], RUNS, axis=0))[1])[..., -1]
    np.testing.assert_allclose(losses, np.mean((outputs - labels[0, 0, :, 0]) ** 2, axis=1))


def test_every_layers_inputs_lie_side_by_side_where_an_order_allows_it():
    for depth, graph in GRAPHS.items():
        layout = Layout(INPUTS, (WIDTH,) * (depth - 1), graph)
        assert abs(layout.order.index(0) - layout.order.index(1)) == 1
        if depth < 4:
            assert all(len(layout.spans(layer)) == 1 for layer in layout.layers)
        for layer in layout.layers:
            assert sum(span.stop - span.start for span in layout.spans(layer)) == layout.size(layer)
            assert set(layout.places(layer)) == set(graph[layer - 2])


def constructed(rules=None, depth=3, rng=None, loss="squared", scale=0.4, kind="joint", **given):
    """A training of the network with K, W and R with random weights, float64."""
    rng = np.random.default_rng(0) if rng is None else rng
    most = (3, 2, 2)[: depth - 1]
    offered = [k * (k + 1) // 2 for k in most]
    layout = Layout(INPUTS, (*offered[:-1], 0), GRAPHS[depth])
    start = {
        f"layer_{layer}": scale * rng.standard_normal((RUNS, k + WIDTH, layout.size(layer)))
        for layer, k in zip(layout.layers, most, strict=True)
    }
    layers = depth - 1
    known = dict(
        most=most,
        thresholds=np.zeros((RUNS, layers)),
        latest=(10**9,) * layers,
        smallest=0.1,
        lambdas=rng.uniform(0.5, 1.5, (RUNS, layers, 3)),
        shrinkage=0.1 * np.arange(1, depth),
        target=1e-9,
        bound=1.0,
        noise=0.0,
        warm_start="svd",
    )
    alphas = rng.uniform(0.2, 1.0, (RUNS, layers))
    clock = Clock(schedule(kind, depth, **given), RUNS)
    generators = [partial(Streams(("distilled",), (seed,)).generator, seed) for seed in range(RUNS)]
    return DistilledTraining(
        Rules(**(known | (rules or {}))),
        np.full(RUNS, 0.7),
        generators,
        layout,
        clock,
        start,
        alphas,
        np.full(RUNS, 0.01),
        np.zeros(RUNS),
        loss=loss,
        sharpness=3.0,
    )


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("depth", [2, 3, 4])
def test_gradients_with_distillation_and_truncation_are_those_of_autograd(depth, loss):
    training, rng = constructed(depth=depth, loss=loss), np.random.default_rng(1)
    for run, layer in np.ndindex(RUNS, depth - 1):
        training._distil(run, layer, 0)
    # Distillation makes K^T K agree with W^T W in part: move away, so that every regulariser has a gradient.
    for values in training.weights.values():
        values += 0.2 * rng.standard_normal(values.shape)
    seen = points(training.layout, rng, columns=1 if loss == "logistic" else 0)
    labels = np.sign(rng.standard_normal((RUNS, 1, POINTS, 1)))
    training.backward(seen, labels)
    weights = [torch.tensor(values, requires_grad=True) for values in training.weights.values()]
    total, truncated = torch.zeros(()), False
    for run in range(RUNS):
        blocks, outputs = training.layout.part_blocks(torch.from_numpy(seen[run, 0])), 0.0
        for i, layer in enumerate(training.layout.layers):
            most, places = training.rules.most[i], training.layout.places(layer)
            inner, outer = weights[i][run, :most], weights[i][run, most:]
            features = sum(blocks[j] @ inner[:, place].T for j, place in places.items())
            argument = sum(blocks[j] @ outer[:, place].T for j, place in places.items())
            outputs = outputs + training.alphas[run, i] * argument.square().sum(-1)
            if i < depth - 2:
                z = features @ torch.from_numpy(training.fixed[i][run]).T
                truncated |= bool((z.abs() > 1).any())
                blocks[layer] = truncated_square(z, 1.0)
            before = places[layer - 1]
            rest = [c for j, place in places.items() if j != layer - 1 for c in range(place.start, place.stop)]
            lambdas = training.rules.lambdas[run, i]
            for part, weight in (
                (lambda q, b=before, r=rest: q[:, b].T @ q[:, r], lambdas[0]),
                (lambda q, b=before: q[:, b].T @ q[:, b], lambdas[1]),
                (lambda q: q.T @ q, lambdas[2]),
            ):
                total = total + weight * (part(inner) - part(outer)).square().sum()
            total = total + training.shrinking[run, i] * weights[i][run].square().sum()
        total = total + mean_loss(training, seen[run : run + 1], labels[run : run + 1], outputs[None])[0]
    assert truncated or depth == 2
    total.backward()
    for values, slope in zip(weights, training.gradient.values(), strict=True):
        agree(slope, values.grad)


def test_the_truncated_square_is_smooth_monotone_and_a_square_inside():
    z = np.linspace(-5, 5, 4001)
    values, slopes = truncated_square(z, 1.5), truncated_gradient(z, 1.5)
    inside = np.abs(z) <= 1.5
    np.testing.assert_allclose(values[inside], z[inside] ** 2, rtol=1e-14)
    np.testing.assert_allclose(values[np.abs(z) >= 3], 13 / 6 * 1.5**2)
    assert np.all(slopes * z >= 0)
    np.testing.assert_allclose(np.gradient(values, z)[1:-1], slopes[1:-1], atol=1e-2)
    assert np.abs(np.diff(slopes, 2)).max() < 1e-4


def test_the_distillation_of_exact_weights_finds_their_width_and_their_features_up_to_a_rotation():
    rng = np.random.default_rng(0)
    k, size, m = 3, 8, 12
    left, right = (np.linalg.qr(rng.standard_normal((size, k)))[0].T for _ in range(2))
    spun = np.linalg.qr(rng.standard_normal((m, k)))[0]
    inner_left, inner_right, found = distil(spun @ left, spun @ right, 0.1, 6)
    assert found == k
    assert inner_left.shape == inner_right.shape == (k, size)
    wanted, learned = np.concatenate([left, right], axis=1), np.concatenate([inner_left, inner_right], axis=1)
    rotation = learned @ wanted.T / 2
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(k), atol=1e-12)
    np.testing.assert_allclose(rotation @ wanted, learned, atol=1e-12)


def test_a_distillation_keeps_what_is_above_the_smallest_value_and_no_more_than_it_may():
    left, right = np.diag([1.0, 0.8, 0.05]), np.eye(3)
    assert distil(left, right, 0.1, 9)[2] == 2
    inner, _, found = distil(left, right, 0.01, 2)
    assert found == 3
    assert len(inner) == 2
    assert len(distil(0 * left, right, 0.1, 9)[0]) == 1
    alone, nothing, found = distil(np.empty((3, 0)), left, 0.1, 9)
    assert (alone.shape, found) == ((2, 0), 2)
    np.testing.assert_allclose(nothing.T @ nothing, np.diag([1.0, 0.64, 0.0]), atol=1e-12)


def test_each_run_starts_layers_by_its_own_loss():
    clock = Clock(schedule("staged", 3, (50,), (0.5,)), 3)
    assert clock.ask(5, np.array([0.1, 0.1, 0.1])) is None
    assert clock.ask(10, np.array([0.4, 0.6, np.nan])).tolist() == [True, False, False]
    assert clock.moving.tolist() == [[True, True], [True, False], [True, False]]
    assert clock.ask(20, np.array([0.0, 0.5, 0.6])).tolist() == [False, True, False]
    assert clock.ask(50, np.ones(3)).tolist() == [False, False, True]
    assert clock.layer_starts().tolist() == [[0, 10], [0, 20], [0, 50]]


@pytest.mark.parametrize(
    ("kind", "present", "moving"),
    [
        ("staged", [[1, 0, 0], [1, 1, 0], [1, 1, 1]], [[1, 0, 0], [1, 1, 0], [1, 1, 1]]),
        ("layerwise", [[1, 0, 0], [1, 1, 0], [1, 1, 1]], [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
        ("restart", [[1, 0, 0], [1, 1, 0], [1, 1, 0]], [[1, 0, 0], [1, 1, 0], [1, 1, 0]]),
        ("joint", [[1, 1, 1]] * 3, [[1, 1, 1]] * 3),
    ],
)
def test_schedules_say_which_layers_are_there_and_which_move(kind, present, moving):
    training, rng = plain(4, kind=kind, starts=(4, 8), total=12), np.random.default_rng(2)
    seen = points(training.layout, rng)
    labels = rng.uniform(1, 2, (RUNS, 1, POINTS, 1))
    for phase in range(3):
        before = [values.copy() for values in training.weights.values()]
        training.advance(lambda step: (seen, labels), 4 * phase + 4)
        after = training.weights.values()
        moved = [not np.array_equal(a, b) for a, b in zip(before, after, strict=True)]
        assert moved == [bool(m) for m in moving[phase]]
        assert (training.shown[0, 0] > 0).tolist() == [bool(p) for p in present[phase]]


def test_a_rate_falls_to_nothing_within_a_phase_and_is_restored_with_the_next():
    clock = Clock(schedule("restart", 3, (40,), annealing="cosine"), 2)
    assert clock.factors(0).tolist() == [1, 1]
    assert clock.factors(20) == pytest.approx(0.5)
    assert np.all(clock.factors(39) < 0.01)
    assert clock.ask(40, np.ones(2)) is not None
    assert clock.factors(40).tolist() == [1, 1]
    assert clock.factors(70) == pytest.approx(0.5)


def test_a_run_distils_decays_and_ends_by_its_own_objective():
    rules = {"thresholds": np.array([[1.0, 0.0]] * RUNS), "target": 0.3}
    training, rng = (
        constructed(rules, kind="staged", starts=(90,), thresholds=(0.0,), scale=0.02),
        np.random.default_rng(3),
    )
    training.errors[:] = 2.0
    first = training.shrinking[:, 0].copy()
    training.running = np.array([2.0, 0.9, 0.01])
    training.attend(10)
    assert np.isnan(training.distilled[:, 0]).tolist() == [True, False, False]
    assert np.isnan(training.distilled[:, 1]).all()
    # eps_0 is halved as often as the objective lies below eps_0^2 / 4, and lambda_6 quartered with it.
    assert training.errors[0] == 2.0
    assert training.errors[1] == 1.0
    assert training.errors[2] < 0.3
    halvings = np.log2(2.0 / training.errors)
    np.testing.assert_allclose(training.shrinking[:, 0], first / 4**halvings)
    assert np.isnan(training.ended).tolist() == [True, True, False]
    before = training.weights["layer_2"].copy()
    seen = points(training.layout, rng)
    labels = rng.uniform(1, 2, (RUNS, 1, POINTS, 1))
    training.done = 10
    training.advance(lambda step: (seen, labels), 12)
    moved = (training.weights["layer_2"] != before).any(axis=(1, 2))
    assert moved.tolist() == [True, True, False]


def test_a_layer_is_distilled_before_the_next_one_sees_it():
    training, rng = constructed(kind="staged", starts=(3,), total=6), np.random.default_rng(3)
    seen = points(training.layout, rng)
    labels = rng.uniform(1, 2, (RUNS, 1, POINTS, 1))
    training.advance(lambda step: (seen, labels), 6)
    assert training.distilled[:, 0].tolist() == [3] * RUNS


def test_noise_moves_w_alone():
    training = constructed({"noise": 0.1}, kind="staged", starts=(3,))
    before = [values.copy() for values in training.weights.values()]
    training.attend(0)
    moved = [new - old for new, old in zip(training.weights.values(), before, strict=True)]
    assert (moved[0][:, :3] == 0).all()
    assert moved[0][:, 3:].std() == pytest.approx(0.1 * 10**0.5, rel=0.2)
    # Layer 3 has not come.
    assert (moved[1] == 0).all()
