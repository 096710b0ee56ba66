"""Builds the ledger of all studies: claims.nc, claims.csv and the page."""

from hierlearn.run import job

snakemake = job.start(globals())

from dataclasses import asdict
from pathlib import Path

import numpy as np

from hierlearn.claims.ledger import COLUMNS, column_attributes, csv_text, from_json, noted
from hierlearn.claims.page.index import page
from hierlearn.claims.replication import standing
from hierlearn.claims.tally import read
from hierlearn.core import provenance
from hierlearn.files import checksums, figures, results
from hierlearn.files.netcdf import Variable


def ledger(sources, second, table, csv, html, parameters, code, expected=None, drawn=()):
    """Join the claims of all studies.

    second: claims.csv of a second draw of the same designs, if there is one, in a list;
    parameters: the preset, and what the page says of each study; expected: file -> identity of the job that should have
    made it; drawn: figures of the studies, whose sizes the page names before it has loaded them. claims.csv says
    nothing of what made it, for a reader of tables would take that for a row; claims.nc beside it does.
    """
    contents = [row for source in sources for row in results.read_claims(source, (expected or {}).get(source))]
    rows = [from_json({name: content[name] for name in COLUMNS}) for content in contents]
    lacking = standing(
        [asdict(row) for row in rows], [row for file in second for row in read(file, needed=("claim", "verdict"))]
    )
    rows = noted(rows, lacking)
    told = noted(rows, parameters["earlier"])
    columns = {
        name: Variable(("row",), np.array([getattr(row, name) for row in told]), column_attributes(name))
        for name in COLUMNS
        if rows
    }
    made = provenance.attributes(code, parameters)
    results.write(table, {"": columns}, made)
    checksums.write(csv, csv_text(told).encode(), made)
    details = {content["claim"]: content["detail"] for content in contents}
    sizes = {Path(file).parent.name: figures.size(file) for file in drawn}
    studies = {name: study | {"figure_size": sizes.get(name)} for name, study in parameters["studies"].items()}
    said = parameters["note"], parameters["earlier"], parameters["folder"]
    checksums.write(html, page(rows, details, studies, parameters["preset"], made, *said).encode(), made)


if snakemake:
    params, output = snakemake.params, snakemake.output
    sources = list(snakemake.input.claims), list(snakemake.input.get("second", []))
    said = params.parameters, params.code, params.expected, list(snakemake.input.get("figures", []))
    ledger(*sources, output.table, output.csv, output.page, *said)
