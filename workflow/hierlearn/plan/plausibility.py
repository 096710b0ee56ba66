"""Sizes that are a slip of the pen: grids of too many points, and jobs that no machine has the memory for."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from hierlearn.plan import resources
from hierlearn.plan.load import PRESETS, Fault, merge
from hierlearn.plan.study import Study

# How often a preset may train at most, seeds apart; a walk has about so many sample sizes.
MOST, WALK = 400_000, 10


def too_many(content: Mapping[str, Any], name: str) -> Iterator[Fault]:
    """Grids of absurdly many points, by the lengths of lists alone; the content may be anything."""
    overlays, seen = _mapping(content, "presets"), set()
    for which in PRESETS:
        body = merge({key: value for key, value in content.items() if key != "presets"}, _mapping(overlays, which))
        axes = _mapping(body, "axes")
        grids = {"axes": _combinations(axes)}
        trained = 0
        for learner in _mapping(body, "learners").values():
            sizes = _mapping(learner, "samples").get("at")
            sizes = len(sizes) if isinstance(sizes, list) else WALK
            trained += grids["axes"] * sizes * _combinations(_mapping(learner, "sweep"))
        grids["learners"] = trained
        for key, probe in _mapping(body, "probes").items():
            grids[f"probes.{key}"] = _combinations(axes | _mapping(probe, "axes"))
        for field, count in grids.items():
            if count > MOST and (field, count) not in seen:
                seen.add((field, count))
                field = field if which == "quick" else f"presets.{which}.{field}"
                yield Fault(name, field, f"{count:,} combinations of its values, or more", f"at most {MOST:,}")
                break


def _mapping(content: Any, key: str) -> dict:
    """What stands under a key if both are mappings, an empty one if not."""
    part = content.get(key) if isinstance(content, dict) else None
    return part if isinstance(part, dict) else {}


def _combinations(axes: Mapping[str, Any]) -> int:
    """How many places some lists of values span."""
    return math.prod(max(len(values), 1) for values in axes.values() if isinstance(values, list))


def too_large(study: Study, limit: int) -> Iterator[Fault]:
    """Sizes that would need more memory than `limit` MB: of the job that needs most, or of its data alone."""
    jobs = [(needs.mem_mb, field, job) for field, job, needs in resources.largest_jobs(study)]
    most = max(jobs)
    drawn = max((job for job in jobs if job[1] == "points"), default=most)
    memory, field, job = drawn if drawn[0] > max(limit, most[0] / 2) else most
    if memory > limit:
        found = f"sizes that need {memory:,} MB of memory ({job})"
        field = field if study.preset == "quick" else f"presets.{study.preset}.{field}"
        yield Fault(study.file, field, found, f"at most memory_limit_mb = {limit:,}")
