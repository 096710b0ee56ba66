"""The complete JSON Schema of study files, for editors, and tables of parameters: both from what components declare.

`make schema` writes the schema, Draft 2020-12. It says of every component which parameters it has; what refers to
another part of the study, and what hangs on several parameters together, only the checks say.
"""

import copy
import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from hierlearn.core import registry
from hierlearn.plan import violations

# Where a study describes components; numbers of those that are posed or trained may be sizes.
PLACES = {
    ("problem", "properties", "input"): "inputs",
    ("problem", "properties", "teacher"): "teachers",
    ("representations", "additionalProperties"): "representations",
    ("learners", "additionalProperties", "properties", "learner"): "learners",
    ("probes", "additionalProperties", "properties", "probe"): "probes",
    ("figure",): "figures",
    ("claims", "additionalProperties", "properties", "quantity"): "quantities",
}
SIZED = ("inputs", "teachers", "representations", "learners", "kernels")
# Keywords of ours, which other readers of the schema do not know.
OWN = {"reference", "rule", "atMost", "execution"}


def study() -> dict[str, Any]:
    """The schema of a whole study: its sections with, in place of every component, one of those that there are."""
    whole = copy.deepcopy(violations.schema("study"))
    for (*above, last), kind in PLACES.items():
        part = whole["properties"]
        for key in above:
            part = part[key]
        described = {key: value for key, value in part[last].items() if key == "description"}
        part[last] = described | {"$ref": f"#/$defs/{kind}"}
    learner = whole["properties"]["learners"]["additionalProperties"]
    learner["allOf"] = [_choosing(name) for name in registry.available("learners")]
    defs = whole["$defs"]
    del defs["component"]
    defs["scaled"] = next(form for form in defs["size"]["oneOf"] if form["type"] == "object")
    for kind in registry.KINDS:
        names = registry.available(kind)
        defs[kind] = {"type": "object", "oneOf": [{"$ref": f"#/$defs/{kind}-{name}"} for name in names]}
        defs |= {f"{kind}-{name}": _component(kind, name) for name in names}
    return whole


def _component(kind: str, name: str) -> dict[str, Any]:
    """A component's description: its name, and its parameters."""
    known = registry.parameters(kind, name)
    purpose = registry.implementation(kind, name).__doc__.splitlines()[0]
    required = [key for key, schema in known.items() if "default" not in schema]
    parameters = {key: _parameter(schema, kind in SIZED) for key, schema in known.items()}
    return {
        "description": purpose,
        "type": "object",
        "required": ["name", *required],
        "properties": {"name": {"const": name, "description": purpose}} | parameters,
        "additionalProperties": False,
    }


def _parameter(schema: Mapping[str, Any], sized: bool) -> dict[str, Any]:
    """A parameter's schema in the words of JSON Schema alone."""
    about = {key: schema[key] for key in ("description", "default") if key in schema}
    if "component" in schema:
        return about | {"$ref": f"#/$defs/{schema['component']}"}
    if "components" in schema:
        return about | {"type": "object", "additionalProperties": {"$ref": f"#/$defs/{schema['components']}"}}
    if sized and schema.get("type") in ("integer", "number"):
        values = {key: value for key, value in schema.items() if key not in about}
        return about | {"anyOf": [_plain(values), {"$ref": "#/$defs/scaled"}]}
    return _plain(schema)


def _plain(schema: Any) -> Any:
    """A schema without our own keywords, at any depth; values that it allows or has by default stay as they are."""
    if isinstance(schema, list):
        return [_plain(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    found = {}
    for key, value in schema.items():
        if key == "properties":
            found[key] = {name: _plain(part) for name, part in value.items()}
        elif key not in OWN:
            found[key] = value if key in ("default", "enum", "const") else _plain(value)
    return found


def _choosing(name: str) -> dict[str, Any]:
    """What a learner of a study selects and sweeps, if it is this component."""
    choices, known = registry.choices("learners", name), registry.parameters("learners", name)

    def lists(schemas: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        entries = {
            key: {"type": "array", "minItems": 1, "uniqueItems": True, "items": _plain(schema)}
            for key, schema in schemas.items()
        }
        return {"properties": entries, "additionalProperties": False}

    selected = {key: schema for key, schema in choices.items() if "rule" not in schema}
    swept = {key: part for key, part in (known | choices).items() if not {"component", "components"} & set(part)}
    needed = [
        {"anyOf": [{"required": [key], "properties": {key: {"required": [choice]}}} for key in ("select", "sweep")]}
        for choice, schema in choices.items()
        if "default" not in schema
    ]
    then = {"properties": {"select": lists(selected), "sweep": lists(swept)}}
    return {
        "if": {"properties": {"learner": {"properties": {"name": {"const": name}}}}},
        "then": then | ({"allOf": needed} if needed else {}),
    }


def table(kind: str, name: str) -> Iterator[tuple[str, str, str, str]]:
    """(parameter, values, default, description) of a component, for people; choices after the parameters."""
    for key, schema in (*registry.parameters(kind, name).items(), *registry.choices(kind, name).items()):
        default = json.dumps(schema["default"]) if "default" in schema else "required"
        yield key, _values(schema), default, schema["description"]


def _values(schema: Mapping[str, Any]) -> str:
    """The values that a schema allows, in words."""
    if kind := schema.get("component") or schema.get("components"):
        return f"one of the {kind}" if "component" in schema else f"names with {kind}"
    if forms := schema.get("enum") or [form["const"] for form in schema.get("oneOf", ()) if "const" in form]:
        return ", ".join(map(str, forms))
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    limits = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most", "exclusiveMaximum": "below"}
    said = [f"{word} {schema[key]}" for key, word in limits.items() if key in schema]
    said += [f"a multiple of {schema['multipleOf']}"] if "multipleOf" in schema else []
    of = f" of {_values(schema['items'])}" if schema.get("items") else ""
    return ", ".join([" or ".join(kinds) + of, *said])


def text() -> str:
    """The schema as a file: one line for every key and every definition, so that a change is one line."""
    whole = study()
    definitions = ",\n  ".join(f"{json.dumps(name)}: {json.dumps(part)}" for name, part in whole.pop("$defs").items())
    keys = ",\n ".join(f"{json.dumps(key)}: {json.dumps(part)}" for key, part in whole.items())
    return f'{{\n {keys},\n "$defs": {{\n  {definitions}\n }}\n}}\n'


if __name__ == "__main__":
    sys.stdout.write(text())
