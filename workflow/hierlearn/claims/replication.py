"""What it takes to say of a primary row that its claim fails: Holm's correction over all primary rows, and a second,
independent draw on which it fails too."""

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from hierlearn.claims.rules import region
from hierlearn.claims.tally import NO_EVIDENCE
from hierlearn.claims.verdicts import result
from hierlearn.statistics.intervals import holm, p_beyond

# Verdicts of a primary row that need more than one draw.
FAILING = ("contradicted", "not seen")
# The probability, at most, that any of all primary rows fails by chance; that of one boundary of a 95 % interval alone.
LEVEL = 0.025

Row = Mapping[str, Any]


def standing(
    rows: Sequence[Row], second: Sequence[Row] = (), details: Mapping[str, Row] = MappingProxyType({})
) -> dict[str, str]:
    """What the verdict of every failing primary row still lacks, by claim; "" where it lacks nothing.

    rows: the ledger, as mappings of its columns; second: that of an independent draw of the same designs; details: by
    claim what is known of its measurement beside the columns, such as the degrees of freedom of its interval.
    """
    primary = [row for row in rows if row.get("rank") == "primary" and row["kind"] not in NO_EVIDENCE]
    adjusted = holm([p_value(row, details.get(row["claim"], {})) for row in primary])
    others = {row["claim"]: row for row in second}
    found = {}
    for row, p in zip(primary, adjusted, strict=True):
        if row["verdict"] not in FAILING:
            continue
        other = others.get(row["claim"])
        lacking = []
        if p > LEVEL:
            lacking.append(f"not beyond chance among {len(primary)} primary rows (Holm's p = {p:.2g}, above {LEVEL})")
        if other is None or other.get("draw") == row["draw"]:
            lacking.append("at one draw")
        elif other.get("digest") != row["digest"]:
            lacking.append("at one draw, as the second is of another design")
        elif other["verdict"] != row["verdict"]:
            lacking.append(f"result of a second draw: {result(other['verdict'])}")
        found[row["claim"]] = "; ".join(lacking)
    return found


def p_value(row: Row, detail: Row = MappingProxyType({})) -> float:
    """How probable a failing row's interval is, this far on the wrong side, at the boundary of its rule; 1 for others.

    A row that passes or is open has a larger one than any that fails, so that Holm's correction of the failing ones
    hangs on the number of others alone; with 1 for a row that *ends* it is larger than it need be, never smaller. A
    `holds` that fails is a case and no estimate: 0. A mean over seeds has a degree of freedom less than seeds; an
    interval about sizes has the `dof` of its detail, and never more than a mean here.
    """
    if row["verdict"] not in FAILING:
        return 1.0
    if row["rule"] == "holds":
        return 0.0
    value, low, high, predicted, slack = (_number(row[key]) for key in ("value", "low", "high", "predicted", "slack"))
    published = row["rule"] == "published"
    ends = region("published" if published else "two-sided", predicted, slack)
    if published and low > 0:
        value, low, high, *ends = map(math.log, (value, low, high, *ends))
    # An interval below the lower end fails at that one, and one above the upper end at the upper one.
    limit = ends[0] if high < ends[0] else ends[1]
    freedom, about_sizes = int(row["seeds"]) - 1, detail.get("dof")
    return p_beyond(value, low, high, limit, max(1, freedom if about_sizes is None else min(freedom, about_sizes)))


def _number(text: Any) -> float:
    """A number of a row or of a line of claims.csv, where none is an empty field."""
    return math.nan if text in ("", None) else float(text)
