"""The rivals that config/rivals.csv adds to a claim, and the ends of lists that were chosen, read anew."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import xarray
from recomputation.designs import overlaid

NAMED = ("learner", "probe", "above", "below")
LISTS = {"learning_rate": "selected_learning_rate", "ridge": "selected_ridge"}


def table(file: Path) -> list[dict[str, str]]:
    if not file.is_file():
        return []
    with open(file, newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def added(study: dict[str, Any], row: dict[str, str], config: Path) -> list[dict[str, Any] | None]:
    """The quantities of the rivals that a row meets beside its own, None for each that nothing measures."""
    claim = study["claims"][row["claim"]]
    listed = [
        one for one in table(config / "rivals.csv") if one["paper"] == row["paper"] and one["role"] == "must fail"
    ]
    listed = [one for one in listed if one["source"] != "first"]
    here: list[dict[str, str]] = []
    for name in (row["claim"], claim.get("asked_after", "")):
        covering = [
            one["place"]
            for one in table(config / "coverage.csv")
            if one["source"] == row["paper"] and name in one["rows"].split()
        ]
        everywhere = table(config / "rivals.csv")
        exact = any(
            (one["paper"], one["place"]) == (row["paper"], claim["place"]) and one["rival"] for one in everywhere
        )
        here = here or [
            one for one in listed if (one["place"] == claim["place"] if exact else one["place"] in covering)
        ]
    quantity, control = claim["quantity"], claim.get("control", {})
    other = control.get("quantity", {})
    by_row = {
        one["rival"]: one["measured_by"] for one in table(config / "measured_rivals.csv") if one["row"] == row["claim"]
    }
    taken = [key for key in NAMED if isinstance(other.get(key), str) and isinstance(quantity.get(key), str)]
    own = names(quantity)
    # What the row itself names is no further rival, unless its own rival is another place of the same learner.
    seen = names(other) | (own if taken or len(own) > 1 else set()) | {control.get("rival", "")}
    found: list[dict[str, Any] | None] = []
    for one in here:
        called = {one["rival"], one["learner"]} - {""}
        if called & seen or control.get("rival", "").startswith(one["rival"] + ","):
            continue
        seen |= called
        by = by_row.get(one["rival"], "")
        if by == row["claim"]:
            continue
        if by in study["claims"]:
            found.append(study["claims"][by]["quantity"])
        else:
            found.append(in_its_place(study, quantity, other, taken, one["learner"]))
    return found


def names(described: dict[str, Any]) -> set[str]:
    single = {described[key] for key in NAMED if isinstance(described.get(key), str)}
    return single | {one for one in described.get("predictors", []) if isinstance(one, str)}


def in_its_place(
    study: dict[str, Any], quantity: dict[str, Any], other: dict[str, Any], taken: list[str], learner: str
) -> dict[str, Any] | None:
    """The quantity with a learner or a probe in the place that the row's own rival takes."""
    is_same = other.get("name", quantity["name"]) == quantity["name"]
    if len(taken) == 1 and is_same:
        place = taken[0]
    elif not taken and [key for key in NAMED if key in quantity] == ["learner"]:
        place = "learner"
    else:
        return None
    if learner in names(quantity) or learner not in {**study.get("learners", {}), **study.get("probes", {})}:
        return None
    changed = overlaid(quantity, {place: learner})
    if learner not in study.get("learners", {}):
        return changed if "probe" in changed else None
    named = {key for part, where in changed.items() if part.endswith("where") for key in where} | {changed.get("axis")}
    swept = {key for key, values in study["learners"][learner].get("sweep", {}).items() if len(values) > 1}
    return changed if "probe" not in changed and swept <= named else None


def ends(study: dict[str, Any], quantity: dict[str, Any], cube) -> bool:
    """Whether most trainings at a place of a quantity chose the smallest or the largest of a learner's list."""
    if "probe" in quantity or cube is None:
        return False
    return any(_ends_at(study, quantity, cube, name, where) for name, where in places(quantity))


def places(quantity: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Every learner of a quantity with the coordinates at which it is read."""
    where = quantity.get("where", {}) | ({"samples": quantity["samples"]} if "samples" in quantity else {})
    if "of" in quantity:
        several = zip(quantity["of"], quantity["first"], quantity["middle"], quantity["last"], strict=True)
        return [(name, where | one) for name, *parts in several for one in parts]
    if "learners_of_order" in quantity:
        axis, degrees = quantity.get("axis", "order"), quantity["degrees"]
        rows = (zip(names, degrees, strict=True) for names in quantity["learners_of_order"])
        return [(name, where | {axis: degree}) for row in rows for name, degree in row]
    several = list(quantity.get("places", [{}]))
    if quantity.get("below"):
        above, below = (where | quantity.get(f"{side}_where", {}) for side in ("above", "below"))
        return [*((quantity["above"], above | one) for one in several), (quantity["below"], below)]
    several += [quantity["other"]] if "other" in quantity else []
    read = quantity.get("predictors") or [quantity[key] for key in ("learner", "above") if quantity.get(key)]
    return [(name, where | one) for name in read for one in several]


def _ends_at(study: dict[str, Any], quantity: dict[str, Any], cube, name: str, where: dict[str, Any]) -> bool:
    for choice, variable in LISTS.items():
        values = sorted(set(study["learners"][name].get("select", {}).get(choice, ())))
        if len(values) < 2 or variable not in cube:
            continue
        axis = quantity.get("axis", "dimension")
        # A list has a value for each of the axis; along what a learner does not sweep scores are repeated, so that
        # shares stay as they are.
        at = {key: xarray.DataArray(one, dims=axis) if isinstance(one, list) else one for key, one in where.items()}
        at.pop("samples", None) if where.get("samples") == "largest" else None
        chosen = cube[variable].sel(learner=name, **at)
        numbers = chosen.values[np.isfinite(chosen.values)]
        noise = where.get("label_noise", study["problem"].get("label_noise", 0.0))
        if "label_noise" in cube.coords and "label_noise" not in where:
            noise = cube["label_noise"].values
        is_noisy = bool(np.any(noise))
        for value, counts in ((values[0], choice != "ridge" or is_noisy), (values[-1], True)):
            if counts and len(numbers) and 2 * np.isclose(numbers, value, rtol=1e-6, atol=0).sum() > len(numbers):
                return True
    return False
