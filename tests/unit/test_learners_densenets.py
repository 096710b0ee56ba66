"""Quadratic DenseNets as learners: what they measure, interruption, independence of seeds, divergence, refusals."""

from itertools import product

import numpy as np
import pytest

from hierlearn.core.problem import ProblemFeatures, pose
from hierlearn.core.protocols import STATUS, TrainingData
from hierlearn.core.registry import build, implementation
from hierlearn.core.streams import Streams
from hierlearn.learners.densenets.runs import GRAPHS
from hierlearn.learners.densenets.student import Student
from hierlearn.pipeline.files.checkpoints import Checkpoints
from hierlearn.pipeline.run.monitor import JobMonitor

SEEDS = (3, 5, 8)
NAMES = ("densenet", "distilled_densenet")
TEACHER = {"name": "quadratic_densenet", "widths": [2, 1], "gap": 0.3}


def posed(seeds=SEEDS, scale="paper", teacher=TEACHER, dimension=6, held_out=300):
    gaussian = build("inputs", {"name": "gaussian"}, dimension=dimension)
    problem = pose(gaussian, build("teachers", teacher), scale, 0.0, Streams(("densenets",), seeds), held_out)
    raw = build("representations", {"name": "raw"})
    return problem, ProblemFeatures(problem, raw, raw.fit(np.empty((len(seeds), 0, 0)), problem.streams))


@pytest.fixture(scope="module")
def where():
    return posed()


def fitted(where, name="densenet", choices=None, samples=800, watch=None, **parameters):
    problem, features = where
    learner = build("learners", {"name": name, "width": 8, "steps": 40, "batch": 32} | parameters)
    streams = problem.streams.at("learner", name)
    return learner, learner.fit(
        TrainingData(problem, features, samples, choices or {}, streams), watch or JobMonitor(), {}
    )


@pytest.mark.parametrize(
    ("name", "scale"), [("densenet", "paper"), ("densenet", "unit"), ("distilled_densenet", "unit")]
)
def test_staged_training_corrects_the_features_below(name, scale):
    problem, features = posed(scale=scale, seeds=(3, 11))
    parameters = {"steps": 1500, "batch": 64, "starts": [0.3], "choices": {"learning_rate": [0.02]}}
    learner, fit = fitted((problem, features), name, samples=20000, **parameters)
    outputs = learner.predict(fit.state, features, "test", 2000, {})
    risk = problem.risk(outputs, problem.draw("test", 2000).target)
    assert np.all(risk < 2e-2 * problem.factor**2)
    assert np.all(fit.measures["feature_error_2"] < 0.2 * fit.measures["feature_error_2_before"])
    assert np.all(fit.measures["linear_feature_error_2"] <= fit.measures["feature_error_2"])
    assert np.all(fit.measures["start_3"] <= 450)
    # Whatever the scale, features are measured in the teacher's own units.
    hidden = problem.teacher.hidden(problem.state, problem.draw("validation", 300).x)
    size = np.mean(np.sum(hidden["S_2"] ** 2, axis=2), axis=1)
    np.testing.assert_allclose(fit.measures["feature_size_2"], size, rtol=0.05)
    if name == "distilled_densenet":
        assert fit.measures["found_width_2"].tolist() == [2, 2]
        assert np.all(fit.measures["distillation_gap_2"] < 0.1)


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_learns_the_same_bits_whoever_else_is_trained(where, name):
    problem, features = where
    # Thresholds that some runs cross on the way and others do not: one seed's start must not disturb another's numbers.
    parameters = {"steps": 100, "starts": [0.9], "thresholds": [12.0]}
    if name == "distilled_densenet":
        parameters["threshold_scale"] = 20.0
    choices = {"learning_rate": [0.05, 0.01]}
    _, whole = fitted(where, name, choices, **parameters)
    for positions in ([1], [2, 0]):
        _, part = fitted((problem.take(positions), features.take(positions)), name, choices, **parameters)
        for kind in ("state", "trace", "measures"):
            for key, values in getattr(part, kind).items():
                assert np.array_equal(values, getattr(whole, kind)[key][positions], equal_nan=True), key
    assert len(set(whole.measures["start_3"].tolist())) > 1
    if name == "distilled_densenet":
        assert len(set(whole.measures["distilled_2"].tolist())) > 1


@pytest.mark.parametrize("name", NAMES)
def test_an_interrupted_training_goes_on_to_the_same_bits(where, name, tmp_path, monkeypatch):
    monkeypatch.setattr("hierlearn.pipeline.files.checkpoints.SECONDS_BETWEEN_SAVES", 0.0)
    parameters, steps = {"steps": 160, "starts": [0.9], "thresholds": [12.0]}, []
    choices = {"learning_rate": [0.05, 0.01]}
    _, whole = fitted(where, name, choices, **parameters)

    class Stopped(Exception):
        pass

    class Watched(JobMonitor):
        def advance(self, done, total):
            steps.append(done)
            if 110 < done < total and len(stops) == 0:
                stops.append(done)
                raise Stopped

    checkpoints, stops = Checkpoints(tmp_path / "x.nc", {"a": "b"}), []
    with pytest.raises(Stopped):
        fitted(where, name, choices, watch=Watched(checkpoints), **parameters)
    steps.clear()
    _, again = fitted(where, name, choices, watch=Watched(checkpoints), **parameters)
    assert steps[0] > 50
    for kind in ("state", "trace", "measures"):
        for key, values in getattr(whole, kind).items():
            assert np.array_equal(values, getattr(again, kind)[key], equal_nan=True), key


@pytest.mark.parametrize("name", NAMES)
def test_a_diverging_seed_ends_alone(where, name):
    problem, features = where
    loud = np.array([1.0, 1e30, 1.0])

    class Loud:
        """The same problem with one seed's labels out of range."""

        def __getattr__(self, key):
            return getattr(problem, key)

        def draw(self, role, count, start=0):
            batch = problem.draw(role, count, start)
            return type(batch)(batch.x, batch.labels * loud[:, None, None], batch.target)

    parameters = {"choices": {"learning_rate": [1e-4]}, "optimiser": "sgd", "clip": None}
    _, fit = fitted((Loud(), features), name, **parameters)
    assert fit.status.tolist() == [STATUS["ok"], STATUS["diverged"], STATUS["ok"]]
    assert fit.measures["diverged_runs"].tolist() == [0, 1, 0]
    assert fit.measures["diverged_settings"].tolist() == [0, 2**0, 0]
    assert np.isnan(fit.validation_risk[1])
    _, quiet = fitted((problem.take([0, 2]), features.take([0, 2])), name, **parameters)
    assert np.array_equal(fit.validation_risk[[0, 2]], quiet.validation_risk)


def test_the_control_has_the_same_start_and_never_a_last_layer(where):
    _, staged = fitted(where, schedule="staged")
    _, control = fitted(where, schedule="restart")
    assert np.isnan(control.measures["start_3"]).all()
    assert np.array_equal(staged.measures["feature_error_2_before"], control.measures["feature_error_2_before"])
    assert np.array_equal(control.trace["risk_layer_2"], control.trace["risk_layer_3"])
    assert np.all(control.state["alphas"][:, 1] == 0)
    early = staged.trace["step"][0] <= 20
    assert np.array_equal(staged.trace["risk_layer_2"][:, early], control.trace["risk_layer_2"][:, early])


def test_layers_below_rest_in_the_layerwise_schedule(where):
    _, fit = fitted(where, schedule="layerwise")
    late = fit.trace["step"][0] >= 20
    errors = fit.trace["feature_error_2"][:, late]
    assert np.all(errors == errors[:, :1])


def test_a_refitted_last_layer_is_the_best_quadratic_form_of_what_it_sees(where):
    problem, features = where
    given = {"schedule": "layerwise", "samples": 2000}
    _, trained = fitted(where, **given)
    learner, fit = fitted(where, readout="refitted", **given)
    for name in ("layer_2", "layer_3"):
        assert np.array_equal(fit.state[name], trained.state[name])
    counts = {"training": 2000, "test": 500}
    outputs = {role: learner.predict(fit.state, features, role, n, {}) for role, n in counts.items()}
    labels = problem.draw("training", 2000).labels
    risk = np.mean((outputs["training"] - labels) ** 2, axis=(1, 2))
    np.testing.assert_allclose(fit.train_risk, risk)
    assert np.all(risk < trained.train_risk)
    for i in range(len(SEEDS)):
        # Layer 3 sees x and G_2 = (M_2 (x^2 - 1, x))^2: the layout puts x between what layer 2 and what layer 3 sees.
        design = {}
        for role, n in counts.items():
            x = problem.draw(role, n).x[i].astype(float)
            hidden = np.concatenate([x**2 - 1, x], axis=1) @ fit.state["layer_2"][i].astype(float).T
            columns = np.concatenate([np.ones((n, 1)), x, hidden**2], axis=1)
            design[role] = np.einsum("na,nb->nab", columns, columns).reshape(n, -1)
        best = np.linalg.lstsq(design["training"], labels[i], rcond=1e-9)[0]
        least = np.mean((design["training"] @ best - labels[i]) ** 2)
        assert least <= risk[i] * (1 + 1e-9)
        # The ridge is the best one for other points.
        assert risk[i] < 1.2 * least
        # What is predicted at other points is in the span of the same products.
        weights = np.linalg.lstsq(design["test"], outputs["test"][i], rcond=1e-9)[0]
        assert np.abs(design["test"] @ weights - outputs["test"][i]).max() < 1e-3 * np.abs(outputs["test"]).max()


def test_a_refitted_last_layer_is_judged_on_all_points_where_some_are_used(where, monkeypatch):
    monkeypatch.setattr("hierlearn.learners.densenets.refit.MOST_POINTS", 150)
    problem, features = where
    learner, fit = fitted(where, readout="refitted", schedule="layerwise", samples=600)
    counts = {"training": 600, "validation": problem.held_out}
    assert min(counts.values()) > 150
    for role, found in (("training", fit.train_risk), ("validation", fit.validation_risk)):
        outputs = learner.predict(fit.state, features, role, counts[role], {})
        expected = np.mean((outputs - problem.draw(role, counts[role]).labels) ** 2, axis=(1, 2))
        np.testing.assert_allclose(found, expected)


def test_a_student_of_a_toy_has_its_uncentred_squares():
    toy = {"name": "quadratic_toy", "instance": "toy_two_level", "alpha": 0.2}
    problem, features = posed(teacher=toy, seeds=(3,))
    learner, fit = fitted((problem, features), depth=2, graph=[[0, 1]])
    x = problem.draw("test", 50).x.astype(float)
    seen = np.concatenate([x, x**2], axis=-1)
    expected = np.sum((seen @ fit.state["layer_2"].mT.astype(float)) ** 2, axis=-1, keepdims=True)
    np.testing.assert_allclose(learner.predict(fit.state, features, "test", 50, {}), expected, rtol=1e-4)


def test_a_two_layer_network_with_a_power_learns_a_polynomial_of_its_degree():
    problem, features = posed(scale="unit", teacher={"name": "ridge_polynomial", "degree": 4, "basis": "monomial"})
    parameters = {"degree": 4, "steps": 1500, "batch": 64, "choices": {"learning_rate": [0.01]}}
    learner, fit = fitted((problem, features), "polynomial_network", samples=10000, **parameters)
    outputs = learner.predict(fit.state, features, "test", 2000, {})
    assert np.all(problem.risk(outputs, problem.draw("test", 2000).target) < 0.1)
    inner = problem.draw("test", 5).x.astype(float)
    inner = np.concatenate([inner, inner**2 - 1, np.ones((len(SEEDS), 5, 1))], axis=-1)
    powers = (inner @ fit.state["layer_2"].mT.astype(float)) ** 4
    expected = (powers[..., ::2].sum(-1) - powers[..., 1::2].sum(-1))[..., None]
    np.testing.assert_allclose(outputs[:, :5], expected, rtol=1e-3, atol=1e-4)


def test_the_run_with_the_least_validation_error_is_kept(where):
    rates = [0.05, 0.002]
    _, both = fitted(where, choices={"learning_rate": rates})
    alone = np.stack([fitted(where, choices={"learning_rate": [rate]})[1].validation_risk for rate in rates])
    np.testing.assert_array_equal(both.validation_risk, alone.min(axis=0))
    np.testing.assert_array_equal(both.choices["learning_rate"], np.array(rates)[alone.argmin(axis=0)])


@pytest.mark.parametrize("name", NAMES)
def test_a_search_over_gaps_and_graphs_keeps_the_best_of_what_each_would_be_alone(name):
    # Four layers, so that the graphs differ in two of them and lie in different orders of columns.
    where = posed(teacher={"name": "quadratic_densenet", "depth": 4, "widths": [2, 1, 1], "gap": 0.3})
    parameters = {"name": name, "steps": 80, "starts": [0.3, 0.6], "distils": [0.2, 0.5, 0.8], "noise": 0.01}
    if name == "densenet":
        del parameters["distils"], parameters["noise"]
    rate, offered = [0.05], list(product([0.1, 0.4], ["skip", "chain", "dense"]))
    _, whole = fitted(where, choices={"learning_rate": rate, "gap": [0.1, 0.4], "graph": GRAPHS[1:]}, **parameters)
    alone = [
        fitted(where, choices={"learning_rate": rate, "gap": [g], "graph": [one]}, **parameters) for g, one in offered
    ]
    risks = np.stack([fit.validation_risk for _, fit in alone])
    assert len(np.unique(risks.round(6))) == risks.size
    best = risks.argmin(axis=0)
    np.testing.assert_allclose(whole.validation_risk, risks.min(axis=0), rtol=1e-3)
    np.testing.assert_array_equal(whole.choices["gap"], [offered[i][0] for i in best])
    np.testing.assert_array_equal(whole.choices["graph"], [GRAPHS.index(offered[i][1]) for i in best])
    _, features = where
    learner = alone[0][0]
    outputs = learner.predict(whole.state, features, "test", 50, {})
    for seed, i in enumerate(best):
        expected = learner.predict(alone[i][1].state, features, "test", 50, {})[seed]
        np.testing.assert_allclose(outputs[seed], expected, rtol=1e-2, atol=1e-3 * np.abs(expected).max())


@pytest.mark.parametrize("name", NAMES)
def test_what_a_graph_leaves_out_stays_0_and_is_the_parameter_of_that_name(where, name):
    choices, parameters = (
        {"learning_rate": [0.05], "graph": ["chain"]},
        {"distils": [0.3, 0.8]} if name != "densenet" else {},
    )
    _, chosen = fitted(where, name, choices | {"gap": [0.3]}, **parameters)
    _, given = fitted(where, name, {"learning_rate": [0.05]}, graph=[[0, 1], [2]], gap=0.3, **parameters)
    np.testing.assert_array_equal(chosen.validation_risk, given.validation_risk)
    choices["graph"] = ["skip", "chain"]
    _, both = fitted(where, name, choices, **parameters)
    last = both.state["layer_3" if name == "densenet" else "outer_3"]
    for seed, graph in enumerate(both.choices["graph"]):
        seen = 6 + both.state["layer_2" if name == "densenet" else "fixed_2"].shape[1]
        assert last.shape[-1] == seen
        assert np.sum(np.any(last[seed] != 0, axis=0)) == (seen if graph == 1 else seen - 6)


def test_a_student_may_have_a_graph_and_alphas_of_its_own(where):
    _, fit = fitted(where, depth=4, graph=[[0], [2], [1, 3]], alphas=[1.0, 0.5, 0.25])
    assert fit.state["layer_2"].shape == (3, 8, 6)
    assert fit.state["layer_3"].shape == (3, 8, 8)
    assert fit.state["layer_4"].shape == (3, 8, 14)
    np.testing.assert_array_equal(fit.state["alphas"], [[1.0, 0.5, 0.25]] * 3)
    assert "feature_error_3" in fit.measures
    assert "feature_error_4" not in fit.measures


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"graph": [[0, 1], [3]]}, r"graph \[3\] for layer 3"),
        ({"graph": [[0, 1]]}, "graph 1 entries at depth 3"),
        ({"alphas": [1.0]}, "alphas 1 entries at depth 3"),
        ({"starts": [0.5, 0.6]}, "starts"),
        ({"thresholds": [1.0, 2.0]}, "thresholds"),
    ],
)
def test_lists_that_do_not_fit_the_depth_are_refused(where, parameters, said):
    with pytest.raises(ValueError, match=said):
        fitted(where, **parameters)


def test_classes_are_learned_with_the_teachers_threshold():
    teacher = TEACHER | {"kind": "classes"}
    problem, features = posed(seeds=(3, 5), teacher=teacher)
    learner, fit = fitted((problem, features), samples=20000, steps=1000, batch=64, starts=[0.3])
    outputs = learner.predict(fit.state, features, "test", 4000, {})
    assert np.all(problem.risk(outputs, problem.draw("test", 4000).target) < 0.03)
    nothing = learner.predict(fit.state | {"alphas": 0 * fit.state["alphas"]}, features, "test", 4000, {})
    assert np.all(problem.risk(nothing, problem.draw("test", 4000).target) > 0.12)


def test_errors_of_layer_2_are_noted_when_each_later_layer_comes():
    where, options = posed(teacher=TEACHER | {"depth": 4, "widths": [2, 1, 1]}), {"choices": {"learning_rate": [0.02]}}
    _, whole = fitted(where, steps=90, starts=[0.3, 0.6], **options)
    # The first 54 steps alone: layer 4 comes with the last of them.
    _, short = fitted(where, steps=55, starts=[27 / 55, 54 / 55], annealing="constant", **options)
    _, same = fitted(where, steps=90, starts=[0.3, 0.6], annealing="constant", **options)
    for measure in ("feature_error_2_before", "feature_error_2_after_3", "feature_error_3_before"):
        assert np.array_equal(same.measures[measure], short.measures[measure])
    assert not np.array_equal(whole.measures["feature_error_2_before"], whole.measures["feature_error_2_after_3"])


def test_weights_are_compared_with_those_at_the_start_and_when_the_layer_above_came(where):
    choices = {"learning_rate": [0.02]}
    learner, fit = fitted(where, choices=choices, steps=60, starts=[0.5], schedule="layerwise")
    # The layer below rests: what it was when layer 3 came is what it is.
    np.testing.assert_allclose(fit.measures["weight_correlation_2"], 1.0, atol=1e-12)
    student = Student.of(learner, where[0])
    start = learner.start(learner.layout(6, student), student, where[0].streams.at("learner", "densenet"))["layer_2"]
    wanted = [
        np.vdot(a, b) / np.linalg.norm(a) / np.linalg.norm(b) for a, b in zip(start, fit.state["layer_2"], strict=True)
    ]
    np.testing.assert_allclose(fit.measures["weight_correlation_2_start"], wanted, rtol=1e-5)
    _, moved = fitted(where, choices=choices, steps=60, starts=[0.5])
    assert np.all(moved.measures["weight_correlation_2"] < 1 - 1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_recorded_and_measured_is_what_the_component_says(where, name):
    _, fit = fitted(posed(seeds=(1,), teacher=TEACHER | {"widths": None, "depth": 4}), name, steps=20)
    assert set(fit.trace) == set(implementation("learners", name).TRACES) | {"step"}
    assert set(fit.measures) == set(implementation("learners", name).MEASURES)
