"""Builds the ledger of all studies: claims.nc, claims.csv and the page."""

from hierlearn.pipeline.run import job

snakemake = job.start(globals())

import numpy as np

from hierlearn.core import provenance
from hierlearn.pipeline.claims.ledger import COLUMNS, column_attributes, csv_text
from hierlearn.pipeline.claims.page.contents import contents, html
from hierlearn.pipeline.files import checksums, results
from hierlearn.pipeline.files.netcdf import Variable


def ledger(sources, table, csv, page, parameters, code, expected=None, drawn=()):
    """Join the claims of all studies.

    parameters: the preset, and what the page says of each study; expected: file -> identity of the job that should have
    made it; drawn: figures of the studies, whose sizes the page names before it has loaded them. claims.csv says
    nothing of what made it, for a reader of tables would take that for a row; claims.nc beside it does.
    """
    found = contents(sources, parameters, expected)
    columns = {
        name: Variable(("row",), np.array([getattr(row, name) for row in found.told]), column_attributes(name))
        for name in COLUMNS
        if found.rows
    }
    made = provenance.attributes(code, parameters)
    results.write(table, {"": columns}, made)
    checksums.write(csv, csv_text(found.told).encode(), made)
    checksums.write(page, html(found, parameters, made, drawn), made)


if snakemake:
    params, output = snakemake.params, snakemake.output
    sources = list(snakemake.input.claims)
    said = params.parameters, params.code, params.expected, list(snakemake.input.get("figures", []))
    ledger(sources, output.table, output.csv, output.page, *said)
    job.end()
