"""Convolutional networks and their tangent kernels as regressors and classifiers; they need torch."""

from collections.abc import Mapping, Sequence
from math import isqrt
from typing import Annotated, Any

import numpy as np
from annotated_types import MaxLen, MinLen

from hierlearn.core.parameters import Count
from hierlearn.core.protocols import Fit
from hierlearn.estimators._base import Classification, Regression, need_torch
from hierlearn.estimators._learned import Learned
from hierlearn.estimators._limits import component
from hierlearn.estimators.networks import FITTED, SELECTION, Steps
from hierlearn.learners.convolutional import Convolutional
from hierlearn.learners.convolutional_kernel import ConvolutionalKernel

NETWORK_WORDS = {
    "depth": "depth",
    "width": "width",
    "patch": "patch",
    "activation": "activation",
    "links": "links",
    "pooling": "pooling",
    "head": "head",
    "device": "device",
}
STEPS_WORDS = {"schedule": "schedule", "batch_size": "batch", "momentum": "momentum", "max_iter": "steps"}


class _Pictures(Learned):
    """A network of pictures, which `shape` tells from vectors."""

    _limits: Mapping[str, Any] = {
        **Learned._limits,
        "fit_intercept": bool,
        "shape": Annotated[list[Count], MinLen(3), MaxLen(3)] | None,
    }

    def _read(self, X: Any, y: Any, **options: Any) -> tuple[np.ndarray, Any]:
        X, y = super()._read(X, y, **options)
        if self.shape is not None and np.prod(self.shape) != X.shape[1]:
            found = f"shape {tuple(self.shape)} for {X.shape[1]} features"
            raise ValueError(f"{type(self).__name__}: {found}; expected channels, height and width whose product it is")
        return X, y

    def _shape(self) -> tuple[int, int, int] | None:
        if self.shape is not None:
            channels, height, width = (int(size) for size in self.shape)
            return channels, height, width
        side = isqrt(self.n_features_in_)
        return (1, side, side) if side > 1 and side**2 == self.n_features_in_ else None

    def _network(self, kind: type, words: Mapping[str, str]) -> Any:
        need_torch(self)
        shape = self._shape()
        if self.architecture == "auto":
            small = shape is None or min(shape[1:]) < 2
            return component(self, kind, words, architecture="dense" if small else "plain")
        return component(self, kind, {**words, "architecture": "architecture"})


NETWORK = """
    Parameters
    ----------
    shape : tuple of int or None, default=None
        Channels, height and width of a picture, whose product is the number of features. None: square pictures of one
        channel if there are any, else vectors.
    architecture : {"auto", "plain", "vgg", "wide_resnet", "patches", "circular", "dense"}, default="auto"
        "auto" is "plain", filters that keep the size, and "dense" for vectors.
    depth : int or None, default=None
        Number of layers; None is 2, or as many as "patches" needs.
    width : int, default=32
        Channels of a layer.
    patch : int, default=2
        Side of the filters of "patches"; "plain" has 2 patch - 1.
    activation : {"relu", "quadratic"}, default="relu"
        Activation.
    links : bool, default=False
        Whether the output sees every layer, or the last alone.
    pooling : {"max", "mean"}, default="max"
        How layers pool.
    head : {"flat", "mean"}, default="flat"
        Whether the output sees every place of a layer or the mean over places.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where torch computes.
"""


class _Convolutional(_Pictures, Steps):
    def __init__(
        self,
        shape: Sequence[int] | None = None,
        architecture: str = "auto",
        depth: int | None = None,
        width: int = 32,
        patch: int = 2,
        activation: str = "relu",
        links: bool = False,
        pooling: str = "max",
        head: str = "flat",
        device: str = "cpu",
        schedule: str = "joint",
        learning_rate: float | Sequence[float] = (0.1, 0.02, 0.005),
        alpha: float | Sequence[float] = 0.0,
        momentum: float = 0.9,
        batch_size: int = 32,
        max_iter: int = 150,
        fit_intercept: bool = True,
        scale: str | None = "auto",
        validation_fraction: float = 0.2,
        cv: Any = None,
        refit: bool = True,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        super().__init__(fit_intercept, scale, validation_fraction, cv, refit, verbose, random_state)
        self.shape = shape
        self.architecture = architecture
        self.depth = depth
        self.width = width
        self.patch = patch
        self.activation = activation
        self.links = links
        self.pooling = pooling
        self.head = head
        self.device = device
        self.schedule = schedule
        self.learning_rate = learning_rate
        self.alpha = alpha
        self.momentum = momentum
        self.batch_size = batch_size
        self.max_iter = max_iter

    def _learner(self) -> Convolutional:
        self._refuse_decay()
        return self._network(Convolutional, NETWORK_WORDS | STEPS_WORDS)


CONVOLUTIONAL = f"""{NETWORK}    schedule : {{"joint", "staged", "layerwise"}}, default="joint"
        "joint" trains all layers at once, "staged" adds layer after layer, "layerwise" rests those below.
    learning_rate : float or sequence of float, default=(0.1, 0.02, 0.005)
        Learning rates among which held-out points decide.
    alpha : float, default=0.0
        Weight decay.
    momentum : float, default=0.9
        Momentum of the steps.
    batch_size : int, default=32
        Points of a step.
    max_iter : int, default=150
        Steps for every layer.
    fit_intercept : bool, default=True
        Whether targets are centred.
{SELECTION}{FITTED.replace("Passes over the points that the training made", "Steps for every layer")}"""


class ConvolutionalRegressor(_Convolutional, Regression):
    __doc__ = f"""Fit a convolutional network with batch normalisation by SGD  (Allen-Zhu, Li 2020).
{CONVOLUTIONAL}
    Examples
    --------
    >>> from hierlearn.datasets import make_pictures
    >>> from hierlearn.estimators import ConvolutionalRegressor
    >>> X, y = make_pictures(500, random_state=0)
    >>> model = ConvolutionalRegressor(width=8, learning_rate=0.01, random_state=0).fit(X[:400], y[:400] % 2)
    >>> bool(model.score(X[400:], y[400:] % 2) > 0.6)
    True
    """


class ConvolutionalClassifier(_Convolutional, Classification):
    __doc__ = f"""Classify by a convolutional network with batch normalisation, by SGD  (Allen-Zhu, Li 2020).
{CONVOLUTIONAL}
    Examples
    --------
    >>> from hierlearn.datasets import make_pictures
    >>> from hierlearn.estimators import ConvolutionalClassifier
    >>> X, y = make_pictures(500, random_state=0)
    >>> model = ConvolutionalClassifier(width=8, learning_rate=0.05, random_state=0).fit(X[:400], y[:400])
    >>> bool(model.score(X[400:], y[400:]) > 0.8)
    True
    """


class _ConvolutionalKernel(_Pictures):
    _keeps_points = True

    def __init__(
        self,
        shape: Sequence[int] | None = None,
        architecture: str = "auto",
        depth: int | None = None,
        width: int = 16,
        patch: int = 2,
        activation: str = "relu",
        links: bool = False,
        pooling: str = "max",
        head: str = "flat",
        device: str = "cpu",
        alphas: float | Sequence[float] = (1.0, 1e-1, 1e-2, 1e-3, 1e-4),
        fit_intercept: bool = True,
        scale: str | None = "auto",
        validation_fraction: float = 0.2,
        cv: Any = None,
        refit: bool = True,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        super().__init__(fit_intercept, scale, validation_fraction, cv, refit, verbose, random_state)
        self.shape = shape
        self.architecture = architecture
        self.depth = depth
        self.width = width
        self.patch = patch
        self.activation = activation
        self.links = links
        self.pooling = pooling
        self.head = head
        self.device = device
        self.alphas = alphas

    def _learner(self) -> ConvolutionalKernel:
        return self._network(ConvolutionalKernel, NETWORK_WORDS)

    def _choices(self) -> dict[str, list[float]]:
        return {"ridge": self._grid("alphas")}

    def _finish(self, fit: Fit, choices: Mapping[str, Any]) -> None:
        self.alpha_, self.dual_coef_ = float(choices["ridge"]), fit.state["coefficients"][0]


NARROWER = NETWORK.replace("width : int, default=32", "width : int, default=16")
KERNEL = f"""{NARROWER}    alphas : float or sequence of float, default=(1, 1e-1, 1e-2, 1e-3, 1e-4)
        Ridges in units of the Gram matrix's mean diagonal, among which held-out points decide.
    fit_intercept : bool, default=True
        Whether targets are centred.
{SELECTION}
    Attributes
    ----------
    alpha_ : float
        The chosen ridge.
    dual_coef_ : ndarray of shape (n_support, n_outputs)
        Coefficients of the points.
    status_ : str
        "ok", or how the solution failed.
"""


class ConvolutionalKernelRegressor(_ConvolutionalKernel, Regression):
    __doc__ = f"""Fit kernel ridge regression with the tangent kernel of a convolutional network of finite width.

    The kernel is that of the network of `ConvolutionalRegressor` at its random start  (Allen-Zhu, Li 2020).
{KERNEL}
    Examples
    --------
    >>> from hierlearn.datasets import make_pictures
    >>> from hierlearn.estimators import ConvolutionalKernelRegressor
    >>> X, y = make_pictures(250, random_state=0)
    >>> model = ConvolutionalKernelRegressor(width=4, random_state=0).fit(X[:200], y[:200] % 2)
    >>> model.predict(X[200:]).shape
    (50,)
    """


class ConvolutionalKernelClassifier(_ConvolutionalKernel, Classification):
    __doc__ = f"""Classify by the tangent kernel of a convolutional network of finite width  (Allen-Zhu, Li 2020).
{KERNEL}
    Examples
    --------
    >>> from hierlearn.datasets import make_pictures
    >>> from hierlearn.estimators import ConvolutionalKernelClassifier
    >>> X, y = make_pictures(250, random_state=0)
    >>> model = ConvolutionalKernelClassifier(width=4, random_state=0).fit(X[:200], y[:200])
    >>> bool(model.score(X[200:], y[200:]) > 0.6)
    True
    """
