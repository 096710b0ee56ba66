"""Writes the page of one study: its figure, the samples that its learners need, and its claims."""

from hierlearn.pipeline.run import job

snakemake = job.start(globals())

from hierlearn.core import provenance
from hierlearn.pipeline.claims.page.study import html
from hierlearn.pipeline.files import checksums, cubes, results


def page(claims, scores, drawn, output, parameters, code, expected=None):
    """Write the page.

    claims: claims.json of the study; scores: a list of one file, empty if the study trains nothing; drawn: figure.svg;
    expected: file -> identity of the job that should have made it.
    """
    expected = expected or {}
    made = provenance.attributes(code, parameters)
    cube = cubes.load(scores[0], expected.get(scores[0])) if scores else None
    found = results.read_claims(claims, expected.get(claims))
    checksums.write(output, html(found, cube, drawn, parameters, made).encode(), made)


if snakemake:
    params, given = snakemake.params, snakemake.input
    said = params.parameters, params.code, params.expected
    page(given.claims, list(given.get("scores", [])), given.figure, snakemake.output[0], *said)
    job.end()
