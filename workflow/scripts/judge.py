"""Judges every claim of a study by the rule in its file."""

from hierlearn.pipeline.run import job

snakemake = job.start(globals())

from pathlib import Path

from hierlearn.core import provenance
from hierlearn.pipeline.claims import evidence
from hierlearn.pipeline.files import cubes, results


def judge(scores, traces, probes, outputs, parameters, code, expected=None):
    """Write claims.json, one row per claim with what stands behind it, and judged.nc, what all were judged from.

    scores, traces: a list of one file, empty if the study trains nothing; probes: name -> file; outputs: both files;
    expected: file -> identity of the job that should have made it.
    """
    expected, made = expected or {}, provenance.attributes(code, parameters)
    cube, recorded = (cubes.load(files[0], expected.get(files[0])) if files else None for files in (scores, traces))
    measured = {name: cubes.load(file, expected.get(file)) for name, file in probes.items()}
    # Rows are judged from what is kept of the results, so that nothing can be missing from it.
    kept = evidence.needed(parameters, evidence.Evidence(cube, recorded, measured))
    claims, judged = outputs
    results.write_claims(claims, evidence.rows(parameters, kept), made)
    evidence.write(judged, parameters, kept, made)


if snakemake:
    params, given = snakemake.params, snakemake.input
    probes = {Path(file).name.removesuffix(".probe.nc"): file for file in given.probes}
    files = given.get("scores", []), given.get("traces", []), probes, [*snakemake.output]
    judge(*files, params.parameters, params.code, params.expected)
    job.end()
