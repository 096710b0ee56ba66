"""Scores every learner of a task on test points."""

from hierlearn.pipeline.run import job

snakemake = job.start(globals())

from pathlib import Path

import numpy as np

from hierlearn.core import contracts, provenance, registry
from hierlearn.pipeline.files import netcdf, problems, results
from hierlearn.pipeline.files.scores import Scores, Traces, row_of
from hierlearn.statistics.features import operator_norm


def evaluate(source, representations, models, outputs, parameters, code, expected=None):
    """Write scores.nc and traces.nc of a task.

    representations, models: learner -> file (None for raw); expected: file -> identity of the job that should have
    made it.
    """
    expected = expected or {}
    scores, traces = Scores(parameters["coordinates"]), Traces(parameters["coordinates"])
    stored = netcdf.read(source, expected.get(source))
    for name, training in parameters["learners"].items():
        file = representations[name]
        fitted = netcdf.read(file, expected.get(file)) if file else {}
        trained = netcdf.read(models[name], expected.get(models[name]))
        for point in training["points"]:
            score(scores, name, point, stored[point["name"]], fitted.get(point["name"]), trained, parameters["test"])
            trace(traces, name, point, trained)
    for name, points in parameters["limited"].items():
        for coordinates in points:
            scores.mark({"learner": name, **coordinates}, "over_cap")
    made = provenance.attributes(code, parameters)
    results.write(outputs["scores"], {"": scores.group()}, made)
    results.write(outputs["traces"], {"": traces.group()}, made, **traces.comment)


def score(scores, name, point, group, fitted, trained, count):
    """Fill the cells of one learner at one problem."""
    problem = problems.load(point, group)
    representation = registry.build("representations", point["representation"])
    features = problems.features(problem, representation, fitted)
    norms = problem.norm * problem.factor
    if fitted is None:
        # What the representation's own job measures where there is one.
        held_out = problem.pools["validation"].x
        measures = {"operator_norm": operator_norm(held_out.reshape(*held_out.shape[:2], -1))}
    else:
        measures = problems.unpack("measure", fitted)
    for variant in point["variants"]:
        mark_empty_cells(scores, {"learner": name, **point["coordinates"], **variant["coordinates"]}, point["samples"])
    for position, seed in enumerate(problem.seeds):
        here = {"target_norm": float(norms[position]), "unlabelled_samples": representation.unlabelled}
        here |= {f"representation_{key}": float(values[position]) for key, values in measures.items()}
        alone, seen, described = problem.take([position]), features.take([position]), None
        for variant in point["variants"]:
            cell = {"learner": name, **point["coordinates"], **variant["coordinates"]}
            if variant["learner"] != described:
                described, cache = variant["learner"], {}
                texts = registry.implementation("learners", described["name"]).MEASURES
                scores.attributes.update({measure: {"long_name": text} for measure, text in texts.items()})
            learner = registry.build("learners", described)
            # From the largest sample down: what kernels compute for it serves the smaller ones.
            for n in reversed(point["samples"]):
                model = trained.get(f"{point['name']}/{variant['name']}/n{n}")
                if model is None or seed not in model["seed"].values:
                    continue
                row = int(np.flatnonzero(model["seed"].values == seed)[0])
                state = {key: values[[row]] for key, values in problems.unpack("state", model).items()}
                values = row_of(model["scores"], row)
                target = alone.pools["test"].target[:, :count]
                prediction = contracts.predictions(learner, state, seen, "test", target.shape, cache)
                finite = np.isfinite(prediction).all(axis=(1, 2))
                values["status"] = contracts.with_divergence(np.array([values["status"]], np.int8), finite)[0]
                values["test_risk"] = float(alone.risk(prediction, target)[0])
                if problem.teacher.kind == "classes":
                    values["test_accuracy"] = 1.0 - values["test_risk"]
                else:
                    values["test_error"] = float(np.mean(np.sum((prediction - target) ** 2, axis=-1)))
                scores.fill({**cell, "samples": n, "seed": seed}, **here, **values)


def trace(traces, name, point, trained):
    """Add what one learner recorded at one problem."""
    for variant in point["variants"]:
        texts = registry.implementation("learners", variant["learner"]["name"]).TRACES
        cell = {"learner": name, **point["coordinates"], **variant["coordinates"]}
        for n in point["samples"]:
            model = trained.get(f"{point['name']}/{variant['name']}/n{n}", {})
            recorded = problems.unpack("trace", model)
            for row, seed in enumerate(model["seed"].values.tolist() if recorded else ()):
                one = {key: values[row] for key, values in recorded.items()}
                traces.record({**cell, "samples": n, "seed": seed}, one, texts)


def mark_empty_cells(scores, cell, samples):
    """Say of every sample size why a cell may stay empty."""
    for n in scores.coordinates["samples"]:
        if n in samples:
            scores.mark({**cell, "samples": n}, "not_visited")
        elif n > samples[-1]:
            scores.mark({**cell, "samples": n}, "over_cap")


if snakemake:
    params, given = snakemake.params, snakemake.input
    models = {Path(file).name.removesuffix(".model.nc"): file for file in given.models}
    files = given.data, params.representations, models, dict(snakemake.output.items())
    evaluate(*files, params.parameters, params.code, params.expected)
    job.end()
