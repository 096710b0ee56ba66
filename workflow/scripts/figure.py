"""Draws the figure of a study as SVG, PDF and PNG."""

from hierlearn.pipeline.run import job

snakemake = job.start(globals())

import gc
import io
from pathlib import Path

from hierlearn.core import contracts, provenance, registry
from hierlearn.pipeline.figures._style import lay_out, save, set_look
from hierlearn.pipeline.files import checksums, cubes
from hierlearn.pipeline.run.job import log


def figure(scores, traces, probes, outputs, parameters, code, expected=None):
    """Write one file per format; equal data gives equal bytes.

    scores, traces: a list of one file, empty if the study trains nothing; probes: name -> file;
    outputs: format -> file; expected: file -> identity of the job that should have made it.
    """
    expected = expected or {}
    drawing = registry.build("figures", parameters["figure"])
    cube, recorded = (cubes.load(files[0], expected.get(files[0])) if files else None for files in (scores, traces))
    measured = {name: cubes.load(file, expected.get(file)) for name, file in probes.items()}
    for note in reachability_notes(parameters["raw"], parameters["labels"]):
        log.warning("%s", note)
    set_look()
    drawn = lay_out(contracts.drawing(drawing, cube, measured, parameters, recorded))
    made = provenance.attributes(code, parameters)
    for kind, output in outputs.items():
        buffer = io.BytesIO()
        save(drawn, buffer, kind, made)
        checksums.write(output, buffer.getvalue(), made)


def reachability_notes(models, labels):
    """One line for every degree of a teacher that a learner of the raw input cannot represent."""
    notes = []
    for model in models:
        learner, teacher = (registry.build(f"{part}s", model[part]) for part in ("learner", "teacher"))
        why = (learner.unreachable(model["dimension"], degree) for degree in teacher.degrees())
        notes += [f"{labels[model['name']]}: {line}" for line in why if line]
    return list(dict.fromkeys(notes))


if snakemake:
    # A sixth of a drawing, of which nothing is large.
    gc.disable()
    params, given = snakemake.params, snakemake.input
    probes = {Path(file).name.removesuffix(".probe.nc"): file for file in given.probes}
    files = given.get("scores", []), given.get("traces", []), probes, dict(snakemake.output.items())
    figure(*files, params.parameters, params.code, params.expected)
    job.end()
