"""What was found of each paper, in sentences whose numbers are the ledger's, and pictures cut out of its figures."""

import base64
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Finding:
    """What was found of a paper in one sentence. name: of the paper; claims: the rows with its numbers; study, picture:
    whose figure shows it, and the picture of it; shows: what one sees there."""

    paper: str
    name: str
    sentence: str
    claims: tuple[str, ...]
    study: str
    picture: str
    shows: str


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
    return set(_in_order(sentence))


def _in_order(sentence: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(found[1] for found in PLACEHOLDER.finditer(sentence)))


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
        return FORMS[form](rows[claim], _measured(rows[claim], control))

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


def in_one_sentence(
    said: Mapping[str, Any], rows: Sequence[Row], papers: Mapping[str, Mapping[str, str]]
) -> list[Finding]:
    """Return of every paper the sentence that stands by itself, or else its first one with numbers that are measured.

    said, rows, papers: as for `sections`.
    """
    known, found = {row.claim: row for row in rows}, []
    for key, one in said.get("papers", {}).items():
        alone = one.get("alone")
        candidates = [(alone["sentence"], alone.get("picture", key))] if alone else []
        candidates += [(sentence, key) for sentence in one["sentences"]]
        first = next((each for each in candidates if _is_measured(each[0], known)), None)
        if first and key in papers:
            sentence, picture = first
            shown = said[COVER] if picture == COVER else one
            words, named, sees = told(sentence, known), _in_order(sentence), shown.get("shows", "")
            found.append(Finding(key, papers[key]["name"], words, named, shown["study"], picture, sees))
    return found


def _is_measured(sentence: str, rows: Mapping[str, Row]) -> bool:
    """Whether a sentence has numbers, and all of them are there."""
    named = list(PLACEHOLDER.finditer(sentence))
    return bool(named) and all(one[1] in rows and all(map(math.isfinite, _needed(one, rows[one[1]]))) for one in named)


def _needed(found: re.Match[str], row: Row) -> Sequence[float]:
    """The numbers of a row that a placeholder shows."""
    measured = _measured(row, bool(found[2]))
    return measured if "interval" in (found[3] or "") else measured[:1]


def _measured(row: Row, control: bool) -> tuple[float, float, float]:
    return (row.control_value, row.control_low, row.control_high) if control else (row.value, row.low, row.high)


def pictures(said: Mapping[str, Any], ledger: Path) -> dict[str, str]:
    """Return the pictures, SVG by name, that can be cut out of stored figures. ledger: the folder of stored studies."""
    found = {}
    for key, one in _cut(said).items():
        figure = ledger / one["study"] / "figure.svg"
        if figure.is_file():
            text = figure.read_text(encoding="utf-8")
            found[key] = figures.part(text, one["box"], one.get("legend", ()), one.get("at", (0, 0)))
    return found


def inline(said: Mapping[str, Any], found: Finding, text: str) -> str:
    """Return the picture of a finding as an address that holds it: what is cut out of the figure of a run, where panels
    have not quite the place that they have in the stored one. text: the figure, SVG."""
    one = _cut(said)[found.picture]
    box, at = figures.around(text, one["box"]), one.get("at", (0, 0))
    known = figures.legend(text)
    shift = [place + new - old for place, new, old in zip(at, box, one["box"], strict=False)]
    cut = figures.part(text, box, [name for name in one.get("legend", ()) if name in known], shift)
    return f"data:image/svg+xml;base64,{base64.b64encode(cut.encode()).decode()}"


def _cut(said: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of the pictures, by name."""
    return {key: one for key, one in {COVER: said.get(COVER), **said.get("papers", {})}.items() if one}


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
