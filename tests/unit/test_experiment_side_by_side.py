"""Networks side by side: their scores are those of the learner by itself, and what is refused before anything runs."""

import numpy as np
import pytest

from hierlearn.core.needs import Sizes
from hierlearn.core.problem import ProblemFeatures, pose
from hierlearn.core.protocols import NullMonitor, TrainingData
from hierlearn.core.registry import build, defaults, needs, validate
from hierlearn.core.streams import Streams

SEEDS = (3, 5)
NETWORK = {"name": "convolutional", "width": 16, "batch": 16, "steps": 10, "head": "flat", "schedule": "staged"}


def problem():
    law, teacher = build("inputs", {"name": "sphere"}, dimension=6), build("teachers", {"name": "ridge_polynomial"})
    return pose(law, teacher, "unit", 0.0, Streams(("a test",), SEEDS, 1), 40)


def described(**parameters):
    return {"name": "side_by_side"} | defaults("probes", "side_by_side") | parameters


def test_scores_are_accuracies_of_the_networks_and_the_contrast_their_sum_by_weights():
    networks = {"two": NETWORK, "one": NETWORK | {"depth": 1}}
    found = build("probes", described(learners=networks, layers=[2, 1], weights=[3, -2])).measure(problem())
    streams = problem().streams.at("side_by_side", "random_hierarchy")
    law = build("inputs", {"name": "random_hierarchy"}, dimension=16)
    teacher = build("teachers", {"name": "hierarchy_class"})
    posed = pose(law, teacher, "paper", 0.0, Streams(streams.key, SEEDS, len(streams.key)), 50)
    raw = build("representations", {"name": "raw"})
    features, test = ProblemFeatures(posed, raw, raw.fit(None, posed.streams)), posed.draw("test", 500)
    for i, network in enumerate(networks.values()):
        learner = build("learners", network)
        own = posed.streams.at("learner", learner.stream_key)
        fit = learner.fit(TrainingData(posed, features, 64, {"learning_rate": [0.2]}, own), NullMonitor(), {})
        right = learner.predict(fit.state, features, "test", 500, {}).argmax(axis=-1) == test.target.argmax(axis=-1)
        np.testing.assert_allclose(found["score"].values[:, i], right.mean(axis=1))
    np.testing.assert_allclose(found["contrast"].values, found["score"].values @ [3, -2])
    assert found["layers"].values.tolist() == [2, 1]


def test_of_a_regression_the_score_is_the_part_that_is_explained():
    bits = {"input": {"name": "hidden_bits"}, "teacher": {"name": "bit_interaction"}, "dimension": 32}
    networks = {"still": NETWORK | {"steps": 1}, "trained": NETWORK | {"steps": 300}}
    found = build(
        "probes", described(**bits, learners=networks, samples=1024, learning_rate=0.1, weights=[0, 1])
    ).measure(problem())
    still, trained = found["score"].values.T
    assert np.all(still < 0.5)
    assert np.all((trained > 0.7) & (trained < 1))


def test_kernels_among_the_networks_have_the_best_of_the_ridges():
    kernels = {"tree": {"name": "convolutional_kernel", "head": "flat"}, "flat": {"name": "kernel_ridge"}}
    given = {"learners": {"one": NETWORK | {"depth": 1}} | kernels, "layers": [1, 2, 3], "weights": [0, 1, -1]}
    found = build("probes", described(**given, samples=200)).measure(problem())["score"].values
    one = build("probes", described(learners={"one": NETWORK | {"depth": 1}}, layers=[1], weights=[1], samples=200))
    np.testing.assert_array_equal(one.measure(problem())["score"].values[:, 0], found[:, 0])
    # Better than chance, 1/4.
    assert np.all(found[:, 1:] > 0.3)


def test_of_several_learning_rates_a_network_has_the_best_on_validation_points():
    given = {"learners": {"one": NETWORK | {"steps": 150}}, "layers": [1], "weights": [1], "samples": 256}
    alone, still, *both = (
        build("probes", described(**given, learning_rate=rates)).measure(problem())["score"].values[:, 0]
        for rates in (0.2, 1e-6, [1e-6, 0.2], [0.2, 1e-6])
    )
    # No equality: runs of a batch may round otherwise than one alone, and training carries that on.
    for found in (alone, *both):
        assert np.all(found > still + 0.2)


def asked(**parameters):
    return needs("probes", described(**parameters), Sizes(seeds=2))


def test_it_asks_for_the_work_of_all_networks_and_for_the_memory_of_the_largest():
    one, two = NETWORK | {"depth": 1}, NETWORK | {"depth": 2, "width": 64, "device": "cuda"}
    alone, both = asked(learners={"two": two}), asked(learners={"one": one, "two": two})
    assert both.memory == alone.memory and (alone.gpus, both.gpus, asked(learners={"one": one}).gpus) == (1, 1, 0)
    rest = asked(learners={"one": one}).work["measure"]
    assert rest > 0 and both.work["measure"] == pytest.approx(alone.work["measure"] + rest)
    assert 1.4 * rest < asked(learners={"one": one}, learning_rate=[0.1, 0.2]).work["measure"] <= 2 * rest
    # Work follows the steps and the seeds, apart from the scores on test points.
    few, many = (asked(learners={"one": one | {"steps": steps}}, test=1).work["measure"] for steps in (100, 1000))
    assert many / few == pytest.approx(10, rel=0.01)
    once = needs("probes", described(learners={"two": two}), Sizes(seeds=1)).work["measure"]
    assert alone.work["measure"] == 2 * once


def test_it_asks_for_no_less_than_the_same_training_of_a_study():
    problem = {"dimension": 64, "features": 64, "samples": 500, "test": 500, "validation": 50, "shape": (4, 1, 16)}
    network = defaults("learners", "convolutional") | NETWORK
    study = needs("learners", network, Sizes(**problem, outputs=4, presented=10 * 16))
    own = asked(learners={"one": NETWORK}, dimension=64, samples=500)
    assert own.work["measure"] == 2 * sum(study.work.values())
    assert own.memory["measure"] >= max(study.memory["fit"], study.memory["predict"])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"weights": [1.0]}, ("weights", "1 numbers", "2, one for each network")),
        ({"dimension": 20}, ("input", "dimension 20", "v s^L = 4 x 2^L, L at least 1")),
        ({"teacher": {"name": "hierarchy_class", "classes": 5}}, ("teacher", "classes 5", "the input's 4")),
        ({"teacher": {"name": "bit_interaction"}}, ("teacher", "bit_interaction for the law random_hierarchy", None)),
        ({"learners": {"a": NETWORK, "b": NETWORK | {"patch": 3}}}, ("learners", "b: patch 3", None)),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_runs(change, said):
    ((parameter, found, allowed),) = validate("probes", described(**change), None)
    assert parameter == said[0]
    assert found.startswith(said[1])
    assert said[2] in (None, allowed)


@pytest.mark.parametrize("rate", [-1, 0, [], ["a"], [0.1, 0.1], [0.1, -0.1], "fast"])
def test_learning_rates_are_refused_in_one_line_that_says_what_they_may_be(content, check, rate):
    content["probes"]["pictures"] = {"probe": {"name": "side_by_side", "learning_rate": rate}}
    (fault,) = check(content)[1]
    assert str(fault).startswith("config/studies/a-study.yaml: probes.pictures.probe.learning_rate")
    assert "a number above 0; or a list of such" in str(fault)


def test_pictures_of_features_have_one_learning_rate_before_and_after(content, check):
    content["probes"]["pictures"] = {"probe": {"name": "feature_pictures", "learning_rate": [0.1, 0.2]}}
    (fault,) = check(content)[1]
    assert str(fault).endswith("probes.pictures.probe.learning_rate: found [0.1, 0.2]; expected number")
