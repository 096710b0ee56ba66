"""Which learning rates that a claim rests on lie at the end of the list that their learner chooses from."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hierlearn.core import registry
from hierlearn.core.protocols import Dataset
from hierlearn.pipeline.quantities._tables import indexers, of_own

CHOSEN = "selected_learning_rate"


def edges(described: Mapping[str, Any], cube: Dataset, rates: Mapping[str, Sequence[float]]) -> list[dict[str, Any]]:
    """Which learners of a quantity with this description mostly chose the smallest or the largest of several learning
    rates, at a place that it names: how many trainings of how many there, of several such places at the one with most.
    rates: those of each learner, sorted; cube: scores.nc of a study, which is not read for a probe."""
    if "probe" in described or CHOSEN not in cube:
        return []
    found = {}
    for name, where in _readings(described):
        if len(rates.get(name, ())) < 2:
            continue
        # All scores say which coordinates are the learner's own.
        places = indexers(where, described.get("axis", "dimension"))
        chosen = of_own(cube.sel(learner=name, **places), ())[CHOSEN].values
        chosen = chosen[np.isfinite(chosen)]
        for end, rate in (("smallest", rates[name][0]), ("largest", rates[name][-1])):
            count = int(np.isclose(chosen, rate, rtol=1e-6).sum())
            one = {"learner": name, "rate": rate, "end": end, "count": count, "of": len(chosen)}
            if 2 * count > len(chosen) and _share(one) > _share(found.get((name, end))):
                found[name, end] = one
    return list(found.values())


def _readings(described: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The learners of a quantity with this description, each with the coordinates of every place where it is read."""
    where = described.get("where", {}) | {key: described[key] for key in ("samples",) if key in described}
    if "of" in described:
        cases = zip(described["of"], *(described[key] for key in ("first", "middle", "last")), strict=True)
        return [(name, where | place) for name, *places in cases for place in places]
    places = list(described.get("places", [{}]))
    if described.get("below"):
        above, below = (where | described.get(f"{side}_where", {}) for side in ("above", "below"))
        # Places are those of the learner above.
        return [*((described["above"], above | place) for place in places), (described["below"], below)]
    places += [described["other"]] if "other" in described else []
    return [(name, where | place) for name in registry.build("quantities", described).learners for place in places]


def _share(one: Mapping[str, Any] | None) -> float:
    """Of the trainings at a place, how many chose an end; 0 where nothing is known."""
    return one["count"] / one["of"] if one else 0.0
