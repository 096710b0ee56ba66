"""The ledger: one row per claim, the same columns in memory, in JSON and in claims.csv."""

import csv
import io
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from hierlearn.claims.rules import INCONCLUSIVE, RULES, VERDICTS


@dataclass(frozen=True)
class Row:
    """One claim and what was found. The fields are the columns of claims.csv, in order.

    claim: as in the claims document, with a suffix where one claim has several rows (C1-p4). value, low,
    high, predicted and slack: in the units of the quantity, NaN where there is none. verdict: supported,
    contradicted or inconclusive, "" under the rule `descriptive`. seeds: how many the value rests on. flops:
    counted, not timed. figure, data: paths relative to the preset's folder."""

    claim: str
    paper: str
    place: str
    statement: str
    rule: str
    label: str
    value: float
    low: float
    high: float
    predicted: float
    slack: float
    verdict: str
    reason: str
    preset: str
    seeds: int
    flops: float
    study: str
    figure: str
    data: str


COLUMNS = tuple(field.name for field in fields(Row))
NUMBERS = tuple(field.name for field in fields(Row) if field.type is float)
TEXTS = {
    "claim": "claim, with a suffix where it has several rows",
    "place": "place in the paper",
    "rule": "rule that gives the verdict",
    "label": "primary or secondary",
    "value": "measured value",
    "low": "lower end of the 95 % interval",
    "high": "upper end of the 95 % interval",
    "predicted": "predicted value",
    "slack": "what the rule allows beyond the prediction",
    "seeds": "independent repetitions that the value rests on",
    "flops": "floating-point operations of matrix products, counted",
    "figure": "figure, relative to the preset's folder",
    "data": "file that the value was read from, relative to the preset's folder",
}
REQUIRED = ("claim", "paper", "place", "statement", "preset", "study")


def column_attributes(column: str) -> dict[str, str]:
    """Attributes of a column in claims.nc; numbers are in the units of the claim's quantity, counts and ratios."""
    units = {"units": "1"} if column in (*NUMBERS, "seeds") else {}
    return {"long_name": TEXTS.get(column, column)} | units


def to_json(row: Row) -> dict[str, Any]:
    """The row as a dict that strict JSON can hold: NaN becomes None, numpy numbers become Python's.

    Raises ValueError on a row that `faults` objects to.
    """
    _refuse(faults([row]))
    content = asdict(row)
    for name in NUMBERS:
        content[name] = None if math.isnan(content[name]) else float(content[name])
    return {**content, "seeds": int(row.seeds)}


def from_json(content: Mapping[str, Any]) -> Row:
    """The row that `to_json` wrote. Raises ValueError on a missing or unknown column and on what `faults`
    objects to."""
    missing, unknown = [c for c in COLUMNS if c not in content], [c for c in content if c not in COLUMNS]
    if missing or unknown:
        raise ValueError(f"a claim's columns: missing {missing}, unknown {unknown}")
    numbers = {name: math.nan if content[name] is None else content[name] for name in NUMBERS}
    row = Row(**{**content, **numbers})
    _refuse(faults([row]))
    return row


def csv_text(rows: Iterable[Row]) -> str:
    """claims.csv as text: a header, one line per row in the order given, "\\n" line ends, numbers to six
    significant digits, NaN as an empty field. Equal rows give equal bytes. Raises ValueError on rows that
    `faults` objects to."""
    rows = list(rows)
    _refuse(faults(rows))
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        content = asdict(row)
        writer.writerow([_number(content[name]) if name in NUMBERS else content[name] for name in COLUMNS])
    return file.getvalue()


def faults(rows: Iterable[Row]) -> list[str]:
    """Everything wrong with the rows, one line each that names the row and the column; empty if they are
    sound."""
    found, seen = [], set()
    for row in rows:
        found += [f"claim {row.claim!r}: {fault}" for fault in _row_faults(row)]
        if (row.preset, row.claim) in seen:
            found.append(f"claim {row.claim!r}: stands twice in preset {row.preset!r}")
        seen.add((row.preset, row.claim))
    return found


def _row_faults(row: Row) -> list[str]:
    wrong = _type_faults(row)
    if wrong:
        return wrong
    found = [f"{name} is empty" for name in REQUIRED if not getattr(row, name).strip()]
    found += [f"{name} is infinite" for name in NUMBERS if math.isinf(getattr(row, name))]
    if row.rule not in RULES:
        found.append(f"rule {row.rule!r}; expected one of {', '.join(RULES)}")
    elif row.rule == "descriptive" and row.verdict:
        found.append(f"verdict {row.verdict!r} under the rule 'descriptive', which gives none")
    elif row.rule != "descriptive" and row.verdict not in VERDICTS:
        found.append(f"verdict {row.verdict!r}; expected one of {', '.join(VERDICTS)}")
    if row.verdict == INCONCLUSIVE and not row.reason.strip():
        found.append("inconclusive without a reason")
    if row.low > row.high:
        found.append(f"interval [{row.low}, {row.high}] is upside down")
    if row.seeds < 0 or row.flops < 0:
        found.append(f"seeds {row.seeds}, flops {row.flops}; expected no negative count")
    found += [f"{name} holds a line break" for name in COLUMNS if "\n" in str(getattr(row, name))]
    return found


def _type_faults(row: Row) -> list[str]:
    found = []
    for field in fields(Row):
        value = getattr(row, field.name)
        if field.type is str:
            sound = isinstance(value, str)
        elif field.type is int:
            sound = hasattr(value, "__index__") and not isinstance(value, bool)
        else:
            sound = not isinstance(value, (str, bytes, bool)) and hasattr(value, "__float__")
        if not sound:
            found.append(f"{field.name} is {value!r}; expected {field.type.__name__}")
    return found


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.6g}"


def _refuse(problems: list[str]) -> None:
    if problems:
        raise ValueError("; ".join(problems))
