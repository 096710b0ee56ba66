"""The walk along the sample sizes, with a learner whose risk is written down beforehand."""

from typing import Annotated

import numpy as np
import pytest

from hierlearn.core.problem import ProblemFeatures, pose
from hierlearn.core.protocols import STATUS, Fit, Learner, NullMonitor
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.pipeline.run.sample_sizes import failures, train_curve

SAMPLES = [2, 4, 8, 16, 32]


class Scripted(Learner):
    """Validation risk by seed and sample size; notes who was trained with whom and what it was given."""

    class Choices:
        ridge: Annotated[float, "."]

    def __init__(self, risks, batch_seeds):
        self.risks, self.batch_seeds, self.calls, self.caches = risks, batch_seeds, [], []

    def fit(self, sample, monitor, cache):
        problem, samples, streams = sample.data, sample.n, sample.streams
        assert problem.seeds == sample.features.problem.seeds == streams.seeds
        self.calls.append((samples, problem.seeds))
        self.caches.append(dict(cache))
        cache[samples] = True
        risk = np.array([self.risks[seed][SAMPLES.index(samples)] for seed in problem.seeds], float)
        return Fit(
            state={"first": streams.stack(lambda g: g.random(1))},
            status=np.full(len(risk), STATUS["ok"], np.int8),
            validation_risk=risk,
            train_risk=risk,
            choices={"ridge": risk},
            flops=np.ones(len(risk)),
        )

    def predict(self, state, features, role, count, cache):
        raise AssertionError("the search asks for risks, not for predictions")


def walked(risks, batch_seeds=False, near=None, thresholds=(0.5,), noise=0.0):
    streams = Streams(("walk",), tuple(risks))
    problem = pose(
        build("inputs", {"name": "hypercube"}, dimension=3),
        # A target of one size, so that errors are risks as they stand.
        build("teachers", {"name": "parity"}),
        "unit",
        noise,
        streams,
        held_out=5,
    )
    raw = build("representations", {"name": "raw"})
    learner = Scripted(risks, batch_seeds)
    features = ProblemFeatures(problem, raw, raw.fit(None, streams))
    search = None if near is None else {"near": near, "thresholds": thresholds}
    return learner, train_curve(learner, problem, features, SAMPLES, search, {}, NullMonitor())


def visited(visits, position):
    return [n for n, (positions, _) in visits.items() if position in positions]


@pytest.mark.parametrize("batch_seeds", [False, True])
def test_every_seed_searches_on_its_own(batch_seeds):
    risks = {0: [0.9, 0.2, 0.05, 0.01, 0.01], 5: [1, 1, 1, 0.9, 0.3], 7: [0.3, 0.2, 0.2, 0.1, 0.1]}
    _, visits = walked(risks, batch_seeds, near=8)
    assert visited(visits, 0) == [2, 4, 8]
    assert visited(visits, 1) == [8, 16, 32]
    assert visited(visits, 2) == [2, 4, 8]


def test_a_learner_is_given_the_seeds_that_ask_for_the_same_size_at_once():
    risks = {0: [0.9, 0.2, 0.05, 0.01, 0.01], 5: [1, 1, 1, 0.9, 0.3], 7: [0.9, 0.2, 0.2, 0.1, 0.1]}
    learner, _ = walked(risks, True, near=8)
    assert learner.calls == [(8, (0, 5, 7)), (4, (0, 7)), (2, (0, 7)), (16, (5,)), (32, (5,))]


@pytest.mark.parametrize("batch_seeds", [False, True])
def test_a_seed_without_a_number_never_counts_as_crossed(batch_seeds):
    _, visits = walked({0: [np.nan] * 5, 1: [0.05] * 5}, batch_seeds, near=4)
    assert visited(visits, 0) == [4, 8, 32]
    assert visited(visits, 1) == [2, 4]


@pytest.mark.parametrize(("near", "first"), [(1, 2), (5, 4), (6, 8), (10**6, 32)])
def test_a_search_begins_at_the_lattice_size_that_is_nearest(near, first):
    learner, _ = walked({0: [0.9, 0.9, 0.9, 0.1, 0.1]}, near=near)
    assert learner.calls[0] == (first, (0,))


@pytest.mark.parametrize("batch_seeds", [False, True])
def test_each_fit_carries_its_own_seeds_in_order(batch_seeds):
    risks = {3: [1, 0.9, 0.8, 0.7, 0.6], 8: [0.05, 0.06, 1, 1, 1], 9: [0.9, 0.8, 0.7, 0.05, 0.04]}
    _, visits = walked(risks, batch_seeds, near=4)
    for n, (positions, fit) in visits.items():
        seeds = [(3, 8, 9)[position] for position in positions]
        assert fit.validation_risk.tolist() == [risks[seed][SAMPLES.index(n)] for seed in seeds]
        assert fit.choices["ridge"].tolist() == fit.validation_risk.tolist()
        assert len(fit.state["first"]) == len(fit.status) == len(fit.flops) == len(positions)


def test_label_noise_is_taken_off_before_a_threshold_is_compared():
    _, visits = walked({0: [5.0, 5.0, 4.05, 4.05, 4.05]}, near=4, noise=2.0)
    assert visited(visits, 0) == [4, 8]
    assert visits[4][1].validation_risk == pytest.approx([1.0])


def test_seeds_draw_the_same_whether_they_are_trained_together_or_alone():
    risks = {3: [1] * 5, 8: [1] * 5}
    for n, (_, fit) in walked(risks, True)[1].items():
        assert np.array_equal(fit.state["first"], walked(risks, False)[1][n][1].state["first"])


def test_a_learner_is_given_all_seeds_at_once_only_if_it_says_so():
    risks = {3: [1] * 5, 8: [1] * 5}
    assert walked(risks, True)[0].calls == [(n, (3, 8)) for n in SAMPLES]
    assert walked(risks, False)[0].calls == [(n, (seed,)) for seed in (3, 8) for n in SAMPLES]


def test_the_cache_starts_empty_with_every_walk_and_grows_along_it():
    learner, _ = walked({3: [1] * 5, 8: [1] * 5})
    assert learner.caches == [{n: True for n in SAMPLES[:i]} for i in range(5)] * 2


@pytest.mark.parametrize("batch_seeds", [False, True])
def test_a_search_that_was_stopped_goes_the_same_way_again(batch_seeds):
    risks = {3: [0.9, 0.6, 0.3, 0.1, 0.1], 8: [0.9, 0.9, 0.9, 0.7, 0.2]}
    learner, visits = walked(risks, batch_seeds, near=2)
    again, same = walked(risks, batch_seeds, near=2)
    assert again.calls == learner.calls
    # What a training keeps for later has its size and its first seed for a name.
    assert len({(n, seeds[0]) for n, seeds in learner.calls}) == len(learner.calls)
    assert {n: positions for n, (positions, _) in same.items()} == {
        n: positions for n, (positions, _) in visits.items()
    }


def test_gram_matrices_kept_along_a_search_do_not_change_a_fit_by_its_way():
    streams = Streams(("walk",), (0, 1))
    problem = pose(
        build("inputs", {"name": "sphere"}, dimension=4),
        build("teachers", {"name": "ridge_polynomial", "degree": 1}),
        "unit",
        0.0,
        streams,
        held_out=50,
    )
    raw = build("representations", {"name": "raw"})
    features = ProblemFeatures(problem, raw, raw.fit(None, streams))
    learner = build("learners", {"name": "kernel_ridge", "kernel": {"name": "ntk_raw"}})
    choices = {"ridge": [0.1, 1e-3]}
    whole = train_curve(learner, problem, features, SAMPLES, None, choices, NullMonitor())
    for near in (2, 32):
        search = {"near": near, "thresholds": [0.5, 0.2]}
        for n, (positions, fit) in train_curve(
            learner, problem, features, SAMPLES, search, choices, NullMonitor()
        ).items():
            risk = whole[n][1].validation_risk[positions]
            np.testing.assert_allclose(fit.validation_risk, risk, rtol=1e-6)


def test_a_failed_seed_is_named_with_its_remedy():
    fit = Fit({}, np.array([0, 7, 5], np.int8), np.zeros(3), np.zeros(3))
    lines = failures(build("learners", {"name": "kernel_ridge"}), (4, 5, 9), 32, fit)
    assert len(lines) == 2
    assert "kernel_ridge: n = 32: seeds [9] diverged: " in lines[0]
    assert "seeds [5] singular: the matrix is not positive definite to rounding; use a larger ridge" in lines[1]


def test_without_a_search_every_size_is_visited():
    learner, visits = walked({seed: [0.9, 0.01, 0.01, 0.01, 0.01] for seed in (4, 5, 9)})
    assert sorted(visits) == SAMPLES
    assert {n for n, _ in learner.calls} == set(SAMPLES)
