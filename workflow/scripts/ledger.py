"""Builds the ledger of all studies: claims.nc, claims.csv and the page."""

from hierlearn.run import job

snakemake = job.start(globals())

from dataclasses import asdict, replace

import numpy as np

from hierlearn.claims.ledger import COLUMNS, column_attributes, csv_text, from_json
from hierlearn.claims.page.index import page
from hierlearn.claims.replication import standing
from hierlearn.claims.tally import read
from hierlearn.core import provenance
from hierlearn.files import checksums, results
from hierlearn.files.netcdf import Variable


def ledger(sources, second, table, csv, html, parameters, code, expected=None):
    """Join the claims of all studies.

    second: claims.csv of a second draw of the same designs, if there is one, in a list;
    parameters: the preset, and what the page says of each study; expected: file -> identity of the job that should have
    made it. claims.csv says nothing of what made it, for a reader of tables would take that for a row; claims.nc beside
    it does.
    """
    contents = [row for source in sources for row in results.read_claims(source, (expected or {}).get(source))]
    rows = [from_json({name: content[name] for name in COLUMNS}) for content in contents]
    lacking = standing(
        [asdict(row) for row in rows], [row for file in second for row in read(file, needed=("claim", "verdict"))]
    )
    beside = [lacking, parameters["earlier"]]
    rows = [
        replace(row, reason="; ".join(filter(None, [row.reason, *(b.get(row.claim) for b in beside)]))) for row in rows
    ]
    columns = {
        name: Variable(("row",), np.array([getattr(row, name) for row in rows]), column_attributes(name))
        for name in COLUMNS
        if rows
    }
    made = provenance.attributes(code, parameters)
    results.write(table, {"": columns}, made)
    checksums.write(csv, csv_text(rows).encode(), made)
    details = {content["claim"]: content["detail"] for content in contents}
    told = parameters["studies"], parameters["preset"], made, parameters["note"]
    checksums.write(html, page(rows, details, *told).encode(), made)


if snakemake:
    params, output = snakemake.params, snakemake.output
    sources = list(snakemake.input.claims), list(snakemake.input.get("second", []))
    ledger(*sources, output.table, output.csv, output.page, params.parameters, params.code, params.expected)
