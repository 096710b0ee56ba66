"""Taylor models of any torch module as regressor and classifier."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

import numpy as np
from annotated_types import MinLen

from hierlearn.core.parameters import Count, Positive
from hierlearn.estimators._base import Classification, Progress, Regression, Selecting, need_torch, scale_of

# Points at which a module's derivatives are looked at before anything is fitted.
CHECKED = 8


@dataclass(frozen=True)
class _Fitted:
    """weights (P,) of the chosen ridge, its error on held-out points (1,), iterations, whether they settled."""

    weights: np.ndarray
    validation_risk: np.ndarray
    iterations: int
    settled: bool


class _Taylorized(Selecting):
    _limits: Mapping[str, Any] = {
        **Selecting._limits,
        "fit_intercept": bool,
        "order": Literal[1, 2],
        "width": Count,
        "tol": Positive,
        "max_iter": Count,
        "shape": Annotated[list[Count], MinLen(1)] | None,
    }

    def __init__(
        self,
        module: Any = None,
        order: int = 2,
        width: int = 64,
        shape: Sequence[int] | None = None,
        alphas: float | Sequence[float] = (1.0, 1e-1, 1e-2, 1e-3, 1e-4),
        fit_intercept: bool = True,
        scale: str | None = "auto",
        validation_fraction: float = 0.2,
        cv: Any = None,
        refit: bool = True,
        tol: float = 1e-6,
        max_iter: int = 300,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        super().__init__(fit_intercept, scale, validation_fraction, cv, refit, verbose, random_state)
        self.module = module
        self.order = order
        self.width = width
        self.shape = shape
        self.alphas = alphas
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.
        y : array-like of shape (n_samples,) or, for regression, (n_samples, n_outputs)
            Targets, or classes of any type.

        Returns
        -------
        estimator
            The estimator itself. Raises ValueError, one line, for a parameter, a module or data that are not
            allowed, and ImportError where torch is not installed.
        """
        need_torch(self)
        X, y = self._read(X, y)
        labels = self._encode(y, None)
        self.scale_ = scale_of(X, self.scale)
        x = self._see(X)
        self._model = self._expanded(x, labels.shape[1])
        fit, chosen, _ = self._select((x, labels), labels, {"ridge": self._grid("alphas")})
        self.alpha_, self.coef_, self.n_iter_ = float(chosen["ridge"]), fit.weights, max(1, int(fit.iterations))
        self.status_ = "ok" if fit.settled else "not_converged"
        self._warn(self.status_, "raise max_iter or tol, or offer larger alphas")
        return self

    def _see(self, X: np.ndarray) -> np.ndarray:
        x = X / self.scale_
        if self.shape is None:
            return x
        if np.prod(self.shape) != x.shape[1]:
            found = f"shape {tuple(self.shape)} for {x.shape[1]} features"
            raise ValueError(f"{type(self).__name__}: {found}; expected sizes whose product it is")
        return x.reshape(len(x), *(int(size) for size in self.shape))

    def _expanded(self, x: np.ndarray, outputs: int) -> Any:
        """Return the module's Taylor model; the module of the parameters stays as it is."""
        import torch

        from hierlearn.solvers.modules import ModuleTaylor, NotDifferentiable

        name = f"{type(self).__name__}: module"
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self._seed)
            if isinstance(self.module, torch.nn.Module):
                module = copy.deepcopy(self.module)
            elif self.module is None:
                parts = torch.nn.Flatten(), torch.nn.LazyLinear(self.width), torch.nn.Tanh()
                module = torch.nn.Sequential(*parts, torch.nn.Linear(self.width, outputs))
            elif callable(self.module):
                module = self.module(x.shape[1] if x.ndim == 2 else x.shape[1:], outputs)
            else:
                expected = "None, a torch module, or a function of features and outputs that makes one"
                raise ValueError(f"{name} {self.module!r}; expected {expected}")
            try:
                # Lazy modules get their weights from a first point.
                precision = torch.float64 if x.dtype == np.float64 else torch.float32
                with torch.no_grad():
                    module.to(precision).eval()(torch.as_tensor(x[:1]))
                model = ModuleTaylor(module, int(self.order), x.dtype)
                found = model.check(x[:CHECKED])
            except NotDifferentiable as error:
                expected = "weights, and operations that torch.func.jvp differentiates"
                raise ValueError(f"{name} has {error}; expected {expected}") from error
            except (RuntimeError, TypeError) as error:
                first = str(error).strip().partition("\n")[0]
                raise ValueError(f"{name} does not take points of shape {x.shape[1:]}: {first}") from error
        if found != outputs:
            expected = f"{outputs}, one for each column of y, each of three or more classes, or both of two"
            raise ValueError(f"{name} gives {found} outputs; expected {expected}")
        return model

    def _train(
        self, data: Any, rows: np.ndarray, held: np.ndarray, choices: Mapping[str, Sequence[Any]]
    ) -> tuple[_Fitted, dict[str, Any]]:
        x, labels = data
        ridges = choices["ridge"]
        try:
            path = self._model.fit(x[rows], labels[rows], ridges, float(self.tol), int(self.max_iter))
        except ValueError as error:
            raise ValueError(f"{type(self).__name__}: alphas {ridges}: {error}; expected larger ones") from error
        risks = [np.mean(np.sum((self._model.outputs(w, x[held]) - labels[held]) ** 2, axis=1)) for w in path.weights]
        place = int(np.argmin(risks))
        Progress(self).report(1, 1, f"alpha {ridges[place]:g}: {path.iterations.sum()} iterations")
        settled = bool(path.settled[place])
        fit = _Fitted(path.weights[place], np.array([risks[place]]), int(path.iterations[place]), settled)
        return fit, {"ridge": ridges[place]}

    def _outputs(self, X: np.ndarray) -> np.ndarray:
        return self._model.outputs(self.coef_, self._see(X).astype(np.float64 if X.dtype == np.float64 else np.float32))


PARAMETERS = """
    Parameters
    ----------
    module : torch.nn.Module, callable or None, default=None
        The network, expanded around the weights that it has; it is copied and put into eval mode. A callable is given
        the number of features and of outputs and makes one. None: one hidden layer of tanh. Outputs are one for each
        column of y, one for two classes, or one for each of more.
    order : {1, 2}, default=2
        Order of the expansion. Order 1, the tangent model, is solved exactly.
    width : int, default=64
        Neurons of the hidden layer where `module` is None.
    shape : tuple of int or None, default=None
        Shape of a point for the module, such as channels, height and width; None: a vector.
    alphas : float or sequence of float, default=(1, 1e-1, 1e-2, 1e-3, 1e-4)
        Ridges among which held-out points decide, in units of the mean squared gradient of an output.
    fit_intercept : bool, default=True
        Whether targets are centred.
    scale : {"auto"} or None, default="auto"
        "auto" divides points by the root of their mean squared norm, and targets by their standard deviation.
    validation_fraction : float, default=0.2
        Share of the points on which the ridge is chosen, where `cv` is None.
    cv : int, splitter or iterable, default=None
        Folds on which the ridge is chosen; each trains every ridge by itself.
    refit : bool, default=True
        Whether the model is trained on all points once the ridge is chosen.
    tol : float, default=1e-6
        Order 2: L-BFGS ends when a step lowers the objective by less than this part of it.
    max_iter : int, default=300
        Order 2: most iterations for a ridge.
    verbose : int, default=0
        Whether progress is printed.
    random_state : int, RandomState instance or None, default=None
        Seed of weights that the estimator makes, and of the held-out share.

    Attributes
    ----------
    alpha_ : float
        The chosen ridge.
    coef_ : ndarray of shape (n_weights,)
        The displacement of the module's weights, in the order of its parameters.
    n_iter_ : int
        Iterations at the chosen ridge; 1 for order 1.
    status_ : str
        "ok" or "not_converged".
"""


class TaylorizedRegressor(_Taylorized, Regression):
    __doc__ = f"""Fit the Taylor model of a torch module around its weights by ridge regression.

    Order 1 is the module's tangent (finite-width NTK) model, order 2 adds its second derivatives along the weights.
{PARAMETERS}
    Examples
    --------
    >>> import torch
    >>> from hierlearn.datasets import make_ridge_polynomial
    >>> from hierlearn.estimators import TaylorizedRegressor
    >>> X, y = make_ridge_polynomial(400, n_features=5, degree=2, random_state=0)
    >>> seed = torch.manual_seed(0)
    >>> module = torch.nn.Sequential(torch.nn.Linear(5, 32), torch.nn.Softplus(), torch.nn.Linear(32, 1))
    >>> model = TaylorizedRegressor(module, alphas=[1e-3, 1e-4, 1e-5], random_state=0).fit(X[:300], y[:300])
    >>> bool(model.score(X[300:], y[300:]) > 0.9)
    True
    """


class TaylorizedClassifier(_Taylorized, Classification):
    __doc__ = f"""Classify by the Taylor model of a torch module around its weights.

    Classes are fitted as -1 and +1 by the squared loss, one output for two classes and one for each of more.
{PARAMETERS}
    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hierlearn.estimators import TaylorizedClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = TaylorizedClassifier(order=1, random_state=0).fit(X[::2], y[::2])
    >>> bool(model.score(X[1::2], y[1::2]) > 0.9)
    True
    """
