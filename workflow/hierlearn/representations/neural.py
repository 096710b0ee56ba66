"""Neural representations: the features of a random one-hidden-layer network, whitened on unlabelled points."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

from annotated_types import Ge

from hierlearn.core.needs import Needs, Sizes
from hierlearn.core.protocols import Input, Objection, Representation
from hierlearn.representations._layer import Layer


@dataclass(frozen=True, kw_only=True)
class Neural(Layer, Representation):
    """h(x) = Sigma^{-1/2} g(x) / sqrt(D), g(x) = phi(Vx + b), Sigma = (1/n0) sum g(x_i) g(x_i)^T  (chen2020, eq. 3-4).

    V has rows N(0, I_d), b ~ N(0, 1). The division by sqrt(D) (by the root of the kept directions where `whiten` is
    truncated) gives E|h|^2 = 1, so that learners on different representations are comparable.
    """

    unlabelled: Annotated[int, Ge(2), "Number n0 of unlabelled points that estimate the second moment."] = 256
    stream_key: ClassVar[str] = "neural"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.raise_for()

    def validate(self, inputs: Input | None) -> Iterator[Objection]:
        """Object to more directions than features."""
        if self.whiten == "truncated" and self.directions > self.count:
            yield "directions", f"{self.directions}", f"at most count = {self.count}"

    def needs(self, sizes: Sizes) -> Needs:
        """Count the second moment, its eigenvectors, and the whitening; one block of features in float64."""
        count, shown = self.count, sizes.unlabelled
        return Needs(
            memory={"fit": (6 * count + 2 * shown) * count},
            work={"fit": (20 * count + 4 * shown) * count**2},
        )
