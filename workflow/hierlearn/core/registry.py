"""Finds components by their name and builds them.

A component is one file in a room of its kind: the file's name is the component's name, and its class is that name in
CamelCase, a dataclass whose annotated fields are its parameters (core/parameters.py). In a room of families a file of
the package holds several components, each of its public classes one. A parameter whose schema says {"component": kind}
is itself a component, one that says {"components": kind} a mapping of names to components.
"""

import ast
import functools
import importlib
import json
import traceback
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, get_origin

from hierlearn.core import folders, process
from hierlearn.core import parameters as declarations
from hierlearn.core.component import FORMER_METHODS, Objection, name_of
from hierlearn.core.needs import Needs, Sizes
from hierlearn.core.protocols import Input, Representation, Teacher
from hierlearn.core.provenance import BrokenSource, location, syntax_tree
from hierlearn.core.words import nearest, show

KINDS = ("inputs", "teachers", "representations", "learners", "kernels", "probes", "quantities", "figures")
# The rooms of a kind, if there are others than that of its name: the section `probes` of a study names both what
# measures a problem as it is and what trains for that.
ROOMS = {"probes": ("probes", "experiments")}
# Rooms of which a file of the package holds several components, since they share most of their lines.
FAMILIES = ("quantities",)
PACKAGE = folders.PACKAGE
# What a nested component is given until its owner replaces it: a law of x has no dimension before there is a problem.
UNSET = {"inputs": {"dimension": 1}}


def available(kind: str) -> tuple[str, ...]:
    """Return the names of all components of a kind. Raises ValueError for a kind that does not exist."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"kind of component: found {show(kind)}; expected {nearest(kind, KINDS)}")
    return _names(kind)


@functools.cache
def _names(kind: str) -> tuple[str, ...]:
    return tuple(sorted(name for name, _ in _components(kind)))


def rooms(kind: str) -> tuple[str, ...]:
    """Return the folders of a user's own that the components of a kind lie in."""
    return ROOMS.get(kind, (kind,))


@functools.cache
def _components(kind: str) -> tuple[tuple[str, Path], ...]:
    """Every component of a kind, with its file."""
    found = []
    for root in folders.roots():
        for shelf in dict.fromkeys(folders.shelf(root, room) for room in rooms(kind)):
            # A copy of a file, "name (1).py", has a name that no class can have.
            files = [file for file in folders.files(shelf, "*.py") if file.stem.isidentifier()]
            for file in (file for file in files if not file.stem.startswith("_")):
                names = _members(file) if root == PACKAGE and kind in FAMILIES else (file.stem,)
                found += [(name, file) for name in names]
    return tuple(found)


@functools.cache
def _members(file: Path) -> tuple[str, ...]:
    """Return the components of a family, named as its public classes are. The file is read, not imported."""
    classes = [node.name for node in syntax_tree(file).body if isinstance(node, ast.ClassDef)]
    return tuple(name_of(name) for name in classes if not name.startswith("_"))


def use(own: Iterable[Path]) -> None:
    """Take folders of a user's own beside the package. Raises BrokenSource where two components have one name."""
    if folders.use(own):
        for remembered in (_names, _components, parameters, choices, implementation, _nested, _built_once):
            remembered.cache_clear()
    for kind in KINDS:
        first: dict[str, Path] = {}
        for component, file in _components(kind):
            # A file cannot be imported beside a family of its name.
            others = (first.setdefault(name, file) for name in (component, file.stem))
            if other := next((other for other in others if other != file), None):
                taken = f"the name of {location(other, 1)}"
                raise BrokenSource(f"{location(file, 1)}: found {taken}; expected a name that none of the {kind} has")


def path(kind: str, name: str) -> Path:
    """Return the file of a component. Raises ValueError for a name that none of the kind has."""
    if not isinstance(name, str) or name not in available(kind):
        raise ValueError(f"{kind}: found {show(name)}; expected {nearest(name, available(kind))}")
    return next(file for component, file in _components(kind) if component == name)


@functools.cache
def parameters(kind: str, name: str) -> dict[str, dict[str, Any]]:
    """Return the JSON Schema of a component's parameters, by name."""
    return declarations.properties(implementation(kind, name))


@functools.cache
def choices(kind: str, name: str) -> dict[str, dict[str, Any]]:
    """Return the JSON Schema of what a component leaves to be selected or swept, by name."""
    return declarations.choices(implementation(kind, name))


def defaults(kind: str, name: str) -> dict[str, Any]:
    """Return the default of every parameter that has one."""
    return {key: schema["default"] for key, schema in parameters(kind, name).items() if "default" in schema}


@functools.cache
def implementation(kind: str, name: str) -> type[Any]:
    """Return the class of a component; imports its file. Raises BrokenSource, one line with file and line."""
    file, wanted = path(kind, name), "".join(word.capitalize() for word in name.split("_"))
    try:
        with process.kept():
            module = importlib.import_module(folders.module(file))
    except KeyboardInterrupt:
        raise
    # A file may also end the program.
    except BaseException as error:
        syntax_tree(file)
        raise BrokenSource(failure(error) or f"{location(file, 1)}: {type(error).__name__}: {error}") from error
    if wanted not in vars(module):
        raise BrokenSource(f"{location(file, 1)}: found no class {wanted}; expected it to be named as the file is")
    # Imported here: a plan is read without numpy.
    from hierlearn.core.protocols import PROTOCOLS

    found, protocol = vars(module)[wanted], PROTOCOLS[kind]
    if protocol not in type.mro(found):
        raise BrokenSource(
            f"{_place(file, wanted)}: found class {wanted}; expected class {wanted}({protocol.__name__})"
        )
    for one in fields(found) if is_dataclass(found) else ():
        set_elsewhere = kind == "inputs" and one.name == "dimension"
        unset = one.default is MISSING and one.default_factory is MISSING and not set_elsewhere
        if one.init and unset and get_origin(one.type) is not Annotated:
            wrong = f"found the field {one.name} without a default; expected one, or a description of the parameter"
            raise BrokenSource(f"{_place(file, wanted)}: {wrong}")
    if former := [name for name in FORMER_METHODS if name in vars(found)]:
        wrong = f"found the method {former[0]}; expected {FORMER_METHODS[former[0]]}, as hierlearn convert writes it"
        raise BrokenSource(f"{_place(file, wanted)}: {wrong}")
    if found.__abstractmethods__:
        missing = ", ".join(sorted(found.__abstractmethods__))
        raise BrokenSource(f"{_place(file, wanted)}: found no method {missing}; expected all of {protocol.__name__}")
    return found


def _place(file: Path, wanted: str) -> str:
    """file:line of a class."""
    classes = [node for node in syntax_tree(file).body if isinstance(node, ast.ClassDef)]
    return location(file, next(node.lineno for node in classes if node.name == wanted))


def failure(error: BaseException) -> str | None:
    """Return file:line: kind: message of an error in a component's lines or an import of the package; else None."""
    if isinstance(error, SyntaxError):
        return f"{location(error.filename or '', error.lineno or 1)}: {type(error).__name__}: {error.msg}"
    frames = [(Path(frame.filename), frame.lineno or 1) for frame in traceback.extract_tb(error.__traceback__)]
    own = [(file, line, root) for file, line in frames if (root := folders.root_of(file))]
    if not isinstance(error, ImportError):
        shelves = {root: [folders.shelf(root, room) for room in folders.ROOMS] for *_, root in own}
        own = [(file, line, root) for file, line, root in own if any(one in file.parents for one in shelves[root])]
    if not own:
        return None
    first = next((line for line in str(error).splitlines() if line.strip()), "")
    return f"{location(*own[-1][:2])}: {': '.join(filter(None, [type(error).__name__, first.strip()]))}"


@functools.cache
def _nested(kind: str, name: str) -> dict[str, dict[str, Any]]:
    """Return the parameters that are components themselves, or mappings of names to components."""
    return {key: part for key, part in parameters(kind, name).items() if {"component", "components"} & set(part)}


def build(kind: str, description: Mapping[str, Any], **given: Any) -> Any:
    """Build a component from its description {name, parameter: value, ...}, nested components too.

    given: what the caller sets beside the parameters (an input's dimension). Raises ValueError, one line, for a kind, a
    name or a parameter that does not exist, for one that is missing, and for a value outside its limits.
    """
    return _build(kind, kind, description, given)


def _build(at: str, kind: str, description: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
    """As `build`; at: what messages call the description."""
    known = ", ".join(available(kind))
    if not isinstance(description, Mapping):
        raise ValueError(f"{at}: found {show(description)}; expected a mapping with a name, one of {known}")
    if "name" not in description:
        raise ValueError(f"{at}: found no name; expected one of {known}")
    values = dict(description)
    name = values.pop("name")
    if not isinstance(name, str) or name not in available(kind):
        raise ValueError(f"{at}: found {show(name)}; expected {nearest(name, available(kind))}")
    component, nested = implementation(kind, name), _nested(kind, name)
    values = {key: schema["default"] for key, schema in nested.items() if "default" in schema} | values
    _refuse_others(name, component, values, given)
    for key, schema in nested.items():
        below = schema.get("component") or schema["components"]
        value, place, unset = values[key], f"{name}: {key}", UNSET.get(below, {})
        if "component" in schema:
            values[key] = _build(place, below, value, unset)
        elif isinstance(value, Mapping) and all(isinstance(label, str) for label in value):
            values[key] = {label: _build(f"{place}.{label}", below, part, unset) for label, part in value.items()}
        else:
            raise ValueError(f"{place}: found {show(value)}; expected a mapping of labels to {below}")
    return component(**values, **given)


def built_once(kind: str, description: Mapping[str, Any], **given: Any) -> Any:
    """Return a component as `build` makes it, one for equal descriptions: for what asks it and changes nothing.

    description: in the types that files have.
    """
    return _built_once(kind, json.dumps(description), *given.items())


@functools.cache
def _built_once(kind: str, description: str, *given: tuple[str, Any]) -> Any:
    return build(kind, json.loads(description), **dict(given))


def _refuse_others(name: str, component: type[Any], values: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Raise ValueError, one line, for a parameter that a component does not have, that it lacks, or that is given
    twice."""
    known = {field.name: field for field in fields(component) if field.init}
    listed = f"expected {', '.join(known)}" if known else "expected none"
    for key in sorted((values.keys() | given.keys()) - known.keys(), key=str):
        raise ValueError(f"{name}: found an unknown parameter {show(key)}; {listed}")
    for key in values.keys() & given.keys():
        raise ValueError(f"{name}: found {key} twice, {show(values[key])} and {show(given[key])}; expected it once")
    for key, field in known.items():
        if key not in {**values, **given} and field.default is MISSING and field.default_factory is MISSING:
            raise ValueError(f"{name}: found no {key}; {listed}")


def parts(
    kind: str, description: Mapping[str, Any], at: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], str, dict[str, Any]]]:
    """Yield (place, kind, description with defaults) of a component and of all nested in its description."""
    name = description["name"]
    known = defaults(kind, name) | dict(description)
    yield at, kind, known
    for key, schema in _nested(kind, name).items():
        inside = {(key,): known[key]} if "component" in schema else {(key, one): p for one, p in known[key].items()}
        for place, part in inside.items():
            yield from parts(schema.get("component") or schema["components"], part, (*at, *place))


def components_in(kind: str, description: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Return (kind, name) of a component and of every component nested in its description."""
    return ((below, part["name"]) for _, below, part in parts(kind, description))


def needs(kind: str, description: Mapping[str, Any], sizes: Sizes) -> Needs:
    """Return what a component that is not built yet asks for."""
    known = SimpleNamespace(**(defaults(kind, description["name"]) | dict(description)))
    return implementation(kind, description["name"]).needs(known, sizes)


def validate(kind: str, description: Mapping[str, Any], inputs: Input | None) -> list[Objection]:
    """Return the objections of a component that is not built yet; description: with all its parameters."""
    return list(implementation(kind, description["name"]).validate(SimpleNamespace(**description), inputs))


def validate_data(description: Mapping[str, Any], teacher: Teacher, representation: Representation) -> list[Objection]:
    """Return what a learner that is not built yet cannot learn; description: with all its parameters."""
    learner = implementation("learners", description["name"])
    return list(learner.validate_data(SimpleNamespace(**description), teacher, representation))


def missing_inputs(kind: str, description: Mapping[str, Any]) -> list[Objection]:
    """Return what a component that is not built yet would read outside the project and cannot, its parts apart.

    description: with all its parameters.
    """
    return list(implementation(kind, description["name"]).missing_inputs(SimpleNamespace(**description)))


def warnings(kind: str, description: Mapping[str, Any], inputs: Input | None) -> list[Objection]:
    """Return the warnings of a component that is not built yet; description: with all its parameters."""
    return list(implementation(kind, description["name"]).warnings(SimpleNamespace(**description), inputs))
