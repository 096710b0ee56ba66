"""Rows of the ledger as a table in LaTeX."""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from hierlearn.pipeline.claims.ledger import Row
from hierlearn.pipeline.claims.readable import units
from hierlearn.pipeline.claims.verdicts import result

SPECIAL = re.compile(r"[&%#_{}~^\\]")
WRITTEN = {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
MATHEMATICS = re.compile(r"(\$[^$]*\$)")
# Signs of a limit and of a number, and what LaTeX has in a formula for them.
SIGNS = {
    "× or ÷": r"\times\!/\!\div",
    "×": r"\times",
    "÷": r"\div",
    "≤": r"\le",
    "≥": r"\ge",
    "≈": r"\approx",
    "·": r" \cdot ",
    "±": r"\pm",
    "−": "-",
    ",": "{,}",
}
POWER = re.compile("10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
LOWERED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
HEAD = r"""% Needs \usepackage{booktabs}. Brackets are 95 % intervals.
\begin{tabular}{lp{0.5\linewidth}lll}
\toprule
Row & Statement & Measured & Limit & Result \\
\midrule
"""
FOOT = "\\bottomrule\n\\end{tabular}\n"


def table(rows: Iterable[Row], labels: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return a table, a line for each row. labels: what the numbers of rows are, by claim."""
    return HEAD + "".join(line(row, labels.get(row.claim, "")) + "\n" for row in rows) + FOOT


def line(row: Row, label: str = "", word: str = "") -> str:
    """Return the line of a row. label: what its numbers are; word: its outcome, else the result of its draw."""
    written = units(row, label)
    value, behind = written.parts(row.value, row.low, row.high)
    first, _, unit = value.partition(" ")
    measured = " ".join(filter(None, [_formula(first), _written(unit), _brackets(behind)])) if first != "–" else ""
    limit = written.prediction(row)
    predicted = _formula(limit) if limit != "–" else ""
    cells = _written(row.claim), _written(row.statement), measured, predicted, word or result(row.verdict)
    return f"{' & '.join(cells)} \\\\"


def _formula(text: str) -> str:
    """A number or a limit of the page as a formula."""
    for sign, written in SIGNS.items():
        text = text.replace(sign, written)
    return f"${POWER.sub(_power, text)}$"


def _power(found: re.Match[str]) -> str:
    return f"10^{{{found[1].translate(LOWERED)}}}"


def _brackets(text: str) -> str:
    """An interval and a unit: in the interval a minus and a power of ten need a formula."""
    interval, bracket, unit = text.rpartition("]")
    ends = interval.removeprefix("[").split(", ") if bracket else []
    formulas = [_formula(end) if re.search("[−·⁰-⁹¹²³]", end) else end for end in ends]
    return f"[{', '.join(formulas)}]{_written(unit)}" if ends else _written(unit)


def _written(text: str) -> str:
    """A text of the page as LaTeX, its mathematics as it is."""
    parts = MATHEMATICS.split(text)
    return "".join(part if i % 2 else SPECIAL.sub(_escaped, part) for i, part in enumerate(parts))


def _escaped(found: re.Match[str]) -> str:
    return WRITTEN.get(found[0], f"\\{found[0]}")
