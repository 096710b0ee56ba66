"""Normal points of two scales, the larger one being rare."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Interval

from hierlearn.inputs._rows import Rows


@dataclass(frozen=True)
class GaussianScales(Rows):
    """x ~ N(0, s^2 I) with probability `share`, else N(0, t^2 I), s = ratio t and E x_j^2 = 1.

    Its polynomials have fourth moments far above those of a normal law: the law that breaks hypercontractivity
    (allenzhu2020, eq. 5.4) while it is isotropic and preserves degrees.
    """

    share: Annotated[float, Interval(gt=0, lt=1), "Probability of the larger scale."] = 0.01
    ratio: Annotated[float, Ge(1), "The larger over the smaller standard deviation."] = 20.0
    law = stream_key = "gaussian_scales"

    def draw(self, generator: np.random.Generator, rows: int) -> np.ndarray:
        small = (self.share * self.ratio**2 + 1 - self.share) ** -0.5
        scales = np.where(generator.random((rows, 1)) < self.share, self.ratio * small, small)
        return scales * generator.standard_normal((rows, self.dimension))
