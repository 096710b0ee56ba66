"""Frobenius norms of two-layer networks that are a parity: built as the paper builds them, and the least there is."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from hierlearn.core import contracts
from hierlearn.core.parameters import Count, Share
from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Experiment
from hierlearn.pipeline.measurements._parameters import Several, listing
from hierlearn.pipeline.measurements._variables import Variables, describe, split
from hierlearn.theory import parity_networks


@dataclass(frozen=True, kw_only=True)
class ParityNetwork(Experiment):
    """|W|_F of f(x) = m^{-1/2} sum_r s_r relu(<w_r, x>), s_r = +-1 fixed, without biases  (allenzhu2019, Figure 1).

    The paper's way: train `width` rows on the k coordinates of the parity alone, from N(0, 1/k) weights and random
    signs, to an error; pad with zeros to d inputs; duplicate. Against it the network of the least norm, and the bound
    |W|_F >= (1 - sqrt(risk)) N sqrt(d) on every network, N from `theory.parity_networks`. Risks are exact: means over
    the 2^k signs of the parity's coordinates, at random signs of the others.
    """

    train_errors: Annotated[Several[Share], "Mean square errors that the small network is trained to."] = listing(
        0.12, 0.037, 0.011
    )
    width: Annotated[Count, "Rows of the small network."] = 200
    copies: Annotated[
        Count, "Copies of each of its rows in the large one; the network of the least norm has as many rows."
    ] = 16
    LAWS = ("hypercube",)
    MEASURES = {
        "trained_norm": "|W|_F of the network that is trained on the parity's coordinates, padded and duplicated",
        "trained_error": "its risk, over all signs of the parity's coordinates",
        "norm_floor": "least |W|_F that any network of this risk has",
        "minimal_norm": "|W|_F of the network from linear programming",
        "minimal_error": "its risk, over all signs of the parity's coordinates",
        "norm_bound": "least |W|_F that any network of risk 0 has",
    }
    COORDINATES = {"train_error": "train_errors"}

    def measure(self, problem: Problem) -> Variables:
        """trained_norm, trained_error and norm_floor (seed, train_error); the others (seed,).

        Raises ValueError for another law, another teacher than a parity for regression, and for an order that is odd
        or beyond what the bound is computed for.
        """
        teacher, dimension = problem.teacher, problem.inputs.dimension
        self.raise_for(problem.inputs)
        order = teacher.order
        if order is None or "coordinates" not in problem.state or teacher.kind != "regression":
            raise ValueError("parity_network: expected the teacher parity, for regression")
        bound = parity_networks.norm_factor(order) * np.sqrt(dimension)
        least = parity_networks.realise(*parity_networks.least_norm_units(order), self.width * self.copies)
        seeds = len(problem.seeds)
        values, minimal = np.empty((seeds, len(self.train_errors), 3)), np.empty((seeds, 2))
        for i in range(seeds):
            one = problem.take([i])
            minimal[i] = _judge(least, one)
            # Error by error from the same initial weights.
            generator = one.streams.at("parity-network").generators()[0]
            signs = generator.choice([-1.0, 1.0], self.width)
            start = generator.standard_normal((self.width, order)) / np.sqrt(order)
            for j, error in enumerate(self.train_errors):
                network, gradients = parity_networks.train(signs, start, error)
                values[i, j] = (*_judge(parity_networks.repeat_rows(network, self.copies), one), gradients)
        axes = ("seed", "train_error")
        measures = {
            **split(axes, ("trained_norm", "trained_error"), values[..., :2]),
            "norm_floor": (axes, bound * (1 - np.sqrt(values[..., 1]))),
            **split(("seed",), ("minimal_norm", "minimal_error"), minimal),
            "norm_bound": (("seed",), np.full(seeds, bound)),
        }
        # Two products with (2^k, k) and (k, m) matrices for a gradient.
        return describe(self, problem, measures, 4.0 * 2**order * order * self.width * np.sum(values[..., 2], axis=1))


def _judge(network: parity_networks.TwoLayerRelu, problem: Problem) -> tuple[float, float]:
    """|W|_F of a network of k inputs, padded to the problem's dimension, and its exact risk there for one seed."""
    coordinates, dimension = problem.state["coordinates"][0], problem.inputs.dimension
    patterns = parity_networks.sign_patterns(len(coordinates))
    others = problem.streams.at("parity-network", "others").generators()[0]
    x = others.choice([-1.0, 1.0], (len(patterns), dimension))
    x[:, coordinates] = patterns
    x /= np.sqrt(dimension)
    network = parity_networks.embed(network, coordinates, dimension)
    target = contracts.target(problem.teacher, problem.state, x[None])[0, :, 0] * problem.factor[0]
    return network.norm, float(np.mean((network(x) - target) ** 2))
