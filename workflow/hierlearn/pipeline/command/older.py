"""What a study of the older form says at each preset, to compare with the present form of it."""

from collections.abc import Mapping
from itertools import permutations, product
from typing import Any

from hierlearn.core.aliases import present_rule
from hierlearn.pipeline.files import papers
from hierlearn.pipeline.files.errors import value_at
from hierlearn.pipeline.plan import checking, presets, study_spec
from hierlearn.pipeline.plan.study_spec import mapping

REPLACED = ("rival", "missing")


class Older:
    """A study of the older form. places: where each learner runs, by preset and name, where it says `skip`."""

    @staticmethod
    def is_one(content: Mapping[str, Any]) -> bool:
        """Whether a study is written in the older form."""
        return next(checking.older(content), None) is not None

    def __init__(self, content: Mapping[str, Any]):
        self.bodies = dict(bodies(content))
        self.places: dict[tuple[str, str], Any] = {}
        for preset, body in self.bodies.items():
            for name, entry in mapping(body.get("learners")).items():
                self.places[preset, name] = self._only(preset, name, entry.get("skip", []))

    def _grid(self, preset: str, learner: str, axes: set[str]) -> dict[str, list]:
        """The values of some axes, and of the samples of a learner that lists them."""
        body = self.bodies[preset]
        entry = body["learners"][learner]
        values = dict(body["axes"]) | {"samples": mapping(entry.get("samples")).get("at", [])}
        return {axis: values[axis] for axis in values if axis in axes}

    def _only(self, preset: str, learner: str, skip: list[dict[str, Any]]) -> Any:
        """The places that are left, as few as can be."""
        axes = {axis for one in skip for axis in one}
        grid = self._grid(preset, learner, axes)

        def runs(place: Mapping[str, Any]) -> bool:
            return not any(all(place.get(axis) == value for axis, value in one.items()) for one in skip)

        best: list | None = None
        for order in permutations(grid):
            found = [box for box in _boxes({axis: grid[axis] for axis in order}, {}, runs)]
            if best is None or _length(found) < _length(best):
                best = found
        best = [{axis: box[axis] for axis in grid if axis in box} for box in best or []]
        if best == [{}]:
            return []
        short = [{axis: one[0] if len(one) == 1 else one for axis, one in box.items()} for box in best]
        return short[0] if len(short) == 1 else short

    def agrees(self, now: Mapping[str, Mapping[str, Any]], preset: str, learner: str) -> bool:
        """Whether a study of the present form runs a learner where this one does. now: what it says by preset."""
        only = study_spec.places(now[preset]["learners"][learner].get("only", []))
        skip = self.bodies[preset]["learners"][learner].get("skip", [])
        grid = self._grid(preset, learner, {axis for one in [*skip, *only] for axis in one})
        for values in product(*grid.values()):
            place = dict(zip(grid, values, strict=True))
            runs = not only or any(all(place[axis] in one[axis] for axis in one if axis in place) for one in only)
            if runs == any(all(place.get(axis) == value for axis, value in one.items()) for one in skip):
                return False
        return True


def _length(boxes: list[dict[str, list]]) -> int:
    return sum(1 + sum(map(len, box.values())) for box in boxes)


def _boxes(grid: Mapping[str, list], place: dict[str, Any], runs) -> list[dict[str, list]]:
    """The places of a grid that are run at, as products of lists; an axis with all of its values is left out."""
    if not grid:
        return [{}] if runs(place) else []
    (axis, values), *rest = grid.items()
    alike: list[tuple[list, list]] = []
    for value in values:
        below = _boxes(dict(rest), place | {axis: value}, runs)
        known = [listed for listed, boxes in alike if boxes == below]
        known[0].append(value) if known else alike.append(([value], below))
    return [({} if len(listed) == len(values) else {axis: listed}) | box for listed, below in alike for box in below]


def bodies(content: Mapping[str, Any]):
    """(preset, what an older study says there)."""
    body = {key: part for key, part in content.items() if key != "presets"}
    yield "quick", body
    for preset in presets.PRESETS[1:]:
        overlay = value_at(content, ("presets", preset))
        if isinstance(overlay, dict):
            yield preset, merge(body, overlay)


def merge(body: dict, overlay: dict) -> dict:
    """The body with an overlay, as the older form has it."""
    merged = dict(body)
    for key, value in overlay.items():
        whole = key == "control" and any(name in value for name in REPLACED)
        if isinstance(value, dict) and isinstance(merged.get(key), dict) and not whole:
            renamed = "name" in value and value["name"] != merged[key].get("name")
            merged[key] = value if renamed else merge(merged[key], value)
        else:
            merged[key] = value
    return merged


def _judged(claim: Mapping[str, Any], is_scoped: bool) -> dict[str, Any]:
    """What a claim says, by the present name of its rule. is_scoped: whether its scope is computed now."""
    left_out = ("regime", "beyond") if is_scoped else ()
    said = {key: value for key, value in claim.items() if key not in left_out}
    return said | {"rule": present_rule(claim["rule"])}


def same(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Where the present form of a study says something else than the older one, in words; "" where it nowhere does."""
    older, after = Older(before), dict(presets.bodies(now, derive=False))
    if list(older.bodies) != list(after):
        return f"the presets {', '.join(after)}"
    for preset, body in older.bodies.items():
        for key in body.keys() | after[preset].keys():
            if key in ("claims", "rivals", "revisions"):
                continue
            one, other = body.get(key), after[preset].get(key)
            if key == "learners":
                one, other = ({n: _without(e) for n, e in part.items()} for part in (one, other))
                if wrong := [n for n in one if not older.agrees(after, preset, n)]:
                    return f"other places of the learner {wrong[0]} at {preset}"
            if one != other or (isinstance(one, dict) and list(one) != list(other)):
                return f"another {key} at {preset}"
        said = study_spec.parts(after[preset])["claims"]
        if list(said) != list(body.get("claims", {})):
            return f"other claims, or another order, at {preset}"
        for name, claim in body.get("claims", {}).items():
            usual = {"rank": "secondary", "side": "above"}
            is_scoped = claim.get("place") in papers.places(after[preset].get("paper", ""))
            if _judged(said[name].said(), is_scoped) != _judged(usual | claim, is_scoped):
                return f"another claim {name} at {preset}"
    counts = {preset: len(lines) for preset, lines in before.get("revisions", {}).items()}
    return "" if counts == now.get("revisions", {}) else "other revisions"


def _without(learner: Mapping[str, Any]) -> dict[str, Any]:
    return {key: part for key, part in learner.items() if key not in ("skip", "only")}
