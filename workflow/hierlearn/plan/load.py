"""Reads YAML safely and lists faults, one line each, with the place, what was found and what is allowed."""

import functools
import math
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.resolver import Resolver

SCHEMAS = Path(__file__).parents[1] / "schemas"
# The patterns of texts that go into one cell of a table.
LINES = {r"^.*\S.*$": "one line that is not empty", "^.*$": "one line"}
PRESETS = ("quick", "full", "smoke")
# What no file that a person writes comes near.
BYTES, VALUES, LEVELS = 1_000_000, 100_000, 50
# Products of a few numbers that are no larger can still be computed, and whole ones fit into a file.
WHOLE, REAL = 10**18, 1e100


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
    if wanted and isinstance(values, list) and len({_hashed(value) for value in values}) < len(values):
        yield ValidationError(f"{values!r} has an entry twice")


def _hashed(value: Any) -> Any:
    """What is equal for equal values alone; Python counts True as 1."""
    if isinstance(value, dict):
        return frozenset((key, _hashed(part)) for key, part in value.items())
    if isinstance(value, list):
        return tuple(_hashed(part) for part in value)
    return repr(value) if isinstance(value, set) else (bool, value) if isinstance(value, bool) else value


# JSON counts 6.0 as an integer; Python's ranges and shapes do not.
Validator = validators.extend(
    Draft202012Validator,
    {"pattern": _pattern, "atMost": _at_most, "uniqueItems": _unique},
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
        line = f"{where}: found {self.found}; expected {self.allowed}"
        return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in line)


class _Loader(Composer, yaml.cyaml.CParser, SafeConstructor, Resolver):
    """Safe YAML that refuses duplicate keys, which YAML readers otherwise drop silently, and texts without end.

    libyaml splits the text, many times faster than Python; Python composes, as libyaml's own recursion has no end: text
    that nests too deeply is an error here and would be the end of the process there.
    """

    def __init__(self, stream: str):
        yaml.cyaml.CParser.__init__(self, stream)
        for part in (Composer, SafeConstructor, Resolver):
            part.__init__(self)

    def get_single_node(self) -> yaml.Node | None:
        node = super().get_single_node()
        if node is not None:
            _extent(node, {})
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            problem = f"{shown(node.value)}, which is no {node.tag.rpartition(':')[2]}"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from error


def _extent(node: yaml.Node, known: dict[int, tuple[int, int]], depth: int = 0) -> tuple[int, int]:
    """Number of values and of levels once every alias is written out; an alias inside its own anchor has no end."""
    values, levels = known.get(id(node), (1, 1))
    if id(node) not in known and depth <= LEVELS and isinstance(node, yaml.CollectionNode):
        parts = [part for entry in node.value for part in (entry if isinstance(entry, tuple) else (entry,))]
        below = [_extent(part, known, depth + 1) for part in parts]
        values += sum(count for count, _ in below)
        levels += max((height for _, height in below), default=0)
        known[id(node)] = values, levels
    for what, found, most in (("levels", depth + levels, LEVELS), ("values", values, VALUES)):
        if found > most:
            problem, allowed = f"more than {most:,} {what}, aliases written out", f"at most {most:,}"
            raise yaml.composer.ComposerError(None, None, problem, node.start_mark, allowed)
    return values, levels


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict:
    seen: set = set()
    for key_node, _ in node.value:
        if key_node.tag == "tag:yaml.org,2002:merge":
            continue
        key = loader.construct_object(key_node, deep=True)
        if not isinstance(key, str):
            problem, allowed = f"key {shown(key)} is not a word", "words as keys, in quotes if need be"
            raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark, allowed)
        if key in seen:
            raise yaml.constructor.ConstructorError(None, None, f"duplicate key {key!r}", key_node.start_mark)
        seen.add(key)
    return SafeConstructor.construct_mapping(loader, node, deep=True)


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def load(file: Path, name: str) -> tuple[Any, list[Fault]]:
    """The content of a YAML file and its faults. name: how the file is called in messages."""
    try:
        # Opening a pipe would wait for someone who writes into it.
        if not stat.S_ISREG(file.stat().st_mode):
            return None, [Fault(name, "", "a file that cannot be read (no regular file)", "a readable YAML file")]
        with file.open("rb") as stream:
            content = stream.read(BYTES + 1)
        text = content[:BYTES].decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return None, [Fault(name, "", f"a file that cannot be read ({type(error).__name__})", "a readable YAML file")]
    if len(content) > BYTES:
        return None, [Fault(name, "", f"a file of more than {BYTES:,} bytes", "a YAML file that a person wrote")]
    try:
        content = yaml.load(text, _Loader)
    except RecursionError:
        return None, [Fault(name, "", "more levels than can be read", f"at most {LEVELS}")]
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f"line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0] or type(error).__name__
        allowed = getattr(error, "note", None) or "valid YAML"
        return None, [Fault(name, line, problem.removeprefix("found "), allowed)]
    if not isinstance(content, dict):
        return None, [Fault(name, "", shown(content), "a mapping of keys to values")]
    return content, [Fault(name, dotted(at), shown(value), allowed) for at, value, allowed in _unusable(content)]


def _unusable(content: Any, at: tuple = ()) -> Iterator[tuple[tuple, float, str]]:
    """Numbers that YAML can write and JSON cannot, .inf and .nan, and those too large to compute with."""
    if isinstance(content, float) and not math.isfinite(content):
        yield at, content, "a finite number"
    elif isinstance(content, int | float) and abs(content) > (most := WHOLE if isinstance(content, int) else REAL):
        yield at, content, f"a number between {-most:.0e} and {most:.0e}"
    parts = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in parts:
        yield from _unusable(value, (*at, key))


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


def listed(value: Any, known: Iterable[Any]) -> bool:
    """Whether a value is one of some others; Python counts True as 1."""
    return any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in known)


def similar(word: str, known: Iterable[str]) -> list[str]:
    """The most similar one of some words, none if none is; two letters exchanged are similar."""
    return get_close_matches(word, known, n=1, cutoff=0.5)


def nearest(word: Any, known: Iterable[str]) -> str:
    """The allowed names, the most similar one first."""
    known = sorted(str(name) for name in known)
    if not known:
        return "nothing here"
    close = similar(str(word), known)
    listed = f"one of {', '.join(known)}"
    return f"{listed} (nearest: {close[0]})" if close else listed


@functools.cache
def schema(name: str) -> dict:
    """A JSON Schema of the folder schemas."""
    return yaml.load((SCHEMAS / f"{name}.schema.yaml").read_text(encoding="utf-8"), _Loader)


def schema_faults(file: str, content: Any, against: dict, at: tuple = ()) -> Iterator[Fault]:
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
            close = similar(key, found)
            missing = f"nothing, but {close[0]!r}" if close else "nothing"
            yield Fault(file, dotted((*path, key)), missing, f"this required key: {described}")
    elif meant := _meant(file, at, error):
        yield from meant
    elif "propertyNames" in error.absolute_schema_path:
        allowed = f"a name of the form {wanted}" if rule == "pattern" else expected(error)
        yield Fault(file, dotted(path), f"the name {shown(found)}", allowed)
    else:
        yield Fault(file, dotted(path), shown(found), expected(error))


def _meant(file: str, at: tuple, error: ValidationError) -> list[Fault]:
    """The faults of a mapping in that one of several forms of mappings that it is nearest to."""
    forms: dict[int, list[Fault]] = {}
    for inside in error.context if isinstance(error.instance, dict) else ():
        if error.validator_value[inside.schema_path[0]].get("type") == "object":
            forms.setdefault(inside.schema_path[0], []).extend(_faults(file, at, inside))
    return min(forms.values(), key=len, default=[])


def expected(error: ValidationError) -> str:
    """What a schema allows in the place of what was found."""
    rule, wanted, against, found = error.validator, error.validator_value, error.schema, error.instance
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
        "multipleOf": lambda: f"a multiple of {wanted}",
        "enum": lambda: nearest(found, wanted),
        "minItems": lambda: f"at least {wanted} entries",
        "maxItems": lambda: f"at most {wanted} entries",
        "minProperties": lambda: f"at least {wanted} entries",
        "uniqueItems": lambda: "no entry twice",
        "pattern": lambda: LINES.get(wanted, f"text of the form {wanted}"),
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
