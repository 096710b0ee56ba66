"""What a panel of the figure `panels` may say."""

from typing import Annotated, Any, Literal, Required, TypedDict

from annotated_types import Ge, MaxLen, MinLen

from hierlearn.core.parameters import UNIQUE, Count, Index, NotNegative, Positive, Reference, Schema

Name = Annotated[str, Reference("probes")]
# A longer one leaves no room for what is drawn.
Text = Annotated[str, MaxLen(200)]
Scale = Literal["log", "linear"]
Shown = Annotated[list[Annotated[str, Reference("claims")]], MinLen(1), UNIQUE]


class Harmonics(TypedDict):
    """1 - n / N(d, p)."""

    dimension: Annotated[int, Ge(2)]
    degree: Index


class Composition(TypedDict, total=False):
    """order alpha^2 (1 - n / C(d, order))."""

    dimension: Annotated[int, Ge(2), "Not of growth along it."]
    order: Annotated[int, Ge(2), "Not of growth along it."]
    alpha: Required[NotNegative]
    scale: Annotated[
        Literal["paper", "unit"],
        Schema({"default": "paper"}),
        "That of the problem: unit is over E|H|^2 = order (1 + alpha^2).",
    ]
    spans: Annotated[Count, Schema({"default": 1}), "Of the best of so many kernels, which has n points in each."]
    features: Annotated[Count, "Draw the same of D fixed features in place of n points too."]


class Level(TypedDict):
    """A line of reference."""

    value: float
    label: Text


class Line(TypedDict, total=False):
    """A curve of a panel."""

    label: Text
    variable: Annotated[
        str, Reference("panel variables"), "A measure of the probe, or what the learner records (trace)."
    ]
    learner: Annotated[str, Reference("panel learners")]
    probe: Annotated[
        Name,
        "risk and growth: a probe whose variable is drawn dotted beside the learners, theory that belongs to them.",
    ]
    published: Annotated[str, Reference("published"), "A table of config/published instead of a learner or a variable."]
    where: Annotated[
        dict[str, Any],
        Reference("panel coordinates"),
        Schema({"default": {}}),
        "Values of the other coordinates; of risks a list goes along with the panel's axis, one value for each of its "
        "values.",
    ]
    errors: Annotated[
        list[Positive],
        MinLen(1),
        UNIQUE,
        "probe, with a learner: the norm of its weights where its training error first falls to each of these.",
    ]
    times: Annotated[Positive, "Factor of published numbers, for other units."]
    slope: Annotated[float, "Predicted slope, a dashed guide."]
    shift: Annotated[Positive, "Factor by which the guide stands off the line, which it may hide."]
    bound: Annotated[bool, "A bound: thin, without markers."]
    colour_of: Annotated[Count, "Number of the line, from 1, whose colour and marker it has."]
    row_of: Annotated[
        Count, "bars, with published numbers: number of the line, from 1, in whose row they stand instead of their own."
    ]
    marks: Annotated[
        dict[Annotated[str, Reference("learner measures")], Annotated[Text, "Its name in the panel."]],
        "trace: measures of the learner that are steps -> names of the vertical lines at their medians.",
    ]


def _when(kind: dict[str, Any], lines: list[str], *unless: list[str], panel: tuple[str, ...] = ()) -> dict[str, Any]:
    """Panels of a kind need keys, and so do their lines unless they have all of some others."""
    others = [{"required": keys} for keys in unless]
    without = {"not": others[0] if len(others) == 1 else {"anyOf": others}}
    of_lines = {"properties": {"lines": {"items": {"if": without, "then": {"required": lines}}}}}
    return {
        "if": {"required": ["kind"], "properties": {"kind": kind}},
        "then": ({"required": list(panel)} if panel else {}) | of_lines,
    }


def _counted(along: str, other: str) -> dict[str, Any]:
    """Counting beside growth along one of the dimension and the order has the other one."""
    growth = {"required": ["counting"], "properties": {"kind": {"const": "growth"}, "x": {"const": along}}}
    needs = {"required": [other], "propertyNames": {"enum": [other, "alpha", "scale"]}}
    return {"if": growth, "then": {"properties": {"counting": needs}}}


KINDS = [
    _when({"const": "trace"}, ["learner", "variable"], ["published"]),
    _when({"const": "probe"}, ["variable"], ["published"], ["errors"], panel=("probe",)),
    _when({"enum": ["risk", "growth"]}, ["learner"], ["published"], ["probe", "variable"]),
    _when({"const": "bars"}, ["learner"], ["published"]),
    _counted("dimension", "order"),
    _counted("order", "dimension"),
    # Elsewhere it has a dimension, and an order or a degree.
    {
        "if": {"required": ["counting"], "properties": {"kind": {"const": "growth"}}},
        "then": {"properties": {"x": {"enum": ["dimension", "order"]}}},
        "else": {
            "properties": {
                "counting": {"required": ["dimension"], "anyOf": [{"required": ["order"]}, {"required": ["degree"]}]}
            }
        },
    },
]


class _Panel(TypedDict, total=False):
    """A panel."""

    kind: Required[
        Annotated[
            Literal["probe", "risk", "growth", "bars", "trace"],
            "probe: variables of a probe; risk: risks of learners; growth: n* of learners; bars: risks of learners at "
            "one place, learner by learner; trace: what learners recorded while they trained, x being step.",
        ]
    ]
    title: Required[Text]
    shows: Annotated[Shown, "Claims that the panel shows; their names stand above it."]
    probe: Annotated[Name, "Name of the probe."]
    x: Required[Annotated[str, Reference("panel axis"), "Coordinate along the panel."]]
    xlabel: Text
    ylabel: Text
    xscale: Scale
    yscale: Scale
    risk: Annotated[str, Reference("scores"), "A variable of scores.nc."]
    threshold: Annotated[float, Reference("thresholds"), "Risk that n* reaches."]
    counting: Annotated[
        Harmonics | Annotated[Composition, Schema({"atMost": {"order": "dimension"}})],
        "Draw what counting says of kernels at n samples: 1 - n / N(d, p) for harmonics, or order alpha^2 (1 - n / "
        "C(d, order)) for a function plus alpha times a product of signs; growth: the n from which it allows the "
        "threshold, along the dimension or the order.",
    ]
    centre: Annotated[
        Literal["median", "mean", "geometric mean"],
        Schema({"default": "median"}),
        "What is drawn of the seeds: what the row takes that the panel shows; of n* always the median.",
    ]
    level: Annotated[float, "A line of reference across the panel."]
    levels: Annotated[list[Level], UNIQUE, "Lines of reference with names."]
    verticals: Annotated[list[Level], UNIQUE, "Lines of reference at places along the panel, with names at their top."]
    named: Annotated[
        list[Text], MinLen(2), UNIQUE, "Names of the values along the panel, which are kinds that no line joins."
    ]
    lines: Required[Annotated[list[Line], UNIQUE]]


Panel = Annotated[_Panel, Schema({"allOf": KINDS})]
