"""Numbers in the words of a claim: `{predicted}` or `{steps}` in a statement stands for a field of the claim.

So a statement cannot say another number than its test, its sizes or its training has. Braces between dollars are
LaTeX's.
"""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from hierlearn.core import registry
from hierlearn.pipeline.plan.study import Study
from hierlearn.pipeline.plan.study_spec import Claim, Component

# What a claim says in sentences of its own; the name of its rival has the numbers of the rival's quantity.
WORDS = ("statement", "remark")
PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
# Tests that allow numbers on both sides of the prediction; the others have one limit.
AROUND = {"two-sided": 0.0, "published": 1.0}


def values(study: Study, claim: Claim, quantity: Component | None) -> dict[str, str]:
    """Return what each placeholder of a claim stands for, as text.

    The test gives `predicted`, `slack` and `limit`, where the interval has to lie, its size without a sign as
    `margin`, and of a logarithm the `factor` that it is and by how many `percent` that differs from 1. A parameter of
    the quantity and of its `where`, an axis of one value, and a parameter in which the learners and probes that the
    quantity names agree, have their own names.
    """
    found: dict[str, Any] = {axis: known[0] for axis, known in study.axes.items() if len(known) == 1}
    described = [part for part in _parts(study, quantity or {}) if part]
    for name in dict.fromkeys(key for part in described for key in part):
        known = [part[name] for part in described if name in part]
        if all(value == known[0] for value in known):
            found[name] = known[0]
    said = dict(quantity or {})
    for key in [key for key in said if key == "where" or key.endswith("_where")]:
        found |= said.pop(key) or {}
    texts = {name: text for name, value in (found | said).items() if (text := _text(value))}
    return texts | {name: _rounded(value) for name, value in _of_test(claim).items()}


def fill(text: str, known: Mapping[str, str]) -> str:
    """Return a text with the numbers of its placeholders; unknown ones, which the checks refuse, stay."""
    return _outside_formulas(text, lambda found: known.get(found[1], found[0]))


def unknown(text: str, known: Mapping[str, str]) -> Iterator[str]:
    """Yield the placeholders of a text that stand for nothing."""
    names: list[str] = []
    _outside_formulas(text, lambda found: names.append(found[1]) or found[0])
    yield from (name for name in names if name not in known)


def _outside_formulas(text: str, put: Any) -> str:
    parts = text.split("$")
    return "$".join(PLACEHOLDER.sub(put, part) if i % 2 == 0 else part for i, part in enumerate(parts))


def _of_test(claim: Claim) -> dict[str, float]:
    """The numbers of a test, the limit with its slack."""
    if claim.predicted is None:
        return {}
    slack = claim.slack if claim.slack is not None else AROUND.get(claim.rule or "", 0.0)
    found: dict[str, float] = {"predicted": claim.predicted}
    found |= {} if claim.slack is None else {"slack": claim.slack}
    if claim.rule == "published":
        return found | {"factor": slack}
    if claim.rule in AROUND:
        size = abs(slack)
    else:
        is_below = claim.rule == "upper" or claim.side == "below"
        found["limit"] = claim.predicted + slack if is_below else claim.predicted - slack
        found["margin"] = size = abs(found["limit"])
    # Beyond this no quantity is a logarithm, and there is no such factor.
    factor = float(f"{math.exp(size):.3g}") if size < 20 else math.nan
    return found | ({} if math.isnan(factor) else {"factor": factor, "percent": round(100 * (factor - 1), 1)})


def _parts(study: Study, quantity: Component) -> Iterator[Mapping[str, Any]]:
    """The components of the learners and probes that a quantity names, with their defaults."""
    for value in quantity.values():
        for name in value if isinstance(value, list) else [value]:
            if not isinstance(name, str):
                continue
            if name in study.learners:
                yield _full("learners", study.learners[name].component)
            elif name in study.probes:
                probe = _full("probes", study.probes[name].component)
                yield probe
                # What it trains.
                yield from (part for part in probe.values() if isinstance(part, dict) and "name" in part)


def _full(kind: str, component: Component | None) -> Mapping[str, Any]:
    return registry.defaults(kind, component["name"]) | component if component else {}


def _rounded(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}".replace(",", " ")


def _text(value: Any) -> str:
    """A number as a text, of several the first and the last; "" for all else."""
    if isinstance(value, bool) or not isinstance(value, int | float | list):
        return ""
    if isinstance(value, list):
        if not value or not all(isinstance(one, int | float) and not isinstance(one, bool) for one in value):
            return ""
        ends = sorted(value)
        return _text(ends[0]) if len(ends) == 1 else f"{_text(ends[0])} to {_text(ends[-1])}"
    return str(value) if isinstance(value, int) else f"{value:.6g}"
