"""Neural representations: the features of a random one-hidden-layer network, whitened on unlabelled points."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge

from hierlearn.core.needs import Needs, Sizes
from hierlearn.core.objections import refuse
from hierlearn.core.parameters import Count, Index
from hierlearn.core.protocols import Input, Objection, Representation, State
from hierlearn.core.streams import Streams
from hierlearn.representations._flat import flat
from hierlearn.theory.activations import monic

# Directions whose second moment is below this part of the largest are rounding: whitening would blow them up.
ROUNDING = 1e-10
ROWS = 2048


@dataclass(frozen=True, kw_only=True)
class Neural(Representation):
    """h(x) = Sigma^{-1/2} g(x) / sqrt(D), g(x) = phi(Vx + b), Sigma = (1/n0) sum g(x_i) g(x_i)^T  (chen2020, eq. 3-4).

    V has rows N(0, I_d), b ~ N(0, 1). The division by sqrt(D) (by the root of the kept directions where `whiten` is
    truncated) gives E|h|^2 = 1, so that learners on different representations are comparable.
    """

    features: Annotated[
        Literal["step", "relu", "relu2", "quadratic"], "Activation phi of the random features phi(v.x + b)."
    ] = "step"
    count: Annotated[Count, "Number of random features D."] = 32
    bias: Annotated[bool, "Whether b ~ N(0, 1) is added (else b = 0)."] = True
    whiten: Annotated[
        Literal["full", "truncated", "none"], "full: all D directions; truncated: the leading ones; none: only scaled."
    ] = "full"
    directions: Annotated[Index, "Leading directions that `whiten: truncated` keeps; 0 keeps all."] = 0
    unlabelled: Annotated[int, Ge(2), "Number n0 of unlabelled points that estimate the second moment."] = 256
    stream_key: ClassVar[str] = "neural"

    def __post_init__(self):
        refuse(self)

    def objections(self, inputs: Input | None) -> Iterator[Objection]:
        """More directions than features."""
        if self.whiten == "truncated" and self.directions > self.count:
            yield "directions", f"{self.directions}", f"at most count = {self.count}"

    def needs(self, sizes: Sizes) -> Needs:
        """The second moment, its eigenvectors, and the whitening; one block of features in float64."""
        count, shown = self.count, sizes.unlabelled
        return Needs(
            memory={"fit": (6 * count + 2 * shown) * count},
            work={"fit": (20 * count + 4 * shown) * count**2},
        )

    def fit(self, unlabelled: np.ndarray, streams: Streams) -> State:
        """unlabelled (S, n0, *shape) -> V (S, D, d), b (S, D), whitening (S, D, D'), spectrum (S, D) float64
        descending, rank (S,): directions above rounding."""
        unlabelled = flat(unlabelled)
        dimension = unlabelled.shape[-1]
        state = {
            "V": streams.at("V").stack(lambda g: g.standard_normal((self.count, dimension)).astype(np.float32)),
            "b": streams.at("b").stack(lambda g: g.standard_normal(self.count).astype(np.float32)) * self.bias,
        }
        fits = [self._whitening(v, b, x) for v, b, x in zip(state["V"], state["b"], unlabelled, strict=True)]
        whitening, spectrum, rank = (np.stack(parts) for parts in zip(*fits, strict=True))
        return state | {"whitening": whitening, "spectrum": spectrum, "rank": rank}

    def apply(self, state: State, x: np.ndarray) -> np.ndarray:
        """(S, n, *shape) -> (S, n, D') float32."""
        parts = zip(state["V"], state["b"], state["whitening"], flat(x), strict=True)
        if self.whiten == "none":
            return np.stack([self._activate(v, b, points) * w[0, 0] for v, b, w, points in parts])
        return np.stack([self._activate(v, b, points) @ w for v, b, w, points in parts])

    def _activate(self, v: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
        return monic(self.features)(x.astype(np.float32, copy=False) @ v.T + b)

    def _whitening(self, v, b, x) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        moment = np.zeros((self.count, self.count))
        for start in range(0, len(x), ROWS):
            g = self._activate(v, b, x[start : start + ROWS]).astype(np.float64)
            moment += g.T @ g
        values, vectors = np.linalg.eigh(moment / len(x))
        values, vectors = values[::-1], vectors[:, ::-1]
        rank = int(np.sum(values > ROUNDING * values[0]))
        if self.whiten == "none":
            scale = 1.0 / np.sqrt(np.sum(values))
            return np.full((1, 1), scale, np.float32), values, np.int64(rank)
        wanted = self.directions if self.whiten == "truncated" and self.directions else self.count
        kept = min(wanted, rank)
        inverse_root = np.zeros(self.count)
        inverse_root[:kept] = 1.0 / np.sqrt(values[:kept] * kept)
        whitening = vectors * inverse_root
        # The paper's symmetric root; for truncated whitening the rotation back would only add null directions.
        whitening = whitening @ vectors.T if self.whiten == "full" else whitening[:, :wanted]
        return whitening.astype(np.float32), values, np.int64(rank)
