"""Data as arrays: the numbers of the workflow, the truth behind them, and refusals in one line."""

import inspect

import numpy as np
import pytest
import small_cifar

from hierlearn import datasets
from hierlearn.core import registry
from hierlearn.pipeline.files import problems

# Function, teacher, law and parameters, as a study states them.
CASES = [
    ("make_ridge_polynomial", "ridge_polynomial", "sphere", {"degree": 2}, 5),
    ("make_ridge_polynomial", "ridge_polynomial", "gaussian", {"degree": 3, "rank": 2}, 5),
    ("make_parity", "parity", "hypercube", {"order": 3}, 6),
    ("make_composed_sines", "composed_sines", "sphere", {}, 4),
    ("make_residual_composition", "residual_composition", "hypercube", {"alpha": 0.2}, 12),
    ("make_quadratic_densenet", "quadratic_densenet", "gaussian", {"depth": 3}, 12),
    ("make_quadratic_toy", "quadratic_toy", "uniform", {}, 4),
    ("make_shift_products", "shift_products", "hypercube", {}, 9),
    ("make_bit_interaction", "bit_interaction", "hidden_bits", {}, 32),
]
OF_CLASSES = [
    ("make_hierarchy", "hierarchy_class", "random_hierarchy", {}, 32),
    ("make_hierarchy", "hierarchy_class", "full_hierarchy", {"classes": 4}, 16),
    ("make_pictures", "picture_class", "digits", {}, 64),
    ("make_pictures", "picture_class", "shifted_digits", {}, 196),
]
SEED, COUNT = 3, 40


def drawn(teacher, law, parameters, dimension, scale, role, noise=0, word=""):
    """A problem's points as a study's job draws them."""
    content = {"scale": scale, "label_noise": noise, "dimension": dimension, "input": {"name": law}}
    content["teacher"] = registry.defaults("teachers", teacher) | parameters | {"name": teacher}
    point = {"problem": content, "seeds": [SEED], "counts": {role: COUNT}, "draw": word}
    batch = problems.load(point, problems.draw(point)).pools[role]
    return batch.x[0], batch.labels[0], batch.target[0]


@pytest.mark.parametrize("function, teacher, law, parameters, dimension", CASES)
@pytest.mark.parametrize("role, noise, word", [("training", 0, ""), ("test", 0.3, "a study")])
def test_numbers_are_those_of_the_workflow(function, teacher, law, parameters, dimension, role, noise, word):
    make = getattr(datasets, function)
    scale = inspect.signature(make).parameters["scale"].default
    given = {"law": law, "noise": noise, "random_state": SEED, "role": role, "draw": word, "return_truth": True}
    X, y, truth = make(COUNT, dimension, **parameters, **given)
    x, labels, target = drawn(teacher, law, parameters, dimension, scale, role, noise, word)
    assert np.array_equal(X, x)
    assert np.array_equal(y.reshape(COUNT, -1), labels)
    assert np.array_equal(truth.targets.reshape(COUNT, -1), target)


@pytest.mark.parametrize("function, teacher, law, parameters, dimension", OF_CLASSES)
def test_classes_are_those_of_the_workflow_as_integers(function, teacher, law, parameters, dimension):
    make = getattr(datasets, function)
    X, y = make(COUNT, dimension, **parameters, law=law, random_state=SEED)
    x, labels, _ = drawn(teacher, law, parameters, dimension, "paper", "training")
    assert np.array_equal(X, x.reshape(COUNT, -1))
    assert np.array_equal(y, labels.argmax(axis=1) if labels.shape[1] > 1 else labels[:, 0] > 0)
    assert y.dtype.kind == "i"


@pytest.mark.parametrize("role", ["training", "test"])
def test_pictures_of_cifar_are_those_of_the_workflow(tmp_path, monkeypatch, role):
    (tmp_path / "data").mkdir()
    pictures, classes = small_cifar.write(tmp_path / "data", monkeypatch)
    monkeypatch.chdir(tmp_path)
    X, y = datasets.make_pictures(COUNT, 48, law="cifar", random_state=SEED, role=role)
    x, labels, _ = drawn("picture_class", "cifar", {}, 48, "paper", role)
    assert np.array_equal(X, x.reshape(COUNT, -1))
    assert np.array_equal(y, labels.argmax(axis=1))
    # One picture of the archive has these values and this class.
    known = registry.build("inputs", {"name": "cifar"}, dimension=48).library()[0].reshape(len(pictures), -1)
    for point, label in zip(X, y, strict=True):
        assert label in classes[np.flatnonzero((known == point).all(axis=1))]


def test_every_teacher_has_a_function():
    made = {case[1] for case in (*CASES, *OF_CLASSES)}
    # Labels of a file are read, not drawn: `read_table`.
    assert made == set(registry.available("teachers")) - {"labels"}


@pytest.mark.parametrize("law", [law for law in registry.available("inputs") if law not in ("cifar", "table")])
def test_every_law_gives_points(law):
    dimension = {"digits": 64, "shifted_digits": 196, "random_hierarchy": 16, "full_hierarchy": 16, "hidden_bits": 32}
    X = datasets.make_points(20, dimension.get(law, 6), law=law, random_state=0)
    assert X.shape == (20, dimension.get(law, 6))
    assert X.dtype == np.float32
    assert np.array_equal(X, datasets.make_points(20, X.shape[1], law=law, random_state=0))
    assert not np.array_equal(X, datasets.make_points(20, X.shape[1], law=law, random_state=1))


def test_the_truth_says_what_labels_are_made_of():
    X, y, truth = datasets.make_ridge_polynomial(50, 6, degree=1, random_state=0, return_truth=True)
    np.testing.assert_allclose(y, np.sqrt(6) * X @ truth.parameters["directions"][0], rtol=0, atol=1e-6)
    assert truth.norm == pytest.approx(1.0)
    assert truth.problem.draw("test", 7).x.shape == (1, 7, 6)
    *_, truth = datasets.make_residual_composition(50, 12, random_state=0, return_truth=True)
    assert sorted(truth.parts) == ["base", "composite"]
    *_, truth = datasets.make_quadratic_densenet(50, 12, random_state=0, return_truth=True)
    assert all(len(values) == 50 for values in truth.features.values()) and truth.features


def test_a_generator_is_a_seed_too():
    one, other = (datasets.make_parity(30, 5, random_state=np.random.RandomState(0))[0] for _ in range(2))
    assert np.array_equal(one, other)


@pytest.mark.parametrize(
    "given, message",
    [
        ({"n_samples": 0}, "n_samples 0; expected at least 1"),
        ({"noise": -1.0}, "noise -1.0; expected at least 0"),
        ({"scale": "big"}, "scale 'big'; expected one of unit, paper"),
        ({"degree": -1}, "ridge_polynomial: degree -1; expected"),
        ({"law": "hypercube"}, "ridge_polynomial: input law 'hypercube'; expected one of sphere"),
        ({"law": "cube"}, "inputs: found 'cube'; expected one of"),
        ({"rank": 11}, "ridge_polynomial: rank 11; expected at most the dimension 10"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_one_line(given, message):
    with pytest.raises(ValueError, match=message) as refused:
        datasets.make_ridge_polynomial(**given)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", [name for name in datasets.__all__ if name.startswith("make_")])
def test_pages_name_every_parameter(name):
    function = getattr(datasets, name)
    listed = function.__doc__.partition("Parameters")[2].partition("Returns")[0]
    assert {name for name in inspect.signature(function).parameters if name not in listed} == set()
