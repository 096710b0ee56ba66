"""Draws the teacher and all points of a task: training pool, unlabelled, validation and test points."""

from hierlearn.pipeline.run import job

snakemake = job.start(globals())

from hierlearn.core import provenance
from hierlearn.pipeline.files import results
from hierlearn.pipeline.files.problems import draw


def generate(output, parameters, code):
    """Write data.nc: one group per problem."""
    groups = {point["name"]: draw(point) for point in parameters["points"]}
    results.write(output, groups, provenance.attributes(code, parameters))


if snakemake:
    generate(snakemake.output[0], snakemake.params.parameters, snakemake.params.code)
    job.end()
