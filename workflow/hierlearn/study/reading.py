"""Reads YAML safely and lists faults, one line each, with the place, what was found and what is allowed."""

import functools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError

SCHEMAS = Path(__file__).parents[2] / "schemas"
# JSON counts 6.0 as an integer; Python's ranges and shapes do not.
Validator = validators.extend(
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda checker, value: isinstance(value, int) and not isinstance(value, bool)
    ),
)


@dataclass(frozen=True, order=True)
class Fault:
    """One thing wrong with a configuration."""

    file: str
    field: str
    found: str
    allowed: str

    def __str__(self) -> str:
        where = f"{self.file}: {self.field}" if self.field else self.file
        return f"{where}: found {self.found}; expected {self.allowed}"


class _Loader(yaml.SafeLoader):
    """Safe YAML that refuses duplicate keys, which YAML readers otherwise drop silently."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict:
    seen: set = set()
    for key_node, _ in node.value:
        if key_node.tag == "tag:yaml.org,2002:merge":
            continue
        key = loader.construct_object(key_node, deep=True)
        if not isinstance(key, str | int | float | bool):
            raise yaml.constructor.ConstructorError(None, None, f"key {key!r} is not a word", key_node.start_mark)
        if key in seen:
            raise yaml.constructor.ConstructorError(None, None, f"duplicate key {key!r}", key_node.start_mark)
        seen.add(key)
    return yaml.SafeLoader.construct_mapping(loader, node, deep=True)


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def load(file: Path, name: str) -> tuple[Any, list[Fault]]:
    """The content of a YAML file and its faults. name: how the file is called in messages."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return None, [Fault(name, "", f"a file that cannot be read ({type(error).__name__})", "a readable YAML file")]
    try:
        content = yaml.load(text, _Loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f"line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0] or type(error).__name__
        return None, [Fault(name, line, problem.removeprefix("found "), "valid YAML")]
    if not isinstance(content, dict):
        return None, [Fault(name, "", shown(content), "a mapping of keys to values")]
    return content, [Fault(name, dotted(at), shown(value), "a finite number") for at, value in _infinite(content)]


def _infinite(content: Any, at: tuple = ()) -> Iterator[tuple[tuple, float]]:
    """Numbers that YAML can write and JSON cannot: .inf and .nan."""
    if isinstance(content, float) and not math.isfinite(content):
        yield at, content
    parts = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in parts:
        yield from _infinite(value, (*at, key))


def shown(value: Any) -> str:
    """A value as a message shows it, cut to a readable length."""
    text = repr(value).replace("\n", " ")
    return text if len(text) <= 80 else text[:77] + "..."


def dotted(path: Iterable[Any]) -> str:
    """a.b[2].c"""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else (f".{part}" if text else str(part))
    return text


def nearest(word: Any, known: Iterable[str]) -> str:
    """The allowed names, the most similar one first."""
    known = sorted(str(name) for name in known)
    if not known:
        return "nothing here"
    close = get_close_matches(str(word), known, n=1)
    listed = f"one of {', '.join(known)}"
    return f"{listed} (nearest: {close[0]})" if close else listed


@functools.cache
def schema(name: str) -> dict:
    """A JSON Schema of workflow/schemas."""
    return yaml.safe_load((SCHEMAS / f"{name}.schema.yaml").read_text(encoding="utf-8"))


def schema_faults(file: str, content: Any, against: dict, at: tuple = ()) -> Iterator[Fault]:
    """Every violation of a schema. at: path of `content` inside its file."""
    for error in Validator(against).iter_errors(content):
        yield from _faults(file, at, error)


def _faults(file: str, at: tuple, error: ValidationError) -> Iterator[Fault]:
    path = (*at, *error.absolute_path)
    rule, wanted, found = error.validator, error.validator_value, error.instance
    if rule == "additionalProperties":
        known = error.schema.get("properties", {})
        for key in [key for key in found if key not in known]:
            yield Fault(file, dotted((*path, key)), "an unknown key", nearest(key, known))
    elif rule == "required":
        for key in [key for key in wanted if key not in found]:
            described = error.schema.get("properties", {}).get(key, {}).get("description", "a value")
            yield Fault(file, dotted((*path, key)), "nothing", f"this required key: {described}")
    elif rule == "enum":
        yield Fault(file, dotted(path), shown(found), nearest(found, wanted))
    elif "propertyNames" in error.absolute_schema_path:
        allowed = (
            f"a name of the form {wanted}" if rule == "pattern" else _expectation(rule, wanted, error.schema, found)
        )
        yield Fault(file, dotted(path), f"the name {shown(found)}", allowed)
    else:
        yield Fault(file, dotted(path), shown(found), _expectation(rule, wanted, error.schema, found))


def _expectation(rule: str, wanted: Any, against: dict, found: Any) -> str:
    hint = ""
    if isinstance(found, str):
        try:
            float(found)
            hint = " (YAML reads this as text: write 1.0e-3 for 1e-3, and no quotes)"
        except ValueError:
            pass
    words = {
        "type": lambda: " or ".join(wanted) if isinstance(wanted, list) else str(wanted),
        "minimum": lambda: f"at least {wanted}",
        "maximum": lambda: f"at most {wanted}",
        "exclusiveMinimum": lambda: f"more than {wanted}",
        "exclusiveMaximum": lambda: f"less than {wanted}",
        "minItems": lambda: f"at least {wanted} entries",
        "maxItems": lambda: f"at most {wanted} entries",
        "minProperties": lambda: f"at least {wanted} entries",
        "uniqueItems": lambda: "no entry twice",
        "pattern": lambda: f"text of the form {wanted}",
        "maxLength": lambda: f"at most {wanted} characters",
        "oneOf": lambda: against.get("description", "one of the allowed forms"),
        "anyOf": lambda: against.get("description", "one of the allowed forms"),
    }
    return words.get(rule, lambda: f"{rule} {wanted}")() + hint


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


def merge(body: dict, overlay: dict) -> dict:
    """The body with an overlay: mappings are merged key by key, everything else is replaced."""
    merged = dict(body)
    for key, value in overlay.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        # A component of another name starts from its own defaults, not from the replaced one's parameters.
        renamed = both and "name" in value and value["name"] != merged[key].get("name")
        merged[key] = merge(merged[key], value) if both and not renamed else value
    return merged
