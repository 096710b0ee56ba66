"""A row's numbers as readers see them: three digits, and factors in place of natural logarithms."""

import math
import re
from dataclasses import dataclass

from hierlearn.pipeline.claims.ledger import Row
from hierlearn.pipeline.claims.rules import PUBLISHED_FACTOR, RULES

# The word of a ratio's logarithm, and how words of other logarithms begin.
LOG_RATIO, LOG_OF = "log ratio", "log of "
TIMES = "times"
# Numbers under these rules are ratios already, of which a factor is allowed.
OF_RATIOS = ("bound", "published")
# What a slack does to a limit, and to what the limit is the logarithm of.
AS_FACTOR = {"+": "×", "−": "÷", "±": "× or ÷"}
# Signs of an ordering, by its side.
SIDES = {"above": (">", "−"), "below": ("<", "+")}
# From the first on numbers have powers of ten, from the second on factors have. From 1/5 down factors are fractions.
# One whose logarithm is nearer to 0 than the last has three decimals, with its interval.
LARGE, VERY_LARGE, FRACTION, NEAR = 1e6, 1e9, 0.21, 0.1
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
NUMBER = re.compile(r"-?\d[\d.]*(?:e[+-]?\d+)?")
# The limit in the reason of a rule, or its two.
LIMIT = re.compile(r"(the interval is [a-z ]+)(\[[^]]*\]|-?\d[\d.e+-]*)")


def number(value: float) -> str:
    """Return three significant digits with a minus sign as long as a plus, such as 0.512, 15,400 or 2.86·10⁻⁶; or a
    dash."""
    if not math.isfinite(value):
        return "–"
    digits = f"{value:.3g}"
    if 1000 <= abs(float(digits)) < LARGE:
        digits = f"{float(digits):,.0f}"
    mantissa, _, exponent = digits.partition("e")
    power = f"10{str(int(exponent)).translate(RAISED)}" if exponent else ""
    parts = ["" if power and abs(float(mantissa)) == 1 else mantissa.lstrip("-"), power]
    return "−" * (value < 0) + "·".join(filter(None, parts))


def factor(logarithm: float, near: bool = False) -> str:
    """Return what a natural logarithm stands for: 2.41, 15,400 or 1/15,400; or a dash. near: with three decimals."""
    if not math.isfinite(logarithm):
        return "–"
    if logarithm < math.log(FRACTION):
        return f"1/{factor(-logarithm)}"
    # No float is larger.
    value = math.exp(min(logarithm, 700.0))
    if near:
        return f"{value:,.3f}"
    return number(value) if value >= VERY_LARGE else f"{float(f'{value:.3g}'):,.12g}"


@dataclass(frozen=True)
class Units:
    """How the numbers of a row are written. word: what they are; is_factor: whether they are logarithms, which readers
    see as factors."""

    word: str = ""
    is_factor: bool = False

    def number(self, value: float) -> str:
        """Return a number, or a dash where there is none."""
        return factor(value) if self.is_factor else number(value)

    def bare(self, value: float, low: float, high: float) -> tuple[str, str]:
        """Return a value and its interval, which is empty where there is none."""
        near = self.is_factor and abs(value) < NEAR
        told = [factor(one, near) if near else self.number(one) for one in (value, low, high)]
        return told[0], f"[{told[1]}, {told[2]}]" if math.isfinite(low) and math.isfinite(high) else ""

    def parts(self, value: float, low: float, high: float) -> tuple[str, str]:
        """Return a value, and what stands behind it: 2.3 times and [1.9, 2.8], or 0.5 and [0.3, 0.7] slope."""
        first, behind = self.bare(value, low, high)
        word = self.word if math.isfinite(value) else ""
        if word == TIMES:
            return f"{first} {TIMES}", behind
        return first, " ".join(filter(None, [behind, word]))

    def measured(self, value: float, low: float, high: float) -> str:
        """Return a value with its interval and its unit."""
        return " ".join(filter(None, self.parts(value, low, high)))

    def of_rival(self, value: float, low: float, high: float, result: str) -> str:
        """Return what was measured of a rival, and what the rule makes of it."""
        return " ".join(filter(None, [*self.bare(value, low, high), result]))

    def prediction(self, row: Row) -> str:
        """Return the prediction as its rule reads it."""
        if not math.isfinite(row.predicted):
            return "–"
        usual = PUBLISHED_FACTOR if row.rule == "published" else 0.0
        slack = usual if math.isnan(row.slack) else row.slack
        sign, between = SIDES.get(row.side, RULES[row.rule])
        text = f"{sign} {self.number(row.predicted)}"
        between = AS_FACTOR.get(between, between) if self.is_factor else between
        return f"{text} {between} {self.number(slack)}" if slack else text

    def spoken(self, row: Row) -> str:
        """Return the numbers of a row in words."""
        parts = [f"measured {self.measured(row.value, row.low, row.high)}"]
        if math.isfinite(row.predicted):
            parts.append(f"predicted {self.prediction(row)}")
        if math.isfinite(row.control_value):
            parts.append(f"rival {self.measured(row.control_value, row.control_low, row.control_high)}")
        return ", ".join(parts)

    def reason(self, text: str) -> str:
        """Return why a row has its result, with the limit in its units."""
        if not self.is_factor:
            return text
        return LIMIT.sub(lambda found: found[1] + NUMBER.sub(lambda one: factor(float(one[0])), found[2]), text)


def units(row: Row, label: str) -> Units:
    """Return how the numbers of a row are written. label: what they are, as `quantity_labels.unit` says it."""
    if row.rule not in OF_RATIOS:
        if label == LOG_RATIO:
            return Units(TIMES, True)
        if label.startswith(LOG_OF):
            return Units(label.removeprefix(LOG_OF), True)
    return Units(label)


def logarithms(row: Row, label: str) -> str:
    """Return the numbers of a row as they are judged, where readers see factors; else nothing."""
    return Units().spoken(row) if units(row, label).is_factor else ""


def work(flops: float) -> str:
    """Return counted floating-point operations with a unit."""
    if not flops > 0:
        return "–"
    exponent = min(int(math.log10(float(f"{flops:.3g}"))) // 3, 6)
    return f"{flops / 1000**exponent:.3g} {['', 'k', 'M', 'G', 'T', 'P', 'E'][exponent]}flop"
