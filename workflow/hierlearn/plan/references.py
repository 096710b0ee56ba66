"""Names in a study that refer to other parts of it: learners, probes and what they measure, axes and their values,
tables of published numbers.

A parameter's schema says what it names by the keyword `reference`.
"""

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hierlearn.core import registry
from hierlearn.core.protocols import FLOPS, Learner
from hierlearn.files import published
from hierlearn.plan.declared import mapping
from hierlearn.plan.draft import LARGEST, Axes, Draft, Values, axes_of, names_of, recorded_axes, sample_sizes, values_at
from hierlearn.plan.faults import Path, nearest, show, value_at

# Variables of scores.nc that trained learners have, test_accuracy for classes; the others are those that they measure.
SCORES = (
    "test_risk",
    "test_error",
    "test_accuracy",
    "train_risk",
    "validation_risk",
    "representation_floor",
    "representation_operator_norm",
)
# The key of a scope under which the keys are that are at fault themselves.
DOUBTFUL = ""


def check_size(draft: Draft, at: Path, value: Mapping[str, Any]) -> None:
    """A size that refers to what its place does not know: features before there are any, a degree of no polynomial."""
    known = ["dimension", "quadratic_dimension"]
    if at[0] != "problem":
        teacher = draft.study.problem.teacher
        if teacher is None or "degree" in registry.parameters("teachers", teacher["name"]):
            known += ["harmonic_dimension", "polynomial_dimension", "quad_raw_dimension"]
        if (at[0], at[-1]) != ("representations", "count"):
            known.append("features")
    if value.get("of") not in known:
        draft.add((*at, "of"), show(value.get("of")), f"one of {', '.join(known)}")


def _score_of_other_teachers(study: Any) -> str | None:
    """The score that no learner has of this teacher: classes have no error, and a regression no accuracy."""
    teacher = study.problem.teacher
    if teacher is None or "kind" in study.axes:
        return None
    kind = teacher.get("kind", registry.implementation("teachers", teacher["name"]).kind)
    return {"classes": "test_error", "regression": "test_accuracy"}.get(kind) if isinstance(kind, str) else None


def scope_of(draft: Draft, at: Path, value: Mapping[str, Any], scope: Mapping[str, Any] = {}) -> dict[str, Any]:
    """The keys of a mapping over those around it; of those at fault only that they are."""
    doubtful = {key for key in value if draft.broken.over(*at, key)}
    sound = {key: part for key, part in value.items() if key not in doubtful}
    outer = {key: part for key, part in scope.items() if key not in doubtful}
    return outer | sound | {DOUBTFUL: scope.get(DOUBTFUL, frozenset()) - set(sound) | doubtful}


def check_reference(draft: Draft, at: Path, against: Mapping[str, Any], value: Any, scope: Mapping[str, Any]) -> None:
    """A parameter that names something of the study: its schema says {"reference": "learners"}.

    Goes into lists and objects. scope: the keys beside the value and around it, for what refers to a `probe` or `axis`.
    """
    section = against.get("reference")
    if value is None or draft.broken.over(*at):
        return
    if section is None:
        if isinstance(value, dict):
            around = scope_of(draft, at, value, scope)
            for key, part in against.get("properties", {}).items():
                if key in value or "default" in part:
                    check_reference(draft, (*at, key), part, value.get(key, part.get("default")), around)
            names, rest = against.get("propertyNames", {}), against.get("additionalProperties")
            for key in value if isinstance(rest, dict) else ():
                check_reference(draft, (*at, key), names, key, scope)
                check_reference(draft, (*at, key), rest, value[key], scope)
        elif isinstance(value, list) and "items" in against:
            for i, one in enumerate(value):
                check_reference(draft, (*at, i), against["items"], one, scope)
        return
    if section.endswith(("coordinates", "place")):
        if isinstance(value, dict):
            # In a line of a figure, `where` is a place in the table that the line names.
            of_table = section == "published place" or ("panel" in section and "published" in scope)
            (_check_row if of_table else _check_place)(draft, at, section, value, scope)
        return
    known = _known(draft, section, scope)
    if known is None:
        return
    for i, name in enumerate(value if isinstance(value, list) else [value]):
        place = (*at, i) if isinstance(value, list) else at
        draft.one_of(place, name, known)
        if isinstance(value, list) and name in value[:i]:
            draft.add(place, f"{show(name)} again", "no entry twice")


def _known(draft: Draft, section: str, scope: Mapping[str, Any]) -> Values | None:
    """What a reference may name; None where something else is at fault."""
    study = draft.study
    if section == "published":
        return None if study.published is None else Values(list(study.published))
    if section == "samples":
        sizes = sample_sizes(draft)
        return replace(sizes, values=[*sizes.values, LARGEST], words=(LARGEST,))
    if section == "scores":
        measured = [measure for name in study.learners for measure in _class_of(draft, name).MEASURES]
        chosen = [f"selected_{key}" for entry in study.learners.values() for key in entry.select]
        sure = names_of(draft, "learners").sure and all(entry.component for entry in study.learners.values())
        sure = sure and not any(draft.broken.over("learners", name, "select") for name in study.learners)
        always = [score for score in SCORES if score != _score_of_other_teachers(study)]
        return Values([*always, *dict.fromkeys(measured + chosen)], sure)
    if section == "panel variables":
        if {"kind", "probe"} & scope.get(DOUBTFUL, frozenset()):
            return None
        section = "learner traces" if scope.get("kind") == "trace" else "probe measures"
    if section == "panel learners":
        traced = scope.get("kind") == "trace" or "errors" in scope
        names = [n for n, entry in study.learners.items() if not entry.component or _class_of(draft, n).TRACES]
        return Values(names, names_of(draft, "learners").sure) if traced else names_of(draft, "learners")
    if section.startswith("learner "):
        name = scope.get("learner")
        if name not in list(study.learners) or study.learners[name].component is None:
            return None
        said = _class_of(draft, name)
        return Values(list(said.TRACES if section == "learner traces" else said.MEASURES))
    if section.endswith("axis"):
        grid = _grid(draft, section, scope)
        return None if grid is None else Values(list(grid.axes), grid.sure, grid.broken + tuple(grid.possible))
    if section.endswith("axis values"):
        grid = _grid(draft, section, scope)
        return None if grid is None or scope.get("axis") not in list(grid.axes) else grid.axes[scope["axis"]]
    if section.startswith("probe "):
        return _of_probe(draft, section.removeprefix("probe "), scope)
    if section == "thresholds":
        # Where one is broken it is not known which was meant, and the threshold may be a default.
        if draft.broken.inside("samples", "thresholds"):
            return None
        named = [study.learners.get(str(scope.get(key))) for key in ("learner", "above", "below")]
        own = [risks for one in named if one and isinstance(risks := one.samples.get("thresholds"), list)]
        searched = [risk for risk in study.samples.thresholds if all(risk in risks for risks in own)]
        return values_at(draft, ("samples", "thresholds"), searched)
    if section == "dimensions":
        return axes_of(draft).axes.get("dimension", Values([], False))
    return names_of(draft, section)


def _class_of(draft: Draft, learner: str) -> type[Learner]:
    """The class of a learner; of one that is not known the protocol, which records and measures nothing."""
    component = draft.study.learners[learner].component
    return registry.implementation("learners", component["name"]) if component else Learner


def _of_probe(draft: Draft, part: str, scope: Mapping[str, Any]) -> Values | None:
    """What the probe in scope offers: measures, lines, thresholds or dimensions; None without it."""
    name = scope.get("probe")
    if name not in list(draft.study.probes):
        return None
    if part == "dimension":
        return axes_of(draft, name).axes.get("dimension")
    if part == "measures":
        # Where it is not known which probe is meant, it is one of those that there are.
        entry = draft.study.probes[name].component
        kinds = [entry["name"]] if entry else registry.available("probes")
        return Values(sorted({*FLOPS}.union(*(registry.implementation("probes", kind).MEASURES for kind in kinds))))
    offered = _described(draft, name).get(part)
    return values_at(draft, ("probes", name, "probe", part), offered) if isinstance(offered, list | dict) else None


def _described(draft: Draft, probe: str) -> Mapping[str, Any]:
    """A probe with its defaults; as the file has it where it is not known which one it is."""
    entry = draft.study.probes[probe].component
    if entry is None:
        return mapping(value_at(draft.body, ("probes", probe, "probe")))
    return registry.defaults("probes", entry["name"]) | entry


def _grid(draft: Draft, section: str, scope: Mapping[str, Any]) -> Axes | None:
    """Coordinates with their values: of the scores, of the grid of the probe in scope, or of the probe itself.

    section: has the word `probe` for a probe, `panel` where that depends on whether one is in scope, and `grid` where
    its own coordinates are left out. None where the probe is not known.
    """
    doubtful = scope.get(DOUBTFUL, frozenset())
    if "panel" in section and {"errors", "kind", "probe"} & doubtful:
        return None
    if "panel" in section and ("errors" in scope or scope.get("kind") == "trace"):
        return Axes({"step": Values([])}) if section.endswith("axis") else recorded_axes(draft).with_samples(draft)
    if "panel" in section and scope.get("probe") is None:
        return recorded_axes(draft).with_samples(draft, LARGEST)
    if "probe" not in section and "panel" not in section:
        return recorded_axes(draft)
    name = scope.get("probe")
    if name not in list(draft.study.probes):
        return None
    grid = axes_of(draft, name)
    return grid if "grid" in section else grid | _own_coordinates(draft, name)


def _own_coordinates(draft: Draft, probe: Any) -> Axes:
    """The coordinates, with their values, that a probe has beside its grid."""
    if probe not in list(draft.study.probes):
        return Axes({})
    entry, described = draft.study.probes[probe].component, _described(draft, probe)
    if entry is None:
        coordinates = {axis: key for axis, key in _common_coordinates().items() if key in described}
    else:
        coordinates = registry.implementation("probes", entry["name"]).COORDINATES
    found = {}
    for axis, parameter in coordinates.items():
        values, at = described.get(parameter), ("probes", probe, "probe", parameter)
        readable = isinstance(values, list | dict) and not draft.broken.over(*at)
        found[axis] = values_at(draft, at, values) if readable else Values([], False)
    return Axes(found, sure=entry is not None)


@functools.cache
def _common_coordinates() -> dict[str, str]:
    """axis -> parameter, of the parameters that are the same axis of every probe that has them as an axis."""
    pairs = {
        pair
        for kind in registry.available("probes")
        for pair in registry.implementation("probes", kind).COORDINATES.items()
    }
    parameters = [parameter for _, parameter in pairs]
    return {axis: parameter for axis, parameter in pairs if parameters.count(parameter) == 1}


def _check_place(draft: Draft, at: Path, section: str, where: Mapping[str, Any], scope: Mapping[str, Any]) -> None:
    """One place in the scores of the learners, or in a probe.

    section: "... coordinates" fixes all axes but the one in scope (the dimension if there is none), in a line of a
    panel all but those that it draws, and "... place" leaves none open; those of a single value need not be named.
    "some ... coordinates" fixes any. In "paired coordinates" and panels of risks a list goes along with the open axis.
    """
    grid, open_axes = _grid(draft, section, scope), _open_axes(section, scope)
    if grid is None:
        # What an unknown probe measures has no coordinates to compare with, but they have values.
        for axis, chosen in where.items():
            if chosen is None or isinstance(chosen, dict):
                draft.add((*at, axis), show(chosen), "a value")
        return
    known = grid.axes
    for axis, chosen in where.items():
        others = [name for name in known if name not in open_axes]
        if axis in open_axes:
            draft.add((*at, axis), "an axis that is never fixed", nearest(axis, others))
        elif axis not in known:
            if not grid.excuses(axis):
                draft.unknown((*at, axis), "an unknown axis", others)
        elif isinstance(chosen, list):
            paired = section.startswith("paired ") or ("panel" in section and scope.get("kind") == "risk")
            paired = paired and scope.get("probe") is None
            along = [values for name, values in known.items() if paired and name in open_axes]
            _check_along(draft, (*at, axis), chosen, known[axis], along[0] if along else None)
        else:
            draft.one_of((*at, axis), chosen, known[axis])
    doubts = {"axis", "x", "learner", "above", "below", "lowest_over", "above_where", "below_where", "samples"}
    if section.startswith("some ") or doubts & scope.get(DOUBTFUL, frozenset()):
        return
    if any(axis is not None and axis not in (*known, "step") for axis in open_axes):
        # Which axis is left open is not known.
        return
    own = _own_coordinates(draft, scope.get("probe")).axes if "panel" in section and "errors" not in scope else ()
    for axis, values in known.items():
        # A variable of a probe need not have all of the probe's own coordinates.
        if axis in (*where, *open_axes, *own) or not values.several():
            continue
        if _is_left_open(draft, axis, scope):
            draft.add((*at, axis), "nothing", f"a value: {nearest('', values.values)}")


def _is_left_open(draft: Draft, axis: str, scope: Mapping[str, Any]) -> bool:
    """Whether some learner in scope needs a value of a coordinate that `where` does not have.

    Where two learners are compared, each may have a place of its own; what a learner does not sweep needs no value.
    """
    study, sides = draft.study, {"above": "above_where", "below": "below_where"}
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


def _check_along(draft: Draft, at: Path, chosen: list, known: Values, axis: Values | None) -> None:
    """Values of a coordinate that go along with an axis, one for each of its values."""
    if axis is None:
        draft.add(at, show(chosen), f"a value: {nearest('', known.values)}")
        return
    if len(chosen) != len(axis.values) + len(axis.written) and axis.sure:
        draft.add(at, show(chosen), f"{len(axis.values)} values, one for each of {axis.values}")
        return
    for i, value in enumerate(chosen):
        draft.one_of((*at, i), value, known)


def _open_axes(section: str, scope: Mapping[str, Any]) -> tuple:
    """The axes that a place does not fix, as what it is for draws them or fits a line along them."""
    if section.startswith("some "):
        return ()
    if section.endswith("place"):
        return () if scope.get("lowest_over") is None else (scope["lowest_over"],)
    if "panel" in section and "errors" in scope:
        return ()
    if "panel" in section:
        # n* is read off a whole learning curve, unless a probe has it.
        samples = ("samples",) if scope.get("probe") is None else ()
        drawn = {"trace": (), "bars": (), "growth": (scope.get("x"), *samples)}
        return drawn.get(scope.get("kind"), (scope.get("x"),))
    return (scope.get("axis", "dimension"),)


def _check_row(draft: Draft, at: Path, section: str, where: Mapping[str, Any], scope: Mapping[str, Any]) -> None:
    """A place in the published table in scope.

    "published place" leads to one number, together with the coordinates in scope that the table has too.
    """
    table = (draft.study.published or {}).get(str(scope.get("published")))
    if table is None:
        return
    known = {axis: {row[axis]: 0 for row in table["rows"] if axis in row} for axis in table["coordinates"]}
    for axis, chosen in where.items():
        if axis not in known:
            draft.unknown((*at, axis), "an unknown coordinate", known)
        else:
            draft.one_of((*at, axis), chosen, Values(list(known[axis])))
    if draft.broken.hit(*at) or {"where", "samples", "lowest_over"} & scope.get(DOUBTFUL, frozenset()):
        return
    if section != "published place":
        if not published.rows(table, where):
            draft.add(at, f"no row at {show(where)}", f"a place in {table['place']}")
        return
    ours = dict(scope.get("where") or {}) | {"samples": scope.get("samples")}
    here = published.coordinates_in(table, ours, where)
    found = published.rows(table, here)
    if len(found) != 1 or ("value" not in found[0] and scope.get("lowest_over") is None):
        count = f"{len(found)} rows at {here}" if len(found) != 1 else f"a range at {here}"
        draft.add(at, count, f"one number of {table['place']}: name {', '.join(known)}")
