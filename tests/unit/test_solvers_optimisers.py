"""Optimisers of many runs against torch's own, one run at a time."""

import numpy as np
import pytest
import torch

from hierlearn.solvers import optimisers
from hierlearn.solvers.optimisers import adam, clip_factors, cosine_factor, get_optimiser, sgd

RUNS, STEPS = 2, 5
SHAPES = {"matrix": (3, 2), "vector": (4,)}


def weights(rng, axes=1):
    return [rng.standard_normal((1,) * (axes - 1) + (RUNS, *shape)) for shape in SHAPES.values()]


def theirs(name, parameters, rate, decay):
    if name == "sgd":
        return torch.optim.SGD(parameters, lr=rate, momentum=0.9, weight_decay=decay)
    return torch.optim.Adam(parameters, lr=rate, weight_decay=decay)


@pytest.mark.parametrize("name", ["sgd", "adam"])
@pytest.mark.parametrize("decay", [0.0, 0.1])
@pytest.mark.parametrize("axes", [1, 2])
def test_every_run_steps_as_torchs_optimisers_do(name, decay, axes):
    rng, rates = np.random.default_rng(0), np.array([0.1, 0.02])
    moved, method = weights(rng, axes), get_optimiser(name, 0.9)
    memory = method.init(moved, axes)
    alone = [[torch.tensor(v.reshape(RUNS, *v.shape[axes:])[i]) for v in moved] for i in range(RUNS)]
    steps_of = [theirs(name, run, rate, decay) for run, rate in zip(alone, rates, strict=True)]
    shape = (1,) * (axes - 1) + (RUNS,)
    for _ in range(STEPS):
        gradients = weights(rng, axes)
        for i, run in enumerate(alone):
            for values, gradient in zip(run, gradients, strict=True):
                values.grad = torch.tensor(gradient.reshape(RUNS, *gradient.shape[axes:])[i])
            steps_of[i].step()
        decays = np.full(shape, decay) if decay else None
        method.update(moved, gradients, memory, [rates.reshape(shape)] * 2, decays)
    for i, run in enumerate(alone):
        for values, wanted in zip(moved, run, strict=True):
            np.testing.assert_allclose(values.reshape(RUNS, *values.shape[axes:])[i], wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("in_cache", [optimisers.IN_CACHE, 0], ids=["together", "one by one"])
@pytest.mark.parametrize("name", ["sgd", "adam"])
def test_a_gradient_may_be_given_by_its_factors_that_runs_share(monkeypatch, name, in_cache):
    monkeypatch.setattr(optimisers, "IN_CACHE", in_cache)
    rng, method = np.random.default_rng(0), get_optimiser(name, 0.9)
    start, rates, decays = rng.standard_normal((2, 3, 4, 5)), np.array([[0.1, 0.2, 0.3]]), np.array([[0.0, 0.1, 0.2]])
    whole, parted = [start.copy()], [start.copy()]
    memories = method.init(whole, 2), method.init(parted, 2)
    for _ in range(STEPS):
        pairs = [(rng.standard_normal((2, 3, 7, 4)), rng.standard_normal((2, own, 7, 5))) for own in (1, 3)]
        gradient = sum(left.mT @ right for left, right in pairs)
        method.update(whole, [gradient], memories[0], [rates], decays)
        method.update(parted, [pairs], memories[1], [rates], decays)
    np.testing.assert_allclose(parted[0], whole[0], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["sgd", "adam"])
def test_what_rests_stays_and_what_is_cleared_starts_afresh(name):
    rng, method, rates = np.random.default_rng(0), get_optimiser(name, 0.9), [np.full(RUNS, 0.1)] * 2
    moved, gradients = weights(rng), weights(rng)
    fresh, before = [v.copy() for v in moved], [v.copy() for v in moved]
    memory = method.init(moved, 1)
    masks = [np.ones((RUNS, 1, 1)), np.array([[1.0], [0.0]])]
    method.update(moved, [None, gradients[1].copy()], memory, rates, masks=masks)
    assert np.array_equal(moved[0], before[0])
    assert np.array_equal(moved[1][1], before[1][1])
    assert not np.array_equal(moved[1][0], before[1][0])
    memory.clear(np.array([True, False]))
    moved[1][...] = fresh[1]
    anew = method.init(fresh, 1)
    for arrays, known in ((moved, memory), (fresh, anew)):
        method.update(arrays, [g.copy() for g in gradients], known, rates)
    assert np.array_equal(moved[1][0], fresh[1][0])
    assert not np.array_equal(moved[1][1], fresh[1][1])


def test_clipping_bounds_the_norm_of_what_moves():
    gradients = [np.array([[3.0, 0.0], [0.3, 0.0], [np.nan, 0.0]]), np.array([[4.0], [0.4], [0.0]])]
    every, first = np.ones((3, 2), dtype=bool), np.array([[True, False]] * 3)
    np.testing.assert_allclose(clip_factors(gradients, 1.0, every), [0.2, 1.0, np.nan])
    np.testing.assert_allclose(clip_factors(gradients, 1.0, first), [1 / 3, 1.0, np.nan])
    assert clip_factors([values[1:2] for values in gradients], 1.0, every[1:2]) is None


def test_a_velocity_without_a_gradient_comes_to_rest():
    method, moved = sgd(0.9), [np.zeros((1, 3), np.float32)]
    memory = method.init(moved, 1)
    memory.first[0][...] = 1.0
    for _ in range(1001):
        method.update(moved, [np.zeros((1, 3), np.float32)], memory, [np.ones(1)])
    assert not memory.first[0].any()


def test_rates_fall_along_half_a_cosine():
    assert [cosine_factor(step, 10) for step in (0, 5, 10)] == pytest.approx([1, 0.5, 0], abs=1e-15)


def test_single_precision_stays_single():
    for method in (sgd(0.9), adam()):
        moved = [np.ones((2, 3), np.float32)]
        memory = method.init(moved, 1)
        method.update(moved, [np.ones((2, 3), np.float32)], memory, [np.full(2, 0.1)], np.full(2, 0.1, np.float32))
        assert {values.dtype for values in (*moved, *memory.first, *memory.second)} == {np.dtype(np.float32)}
