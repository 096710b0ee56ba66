"""The complete JSON Schema of study files, for editors, from what components declare.

`make schema` writes the schema, Draft 2020-12. It says of every component which parameters it has; what refers to
another part of the study, and what hangs on several parameters together, only the checks say.
"""

import copy
import json
import sys
from collections.abc import Mapping
from typing import Any

from hierlearn.core import registry
from hierlearn.pipeline.files import schema_errors
from hierlearn.pipeline.plan import tests
from hierlearn.pipeline.plan.section_checks import COMPONENTS

# Kinds whose numbers may be sizes.
SIZED = ("inputs", "teachers", "representations", "learners", "kernels")
# Presets at which a claim may change, one or several.
CHANGES = ("standard", "full", "paper", "standard full", "standard full paper", "full paper", "smoke")
# What a study of a finite set, or of no paper, may leave out: own_data.py.
LEFT = ("paper", "place", "axes", "figure", "teacher", "dimension")
# Keywords of ours, which other readers of the schema do not know.
OWN = {"reference", "rule", "atMost", "execution"}


def study() -> dict[str, Any]:
    """The schema of a whole study: its sections with, in place of every component, one of those that there are."""
    whole = copy.deepcopy(schema_errors.schema("study"))
    for path, kind in COMPONENTS.items():
        part = whole
        for key in path:
            part = part["additionalProperties"] if key is None else part["properties"][key]
        description = part.get("description")
        part.clear()
        part |= ({"description": description} if description else {}) | {"$ref": f"#/$defs/{kind}"}
    learner = whole["properties"]["learners"]["additionalProperties"]
    learner["allOf"] = [_choosing(name) for name in registry.available("learners")]
    claim = whole["properties"]["claims"]["additionalProperties"]
    claim["properties"]["test"]["pattern"] = tests.PATTERN
    changed = {key: part for key, part in claim["properties"].items() if key not in ("at", "presets")}
    for part in (whole, whole["properties"]["problem"], whole["properties"]["axes"], claim):
        part["required"] = [key for key in part["required"] if key not in LEFT]
    claim["properties"]["at"]["properties"] = {words: _change(changed, words) for words in CHANGES}
    defs = whole["$defs"]
    del defs["component"]
    defs["scaled"] = next(form for form in defs["size"]["oneOf"] if form["type"] == "object")
    for kind in registry.KINDS:
        names = registry.available(kind)
        defs[kind] = {"type": "object", "oneOf": [{"$ref": f"#/$defs/{kind}-{name}"} for name in names]}
        defs |= {f"{kind}-{name}": _component(kind, name) for name in names}
    return whole


def _change(properties: Mapping[str, Any], words: str) -> dict[str, Any]:
    """What a claim may say anew at some presets; of a quantity the part that is other."""
    loose = properties | {"quantity": {"type": "object", "minProperties": 1}}
    about = f"What changes at {' and '.join(words.split())}."
    return {"description": about, "type": "object", "properties": loose, "additionalProperties": False}


def _component(kind: str, name: str) -> dict[str, Any]:
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
        names, values = {"$ref": "#/$defs/name"}, {"$ref": f"#/$defs/{schema['components']}"}
        return about | {"type": "object", "propertyNames": names, "additionalProperties": values}
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


def text() -> str:
    """The schema as a file: one line for every key and every definition, so that a change is one line."""
    whole = study()
    definitions = ",\n  ".join(f"{json.dumps(name)}: {json.dumps(part)}" for name, part in whole.pop("$defs").items())
    keys = ",\n ".join(f"{json.dumps(key)}: {json.dumps(part)}" for key, part in whole.items())
    return f'{{\n {keys},\n "$defs": {{\n  {definitions}\n }}\n}}\n'


if __name__ == "__main__":
    if sys.flags.optimize > 1:
        sys.exit("error: PYTHONOPTIMIZE: found 2, which removes the docstrings that the schema quotes; expected 0 or 1")
    sys.stdout.write(text())
