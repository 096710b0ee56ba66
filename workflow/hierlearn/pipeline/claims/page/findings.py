"""The primary rows as a table of Markdown, for a README."""

import math
from collections.abc import Mapping, Sequence

from hierlearn.pipeline.claims.asked import Records, marked
from hierlearn.pipeline.claims.ledger import Row
from hierlearn.pipeline.claims.page.index import in_order, interval, number, outcomes, prediction
from hierlearn.pipeline.claims.rules import PASSES, UNDECIDED, outcome
from hierlearn.pipeline.claims.verdicts import INCONCLUSIVE, MARKS, result

BEGIN, END = "<!-- findings -->", "<!-- end of findings -->"
PAGE = "docs/ledger/index.html"
HEAD = (
    "| first question: then | now | the question as it stands, one draw | what the paper says "
    "| measured [95 % interval] | predicted |\n| --- | --- | --- | --- | --- | --- |"
)


def table(
    rows: Sequence[Row],
    papers: Mapping[str, Mapping[str, str]],
    units: Mapping[str, str],
    records: Records | None = None,
) -> str:
    """The primary rows of a ledger by paper, below what the records come to. papers: as the page has them; units:
    what the number of a claim is, as far as it is known; records: what is known of every question."""
    parts = ["\n".join(f"- {line}" for line in records.headline([vars(row) for row in rows]))] if records else []
    for key, paper in papers.items():
        own = [row for row in rows if row.paper == key and row.rank == "primary" and row.rule != "descriptive"]
        if own:
            lines = [HEAD]
            lines += [_line(row, units.get(row.claim, ""), records) for row in in_order(own)]
            parts += [f"**{paper['citation']}**: {_counts(own, records)}.", "\n".join(lines)]
    return "\n\n".join(parts)


def _counts(rows: Sequence[Row], records: Records | None) -> str:
    presets = " and ".join(sorted({f"`{row.preset}`" for row in rows}))
    if records:
        return f"{len(rows)} primary rows at preset {presets}, by their first questions {records.told(_claims(rows))}"
    return f"{len(rows)} primary rows at preset {presets}, " + ", ".join(f"{n} {name}" for _, name, n in outcomes(rows))


def _claims(rows: Sequence[Row]) -> list[str]:
    return [row.claim for row in rows]


def _line(row: Row, unit: str, records: Records | None) -> str:
    statement = row.statement.rstrip(".").replace("\\|", "\\Vert ").replace("|", "\\vert ")
    measured = " ".join(filter(None, [number(row.value), interval(row.low, row.high), unit]))
    found = f"{MARKS[row.verdict]} {result(row.verdict)}"
    if row.verdict == INCONCLUSIVE and row.control_verdict == UNDECIDED:
        slack = None if math.isnan(row.slack) else row.slack
        rule = outcome(row.rule, row.value, row.low, row.high, row.predicted, slack, row.side)[0]
        found += ": the control is undecided" if rule == PASSES else ""
    known = records.questions.get(row.claim) if records else None
    later = "asked later: " if known and known.fields else ""
    then, now = (marked(known.then), marked(known.now)) if known else ("–", "–")
    named = f"[{row.claim}]({PAGE}#{row.claim}), {row.place}"
    told = f"{named}: {statement}" + (f". *{known}*" if known else "")
    return f"| {then} | {now} | {later}{found} | {told} | {measured} | {prediction(row)} |"


def put(text: str, between: str) -> str:
    """A README with a table between its two marks. Raises ValueError where it has not both, in this order."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"README.md: found no {END if begin else BEGIN}; expected {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{between}\n\n{END}{after}"
