"""What components say of themselves before they are built. One that raises an error, or answers with what is no answer,
ends the plan with the one line of its place."""

import functools
import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from hierlearn.core import folders, registry
from hierlearn.core.needs import Needs, Sizes
from hierlearn.core.protocols import Input, Objection, Representation, Teacher
from hierlearn.core.provenance import BrokenSource, location

# The stages whose memory and work are asked for, by the kind of the component.
STAGES = {"learners": ("fit", "model", "predict"), "representations": ("fit",), "probes": ("measure",)}
# What a learner may count beside them.
KEPT = {"learners": ("kept",)}
TARGETS = ("regression", "classes")


def in_one_line(function: Callable) -> Callable:
    """A function that raises BrokenSource where a component's own lines raise an error or end the program."""

    @functools.wraps(function)
    def guarded(*given, **named):
        try:
            return function(*given, **named)
        except (BrokenSource, KeyboardInterrupt):
            raise
        except BaseException as error:
            # Where the plan itself ends the program no line is a component's.
            if line := registry.failure(error):
                raise BrokenSource(line) from error
            raise

    return guarded


def needs(kind: str, description: Mapping[str, Any], sizes: Sizes) -> Needs:
    """What a component that is not built yet asks for. Raises BrokenSource for an answer that is none."""
    found, name = registry.needs(kind, description, sizes), description["name"]
    if _own(kind, name) and (wrong := _wrong_needs(kind, found)):
        raise BrokenSource(f"{_line_of(kind, name, 'needs')}: needs: {wrong}")
    return found


def validate(kind: str, description: Mapping[str, Any], inputs: Input | None) -> list[Objection]:
    """The objections of a component that is not built yet; description: with all its parameters. Raises BrokenSource
    for an answer that is none."""
    return _said(kind, description["name"], "validate", lambda: registry.validate(kind, description, inputs))


def validate_data(description: Mapping[str, Any], teacher: Teacher, representation: Representation) -> list[Objection]:
    """What a learner that is not built yet cannot learn, as `validate`."""
    asked = functools.partial(registry.validate_data, description, teacher, representation)
    return _said("learners", description["name"], "validate_data", asked)


def missing_inputs(kind: str, description: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """What a component and its parts would read outside the project and cannot, each with its place, as `validate`;
    before they are built."""
    for at, below, part in registry.parts(kind, description):
        asked = functools.partial(registry.missing_inputs, below, part)
        for key, found, allowed in _said(below, part["name"], "missing_inputs", asked):
            yield (*at, key), found, allowed


def warnings(kind: str, description: Mapping[str, Any], inputs: Input | None) -> list[Objection]:
    """The warnings of a component that is not built yet, as `validate`."""
    return _said(kind, description["name"], "warnings", lambda: registry.warnings(kind, description, inputs))


def _said(kind: str, name: str, method: str, ask: Callable[[], list[Objection]]) -> list[Objection]:
    """The answer of a component's method. Raises BrokenSource for one that is no list of objections."""
    allowed = "(parameter, what was found, what is allowed) each time"
    try:
        found = ask()
    except TypeError as error:
        if registry.failure(error):
            raise
        raise BrokenSource(f"{_line_of(kind, name, method)}: {method}: {error}; expected {allowed}") from error
    for one in found:
        if not (isinstance(one, tuple) and len(one) == 3 and all(isinstance(part, str) for part in one)):
            raise BrokenSource(f"{_line_of(kind, name, method)}: {method}: found {one!r}; expected {allowed}")
    return found


def check_class(kind: str, name: str) -> None:
    """What the class of a user's own component says of the law of x and of its target. Raises BrokenSource."""
    if not _own(kind, name):
        return
    said, known = registry.implementation(kind, name), registry.available("inputs")
    wrong = ""
    if not isinstance(said.LAWS, tuple) or not all(isinstance(law, str) and law in known for law in said.LAWS):
        wrong = f"LAWS: found {said.LAWS!r}; expected a tuple of {', '.join(known)}"
    # What depends on parameters is not known yet.
    elif kind == "teachers" and isinstance(said.kind, str) and said.kind not in TARGETS:
        wrong = f"kind: found {said.kind!r}; expected one of {', '.join(TARGETS)}"
    if wrong:
        raise BrokenSource(f"{_line_of(kind, name)}: {wrong}")


def outputs(teacher: Mapping[str, Any]) -> int:
    """The number of outputs of a teacher. Raises BrokenSource for an answer that is none."""
    found = registry.built_once("teachers", teacher).outputs
    if not isinstance(found, Integral) or found < 1:
        wrong = f"outputs: found {found!r}; expected a number of outputs, at least 1"
        raise BrokenSource(f"{_line_of('teachers', teacher['name'])}: {wrong}")
    return int(found)


def _own(kind: str, name: str) -> bool:
    return name in _names(kind, folders.own())


@functools.cache
def _names(kind: str, own: tuple[Path, ...]) -> frozenset[str]:
    """The components of a kind in folders of a user's own."""
    return frozenset(
        file.stem for root in own for room in registry.rooms(kind) for file in folders.files(root / room, "*.py")
    )


def _line_of(kind: str, name: str, method: str = "") -> str:
    """file:line of a component's class or of a method of it, which may be inherited."""
    said = registry.implementation(kind, name)
    found = next((vars(one)[method] for one in said.mro() if method in vars(one)), said)
    found = inspect.unwrap(found)
    return location(inspect.getsourcefile(found), inspect.getsourcelines(found)[1])


def _wrong_needs(kind: str, found: Any) -> str:
    """What is wrong with an answer, "" if nothing is."""
    if not isinstance(found, Needs):
        return f"found {found!r}; expected Needs(...)"
    stages = (*STAGES.get(kind, ()), *KEPT.get(kind, ()))
    for part, counted in (("memory", found.memory), ("work", found.work)):
        if not isinstance(counted, Mapping):
            return f"found {part} {counted!r}; expected a mapping of stages to numbers"
        for stage, number in counted.items():
            if stages and stage not in stages:
                return f"found {part} of {stage!r}; expected one of {', '.join(stages)}"
            if not _between(number, math.inf):
                return f"found {number!r} for {part} of {stage!r}; expected a number that is finite and not negative"
    if not _between(found.parallel, 1):
        return f"found parallel {found.parallel!r}; expected a share from 0 to 1"
    return "" if _between(found.gpus, math.inf) else f"found gpus {found.gpus!r}; expected their number"


def _between(number: Any, most: float) -> bool:
    """Whether it is a number, numpy's too, from 0 to the largest, and not infinite."""
    return isinstance(number, Real) and math.isfinite(number) and 0 <= number <= most
