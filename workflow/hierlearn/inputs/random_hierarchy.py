"""Strings of a random grammar: data on which depth can be counted."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge

from hierlearn.core.parameters import Count
from hierlearn.core.protocols import Input, Objection
from hierlearn.inputs._strings import TABLE, Hierarchy


@dataclass(frozen=True, kw_only=True)
class RandomHierarchy(Hierarchy):
    """The Random Hierarchy Model  (Cagnetta et al., 2024): the root is a class, the leaves are s^L of v symbols.

    A symbol becomes one of its m synonyms, each s symbols of the level below, at each of L levels. The rules are
    redrawn per seed, and are those that the teacher reads. Leaves are one-hot, see theory.hierarchies: d = v s^L.
    """

    symbols: Annotated[int, Ge(2), "Number v of symbols of every level below the classes."] = 4
    synonyms: Annotated[Count, "Number m of strings that a symbol stands for, at most v^(s-1)."] = 4
    branching: Annotated[int, Ge(2), "Length s of these strings."] = 2
    classes: Annotated[int | None, Ge(2), "Number n_c of classes; null: v."] = None
    law = stream_key = "random_hierarchy"

    def validate(self, inputs: Input) -> Iterator[Objection]:
        """Object to more synonyms than strings, tables beyond memory, another dimension than that of the strings."""
        strings, most = self.symbols**self.branching, max(self.symbols, self.classes or 0)
        if strings > TABLE:
            yield "symbols", f"{self.symbols}^{self.branching} strings of a level", f"at most {TABLE:,}"
        elif most * self.synonyms > strings:
            found = f"{self.synonyms} for each of {most} symbols or classes"
            yield "synonyms", found, f"at most the {strings} strings of {self.branching} symbols in all"
        if _depth(inputs.dimension, self.symbols, self.branching) is None:
            yield "dimension", f"{inputs.dimension}", f"v s^L = {self.symbols} x {self.branching}^L, L at least 1"

    @property
    def depth(self) -> int:
        """L, which the dimension states."""
        return _depth(self.dimension, self.symbols, self.branching) or 0


def _depth(dimension: int, symbols: int, branching: int) -> int | None:
    """L with d = v s^L; None where there is none."""
    depth, reached = 1, symbols * branching
    while reached < dimension:
        depth, reached = depth + 1, reached * branching
    return depth if reached == dimension else None
