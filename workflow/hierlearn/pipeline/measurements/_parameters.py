"""Parameters that several probes share."""

from dataclasses import field
from typing import Annotated, Any, Literal, TypeVar

from annotated_types import Ge, MinLen

from hierlearn.core.parameters import UNIQUE, Count, Even, Positive

T = TypeVar("T")
Several = Annotated[list[T], MinLen(1), UNIQUE]
Draws = Annotated[int, Ge(2), "Draws of the Rademacher signs."]
Loss = Annotated[Literal["squared", "logistic"], "Loss; squared is (f - y)^2, logistic takes the sign of the label."]
MaxIterations = Annotated[Count, "Most iterations of a training."]
Ridge = Annotated[Positive, "Ridge of |W|_{2,4}^8 in training, for features with |h|^2 = D."]
TrainingPoints = Annotated[int, Ge(2), "Number n of training points."]
SampleSizes = Annotated[
    Several[Annotated[int, Ge(2)]], "Numbers n of points; a smaller sample is the beginning of a larger one."
]
Spectra = Annotated[
    Several[Literal["isotropic", "spiked", "power"]],
    "Spectra of the features; spiked: half of the variance in one direction, power: j^-2.",
]
Start = Annotated[Positive, "Size of <w_r, h> m^{1/4} at the random start; W = 0 is a saddle."]
TestPoints = Annotated[int, Ge(2), "Number of test points."]
Widths = Annotated[Several[Even], "Numbers m of neurons, even."]


def listing(*values: Any) -> Any:
    """The default of a parameter that is a list."""
    return field(default_factory=lambda: list(values))
