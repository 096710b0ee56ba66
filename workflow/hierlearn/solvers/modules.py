"""Taylor models of order 1 and 2 of any torch module around its weights, by forward-mode derivatives, in blocks.

With theta the weights of the module and w the displacement, f(x) = f_0 + f_1(w) + f_2(w, w) / 2, the derivatives of the
module's output along w. Order 1 is linear in w: its ridge regression is solved exactly in the dual, with the module's
tangent kernel. Order 2 is minimised by L-BFGS along the ridges, from the largest down.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import minimize
from torch.func import functional_call, grad_and_value, jacrev, jvp, vmap

from hierlearn.solvers.ridge import ridge_path

# Points whose outputs are differentiated at once, and bytes of gradients that are kept in place of being made again.
BLOCK_POINTS, KEPT_BYTES = 256, 1 << 30
Tensors = dict[str, torch.Tensor]
# Points that tell the mean square of a gradient, the unit of ridges.
UNIT_POINTS = 64


class NotDifferentiable(ValueError):
    """A module whose forward pass lacks a derivative that a Taylor model needs."""


@dataclass(frozen=True)
class ModulePath:
    """Displacements of the weights, (R, P), one for every ridge; iterations (R,) of L-BFGS, 1 where solved exactly;
    settled (R,) whether it ended by its tolerance."""

    weights: np.ndarray
    iterations: np.ndarray
    settled: np.ndarray


class ModuleTaylor:
    """The Taylor model of a module. dtype: float32 or float64, in which all is computed."""

    def __init__(self, module: torch.nn.Module, order: int, dtype: np.dtype):
        """Take the module's weights as the point of expansion; the module itself is used as it is, in eval mode."""
        self.module, self.order = module, order
        self.dtype = torch.float64 if np.dtype(dtype) == np.float64 else torch.float32
        module.to(self.dtype).eval()
        self.start = {name: values.detach() for name, values in module.named_parameters()}
        self.buffers = dict(module.named_buffers())
        self.sizes = [values.numel() for values in self.start.values()]

    @property
    def count(self) -> int:
        """Number P of weights."""
        return sum(self.sizes)

    def points(self, x: np.ndarray) -> torch.Tensor:
        """Return points as the module sees them."""
        return torch.as_tensor(np.ascontiguousarray(x)).to(self.dtype)

    def outputs(self, weights: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return the model's outputs (n, k) float64 at points (n, ...) for a displacement (P,)."""
        along = self._named(torch.as_tensor(weights).to(self.dtype))
        with torch.no_grad():
            blocks = [self._model(along, block) for block in self._blocks(self.points(x))]
        return torch.cat(blocks).numpy().astype(np.float64)

    def check(self, x: np.ndarray) -> int:
        """Return the number of outputs at some points (n, ...). Raises NotDifferentiable, one line."""
        if not self.count:
            raise NotDifferentiable("no weights")
        zero, points = torch.zeros(self.count, dtype=self.dtype), self.points(x)
        try:
            _, values = grad_and_value(lambda w: self._model(self._named(w), points).sum())(zero)
            assert torch.isfinite(values)
            # Rounding or detaching inside leaves derivatives that are 0 in every weight: there is nothing to fit.
            if not np.any(self._gradients(points)):
                raise NotDifferentiable(f"a derivative of 0 by every weight at the first {len(points)} points")
            return self._forward(self.start, points).shape[1]
        except (RuntimeError, NotImplementedError) as error:
            first = str(error).strip().partition("\n")[0]
            raise NotDifferentiable(f"no derivative of order {self.order} of its forward pass: {first}") from error

    def fit(self, x: np.ndarray, labels: np.ndarray, ridges: Sequence[float], tol: float, max_iter: int) -> ModulePath:
        """Minimise mean |f(x) - y|^2 + ridge unit |w|^2 for every ridge; unit: mean square of an output's gradient.

        x (n, ...), labels (n, k) float64. Raises ValueError for a singular system, as `ridge_path`.
        """
        return (
            self._fit_linear(x, labels, ridges)
            if self.order == 1
            else self._fit_curved(x, labels, ridges, tol, max_iter)
        )

    def _fit_linear(self, x: np.ndarray, labels: np.ndarray, ridges: Sequence[float]) -> ModulePath:
        outputs = labels.shape[1]
        targets = (labels - self.outputs(np.zeros(self.count), x)).reshape(-1)
        blocks, step = self._blocks(self.points(x)), BLOCK_POINTS * outputs
        keeps = len(targets) * self.count * 8 <= KEPT_BYTES
        kept = {i: self._gradients(block) for i, block in enumerate(blocks)} if keeps else {}
        gram = np.empty((len(targets), len(targets)))
        for i, block in enumerate(blocks):
            rows = slice(i * step, i * step + len(block) * outputs)
            own = kept[i] if kept else self._gradients(block)
            for j, other in enumerate(blocks[: i + 1]):
                columns = slice(j * step, j * step + len(other) * outputs)
                gram[rows, columns] = own @ (kept[j] if kept else self._gradients(other)).T
                gram[columns, rows] = gram[rows, columns].T
        # Of a product of an array with itself.
        gram = (gram + gram.T) / 2
        # The mean over points of squares summed over outputs is outputs times the mean over both.
        unit = float(np.mean(np.diag(gram))) / outputs
        duals = ridge_path(gram, targets, np.asarray(ridges) * unit).coefficients[:, :, 0]
        weights = np.zeros((len(ridges), self.count))
        for i, block in enumerate(blocks):
            rows = slice(i * step, i * step + len(block) * outputs)
            weights += duals[:, rows] @ (kept[i] if kept else self._gradients(block))
        return ModulePath(weights, np.ones(len(ridges), int), np.ones(len(ridges), bool))

    def _fit_curved(
        self, x: np.ndarray, labels: np.ndarray, ridges: Sequence[float], tol: float, max_iter: int
    ) -> ModulePath:
        points, targets = self.points(x), torch.as_tensor(labels).to(self.dtype)
        squares = np.square(self._gradients(points[:UNIT_POINTS]), dtype=np.float64)
        unit = float(np.mean(squares.sum(axis=1)))
        pairs = list(zip(self._blocks(points), self._blocks(targets), strict=True))

        def block_loss(w: torch.Tensor, block: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return torch.sum((self._model(self._named(w), block) - y) ** 2) / len(points)

        descend = grad_and_value(block_loss)

        def objective(w: np.ndarray, factor: float) -> tuple[float, np.ndarray]:
            along, gradient, value = torch.as_tensor(w).to(self.dtype), 2.0 * factor * w, factor * float(w @ w)
            for block, y in pairs:
                slope, part = descend(along, block, y)
                gradient, value = gradient + slope.numpy().astype(np.float64), value + float(part)
            return value, gradient

        path, current = {}, np.zeros(self.count)
        for place in np.argsort(-np.asarray(ridges), kind="stable"):
            limits = {"maxiter": max_iter, "ftol": tol, "gtol": 0.0}
            end = minimize(objective, current, (ridges[place] * unit,), "L-BFGS-B", jac=True, options=limits)
            current = end.x if np.isfinite(end.fun) else current
            path[place] = current, end.nit, bool(end.success)
        weights, iterations, settled = zip(*(path[place] for place in range(len(ridges))), strict=True)
        return ModulePath(np.stack(weights), np.array(iterations), np.array(settled))

    def _model(self, along: Tensors, x: torch.Tensor) -> torch.Tensor:
        """Return f_0 + f_1(w), of order 2 also f_2(w, w) / 2, (n, k)."""

        def forward(weights: Tensors) -> torch.Tensor:
            return self._forward(weights, x)

        def along_once(weights: Tensors) -> tuple[torch.Tensor, torch.Tensor]:
            found = jvp(forward, (weights,), (along,))
            return found[0], found[1]

        if self.order == 1:
            value, slope = along_once(self.start)
            return value + slope
        found = jvp(along_once, (self.start,), (along,))
        (value, slope), (_, curvature) = found[0], found[1]
        return value + slope + curvature / 2

    def _forward(self, weights: Tensors, x: torch.Tensor) -> torch.Tensor:
        found = functional_call(self.module, (weights, self.buffers), (x,))
        return found if found.ndim > 1 else found[:, None]

    def _gradients(self, x: torch.Tensor) -> np.ndarray:
        """Return the gradients of every output at a block of points, (n k, P) of the model's dtype."""

        def single(weights: Tensors, point: torch.Tensor) -> torch.Tensor:
            return self._forward(weights, point[None])[0]

        jacobian = vmap(jacrev(single), (None, 0))(self.start, x)
        parts = [values.detach().flatten(2).flatten(0, 1) for values in jacobian.values()]
        return torch.cat(parts, dim=1).numpy()

    def _named(self, weights: torch.Tensor) -> Tensors:
        """Return a displacement (P,) as tensors by the names of the module's weights."""
        parts = torch.split(weights, self.sizes)
        return {name: part.view_as(own) for (name, own), part in zip(self.start.items(), parts, strict=True)}

    def _blocks(self, values: torch.Tensor) -> list[torch.Tensor]:
        return list(torch.split(values, BLOCK_POINTS))
