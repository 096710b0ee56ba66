"""Parameters that several probes share."""

from typing import Annotated, Literal

from annotated_types import Ge, MinLen

from hierlearn.core.parameters import UNIQUE, Count, Even, Positive

Draws = Annotated[int, Ge(2), "Draws of the Rademacher signs."]
Loss = Annotated[Literal["squared", "logistic"], "Loss; squared is (f - y)^2, logistic takes the sign of the label."]
MaxIterations = Annotated[Count, "Most iterations of a training."]
Ridge = Annotated[Positive, "Ridge of |W|_{2,4}^8 in training, for features with |h|^2 = D."]
TrainingPoints = Annotated[int, Ge(2), "Number n of training points."]
SampleSizes = Annotated[
    list[Annotated[int, Ge(2)]],
    MinLen(1),
    UNIQUE,
    "Numbers n of points; a smaller sample is the beginning of a larger one.",
]
Spectra = Annotated[
    list[Literal["isotropic", "spiked", "power"]],
    MinLen(1),
    UNIQUE,
    "Spectra of the features; spiked: half of the variance in one direction, power: j^-2.",
]
Start = Annotated[Positive, "Size of <w_r, h> m^{1/4} at the random start; W = 0 is a saddle."]
TestPoints = Annotated[int, Ge(2), "Number of test points."]
Widths = Annotated[list[Even], MinLen(1), UNIQUE, "Numbers m of neurons, even."]
