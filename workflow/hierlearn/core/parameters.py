"""Parameters of components: annotated fields of their dataclasses, and what JSON Schema says of them.

A field declares a parameter once, by its type, limits of annotated-types, marks of this module and one description:

    width: Annotated[int, Ge(2), MultipleOf(2), "Number m of neurons, even."] = 8
    kernel: Annotated[Kernel, Nested("kernels", {"name": "ntk"}), "The kernel and its parameters."]

A field without such an annotation is no parameter. What is selected or swept stands alike in a nested class `Choices`.
"""

import inspect
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin, is_typeddict

from annotated_types import Ge, GroupedMetadata, Gt, Interval, Le, Lt, MaxLen, MinLen, MultipleOf


@dataclass(frozen=True, eq=False)
class Nested:
    """A parameter that is itself a component of a kind. default: its description, or None where it must be given."""

    kind: str
    default: Mapping[str, Any] | None = None


@dataclass(frozen=True, eq=False)
class NestedByName(Nested):
    """A parameter that is a mapping of names to components of a kind, as its default is."""


@dataclass(frozen=True)
class Reference:
    """A parameter that names something of the study: a learner, a probe, coordinates, see plan/references.py."""

    to: str


@dataclass(frozen=True, eq=False)
class Schema:
    """Other keywords of JSON Schema."""

    keywords: Mapping[str, Any]


# A parameter that says how a result is computed, not what it is, such as the device.
EXECUTION = Schema({"execution": True})
UNIQUE = Schema({"uniqueItems": True})
# Numbers that many parameters are.
Count = Annotated[int, Ge(1)]
Index = Annotated[int, Ge(0)]
Positive = Annotated[float, Gt(0)]
Even = Annotated[int, Ge(2), MultipleOf(2)]
NotNegative = Annotated[float, Ge(0)]
Share = Annotated[float, Interval(gt=0, lt=1)]

TYPES = {int: "integer", float: "number", bool: "boolean", str: "string", list: "array", dict: "object"}
LIMITS = {Ge: "minimum", Gt: "exclusiveMinimum", Le: "maximum", Lt: "exclusiveMaximum", MultipleOf: "multipleOf"}
LENGTHS = {
    MinLen: {"array": "minItems", "object": "minProperties"},
    MaxLen: {"array": "maxItems", "string": "maxLength"},
}


def properties(implementation: type) -> dict[str, dict[str, Any]]:
    """Return the JSON Schema of a class's parameters, by name, with the defaults that there are."""
    found = {}
    for field in fields(implementation):
        if get_origin(field.type) is Annotated:
            default = field.default if field.default_factory is MISSING else field.default_factory()
            found[field.name] = schema(field.type) | ({} if default is MISSING else {"default": default})
    return found


def choices(implementation: type[Any]) -> dict[str, dict[str, Any]]:
    """Return the JSON Schema of what may be selected or swept: the nested class `Choices` and its bases."""
    found = {}
    for part in reversed(implementation.Choices.__mro__):
        for name, annotation in inspect.get_annotations(part).items():
            found[name] = schema(annotation) | ({"default": vars(part)[name]} if name in vars(part) else {})
    return found


def schema(annotation: Any) -> dict[str, Any]:
    """Return the JSON Schema of what an annotation allows. Raises TypeError for one that means nothing here."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        found = {} if any(isinstance(mark, Nested) for mark in parts[1:]) else schema(parts[0])
        for mark in parts[1:]:
            # One mark may stand for several, such as Interval.
            for one in mark if isinstance(mark, GroupedMetadata) else (mark,):
                found |= _keywords(one, found)
        return found
    if origin is Literal:
        return {"enum": list(parts)}
    if origin in (Union, UnionType):
        return _union([schema(part) for part in parts if part is not NoneType], NoneType in parts)
    if is_typeddict(annotation):
        return _mapping(annotation)
    if (origin or annotation) not in TYPES:
        raise TypeError(f"{annotation}: found as the type of a parameter; expected one of {', '.join(map(str, TYPES))}")
    found = {"type": TYPES[origin or annotation]}
    if origin is dict:
        names, values = ({} if part in (Any, str) else schema(part) for part in parts)
        names.pop("type", None)
        found |= {"propertyNames": names} if names else {}
        found |= {"additionalProperties": values} if values else {}
    elif origin is list and parts != (Any,):
        found["items"] = schema(parts[0])
    return found


def _keywords(mark: Any, known: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a mark of an annotation adds to the schema of its type."""
    match mark:
        case str():
            return {"description": mark}
        case Nested(kind, default):
            key = "components" if isinstance(mark, NestedByName) else "component"
            return {key: kind} | ({} if default is None else {"default": default})
        case Reference(to):
            return {"reference": to}
        case Schema(keywords):
            return dict(keywords)
        case MinLen() | MaxLen():
            kind = known["type"] if isinstance(known["type"], str) else known["type"][0]
            return {LENGTHS[type(mark)][kind]: mark.min_length if isinstance(mark, MinLen) else mark.max_length}
    return {LIMITS[type(mark)]: next(iter(asdict(mark).values()))}


def _union(forms: list[dict[str, Any]], null: bool) -> dict[str, Any]:
    if null and len(forms) == 1 and "type" in forms[0]:
        return forms[0] | {"type": [forms[0]["type"], "null"]}
    single = [{"const": form["enum"][0]} if len(form.get("enum", ())) == 1 else form for form in forms]
    return {"oneOf": [*single, *([{"type": "null"}] if null else [])]}


def _mapping(annotation: Any) -> dict[str, Any]:
    """Return a mapping of known keys, declared as a TypedDict."""
    known = inspect.get_annotations(annotation)
    required = [key for key in known if key in annotation.__required_keys__]
    found = {"type": "object", "additionalProperties": False}
    # Required[...] and NotRequired[...] around an annotation say nothing of its values.
    around: tuple[Any, ...] = (Required, NotRequired)
    parts = {key: get_args(part)[0] if get_origin(part) in around else part for key, part in known.items()}
    found |= {"required": required} if required else {}
    return found | {"properties": {key: schema(part) for key, part in parts.items()}}
