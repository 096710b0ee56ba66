"""What every component must say of itself; a new one is tested by being there."""

import ast
import inspect
import sys
from dataclasses import MISSING, fields, replace

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from hierlearn.core import limits, registry
from hierlearn.core.registry import KINDS, available, build, implementation, parameters, path
from hierlearn.learners.network import Network
from hierlearn.learners.taylor import Taylor
from hierlearn.pipeline.files.schema_errors import Validator, schema_faults

ALL = [(kind, name) for kind in KINDS for name in available(kind)]
LIMITS = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf")
GIVEN = {"inputs": {"dimension": 5}}
ODD = [
    "",
    " \n",
    "x",
    0,
    1.5,
    6.0,
    10**30,
    [0],
    [0, 0],
    [None],
    [True],
    ["x", "x"],
    [[0, 0]],
    [[]],
    {"": 1},
    {1: 2},
    {"a": {}},
]
EXAMPLES = {"string": "words", "integer": 1, "number": 0.5, "object": {}}
every = pytest.mark.parametrize(("kind", "name"), ALL, ids=lambda word: word)


def example(schema):
    """A value that the schema of a parameter without a default allows."""
    if "enum" in schema:
        return schema["enum"][0]
    if schema["type"] == "array":
        return [example(schema["items"]) for _ in range(schema.get("minItems", 1))]
    needed = {key: example(schema["properties"][key]) for key in schema.get("required", ())}
    return needed or EXAMPLES[schema["type"]]


def built(kind, name):
    """The component with its defaults, and an example where a parameter has none."""
    required = {key: example(s) for key, s in parameters(kind, name).items() if "default" not in s}
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
    for choice in registry.choices(kind, name).values():
        Draft202012Validator.check_schema(choice)
        assert choice["description"].endswith(".")


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
def test_its_fields_are_parameters_and_what_is_given_to_it(kind, name):
    """A parameter stands once, as an annotated field; the defaults of nested components stand in their mark."""
    implementation = registry.implementation(kind, name)
    assert {field.name for field in fields(implementation)} - set(GIVEN.get(kind, {})) == set(parameters(kind, name))
    for field in fields(implementation):
        if {"component", "components"} & set(parameters(kind, name).get(field.name, ())):
            assert field.default is MISSING and field.default_factory is MISSING, field.name


@every
def test_no_constant_of_its_file_describes_a_parameter_again(kind, name):
    module = sys.modules[registry.implementation(kind, name).__module__]
    described = {one["description"] for one in (parameters(kind, name) | registry.choices(kind, name)).values()}
    assert not {"PARAMETERS", "CHOICES", "BOUNDS", "EXCLUDED", "RULES", "MEMORY", "WORK"} & set(vars(module))
    assert not described & {value for value in vars(module).values() if isinstance(value, str)}


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
            assert inspect.getdoc(function), method


@every
def test_its_objections_read_parameters_alone_and_name_them(kind, name):
    """They are asked of a description, before there is a component."""
    if kind not in ("inputs", "teachers", "representations", "learners"):
        return
    described = registry.defaults(kind, name)
    # A law is asked about itself.
    for law in [name] if kind == "inputs" else implementation(kind, name).LAWS or available("inputs"):
        for dimension in (2, 40):
            inputs = build("inputs", {"name": law}, dimension=dimension)
            for asked in (registry.validate, registry.warnings):
                for parameter, found, allowed in asked(kind, {"name": name} | described, inputs):
                    assert parameter in {*parameters(kind, name), "dimension"}
                    assert found and allowed


def tried(schema):
    """Values at the limits of a schema and beside them, of every type; and entries of lists and mappings."""
    numbers = [schema[key] for key in LIMITS if key in schema] or [1]
    simple = [*numbers, *(number + step for number in numbers for step in (-1, 1, 0.5)), -3, True, "unheard", None]
    lists = [[], *([one] for one in (tried(schema["items"]) if "items" in schema else (1, "unheard")))]
    lists += [[one[0], one[0]] for one in lists if one]
    mappings = [{}, {"unheard": 1}, *({"unheard": one} for one in schema.get("enum", ["unheard"]))]
    return [*simple, *schema.get("enum", ()), *lists, *mappings, *ODD]


@every
def test_a_value_is_within_its_limits_for_a_component_as_for_a_study(kind, name):
    """What is built from Python and what a file says are checked by two programs, which agree."""
    for schema in parameters(kind, name).values():
        if not {"component", "components", "allOf"} & {*schema, *schema.get("items", {})}:
            for value in tried(schema):
                refused = list(limits.misfits(value, schema))
                assert bool(refused) != Validator(schema).is_valid(value) or published(schema), (value, refused)


@every
def test_what_is_allowed_is_said_in_words_and_not_as_a_schema(kind, name):
    for schema in (*parameters(kind, name).values(), *registry.choices(kind, name).values()):
        for value in tried(schema):
            said = [allowed for *_, allowed in limits.misfits(value, schema)]
            for allowed in (*said, *(fault.allowed for fault in schema_faults("study.yaml", value, schema))):
                assert allowed and "\n" not in allowed and "{'" not in allowed and "[{" not in allowed, (value, allowed)


def published(schema):
    return schema.get("reference") == "published"


@every
def test_parameters_outside_their_limits_are_refused_in_one_line(kind, name):
    default = built(kind, name)
    for key, schema in parameters(kind, name).items():
        for value in [one for one in tried(schema) if not Validator(schema).is_valid(one)]:
            if not {"component", "components", "reference"} & set(schema):
                with pytest.raises(ValueError, match=rf"^{name}: {key}.* .+; expected .+") as refused:
                    replace(default, **{key: value})
                assert "\n" not in str(refused.value)


def test_an_even_width_is_asked_for_by_its_number():
    with pytest.raises(ValueError, match=r"^taylor: width 7; expected a multiple of 2$"):
        Taylor(width=7)


@pytest.mark.parametrize("width", [np.int64(8), np.int32(8)])
def test_numbers_of_numpy_and_tuples_are_values_like_others(width):
    assert Taylor(width=width, start=np.float32(0.5)).width == 8
    assert Network(milestones=(0.25, np.float64(0.5))).milestones == (0.25, 0.5)


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"found 'spere'; expected one of .*sphere"):
        registry.path("inputs", "spere")
