"""Taylor models of wide two-layer networks as regressor and classifier."""

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

import numpy as np

from hierlearn.core.parameters import Positive
from hierlearn.core.protocols import STATIONARY, Fit
from hierlearn.estimators._base import Classification, Regression
from hierlearn.estimators._learned import Learned
from hierlearn.estimators._limits import component
from hierlearn.learners.taylor import Taylor

WORDS = {
    "order": "order",
    "width": "width",
    "penalty_power": "penalty_power",
    "tol": "tolerance",
    "max_iter": "max_iterations",
}
ALPHAS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)

PARAMETERS = """
    Parameters
    ----------
    order : {1, 2, 3, 4}, default=2
        Order of the expansion. Order 1 is the tangent model and is solved exactly.
    width : int, default=64
        Number of neurons, even.
    activation : {"auto", "relu2", "relu3", "erf", "sin", "softplus"}, default="auto"
        Activation of the network; "auto" is relu2 up to order 2 and softplus beyond. Orders 3 and 4 need erf, sin or
        softplus.
    alphas : float or sequence of float, default=(1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
        Ridges among which held-out points decide. Order 1: in units of the Gram matrix's mean diagonal.
    penalty_power : {2, 4, 8}, default=4
        Power of the (2, 4) norm of the weights that is penalised; 2 is the Frobenius norm.
    fit_intercept : bool, default=True
        Whether the model sees (x, s) / sqrt(1 + s^2) for x, with s = `intercept_scaling`, and targets are centred.
    intercept_scaling : float, default=0.25
        Size s of the constant coordinate beside points of norm 1. The larger, the more the model is an affine one: at 1
        it fits noise of few labels by linear terms where the points are features that contain constants already.
    scale : {"auto"} or None, default="auto"
        "auto" divides points by the root of their mean squared norm, and targets by their standard deviation.
    validation_fraction : float, default=0.2
        Share of the points on which the ridge is chosen, where `cv` is None.
    cv : int, splitter or iterable, default=None
        Folds on which the ridge is chosen; each trains every ridge by itself.
    refit : bool, default=True
        Whether the model is trained on all points once the ridge is chosen.
    tol : float, default=2e-3
        The descent ends when ten iterations lower the objective by less than this part of it.
    max_iter : int, default=500
        Most iterations for a ridge.
    certify : bool, default=False
        Whether the end point is polished to a certified second-order stationary point.
    verbose : int, default=0
        Whether progress is printed.
    random_state : int, RandomState instance or None, default=None
        Seed of the network, of the start and of the held-out share.

    Attributes
    ----------
    alpha_ : float
        The chosen ridge.
    coef_ : ndarray of shape (n_outputs, width, n_inputs)
        The weights, float32.
    n_iter_ : int
        Iterations of the descent at the chosen ridge; 1 for order 1.
    status_ : str
        "ok", or how the training ended.
    certificate_ : dict or None
        gradient_norm, smallest_curvature, certificate_error and stationary, where `certify` asks for them.
    scale_ : float
        What points are divided by.
"""
# What a classifier has besides, and the line before which it stands.
LOSS = """    loss : {"squared", "logistic", "soft_hinge"}, default="squared"
        Loss of the training objective; order 1 has the squared loss.
"""
BEFORE = "    penalty_power :"


class _Taylor(Learned):
    """The library's `Taylor` learner on arrays."""

    _limits: Mapping[str, Any] = {
        **Learned._limits,
        "fit_intercept": bool,
        "intercept_scaling": Positive,
        "certify": bool,
    }

    _remedy = "raise max_iter or tol, or offer larger alphas"

    def _learner(self) -> Taylor:
        own = {"loss": vars(self).get("loss", "squared"), "certify": "all" if self.certify else "none"}
        words = dict(WORDS)
        if self.activation == "auto":
            own["activation"] = "relu2" if self.order in (1, 2) else "softplus"
        else:
            words["activation"] = "activation"
        return component(self, Taylor, words, **own)

    def _see(self, X: np.ndarray) -> np.ndarray:
        """Return points (n, D) as the model sees them, scaled and with a constant coordinate, in their precision."""
        x = X / self.scale_
        size = float(self.intercept_scaling)
        return np.pad(x, ((0, 0), (0, 1)), constant_values=size) / sqrt(1 + size**2) if self.fit_intercept else x

    def _choices(self) -> dict[str, list[float]]:
        return {"ridge": self._grid("alphas")}

    def _finish(self, fit: Fit, choices: Mapping[str, Any]) -> None:
        self.alpha_ = float(choices["ridge"])
        self.coef_ = fit.state["weights"][0]
        self.n_iter_ = 1 if fit.iterations is None else max(1, int(fit.iterations[0]))
        self.certificate_ = _certificate(fit)


def _certificate(fit: Fit) -> dict[str, Any] | None:
    """Return what is known of the chosen point, None for a closed form or without a certificate."""
    if fit.certificate is None or int(fit.certificate["stationary"][0]) == STATIONARY["not_checked"]:
        return None
    words = {code: word for word, code in STATIONARY.items()}
    numbers = {name: float(values[0]) for name, values in fit.certificate.items() if name != "stationary"}
    return numbers | {"stationary": words[int(fit.certificate["stationary"][0])]}


class TaylorRegressor(_Taylor, Regression):
    __doc__ = f"""Fit a Taylor model of a wide two-layer network by least squares  (Chen et al. 2020; Bai, Lee 2020).

    f(x) = 1 / (sqrt(m) k!) sum_r a_r sigma^(k)(<w0_r, x>) <w_r, x>^k with random gates w0 and trained weights w. Order
    1 is the tangent (NTK) model, order 2 the quadratic model; on `NeuralRepresentation` it is Quad-Neural.
{PARAMETERS}
    Examples
    --------
    >>> from hierlearn.datasets import make_ridge_polynomial
    >>> from hierlearn.estimators import TaylorRegressor
    >>> X, y = make_ridge_polynomial(400, n_features=5, degree=2, random_state=0)
    >>> model = TaylorRegressor(alphas=[1e-2, 1e-3, 1e-4], random_state=0).fit(X[:300], y[:300])
    >>> bool(model.score(X[300:], y[300:]) > 0.9)
    True
    """

    def __init__(
        self,
        order: int = 2,
        width: int = 64,
        activation: str = "auto",
        alphas: float | Sequence[float] = ALPHAS,
        penalty_power: int = 4,
        fit_intercept: bool = True,
        intercept_scaling: float = 0.25,
        scale: str | None = "auto",
        validation_fraction: float = 0.2,
        cv: Any = None,
        refit: bool = True,
        tol: float = 2e-3,
        max_iter: int = 500,
        certify: bool | str = False,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        super().__init__(fit_intercept, scale, validation_fraction, cv, refit, verbose, random_state)
        self.order = order
        self.width = width
        self.activation = activation
        self.alphas = alphas
        self.penalty_power = penalty_power
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.max_iter = max_iter
        self.certify = certify


class TaylorClassifier(_Taylor, Classification):
    __doc__ = f"""Classify by a Taylor model of a wide two-layer network  (Chen et al. 2020; Bai, Lee 2020).

    The model is that of `TaylorRegressor`, with one output for two classes and one for each of more.
{PARAMETERS.replace(BEFORE, LOSS + BEFORE)}
    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hierlearn.estimators import TaylorClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = TaylorClassifier(alphas=[1e-1, 1e-2, 1e-3], random_state=0).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.9)
    True
    """

    def __init__(
        self,
        order: int = 2,
        width: int = 64,
        activation: str = "auto",
        alphas: float | Sequence[float] = ALPHAS,
        loss: str = "squared",
        penalty_power: int = 4,
        fit_intercept: bool = True,
        intercept_scaling: float = 0.25,
        scale: str | None = "auto",
        validation_fraction: float = 0.2,
        cv: Any = None,
        refit: bool = True,
        tol: float = 2e-3,
        max_iter: int = 500,
        certify: bool | str = False,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        super().__init__(fit_intercept, scale, validation_fraction, cv, refit, verbose, random_state)
        self.order = order
        self.width = width
        self.activation = activation
        self.alphas = alphas
        self.loss = loss
        self.penalty_power = penalty_power
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.max_iter = max_iter
        self.certify = certify
