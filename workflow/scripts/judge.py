"""Judges every claim of a study by the rule in its file."""

from hierlearn.pipeline.run import job

snakemake = job.start(globals())

from pathlib import Path

from hierlearn.core import boundary, provenance, registry
from hierlearn.pipeline.claims.judging import judge_claim
from hierlearn.pipeline.files import cubes, results
from hierlearn.pipeline.quantities._edges import edges
from hierlearn.pipeline.quantities._tables import indexers


def judge(scores, traces, probes, output, parameters, code, expected=None):
    """Write claims.json: one row per claim, with what stands behind it.

    scores, traces: a list of one file, empty if the study trains nothing; probes: name -> file;
    expected: file -> identity of the job that should have made it.
    """
    expected = expected or {}
    cube, recorded = (cubes.load(files[0], expected.get(files[0])) if files else None for files in (scores, traces))
    measured = {name: cubes.load(file, expected.get(file)) for name, file in probes.items()}
    rows = []
    for name, claim in parameters["claims"].items():
        quantity = registry.build("quantities", claim["quantity"])
        result = measure(quantity, cube, recorded, measured)
        rival = claim.get("control", {}).get("quantity")
        control = measure(registry.build("quantities", rival), cube, recorded, measured) if rival else None
        probe, flops = claim["quantity"].get("probe"), spent(claim["quantity"], quantity, cube, measured)
        source = f"{probe}.probe.nc" if probe else "scores.nc"
        row = judge_claim(name, claim, result, control, flops, source, parameters["study"])
        rates = parameters.get("rates", {})
        found = edges(claim["quantity"], cube, rates)
        found += [one | {"control": True} for one in (edges(rival, cube, rates) if rival else []) if one not in found]
        row["detail"] |= {"edges": found} if found else {}
        rows.append(row)
    results.write_claims(output, rows, provenance.attributes(code, parameters))


def measure(quantity, cube, traces, probes):
    """What a quantity measures in a study's results."""
    return boundary.measurement(quantity, cube, probes, *([traces] if quantity.reads_traces else []))


def spent(described, quantity, cube, probes):
    """Counted flops of what a quantity with this description rests on."""
    if "probe" not in described:
        places = indexers(described.get("where", {}), described.get("axis", "dimension"))
        return cube.flops.sel(learner=quantity.learners, **places).sum().item()
    probe = probes[described["probe"]]
    return probe.flops.sum().item() if "flops" in probe else 0.0


if snakemake:
    params, given = snakemake.params, snakemake.input
    probes = {Path(file).name.removesuffix(".probe.nc"): file for file in given.probes}
    files = given.get("scores", []), given.get("traces", []), probes, snakemake.output[0]
    judge(*files, params.parameters, params.code, params.expected)
    job.end()
