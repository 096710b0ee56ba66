"""The primary rows as a table of Markdown, for a README."""

import math
from collections.abc import Mapping, Sequence

from hierlearn.claims.ledger import Row
from hierlearn.claims.page.index import in_order, interval, number, outcomes, prediction
from hierlearn.claims.rules import PASSES, UNDECIDED, outcome
from hierlearn.claims.verdicts import INCONCLUSIVE, MARKS

BEGIN, END = "<!-- findings -->", "<!-- end of findings -->"
PAGE = "docs/ledger/index.html"
HEAD = "| | what the paper says | measured [95 % interval] | predicted |\n| --- | --- | --- | --- |"


def table(
    rows: Sequence[Row],
    papers: Mapping[str, Mapping[str, str]],
    lacking: Mapping[str, str],
    units: Mapping[str, str],
) -> str:
    """The primary rows of a ledger by paper, with how many of them survived. papers: as the page has them; lacking: as
    `replication.standing` gives it; units: what the number of a claim is, as far as it is known."""
    parts = []
    for key, paper in papers.items():
        own = [row for row in rows if row.paper == key and row.rank == "primary" and row.rule != "descriptive"]
        if own:
            lines = [HEAD, *(_line(row, lacking.get(row.claim), units.get(row.claim, "")) for row in in_order(own))]
            parts += [f"**{paper['citation']}**: {_counts(own)}.", "\n".join(lines)]
    return "\n\n".join(parts)


def _counts(rows: Sequence[Row]) -> str:
    told = [f"{count} {name}" for _, name, count in outcomes(rows)]
    presets = " and ".join(sorted({f"`{row.preset}`" for row in rows}))
    return f"of {len(rows)} primary rows at preset {presets} {', '.join(told)}"


def _line(row: Row, lacking: str | None, unit: str) -> str:
    statement = row.statement.rstrip(".").replace("\\|", "\\Vert ").replace("|", "\\vert ")
    measured = " ".join(filter(None, [number(row.value), interval(row.low, row.high), unit]))
    if row.verdict == INCONCLUSIVE and row.control_verdict == UNDECIDED:
        slack = None if math.isnan(row.slack) else row.slack
        rule = outcome(row.rule, row.value, row.low, row.high, row.predicted, slack, row.side)[0]
        lacking = "the control is undecided" if rule == PASSES else lacking
    verdict = f"{MARKS[row.verdict]} {row.verdict}" + (f": {lacking}" if lacking else "")
    named = f"[{row.claim}]({PAGE}#{row.claim}), {row.place}"
    return f"| {verdict} | {named}: {statement} | {measured} | {prediction(row)} |"


def put(text: str, between: str) -> str:
    """A README with a table between its two marks. Raises ValueError where it has not both, in this order."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"README.md: found no {END if begin else BEGIN}; expected {BEGIN} and {END}")
    return f"{before}{BEGIN}\n\n{between}\n\n{END}{after}"
