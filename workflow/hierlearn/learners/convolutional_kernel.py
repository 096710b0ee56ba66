"""Kernel ridge regression with the tangent kernel of a convolutional network of finite width at its random start."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar

import numpy as np

from hierlearn.core.needs import Needs, Sizes
from hierlearn.core.parameters import Positive
from hierlearn.core.protocols import Features, Fit, Learner, Monitor, State, TrainingData
from hierlearn.learners._convolutional_networks import (
    ConvolutionalParameters,
    Device,
    network,
    network_of,
    pictures,
    shape_of,
    torch_device,
)
from hierlearn.learners._dual import fit_dual
from hierlearn.learners._selection import fit_of_seed, points_by_seed
from hierlearn.solvers.convolutional.architecture import BLOCK_POINTS

# What importing torch takes, in numbers of 8 bytes.
TORCH = 45e6
# Points of the first batch, whose means and variances normalise all.
NORMALISED_BY = 512


@dataclass(frozen=True, kw_only=True)
class ConvolutionalKernel(ConvolutionalParameters, Learner):
    """f(x) = sum_i alpha_i K(x_i, x) with the finite-width tangent kernel  (allenzhu2020, Figure 11).

    K(x, z) = (1/k) sum_j <grad f_j(x), grad f_j(z)> over the k outputs and all weights of a network of `convolutional`
    at its start, whose batch normalisations have the means and variances of the first 512 training points and keep
    them. One kernel for all outputs, exact up to rounding in float32; the solve is float64. The ridge is chosen by the
    error on validation points. Raises ValueError for `device: cuda` where there is none.
    """

    device: Device = "cpu"
    stream_key: ClassVar[str] = "ConvolutionalKernel"
    MEASURES = {"ridge_residual": "relative residual |(K + n ridge I) alpha - y| / |y| at the chosen ridge"}

    class Choices:
        ridge: Annotated[Positive, "Ridges in units of the mean diagonal of the Gram matrix."]

    def needs(self, sizes: Sizes) -> Needs:
        """Count Gram matrices and a factor; gradients at the training points and at a block of others."""
        n, validation = sizes.samples, sizes.validation
        net = network_of(self, sizes)
        # Numbers of torch have half the bytes; narrow products reach a third of the rate of large ones.
        together = net.outputs_at_once(sizes.outputs, n)
        gradients: float = net.gradient_entries() * (n + 2 * BLOCK_POINTS) * together
        gradients = (gradients + 4 * BLOCK_POINTS * net.activations()) / 2
        one, pair = 18 * sizes.outputs * net.products(), 2 * net.gradient_products(sizes.outputs, n)
        return Needs(
            memory={
                "fit": TORCH + 3 * n**2 + validation * n + 2 * gradients,
                "model": n * sizes.outputs + net.weights(sizes.outputs),
                "predict": TORCH + sizes.test * n + 2 * gradients,
            },
            work={
                "fit": sizes.choices * n**3 + (pair * n + one) * (n + validation),
                "predict": pair * n * sizes.test + one * (n + sizes.test),
            },
            gpus=int(self.device == "cuda"),
        )

    def fit(self, sample: TrainingData, monitor: Monitor, cache: dict[Any, Any]) -> Fit:
        """Fit all seeds; state: coefficients (S, n, k) float64 of training points; the network, (S, ...) float32."""
        from hierlearn.solvers.convolutional import model, tangent

        data, device = sample.data, torch_device(self.device)
        shape, streams = shape_of(self, data), sample.streams.at("start")
        net, fits = network(self, shape), []
        shapes = net.shapes() | net.head_shapes(data.outputs)
        for seed, (x, y, z, labels) in zip(data.seeds, points_by_seed(sample), strict=True):
            x, z = pictures(x[None], shape)[0], pictures(z[None], shape)[0]
            weights = model.start(shapes, partial(streams.generator, seed))
            weights |= tangent.statistics_of_points(net, weights, x[:NORMALISED_BY], device)
            kernels = tangent.grams(net, weights, x, z, device)
            fit = fit_dual(kernels[0], y, kernels[1], labels, sample.choices["ridge"], data.kind)
            state = {"coefficients": fit.coefficients, "shape": np.array(shape)} | weights
            pairs = sample.n * (sample.n + data.held_out)
            flops = fit.flops + 2.0 * net.gradient_products(data.outputs, sample.n) * pairs
            fits.append(fit_of_seed(state=state, **fit.parts | {"flops": flops}))
            monitor.advance(len(fits), len(data.seeds))
        return Fit.stack(fits)

    def predict(self, state: State, features: Features, role: str, count: int, cache: dict[Any, Any]) -> np.ndarray:
        """Return predictions (S, count, k) float64."""
        from hierlearn.solvers.convolutional import tangent

        shape, device = tuple(state["shape"][0].tolist()), torch_device(self.device)
        known = features.draw("training", state["coefficients"].shape[1])
        names, found = [name for name in state if name not in ("coefficients", "shape")], []
        pairs = zip(pictures(features.draw(role, count), shape), pictures(known, shape), strict=True)
        for s, (z, x) in enumerate(pairs):
            weights = {name: state[name][s] for name in names}
            found.append(tangent.gram(network(self, shape), weights, z, x, device) @ state["coefficients"][s])
        return np.stack(found)
