"""Checks against JSON Schemas, in words, and the defaults that a schema has."""

import functools
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError

from hierlearn.core.words import meaning, nearest, show, similar
from hierlearn.pipeline.files import errors
from hierlearn.pipeline.files.errors import Fault
from hierlearn.pipeline.files.load import content

SCHEMAS = Path(__file__).parents[1] / "schemas"
# What texts of a pattern are, where the description of a key says what they mean: of those that go into one cell of a
# table, of the folder of the results and of the link to a paper.
TEXTS = {
    r"^.*\S.*$": "one line that is not empty",
    "^.*$": "one line",
    "^[A-Za-z0-9_][A-Za-z0-9_./-]*$": "a path below this folder, of letters, digits and . _ - /, none of . - / first",
    r"^https?://\S+$": "an address that begins with https:// or http://",
}


def _pattern(validator, pattern: str, value: Any, against: dict) -> Iterator[ValidationError]:
    """A pattern's $ is the end of the text; for Python it may also stand before a last line break."""
    if isinstance(value, str) and (value.endswith("\n") or not re.search(pattern, value)):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _at_most(validator, pairs: dict[str, str], value: Any, against: dict) -> Iterator[ValidationError]:
    """{"order": "dimension"}: the number under one key of a mapping is at most the number under another."""
    for low, high in pairs.items() if isinstance(value, dict) else ():
        numbers = value.get(low), value.get(high)
        if all(validator.is_type(number, "number") for number in numbers) and numbers[0] > numbers[1]:
            given = {"validator": "maximum", "validator_value": numbers[1], "instance": numbers[0], "schema": against}
            yield ValidationError(f"{numbers[0]} is above {high} = {numbers[1]}", path=[low], **given)


def _unique(validator, wanted: bool, values: Any, against: dict) -> Iterator[ValidationError]:
    """No entry twice, by hashes: to compare each with all others would take minutes for a long list."""
    if wanted and isinstance(values, list) and len({_hashable(value) for value in values}) < len(values):
        yield ValidationError(f"{values!r} has an entry twice")


def _hashable(value: Any) -> Any:
    """What is equal for equal values alone; Python counts True as 1."""
    if isinstance(value, dict):
        return frozenset((key, _hashable(part)) for key, part in value.items())
    if isinstance(value, list):
        return tuple(_hashable(part) for part in value)
    return repr(value) if isinstance(value, set) else (bool, value) if isinstance(value, bool) else value


# JSON counts 6.0 as an integer; Python's ranges and shapes do not.
Validator = validators.extend(
    Draft202012Validator,
    {"pattern": _pattern, "atMost": _at_most, "uniqueItems": _unique},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda checker, value: isinstance(value, int) and not isinstance(value, bool)
    ),
)


@functools.cache
def schema(name: str) -> dict:
    """A JSON Schema of the folder schemas."""
    return content(SCHEMAS / f"{name}.schema.yaml")


def schema_faults(file: str, content: Any, against: dict, at: errors.Path = ()) -> Iterator[Fault]:
    """Every violation of a schema. at: path of `content` inside its file."""
    for error in violations(content, against):
        yield from _faults(file, at, error)


# Values and places of schemas that were found to agree; a schema that is kept here leaves its place to no other one.
_AGREEING: dict[tuple[str, int], dict] = {}


def violations(content: Any, against: dict) -> list[ValidationError]:
    """Every violation of a schema, as jsonschema says it.

    The presets and the points of a grid ask the same many times: what agrees with its schema is not checked again.
    """
    asked = repr(content), id(against)
    found = [] if asked in _AGREEING else list(Validator(against).iter_errors(content))
    if not found:
        _AGREEING[asked] = against
    return found


def _faults(file: str, at: errors.Path, error: ValidationError) -> Iterator[Fault]:
    path = (*at, *error.absolute_path)
    rule, wanted, found = error.validator, error.validator_value, error.instance
    unknown = unknown_keys(error)
    if rule == "additionalProperties":
        known = error.schema.get("properties", {})
        for key in unknown:
            yield Fault(file, (*path, key), "an unknown key", nearest(key, known))
    elif rule == "required":
        for key in [key for key in wanted if key not in found]:
            if any(similar(other, error.schema["properties"]) == [key] for other in unknown):
                # It is there, misspelt, which has a line of its own.
                continue
            described = _meaning(error.schema.get("properties", {}).get(key, {}))
            # Where any key is allowed, only a slip of the hand is taken for one.
            others = [other for other in found if other not in error.schema.get("properties", {})]
            close = similar(key, unknown) or similar(key, others, cutoff=0.7)
            missing = f"nothing, but {close[0]!r}" if close else "nothing"
            yield Fault(file, (*path, key), missing, f"this required key: {described}")
    elif meant := _meant(file, at, error):
        yield from meant
    elif rule == "oneOf" and unknown and any("required" in form for form in wanted):
        # What the form lacks may be the misspelt key.
        return
    elif "propertyNames" in error.absolute_schema_path:
        yield Fault(file, path, f"the name {show(found)}", f"a name, {allowed_by(error)}")
    else:
        yield Fault(file, path, show(found), allowed_by(error))


def _meaning(against: dict) -> str:
    """What a key means, and its values where they are few words."""
    text = against.get("description", "a value")
    return f"{text.rstrip('.')}; one of {', '.join(map(str, against['enum']))}" if "enum" in against else text


def unknown_keys(error: ValidationError) -> list[str]:
    """The keys of a mapping that its schema does not have."""
    if not isinstance(error.instance, dict) or error.schema.get("additionalProperties") is not False:
        return []
    return [key for key in error.instance if key not in error.schema.get("properties", {})]


def _meant(file: str, at: errors.Path, error: ValidationError) -> list[Fault]:
    """The faults of a mapping in that one of several forms of mappings that it is nearest to."""
    forms: dict[int, list[Fault]] = {}
    for inside in error.context if isinstance(error.instance, dict) else ():
        if error.validator_value[inside.schema_path[0]].get("type") == "object":
            forms.setdefault(inside.schema_path[0], []).extend(_faults(file, at, inside))
    return min(forms.values(), key=len, default=[])


def allowed_by(error: ValidationError) -> str:
    """What a schema allows in the place of what was found."""
    rule, wanted, against, found = error.validator, error.validator_value, error.schema, error.instance
    hint = ""
    if isinstance(found, str):
        try:
            is_number = found.isascii() and math.isfinite(float(found))
        except ValueError:
            is_number = False
        hint = " (YAML reads this as text: write 1.0e-3 for 1e-3, and no quotes)" * is_number
    words = {
        "type": lambda: _type(wanted, against),
        "minimum": lambda: f"at least {wanted}",
        "maximum": lambda: f"at most {wanted}",
        "exclusiveMinimum": lambda: f"more than {wanted}",
        "exclusiveMaximum": lambda: f"less than {wanted}",
        "multipleOf": lambda: f"a multiple of {wanted}",
        "enum": lambda: nearest(found, wanted),
        "minItems": lambda: f"at least {_entries(wanted)}",
        "maxItems": lambda: f"at most {_entries(wanted)}",
        "minProperties": lambda: f"at least {_entries(wanted)}",
        "uniqueItems": lambda: "no entry twice",
        "pattern": lambda: TEXTS.get(wanted) or against.get("description", f"text of the form {wanted}"),
        "maxProperties": lambda: f"at most {_entries(wanted)}",
        "minLength": lambda: f"at least {wanted} character{'s' * (wanted != 1)}",
        "maxLength": lambda: f"at most {wanted} characters",
        "const": lambda: f"{wanted}",
        "not": lambda: f"anything but {meaning(wanted)}",
        "contains": lambda: f"an entry that is {meaning(wanted)}",
        "oneOf": lambda: against.get("description", "one of the allowed forms"),
        "anyOf": lambda: against.get("description", "one of the allowed forms"),
    }
    return words.get(rule, lambda: meaning(against))() + hint


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count} entries"


def _type(wanted: Any, against: dict) -> str:
    if wanted == "object":
        component = "name" in against.get("required", ())
        return against["description"] if component else "object: a mapping of keys to values"
    if wanted == "array":
        return "a list"
    return " or ".join(wanted) if isinstance(wanted, list) else str(wanted)


def fill_defaults(content: Any, against: dict, root: dict | None = None) -> Any:
    """The content with the schema's defaults where keys are missing; the content must be valid."""
    root = against if root is None else root
    if "$ref" in against:
        against = root["$defs"][against["$ref"].rsplit("/", 1)[1]] | {k: v for k, v in against.items() if k != "$ref"}
    if isinstance(content, dict):
        known = against.get("properties", {})
        filled = {key: part["default"] for key, part in known.items() if "default" in part} | content
        rest = against.get("additionalProperties")
        return {
            key: fill_defaults(value, known.get(key) or (rest if isinstance(rest, dict) else {}), root)
            for key, value in filled.items()
        }
    return content
