"""From measured arrays to the variables of a probe or an experiment, described by what it declares."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hierlearn.core.parameters import properties
from hierlearn.core.problem import Problem
from hierlearn.core.protocols import FLOPS, Component, Experiment, Input, Probe
from hierlearn.pipeline.files.netcdf import Variable

# What a probe measures, by name.
Variables = dict[str, Variable]
# name -> (axes, values), the values of one length per axis
Arrays = Mapping[str, tuple[tuple[str, ...], Any]]


def name_of(component: Component) -> str:
    """The name of a component, which is that of its file."""
    return type(component).__module__.rpartition(".")[2]


def require(component: Probe | Experiment, inputs: Input, norm: str = "unit") -> None:
    """Raises ValueError for a law of x that is none of the component's LAWS, or of another norm."""
    component.raise_for(inputs)
    if inputs.norm != norm:
        raise ValueError(f"{name_of(component)}: input of norm {inputs.norm}; expected {norm}")


def split(axes: tuple[str, ...], names: Sequence[str], values: Any) -> Arrays:
    """Measures by name from an array (*axes, measures), or a list of its form."""
    return {name: (axes, part) for name, part in zip(names, np.moveaxis(np.asarray(values), -1, 0), strict=True)}


def describe(component: Probe | Experiment, problem: Problem, measures: Arrays, flops: Any = None) -> Variables:
    """Variables with units and long names, and the coordinates that they are over.

    flops: operations of matrix products, of each seed (S,) or the same for all; None: not counted. A coordinate has the
    values and the description of its parameter, in float64 where the parameter is any number.
    """
    if flops is not None:
        measures = {**measures, "flops": (("seed",), np.broadcast_to(np.float64(flops), len(problem.seeds)))}
    texts = component.MEASURES | FLOPS
    found = {
        name: Variable(axes, np.asarray(values), {"units": "1", "long_name": texts[name]})
        for name, (axes, values) in measures.items()
    }
    over, declared = {axis for axes, _ in measures.values() for axis in axes}, properties(type(component))
    for axis, parameter in component.COORDINATES.items():
        if axis in over:
            number = declared[parameter].get("items", {}).get("type") == "number"
            values = np.array(list(vars(component)[parameter]), np.float64 if number else None)
            units = {} if values.dtype.kind == "U" else {"units": "1"}
            found[axis] = Variable((axis,), values, units | {"long_name": declared[parameter]["description"]})
    if "seed" in over:
        found["seed"] = Variable(("seed",), np.array(problem.seeds), {"long_name": "independent repetition"})
    return found
