"""What the page is made from: rows of finished studies, and what stands behind them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hierlearn.claims.ledger import COLUMNS, Row, from_json, noted
from hierlearn.claims.page.comparison import comparison
from hierlearn.claims.page.index import page
from hierlearn.claims.replication import standing
from hierlearn.claims.tally import read
from hierlearn.files import figures, results


@dataclass(frozen=True)
class Contents:
    """rows: of the ledger; told: the same with what was found of them at earlier revisions; details: what stands behind
    a row, by claim."""

    rows: Sequence[Row]
    told: Sequence[Row]
    details: Mapping[str, Any]


def contents(
    sources: Sequence[str],
    second: Sequence[str],
    parameters: Mapping[str, Any],
    expected: Mapping[str, Mapping[str, str]] | None = None,
) -> Contents:
    """Joins the claims of studies.

    sources: files claims.json; second: claims.csv of a second draw of the same designs, if there is one; parameters:
    the preset, and what the page says of each study; expected: file -> identity of the job that should have made it.
    """
    found = [row for source in sources for row in results.read_claims(source, (expected or {}).get(source))]
    rows = [from_json({name: content[name] for name in COLUMNS}) for content in found]
    lacking = standing(
        [asdict(row) for row in rows], [row for file in second for row in read(file, needed=("claim", "verdict"))]
    )
    rows = noted(rows, lacking)
    details = {content["claim"]: content["detail"] for content in found}
    return Contents(rows, noted(rows, parameters["earlier"]), details)


def html(made_from: Contents, parameters: Mapping[str, Any], made: Mapping[str, str], drawn: Sequence[str]) -> bytes:
    """The page. made: which code and versions; drawn: figures of the studies, whose sizes the page names before it has
    loaded them."""
    sizes = {Path(file).parent.name: figures.size(file) for file in drawn}
    studies = {name: study | {"figure_size": sizes.get(name)} for name, study in parameters["studies"].items()}
    said = parameters["papers"], parameters["note"], parameters["earlier"], parameters["folder"]
    compared = comparison(made_from.rows, parameters["compare"]) if parameters["compare"] else None
    return page(made_from.rows, made_from.details, studies, parameters["preset"], made, *said, compared).encode()
