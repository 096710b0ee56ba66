"""Strings of a random grammar in which every string of a level below the classes stands for a symbol."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Interval

from hierlearn.core.protocols import Input, Objection
from hierlearn.core.streams import Streams
from hierlearn.inputs._strings import TABLE, draw_grammar, draw_strings
from hierlearn.theory import hierarchies


@dataclass(frozen=True)
class FullHierarchy(Input):
    """The Random Hierarchy Model with as many synonyms as there can be, m = v^(s-1)  (Cagnetta et al., 2024).

    The dimension d = v s^L states the number v of symbols, so that v grows along it. Rules, strings and leaves are
    those of random_hierarchy.
    """

    dimension: int
    _: KW_ONLY
    levels: Annotated[int, Interval(ge=1, le=20), "Number L of levels."] = 2
    branching: Annotated[int, Ge(2), "Length s of the strings that a symbol stands for."] = 2
    classes: Annotated[int | None, Ge(2), "Number n_c of classes, at most v; null: v."] = None
    law: ClassVar[str] = "full_hierarchy"
    stream_key: ClassVar[str] = "full_hierarchy"

    def objections(self, inputs: Input) -> Iterator[Objection]:
        """Another dimension than that of the strings, tables beyond memory, more classes than symbols."""
        leaves = self.branching**self.levels
        symbols, rest = divmod(inputs.dimension, leaves)
        if rest or symbols < 2:
            found = f"v s^L = v x {self.branching}^{self.levels}, v at least 2"
            yield "dimension", f"{inputs.dimension}", found
        elif symbols**self.branching > TABLE:
            yield "dimension", f"{symbols}^{self.branching} strings of a level", f"at most {TABLE:,}"
        elif (self.classes or 2) > symbols:
            yield "classes", f"{self.classes}", f"at most the {symbols} symbols"

    @property
    def symbols(self) -> int:
        """v."""
        return self.dimension // self.branching**self.levels

    @property
    def shape(self) -> tuple[int, int, int]:
        """A channel for each symbol, a row of leaves."""
        return self.symbols, 1, self.branching**self.levels

    @property
    def roots(self) -> int:
        """n_c."""
        return self.classes or self.symbols

    def rules(self, streams: Streams) -> list[np.ndarray]:
        """Rules from the bottom: (S, symbols of the level, v^(s-1)) codes each."""
        self.refuse(self)
        v, s = self.symbols, self.branching
        return draw_grammar(streams, hierarchies.levels(v, self.roots, self.levels), v, v ** (s - 1), s)

    def sample(self, streams: Streams, role: str, start: int, count: int) -> np.ndarray:
        """(S, count, v s^L) float32 rows start .. start+count; prefix-stable."""
        return draw_strings(streams, start, count, self.rules(streams), 1, self.symbols, self.branching)
