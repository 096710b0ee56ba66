"""How much faster the sample complexity of a learner grows at one value of an axis than at another."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from hierlearn.core.parameters import Reference
from hierlearn.core.protocols import Input, Objection
from hierlearn.quantities._bases import FittedDimensions, OfLearner, OfSampleComplexities
from hierlearn.statistics import estimates


@dataclass(frozen=True, kw_only=True)
class SlopeChange(OfLearner, OfSampleComplexities):
    """Slope of log(n* at `other` / n* at `where`) of one learner in log d, paired by seed: the change of its exponent.

    Both lines have the same sizes: one at which n* is not known at either place is left out of both.
    """

    UNIT: ClassVar[str] = "difference of slopes"
    other: Annotated[dict[str, Any], Reference("coordinates"), "Values of the other axes, of the n* above."]
    sizes: FittedDimensions = None

    def objections(self, inputs: Input | None) -> Iterator[Objection]:
        """A change from a place to itself, which is none."""
        if self.other == self.where:
            yield "other", f"{self.other}, the values in where", "others"

    @property
    def readings(self) -> list[tuple[str, dict[str, Any]]]:
        return [(self.learner, self.other), (self.learner, self.where)]

    def _estimate(self, tables, probes) -> estimates.Measurement:
        return estimates.exponent_difference(*tables, fitted=self.sizes)
