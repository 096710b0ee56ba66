"""What components of every kind may say: their limits, what they object to, and what they ask for."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from hierlearn.core.limits import outside
from hierlearn.core.needs import Needs, Sizes

if TYPE_CHECKING:
    from hierlearn.core.protocols import Input

Objection = tuple[str, str, str]  # (parameter, what was found, what is allowed)
# What methods of components were called once. One of such a name would never be asked.
FORMER_METHODS = {
    "objections": "validate",
    "objections_to": "validate_data",
    "absences": "missing_inputs",
    "refuse": "raise_for",
    "refuse_first": "raise_first",
    "refuse_sample": "raise_for_data",
}


def name_of(cls: str) -> str:
    """Return the name of a component, such as kernel_ridge, from that of its class, KernelRidge."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", cls).lower()


class Component(Protocol):
    """What components of every kind may say.

    stream_key: the word that stands for the component in the keys of random streams, "" for its name; stream_words: the
    same for parameters whose names have changed. A component that keeps them may be renamed, and no number changes.
    """

    stream_key: ClassVar[str] = ""
    stream_words: ClassVar[Mapping[str, str]] = {}
    # What it measures, what it records while it trains, and which of its parameters are coordinates of the result: name
    # -> one line on each (COORDINATES: the parameter); LAWS: the inputs that it is defined for, none where for all.
    MEASURES: ClassVar[Mapping[str, str]] = {}
    TRACES: ClassVar[Mapping[str, str]] = {}
    COORDINATES: ClassVar[Mapping[str, str]] = {}
    LAWS: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        """Raise ValueError for the first parameter outside the limits that its class declares."""
        self.raise_first(outside(self))

    class Choices:
        """What is selected on validation points or swept, annotated as parameters are."""

    def validate(self, inputs: Any) -> Iterator[Objection]:
        """Yield (parameter, what was found, what is allowed) where parameters, or they and the law of x, do not fit.

        Asked before it is built, of parameters alone, `dimension` being that of x.
        """
        return iter(())

    def raise_for(self, inputs: "Input | None" = None) -> None:
        """Raise ValueError for the first of its objections, or for a law of x that is none of its LAWS."""
        found: Iterable[Objection] = self.validate(inputs)
        if inputs is not None and self.LAWS and inputs.law not in self.LAWS:
            found = [("input law", repr(inputs.law), f"one of {', '.join(self.LAWS)}")]
        self.raise_first(found)

    def raise_first(self, found: Iterable[Objection]) -> None:
        """Raise ValueError for the first of some objections, one line with the name of the component."""
        for parameter, value, allowed in found:
            raise ValueError(f"{name_of(type(self).__name__)}: {parameter} {value}; expected {allowed}")

    def completed(self, inputs: Any = None) -> Mapping[str, Any]:
        """Return parameters that a description leaves to a file outside the project, as far as that can be read.

        Asked of parameters alone; of a teacher with the law of x.
        """
        return {}

    def missing_inputs(self) -> Iterator[Objection]:
        """Yield what it would read outside the project and cannot; asked at the preset that runs, of parameters."""
        return iter(())

    def warnings(self, inputs: Any) -> Iterator[Objection]:
        """Yield (parameter, what is so, why it may not be meant) of what is possible; asked as `validate` are.

        A study that lists the parameter in `intended` means it.
        """
        return iter(())

    def needs(self, sizes: Sizes) -> Needs:
        """Return the memory, work and devices that it asks for; asked as `validate` are."""
        return Needs()
