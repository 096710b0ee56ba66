"""Builds the ledger of all studies: claims.nc, claims.csv and the page."""

from hierlearn import job

job.start(globals())

import json
from pathlib import Path

import numpy as np

from hierlearn import provenance, store
from hierlearn.claims.ledger import COLUMNS, csv_text, from_json
from hierlearn.page.index import page
from hierlearn.store import Variable


def ledger(sources, table, csv, html, studies, preset, code):
    """Join the claims of all studies. studies: what the page says of each."""
    contents = [row for source in sources for row in json.loads(Path(source).read_text())["rows"]]
    rows = [from_json({name: content[name] for name in COLUMNS}) for content in contents]
    columns = {name: Variable(("row",), np.array([getattr(row, name) for row in rows])) for name in COLUMNS if rows}
    store.write(table, {"": columns}, provenance.attributes(code, {"preset": preset, "studies": sorted(studies)}))
    store.replace(csv, csv_text(rows).encode())
    details = {content["claim"]: content["detail"] for content in contents}
    store.replace(html, page(rows, details, studies, preset).encode())


if __name__ == "__main__":
    ledger(
        list(snakemake.input.claims),  # noqa: F821
        snakemake.output.table,  # noqa: F821
        snakemake.output.csv,  # noqa: F821
        snakemake.output.page,  # noqa: F821
        snakemake.params.studies,  # noqa: F821
        snakemake.params.preset,  # noqa: F821
        snakemake.params.code,  # noqa: F821
    )
