"""Joins the scores of all tasks, and the trajectories of training, into the labelled cubes of the study."""

from hierlearn.pipeline.run import job

snakemake = job.start(globals())

from hierlearn.core import provenance
from hierlearn.pipeline.files import netcdf, results
from hierlearn.pipeline.files.scores import Scores, Traces


def aggregate(sources, outputs, parameters, code, expected=None):
    """Write scores.nc of a study, where every planned cell has a status, and traces.nc.

    sources: files of the tasks under "scores" and "traces"; outputs: the file of each; expected: file -> identity
    of the job that should have made it.
    """
    described = {name: parameters[name] for name in ("title", "paper")}
    identity = provenance.attributes(code, parameters)
    scores, traces = Scores(parameters["coordinates"]), Traces(parameters["coordinates"])
    for kind, cube in (("scores", scores), ("traces", traces)):
        for source in sources[kind]:
            cube.insert(netcdf.read(source, (expected or {}).get(source))[""])
    results.write(outputs["scores"], {"": scores.group()}, identity, **described)
    results.write(outputs["traces"], {"": traces.group()}, identity, **traces.comment, **described)


if snakemake:
    params, sources = snakemake.params, {kind: list(snakemake.input[kind]) for kind in ("scores", "traces")}
    aggregate(sources, dict(snakemake.output.items()), params.parameters, params.code, params.expected)
    job.end()
