"""Points of the unit sphere that prefer some directions."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hierlearn.core.protocols import Input
from hierlearn.core.streams import Streams
from hierlearn.theory.spectra import eigenvalues, stretch

BOUNDS = (("spikes", "dimension", {"spectrum": "spiked"}),)
PARAMETERS = {
    "spectrum": {
        "description": "Eigenvalues of Sigma: all equal, a power of their rank, or a few with a share of the trace.",
        "enum": ["isotropic", "power", "spiked"],
        "default": "spiked",
    },
    "exponent": {
        "description": "power: eigenvalue j is proportional to j^-exponent.",
        "type": "number",
        "minimum": 0,
        "default": 1.0,
    },
    "spikes": {"description": "spiked: number of leading directions.", "type": "integer", "minimum": 1, "default": 2},
    "spike_share": {
        "description": "spiked: part of the trace in the leading directions.",
        "type": "number",
        "exclusiveMinimum": 0,
        "exclusiveMaximum": 1,
        "default": 0.5,
    },
}


@dataclass(frozen=True)
class AnisotropicSphere(Input):
    """x = Sigma^{1/2} u / |Sigma^{1/2} u|, u ~ N(0, I_d), |x| = 1: what bai2020, Theorem 6 leaves out.

    Sigma is diagonal, the largest eigenvalue first. With spikes M_{x,op} stays of one order while d grows; `isotropic`
    is Unif(S^{d-1}).
    """

    dimension: int
    spectrum: str = "spiked"
    exponent: float = 1.0
    spikes: int = 2
    spike_share: float = 0.5
    law: ClassVar[str] = "anisotropic_sphere"
    norm: ClassVar[str] = "unit"
    stream_key: ClassVar[str] = "anisotropic_sphere"

    def sample(self, streams: Streams, role: str, start: int, count: int) -> np.ndarray:
        """(S, count, d) float32 rows start .. start+count; prefix-stable."""
        values = eigenvalues(self.spectrum, self.dimension, self.exponent, self.spikes, self.spike_share)

        def draw(generator, rows):
            return stretch(generator.standard_normal((rows, self.dimension)), values).astype(np.float32)

        return streams.rows(start, count, draw)
