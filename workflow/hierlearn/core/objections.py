"""What a component has against its parameters, together with each other and with the law of x.

`objections(self, inputs)` yields them; it is asked before a component is built, so it reads nothing but its parameters.
A parameter `dimension` is that of x; `warnings(self, inputs)` alike says what is possible but may not be meant.
"""

import re
from collections.abc import Iterable

from hierlearn.core.protocols import Component, Input, Objection


def refuse(component: Component, inputs: Input | None = None) -> None:
    """Raises ValueError for the first objection of a component, or for a law that is none of its LAWS."""
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", type(component).__name__).lower()
    found: Iterable[Objection] = component.objections(inputs)
    if inputs is not None and component.LAWS and inputs.law not in component.LAWS:
        found = [("input law", repr(inputs.law), f"one of {', '.join(component.LAWS)}")]
    for parameter, value, allowed in found:
        raise ValueError(f"{name}: {parameter} {value}; expected {allowed}")
