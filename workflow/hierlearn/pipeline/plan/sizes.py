"""Sizes that depend on the problem, and names and combinations of coordinates."""

import itertools
from collections.abc import Mapping
from math import comb
from typing import Any

from hierlearn.core import registry
from hierlearn.theory.dimensions import harmonics, neurons_of_harmonics, polynomials

# No size is beyond this one.
LARGEST = 10**18


def label(coordinates: Mapping[str, Any]) -> str:
    """A name for files and groups: dimension-6_degree-4."""
    return "_".join(f"{axis.replace('_', '-')}-{value}" for axis, value in coordinates.items())


def lattice(start: int, cap: int, per_doubling: int) -> list[int]:
    """Sample sizes round(2^(j/per_doubling)) in start .. cap: one lattice for all learners, so curves share sizes."""
    points = (round(2 ** (j / per_doubling)) for j in itertools.count())
    return list(dict.fromkeys(n for n in itertools.takewhile(lambda n: n <= cap, points) if n >= start))


def sizes(dimension: int, degree: int | None = None) -> dict[str, int]:
    """The quantities that a size may refer to; quadratic_dimension is that of polynomials of degree <= 2.

    degree: of what is to be learned, where it has one; counted dimensions are those of this degree.
    """
    known = {"dimension": dimension, "quadratic_dimension": comb(dimension + 2, 2)}
    if degree is not None:
        known["harmonic_dimension"] = harmonics(dimension, degree)
        known["polynomial_dimension"] = polynomials(dimension, (degree + 1) // 2)
        known["quad_raw_dimension"] = neurons_of_harmonics(dimension, max(degree, 2))
    return known


def resolve(value: Any, context: Mapping[str, int]) -> Any:
    """A size {coefficient, of, power, most} as a number, LARGEST if it is beyond that; anything else as it is."""
    if isinstance(value, dict) and "coefficient" in value:
        try:
            # As whole numbers, absurd powers would be computed for hours.
            size = value["coefficient"] * float(context[value["of"]]) ** value.get("power", 1)
        except OverflowError:
            size = LARGEST
        size = max(1, round(min(size, LARGEST)))
        return min(size, value.get("most", size))
    return value


def full_description(kind: str, description: Mapping[str, Any], context: Mapping[str, int]) -> dict[str, Any]:
    """A component's description with its defaults and with every size resolved."""
    name = description["name"]
    full = {"name": name} | registry.defaults(kind, name) | description
    schemas = registry.parameters(kind, name)
    for key, value in full.items():
        schema = schemas.get(key, {})
        if "component" in schema:
            full[key] = full_description(schema["component"], value, context)
        elif "components" in schema:
            full[key] = {name: full_description(schema["components"], part, context) for name, part in value.items()}
        else:
            full[key] = resolve(value, context)
    return full


def product(axes: Mapping[str, list]) -> list[dict[str, Any]]:
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
