"""Networks of the papers that are trained by gradient steps, as regressors and classifiers."""

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

import numpy as np

from hierlearn.core.parameters import NotNegative, schema
from hierlearn.core.protocols import Fit
from hierlearn.estimators._base import Classification, Regression
from hierlearn.estimators._learned import Learned
from hierlearn.estimators._limits import component, refuse
from hierlearn.learners.network import Network
from hierlearn.learners.randomised import Randomised

RANDOMISED_WORDS = {
    "order": "order",
    "width": "width",
    "penalty_power": "penalty_power",
    "draws": "draws",
    "learning_rate": "learning_rate",
    "max_iter": "steps",
}
STEPS_WORDS = {"solver": "optimiser", "momentum": "momentum", "batch_size": "batch", "max_iter": "epochs"}
RESIDUAL_WORDS = {"architecture": "architecture", "trained": "trained", "schedule": "schedule", "width": "width"}
DENSE_WORDS = {"depth": "depth", "width": "width", "gap": "gap", "schedule": "schedule", "readout": "readout"}

SELECTION = """    scale : {"auto"} or None, default="auto"
        "auto" divides points by the root of their mean squared norm, and targets by their standard deviation.
    validation_fraction : float, default=0.2
        Share of the points on which settings are chosen, where `cv` is None.
    cv : int, splitter or iterable, default=None
        Folds on which settings are chosen; each trains every setting by itself.
    refit : bool, default=True
        Whether the model is trained on all points once settings are chosen.
    verbose : int, default=0
        Whether progress is printed.
    random_state : int, RandomState instance or None, default=None
        Seed of the start, of the order of points and of the held-out share.
"""
STEPS = """    solver : {"adam", "sgd"}, default="adam"
        Rule of the steps.
    learning_rate : float or sequence of float, default=(1e-2, 1e-3)
        Learning rates among which held-out points decide.
    alpha : float, default=0.0
        Weight decay.
    momentum : float, default=0.9
        Momentum of "sgd".
    batch_size : int, default=50
        Points of a step.
    max_iter : int, default=200
        Passes over the points; of every phase where layers are trained one after the other.
"""
FITTED = """
    Attributes
    ----------
    learning_rate_ : float
        The chosen learning rate.
    n_iter_ : int
        Passes over the points that the training made.
    status_ : str
        "ok", or "diverged".
    scale_ : float
        What points are divided by.
"""


class _Randomised(Learned):
    _limits: Mapping[str, Any] = {**Learned._limits, "fit_intercept": bool}
    _remedy = "raise max_iter or learning_rate"

    def __init__(
        self,
        order: int = 2,
        width: int = 64,
        activation: str = "auto",
        draws: str = "exact",
        alphas: float | Sequence[float] = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5),
        penalty_power: int = 8,
        learning_rate: float | Sequence[float] = 0.1,
        max_iter: int = 300,
        fit_intercept: bool = True,
        scale: str | None = "auto",
        validation_fraction: float = 0.2,
        cv: Any = None,
        refit: bool = True,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        super().__init__(fit_intercept, scale, validation_fraction, cv, refit, verbose, random_state)
        self.order = order
        self.width = width
        self.activation = activation
        self.draws = draws
        self.alphas = alphas
        self.penalty_power = penalty_power
        self.learning_rate = learning_rate
        self.max_iter = max_iter

    def _learner(self) -> Randomised:
        if self.activation == "auto":
            return component(self, Randomised, RANDOMISED_WORDS, activation="relu3" if self.order == 2 else "softplus")
        return component(self, Randomised, RANDOMISED_WORDS | {"activation": "activation"})

    def _choices(self) -> dict[str, list[float]]:
        return {"ridge": self._grid("alphas")}

    def _see(self, X: np.ndarray) -> np.ndarray:
        x = X / self.scale_
        return np.pad(x, ((0, 0), (0, 1)), constant_values=1.0) / sqrt(2.0) if self.fit_intercept else x

    def _finish(self, fit: Fit, choices: Mapping[str, Any]) -> None:
        self.alpha_, self.n_iter_ = float(choices["ridge"]), int(self.max_iter)
        self.coef_ = fit.state["weights"][0]


RANDOMISED = f"""
    Parameters
    ----------
    order : {{2, 3, 4}}, default=2
        Order of the Taylor term that random multipliers leave.
    width : int, default=64
        Number of neurons, even.
    activation : {{"auto", "relu2", "relu3", "erf", "sin", "softplus"}}, default="auto"
        Activation; "auto" is relu3 at order 2 and softplus beyond.
    draws : {{"exact", "sampled", "none"}}, default="exact"
        "exact" trains the mean over multipliers, "sampled" draws them at every step, "none" is the plain network.
    alphas : float or sequence of float, default=(1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
        Ridges among which held-out points decide.
    penalty_power : {{4, 8}}, default=8
        Power of the (2, 4) norm of the weights that is penalised.
    learning_rate : float, default=0.1
        First learning rate of Adam; it falls to 0.
    max_iter : int, default=300
        Steps of Adam for a ridge.
    fit_intercept : bool, default=True
        Whether the model sees (x, 1) / sqrt(2) for x, and targets are centred.
{SELECTION}
    Attributes
    ----------
    alpha_ : float
        The chosen ridge.
    coef_ : ndarray of shape (n_outputs, n_directions, n_inputs)
        The weights, float32.
    n_iter_ : int
        Steps of Adam at the chosen ridge.
    status_ : str
        "ok", or how the training ended.
"""


class RandomisedNetworkRegressor(_Randomised, Regression):
    __doc__ = f"""Fit a two-layer network whose weights move along random multipliers  (Bai, Lee 2020).

    The multipliers take the tangent term away, so that the network itself learns what a Taylor model of order 2, 3 or 4
    does.
{RANDOMISED}
    Examples
    --------
    >>> from hierlearn.datasets import make_ridge_polynomial
    >>> from hierlearn.estimators import RandomisedNetworkRegressor
    >>> X, y = make_ridge_polynomial(400, n_features=5, degree=2, random_state=0)
    >>> model = RandomisedNetworkRegressor(alphas=[1e-2, 1e-3, 1e-4], random_state=0).fit(X[:300], y[:300])
    >>> bool(model.score(X[300:], y[300:]) > 0.8)
    True
    """


class RandomisedNetworkClassifier(_Randomised, Classification):
    __doc__ = f"""Classify by a two-layer network whose weights move along random multipliers  (Bai, Lee 2020).

    The model is that of `RandomisedNetworkRegressor`, with one output for two classes and one for each of more.
{RANDOMISED}
    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hierlearn.estimators import RandomisedNetworkClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RandomisedNetworkClassifier(alphas=[1e-3, 1e-4, 1e-5], random_state=0).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.9)
    True
    """


class Steps(Learned):
    """A network trained by steps at one of several learning rates."""

    _limits: Mapping[str, Any] = {**Learned._limits, "fit_intercept": bool}
    _kind_of_learner: type

    def _choices(self) -> dict[str, list[float]]:
        return {"learning_rate": self._grid("learning_rate"), "weight_decay": [float(self.alpha)]}

    def _learner(self) -> Any:
        self._refuse_decay()
        return component(self, self._kind_of_learner, self._words | STEPS_WORDS, **self._given())

    def _refuse_decay(self) -> None:
        refuse(self, "alpha", self.alpha, schema(NotNegative))

    def _given(self) -> dict[str, Any]:
        """Return further parameters of the learner."""
        return {}

    def _finish(self, fit: Any, choices: Mapping[str, Any]) -> None:
        self.learning_rate_, self.n_iter_ = float(choices["learning_rate"]), int(self.max_iter)


class _Residual(Steps):
    _kind_of_learner, _words = Network, RESIDUAL_WORDS

    def __init__(
        self,
        architecture: str = "resnet",
        width: int = 100,
        trained: str = "all",
        schedule: str = "joint",
        solver: str = "adam",
        learning_rate: float | Sequence[float] = (1e-2, 1e-3),
        alpha: float | Sequence[float] = 0.0,
        momentum: float = 0.9,
        batch_size: int = 50,
        max_iter: int = 200,
        fit_intercept: bool = True,
        scale: str | None = "auto",
        validation_fraction: float = 0.2,
        cv: Any = None,
        refit: bool = True,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        super().__init__(fit_intercept, scale, validation_fraction, cv, refit, verbose, random_state)
        self.architecture = architecture
        self.width = width
        self.trained = trained
        self.schedule = schedule
        self.solver = solver
        self.learning_rate = learning_rate
        self.alpha = alpha
        self.momentum = momentum
        self.batch_size = batch_size
        self.max_iter = max_iter

    def _given(self) -> dict[str, Any]:
        return {"bias": bool(self.fit_intercept), "loss": "logistic" if self._kind == "classes" else "squared"}


RESIDUAL = f"""
    Parameters
    ----------
    architecture : {{"resnet", "three_layer", "two_layer"}}, default="resnet"
        out + A relu(V out) with out = A relu(W x), A relu(V relu(W x)), or A relu(W x).
    width : int, default=100
        Number of neurons of a layer.
    trained : {{"all", "hidden", "last", "tangent"}}, default="all"
        Weights that are trained; "tangent" trains W and V in the linearisation at the start.
    schedule : {{"joint", "layerwise"}}, default="joint"
        "layerwise" trains the first block of a ResNet and then the second, with "hidden" weights.
{STEPS}    fit_intercept : bool, default=True
        Whether layers have biases, and targets are centred.
{SELECTION}{FITTED}"""


class ResidualNetworkRegressor(_Residual, Regression):
    __doc__ = f"""Fit a three-layer ResNet, or a plain network of two or three layers  (Allen-Zhu, Li 2019).
{RESIDUAL}
    Examples
    --------
    >>> from hierlearn.datasets import make_residual_composition
    >>> from hierlearn.estimators import ResidualNetworkRegressor
    >>> X, y = make_residual_composition(1000, n_features=10, random_state=0)
    >>> model = ResidualNetworkRegressor(max_iter=50, random_state=0).fit(X[:800], y[:800])
    >>> bool(model.score(X[800:], y[800:]) > 0.8)
    True
    """


class ResidualNetworkClassifier(_Residual, Classification):
    __doc__ = f"""Classify by a three-layer ResNet, or a plain network of two or three layers  (Allen-Zhu, Li 2019).

    Classes are fitted by logistic losses, one output for two classes and one for each of more.
{RESIDUAL}
    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hierlearn.estimators import ResidualNetworkClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ResidualNetworkClassifier(max_iter=50, random_state=0).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.9)
    True
    """
