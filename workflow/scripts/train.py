"""Trains one learner of a task: a walk along its sample sizes at every problem, the chosen weights kept at each."""

from hierlearn.pipeline.run import job

snakemake = job.start(globals())

import gc
from pathlib import Path

import numpy as np

from hierlearn.core import provenance, registry
from hierlearn.pipeline.files import netcdf, problems, results
from hierlearn.pipeline.files.checkpoints import Checkpoints
from hierlearn.pipeline.files.netcdf import Variable
from hierlearn.pipeline.files.scores import axis, table
from hierlearn.pipeline.run.monitor import JobMonitor
from hierlearn.pipeline.run.sample_sizes import train_curve


def train(source, representation, output, parameters, code, expected=None):
    """Write <learner>.model.nc: one group per problem, variant and sample size.

    expected: file -> identity of the job that should have made it.
    """
    expected = expected or {}
    # A learner that skips most of a grid needs little of it.
    stored = netcdf.read(source, expected.get(source), {point["name"] for point in parameters["points"]})
    fitted = netcdf.read(representation, expected.get(representation)) if representation else {}
    identity, groups = provenance.attributes(code, parameters), {}
    title = "/".join(Path(output).parts[-3:]).removesuffix(".model.nc")
    monitor = JobMonitor(Checkpoints(output, identity), title)
    for point in parameters["points"]:
        problem = problems.load(point, stored[point["name"]])
        features = problems.features(
            problem, registry.build("representations", point["representation"]), fitted.get(point["name"])
        )
        asked = [variant["learner"] for variant in point["variants"]]
        for i, variant in enumerate(point["variants"]):
            if i == 0 or asked[i] != asked[i - 1]:
                # Variants that differ in their choices alone share Gram matrices; others keep one seed's at a time.
                caches = {} if asked.count(asked[i]) > 1 else None
            learner = registry.build("learners", variant["learner"])
            grid = point["samples"], point["search"], variant["choices"]
            part = monitor.within(f"{point['name']}/{variant['name']}")
            visits = train_curve(learner, problem, features, *grid, part, caches)
            for n, (positions, fit) in visits.items():
                groups[f"{point['name']}/{variant['name']}/n{n}"] = model(
                    np.array(point["seeds"])[positions], fit, variant
                )
        # Trainings and what gives them points hold each other, and all the points; Python looks for such too seldom.
        del stored[point["name"]], problem, features, caches
        gc.collect()
    results.write(output, groups, identity)
    monitor.checkpoints.clear()


def model(seeds, fit, variant):
    """A fit as it is stored; a choice that is swept is a coordinate already."""
    per_seed = {
        "status": fit.status,
        "validation_risk": fit.validation_risk,
        "train_risk": fit.train_risk,
        **{f"selected_{name}": values for name, values in fit.choices.items() if name not in variant["coordinates"]},
        **(fit.certificate or {}),
        **fit.measures,
        **({} if fit.flops is None else {"flops": fit.flops}),
    }
    group = {"seed": Variable(("seed",), seeds, axis("seed")), "scores": table(per_seed)}
    traces = registry.implementation("learners", variant["learner"]["name"]).TRACES
    return group | problems.pack("state", fit.state) | problems.pack("trace", fit.trace, traces)


if snakemake:
    params, given = snakemake.params, snakemake.input
    files = given.data, next(iter(given.representation), None), snakemake.output[0]
    train(*files, params.parameters, params.code, params.expected)
    job.end()
