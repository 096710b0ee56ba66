"""Judges every claim of a study by the rule in its file."""

from hierlearn.run import job

snakemake = job.start(globals())

from pathlib import Path

import numpy as np

from hierlearn.claims.judging import judge_claim
from hierlearn.core import boundary, provenance, registry
from hierlearn.files import cubes, results
from hierlearn.quantities._tables import indexers, of_own

CHOSEN = "selected_learning_rate"


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


def edges(described, cube, rates):
    """Which learners of a quantity with this description mostly chose the smallest or the largest of several learning
    rates, at a place that it names: how many trainings of how many there, of several such places at the one with most.
    rates: those of each learner, sorted."""
    if "probe" in described or CHOSEN not in cube:
        return []
    found = {}
    for name, where in readings(described):
        if len(rates.get(name, ())) < 2:
            continue
        # All scores say which coordinates are the learner's own.
        places = indexers(where, described.get("axis", "dimension"))
        chosen = of_own(cube.sel(learner=name, **places), ())[CHOSEN].values
        chosen = chosen[np.isfinite(chosen)]
        for end, rate in (("smallest", rates[name][0]), ("largest", rates[name][-1])):
            count = int(np.isclose(chosen, rate, rtol=1e-6).sum())
            one = {"learner": name, "rate": rate, "end": end, "count": count, "of": len(chosen)}
            if 2 * count > len(chosen) and share(one) > share(found.get((name, end))):
                found[name, end] = one
    return list(found.values())


def readings(described):
    """The learners of a quantity with this description, each with the coordinates of every place where it is read."""
    where = described.get("where", {}) | {key: described[key] for key in ("samples",) if key in described}
    if "of" in described:
        cases = zip(described["of"], *(described[key] for key in ("first", "middle", "last")), strict=True)
        return [(name, where | place) for name, *places in cases for place in places]
    places = list(described.get("places", [{}]))
    if "below" in described:
        above, below = (where | described.get(f"{side}_where", {}) for side in ("above", "below"))
        # Places are those of the learner above.
        return [*((described["above"], above | place) for place in places), (described["below"], below)]
    places += [described["other"]] if "other" in described else []
    return [(name, where | place) for name in registry.build("quantities", described).learners for place in places]


def share(one):
    """Of the trainings at a place, how many chose an end; 0 where nothing is known."""
    return one["count"] / one["of"] if one else 0.0


if snakemake:
    params, given = snakemake.params, snakemake.input
    probes = {Path(file).name.removesuffix(".probe.nc"): file for file in given.probes}
    files = given.get("scores", []), given.get("traces", []), probes, snakemake.output[0]
    judge(*files, params.parameters, params.code, params.expected)
    job.end()
