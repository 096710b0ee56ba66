"""What the rows of a study are judged from, and judging them from it.

Rows are judged from the part of a study's scores, traces and probes that the quantities of its claims and rivals read,
per size and seed. That part is judged.nc: whoever has it judges the same rows without a run.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xarray import Dataset

from hierlearn.core import contracts, registry
from hierlearn.core.protocols import Quantity
from hierlearn.pipeline.claims.judging import Added, judge_claim
from hierlearn.pipeline.files import cubes, results
from hierlearn.pipeline.files.netcdf import Group, Variable
from hierlearn.pipeline.quantities._edges import CHOSEN, edges
from hierlearn.pipeline.quantities._tables import indexers
from hierlearn.statistics.estimates import Measurement, over_splits

Described = Mapping[str, Any]
# Groups of judged.nc, and its variable that says what is asked.
SCORES, TRACES, PROBES, ASKED = "scores", "traces", "probes", "asked"
# What every quantity of scores reads beside what it names.
ALWAYS = ("status", *CHOSEN)


@dataclass(frozen=True)
class Evidence:
    """What some claims are judged from. scores, traces: None where a study trains nothing; probes: by name; flops:
    counted operations by claim, which are told beside a row and not judged."""

    scores: Dataset | None
    traces: Dataset | None
    probes: Mapping[str, Dataset]
    flops: Mapping[str, float] = field(default_factory=dict)


def rows(asked: Described, found: Evidence) -> list[dict[str, Any]]:
    """Return a row for every claim. asked: the claims, the study and what its learners choose from, as the job that
    judges has them."""
    judged = []
    for name, claim in asked["claims"].items():
        described, rival = claim["quantity"], claim.get("control", {}).get("quantity")
        # A probe says of its own problem whether its seeds split one finite set.
        shared = claim if "probe" in described else asked
        overlap = shared.get("overlap", 0.0)
        measured = _over_splits(described, measure(described, found), overlap)
        other = _over_splits(rival, measure(rival, found), overlap) if rival else None
        added = [Added(one["rival"], one["measured_by"], _of_rival(one, found, overlap)) for one in _rivals(claim)]
        probe, flops = described.get("probe"), found.flops.get(name, 0.0)
        source = f"{probe}.probe.nc" if probe else "scores.nc"
        at_ends = _at_ends(asked, claim, found)
        row = judge_claim(name, claim, measured, other, flops, source, asked["study"], added, at_ends)
        if "finite" in shared:
            row["sizes"] = ", ".join(filter(None, [row["sizes"], f"for these {shared['finite']}"]))
        judged.append(row)
    return judged


def _at_ends(asked: Described, claim: Described, found: Evidence) -> list[dict[str, Any]]:
    """What a claim and its rivals chose at an end of its list, those of rivals marked."""
    own, *rivals = ([*edges(one, found.scores, *_search(asked))] for one in _quantities(claim))
    others = [one for of_rival in rivals for one in of_rival if one not in own]
    return own + [one | {"control": True} for i, one in enumerate(others) if one not in others[:i]]


def _search(asked: Described) -> tuple[Described, float]:
    """What the learners of a study choose from, and the noise of its labels."""
    return asked.get("grids", {}), asked.get("noise", 0.0)


def _of_rival(one: Described, found: Evidence, overlap: float) -> Measurement | None:
    """What is measured of an added rival; None where the study has nothing that measures it."""
    quantity = one.get("quantity")
    return _over_splits(quantity, measure(quantity, found), overlap) if quantity else None


def measure(described: Described, found: Evidence) -> Measurement:
    """Return what a quantity with a description measures."""
    quantity = registry.build("quantities", described)
    traces = [found.traces] if quantity.reads_traces else []
    return contracts.measurement(quantity, found.scores, found.probes, *traces)


def _over_splits(described: Described, measured: Measurement, overlap: float) -> Measurement:
    """A measurement of scores whose seeds split one finite set, its interval corrected for what splits share."""
    over_seeds = registry.implementation("quantities", described["name"]).METHOD.startswith("t over seeds")
    return over_splits(measured, overlap) if overlap and over_seeds else measured


def needed(asked: Described, found: Evidence) -> Evidence:
    """Return the part of a study's results that its claims read, with the operations that each rests on."""
    described = [one for claim in asked["claims"].values() for one in _quantities(claim)]
    built = [(one, registry.build("quantities", one)) for one in described]
    probes = {
        name: _variables(probe, [pair for pair in built if pair[0].get("probe") == name])
        for name, probe in found.probes.items()
        if any(one.get("probe") == name for one in described)
    }
    scored = [(one, quantity) for one, quantity in built if quantity.learners]
    traced = [(one, quantity) for one, quantity in scored if quantity.reads_traces]
    flops = {name: _flops(claim["quantity"], found) for name, claim in asked["claims"].items()}
    return Evidence(_of_learners(found.scores, scored), _of_learners(found.traces, traced), probes, flops)


def write(path: str | os.PathLike, asked: Described, found: Evidence, provenance: Mapping[str, str]) -> None:
    """Write judged.nc. provenance: what provenance.attributes says of the job."""
    groups: dict[str, Group] = {f"{PROBES}/{name}": _group(probe) for name, probe in found.probes.items()}
    groups |= {
        name: _group(part) for name, part in ((SCORES, found.scores), (TRACES, found.traces)) if part is not None
    }
    # Claims stay in their order. As bytes a text is compressed; in an attribute it is not.
    text = json.dumps({"asked": asked, "flops": dict(found.flops)}, ensure_ascii=False).encode()
    said = {"long_name": "what is asked, as JSON in UTF-8: claims, their study, and counted operations", "units": "1"}
    groups[""] = {ASKED: Variable(("byte",), np.frombuffer(text, np.uint8), said)}
    results.write(path, groups, provenance, compressed=True)


def read(path: str | os.PathLike) -> tuple[Described, Evidence]:
    """Return what `write` wrote: what was asked, and what it is judged from. Raises ValueError, one line, where the
    file is damaged or none of these."""
    groups = cubes.load_groups(path)
    if ASKED not in groups.get("", ()):
        raise ValueError(f"{path}: found no claims; expected judged.nc of a study")
    said = json.loads(groups[""][ASKED].values.tobytes())
    probes = {name.removeprefix(f"{PROBES}/"): part for name, part in groups.items() if name.startswith(f"{PROBES}/")}
    return said["asked"], Evidence(groups.get(SCORES), groups.get(TRACES), probes, said["flops"])


def _quantities(claim: Described) -> list[Described]:
    """The quantity of a claim, and those of the rivals that are measured."""
    others = [claim.get("control", {}), *_rivals(claim)]
    return [claim["quantity"], *(one["quantity"] for one in others if "quantity" in one)]


def _rivals(claim: Described) -> list[Described]:
    """The rivals of a claim that were added beside its own."""
    return claim.get("rivals", [])


def _of_learners(cube: Dataset | None, built: list[tuple[Described, Quantity]]) -> Dataset | None:
    """The scores or traces of the learners that some quantities rest on."""
    if cube is None or not built:
        return None
    names = {name for _, quantity in built for name in quantity.learners}
    kept = _variables(cube, built)
    return (
        kept if "learner" not in kept.dims else kept.sel(learner=[one for one in kept.learner.values if one in names])
    )


def _variables(data: Dataset, built: Iterable[tuple[Described, Quantity]]) -> Dataset:
    """The variables that some quantities name, or read without naming them."""
    built = list(built)
    if any(not _is_shipped(one["name"]) for one, _ in built):
        # Of a quantity of a user's own nobody knows what it reads.
        return data
    names = {*ALWAYS, *(name for one, quantity in built for name in (*quantity.READS, *_words(_whole(one))))}
    return data[[name for name in data.data_vars if name in names]]


def _whole(described: Described) -> Described:
    """A description with its defaults."""
    return registry.defaults("quantities", described["name"]) | dict(described)


def _is_shipped(name: str) -> bool:
    return registry.PACKAGE in registry.path("quantities", name).parents


def _words(content: Any) -> Iterator[str]:
    """All texts in a description."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, Mapping):
        for part in content.values():
            yield from _words(part)
    elif isinstance(content, list):
        for part in content:
            yield from _words(part)


def _flops(described: Described, found: Evidence) -> float:
    """Counted operations of what a quantity with a description rests on."""
    if "probe" not in described:
        quantity = registry.build("quantities", described)
        places = indexers(described.get("where", {}), described.get("axis", "dimension"))
        return found.scores.flops.sel(learner=quantity.learners, **places).sum().item()
    probe = found.probes[described["probe"]]
    return probe.flops.sum().item() if "flops" in probe else 0.0


def _group(data: Dataset) -> dict[str, Variable]:
    """A dataset as the variables of a group of a netCDF file."""
    return {
        str(name): Variable(tuple(map(str, one.dims)), _plain(one.values), one.attrs)
        for name, one in data.variables.items()
    }


def _plain(values: np.ndarray) -> np.ndarray:
    return values.astype(str) if values.dtype.kind == "O" else values
