"""What annotated fields become as JSON Schema."""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Required, TypedDict

import pytest
from annotated_types import Ge, Interval, Le, Lt, MaxLen, MinLen, MultipleOf

from hierlearn.core.parameters import (
    UNIQUE,
    Count,
    Nested,
    NestedByName,
    Positive,
    Reference,
    Schema,
    Share,
    choices,
    properties,
    schema,
)
from hierlearn.core.protocols import Component


class Place(TypedDict, total=False):
    axis: Required[str]
    value: Positive


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (Annotated[int, Ge(2), MultipleOf(2), "Even."], {"type": "integer", "minimum": 2, "multipleOf": 2}),
        (Annotated[float, Interval(ge=0, lt=1), "."], {"type": "number", "minimum": 0, "exclusiveMaximum": 1}),
        (Annotated[Positive, Le(3), "."], {"type": "number", "exclusiveMinimum": 0, "maximum": 3}),
        (Annotated[Positive | None, "."], {"type": ["number", "null"], "exclusiveMinimum": 0}),
        (Annotated[bool, "."], {"type": "boolean"}),
        (Annotated[Literal["a", 2], "."], {"enum": ["a", 2]}),
        (
            Annotated[list[Share] | None, MinLen(1), MaxLen(3), UNIQUE, "."],
            {
                "type": ["array", "null"],
                "items": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
                "minItems": 1,
                "maxItems": 3,
                "uniqueItems": True,
            },
        ),
        (Annotated[dict[str, Any], Reference("place"), "."], {"type": "object", "reference": "place"}),
        (
            Annotated[dict[Annotated[str, Reference("learners")], Count], MinLen(1), "."],
            {
                "type": "object",
                "propertyNames": {"reference": "learners"},
                "additionalProperties": {"type": "integer", "minimum": 1},
                "minProperties": 1,
            },
        ),
        (
            Annotated[Count | Literal["largest"], "."],
            {"oneOf": [{"type": "integer", "minimum": 1}, {"const": "largest"}]},
        ),
        (
            Annotated[Place, Schema({"minProperties": 2}), "."],
            {
                "type": "object",
                "additionalProperties": False,
                "required": ["axis"],
                "properties": {"axis": {"type": "string"}, "value": {"type": "number", "exclusiveMinimum": 0}},
                "minProperties": 2,
            },
        ),
        (Annotated[object, Nested("kernels"), "."], {"component": "kernels"}),
        (Annotated[object, NestedByName("inputs", {"x": {"name": "y"}}), "."], {"components": "inputs"}),
    ],
    ids=str,
)
def test_types_limits_and_marks(annotation, expected):
    found = schema(annotation)
    assert found.pop("description").endswith(".")
    found.pop("default", None)
    assert found == expected


def test_a_type_that_is_no_parameter_is_refused_by_name():
    with pytest.raises(TypeError, match="complex"):
        schema(Annotated[complex, "."])


@dataclass(frozen=True, kw_only=True)
class Shared(Component):
    steps: Annotated[Count, "Steps."] = 3


class Rates:
    rate: Annotated[Positive, "Rate."]
    decay: Annotated[float, Ge(0), "Decay."] = 0.0


@dataclass(frozen=True, kw_only=True)
class Owner(Shared):
    kernel: Annotated[object, Nested("kernels", {"name": "ntk", "depth": 2}), "Kernel."]
    sizes: Annotated[list[int], "Sizes."] = field(default_factory=lambda: [1, 2])
    dimension: int = 0

    class Choices(Rates):
        decay: Annotated[float, Lt(1), "Another decay."] = 0.5


def test_fields_of_a_class_and_its_bases_are_its_parameters_with_their_defaults():
    assert properties(Owner) == {
        "steps": {"type": "integer", "minimum": 1, "description": "Steps.", "default": 3},
        "kernel": {"component": "kernels", "default": {"name": "ntk", "depth": 2}, "description": "Kernel."},
        "sizes": {"type": "array", "items": {"type": "integer"}, "description": "Sizes.", "default": [1, 2]},
    }


def test_choices_are_those_of_the_nested_class_and_its_bases_in_their_order():
    assert choices(Shared) == {}
    assert choices(Owner) == {
        "rate": {"type": "number", "exclusiveMinimum": 0, "description": "Rate."},
        "decay": {"type": "number", "exclusiveMaximum": 1, "description": "Another decay.", "default": 0.5},
    }
