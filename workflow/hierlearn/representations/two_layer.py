"""Neural representations of two layers: random features of whitened random features, whitened again."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge

from hierlearn.core.needs import Needs, Sizes
from hierlearn.core.parameters import Count, Index
from hierlearn.core.protocols import Input, Objection, Representation, State
from hierlearn.core.streams import Streams
from hierlearn.representations._layer import Layer


@dataclass(frozen=True, kw_only=True)
class TwoLayer(Representation):
    """h(x) = h_2(h_1(x)), each layer a `neural` representation of the one below  (chen2020, Section 7).

    Both layers are whitened on the same unlabelled points. With quadratic features h_1 spans the polynomials of degree
    2 and h_2 those of degree 4, so that a quadratic model on top of them reaches degree 8. h_1 has E|h_1|^2 = 1, as
    points on the sphere have, so that weights and biases of both layers are of one size.
    """

    features: Annotated[
        Literal["step", "relu", "relu2", "quadratic"], "Activation phi of the random features of both layers."
    ] = "quadratic"
    inner_count: Annotated[Count, "Number of random features of the first layer."] = 16
    inner_directions: Annotated[Index, "Leading directions that the first layer keeps; 0 keeps all."] = 0
    count: Annotated[Count, "Number of random features of the second layer."] = 32
    directions: Annotated[Index, "Leading directions that the second layer keeps; 0 keeps all."] = 0
    unlabelled: Annotated[int, Ge(2), "Number n0 of unlabelled points that whiten both layers."] = 256
    stream_key: ClassVar[str] = "two_layer"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.raise_for()

    def validate(self, inputs: Input | None) -> Iterator[Objection]:
        """Object to more directions than features."""
        if self.inner_directions > self.inner_count:
            yield "inner_directions", f"{self.inner_directions}", f"at most inner_count = {self.inner_count}"
        if self.directions > self.count:
            yield "directions", f"{self.directions}", f"at most count = {self.count}"

    def needs(self, sizes: Sizes) -> Needs:
        """Count for each layer second moment, eigenvectors and whitening; the points as the first shows them."""
        shown, counts = sizes.unlabelled, (self.inner_count, self.count)
        between = shown * (self.inner_directions or self.inner_count)
        return Needs(
            memory={"fit": max((6 * count + 2 * shown) * count for count in counts) + between},
            work={"fit": sum((20 * count + 4 * shown) * count**2 for count in counts)},
        )

    def fit(self, unlabelled: np.ndarray, streams: Streams) -> State:
        """Return both layers' states: inner_V, inner_whitening, ... , outer_V, ...; spectrum (S, D) of the second."""
        state: State = {}
        for name, layer in self._layers().items():
            fitted = layer.fit(unlabelled, streams.at(name))
            unlabelled = layer.apply(fitted, unlabelled)
            state |= {f"{name}_{key}": values for key, values in fitted.items()}
        return state | {"spectrum": state.pop("outer_spectrum")}

    def apply(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return features: (S, n, *shape) -> (S, n, D') float32."""
        for name, layer in self._layers().items():
            x = layer.apply({key: state[f"{name}_{key}"] for key in ("V", "b", "whitening")}, x)
        return x

    def _layers(self) -> dict[str, Layer]:
        sizes = {"inner": (self.inner_count, self.inner_directions), "outer": (self.count, self.directions)}
        return {
            name: Layer(features=self.features, count=count, whiten="truncated", directions=directions)
            for name, (count, directions) in sizes.items()
        }
