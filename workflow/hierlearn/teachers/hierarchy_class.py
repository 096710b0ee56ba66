"""The class of a string of a random grammar."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge

from hierlearn.core.protocols import Input, Objection, State, Teacher
from hierlearn.core.streams import Streams
from hierlearn.theory import hierarchies


@dataclass(frozen=True, kw_only=True)
class HierarchyClass(Teacher):
    """The root of a string of the Random Hierarchy Model, read from the leaves up by the rules that made it.

    An output for each class, 1 for the own and -1 for the others.
    """

    classes: Annotated[int, Ge(2), "Number of classes, that of the input."] = 4
    kind = "classes"
    stream_key: ClassVar[str] = "hierarchy_class"
    LAWS = ("random_hierarchy", "full_hierarchy")

    def validate(self, inputs: Any) -> Iterator[Objection]:
        """Object to another number of classes than the input has."""
        if inputs.law in HierarchyClass.LAWS and self.classes != inputs.roots:
            yield "classes", f"{self.classes}", f"the input's {inputs.roots}"

    @property
    def outputs(self) -> int:
        """One for each class."""
        return self.classes

    def draw(self, streams: Streams, inputs: Any) -> State:
        """Draw rules_1 .. rules_L from the bottom, (S, symbols, m) codes each, and symbols and branching, (S,)."""
        self.raise_for(inputs)
        seeds = np.ones(len(streams.seeds), np.int64)
        rules = {f"rules_{level + 1}": values for level, values in enumerate(inputs.rules(streams))}
        return rules | {"symbols": inputs.symbols * seeds, "branching": inputs.branching * seeds}

    def target(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return targets: (S, n, v s^L) -> (S, n, n_c) float64; all -1 for a string that the rules do not make."""
        *_, roots = self.hidden(state, x).values()
        return np.where(roots == np.arange(self.classes), 1.0, -1.0)

    def norm(self, state: State, inputs: Input) -> np.ndarray:
        """Return the root of the number of classes, (S,)."""
        return np.full(len(state["symbols"]), np.sqrt(self.classes))

    def degrees(self) -> tuple[int, ...]:
        """Return none: a class is a sum of products of as many leaves as rules and synonyms ask for."""
        return ()

    def bases(self, state: State, x: np.ndarray) -> np.ndarray:
        """Return the classes, (S, n, n_c)."""
        return self.target(state, x)

    def hidden(self, state: State, x: np.ndarray) -> dict[str, np.ndarray]:
        """Return the symbols of each level above the leaves, level_1 .. level_L: (S, n, s^(L-l)) float64 each."""
        depth = sum(name.startswith("rules_") for name in state)
        found = []
        for seed, points in enumerate(x):
            symbols, branching = int(state["symbols"][seed]), int(state["branching"][seed])
            rules = [state[f"rules_{level}"][seed] for level in range(1, depth + 1)]
            found.append(hierarchies.parse(rules, hierarchies.strings_of(points, symbols), symbols, branching))
        levels = enumerate(zip(*found, strict=True), start=1)
        return {f"level_{level}": np.stack(of_seeds).astype(np.float64) for level, of_seeds in levels}
