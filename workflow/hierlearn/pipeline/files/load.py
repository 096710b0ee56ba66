"""Reads YAML files safely: what JSON has too, no duplicate keys, no text without end.

A number is what a reader takes it for: what YAML alone reads otherwise, such as 010 as eight, is refused.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.resolver import Resolver

from hierlearn.core import folders
from hierlearn.core.words import reason, show, unshowable
from hierlearn.pipeline.files.errors import Fault

# What no file that a person writes comes near.
BYTES, VALUES, LEVELS = 1_000_000, 100_000, 50
# Products of a few numbers that are no larger can still be computed, and whole ones fit into a file.
WHOLE, REAL = 10**18, 1e100
MERGE, UNDEFINED = "tag:yaml.org,2002:merge", "!undefined alias"
INTEGER, FLOAT, DATE = (f"tag:yaml.org,2002:{name}" for name in ("int", "float", "timestamp"))
# Tags of what JSON does not have; without one = is a text.
OTHERS = [f"tag:yaml.org,2002:{name}" for name in ("binary", "omap", "pairs", "set", "value")]
# YAML 1.1 has eight as 010 and ninety as 1:30.
OTHER_BASE = re.compile(r"[+-]?(0[0-7_]+|[0-9_]+(:[0-9_]+)+(\.[0-9_]*)?)")


@dataclass(frozen=True)
class Unreadable:
    """What stands where YAML says nothing that can be used, so that the rest of a file is checked beside it."""

    found: str
    allowed: str

    def __repr__(self) -> str:
        return self.found


class CheckedLoader(Composer, yaml.cyaml.CParser, SafeConstructor, Resolver):
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

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent) and self.peek_event().anchor not in self.anchors:
            event = self.get_event()
            return yaml.ScalarNode(UNDEFINED, event.anchor, event.start_mark, event.end_mark)
        return super().compose_node(parent, index)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            problem = f"{show(node.value)}, which is no {node.tag.rpartition(':')[2]}"
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


def _unmergeable(node: yaml.Node) -> yaml.Node | None:
    """What a mapping takes over by <<, or what that takes over, if it is neither a mapping nor a list of mappings."""
    if not isinstance(node, yaml.MappingNode):
        return node
    for key, value in node.value:
        if key.tag == MERGE:
            for part in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                if (wrong := _unmergeable(part)) is not None:
                    return wrong
    return None


def _mapping(loader: CheckedLoader, node: yaml.Node) -> dict | Unreadable:
    seen: set = set()
    if not isinstance(node, yaml.MappingNode):
        raise yaml.constructor.ConstructorError(None, None, f"{show(node.value)}, which is no map", node.start_mark)
    if (wrong := _unmergeable(node)) is not None:
        value = loader.construct_object(wrong, deep=True)
        return value if isinstance(value, Unreadable) else Unreadable(f"<<: {value!r}", "a mapping behind <<")
    for key_node, _ in node.value:
        key = "<<" if key_node.tag == MERGE else loader.construct_object(key_node, deep=True)
        if not isinstance(key, str):
            problem, allowed = f"key {show(key)} is not a word", "words as keys, in quotes if need be"
            raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark, allowed)
        if key in seen:
            raise yaml.constructor.ConstructorError(None, None, f"duplicate key {key!r}", key_node.start_mark)
        seen.add(key)
    return SafeConstructor.construct_mapping(loader, node, deep=True)


def _undefined(loader: CheckedLoader, node: yaml.ScalarNode) -> Unreadable:
    return Unreadable(f"undefined alias {node.value!r}", f"an anchor &{node.value} above it")


def _number(loader: CheckedLoader, node: yaml.Node) -> Any:
    read = SafeConstructor.construct_yaml_int if node.tag == INTEGER else SafeConstructor.construct_yaml_float
    number = read(loader, node)
    if OTHER_BASE.fullmatch(node.value):
        return Unreadable(f"{node.value}, which YAML reads as {number}", "a number to base ten, or a text in quotes")
    return number


def _date(loader: CheckedLoader, node: yaml.Node) -> Unreadable:
    return Unreadable(f"{node.value}, which YAML reads as a date", "quotes around a text")


def _refused_tag(loader: CheckedLoader, node: yaml.Node) -> Unreadable:
    return Unreadable(f"the tag {node.tag.replace('tag:yaml.org,2002:', '!!')}", "values without a tag")


# Resolvers by the first letter of what they read.
CheckedLoader.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in resolvers if tag not in OTHERS]
    for first, resolvers in CheckedLoader.yaml_implicit_resolvers.items()
}
for tag in (INTEGER, FLOAT):
    CheckedLoader.add_constructor(tag, _number)
CheckedLoader.add_constructor(DATE, _date)
for tag in (*OTHERS, None):
    CheckedLoader.add_constructor(tag, _refused_tag)
# Where no mapping is, << is a text.
CheckedLoader.add_constructor(MERGE, SafeConstructor.construct_yaml_str)
CheckedLoader.add_constructor(UNDEFINED, _undefined)
CheckedLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def content(file: Path) -> Any:
    """The content of a YAML file of the package."""
    return yaml.load(file.read_text(encoding="utf-8-sig"), CheckedLoader)


def value(text: str) -> Any:
    """Return the value that a word of a command line says. Raises ValueError where it is none that can be used."""
    try:
        content = yaml.load(text, CheckedLoader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ValueError("expected a value as YAML has it, such as 2 or [1, 2]") from error
    for _, found, allowed in unusable(content):
        raise ValueError(f"it has {show(found)}; expected {allowed}")
    return content


def repeated_key(text: str) -> str:
    """Return a key that a mapping in a word of a command line has twice, "" for none."""
    try:
        yaml.load(text, CheckedLoader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        found = re.fullmatch("duplicate key (.*)", getattr(error, "problem", None) or "")
        return found[1].strip("'") if found else ""
    return ""


def load(file: Path, name: str) -> tuple[Any, list[Fault]]:
    """The content of a YAML file and its faults. name: how the file is called in messages."""
    try:
        # Opening a pipe would wait for someone who writes into it.
        with folders.ending(file).open("rb") as stream:
            content = stream.read(BYTES + 1)
        if len(content) > BYTES:
            return None, [Fault(name, (), f"a file of more than {BYTES:,} bytes", "a YAML file that a person wrote")]
        text = content.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        return None, [Fault(name, (), f"a file that cannot be read ({reason(error)})", "a readable YAML file")]
    try:
        content = yaml.load(text, CheckedLoader)
    except RecursionError:
        return None, [Fault(name, (), "more levels than can be read", f"at most {LEVELS}")]
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        return None, [Fault(name, (f"line {mark.line + 1}",) if mark else (), *_in_words(error))]
    if not isinstance(content, dict):
        return None, [Fault(name, (), "nothing" if content is None else show(content), "a mapping of keys to values")]
    return content, [Fault(name, at, show(value), allowed) for at, value, allowed in unusable(content)]


def _in_words(error: yaml.YAMLError | ValueError) -> tuple[str, str]:
    """What was found where a text is no YAML, and what is allowed, from the messages of PyYAML and libyaml."""
    problem = getattr(error, "problem", None) or str(error).splitlines()[0] or type(error).__name__
    context = getattr(error, "context", None) or ""
    if problem == "second occurrence":
        problem = context.partition(";")[0]
    if wanted := re.fullmatch(r"did not find (?:the )?expected (.+)", problem):
        return "something else", f"valid YAML, here {wanted[1]}"
    if wanted := re.fullmatch(r"expected (.+), but found (.+)", problem):
        return wanted[2], wanted[1]
    allowed = context.removeprefix("expected ") if problem.startswith("but found ") else "valid YAML"
    return problem.removeprefix("but ").removeprefix("found "), getattr(error, "note", None) or allowed


def unusable(content: Any, at: tuple = ()) -> Iterator[tuple[tuple, Any, str]]:
    """Numbers that YAML can write and JSON cannot, .inf and .nan, those too large to compute with, texts with what
    nobody sees, and what is unreadable."""
    if isinstance(content, str):
        if letter := unshowable(content):
            yield at, content, f"a text without U+{ord(letter):04X}"
    elif isinstance(content, Unreadable):
        yield at, content, content.allowed
    elif isinstance(content, float) and not math.isfinite(content):
        yield at, content, "a finite number"
    elif isinstance(content, int | float) and abs(content) > (most := WHOLE if isinstance(content, int) else REAL):
        yield at, content, f"a number between {-most:.0e} and {most:.0e}"
    parts = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in parts:
        if isinstance(key, str) and (letter := unshowable(key)):
            allowed = f"a key without U+{ord(letter):04X}"
            yield (*at, key), Unreadable("this key", allowed), allowed
        elif not isinstance(value, str) or not value.isprintable():
            yield from unusable(value, (*at, key))


def written(content: Any) -> str:
    """Plain values as the text of a YAML file, which `load` reads as they were."""
    return yaml.safe_dump(content, sort_keys=False)


class _Whole(yaml.SafeDumper):
    """Writes out what stands twice, without an anchor."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def drafted(content: Any) -> str:
    """Plain values as the text of a YAML file for a person to change: what holds only words and numbers in one line."""
    how = {"sort_keys": False, "default_flow_style": None, "width": 118, "allow_unicode": True}
    return yaml.dump(content, Dumper=_Whole, **how)
