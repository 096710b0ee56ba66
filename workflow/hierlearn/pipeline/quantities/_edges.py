"""Which rates and ridges that a claim rests on lie at the end of the list that their learner chooses from."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hierlearn.core import registry
from hierlearn.core.protocols import Dataset
from hierlearn.pipeline.quantities._ends import ENDS
from hierlearn.pipeline.quantities._tables import LARGEST, indexers, of_own

CHOSEN = tuple(f"selected_{choice}" for choice in ENDS)
NOISE = "label_noise"
Grids = Mapping[str, Mapping[str, Sequence[float]]]


def edges(
    described: Mapping[str, Any], cube: "Dataset | None", grids: Grids, noise: float = 0.0
) -> list[dict[str, Any]]:
    """Return which learners of a quantity with this description mostly chose the smallest or the largest of several
    rates or ridges, at a place that it names: how many trainings of how many there, of several such places at the one
    with most.

    The smallest ridge is no end where labels have no noise, since it interpolates them; nor is a rate whose larger
    neighbour diverged, which is in the list and was not chosen. cube: scores.nc of a study, which is not read for a
    probe; grids: what each learner chooses from, sorted; noise: of the labels, where it is no coordinate of the scores.
    """
    if "probe" in described or cube is None:
        return []
    found = {}
    for name, where in _readings(described):
        for choice, values in grids.get(name, {}).items():
            if len(values) < 2 or f"selected_{choice}" not in cube:
                continue
            # All scores say which coordinates are the learner's own.
            fixed = {axis: value for axis, value in where.items() if value != LARGEST}
            places = indexers(fixed, described.get("axis", "dimension"))
            chosen = of_own(cube.sel(learner=name, **places), ())[f"selected_{choice}"].values
            chosen = chosen[np.isfinite(chosen)]
            for end, value in (("smallest", values[0]), ("largest", values[-1])):
                if (choice, end) == ("ridge", "smallest") and _is_noiseless(where, cube, noise):
                    continue
                count = int(np.isclose(chosen, value, rtol=1e-6, atol=0).sum())
                one = {"learner": name, "choice": choice, "value": value, "end": end}
                one |= {"count": count, "of": len(chosen)}
                if 2 * count > len(chosen) and _share(one) > _share(found.get((name, choice, end))):
                    found[name, choice, end] = one
    return list(found.values())


def _is_noiseless(where: Mapping[str, Any], cube: Dataset, noise: float) -> bool:
    """Whether the labels at a place have no noise. noise: that of the study, where no coordinate says it."""
    if NOISE in where:
        return not np.any(where[NOISE])
    return not (np.any(cube[NOISE].values) if NOISE in cube.coords else noise)


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
