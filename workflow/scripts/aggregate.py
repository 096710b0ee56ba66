"""Joins the scores of all tasks into the labelled cube of the study."""

from hierlearn import job

job.start(globals())

from hierlearn import provenance, store
from hierlearn.scores import Scores


def aggregate(sources, output, parameters, code):
    """Write scores.nc of a study: every planned cell has a status."""
    scores = Scores(parameters["coordinates"])
    for source in sources:
        scores.insert(store.read(source)[""])
    described = {name: parameters[name] for name in ("title", "paper")}
    store.write(output, {"": scores.group()}, described | provenance.attributes(code, parameters))


if __name__ == "__main__":
    aggregate(
        list(snakemake.input),  # noqa: F821
        snakemake.output[0],  # noqa: F821
        snakemake.params.parameters,  # noqa: F821
        snakemake.params.code,  # noqa: F821
    )
