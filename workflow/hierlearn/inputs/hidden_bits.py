"""Two pairs of symbols, each of which hides two bits: a hierarchy with a gap of information between its levels."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge

from hierlearn.core.parameters import Count
from hierlearn.core.protocols import Input, Objection
from hierlearn.core.streams import Streams
from hierlearn.inputs._strings import Strings
from hierlearn.theory import hierarchies

# Hidden symbols, two bits each: the first is worth 2.
HIDDEN = 4


@dataclass(frozen=True, kw_only=True)
class HiddenBits(Strings):
    """a and b, uniform on pairs of bits (c, f) and independent, each as one of m pairs of v symbols.

    One level of the Random Hierarchy Model at two places; the rules are redrawn per seed, and are those that the
    teacher reads. Leaves are one-hot, see theory.hierarchies: d = 4 v.
    """

    symbols: Annotated[int, Ge(2), "Number v of symbols of the leaves."] = 8
    synonyms: Annotated[Count, "Number m of pairs that stand for one pair of bits, at most v^2 / 4."] = 16
    law = stream_key = "hidden_bits"
    places, branching, leaves = 2, 2, 4

    def validate(self, inputs: Input) -> Iterator[Objection]:
        """Object to more synonyms than pairs, another dimension than that of the strings."""
        if HIDDEN * self.synonyms > self.symbols**2:
            yield "synonyms", f"{self.synonyms} for each of {HIDDEN}", f"at most the {self.symbols**2} pairs in all"
        if inputs.dimension != 4 * self.symbols:
            yield "dimension", f"{inputs.dimension}", f"4 v = {4 * self.symbols}"

    def rules(self, streams: Streams) -> list[np.ndarray]:
        """Draw, as in Strings, the rules of one level: (S, 4, m) codes."""
        sizes = HIDDEN, self.symbols, self.synonyms, self.branching
        return [streams.shared("rules").stack(lambda generator: hierarchies.draw_rules(generator, *sizes))]
