"""What every component must say of itself; a new one is tested by being there."""

import ast
import inspect
import sys
from dataclasses import MISSING, fields

import pytest
from jsonschema import Draft202012Validator

from hierlearn.core import registry
from hierlearn.core.registry import KINDS, available, build, literal, parameters, path

ALL = [(kind, name) for kind in KINDS for name in available(kind)]
GIVEN = {"inputs": {"dimension": 5}}
LITERALS = (
    *(
        "PARAMETERS",
        "CHOICES",
        "BOUNDS",
        "EXCLUDED",
        "OUTPUTS",
        "MEMORY",
        "WORK",
        "PARALLEL",
        "GPUS",
        "MEASURES",
        "TRACES",
        "COORDINATES",
    ),
    "RULES",
)
EXAMPLES = {"string": "words", "array": [3, 4, 5], "integer": 1, "number": 0.5, "object": {}}
every = pytest.mark.parametrize(("kind", "name"), ALL, ids=lambda word: word)


def built(kind, name):
    """The component with its defaults, and an example where a parameter has none."""
    required = {key: EXAMPLES[s["type"]] for key, s in parameters(kind, name).items() if "default" not in s}
    return build(kind, {"name": name} | required, **GIVEN.get(kind, {}))


def test_every_kind_has_a_component():
    assert {kind for kind, _ in ALL} == set(KINDS)


@every
def test_it_is_built_from_its_defaults(kind, name):
    assert built(kind, name) == built(kind, name)


@every
def test_its_parameters_are_valid_schemas_with_descriptions(kind, name):
    for schema in parameters(kind, name).values():
        Draft202012Validator.check_schema(schema)
        assert schema["description"].endswith(".")
    for choice in (literal(kind, name, "CHOICES") or {}).values():
        Draft202012Validator.check_schema(choice)
        assert choice["description"].endswith(".")


@every
def test_what_is_read_without_importing_is_what_the_module_has(kind, name):
    module = sys.modules[registry.implementation(kind, name).__module__]
    for variable in LITERALS:
        assert literal(kind, name, variable) == getattr(module, variable, None), variable


@every
def test_its_defaults_are_valid(kind, name):
    for key, schema in parameters(kind, name).items():
        nested = schema.get("component") or schema.get("components")
        if "default" not in schema:
            continue
        if nested is None:
            Draft202012Validator(schema).validate(schema["default"])
        else:
            single = "component" in schema
            for part in [schema["default"]] if single else schema["default"].values():
                assert part["name"] in available(nested), key
                assert set(part) - {"name"} <= set(parameters(nested, part["name"]))


@every
def test_its_fields_are_its_parameters_with_the_same_defaults(kind, name):
    known, given = parameters(kind, name), GIVEN.get(kind, {})
    declared = {field.name: field for field in fields(registry.implementation(kind, name))}
    assert set(declared) - set(given) == set(known)
    for key, schema in known.items():
        field = declared[key]
        default = field.default_factory() if field.default_factory is not MISSING else field.default
        if default is not MISSING and not {"component", "components"} & set(schema):
            assert default == schema["default"], key


@every
def test_it_is_frozen_so_that_nothing_is_kept_between_jobs(kind, name):
    assert registry.implementation(kind, name).__dataclass_params__.frozen


@every
def test_module_class_and_public_methods_are_documented(kind, name):
    tree = ast.parse(path(kind, name).read_text())
    assert ast.get_docstring(tree)
    implementation = registry.implementation(kind, name)
    # dataclass writes a docstring of its own where there is none
    assert implementation.__doc__ and not implementation.__doc__.startswith(f"{implementation.__name__}(")
    for method, function in inspect.getmembers(implementation, inspect.isfunction):
        if not method.startswith("_"):
            assert function.__doc__, method


@every
def test_bounds_name_its_own_parameters(kind, name):
    for low, high, when in literal(kind, name, "BOUNDS") or ():
        known = parameters(kind, name)
        assert set(when) <= set(known)
        assert all(isinstance(side, int) or side == "dimension" or side in known for side in (low, high))
        assert not isinstance(low, int) or not isinstance(high, int)


@every
def test_excluded_combinations_are_of_its_own_parameters_and_the_law(kind, name):
    known = parameters(kind, name)
    for combination, instead in literal(kind, name, "EXCLUDED") or ():
        assert instead and set(combination) - {"law"} <= set(known)
        for key, values in combination.items():
            allowed = Draft202012Validator({"enum": available("inputs")} if key == "law" else known[key])
            assert all(allowed.is_valid(value) for value in values)


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(registry.UnknownComponent, match=r"found 'spere'; expected one of .*sphere"):
        registry.path("inputs", "spere")
