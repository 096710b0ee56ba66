"""Normal points of two scales, the larger one being rare."""

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Interval

from hierlearn.core.protocols import Input
from hierlearn.core.streams import Streams


@dataclass(frozen=True)
class GaussianScales(Input):
    """x ~ N(0, s^2 I) with probability `share`, else N(0, t^2 I), s = ratio t and E x_j^2 = 1.

    Its polynomials have fourth moments far above those of a normal law: the law that breaks hypercontractivity
    (allenzhu2020, eq. 5.4) while it is isotropic and preserves degrees.
    """

    dimension: int
    _: KW_ONLY
    share: Annotated[float, Interval(gt=0, lt=1), "Probability of the larger scale."] = 0.01
    ratio: Annotated[float, Ge(1), "The larger over the smaller standard deviation."] = 20.0
    law: ClassVar[str] = "gaussian_scales"
    stream_key: ClassVar[str] = "gaussian_scales"

    def sample(self, streams: Streams, role: str, start: int, count: int) -> np.ndarray:
        """(S, count, d) float32 rows start .. start+count; prefix-stable."""
        small = (self.share * self.ratio**2 + 1 - self.share) ** -0.5

        def draw(generator, rows):
            scales = np.where(generator.random((rows, 1)) < self.share, self.ratio * small, small)
            return (scales * generator.standard_normal((rows, self.dimension))).astype(np.float32)

        return streams.rows(start, count, draw)
