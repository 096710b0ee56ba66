"""Joins the scores of all tasks, and the trajectories of training, into the labelled cubes of the study."""

from hierlearn import job

job.start(globals())

from hierlearn import provenance, store
from hierlearn.scores import Scores
from hierlearn.traces import Traces


def aggregate(sources, outputs, parameters, code):
    """Write scores.nc of a study, where every planned cell has a status, and traces.nc.

    sources: files of the tasks under "scores" and "traces"; outputs: the file of each.
    """
    described = {name: parameters[name] for name in ("title", "paper")} | provenance.attributes(code, parameters)
    scores, traces = Scores(parameters["coordinates"]), Traces(parameters["coordinates"])
    for kind, cube in (("scores", scores), ("traces", traces)):
        for source in sources[kind]:
            cube.insert(store.read(source)[""])
    store.write(outputs["scores"], {"": scores.group()}, described)
    store.write(outputs["traces"], {"": traces.group()}, traces.comment | described)


if __name__ == "__main__":
    aggregate(
        {kind: list(snakemake.input[kind]) for kind in ("scores", "traces")},  # noqa: F821
        dict(snakemake.output.items()),  # noqa: F821
        snakemake.params.parameters,  # noqa: F821
        snakemake.params.code,  # noqa: F821
    )
