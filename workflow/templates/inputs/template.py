"""Points of independent coordinates, uniform on an interval."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hierlearn.core.parameters import Positive
from hierlearn.inputs._rows import Rows


# Rows asks only how one independent point is drawn; a law whose points hang on each other inherits from Input instead.
@dataclass(frozen=True)
class Template(Rows):
    """x ~ Unif([-a, a]^d)."""

    # A parameter is a field: its type and limits, one sentence, its default.
    half_width: Annotated[Positive, "Half the length of the interval; at 3^{1/2} the variance is 1."] = 3**0.5
    # What teachers and other components call the law.
    law: ClassVar[str] = "template"

    def draw(self, generator: np.random.Generator, rows: int) -> np.ndarray:
        """Draw (rows, d) independent points."""
        return generator.uniform(-self.half_width, self.half_width, (rows, self.dimension))
