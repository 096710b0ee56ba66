"""Names in a study that refer to other parts of it: learners, probes and what they measure, axes and their values,
tables of published numbers.

A parameter's schema says what it names by the keyword `reference`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from hierlearn.core import registry
from hierlearn.files import published
from hierlearn.plan.load import Fault, dotted, listed, nearest, shown
from hierlearn.plan.study import Study

# Variables of scores.nc that every trained learner has; the others are those that learners measure.
SCORES = (
    "test_risk",
    "test_error",
    "train_risk",
    "validation_risk",
    "representation_floor",
    "representation_operator_norm",
)

# At every place the largest number of samples that was trained.
LARGEST = "largest"


def size_reference(study: Study, at: tuple, value: Mapping[str, Any]) -> Iterator[Fault]:
    """A size that refers to what its place does not know: features before there are any, a degree of no polynomial."""
    known = ["dimension", "quadratic_dimension"]
    if at[0] != "problem":
        teacher = study.content["problem"]["teacher"].get("name")
        if teacher in registry.available("teachers") and "degree" in registry.parameters("teachers", teacher):
            known += ["harmonic_dimension", "polynomial_dimension", "quad_raw_dimension"]
        if (at[0], at[-1]) != ("representations", "count"):
            known.append("features")
    if value.get("of") not in known:
        yield Fault(study.file, dotted((*at, "of")), shown(value.get("of")), f"one of {', '.join(known)}")


def reference(
    study: Study, at: tuple, against: Mapping[str, Any], value: Any, scope: Mapping[str, Any]
) -> Iterator[Fault]:
    """A parameter that names something of the study: its schema says {"reference": "learners"}.

    Goes into lists and objects. scope: the keys beside the value and around it, for what refers to a `probe` or `axis`.
    """
    section = against.get("reference")
    if value is None:
        return
    if section is None:
        if isinstance(value, dict):
            around = dict(scope) | value
            for key, part in against.get("properties", {}).items():
                if key in value or "default" in part:
                    yield from reference(study, (*at, key), part, value.get(key, part.get("default")), around)
            names, rest = against.get("propertyNames", {}), against.get("additionalProperties")
            for key in value if isinstance(rest, dict) else ():
                yield from reference(study, (*at, key), names, key, scope)
                yield from reference(study, (*at, key), rest, value[key], scope)
        elif isinstance(value, list) and "items" in against:
            for i, one in enumerate(value):
                yield from reference(study, (*at, i), against["items"], one, scope)
        return
    if section.endswith(("coordinates", "place")):
        if isinstance(value, dict):
            # In a line of a figure, `where` is a place in the table that the line names.
            of_table = section == "published place" or ("panel" in section and "published" in scope)
            yield from (_of_table if of_table else _coordinates)(study, at, section, value, scope)
        return
    known = _known(study, section, scope)
    if known is None:
        return
    for i, name in enumerate(value if isinstance(value, list) else [value]):
        place = (*at, i) if isinstance(value, list) else at
        if not listed(name, known):
            yield Fault(study.file, dotted(place), shown(name), nearest(name, known))
        elif isinstance(value, list) and name in value[:i]:
            yield Fault(study.file, dotted(place), f"{shown(name)} again", "no entry twice")


def _known(study: Study, section: str, scope: Mapping[str, Any]) -> list | None:
    """What a reference may name; None where something else is at fault."""
    content = study.content
    if section == "published":
        return None if study.published is None else list(study.published)
    if section == "samples":
        return [*study.coordinates["samples"], LARGEST]
    if section == "scores":
        measured = [measure for name in content["learners"] for measure in _says(study, name, "MEASURES")]
        chosen = [f"selected_{key}" for entry in content["learners"].values() for key in entry["select"]]
        return [*SCORES, *dict.fromkeys(measured + chosen)]
    if section == "panel variables":
        section = "learner traces" if scope.get("kind") == "trace" else "probe measures"
    if section == "panel learners":
        traced = scope.get("kind") == "trace" or "errors" in scope
        return [name for name in content["learners"] if not traced or _says(study, name, "TRACES")]
    if section.startswith("learner "):
        name = scope.get("learner")
        known = name in list(content["learners"])
        return list(_says(study, name, section.removeprefix("learner ").upper())) if known else None
    if section.endswith("axis"):
        return list(_grid(study, section, scope))
    if section.endswith("axis values"):
        known = _grid(study, section, scope)
        return known[scope["axis"]] if scope.get("axis") in list(known) else None
    if section.startswith("probe "):
        return _of_probe(study, section.removeprefix("probe "), scope)
    own = {"thresholds": content["samples"]["thresholds"], "dimensions": content["axes"]["dimension"]}
    return list(own[section] if section in own else content[section])


def _says(study: Study, learner: str, literal: str) -> Mapping[str, str]:
    """What a learner's component says that it records (TRACES) or measures (MEASURES) when it trains."""
    name = study.content["learners"][learner]["learner"]["name"]
    # A learner that is broken itself has faults of its own.
    return (registry.literal("learners", name, literal) or {}) if name in registry.available("learners") else {}


def _of_probe(study: Study, part: str, scope: Mapping[str, Any]) -> list | None:
    """What the probe in scope offers: measures, lines, thresholds or dimensions; None without it."""
    name = scope.get("probe")
    if name not in list(study.content["probes"]):
        return None
    entry = study.content["probes"][name]
    if part == "dimension":
        return (study.axes | entry["axes"])["dimension"]
    # A probe that is broken itself has faults of its own.
    if entry["probe"]["name"] not in registry.available("probes"):
        return None
    if part == "measures":
        return list(registry.literal("probes", entry["probe"]["name"], "MEASURES") or ())
    offered = (registry.defaults("probes", entry["probe"]["name"]) | entry["probe"]).get(part)
    return list(offered) if isinstance(offered, list | dict) else None


def _grid(study: Study, section: str, scope: Mapping[str, Any]) -> dict[str, list]:
    """Coordinates with their values: of the scores, of the grid of the probe in scope, or of the probe itself.

    section: has the word `probe` for a probe, `panel` where that depends on whether one is in scope, and `grid` where
    its own coordinates are left out.
    """
    if "panel" in section and ("errors" in scope or scope.get("kind") == "trace"):
        recorded = study.axes | study.swept | {"samples": study.coordinates["samples"]}
        return {"step": []} if section.endswith("axis") else recorded
    if "panel" in section and scope.get("probe") is None:
        return study.axes | study.swept | {"samples": [*study.coordinates["samples"], LARGEST]}
    if "probe" not in section and "panel" not in section:
        return study.axes | study.swept
    if scope.get("probe") not in list(study.content["probes"]):
        return dict(study.axes)
    entry = study.content["probes"][scope["probe"]]
    grid = study.axes | entry["axes"]
    return grid if "grid" in section else grid | _own_coordinates(study, scope)


def _own_coordinates(study: Study, scope: Mapping[str, Any]) -> dict[str, list]:
    """The coordinates, with their values, that the probe in scope has beside its grid."""
    if scope.get("probe") not in list(study.content["probes"]):
        return {}
    entry = study.content["probes"][scope["probe"]]["probe"]
    if entry.get("name") not in registry.available("probes"):
        return {}
    described = registry.defaults("probes", entry["name"]) | entry
    own = registry.literal("probes", entry["name"], "COORDINATES") or {}
    return {axis: list(described[parameter]) for axis, parameter in own.items()}


def _coordinates(
    study: Study, at: tuple, section: str, where: Mapping[str, Any], scope: Mapping[str, Any]
) -> Iterator[Fault]:
    """One place in the scores of the learners, or in a probe.

    section: "... coordinates" fixes all axes but the one in scope (the dimension if there is none), in a line of a
    panel all but those that it draws, and "... place" leaves none open; those of a single value need not be named.
    "some ... coordinates" fixes any. In "paired coordinates" and panels of risks a list goes along with the open axis.
    """
    if ("probe" in section or "panel" in section) and scope.get("probe") not in [None, *study.content["probes"]]:
        # What an unknown probe measures has no coordinates to compare with.
        return
    known, open_axes = _grid(study, section, scope), _open_axes(section, scope)
    for axis, chosen in where.items():
        if axis not in known or axis in open_axes:
            others = [name for name in known if name not in open_axes]
            found = "an axis that is never fixed" if axis in open_axes else "an unknown axis"
            yield Fault(study.file, dotted((*at, axis)), found, nearest(axis, others))
        elif isinstance(chosen, list):
            paired = section.startswith("paired ") or ("panel" in section and scope.get("kind") == "risk")
            paired = paired and scope.get("probe") is None
            along = [values for name, values in known.items() if paired and name in open_axes]
            yield from _along(study, (*at, axis), chosen, known[axis], along[0] if along else None)
        elif not listed(chosen, known[axis]):
            yield Fault(study.file, dotted((*at, axis)), shown(chosen), nearest(chosen, known[axis]))
    if section.startswith("some "):
        return
    own = _own_coordinates(study, scope) if "panel" in section and "errors" not in scope else ()
    for axis, values in known.items():
        # A variable of a probe need not have all of the probe's own coordinates.
        if axis in (*where, *open_axes, *own) or len([value for value in values if value != LARGEST]) < 2:
            continue
        if not _left_open(study, axis, scope):
            continue
        yield Fault(study.file, dotted((*at, axis)), "nothing", f"a value: {nearest('', values)}")


def _left_open(study: Study, axis: str, scope: Mapping[str, Any]) -> bool:
    """Whether some learner in scope needs a value of a coordinate that `where` does not have.

    Where two learners are compared, each may have a place of its own; what a learner does not sweep needs no value.
    """
    entries, sides = study.content["learners"], {"above": "above_where", "below": "below_where"}
    named = [(key, scope[key]) for key in ("learner", *sides) if isinstance(scope.get(key), str)]
    named = [(key, name) for key, name in named if name in entries]
    if not named or scope.get("probe") is not None:
        return True
    apart = {key: scope.get(side) for key, side in sides.items()}
    return any(
        (axis in study.axes or axis not in study.swept or axis in entries[name]["sweep"])
        and not (isinstance(apart.get(key), dict) and axis in apart[key])
        for key, name in named
    )


def _along(study: Study, at: tuple, chosen: list, known: list, axis: list | None) -> Iterator[Fault]:
    """Values of a coordinate that go along with an axis, one for each of its values."""
    if axis is None or len(chosen) != len(axis):
        allowed = f"a value: {nearest('', known)}" if axis is None else f"{len(axis)} values, one for each of {axis}"
        yield Fault(study.file, dotted(at), shown(chosen), allowed)
        return
    for i, value in enumerate(chosen):
        if not listed(value, known):
            yield Fault(study.file, dotted((*at, i)), shown(value), nearest(value, known))


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


def _of_table(
    study: Study, at: tuple, section: str, where: Mapping[str, Any], scope: Mapping[str, Any]
) -> Iterator[Fault]:
    """A place in the published table in scope.

    "published place" leads to one number, together with the coordinates in scope that the table has too.
    """
    table = (study.published or {}).get(str(scope.get("published")))
    if table is None:
        return
    sound, known = True, {axis: {row[axis]: 0 for row in table["rows"] if axis in row} for axis in table["coordinates"]}
    for axis, chosen in where.items():
        if axis not in known:
            sound = False
            yield Fault(study.file, dotted((*at, axis)), "an unknown coordinate", nearest(axis, known))
        elif not listed(chosen, known[axis]):
            sound = False
            yield Fault(study.file, dotted((*at, axis)), shown(chosen), nearest(chosen, known[axis]))
    if not sound:
        return
    if section != "published place":
        if not published.rows(table, where):
            yield Fault(study.file, dotted(at), f"no row at {shown(where)}", f"a place in {table['place']}")
        return
    ours = dict(scope.get("where") or {}) | {"samples": scope.get("samples")}
    here = published.place(table, ours, where)
    found = published.rows(table, here)
    if len(found) != 1 or ("value" not in found[0] and scope.get("lowest_over") is None):
        count = f"{len(found)} rows at {here}" if len(found) != 1 else f"a range at {here}"
        yield Fault(study.file, dotted(at), count, f"one number of {table['place']}: name {', '.join(known)}")
