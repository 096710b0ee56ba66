"""What every learner must do, on a problem that is easy for all of them."""

import gc
import subprocess
import sys

import numpy as np
import pytest

from hierlearn.core.problem import ProblemFeatures, pose
from hierlearn.core.protocols import STATIONARY, STATUS, NullMonitor, TrainingData
from hierlearn.core.registry import PACKAGE, available, build, choices
from hierlearn.core.streams import Streams
from hierlearn.pipeline.files import netcdf, problems, results
from hierlearn.pipeline.files.schema_errors import Validator

SEEDS, SAMPLES, HELD_OUT = (4, 7, 9), 48, 60


CHOICES = {
    "ridge": [1e-2, 1e-4],
    "learning_rate": [0.3, 0.1],
    "weight_decay": [0.0, 1e-4],
    "bandwidth": [0.5, 1.0],
    "selected_on": ["validation"],
    "gap": [0.1, 0.3],
    "graph": ["skip", "chain"],
}


# What a learner sees of the points where the input itself does not make the problem easy: all quadratic polynomials.
SEEN = {"linear": {"name": "neural", "features": "quadratic", "count": 20}}


def offered(name, schema):
    """Values of a choice: those of the table, or for a choice that it does not know some that its schema allows."""
    if name in CHOICES:
        return CHOICES[name]
    if "default" in schema:
        return [schema["default"]]
    if "enum" in schema:
        return schema["enum"][:2]
    bounds = [schema[key] for key in ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum") if key in schema]
    numbers = [1, *bounds, *(b + step for b in bounds for step in (1, -1)), sum(bounds) / 2]
    return [next(number for number in numbers if Validator(schema).is_valid(number))]


class Trained:
    """A learner with its problem, and what it learned for all seeds together."""

    def __init__(self, name):
        self.learner = build("learners", {"name": name})
        self.allowed = choices("learners", name)
        self.choices = {key: offered(key, schema) for key, schema in self.allowed.items()}
        sphere = build("inputs", {"name": "sphere"}, dimension=4)
        teacher = build("teachers", {"name": "ridge_polynomial", "degree": 2})
        self.problem = pose(sphere, teacher, "unit", 0.0, Streams(("easy",), SEEDS), HELD_OUT)
        seen = build("representations", SEEN.get(name, {"name": "raw"}))
        unlabelled = self.problem.unlabelled(max(seen.unlabelled, 1))
        self.features = ProblemFeatures(self.problem, seen, seen.fit(unlabelled, self.problem.streams))
        self.fit = self.fitted([0, 1, 2])
        self.prediction = self.predicted(self.fit.state, [0, 1, 2])

    def fitted(self, positions, samples=SAMPLES, cache=None):
        part, seen = self.problem.take(positions), self.features.take(positions)
        streams = part.streams.at("learner", type(self.learner).__name__)
        cache = {} if cache is None else cache
        return self.learner.fit(TrainingData(part, seen, samples, self.choices, streams), NullMonitor(), cache)

    def predicted(self, state, positions, cache=None):
        cache = {} if cache is None else cache
        return self.learner.predict(state, self.features.take(positions), "test", 70, cache)


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        ({"type": "number", "minimum": 0, "default": 0.0}, [0.0]),
        ({"enum": ["a", "b", "c"]}, ["a", "b"]),
        ({"type": "number", "exclusiveMinimum": 0}, [1]),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, [0.5]),
        ({"type": "integer", "exclusiveMinimum": 4, "maximum": 5}, [5]),
        ({"type": "integer", "exclusiveMaximum": 0}, [-1]),
    ],
)
def test_a_choice_of_no_table_takes_values_that_its_schema_allows(schema, values):
    assert offered("unheard", schema) == values


@pytest.fixture(scope="module", params=available("learners"))
def trained(request):
    return Trained(request.param)


def test_a_fit_has_one_entry_per_seed_everywhere(trained):
    fit = trained.fit
    assert fit.status.shape == (3,)
    assert fit.status.dtype == np.int8
    assert set(fit.status.tolist()) <= {STATUS[name] for name in ("ok", "not_converged")}
    for values in (fit.validation_risk, fit.train_risk, *fit.choices.values()):
        assert values.shape == (3,)
        assert np.isfinite(values).all()
    assert all(len(values) == 3 for values in fit.state.values())
    assert all(values.dtype.kind in "fiu" for values in fit.state.values())
    assert fit.flops is not None
    assert np.all(fit.flops > 0)


def test_a_choice_is_one_of_the_values_offered(trained):
    assert set(trained.fit.choices) == set(trained.choices)
    for name, values in trained.fit.choices.items():
        offered, words = trained.choices[name], trained.allowed[name].get("enum", [])
        # A word is kept as its place among those that are allowed.
        assert set(values.tolist()) <= {words.index(v) if v in words else v for v in offered}


def test_a_certificate_is_whole_or_absent(trained):
    certificate = trained.fit.certificate
    if certificate is not None:
        assert set(certificate) == {"gradient_norm", "smallest_curvature", "certificate_error", "stationary"}
        assert set(certificate["stationary"].tolist()) <= set(STATIONARY.values())
        assert all(values.shape == (3,) for values in certificate.values())


def test_predictions_have_seed_point_and_output_in_double_precision(trained):
    assert trained.prediction.shape == (3, 70, 1)
    assert trained.prediction.dtype == np.float64


def test_it_predicts_better_than_zero(trained):
    target = trained.problem.draw("test", 70).target
    assert np.all(trained.problem.risk(trained.prediction, target) < 0.7 * trained.problem.risk(0 * target, target))


def test_validation_risk_is_that_of_its_predictions(trained):
    held_out = trained.problem.draw("validation", HELD_OUT)
    prediction = trained.learner.predict(trained.fit.state, trained.features, "validation", HELD_OUT, {})
    risk = np.mean(np.sum((prediction - held_out.labels) ** 2, axis=-1), axis=-1)
    np.testing.assert_allclose(trained.fit.validation_risk, risk, rtol=1e-3, atol=1e-6)


def test_train_risk_is_that_of_its_predictions(trained):
    training = trained.problem.draw("training", SAMPLES)
    prediction = trained.learner.predict(trained.fit.state, trained.features, "training", SAMPLES, {})
    risk = np.mean(np.sum((prediction - training.labels) ** 2, axis=-1), axis=-1)
    np.testing.assert_allclose(trained.fit.train_risk, risk, rtol=1e-2, atol=1e-6)


def test_a_seed_learns_the_same_whoever_else_is_trained(trained):
    for positions in ([1], [2, 0]):
        fit = trained.fitted(positions)
        assert np.array_equal(fit.validation_risk, trained.fit.validation_risk[positions])
        assert np.array_equal(trained.predicted(fit.state, positions), trained.prediction[positions])


def test_what_was_computed_at_smaller_samples_changes_nothing_beyond_rounding(trained):
    cache = {}
    trained.fitted([1], 20, cache)
    walked = trained.fitted([1], SAMPLES, cache)
    np.testing.assert_allclose(walked.validation_risk, trained.fit.validation_risk[[1]], rtol=1e-6)
    np.testing.assert_allclose(trained.predicted(walked.state, [1]), trained.prediction[[1]], rtol=1e-5, atol=1e-6)


def test_predictions_of_a_walk_share_memory_from_the_largest_sample_down(trained):
    cache, small = {}, trained.fitted([1], 20)
    large = trained.predicted(trained.fitted([1]).state, [1], cache)
    np.testing.assert_allclose(large, trained.prediction[[1]], rtol=1e-5, atol=1e-6)
    alone = trained.predicted(small.state, [1])
    np.testing.assert_allclose(trained.predicted(small.state, [1], cache), alone, rtol=1e-5, atol=1e-6)


def test_stored_weights_predict_the_same(trained, tmp_path):
    results.write(tmp_path / "model.nc", {"point/n48": problems.pack("state", trained.fit.state)}, {})
    state = problems.unpack("state", netcdf.read(tmp_path / "model.nc")["point/n48"])
    assert np.array_equal(trained.predicted(state, [0, 1, 2]), trained.prediction)


def test_more_points_are_used(trained):
    few = trained.fitted([0, 1, 2], 8)
    assert few.validation_risk.mean() > trained.fit.validation_risk.mean()


@pytest.mark.parametrize("name", sorted(available("learners")))
def test_learners_load_no_torch(name):
    code = f"import sys, hierlearn.core.folders; import hierlearn.learners.{name}; "
    code += "sys.exit('torch' in sys.modules or 'sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=PACKAGE.parent, check=False).returncode == 0


def test_what_a_training_held_is_free_once_it_has_ended(trained):
    """Circles of references would keep all points until Python looks for such, which few objects make it do."""
    gc.collect()
    gc.disable()
    try:
        trained.fitted([0])
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        left = {type(one).__qualname__ for one in gc.garbage if type(one).__module__.startswith("hierlearn")}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert left == set()
