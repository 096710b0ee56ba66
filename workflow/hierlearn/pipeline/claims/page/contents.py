"""What the page is made from: rows of finished studies, and what stands behind them.

As a process beside a run, `python -m` this module makes the page of the studies that have finished, while others run.
It reads from its input, as JSON, what the job of the ledger would be given, and prints how many seconds of CPU it took.
"""

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hierlearn.core import provenance
from hierlearn.pipeline.claims.ledger import COLUMNS, Row, from_json, noted
from hierlearn.pipeline.claims.page import findings
from hierlearn.pipeline.claims.page.index import page
from hierlearn.pipeline.claims.tally import comparison
from hierlearn.pipeline.files import checksums, figures, results


@dataclass(frozen=True)
class Contents:
    """rows: of the ledger; told: the same with what was found of them at earlier revisions; details: what stands behind
    a row, by claim."""

    rows: Sequence[Row]
    told: Sequence[Row]
    details: Mapping[str, Any]


def contents(
    sources: Sequence[str],
    parameters: Mapping[str, Any],
    expected: Mapping[str, Mapping[str, str]] | None = None,
) -> Contents:
    """Joins the claims of studies.

    sources: files claims.json; parameters: the preset, and what the page says of each study; expected: file -> identity
    of the job that should have made it.
    """
    found = [row for source in sources for row in results.read_claims(source, (expected or {}).get(source))]
    rows = [from_json({name: content[name] for name in COLUMNS}) for content in found]
    details = {content["claim"]: content["detail"] for content in found}
    return Contents(rows, noted(rows, parameters["earlier"]), details)


def html(made_from: Contents, parameters: Mapping[str, Any], made: Mapping[str, str], drawn: Sequence[str]) -> bytes:
    """The page. made: which code and versions; drawn: figures of the studies, whose sizes the page names before it has
    loaded them."""
    of_study = {Path(file).parent.name: file for file in drawn}
    sizes = {name: figures.size(file) for name, file in of_study.items()}
    studies = {name: study | {"figure_size": sizes.get(name)} for name, study in parameters["studies"].items()}
    said = {name: parameters[name] for name in ("preset", "papers", "note", "earlier", "folder", "reading", "stored")}
    compared = comparison(made_from.rows, parameters["compare"]) if parameters["compare"] else None
    said_of_papers = parameters["findings"]
    found = findings.in_one_sentence(said_of_papers, made_from.rows, parameters["papers"])
    shown = []
    for one in found:
        if one.study in of_study:
            figure = checksums.read(of_study[one.study]).decode()
            shown.append((one, findings.inline(said_of_papers, one, figure), f"{one.study}/figure.svg"))
    text = page(made_from.rows, made_from.details, studies, made=made, compared=compared, findings=shown, **said)
    return text.encode()


def early(given: dict[str, Any]) -> None:
    """Writes the page to given["page"]; given["parent"]: the process of the run, which if it has ended gets no page."""
    parameters = given["parameters"]
    made = provenance.attributes(given["code"], parameters)
    found = contents(given["claims"], parameters, given["expected"])
    text = html(found, parameters, made, given["figures"])
    if os.getppid() == given["parent"]:
        checksums.write(given["page"], text, made)


if __name__ == "__main__":
    early(json.load(sys.stdin))
    print(time.process_time())
