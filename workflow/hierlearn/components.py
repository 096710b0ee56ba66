"""Finds components by their name and builds them.

A component is one file in the room of its kind: the file's name is the component's name, its class is that name in
CamelCase with one field per parameter, and its literal PARAMETERS is a JSON Schema of `properties`, read without
importing the file. A parameter whose schema says {"component": kind} is itself a component, one that says
{"components": kind} a mapping of names to components.
"""

import ast
import functools
import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

KINDS = ("inputs", "teachers", "representations", "learners", "kernels", "probes", "quantities", "figures")
PACKAGE = Path(__file__).parent
# What a nested component is given until its owner replaces it: a law of x has no dimension before there is a problem.
UNSET = {"inputs": {"dimension": 0}}


class UnknownComponent(ValueError):
    """A name that no file of the room has."""


def available(kind: str) -> list[str]:
    """The names of all components of a kind."""
    return list(_names(PACKAGE / kind))


@functools.cache
def _names(room: Path) -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in room.glob("*.py") if not path.stem.startswith("_")))


def path(kind: str, name: str) -> Path:
    """The file of a component."""
    if name not in _names(PACKAGE / kind):
        raise UnknownComponent(f"{kind}: found {name!r}; expected one of {', '.join(available(kind))}")
    return PACKAGE / kind / f"{name}.py"


@functools.cache
def literal(kind: str, name: str, variable: str) -> Any:
    """The value of a literal module-level assignment of a component's file, None if it has none; imports nothing."""
    return _literals(path(kind, name)).get(variable)


@functools.cache
def _literals(file: Path) -> dict[str, Any]:
    """All module-level assignments of literals in a file, read once."""
    found = {}
    for node in ast.parse(file.read_text()).body:
        for target in node.targets if isinstance(node, ast.Assign) else ():
            if isinstance(target, ast.Name):
                try:
                    found[target.id] = ast.literal_eval(node.value)
                except ValueError:
                    # Not a literal, so nothing that may be read without importing.
                    continue
    return found


def parameters(kind: str, name: str) -> dict[str, dict]:
    """JSON Schema properties of a component's parameters, by name."""
    return literal(kind, name, "PARAMETERS") or {}


def defaults(kind: str, name: str) -> dict[str, Any]:
    """The default of every parameter that has one."""
    return {key: schema["default"] for key, schema in parameters(kind, name).items() if "default" in schema}


def implementation(kind: str, name: str) -> type:
    """The class of a component; imports its file."""
    path(kind, name)
    module = importlib.import_module(f"hierlearn.{kind}.{name}")
    return getattr(module, "".join(word.capitalize() for word in name.split("_")))


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
