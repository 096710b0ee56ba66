"""Neural representations: the features of a random one-hidden-layer network, whitened on unlabelled points."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge

from hierlearn.core.needs import Needs, Sizes
from hierlearn.core.parameters import Count, Index
from hierlearn.core.protocols import Input, Objection, Representation, State
from hierlearn.core.streams import Streams
from hierlearn.representations._layer import apply_layer, fit_layer


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
        self.refuse()

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
        return fit_layer(unlabelled, streams, self.features, self.count, self.bias, self.whiten, self.directions)

    def apply(self, state: State, x: np.ndarray) -> np.ndarray:
        """(S, n, *shape) -> (S, n, D') float32."""
        return apply_layer(state, x, self.features, self.whiten)
