"""Fits one representation of a task on unlabelled points, and measures what it cannot express."""

from hierlearn.pipeline.run import job

snakemake = job.start(globals())

import numpy as np

from hierlearn.core import contracts, provenance, registry
from hierlearn.pipeline.files import netcdf, problems, results
from hierlearn.pipeline.files.netcdf import Variable
from hierlearn.pipeline.files.scores import attributes_of, axis
from hierlearn.statistics.features import operator_norm, unexplained_variance


def represent(source, output, parameters, code, expected=None):
    """Write <representation>.representation.nc: one group per problem.

    expected: file -> identity of the job that should have made it.
    """
    stored = netcdf.read(source, (expected or {}).get(source))
    groups = {point["name"]: fit(point, stored[point["name"]]) for point in parameters["points"]}
    results.write(output, groups, provenance.attributes(code, parameters))


def fit(point, group):
    """State, spectrum and floor of a representation at one problem."""
    problem = problems.load(point, group)
    description = point["representation"]
    representation = registry.build("representations", description)
    unlabelled = problem.unlabelled(representation.unlabelled)
    streams = problem.streams.at("representation", representation.stream_key or description["name"])
    state = contracts.representation_state(representation, unlabelled, streams)
    held_out = problem.pools["validation"].x
    seen = [contracts.features(representation, state, x) for x in (unlabelled, held_out)]
    bases = [contracts.bases(problem.teacher, problem.state, x) for x in (unlabelled, held_out)]
    measures = {
        "floor": unexplained_variance(seen[0], bases[0], seen[1], bases[1]),
        "operator_norm": operator_norm(seen[1]),
    }
    if "spectrum" in state:
        largest, smallest = state["spectrum"][:, 0], state["spectrum"][:, -1]
        # Infinite where the features are dependent.
        with np.errstate(over="ignore"):
            condition = largest / np.maximum(smallest, np.finfo(float).tiny)
        measures |= {"smallest_eigenvalue": smallest, "condition_number": condition}
    texts = {name: attributes_of(f"representation_{name}")["long_name"] for name in measures}
    return {
        "seed": Variable(("seed",), np.array(problem.seeds), axis("seed")),
        **problems.pack("measure", measures, texts),
        **problems.pack("state", state),
    }


if snakemake:
    params = snakemake.params
    represent(snakemake.input[0], snakemake.output[0], params.parameters, params.code, params.expected)
    job.end()
