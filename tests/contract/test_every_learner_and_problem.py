"""Every learner on every kind of target and every shape of input: it is run, or refused in one line before any job."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from test_every_learner import offered

from hierlearn.core import contracts, registry
from hierlearn.core.problem import ProblemFeatures, pose
from hierlearn.core.protocols import STATUS, NullMonitor, TrainingData
from hierlearn.core.registry import available, build, choices, defaults
from hierlearn.core.streams import Streams
from hierlearn.pipeline.plan.configuration import configure
from hierlearn.pipeline.run import provisional

# Target and input: teacher, law and dimension.
PROBLEMS = {
    "regression on points": ({"name": "ridge_polynomial", "degree": 2}, {"name": "sphere"}, 4),
    "two classes of points": ({"name": "parity", "kind": "classes"}, {"name": "hypercube"}, 6),
    "several outputs": ({"name": "shift_products"}, {"name": "hypercube"}, 6),
    "regression on a network of squares": ({"name": "quadratic_toy"}, {"name": "gaussian"}, 6),
    "two classes with a threshold": (
        {"name": "quadratic_densenet", "kind": "classes", "depth": 2},
        {"name": "gaussian"},
        6,
    ),
    "several classes of strings": ({"name": "hierarchy_class"}, {"name": "random_hierarchy"}, 16),
    "regression on strings": ({"name": "bit_interaction"}, {"name": "hidden_bits"}, 32),
    "several classes of pictures": ({"name": "picture_class"}, {"name": "digits"}, 64),
    "several classes of a table": ({"name": "labels"}, {"name": "table"}, 6),
}
SHORT = {"steps": 4, "epochs": 2, "max_iterations": 10, "polish_rounds": 0}
SEEN = {"raw": {"name": "raw"}, "neural": {"name": "neural", "count": 8, "unlabelled": 16}}
pairs = pytest.mark.parametrize(("name", "problem"), list(product(available("learners"), PROBLEMS)))


def described(name):
    return {"name": name} | {key: value for key, value in SHORT.items() if key in defaults("learners", name)}


def validate(name, problem, seen):
    teacher, law, dimension = PROBLEMS[problem]
    inputs, whole = build("inputs", law, dimension=dimension), defaults("learners", name) | described(name)
    found = registry.validate("learners", whole, inputs)
    return found + registry.validate_data(whole, build("teachers", teacher), build("representations", SEEN[seen]))


def trained(name, problem, seen):
    """The fit of two seeds on 24 points, and predictions, checked as a job checks them."""
    teacher, law, dimension = PROBLEMS[problem]
    streams = Streams(("pairs",), (1, 2))
    posed = pose(build("inputs", law, dimension=dimension), build("teachers", teacher), "unit", 0.0, streams, 20)
    shown, learner = build("representations", SEEN[seen]), build("learners", described(name))
    unlabelled = posed.unlabelled(max(shown.unlabelled, 1))
    features = ProblemFeatures(posed, shown, shown.fit(unlabelled, posed.streams))
    values = {key: offered(key, schema)[:2] for key, schema in choices("learners", name).items()}
    fit = contracts.fit(learner, TrainingData(posed, features, 24, values, streams.at(name)), NullMonitor(), {})
    return fit, contracts.predictions(learner, fit.state, features, "test", (2, 10, posed.outputs), {})


@pytest.mark.parametrize("seen", SEEN)
@pairs
def test_it_is_trained_or_objects(name, problem, seen):
    if validate(name, problem, seen):
        # The learner itself, what was found and what is allowed, in one line.
        with pytest.raises(ValueError, match=r"^\w+: .+; expected .+$"):
            trained(name, problem, seen)
    else:
        fit, predictions = trained(name, problem, seen)
        diverged = fit.status == STATUS["diverged"]
        assert np.isfinite(predictions[~diverged]).all()
        # What is said to have diverged has risks that are no numbers.
        risks = np.stack([fit.validation_risk, fit.train_risk])
        assert not np.isfinite(risks[:, diverged]).all(axis=0).any()


@pytest.fixture
def refusal(tmp_path, monkeypatch):
    """The lines with which the plan of a question ends, none where it can be run."""
    monkeypatch.chdir(tmp_path)
    Path("config/studies").mkdir(parents=True)

    def lines(**asked):
        try:
            configure({"question": asked}, Path("config/config.yaml"), Path("config/studies"))
        except SystemExit as end:
            return end.code.splitlines()
        return []

    yield lines
    provisional.keep()
    registry.use(())


@pytest.mark.parametrize("problem", PROBLEMS)
def test_what_objects_is_refused_in_one_line_for_each_before_any_job(problem, refusal):
    teacher, law, dimension = PROBLEMS[problem]
    asked = [{"name": name, "select": {"ridge": [0.1]}} for name in available("learners")]
    for one in asked:
        offer = choices("learners", one["name"])
        one["select"] = {key: offered(key, part)[:1] for key, part in offer.items() if "default" not in part}
    refused = [i for i, one in enumerate(asked) if validate(one["name"], problem, "raw")]
    lines = refusal(teacher=teacher, input=law, learners=asked, dimension=[dimension], seeds=1, cap=40)
    assert len(lines) == len(refused), lines
    for i, line in zip(refused, lines, strict=True):
        assert line.startswith(f"error: config/config.yaml with --config: question.learners[{i}].name: found ")
        assert "; expected " in line


@pytest.mark.parametrize(
    ("learner", "teacher", "line"),
    [
        (
            {"name": "network", "loss": "logistic", "select": {"learning_rate": [0.1]}},
            {"name": "parity"},
            "question.learners[0].loss: found 'logistic' with a target of regression; expected squared",
        ),
        (
            {"name": "taylor", "regulariser": "data", "select": {"ridge": [0.1]}},
            {"name": "parity"},
            "question.learners[0].regulariser: found 'data' without unlabelled points; expected plain, or",
        ),
        (
            {"name": "reweighted", "model": {"name": "taylor", "loss": "logistic"}, "select": {"ridge": [0.1]}},
            {"name": "parity"},
            "question.learners[0].model.loss: found 'logistic' with a target of regression; expected squared",
        ),
        (
            {"name": "reweighted", "model": {"name": "linear"}, "select": {"ridge": [0.1]}},
            {"name": "parity"},
            "question.learners[0].model: found 'linear'; expected taylor or randomised",
        ),
        (
            {"name": "densenet", "depth": 2, "starts": [0.5], "select": {"learning_rate": [0.1]}},
            {"name": "parity"},
            "question.learners[0].starts: found 1 entries at depth 2; expected 0, one a layer",
        ),
        (
            {"name": "convolutional", "representation": "neural", "select": {"learning_rate": [0.1]}},
            {"name": "parity"},
            "question.learners[0].name: found a network of pictures on features; expected the representation raw",
        ),
        (
            {"name": "ntk_convolutional", "patch": 9},
            {"name": "parity"},
            "question.learners[0].patch: found 9; expected at most the 8 places",
        ),
    ],
)
def test_parameters_that_do_not_fit_the_problem_are_refused_before_any_job(learner, teacher, line, refusal):
    (found,) = refusal(teacher=teacher, input={"name": "hypercube"}, learners=[learner], dimension=[8], seeds=1, cap=40)
    assert line in found
