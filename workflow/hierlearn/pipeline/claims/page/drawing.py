"""A row drawn as a line: its interval and its control's against the region where the rule passes, as inline SVG."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from hierlearn.pipeline.claims.ledger import Row
from hierlearn.pipeline.claims.rules import region

# In pixels of the drawing, which scales with its place.
WIDTH, HEIGHT, MARGIN = 260, 46, 10
MEASURED, CONTROL, AXIS = 11, 25, 33
# The control is drawn as an arrow where it lies more than so many times the rest of the drawing away.
FAR = 4
# Positive numbers that span such a factor are drawn on the logarithm.
WIDE = 30
# Labels nearer than this would touch.
APART = 44


@dataclass(frozen=True)
class Scale:
    """From numbers to pixels. low, high: the numbers at the margins."""

    low: float
    high: float
    logarithmic: bool

    def __call__(self, number: float) -> float:
        """The place of a number, not beyond the drawing."""
        if self.logarithmic:
            share = math.log(max(number, self.low) / self.low) / math.log(self.high / self.low)
        else:
            share = (number - self.low) / (self.high - self.low) if math.isfinite(number) else float(number > 0)
        return round(MARGIN + min(max(share, 0.0), 1.0) * (WIDTH - 2 * MARGIN), 1)


def _scale(core: Iterable[float], control: Iterable[float], positive: bool) -> Scale:
    """A scale on which all of the core is seen, and of the control what is not far away."""
    numbers, others = ([one for one in part if math.isfinite(one)] for part in (core, control))
    lowest = min([*numbers, *others])
    if positive and lowest > 0 and max([*numbers, *others]) / lowest > WIDE:
        low, high = lowest / 1.6, max([*numbers, *others]) * 1.6
        return Scale(low, high, True)
    low, high = min(numbers), max(numbers)
    reach = FAR * ((high - low) or abs(high) or 1.0)
    near = [one for one in others if low - reach <= one <= high + reach]
    low, high = min([low, *near]), max([high, *near])
    margin = 0.12 * ((high - low) or abs(high) or 1.0)
    return Scale(low - margin, high + margin, False)


def drawing(row: Row, spoken: str, number) -> Markup:
    """The drawing of a row; empty where nothing was measured. spoken: what it shows, for those who hear it; number:
    what sets a number for readers."""
    if not math.isfinite(row.value):
        return Markup("")
    low, high = (end if math.isfinite(end) else row.value for end in (row.low, row.high))
    floor, ceiling = region(row.rule, row.predicted, row.slack, row.side)
    rival = [one for one in (row.control_value, row.control_low, row.control_high) if math.isfinite(one)]
    place = _scale([row.value, low, high, floor, ceiling], rival[:1], row.rule in ("bound", "published"))
    parts = []
    if not math.isnan(floor):
        start, end = (place(one) if math.isfinite(one) else edge for one, edge in ((floor, 0), (ceiling, WIDTH)))
        parts.append(f'<rect class="region" x="{start}" y="2" width="{round(end - start, 1)}" height="{AXIS - 2}"/>')
        ends = [one for one in (floor, ceiling) if math.isfinite(one)]
        parts += [f'<path class="edge" d="M{place(one)} 2V{AXIS}"/>' for one in ends]
        parts += _labels([(place(one), number(one)) for one in ends], number(row.predicted))
    parts.append(f'<path class="axis" d="M0 {AXIS}H{WIDTH}"/>')
    if rival:
        parts += _control(row, place)
    parts.append(f'<path class="whisker" d="M{place(low)} {MEASURED}H{place(high)}"/>')
    parts.append(f'<circle class="dot" cx="{place(row.value)}" cy="{MEASURED}" r="4.5"/>')
    return Markup('<svg class="drawing" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        WIDTH, HEIGHT, spoken, Markup("".join(parts))
    )


def _control(row: Row, place: Scale) -> list[str]:
    """The control: a diamond with its interval, or an arrow towards it where it lies beyond the drawing."""
    value = row.control_value
    if value > place.high or value < place.low:
        tip, back = (WIDTH - 1, WIDTH - 9) if value > place.high else (1, 9)
        return [f'<path class="control" d="M{back} {CONTROL - 4}L{tip} {CONTROL}L{back} {CONTROL + 4}"/>']
    low, high = (end if math.isfinite(end) else value for end in (row.control_low, row.control_high))
    at = place(value)
    return [
        f'<path class="control" d="M{place(low)} {CONTROL}H{place(high)}"/>',
        f'<path class="control hollow" d="M{at} {CONTROL - 4.5}l4.5 4.5l-4.5 4.5l-4.5 -4.5z"/>',
    ]


def _labels(ends: list[tuple[float, str]], middle: str) -> list[str]:
    """The numbers below the ends of the region; below its middle where they would touch."""
    if len(ends) == 2 and ends[1][0] - ends[0][0] < APART:
        ends = [((ends[0][0] + ends[1][0]) / 2, middle)]
    return [
        f'<text x="{min(max(x, 14), WIDTH - 14):g}" y="{HEIGHT - 2}" text-anchor="middle">{text}</text>'
        for x, text in ends
    ]
