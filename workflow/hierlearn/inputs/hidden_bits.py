"""Two pairs of symbols, each of which hides two bits: a hierarchy with a gap of information between its levels."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge

from hierlearn.core.parameters import Count
from hierlearn.core.protocols import Input, Objection
from hierlearn.core.streams import Streams
from hierlearn.inputs._strings import draw_strings
from hierlearn.theory import hierarchies

# Hidden symbols, two bits each: the first is worth 2.
HIDDEN = 4


@dataclass(frozen=True)
class HiddenBits(Input):
    """a and b, uniform on pairs of bits (c, f) and independent, each as one of m pairs of v symbols.

    One level of the Random Hierarchy Model at two places; the rules are redrawn per seed, and are those that the
    teacher reads. Leaves are one-hot, see theory.hierarchies: d = 4 v.
    """

    dimension: int
    _: KW_ONLY
    symbols: Annotated[int, Ge(2), "Number v of symbols of the leaves."] = 8
    synonyms: Annotated[Count, "Number m of pairs that stand for one pair of bits, at most v^2 / 4."] = 16
    law: ClassVar[str] = "hidden_bits"
    stream_key: ClassVar[str] = "hidden_bits"

    def objections(self, inputs: Input) -> Iterator[Objection]:
        """More synonyms than pairs, another dimension than that of the strings."""
        if HIDDEN * self.synonyms > self.symbols**2:
            yield "synonyms", f"{self.synonyms} for each of {HIDDEN}", f"at most the {self.symbols**2} pairs in all"
        if inputs.dimension != 4 * self.symbols:
            yield "dimension", f"{inputs.dimension}", f"4 v = {4 * self.symbols}"

    @property
    def shape(self) -> tuple[int, int, int]:
        """A channel for each symbol, a row of leaves."""
        return self.symbols, 1, 4

    def rules(self, streams: Streams) -> np.ndarray:
        """(S, 4, m) codes, the same from any streams of a problem."""
        return streams.shared("rules").stack(
            lambda generator: hierarchies.draw_rules(generator, HIDDEN, self.symbols, self.synonyms, 2)
        )

    def sample(self, streams: Streams, role: str, start: int, count: int) -> np.ndarray:
        """(S, count, 4 v) float32 rows start .. start+count; prefix-stable."""
        return draw_strings(streams, start, count, [self.rules(streams)], 2, self.symbols, 2)
