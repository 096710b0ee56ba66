"""The ledger: one row per claim, the same columns in memory, in JSON and in claims.csv."""

import csv
import io
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from numbers import Integral, Real
from typing import Annotated, Any, get_args, get_type_hints

from hierlearn.core.aliases import present_rule
from hierlearn.pipeline.claims.rules import RULES, SIDES
from hierlearn.pipeline.claims.verdicts import (
    CONTROL_OUTCOMES,
    INCONCLUSIVE,
    KINDS,
    MISSING,
    NO_CONTROL,
    RANKS,
    REGIMES,
    VERDICTS,
    WITHOUT_REGIME,
)


@dataclass(frozen=True)
class Row:
    """One claim and what was found. The fields are the columns of claims.csv, in order, with what each holds.

    kind, rank, regime: in the words of `verdicts`; regime is "" for kinds that have none. side: "" but under the rule
    `ordering`. value, low, high, predicted, slack and the control's ends: in the units of the quantity, NaN where there
    is none; under the rule `bound`, the largest ratio to the bound, and from the smallest to the largest over seeds,
    or the interval of a mean. verdict: "" for a description. draw, revision, digest: "" where no design is registered.
    """

    claim: Annotated[str, "claim, with a suffix where it has several rows"]
    paper: str
    place: Annotated[str, "place in the paper"]
    kind: Annotated[str, "kind of the claim"]
    rank: Annotated[str, "primary, what a theorem, figure or table is judged by, or secondary"]
    regime: Annotated[str, "whether the hypotheses are met where it was measured"]
    statement: str
    rule: Annotated[str, "rule that gives the verdict"]
    side: Annotated[str, "side of the prediction where an ordering has the interval: above, below"]
    value: Annotated[float, "measured value"]
    low: Annotated[float, "lower end of the 95 % interval"]
    high: Annotated[float, "upper end of the 95 % interval"]
    predicted: Annotated[float, "predicted value"]
    slack: Annotated[float, "what the rule allows beyond the prediction"]
    rival: Annotated[str, "negative control: what is measured in the claim's place"]
    control_value: Annotated[float, "measured value of the control"]
    control_low: Annotated[float, "lower end of the control's interval"]
    control_high: Annotated[float, "upper end of the control's interval"]
    control_verdict: Annotated[str, "what the claim's rule makes of the control"]
    verdict: str
    sizes: Annotated[str, "sizes that the value rests on"]
    reason: Annotated[str, "why the verdict is what it is"]
    skipped: Annotated[str, "sizes, seeds and cases that did not count, of the rival too"]
    outside: Annotated[str, "hypotheses that are broken"]
    remark: Annotated[str, "what else a reader must know"]
    before: Annotated[str, "what earlier revisions and draws found"]
    preset: str
    draw: Annotated[str, "draw of the random streams"]
    revision: Annotated[str, "revision of the design"]
    digest: Annotated[str, "digest of the registered design"]
    seeds: Annotated[int, "independent repetitions that the value rests on"]
    flops: Annotated[float, "floating-point operations of matrix products, counted"]
    study: str
    figure: Annotated[str, "figure, relative to the preset's folder"]
    data: Annotated[str, "file that the value was read from, relative to the preset's folder"]

    @property
    def is_exact(self) -> bool:
        """Whether nothing in a judged row is random, so that it needs no second draw."""
        return bool(self.verdict) and self.low == self.value == self.high


TYPES = get_type_hints(Row)
COLUMNS = tuple(TYPES)
NUMBERS = tuple(name for name, kind in TYPES.items() if kind is float)
# What counts as a number, those of numpy too.
NUMERIC = {int: Integral, float: Real}
REQUIRED = ("claim", "paper", "place", "statement", "preset", "study")


def column_attributes(column: str) -> dict[str, str]:
    """Attributes of a column in claims.nc; numbers are in the units of the claim's quantity, counts and ratios."""
    units = {"units": "1"} if column in (*NUMBERS, "seeds") else {}
    said = get_args(Row.__annotations__[column])[1:]
    return {"long_name": said[0] if said else column} | units


def to_json(row: Row, positive: bool = False) -> dict[str, Any]:
    """The row as a dict that strict JSON can hold: NaN becomes None, numpy numbers become Python's.

    positive: whether the quantity is. Raises ValueError on a row that `faults` objects to.
    """
    _refuse(faults([row], {row.claim} if positive else ()))
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
    row = Row(**{**content, **numbers, "rule": present_rule(content["rule"])})
    _refuse(faults([row]))
    return row


def noted(rows: Iterable[Row], notes: Mapping[str, str]) -> list[Row]:
    """The rows with what was found before, by claim."""
    return [replace(row, before=notes.get(row.claim, "")) for row in rows]


def csv_text(rows: Iterable[Row]) -> str:
    """claims.csv as text: a header, one line per row in the order given, "\\n" line ends, numbers to six
    significant digits, NaN as an empty field. Equal rows give equal bytes. Raises ValueError on rows that
    `faults` objects to."""
    rows = list(rows)
    _refuse(faults(rows))
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(as_text(row).values() for row in rows)
    return file.getvalue()


def as_text(row: Row) -> dict[str, str]:
    """The fields of a row as claims.csv has them: numbers to six significant digits, NaN as an empty text."""
    return {name: _number(one) if name in NUMBERS else str(one) for name, one in asdict(row).items()}


def faults(rows: Iterable[Row], positive: Collection[str] = ()) -> list[str]:
    """Everything wrong with the rows, one line each that names the row and the column; empty if they are
    sound. positive: the claims whose quantities are."""
    found, seen = [], set()
    for row in rows:
        wrong = _type_faults(row) or [*_word_faults(row), *_number_faults(row, row.claim in positive)]
        found += [f"claim {row.claim!r}: {fault}" for fault in wrong]
        if (row.preset, row.claim) in seen:
            found.append(f"claim {row.claim!r}: stands twice in preset {row.preset!r}")
        seen.add((row.preset, row.claim))
    return found


def _word_faults(row: Row) -> list[str]:
    found = [f"{name} is empty" for name in REQUIRED if not getattr(row, name).strip()]
    for name, known in (("kind", KINDS), ("rank", RANKS), ("rule", RULES), ("control_verdict", CONTROL_OUTCOMES)):
        if getattr(row, name) not in known:
            found.append(f"{name} {getattr(row, name)!r}; expected one of {', '.join(known)}")
    sides = SIDES if row.rule == "ordering" else ("",)
    if row.side not in sides:
        found.append(f"side {row.side!r} under the rule {row.rule!r}; expected {' or '.join(map(repr, sides))}")
    described = row.kind == "description"
    if described != (row.rule == "descriptive"):
        found.append(f"rule {row.rule!r} of the kind {row.kind!r}; a description alone is descriptive")
    elif described and row.verdict:
        found.append(f"verdict {row.verdict!r} of a description, which has none")
    elif not described and row.verdict not in VERDICTS:
        found.append(f"verdict {row.verdict!r}; expected one of {', '.join(VERDICTS)}")
    regimes = ("",) if row.kind in WITHOUT_REGIME else tuple(REGIMES)
    if row.regime not in regimes:
        found.append(f"regime {row.regime!r} of the kind {row.kind!r}; expected {' or '.join(map(repr, regimes))}")
    if not described and row.kind != "check" and row.control_verdict == NO_CONTROL:
        found.append("judged without a control")
    if row.control_verdict not in (NO_CONTROL, MISSING) and not row.rival.strip():
        found.append("rival is empty")
    if row.verdict == INCONCLUSIVE and not row.reason.strip():
        found.append("inconclusive without a reason")
    return found + [f"{name} holds a line break" for name in COLUMNS if "\n" in str(getattr(row, name))]


def _number_faults(row: Row, positive: bool) -> list[str]:
    found = [f"{name} is infinite" for name in NUMBERS if math.isinf(getattr(row, name))]
    for name in ("", "control_"):
        value, low, high = (getattr(row, name + part) for part in ("value", "low", "high"))
        if low > high:
            found.append(f"{name}interval [{low}, {high}] is upside down")
        elif value < low or value > high:
            found.append(f"{name}value {value} lies outside its interval [{low}, {high}]")
        if positive and low < 0:
            found.append(f"{name}low {low} of a quantity that is positive")
    if row.seeds < 0 or row.flops < 0:
        found.append(f"seeds {row.seeds}, flops {row.flops}; expected no negative count")
    return found


def _type_faults(row: Row) -> list[str]:
    return [
        f"{name} is {value!r}; expected {TYPES[name].__name__}"
        for name, value in asdict(row).items()
        if isinstance(value, bool) or not isinstance(value, NUMERIC.get(TYPES[name], str))
    ]


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.6g}"


def _refuse(problems: list[str]) -> None:
    if problems:
        raise ValueError("; ".join(problems))
