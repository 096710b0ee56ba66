"""Convolutional networks as a learner: what a study gets of them, and what it cannot have."""

import numpy as np
import pytest
import torch

from hierlearn.core.needs import Sizes
from hierlearn.core.problem import ProblemFeatures, pose
from hierlearn.core.protocols import NullMonitor, TrainingData
from hierlearn.core.registry import build, defaults, needs, validate
from hierlearn.core.streams import Streams
from hierlearn.statistics.features import share_explained, share_within

SMALL = {"width": 16, "steps": 20, "batch": 16}


class Killed(Exception):
    pass


class Keeper(NullMonitor):
    """Keeps every checkpoint, and kills at one of them if it is told to."""

    def __init__(self, kill_at=None):
        self.kept, self.saves, self.kill_at = {}, 0, kill_at

    def restore(self, key):
        return self.kept.get(key)

    def save(self, key, state, final=False):
        self.kept[key], self.saves = state(), self.saves + 1
        if self.saves == self.kill_at:
            raise Killed


def hierarchy(seeds=(0, 1), dimension=16):
    inputs = build("inputs", {"name": "random_hierarchy"}, dimension=dimension)
    teacher = build("teachers", {"name": "hierarchy_class"})
    return pose(inputs, teacher, "paper", 0.0, Streams(("a test",), tuple(seeds), 1), 100)


def features(problem):
    raw = build("representations", {"name": "raw"})
    return ProblemFeatures(problem, raw, raw.fit(None, problem.streams))


def fit(problem, monitor=None, n=64, rates=(0.1,), **parameters):
    learner = build("learners", {"name": "convolutional"} | SMALL | parameters)
    sample = TrainingData(problem, features(problem), n, {"learning_rate": list(rates)}, problem.streams.at("learner"))
    return learner, learner.fit(sample, NullMonitor() if monitor is None else monitor, {})


def test_a_killed_training_goes_on_to_the_same_numbers():
    problem, through, killed = hierarchy(), Keeper(), Keeper(kill_at=2)
    _, whole = fit(problem, through, schedule="staged")
    with pytest.raises(Killed):
        fit(problem, killed, schedule="staged")
    killed.kill_at = None
    _, resumed = fit(problem, killed, schedule="staged")
    assert killed.saves == through.saves
    for part in ("state", "trace", "measures"):
        for name, values in vars(whole)[part].items():
            assert np.array_equal(values, vars(resumed)[part][name]), name


def test_the_trace_says_how_deep_the_network_is_and_its_error():
    problem = hierarchy()
    _, found = fit(problem, schedule="staged")
    assert found.trace["layers"][0].tolist() == [1] * 4 + [2] * 4
    assert found.trace["step"][0].tolist() == [5, 10, 15, 20, 25, 30, 35, 40]
    np.testing.assert_allclose(found.trace["validation_risk"][:, -1], found.validation_risk)


def test_the_rate_with_the_least_error_on_validation_points_is_kept():
    problem = hierarchy()
    alone = [fit(problem, rates=[rate])[1] for rate in (0.1, 1e-5)]
    _, both = fit(problem, rates=(1e-5, 0.1))
    wanted = [0.1 if a < b else 1e-5 for a, b in zip(*(one.validation_risk for one in alone), strict=True)]
    assert both.choices["learning_rate"].tolist() == wanted
    assert np.array_equal(both.validation_risk, np.minimum(*(one.validation_risk for one in alone)))


def test_a_truncated_network_predicts_with_the_layers_that_it_has():
    problem = hierarchy(dimension=32)
    learner, found = fit(problem, schedule="only", trained=1)
    assert not [name for name in found.state if name.startswith("layer1")]
    prediction = learner.predict(found.state, features(problem), "validation", 100, {})
    assert np.array_equal(problem.risk(prediction, problem.draw("validation", 100).target), found.validation_risk)


def test_the_first_layers_weights_are_compared_with_the_start_and_the_first_phase():
    _, rested = fit(hierarchy(), schedule="layerwise")
    _, moved = fit(hierarchy(), schedule="staged", steps=60)
    np.testing.assert_allclose(rested.measures["first_layer_kept"], 1, rtol=1e-5)
    assert np.all(rested.measures["first_layer_start"] < 0.999)
    assert np.all(moved.measures["first_layer_kept"] < 0.9999)


def test_variance_within_groups_is_that_of_an_analysis_of_variance():
    generator = np.random.default_rng(0)
    groups, values = generator.integers(0, 4, 300), generator.standard_normal((300, 5))
    values += groups[:, None]
    within = sum(len(values[groups == g]) * values[groups == g].var(axis=0).sum() for g in range(4))
    np.testing.assert_allclose(share_within(values, groups), within / (300 * values.var(axis=0).sum()))


def test_what_a_line_explains_is_measured_on_other_rows_than_it_is_fitted_to():
    generator = np.random.default_rng(1)
    features, noise = generator.standard_normal((4000, 3)), generator.standard_normal(4000)
    values = 2 + features @ [1.0, -1.0, 1.0] + noise
    assert abs(share_explained(values, features) - 0.75) < 0.05
    few = slice(0, 40)
    assert share_explained(noise[few], generator.standard_normal((40, 19))) < 0
    assert np.isnan(share_explained(np.ones(40), features[few]))


def test_a_hidden_bit_is_decoded_from_the_first_layer():
    inputs = build("inputs", {"name": "hidden_bits"}, dimension=32)
    teacher = build("teachers", {"name": "bit_interaction"})
    problem = pose(inputs, teacher, "paper", 0.0, Streams(("t",), (0, 1), 1), 200)
    decoded = fit(problem, head="flat")[1].measures["hidden_bit_decoded"]
    # 16 features at random see a part of 64 pairs.
    assert np.all((decoded > -0.2) & (decoded < 0.9))
    assert "hidden_bit_decoded" not in fit(hierarchy())[1].measures


def test_a_circular_network_does_not_see_a_shift():
    law, teacher = build("inputs", {"name": "hypercube"}, dimension=8), build("teachers", {"name": "shift_products"})
    problem = pose(law, teacher, "paper", 0.0, Streams(("t",), (0, 1), 1), 40)
    learner, found = fit(problem, architecture="circular", depth=2, links=True)

    class Shifted:
        def draw(self, role, count):
            return np.roll(features(problem).draw(role, count), 3, axis=-1)

    moved, still = (learner.predict(found.state, seen, "test", 50, {}) for seen in (Shifted(), features(problem)))
    np.testing.assert_allclose(moved, still, rtol=1e-4, atol=1e-5)
    assert still.std() > 0.01


def test_only_hierarchies_have_synonyms():
    assert "synonym_variance" in fit(hierarchy())[1].measures
    digits = build("inputs", {"name": "digits"}, dimension=64)
    problem = pose(digits, build("teachers", {"name": "picture_class"}), "paper", 0.0, Streams(("t",), (0,), 1), 60)
    assert "synonym_variance" not in fit(problem, architecture="plain", steps=2)[1].measures


def test_all_pictures_are_vectors_to_dense_layers():
    assert fit(hierarchy(), architecture="dense", steps=2)[1].state["shape"].tolist() == [[16, 1, 1]] * 2


@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is here: that there is none cannot be tried")
def test_a_gpu_that_is_not_there_is_one_line_and_auto_does_without():
    with pytest.raises(ValueError, match=r"device 'cuda' where torch sees no GPU; expected auto, cpu, or a GPU"):
        fit(hierarchy(), device="cuda")
    _, here = fit(hierarchy(), device="auto")
    assert np.array_equal(here.validation_risk, fit(hierarchy())[1].validation_risk)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here: the two devices are not compared")
@pytest.mark.parametrize("architecture", ["patches", "plain", "wide_resnet"])
def test_a_gpu_gives_the_same_to_rounding_in_single_precision(architecture):
    inputs = build("inputs", {"name": "digits"}, dimension=64)
    problem = pose(
        inputs, build("teachers", {"name": "picture_class"}), "paper", 0.0, Streams(("a test",), (0,), 1), 60
    )
    net = {"architecture": architecture, "depth": 4 if architecture == "wide_resnet" else 3, "head": "mean"}
    found = [fit(problem, device=device, steps=1, rates=(0.01,), **net)[1].state for device in ("cpu", "cuda")]
    names = [name for name in found[0] if "weight" in name]
    one, other = (np.concatenate([state[name].ravel() for name in names]) for state in found)
    apart = np.linalg.norm(one - other) / np.linalg.norm(one)
    print(f"{architecture}: {apart:.1e} apart")
    # Convolutions with ten bits after the point would be a hundred times as far apart.
    assert apart < 2e-6


@pytest.mark.parametrize(
    ("parameters", "dimension", "message"),
    [
        ({"schedule": "fixed", "trained": 2}, 16, ("trained", "2 of 2 layers with schedule 'fixed'", "at most 1")),
        ({"schedule": "fixed", "fixed": 3, "trained": 2}, 32, ("fixed", "3", "at most trained = 2")),
        ({"depth": 3, "patch": 3}, 16, ("patch", "3 at layer 1, on 1 x 4 places", "a divisor of height and width")),
        ({"precision": "half"}, 16, ("precision", "'half' with device 'cpu'", "single, or device cuda or auto")),
        ({"architecture": "vgg", "depth": 5}, 16, ("depth", "5 layers that pool 1 times on 1 x 4 places", None)),
    ],
)
def test_what_a_picture_cannot_carry_is_an_objection(parameters, dimension, message):
    inputs = build("inputs", {"name": "random_hierarchy"}, dimension=dimension)
    (found,) = validate(
        "learners", {"name": "convolutional"} | defaults("learners", "convolutional") | parameters, inputs
    )
    assert all(part in (None, said) for part, said in zip(message, found, strict=True))


def test_layers_at_rest_are_counted_forward_alone_and_once_where_what_they_make_is_kept():
    problem, n, steps, batch, width = hierarchy(seeds=(0,)), 64, SMALL["steps"], SMALL["batch"], SMALL["width"]
    # Two levels: pairs of one-hot symbols at two places, then one pair of what these became.
    first, second = 2 * (2 * 4) * width, 2 * width * width
    counted = {schedule: fit(problem, n=n, schedule=schedule)[1].flops[0] for schedule in ("staged", "layerwise")}
    assert counted["staged"] == 6 * batch * steps * (first + first + second)
    assert counted["layerwise"] == 6 * batch * steps * (first + second) + 2 * n * first


def asked(shape, **parameters):
    described = defaults("learners", "convolutional") | {"name": "convolutional"} | parameters
    sizes = {"dimension": int(np.prod(shape)), "outputs": 10, "samples": 640, "validation": 100, "test": 100}
    presented = described["steps"] * described["batch"]
    return needs("learners", described, Sizes(**sizes, shape=shape, presented=presented))


def test_work_is_that_of_the_products_and_of_the_passes_over_layers_however_large_the_network():
    problem = hierarchy(seeds=(0,), dimension=32)
    for width in (16, 64, 256):
        _, found = fit(problem, n=64, width=width, steps=1, depth=3)
        sizes = Sizes(dimension=32, outputs=4, samples=64, shape=(4, 1, 8), presented=16)
        described = defaults("learners", "convolutional") | {"depth": 3, "width": width, "steps": 1, "batch": 16}
        work = needs("learners", {"name": "convolutional"} | described, sizes).work["fit"]
        # The rest is a pass over seven places of as many channels, 500 operations each, and the head.
        rest = 3 * 16 * (500 * 7 * width + 6 * width * 4)
        assert work == pytest.approx(found.flops[0] + rest)


def test_a_wide_residual_network_asks_for_its_own_numbers():
    wide = {"architecture": "wide_resnet", "depth": 16, "width": 160, "batch": 125, "steps": 2700}
    found = asked((3, 32, 32), **wide)
    # WRN-34-10 has 46.2 million weights and 6.7e9 products a picture (Zagoruyko and Komodakis, 2016).
    assert found.memory["model"] == pytest.approx(46.2e6, rel=0.03)
    assert found.work["fit"] / (16 * 2700 * 125) == pytest.approx(6 * 6.7e9, rel=0.1)
    # Three gigabytes of activations for 125 pictures, as numbers of 8 bytes, and not three hundred.
    assert 1e8 < found.memory["fit"] < 1.5e9
