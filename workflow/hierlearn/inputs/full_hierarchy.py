"""Strings of a random grammar in which every string of a level below the classes stands for a symbol."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Interval

from hierlearn.core.protocols import Input, Objection
from hierlearn.inputs._strings import TABLE, Hierarchy


@dataclass(frozen=True, kw_only=True)
class FullHierarchy(Hierarchy):
    """The Random Hierarchy Model with as many synonyms as there can be, m = v^(s-1)  (Cagnetta et al., 2024).

    The dimension d = v s^L states the number v of symbols, so that v grows along it. Rules, strings and leaves are
    those of random_hierarchy.
    """

    levels: Annotated[int, Interval(ge=1, le=20), "Number L of levels."] = 2
    branching: Annotated[int, Ge(2), "Length s of the strings that a symbol stands for."] = 2
    classes: Annotated[int | None, Ge(2), "Number n_c of classes, at most v; null: v."] = None
    law = stream_key = "full_hierarchy"

    def validate(self, inputs: Input) -> Iterator[Objection]:
        """Object to another dimension than that of the strings, tables beyond memory, more classes than symbols."""
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
        return self.dimension // self.leaves

    @property
    def synonyms(self) -> int:
        """m, all strings of a level."""
        return self.symbols ** (self.branching - 1)

    @property
    def depth(self) -> int:
        """L."""
        return self.levels

    @property
    def leaves(self) -> int:
        """s^L, also where the dimension is too small for a symbol."""
        return self.branching**self.levels
