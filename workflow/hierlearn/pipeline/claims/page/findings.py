"""What was found of each paper, in sentences whose numbers are the ledger's, and pictures cut out of its figures."""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hierlearn.pipeline.claims.asked import Records
from hierlearn.pipeline.claims.ledger import Row
from hierlearn.pipeline.files import figures
from hierlearn.pipeline.files.load import load

FILE = "config/findings.yaml"
PICTURES = "docs/pictures"
BEGIN, END = "<!-- findings -->", "<!-- end of findings -->"
PAGE = "docs/ledger/index.html"
COVER = "cover"
# {CLAIM form} or {CLAIM control form}.
PLACEHOLDER = re.compile(r"\{([A-Z][\w-]*)( control)?(?: ([a-z-]+))?\}")


def read(file: Path) -> dict[str, Any]:
    """Return what is said of the papers, by key, and the cover; nothing where there is no file.

    Raises ValueError, one line, on a file with faults.
    """
    if not file.is_file():
        return {}
    content, faults = load(file, FILE)
    if faults:
        raise ValueError(str(faults[0]))
    return content


def claims(sentence: str) -> set[str]:
    """Return the rows whose numbers a sentence has."""
    return {found[1] for found in PLACEHOLDER.finditer(sentence)}


def told(sentence: str, rows: Mapping[str, Row]) -> str:
    """Return a sentence with the numbers of the ledger in their places. rows: by claim.

    Raises ValueError, one line, on a claim or a form that there is not.
    """

    def number(found: re.Match[str]) -> str:
        claim, control, form = found[1], bool(found[2]), found[3] or "value"
        if claim not in rows:
            raise ValueError(f"{FILE}: found {claim} in a sentence; expected a row of {PAGE}")
        if form not in FORMS:
            raise ValueError(f"{FILE}: found the form {form!r} of {claim}; expected one of {', '.join(FORMS)}")
        row = rows[claim]
        measured = (row.control_value, row.control_low, row.control_high) if control else (row.value, row.low, row.high)
        return FORMS[form](row, measured)

    return PLACEHOLDER.sub(number, " ".join(sentence.split()))


def plain(value: float, digits: int = 2) -> str:
    """Return a number in so many digits that count, as a reader writes it: 0.79, 15,000, −0.25."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    places = digits - 1 - math.floor(math.log10(abs(value)))
    return f"{round(value, places):,.{max(places, 0)}f}".replace("-", "−")


def _between(low: float, high: float) -> str:
    return f"{plain(low)} to {plain(high)}"


def _times(measured: Sequence[float]) -> tuple[float, float, float]:
    """What natural logarithms stand for, above 1: the factor by which one side is larger than the other."""
    found = [math.exp(math.copysign(1, measured[0]) * one) for one in measured]
    return found[0], min(found[1:]), max(found[1:])


FORMS = {
    "value": lambda row, measured: plain(measured[0]),
    "interval": lambda row, measured: _between(*measured[1:]),
    "times": lambda row, measured: plain(_times(measured)[0]),
    "times-interval": lambda row, measured: _between(*_times(measured)[1:]),
    "percent": lambda row, measured: plain(100 * measured[0]),
    "inverse": lambda row, measured: plain(1 / measured[0]),
    "predicted": lambda row, measured: plain(row.predicted),
    "predicted-percent": lambda row, measured: f"{100 * row.predicted:g}",
    "slack": lambda row, measured: f"{row.slack:g}",
}


def sections(
    said: Mapping[str, Any], rows: Sequence[Row], papers: Mapping[str, Mapping[str, str]], records: Records | None
) -> str:
    """Return what was found of every paper with stored rows, as Markdown for a README. A sentence on a row that is not
    stored is left out.

    said: as `read` returns it; rows: of the ledger; papers: as `papers.said` has them; records: what is known of every
    question.
    """
    known = {row.claim: row for row in rows}
    parts = [records.in_short()] if records else []
    for key, found in said.get("papers", {}).items():
        own = [row for row in rows if row.paper == key]
        if own:
            sentences = [one for one in found["sentences"] if claims(one) <= set(known)]
            parts += [
                f"### {papers[key]['name']} ([{key}]({papers[key]['link']}))",
                f"![{found['shows']}]({PICTURES}/{key}.svg)",
                " ".join(told(one, known) + _open(one, records) for one in sentences),
                f"{_tally(own, records)} [Every row]({PAGE}#paper-{key})",
            ]
    return "\n\n".join(parts)


def pictures(said: Mapping[str, Any], ledger: Path) -> dict[str, str]:
    """Return the pictures, SVG by name, that can be cut out of stored figures. ledger: the folder of stored studies."""
    found = {}
    for key, one in {COVER: said.get(COVER), **said.get("papers", {})}.items():
        figure = ledger / one["study"] / "figure.svg" if one else None
        if figure is not None and figure.is_file():
            text = figure.read_text(encoding="utf-8")
            found[key] = figures.part(text, one["box"], one.get("legend", ()), one.get("at", (0, 0)))
    return found


def _open(sentence: str, records: Records | None) -> str:
    """A mark behind a sentence on questions that are neither held nor failed by now."""
    known = records.questions if records else {}
    words = {known[claim].now for claim in claims(sentence) if claim in known}
    found = ", ".join(sorted(words - {"holds", "fails", ""}))
    return f" *({found})*" if found else ""


def _tally(rows: Sequence[Row], records: Records | None) -> str:
    """The outcomes of the primary rows by scope, one line."""
    return f"*Main claims: {records.in_scopes([vars(row) for row in rows])}.*" if records else ""


def put(text: str, between: str) -> str:
    """A README with findings between its two marks. Raises ValueError where it has not both, in this order."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"README.md: found no {END if begin else BEGIN}; expected {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{between}\n\n{END}{after}"
