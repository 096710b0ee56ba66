"""Whether a value is within the limits that a parameter declares, without the library that checks whole files.

Every job builds components, and that library takes longer to import than most components take to build.
"""

import functools
from collections.abc import Iterator, Mapping, Set, ValuesView
from numbers import Integral, Real
from typing import Any

import numpy as np

from hierlearn.core.parameters import properties
from hierlearn.core.words import meaning, show

# JSON Schema of a class's parameters, read from its annotations once.
_declared = functools.cache(properties)
BOUNDS = {
    "minimum": (lambda value, limit: value >= limit, "at least"),
    "exclusiveMinimum": (lambda value, limit: value > limit, "more than"),
    "maximum": (lambda value, limit: value <= limit, "at most"),
    "exclusiveMaximum": (lambda value, limit: value < limit, "less than"),
    "multipleOf": (lambda value, limit: value % limit == 0, "a multiple of"),
}
LENGTHS = {
    "minItems": (lambda value, limit: len(value) >= limit, "at least"),
    "maxItems": (lambda value, limit: len(value) <= limit, "at most"),
    "minProperties": (lambda value, limit: len(value) >= limit, "at least"),
}
TYPES = {
    "integer": lambda value: isinstance(value, Integral) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, Real) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, Mapping),
    "null": lambda value: value is None,
}


def plain(value: Any) -> Any:
    """Return a value in the types that files have: numbers of numpy, arrays, tuples, ranges and sets as such."""
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        keys = (key.item() if isinstance(key, np.generic) else key for key in value)
        return dict(zip(keys, map(plain, value.values()), strict=True))
    if isinstance(value, list | tuple | range | Set | ValuesView | Iterator):
        return [plain(part) for part in value]
    # Integers and numbers of other libraries; a truth value is one of Python's integers.
    if isinstance(value, Integral) and not isinstance(value, int):
        return int(value)
    return float(value) if isinstance(value, Real) and not isinstance(value, int | float) else value


def outside(component: Any) -> Iterator[tuple[str, str, str]]:
    """Yield (parameter, what was found, what is allowed) of a component's parameters outside their limits."""
    implementation: type = type(component)
    for name, against in _declared(implementation).items():
        # A component that is a parameter has checked itself.
        if not {"component", "components"} & set(against):
            for at, found, allowed in misfits(plain(vars(component)[name]), against):
                yield f"{name}{at}", show(found), allowed


def misfits(value: Any, against: Mapping[str, Any], at: str = "") -> Iterator[tuple[str, Any, str]]:
    """Yield (place inside the value, what was found there, what is allowed) where a JSON Schema refuses it.

    value: in the types that files have. Of the keywords that this package's parameters use, `allOf` and `atMost`, which
    relate keys of mappings to each other, are left to the plan.
    """
    # A job is given a published table in the place of its name.
    if against.get("reference") == "published":
        return
    kinds = against.get("type", ())
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(TYPES[kind](value) for kind in kinds):
        yield at, value, " or ".join("a list" if kind == "array" else kind for kind in kinds)
    elif "enum" in against and not _among(value, against["enum"]):
        yield at, value, f"one of {', '.join(map(str, against['enum']))}"
    elif "const" in against and not _among(value, [against["const"]]):
        yield at, value, str(against["const"])
    elif "not" in against and not any(misfits(value, against["not"])):
        yield at, value, f"anything but {meaning(against['not'])}"
    elif "oneOf" in against and all(any(misfits(value, form)) for form in against["oneOf"]):
        yield at, value, against.get("description", "one of the allowed forms")
    elif TYPES["number"](value):
        yield from ((at, value, words) for words in _outside(value, against, BOUNDS))
    elif isinstance(value, list):
        yield from ((at, value, f"{words} entries") for words in _outside(value, against, LENGTHS))
        yield from _of_list(value, against, at)
    elif isinstance(value, Mapping):
        yield from ((at, value, f"{words} entries") for words in _outside(value, against, LENGTHS))
        yield from _of_mapping(value, against, at)


def _outside(value: Any, against: Mapping[str, Any], limits: Mapping[str, Any]) -> Iterator[str]:
    for key, (within, words) in limits.items():
        if key in against and not within(value, against[key]):
            yield f"{words} {against[key]}"


def _among(value: Any, values: list[Any]) -> bool:
    """Python counts True as 1, files do not."""
    return any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in values)


def _of_list(value: list[Any], against: Mapping[str, Any], at: str) -> Iterator[tuple[str, Any, str]]:
    if against.get("uniqueItems") and len({repr(one) for one in value}) < len(value):
        yield at, value, "no entry twice"
    if "contains" in against and all(any(misfits(one, against["contains"])) for one in value):
        yield at, value, f"an entry that is {meaning(against['contains'])}"
    for i, one in enumerate(value):
        yield from misfits(one, against.get("items", {}), f"{at}[{i}]")


def _of_mapping(value: Mapping[str, Any], against: Mapping[str, Any], at: str) -> Iterator[tuple[str, Any, str]]:
    known, others = against.get("properties", {}), against.get("additionalProperties", {})
    for key in against.get("required", ()):
        if key not in value:
            yield f"{at}.{key}", None, known.get(key, {}).get("description", "a value")
    for key, one in value.items():
        yield from misfits(key, against.get("propertyNames", {}), at)
        if key in known:
            yield from misfits(one, known[key], f"{at}.{key}")
        elif others is False:
            yield at, key, f"one of {', '.join(known)}"
        else:
            yield from misfits(one, others, f"{at}.{key}")
