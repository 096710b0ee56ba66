"""Parameters that several quantities share."""

from typing import Annotated, Any, Literal

from hierlearn.core.parameters import Count, Reference

Above = Annotated[str, Reference("learners"), "Learner in the numerator."]
Below = Annotated[str, Reference("learners"), "Learner in the denominator."]
Learner = Annotated[str, Reference("learners"), "Name of the learner."]
Log = Annotated[bool, "Whether the natural logarithm is averaged."]
PositiveValues = Annotated[
    bool,
    "Whether the values are positive, as errors are: their geometric mean, and an interval that is positive too; "
    "under `log` the logarithms are averaged in any case.",
]
Probe = Annotated[str, Reference("probes"), "Name of the probe."]
Regressor = Annotated[
    Literal["dimension", "harmonic_dimension", "polynomial_dimension", "quad_raw_dimension"],
    "What n* is compared with.",
]
Samples = Annotated[Count, Reference("samples"), "Number of labelled samples n."]
FittedDimensions = Annotated[
    list[int] | None,
    Reference("dimensions"),
    "Dimensions that the line is fitted to, named before the run; null: all of the study's.",
]
Spans = Annotated[Count, "Among how many kernels, such as those of several bandwidths, the labels chose."]
Threshold = Annotated[float, Reference("thresholds"), "Risk that n* reaches."]
Coordinates = Annotated[dict[str, Any], Reference("coordinates"), "Values of the other axes."]
Place = Annotated[dict[str, Any], Reference("place"), "Values of the axes."]
SomeCoordinates = Annotated[dict[str, Any], Reference("some coordinates"), "Values of axes that are fixed."]
ProbeCoordinates = Annotated[dict[str, Any], Reference("probe coordinates"), "Values of the other coordinates."]
CaseCoordinates = Annotated[
    dict[str, Any],
    Reference("some probe coordinates"),
    "Coordinates that are fixed; every other place, and every seed, is a case.",
]
AxisValues = Annotated[
    list[float] | None,
    Reference("probe axis values"),
    "Values of the axis that count, named before the run; null: all.",
]
LowestOver = Annotated[
    str | None,
    Reference("axis"),
    "An axis or swept parameter over whose values the smallest counts, for every seed.",
]
Line = Annotated[str, Reference("probe lines"), "Name of the theory line."]
