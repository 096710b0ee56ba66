"""Finds components by their name and builds them.

A component is one file in a room of its kind: the file's name is the component's name, its class is that name in
CamelCase with one field per parameter, and its literal PARAMETERS is a JSON Schema of `properties`, read without
importing the file. A parameter whose schema says {"component": kind} is itself a component, one that says
{"components": kind} a mapping of names to components.
"""

import ast
import functools
import importlib
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hierlearn.core.provenance import BrokenSource, location, parsed

KINDS = ("inputs", "teachers", "representations", "learners", "kernels", "probes", "quantities", "figures")
# Where the components of a kind lie, if not in the room of its name: the section `probes` of a study names both what
# measures a problem as it is and what trains for that.
ROOMS = {"probes": ("probes", "experiments")}
PACKAGE = Path(__file__).parents[1]
# What a nested component is given until its owner replaces it: a law of x has no dimension before there is a problem.
UNSET = {"inputs": {"dimension": 0}}


class UnknownComponent(ValueError):
    """A name that no file of the room has."""


def available(kind: str) -> list[str]:
    """The names of all components of a kind."""
    return list(_names(kind))


@functools.cache
def _names(kind: str) -> tuple[str, ...]:
    return tuple(sorted(file.stem for file in _files(kind)))


def rooms(kind: str) -> tuple[str, ...]:
    """The folders of the package that the components of a kind lie in."""
    return ROOMS.get(kind, (kind,))


def _files(kind: str) -> list[Path]:
    found = [file for room in rooms(kind) for file in (PACKAGE / room).glob("*.py")]
    return [file for file in found if not file.stem.startswith("_")]


def path(kind: str, name: str) -> Path:
    """The file of a component."""
    if name not in _names(kind):
        raise UnknownComponent(f"{kind}: found {name!r}; expected one of {', '.join(available(kind))}")
    return next(file for file in _files(kind) if file.stem == name)


@functools.cache
def literal(kind: str, name: str, variable: str) -> Any:
    """The value of a literal module-level assignment of a component's file, None if it has none; imports nothing."""
    return _literals(path(kind, name)).get(variable)


@functools.cache
def _literals(file: Path) -> dict[str, Any]:
    """All module-level assignments of literals in a file, read once; a literal may hold others of the package."""
    found: dict[str, Any] = {}
    elsewhere: dict[str, str] = {}
    for node in parsed(file).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(f"{PACKAGE.name}."):
            elsewhere |= {name.asname or name.name: node.module for name in node.names}
        for target in node.targets if isinstance(node, ast.Assign) else ():
            if isinstance(target, ast.Name):
                try:
                    found[target.id] = _value(node.value, found, elsewhere)
                except (ValueError, KeyError):
                    # Not a literal, so nothing that may be read without importing.
                    continue
    return found


def _value(node: ast.expr, known: Mapping[str, Any], elsewhere: Mapping[str, str]) -> Any:
    """A literal with names of others in it, {**OTHER, "key": 1}, (*OTHER, 1) or f"at most {OTHER}".

    known: those above it in its file; elsewhere: the modules of names that it imports. Raises ValueError or KeyError
    for what is no literal.
    """

    def value(part):
        return _value(part, known, elsewhere)

    if isinstance(node, ast.Name):
        if node.id in elsewhere and node.id not in known:
            return _literals(PACKAGE.parent.joinpath(*elsewhere[node.id].split(".")).with_suffix(".py"))[node.id]
        return known[node.id]
    if isinstance(node, ast.JoinedStr):
        return "".join(str(value(part.value if isinstance(part, ast.FormattedValue) else part)) for part in node.values)
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        parts = [value(part) if key is None else {value(key): value(part)} for key, part in pairs]
        return {name: entry for part in parts for name, entry in part.items()}
    if isinstance(node, ast.Tuple | ast.List):
        parts = [value(one.value) if isinstance(one, ast.Starred) else (value(one),) for one in node.elts]
        entries = [entry for part in parts for entry in part]
        return tuple(entries) if isinstance(node, ast.Tuple) else entries
    return ast.literal_eval(node)


def parameters(kind: str, name: str) -> dict[str, dict]:
    """JSON Schema properties of a component's parameters, by name."""
    return literal(kind, name, "PARAMETERS") or {}


def defaults(kind: str, name: str) -> dict[str, Any]:
    """The default of every parameter that has one."""
    return {key: schema["default"] for key, schema in parameters(kind, name).items() if "default" in schema}


def implementation(kind: str, name: str) -> type:
    """The class of a component; imports its file. Raises BrokenSource, one line with file and line, if that fails."""
    file, wanted = path(kind, name), "".join(word.capitalize() for word in name.split("_"))
    parsed(file)
    try:
        module = importlib.import_module(f"hierlearn.{file.parent.name}.{name}")
    except Exception as error:
        raise BrokenSource(failure(error) or f"{location(file, 1)}: {type(error).__name__}: {error}") from error
    if wanted not in vars(module):
        raise BrokenSource(f"{location(file, 1)}: found no class {wanted}; expected it to be named as the file is")
    # Imported here: a plan is read without numpy.
    from hierlearn.core.protocols import PROTOCOLS

    found, protocol = vars(module)[wanted], PROTOCOLS[file.parent.name]
    at = next(node.lineno for node in parsed(file).body if isinstance(node, ast.ClassDef) and node.name == wanted)
    if protocol not in type.mro(found):
        raise BrokenSource(f"{location(file, at)}: found class {wanted}; expected class {wanted}({protocol.__name__})")
    if found.__abstractmethods__:
        missing = ", ".join(sorted(found.__abstractmethods__))
        raise BrokenSource(f"{location(file, at)}: found no method {missing}; expected all of {protocol.__name__}")
    return found


def failure(error: BaseException) -> str | None:
    """file:line: kind: message of an error in a component's own lines, or in an import of the package; else None."""
    if isinstance(error, SyntaxError):
        return f"{location(error.filename or '', error.lineno or 1)}: {type(error).__name__}: {error.msg}"
    frames = [(Path(frame.filename), frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    own = [(file, line) for file, line in frames if PACKAGE in file.parents]
    if not isinstance(error, ImportError):
        places = {room for kind in KINDS for room in rooms(kind)}
        own = [(file, line) for file, line in own if file.relative_to(PACKAGE).parts[0] in places]
    if not own:
        return None
    first = next((line for line in str(error).splitlines() if line.strip()), "")
    return f"{location(*own[-1])}: {': '.join(filter(None, [type(error).__name__, first.strip()]))}"


def build(kind: str, description: Mapping[str, Any], **given: Any):
    """A component from its description {name, parameter: value, ...}; nested components are built too.

    given: what the caller sets beside the parameters (an input's dimension).
    """
    description = dict(description)
    name = description.pop("name")
    known = parameters(kind, name)
    values = defaults(kind, name) | description
    for key, value in values.items():
        schema = known.get(key, {})
        if "component" in schema:
            values[key] = build(schema["component"], value, **UNSET.get(schema["component"], {}))
        elif "components" in schema:
            unset = UNSET.get(schema["components"], {})
            values[key] = {label: build(schema["components"], part, **unset) for label, part in value.items()}
    return implementation(kind, name)(**values, **given)


def named(kind: str, description: Mapping[str, Any]):
    """(kind, name) of a component and of every component nested in its description."""
    name = description["name"]
    yield kind, name
    for key, schema in parameters(kind, name).items():
        value = description.get(key, schema.get("default"))
        if "component" in schema:
            yield from named(schema["component"], value)
        elif "components" in schema:
            for part in value.values():
                yield from named(schema["components"], part)
