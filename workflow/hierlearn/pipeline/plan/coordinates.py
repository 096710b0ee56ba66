"""Coordinates of tables with their values, of the scores, of what a probe measures and of what a panel draws; and the
places in them that a study names."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hierlearn.core import registry
from hierlearn.core.words import nearest, show
from hierlearn.pipeline.files import published
from hierlearn.pipeline.files.errors import Path
from hierlearn.pipeline.plan.study import Study
from hierlearn.pipeline.plan.validation_context import Draft, Reference, Scope

# At every place the largest number of samples that was trained.
LARGEST = "largest"
# The coordinates of a table with their values; None where what has them is not known, which is a fault of its own.
Grid = Callable[[Draft, Scope], dict[str, list] | None]


def sample_sizes(draft: Draft) -> list[int]:
    """All sample sizes of all learners."""
    study = draft.study
    return sorted({n for name in study.learners for point in study.points for n in study.sample_sizes(name, point)})


def score_grid(draft: Draft, scope: Scope) -> dict[str, list]:
    """The coordinates of the scores beside learners, samples and seeds."""
    return draft.study.axes | draft.study.swept


def probe_grid(draft: Draft, scope: Scope) -> dict[str, list] | None:
    """The grid of the probe in scope, without its own coordinates."""
    name = scope.get("probe")
    return draft.study.axes | draft.study.probes[name].axes if has_probe(draft, name) else None


def probe_table(draft: Draft, scope: Scope) -> dict[str, list] | None:
    """The coordinates of what the probe in scope measures, its own with them."""
    grid = probe_grid(draft, scope)
    return None if grid is None else grid | own_coordinates(draft.study, scope["probe"])


def panel_table(draft: Draft, scope: Scope) -> dict[str, list] | None:
    """The coordinates of what a panel draws: scores, traces, or what a probe measures."""
    if "errors" in scope or scope.get("kind") == "trace":
        return score_grid(draft, scope) | {"samples": draft.once(sample_sizes)}
    if scope.get("probe") is None:
        return score_grid(draft, scope) | {"samples": [*draft.once(sample_sizes), LARGEST]}
    return probe_table(draft, scope)


def panel_axes(draft: Draft, scope: Scope) -> dict[str, list] | None:
    """The coordinates that a panel can have along its x axis: of traces the steps."""
    return {"step": []} if "errors" in scope or scope.get("kind") == "trace" else panel_table(draft, scope)


def has_probe(draft: Draft, name: Any) -> bool:
    return name in list(draft.study.probes)


def probe_class(study: Study, probe: str) -> type:
    return registry.implementation("probes", study.probes[probe].component["name"])


def described(study: Study, probe: str) -> Mapping[str, Any]:
    """A probe with its defaults."""
    return registry.defaults("probes", study.probes[probe].component["name"]) | study.probes[probe].component


def own_coordinates(study: Study, probe: str) -> dict[str, list]:
    """The coordinates, with their values, that a probe has beside its grid."""
    said = described(study, probe)
    values = {axis: said.get(parameter) for axis, parameter in probe_class(study, probe).COORDINATES.items()}
    return {axis: list(found) for axis, found in values.items() if isinstance(found, list | dict)}


@dataclass(frozen=True)
class Place(Reference):
    """Values of coordinates: all but the axis in scope, or the dimension, must be named where they have several.

    is_partial: any may be named; is_paired: a list goes along with the open axis.
    """

    grid: Grid
    is_partial: bool = False
    is_paired: bool = False

    def allowed(self, draft: Draft, scope: Scope) -> dict[str, list] | None:
        """The coordinates with their values."""
        return self.grid(draft, scope)

    def open_axes(self, scope: Scope) -> tuple:
        """The axes that a place does not fix, as what it is for draws them or fits a line along them."""
        return () if self.is_partial else (scope.get("axis", "dimension"),)

    def pairs(self, scope: Scope) -> bool:
        """Whether a list may go along with the open axis."""
        return self.is_paired and scope.get("probe") is None

    def own(self, draft: Draft, scope: Scope) -> Mapping[str, list]:
        """Coordinates that need not be named, though they have several values."""
        return {}

    def check(self, draft: Draft, at: Path, value: Any, scope: Scope) -> None:
        """Note unknown coordinates and values, and coordinates that are left open."""
        known, open_axes = self.allowed(draft, scope), self.open_axes(scope)
        if not isinstance(value, dict) or known is None:
            return
        others = [name for name in known if name not in open_axes]
        along = [values for name, values in known.items() if name in open_axes] if self.pairs(scope) else []
        for axis, chosen in value.items():
            if axis in open_axes:
                draft.add((*at, axis), "an axis that is never fixed", nearest(axis, others))
            elif axis not in known:
                draft.unknown((*at, axis), "an unknown axis", others)
            elif isinstance(chosen, list):
                _check_along(draft, (*at, axis), chosen, known[axis], along[0] if along else None)
            else:
                draft.one_of((*at, axis), chosen, known[axis])
        # Of an open axis that is not known it is not known what it leaves.
        if self.is_partial or any(axis is not None and axis not in (*known, "step") for axis in open_axes):
            return
        settled = {*value, *open_axes, *self.own(draft, scope)}
        for axis in [axis for axis in others if axis not in settled]:
            values = [one for one in known[axis] if one != LARGEST]
            if len(values) > 1 and _is_left_open(draft.study, axis, scope):
                draft.add((*at, axis), "nothing", f"a value: {nearest('', known[axis])}")


class WholePlace(Place):
    """A place that leaves no axis open but the one along which the lowest is taken."""

    def open_axes(self, scope: Scope) -> tuple:
        return () if scope.get("lowest_over") is None else (scope["lowest_over"],)


class PanelPlace(Place):
    """A line of a panel, which leaves open what the panel draws; of a published table its place there."""

    def open_axes(self, scope: Scope) -> tuple:
        if "errors" in scope:
            return ()
        # n* is read off a whole learning curve, unless a probe has it.
        samples = ("samples",) if scope.get("probe") is None else ()
        drawn = {"trace": (), "bars": (), "growth": (scope.get("x"), *samples)}
        return drawn.get(scope.get("kind"), (scope.get("x"),))

    def pairs(self, scope: Scope) -> bool:
        return scope.get("kind") == "risk" and scope.get("probe") is None

    def own(self, draft: Draft, scope: Scope) -> Mapping[str, list]:
        """A variable of a probe need not have all of the probe's own coordinates."""
        name = scope.get("probe")
        return own_coordinates(draft.study, name) if "errors" not in scope and has_probe(draft, name) else {}

    def check(self, draft: Draft, at: Path, value: Any, scope: Scope) -> None:
        if "published" not in scope:
            super().check(draft, at, value, scope)
        elif isinstance(value, dict):
            table = _check_row(draft, at, value, scope)
            if table and not draft.is_touched(*at) and not published.rows(table, value):
                draft.add(at, f"no row at {show(value)}", f"a place in {table['place']}")


class PublishedPlace(Reference):
    """A place in the published table in scope that leads to one number, together with the coordinates in scope."""

    def check(self, draft: Draft, at: Path, value: Any, scope: Scope) -> None:
        if not isinstance(value, dict):
            return
        table, beside = _check_row(draft, at, value, scope), ("where", "samples", "lowest_over")
        if table is None or draft.is_touched(*at) or any(draft.is_faulty(*at[:-1], key) for key in beside):
            return
        ours = dict(scope.get("where") or {}) | {"samples": scope.get("samples")}
        here = published.coordinates_in(table, ours, value)
        rows = published.rows(table, here)
        if len(rows) != 1 or ("value" not in rows[0] and scope.get("lowest_over") is None):
            count = f"{len(rows)} rows at {here}" if len(rows) != 1 else f"a range at {here}"
            known = ", ".join(table["coordinates"])
            draft.add(at, count, f"one number of {table['place']}: name {known}")


def _is_left_open(study: Study, axis: str, scope: Scope) -> bool:
    """Whether some learner in scope needs a value of a coordinate that `where` does not have.

    Where two learners are compared, each may have a place of its own; what a learner does not sweep needs no value.
    """
    sides = {"above": "above_where", "below": "below_where"}
    named = [(key, scope[key]) for key in ("learner", *sides) if isinstance(scope.get(key), str)]
    if not named or scope.get("probe") is not None:
        return True
    apart = {key: scope.get(side) for key, side in sides.items()}
    return any(
        (axis in study.axes or axis not in study.swept or axis in study.learners[name].sweep)
        and not (isinstance(apart.get(key), dict) and axis in apart[key])
        for key, name in named
        if name in study.learners
    )


def _check_along(draft: Draft, at: Path, chosen: list, known: list, along: list | None) -> None:
    """Values of a coordinate that go along with an axis, one for each of its values."""
    if along is None:
        draft.add(at, show(chosen), f"a value: {nearest('', known)}")
    elif len(chosen) != len(along):
        draft.add(at, show(chosen), f"{len(along)} values, one for each of {along}")
    else:
        for i, value in enumerate(chosen):
            draft.one_of((*at, i), value, known)


def _check_row(draft: Draft, at: Path, where: Mapping[str, Any], scope: Scope) -> Mapping[str, Any] | None:
    """Unknown coordinates and values of a place in the published table in scope, and the table if there is one."""
    table = (draft.study.published or {}).get(str(scope.get("published")))
    if table is None:
        return None
    known = {axis: {row[axis]: 0 for row in table["rows"] if axis in row} for axis in table["coordinates"]}
    for axis, chosen in where.items():
        if axis not in known:
            draft.unknown((*at, axis), "an unknown coordinate", known)
        else:
            draft.one_of((*at, axis), chosen, known[axis])
    return table
