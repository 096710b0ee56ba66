"""M_{h,op} of a neural representation itself, against its features and the unlabelled points that whiten them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge

from hierlearn.core.parameters import Count, Nested
from hierlearn.core.problem import Problem
from hierlearn.core.protocols import Probe
from hierlearn.pipeline.measurements._parameters import Several, listing
from hierlearn.pipeline.measurements._variables import Variables, describe, split
from hierlearn.statistics.features import operator_norm

NAMES = ("m_op", "m_op_mean_square", "norm_spread")


@dataclass(frozen=True, kw_only=True)
class RepresentationNorm(Probe):
    """M_{h,op} = B_h^{-1} (E |(1/n) sum h_i h_i^T|_op)^{1/2} of h itself on fresh points  (chen2020, Theorem 1, eq. 4).

    Whitening on infinitely many points would make it D^{-1/2}; on n0 points new ones see a second moment that is not
    quite the identity. Random features are those of the largest number, of which a smaller one takes the first, with
    and without whitening on the same points.
    """

    representation: Annotated[
        Any, Nested("representations", {"name": "neural"}), "Neural representation, whose sizes are those below."
    ]
    counts: Annotated[Several[Count], "Numbers of random features D."] = listing(16, 32)
    ratios: Annotated[Several[Count], "Unlabelled points per feature, n0 / D."] = listing(20)
    whitenings: Annotated[
        Several[Literal["full", "none"]], "full: all directions whitened; none: the features only scaled."
    ] = listing("full", "none")
    samples: Annotated[int, Ge(2), "Number n of fresh points that the second moment is over."] = 1000
    MEASURES = {
        "m_op": "M_{h,op} with B_h the largest |h| of the fresh points",
        "m_op_mean_square": "M_{h,op} with B_h the root mean square of |h|",
        "norm_spread": "largest |h| over its root mean square",
        "prediction": "D^{-1/2}, the size for whitened features",
    }
    COORDINATES = {"whitening": "whitenings", "count": "counts", "ratio": "ratios"}

    def measure(self, problem: Problem) -> Variables:
        """m_op, ... (seed, whitening, count, ratio); prediction (count,).

        Raises ValueError for a representation without a number of features or kinds of whitening.
        """
        if not {"count", "whiten", "unlabelled"} <= set(vars(self.representation)):
            raise ValueError("representation_norm: found a representation without whitening; expected neural")
        fresh = problem.draw("test", self.samples).x
        axes = ("seed", "whitening", "count", "ratio")
        shape = (len(problem.seeds), len(self.whitenings), len(self.counts), len(self.ratios))
        values, flops = np.empty((*shape, len(NAMES))), 0.0
        for i, j, k in np.ndindex(shape[1:]):
            count = self.counts[j]
            shown = max(2, self.ratios[k] * count)
            values[:, i, j, k] = [_norms(h) for h in self._features(problem, self.whitenings[i], count, shown, fresh)]
            flops += 2.0 * count**2 * (shown + 2.0 * self.samples)
        prediction = {"prediction": (("count",), np.array(self.counts, np.float64) ** -0.5)}
        return describe(self, problem, {**split(axes, NAMES, values), **prediction}, flops)

    def _features(self, problem, whitening: str, count: int, shown: int, fresh: np.ndarray) -> Iterator[np.ndarray]:
        """h of the fresh points of one seed after the other, (n, D): those of all take gigabytes."""
        chosen = replace(self.representation, count=count, whiten=whitening, directions=0, unlabelled=shown)
        state = chosen.fit(problem.unlabelled(shown), problem.streams.at("representation_norm"))
        for seed in range(len(fresh)):
            of_seed = slice(seed, seed + 1)
            yield chosen.apply({name: values[of_seed] for name, values in state.items()}, fresh[of_seed])[0]


def _norms(h: np.ndarray) -> tuple[float, float, float]:
    """NAMES of features (n, D)."""
    h = h.astype(np.float64)
    norms = np.linalg.norm(h, axis=-1)
    spread = norms.max() / np.sqrt(np.mean(norms**2))
    norm = operator_norm(h[None])[0]
    return norm, norm * spread, spread
