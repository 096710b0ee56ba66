"""Points of the unit sphere that prefer some directions."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from hierlearn.core.parameters import Count, NotNegative, Share
from hierlearn.core.protocols import Input, Objection
from hierlearn.inputs._rows import Rows
from hierlearn.theory.spectra import eigenvalues, stretch


@dataclass(frozen=True)
class AnisotropicSphere(Rows):
    """x = Sigma^{1/2} u / |Sigma^{1/2} u|, u ~ N(0, I_d), |x| = 1: what bai2020, Theorem 6 leaves out.

    Sigma is diagonal, the largest eigenvalue first. With spikes M_{x,op} stays of one order while d grows; `isotropic`
    is Unif(S^{d-1}).
    """

    spectrum: Annotated[
        Literal["isotropic", "power", "spiked"],
        "Eigenvalues of Sigma: all equal, a power of their rank, or a few with a share of the trace.",
    ] = "spiked"
    exponent: Annotated[NotNegative, "power: eigenvalue j is proportional to j^-exponent."] = 1.0
    spikes: Annotated[Count, "spiked: number of leading directions."] = 2
    spike_share: Annotated[Share, "spiked: part of the trace in the leading directions."] = 0.5
    law = stream_key = "anisotropic_sphere"
    norm = "unit"

    def validate(self, inputs: Input) -> Iterator[Objection]:
        """Object to more spikes than directions."""
        if self.spectrum == "spiked" and self.spikes > inputs.dimension:
            yield "spikes", f"{self.spikes}", f"at most the dimension {inputs.dimension}"

    def draw(self, generator: np.random.Generator, rows: int) -> np.ndarray:
        values = eigenvalues(self.spectrum, self.dimension, self.exponent, self.spikes, self.spike_share)
        return stretch(generator.standard_normal((rows, self.dimension)), values)
