"""Sizes that are a slip of the pen: grids of too many points, and jobs that no machine has the memory for."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from hierlearn.plan import resources
from hierlearn.plan.declared import mapping
from hierlearn.plan.faults import Fault, Path
from hierlearn.plan.presets import bodies, path_in_file
from hierlearn.plan.study import Study

# How often a preset may train at most, seeds apart; a walk has about so many sample sizes.
MOST, WALK = 400_000, 10


def too_many(content: Mapping[str, Any], name: str) -> Iterator[Fault]:
    """Grids of implausibly many points, by the lengths of lists alone; the content may be anything."""
    seen = set()
    for preset, body in bodies(content):
        axes = mapping(body.get("axes"))
        grids: dict[Path, int] = {("axes",): _combinations(axes)}
        trained = 0
        for learner in mapping(body.get("learners")).values():
            learner = mapping(learner)
            sizes = mapping(learner.get("samples")).get("at")
            sizes = len(sizes) if isinstance(sizes, list) else WALK
            trained += grids["axes",] * sizes * _combinations(mapping(learner.get("sweep")))
        grids["learners",] = trained
        for key, probe in mapping(body.get("probes")).items():
            grids["probes", key] = _combinations(axes | mapping(mapping(probe).get("axes")))
        for path, count in grids.items():
            if count > MOST and (path, count) not in seen:
                seen.add((path, count))
                found = f"{count:,} combinations of its values, or more"
                yield Fault(name, path_in_file(preset, path), found, f"at most {MOST:,}")
                break


def _combinations(axes: Mapping[str, Any]) -> int:
    """How many places some lists of values span."""
    return math.prod(max(len(values), 1) for values in axes.values() if isinstance(values, list))


def too_large(study: Study, limit: int) -> Iterator[Fault]:
    """Sizes that would need more memory than `limit` MB: of the job that needs most, or of its data alone."""
    jobs = [(needs.mem_mb, path, job) for path, job, needs in resources.largest_jobs(study)]
    most = max(jobs)
    drawn = max((job for job in jobs if job[1] == ("points",)), default=most)
    memory, path, job = drawn if drawn[0] > max(limit, most[0] / 2) else most
    if memory > limit:
        found = f"sizes that need {memory:,} MB of memory ({job})"
        yield Fault(study.file, path_in_file(study.preset, path), found, f"at most memory_limit_mb = {limit:,}")
