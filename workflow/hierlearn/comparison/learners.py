"""Learners by short words: a scikit-learn estimator and the settings among which it is tuned.

Every word has SETTINGS settings, so that none is tuned more than another.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import ParameterGrid
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from hierlearn.core.words import nearest, show
from hierlearn.estimators import (
    NeuralRepresentation,
    NTKClassifier,
    NTKRegressor,
    TaylorClassifier,
    TaylorRegressor,
)

# Settings that a word offers, and the most that a learner of the caller's may offer.
SETTINGS = 6
# Beyond so many rows the tangent kernel is carried by landmarks.
EXACT_ROWS, LANDMARKS = 10_000, 4_000


@dataclass(frozen=True)
class Learner:
    """A learner as it stands in a comparison.

    build: makes an estimator from the number of training rows, of columns, and a seed. grid: settings, each a mapping
    from parameters to values, by number of columns; one empty setting where nothing is tuned.
    """

    name: str
    build: Callable[[int, int, int], Any]
    grid: Callable[[int], Sequence[Mapping[str, Any]]]


def _scaled(model: Any) -> Any:
    return make_pipeline(StandardScaler(), model)


def _settings(**values: Sequence[Any]) -> list[dict[str, Any]]:
    """Return all combinations of some parameters' values."""
    return [dict(zip(values, combination, strict=True)) for combination in product(*values.values())]


def _inside(settings: Iterable[Mapping[str, Any]], step: str) -> list[dict[str, Any]]:
    return [{f"{step}__{key}": value for key, value in setting.items()} for setting in settings]


def _kernel(classes: bool, rows: int, seed: int) -> Any:
    model = NTKClassifier if classes else NTKRegressor
    return model(alphas=1e-4, n_landmarks=LANDMARKS if rows > EXACT_ROWS else None, random_state=seed)


def _taylor(classes: bool, seed: int) -> Any:
    # On tables most is affine: a constant as large as the other coordinates has the smaller errors there.
    model = TaylorClassifier if classes else TaylorRegressor
    return model(order=2, alphas=1e-3, intercept_scaling=1.0, random_state=seed)


def _ntk(name: str, classes: bool) -> Learner:
    step = "ntkclassifier" if classes else "ntkregressor"
    grid = _inside(_settings(depth=(1, 3), alphas=(1e-2, 1e-4, 1e-6)), step)
    return Learner(name, lambda rows, columns, seed: _scaled(_kernel(classes, rows, seed)), lambda columns: grid)


def _quad(name: str, classes: bool) -> Learner:
    step = "taylorclassifier" if classes else "taylorregressor"
    grid = _inside(_settings(activation=("relu2", "relu3"), alphas=(1e-1, 1e-2, 1e-4)), step)
    return Learner(name, lambda rows, columns, seed: _scaled(_taylor(classes, seed)), lambda columns: grid)


def _quad_neural(name: str, classes: bool) -> Learner:
    step = "taylorclassifier" if classes else "taylorregressor"
    grid = [
        {f"{step}__alphas": alpha, "neuralrepresentation__activation": features}
        for features, alpha in product(("quadratic", "relu"), (1e-1, 1e-2, 1e-3))
    ]

    def build(rows: int, columns: int, seed: int) -> Any:
        return make_pipeline(StandardScaler(), NeuralRepresentation(256, random_state=seed), _taylor(classes, seed))

    return Learner(name, build, lambda columns: grid)


def _ridge(name: str, classes: bool) -> Learner:
    model, step = (RidgeClassifier, "ridgeclassifier") if classes else (Ridge, "ridge")
    grid = _inside(_settings(alpha=[10.0**k for k in range(-2, 4)]), step)
    return Learner(name, lambda rows, columns, seed: _scaled(model()), lambda columns: grid)


def _logistic(name: str, classes: bool) -> Learner:
    grid = _inside(_settings(C=[10.0**k for k in range(-3, 3)]), "logisticregression")
    return Learner(name, lambda rows, columns, seed: _scaled(LogisticRegression(max_iter=1000)), lambda columns: grid)


def _rbf(name: str, classes: bool) -> Learner:
    """Support vectors for classes; kernel ridge regression, which has no intercept of its own, for numbers."""

    def grid(columns: int) -> list[dict[str, Any]]:
        gammas = (0.2 / columns, 1.0 / columns)
        if classes:
            return _inside(_settings(gamma=gammas, C=(1.0, 10.0, 100.0)), "svc")
        settings = _settings(gamma=gammas, alpha=(1.0, 1e-1, 1e-3))
        return _inside(settings, "transformedtargetregressor__regressor")

    def build(rows: int, columns: int, seed: int) -> Any:
        if classes:
            return _scaled(SVC(random_state=seed))
        return _scaled(TransformedTargetRegressor(KernelRidge(kernel="rbf"), transformer=StandardScaler()))

    return Learner(name, build, grid)


def _forest(name: str, classes: bool) -> Learner:
    model = RandomForestClassifier if classes else RandomForestRegressor
    grid = _settings(max_features=("sqrt", 0.5), min_samples_leaf=(1, 3, 8))
    return Learner(name, lambda rows, columns, seed: model(random_state=seed), lambda columns: grid)


def _boosting(name: str, classes: bool) -> Learner:
    model = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    grid = _settings(max_leaf_nodes=(4, 16), learning_rate=(0.03, 0.1, 0.3))
    return Learner(name, lambda rows, columns, seed: model(random_state=seed), lambda columns: grid)


def _mlp(name: str, classes: bool) -> Learner:
    model, step = (MLPClassifier, "mlpclassifier") if classes else (MLPRegressor, "mlpregressor")
    grid = _inside(_settings(hidden_layer_sizes=((100,), (100, 100)), alpha=(1e-4, 1e-2, 1.0)), step)

    def build(rows: int, columns: int, seed: int) -> Any:
        network = model(max_iter=1000, random_state=seed)
        if classes:
            return _scaled(network)
        return TransformedTargetRegressor(_scaled(network), transformer=StandardScaler())

    prefixed = grid if classes else _inside(grid, "regressor")
    return Learner(name, build, lambda columns: prefixed)


# Word -> (what it is, how it is made).
WORDS: Mapping[str, tuple[str, Callable[[str, bool], Learner]]] = {
    "ntk": ("tangent kernel of a wide ReLU network", _ntk),
    "quad-neural": ("quadratic Taylor model on random features, whitened (chen2020)", _quad_neural),
    "quad": ("quadratic Taylor model on the columns", _quad),
    "ridge": ("linear model with a ridge", _ridge),
    "logistic": ("logistic regression; classes alone", _logistic),
    "rbf": ("Gaussian kernel: support vectors for classes, kernel ridge for numbers", _rbf),
    "forest": ("random forest", _forest),
    "boosting": ("boosted trees", _boosting),
    "mlp": ("network of one or two hidden layers, trained by Adam", _mlp),
}
CLASSES_ALONE = ("logistic",)


def learners_of(given: Any, classes: bool) -> list[Learner]:
    """Return learners from words, estimators, (name, estimator) and (name, estimator, grid).

    given: one or several. classes: whether labels are classes. Raises ValueError, one line, for what is none of these,
    for an estimator of the other kind, a grid of more than SETTINGS settings and a name that stands twice.
    """
    found = [_learner(one, classes) for one in ([given] if _is_single(given) else list(given))]
    if not found:
        raise ValueError(f"learners: found none; expected at least one of {', '.join(WORDS)}, or an estimator")
    names = [one.name for one in found]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"learners: found {twice[0]!r} twice; expected names that differ: (name, estimator)")
    return found


def _is_single(given: Any) -> bool:
    """Return whether this is one learner: a word, an estimator, or a tuple that begins with a name and an estimator."""
    is_named = isinstance(given, tuple) and len(given) in (2, 3) and hasattr(given[1], "fit")
    return is_named or isinstance(given, str | BaseEstimator) or not isinstance(given, Iterable)


def _learner(given: Any, classes: bool) -> Learner:
    if isinstance(given, str):
        if given not in WORDS:
            raise ValueError(f"learners: found {show(given)}; expected {nearest(given, WORDS)}, or an estimator")
        if given in CLASSES_ALONE and not classes:
            raise ValueError(f"learners: found {given!r} for a target of numbers; expected it for classes alone")
        return WORDS[given][1](given, classes)
    name, model, grid = _parts(given)
    # A class is none: clone and get_params of it fail.
    if isinstance(model, type) or not all(hasattr(model, method) for method in ("fit", "predict", "get_params")):
        raise ValueError(f"learners: found {show(given)}; expected a word, an estimator or (name, estimator)")
    is_wrong, wanted = (is_regressor, "classifier") if classes else (is_classifier, "regressor")
    if is_wrong(model):
        found = "a target of classes" if classes else "a target of numbers"
        raise ValueError(f"learners: found {name} for {found}; expected a {wanted}")
    settings = list(ParameterGrid(grid)) if grid else [{}]
    if len(settings) > SETTINGS:
        raise ValueError(f"learners: {name} has {len(settings)} settings; expected at most {SETTINGS}, as all have")
    if unknown := sorted({key for setting in settings for key in setting} - set(model.get_params())):
        raise ValueError(f"learners: {name} has no {unknown[0]}; expected {nearest(unknown[0], model.get_params())}")
    return Learner(name, lambda rows, columns, seed: _seeded(model, seed), lambda columns: settings)


def _parts(given: Any) -> tuple[str, Any, Any]:
    """Return name, estimator and grid."""
    if not isinstance(given, tuple):
        return type(given).__name__, given, None
    if len(given) not in (2, 3) or not isinstance(given[0], str) or not given[0].strip():
        raise ValueError(f"learners: found {show(given)}; expected (name, estimator) or (name, estimator, grid)")
    return given[0], given[1], given[2] if len(given) == 3 else None


def _seeded(model: Any, seed: int) -> Any:
    """Return a copy whose open seeds are this one."""
    copy = clone(model)
    open_seeds = {
        key: seed
        for key, value in copy.get_params().items()
        if value is None and (key == "random_state" or key.endswith("__random_state"))
    }
    return copy.set_params(**open_seeds)
