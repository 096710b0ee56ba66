"""Estimators give the library's own numbers, work inside scikit-learn's tools, and say in one line what is wrong."""

import copy
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from hierlearn.core.problem import ProblemFeatures, pose
from hierlearn.core.protocols import NullMonitor, TrainingData
from hierlearn.core.registry import build
from hierlearn.core.streams import Streams
from hierlearn.datasets import make_ridge_polynomial
from hierlearn.estimators import (
    NeuralRepresentation,
    NTKClassifier,
    NTKRegressor,
    TaylorClassifier,
    TaylorRegressor,
)

SEED, SAMPLES, HELD_OUT, RIDGES = 5, 60, 40, [1e-1, 1e-2, 1e-3]
# What turns off all that an estimator does beside the learner.
PLAIN = {"fit_intercept": False, "scale": None, "refit": False, "random_state": SEED}
pytestmark = pytest.mark.filterwarnings("ignore:.*lies at the end of its grid")


@pytest.fixture(scope="module", params=["regression", "classes"])
def posed(request):
    """A problem of the workflow with the streams of the bridge, its features, and its points as arrays."""
    if request.param == "regression":
        law, teacher = "sphere", {"name": "ridge_polynomial", "degree": 2}
    else:
        law, teacher = "hypercube", {"name": "parity", "order": 2, "kind": "classes"}
    target = build("teachers", teacher)
    problem = pose(
        build("inputs", {"name": law}, dimension=4), target, "unit", 0.1, Streams(("arrays",), (SEED,)), HELD_OUT
    )
    raw = build("representations", {"name": "raw"})
    features = ProblemFeatures(problem, raw, raw.fit(np.zeros((1, 0, 4)), problem.streams))
    batches = [problem.draw("training", SAMPLES), problem.draw("validation", HELD_OUT)]
    X = np.concatenate([batch.x[0] for batch in batches])
    y = np.concatenate([batch.labels[0] for batch in batches])[:, 0]
    split = [(np.arange(SAMPLES), np.arange(SAMPLES, SAMPLES + HELD_OUT))]
    return problem, features, X, y, split


def learned(posed, description, ridges=RIDGES):
    """What the workflow's learner makes of the problem: its fit, and its outputs at the validation points."""
    problem, features, *_ = posed
    learner = build("learners", description)
    streams = problem.streams.at("learner", learner.stream_key)
    fit = learner.fit(TrainingData(problem, features, SAMPLES, {"ridge": ridges}, streams), NullMonitor(), {})
    return fit, learner.predict(fit.state, features, "validation", HELD_OUT, {})[0, :, 0]


@pytest.mark.parametrize("order", [1, 2])
def test_a_taylor_model_is_the_workflows_to_the_last_bit(posed, order):
    problem, _, X, y, split = posed
    fit, outputs = learned(posed, {"name": "taylor", "order": order, "width": 16, "certify": "none"})
    kind = TaylorClassifier if problem.teacher.kind == "classes" else TaylorRegressor
    model = kind(order=order, width=16, activation="relu2", alphas=RIDGES, cv=split, **PLAIN).fit(X, y)
    assert np.array_equal(model.coef_, fit.state["weights"][0])
    assert model.alpha_ == fit.choices["ridge"][0]
    given = model.decision_function if problem.teacher.kind == "classes" else model.predict
    assert np.array_equal(given(X[SAMPLES:]), outputs)
    assert model.n_iter_ == (1 if order == 1 else fit.iterations[0])


@pytest.mark.parametrize("kernel", ["ntk_raw", {"name": "recursive", "depth": 3}, build("kernels", {"name": "rbf"})])
def test_kernel_ridge_regression_is_the_workflows_to_the_last_bit(posed, kernel):
    problem, _, X, y, split = posed
    described = {"name": "rbf"} if not isinstance(kernel, str | dict) else kernel
    described = {"name": kernel} if isinstance(kernel, str) else described
    # With several ridges the workflow chooses by the share of wrong classes, the estimator by the squared error.
    ridges = RIDGES if problem.teacher.kind == "regression" else RIDGES[1:2]
    fit, outputs = learned(posed, {"name": "kernel_ridge", "kernel": described}, ridges)
    kind = NTKClassifier if problem.teacher.kind == "classes" else NTKRegressor
    model = kind(kernel=kernel, alphas=ridges, cv=split, **PLAIN).fit(X, y)
    assert np.array_equal(model.dual_coef_, fit.state["coefficients"][0])
    given = model.decision_function if problem.teacher.kind == "classes" else model.predict
    assert np.array_equal(given(X[SAMPLES:]), outputs)


def test_a_representation_is_the_workflows_to_the_last_bit():
    x = np.random.default_rng(0).standard_normal((300, 5)).astype(np.float32)
    neural = build("representations", {"name": "neural", "count": 32, "features": "relu", "unlabelled": 300})
    streams = Streams(("arrays",), (SEED,)).at("representation", "neural")
    state = neural.fit(x[None], streams)
    shown = NeuralRepresentation(32, activation="relu", whiten="full", scale=None, random_state=SEED).fit(x)
    assert np.array_equal(shown.transform(x), neural.apply(state, x[None])[0])


def test_the_constant_coordinate_has_the_size_that_was_asked_for():
    X, y = points()
    given = {"width": 16, "alphas": 1e-2, "scale": None, "random_state": 0}
    model = TaylorRegressor(intercept_scaling=0.5, **given).fit(X, y - y.mean())
    shown = np.pad(X, ((0, 0), (0, 1)), constant_values=0.5) / np.sqrt(1.25)
    plain = TaylorRegressor(fit_intercept=False, **given).fit(shown, y - y.mean())
    assert np.array_equal(model.coef_, plain.coef_)
    # Features of a representation contain constants: by default the constant is small beside them.
    X, y = make_ridge_polynomial(400, n_features=10, degree=4, random_state=0)
    Z, z = make_ridge_polynomial(2000, n_features=10, degree=4, random_state=0, role="test")
    found = []
    for seed in range(4):
        quad = TaylorRegressor(random_state=seed)
        model = make_pipeline(NeuralRepresentation(256, n_directions=65, random_state=seed), quad)
        found.append(model.fit(X, y).score(Z, z))
    assert min(found) > 0.2 > 0.05 > NTKRegressor(depth=2).fit(X, y).score(Z, z), found


def points(n=120, d=4, outputs=1, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, d))
    columns = [X[:, 0] * X[:, 1], np.sin(X[:, 2]), X[:, 3]][:outputs]
    y = np.stack(columns, axis=1) + 0.05 * generator.standard_normal((n, outputs))
    return X, y[:, 0] if outputs == 1 else y


def test_leave_one_out_is_what_leaving_one_out_gives():
    X, y = points(30)
    model = NTKRegressor(alphas=[0.3, 1e-2], scale=None, fit_intercept=False).fit(X, y)
    gram, n = model.kernel_(X), len(X)
    for alpha, risk in zip([0.3, 1e-2], model.loo_risks_, strict=True):
        shift, errors = n * alpha * np.mean(np.diag(gram)), []
        for i in range(n):
            rest = np.delete(np.arange(n), i)
            dual = np.linalg.solve(gram[np.ix_(rest, rest)] + shift * np.eye(n - 1), y[rest])
            errors.append(y[i] - gram[i, rest] @ dual)
        assert risk == pytest.approx(np.mean(np.square(errors)), rel=1e-9)


def test_landmarks_that_are_all_points_give_the_exact_model():
    X, y = points(80)
    exact = NTKRegressor(alphas=1e-3).fit(X, y)
    landmarks = NTKRegressor(alphas=1e-3, n_landmarks=80).fit(X, y)
    np.testing.assert_allclose(landmarks.predict(X), exact.predict(X), rtol=0, atol=1e-6)


def test_landmarks_are_the_same_whatever_the_blocks_and_the_order(monkeypatch):
    from hierlearn.estimators import kernels

    X, y = points(200)
    whole = NTKRegressor(alphas=1e-3, n_landmarks=20, random_state=0).fit(X, y).predict(X)
    monkeypatch.setattr(kernels, "BLOCK_BYTES", 8 * 20 * 7)
    order = np.random.default_rng(1).permutation(200)
    blocks = NTKRegressor(alphas=1e-3, n_landmarks=20, random_state=0).fit(X[order], y[order]).predict(X)
    np.testing.assert_allclose(blocks, whole, rtol=0, atol=1e-7)


@pytest.mark.parametrize("landmarks", [None, 15])
def test_weights_count_copies(landmarks):
    X, y = points(60)
    weights = np.random.default_rng(1).integers(0, 4, 60)
    given = {"alphas": 1e-3, "n_landmarks": landmarks, "random_state": 0}
    weighted = NTKRegressor(**given).fit(X, y, sample_weight=weights)
    repeated = NTKRegressor(**given).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=0, atol=1e-6)


@pytest.mark.parametrize("model", [TaylorRegressor(width=16, random_state=0), NTKRegressor()])
def test_several_outputs_are_learned_together(model):
    X, y = points(outputs=3)
    predicted = clone(model).fit(X[:100], y[:100]).predict(X[100:])
    assert predicted.shape == (20, 3)
    assert clone(model).fit(X, y[:, 0]).predict(X).shape == (120,)


@pytest.mark.parametrize("kind", [NTKClassifier, TaylorClassifier])
@pytest.mark.parametrize("labels", [["a", "b", "c"], [3, -1, 7], [True, False]])
def test_labels_may_be_of_any_type(kind, labels):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < len(labels)], np.array(labels)[y[y < len(labels)]]
    model = kind(random_state=0).fit(X, y)
    predicted = model.predict(X)
    assert predicted.dtype == y.dtype
    assert set(predicted) <= set(y)
    assert model.score(X, y) > 0.9


def test_they_work_in_searches_pipelines_and_tables():
    pandas = pytest.importorskip("pandas")
    X, y = points(150)
    table = pandas.DataFrame(X, columns=list("abcd"))
    model = make_pipeline(NeuralRepresentation(32, random_state=0), TaylorRegressor(width=8, random_state=0))
    assert len(cross_val_score(model, table, y, cv=3)) == 3
    search = GridSearchCV(
        model, {"taylorregressor__width": [8, 16], "neuralrepresentation__n_components": [16, 32]}, cv=2
    )
    assert search.fit(table, y).best_params_["taylorregressor__width"] in (8, 16)
    shown = NeuralRepresentation(32, n_directions=3).set_output(transform="pandas").fit_transform(table)
    assert list(shown.columns) == ["neuralrepresentation0", "neuralrepresentation1", "neuralrepresentation2"]
    fitted = NTKRegressor().fit(table, y)
    assert np.array_equal(copy.deepcopy(fitted).predict(table), fitted.predict(table))


def test_unlabelled_points_whiten_in_place_of_the_labelled():
    X, _ = points(50)
    more, _ = points(900, seed=3)
    shown = NeuralRepresentation(16, whiten="full", random_state=0).fit(X, X_unlabelled=more)
    assert np.mean(np.sum(shown.transform(more) ** 2, axis=1)) == pytest.approx(1.0, rel=1e-3)
    with pytest.raises(ValueError, match="X_unlabelled has 3 features; expected the 4 of X"):
        shown.fit(X, X_unlabelled=more[:, :3])


REFUSED = {
    "width 7; expected a multiple of 2": TaylorRegressor(width=7),
    "order 5; expected one of 1, 2, 3, 4": TaylorRegressor(order=5),
    "tol 0; expected more than 0": TaylorRegressor(tol=0),
    "intercept_scaling 0; expected more than 0": TaylorRegressor(intercept_scaling=0),
    "max_iter 0.5; expected integer": TaylorRegressor(max_iter=0.5),
    "activation 'relu2' with order 3; expected erf, sin or softplus": TaylorRegressor(order=3, activation="relu2"),
    r"alphas\[1\] -1.0; expected more than 0": NTKRegressor(alphas=[1.0, -1.0]),
    "alphas .*; expected at least 1 entries": NTKRegressor(alphas=[]),
    "validation_fraction 1.5; expected less than 1": TaylorRegressor(validation_fraction=1.5),
    "n_landmarks 0; expected": NTKRegressor(n_landmarks=0),
    "depth 0; expected at least 1": NTKRegressor(depth=0),
    "kernel: kernels: found 'rbff'": NTKRegressor(kernel="rbff"),
    "kernel 3; expected None, a name": NTKRegressor(kernel=3),
    "scale 2; expected": NTKRegressor(scale=2),
    "refit False with 3 folds; expected one split": NTKRegressor(cv=3, refit=False),
    "n_components 0; expected at least 1": NeuralRepresentation(0),
    "directions 40; expected at most count = 8": NeuralRepresentation(8, n_directions=40),
    "activation 'tanh'; expected one of": NeuralRepresentation(activation="tanh"),
}


@pytest.mark.parametrize("message", REFUSED)
def test_a_parameter_outside_its_limits_is_refused_in_one_line(message):
    X, y = points()
    with pytest.raises(ValueError, match=message) as refused:
        REFUSED[message].fit(X, y)
    assert "\n" not in str(refused.value)
    assert str(refused.value).startswith(type(REFUSED[message]).__name__)


def test_bad_data_are_refused():
    X, y = points()
    with pytest.raises(ValueError, match="NTKClassifier: y has one class, 'a'; expected at least 2 classes"):
        NTKClassifier().fit(X, ["a"] * len(X))
    with pytest.raises(ValueError, match="contains NaN"):
        TaylorRegressor().fit(np.where(X > 2, np.nan, X), y)
    with pytest.raises(ValueError, match="could not convert string to float"):
        TaylorRegressor().fit(X.astype(str), ["a"] * len(X))
    with pytest.raises(ValueError, match=r"sample_weight from -1\.0 to 1\.0; expected finite ones, none negative"):
        NTKRegressor().fit(X, y, sample_weight=np.where(np.arange(len(X)) == 3, -1.0, 1.0))


def warned(kind, fit):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        fit()
    return [str(one.message) for one in seen if one.category is kind]


def test_too_few_points_for_full_whitening_are_told():
    X, _ = points(120)
    found = warned(UserWarning, lambda: NeuralRepresentation(16, whiten="full").fit(X))
    assert len(found) == 1 and "120 points for n_components = 16" in found[0] and "128" in found[0]
    assert warned(UserWarning, lambda: NeuralRepresentation(15, whiten="full").fit(X)) == []


@pytest.mark.parametrize("alphas, noise, word", [([10.0, 1.0], 0.0, "smaller"), ([1e-12, 1e-11], 3.0, "larger")])
def test_a_ridge_at_the_end_of_its_grid_is_told(alphas, noise, word):
    X, y = points()
    y = y + noise * np.random.default_rng(0).standard_normal(len(y))
    (found,) = warned(UserWarning, lambda: NTKRegressor(alphas=alphas).fit(X, y))
    assert f"lies at the end of its grid; offer {word} values" in found
    assert warned(UserWarning, lambda: NTKRegressor(alphas=[1e-2]).fit(X, y)) == []


def test_a_descent_that_did_not_settle_is_told():
    X, y = points()
    (found,) = warned(ConvergenceWarning, lambda: TaylorRegressor(alphas=1e-4, max_iter=2, tol=1e-9).fit(X, y))
    assert "TaylorRegressor: not_converged" in found and "raise max_iter" in found


def test_a_certified_model_says_what_is_known():
    X, y = points()
    model = TaylorRegressor(width=8, alphas=1e-2, certify=True, random_state=0).fit(X, y)
    assert model.certificate_["stationary"] == "yes"
    assert TaylorRegressor(width=8, alphas=1e-2, random_state=0).fit(X, y).certificate_ is None


def test_progress_is_printed_where_it_is_asked_for(capsys):
    X, y = points(500)
    NTKRegressor(n_landmarks=20, alphas=1e-3).fit(X, y)
    assert capsys.readouterr().out == ""
    NTKRegressor(n_landmarks=20, alphas=1e-3, verbose=1).fit(X, y)
    assert capsys.readouterr().out == "[NTKRegressor] 1 of 1\n"


@pytest.mark.parametrize("seed", [0, 2, 4])
def test_landmarks_that_are_held_out_do_not_choose_the_ridge(seed):
    """A landmark without a label is tied down by the ridge alone: its error is no new point's."""
    generator, alphas = np.random.default_rng(seed), (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)

    def target(X):
        return np.sin(2 * X[:, 0]) + X[:, 1]

    X, Z = generator.standard_normal((600, 4)), generator.standard_normal((2000, 4))
    y = target(X) + 0.1 * generator.standard_normal(600)

    def error(alphas):
        model = NTKRegressor(n_landmarks=300, alphas=alphas, random_state=seed).fit(X, y)
        return np.mean((model.predict(Z) - target(Z)) ** 2)

    assert error(alphas) < 1.15 * min(error(alpha) for alpha in alphas)
