"""How a study writes the rule of a claim with its prediction and slack: `test: "<= 0.667 + 0.166"`.

| test | rule |
| --- | --- |
| `"<= 1 + 0.1"` | upper |
| `">= 1 - 0.1"` | lower |
| `"= 1 +- 0.1"` | two-sided |
| `"> 0"`, `"> 1 - 0.1"` | ordering, above |
| `"< 0"`, `"< 1 + 0.1"` | ordering, below |
| `"~ 1 */ 1.5"` | published: the factor that a ratio to the printed number may reach |
| `bound` | bound |

The second number, the slack, may be left out. `hierlearn.pipeline.claims.rules` says what the rules mean.
"""

import math
import re
from typing import Any

from hierlearn.pipeline.claims.rules import SIGNS

NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
FORMS = {sign: rf"{sign} *(-?{NUMBER})(?: *{re.escape(before)} *({NUMBER}))?" for sign, (_, before, _) in SIGNS.items()}
PATTERN = rf"^(?:{'|'.join(FORMS.values())}|bound)$"
ALLOWED = f"{', '.join(example for *_, example in SIGNS.values())} or bound, the second number or none"


def read(test: str) -> dict[str, Any]:
    """Return rule, predicted, slack and side, without what a test leaves out. Raises ValueError where it is no test."""
    if test == "bound":
        return {"rule": "bound", "side": "above"}
    for sign, form in FORMS.items():
        if found := re.fullmatch(form, test):
            rule, numbers = SIGNS[sign][0], [_number(text) for text in found.groups() if text]
            if not all(map(math.isfinite, numbers)):
                break
            if rule == "published" and not (numbers[0] > 0 and min(numbers[1:], default=1) >= 1):
                raise ValueError('a number above 0 and a factor of at least 1, as in "~ 1 */ 1.5"')
            side = "below" if sign == "<" else "above"
            return {"rule": rule, "side": side} | dict(zip(("predicted", "slack"), numbers, strict=False))
    raise ValueError(ALLOWED)


def _number(text: str) -> float:
    """A whole number stays one: registered digests tell 1 from 1.0."""
    return int(text) if re.fullmatch("-?[0-9]+", text) else float(text)
