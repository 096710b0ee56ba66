"""Runs a probe: what an experiment of its own computes or trains, at every point of its grid."""

from hierlearn.pipeline.run import job

snakemake = job.start(globals())

import numpy as np

from hierlearn.core import contracts, provenance, registry
from hierlearn.pipeline.files import problems, results
from hierlearn.pipeline.files.netcdf import Variable
from hierlearn.pipeline.files.scores import axis
from hierlearn.pipeline.run.monitor import JobMonitor


def probe(output, parameters, code):
    """Write <probe>.probe.nc: a labelled cube over the probe's grid and its own dimensions."""
    measured, monitor = {}, JobMonitor()
    instrument = registry.build("probes", parameters["probe"])
    axes = parameters["axes"]
    for done, point in enumerate(parameters["points"]):
        where = tuple(axes[name].index(value) for name, value in point["coordinates"].items())
        for name, variable in contracts.measures(
            instrument, problems.problem_of(point), instrument.MEASURES, instrument.COORDINATES
        ).items():
            put(measured, name, variable, axes, where)
        monitor.report(done + 1, len(parameters["points"]), str(point["coordinates"]))
    coordinates = {name: Variable((name,), np.asarray(values), axis(name)) for name, values in axes.items()}
    results.write(output, {"": coordinates | measured}, provenance.attributes(code, parameters))


def put(measured, name, variable, axes, where):
    """Put the value at one point into the cube; a coordinate of the probe's own is the same at every point."""
    if variable.dimensions == (name,):
        usual = axis(name) if np.asarray(variable.values).dtype.kind in "biuf" else {}
        measured[name] = Variable(variable.dimensions, variable.values, usual | dict(variable.attributes))
        return
    if name not in measured:
        shape = tuple(len(values) for values in axes.values())
        empty = np.full((*shape, *np.shape(variable.values)), np.nan)
        measured[name] = Variable((*axes, *variable.dimensions), empty, variable.attributes)
    measured[name].values[where] = variable.values


if snakemake:
    probe(snakemake.output[0], snakemake.params.parameters, snakemake.params.code)
    job.end()
