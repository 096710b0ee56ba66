"""What the sizes of a study become at the points of its grid: impossible, or a slip of the pen.

A slip is a grid of too many points, or a job that no machine has the memory for.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hierlearn.core import registry
from hierlearn.core.protocols import Objection
from hierlearn.core.words import nearest, show
from hierlearn.pipeline.files.errors import Fault, Note, Path
from hierlearn.pipeline.files.schema_errors import allowed_by, violations
from hierlearn.pipeline.plan import component_guards, resources
from hierlearn.pipeline.plan.grid import GridPoint
from hierlearn.pipeline.plan.presets import path_in_file
from hierlearn.pipeline.plan.sizes import resolve
from hierlearn.pipeline.plan.study import Study
from hierlearn.pipeline.plan.study_spec import mapping

# How often a preset may train at most, seeds apart; a walk has about so many sample sizes.
MOST, WALK = 400_000, 10
# The parts of a problem.
PROBLEM = ("input", "teacher")
# The units of quantities that are a line's, or a difference of two.
LINES = ("slope", "difference of slopes")
# The parameters that name what a line is fitted to, and the ends of the words for what they name.
FITTED = {"sizes", "values", "above_sizes", "below_sizes"}
ALONG = ("dimension", "dimensions", "axis values")


def too_many(bodies: Mapping[str, Mapping[str, Any]], name: str) -> Iterator[Fault]:
    """Grids of implausibly many points, by the lengths of lists alone.

    bodies: what a study says at each preset, which may be anything.
    """
    seen = set()
    for preset, body in bodies.items():
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
    """Sizes that would need more memory than `limit` MB: of the job that needs most, or of its data alone; of problems
    that can be built."""
    if any(_problem_out_of_limits(study, point) for point in study.points):
        return
    jobs = [(needs.mem_mb, path, job) for path, job, needs in resources.largest_jobs(study)]
    most = max(jobs)
    drawn = max((job for job in jobs if job[1] == ("points",)), default=most)
    memory, path, job = drawn if drawn[0] > max(limit, most[0] / 2) else most
    if memory > limit:
        found = f"sizes that need {memory:,} MB of memory ({job})"
        yield Fault(study.file, path, found, f"at most memory_limit_mb = {limit:,}")


def absent(study: Study) -> Iterator[Fault]:
    """Files outside the project that the components of a study would read, and cannot."""
    used = {("probes", name, "probe"): ("probes", probe.component) for name, probe in study.probes.items()}
    used |= {("problem", part): (f"{part}s", point.problem[part]) for part in PROBLEM for point in study.points}
    for at, (kind, description) in used.items():
        for key, found, allowed in component_guards.missing_inputs(kind, description):
            yield Fault(study.file, path_in_file(study.preset, (*at, *key)), found, allowed)


def impossible(study: Study) -> Iterator[Fault]:
    """Sizes that become something impossible at a point of the grid."""
    met: dict[tuple[tuple, str, str], list] = {}
    outside: dict[str, list[str]] = {}
    for point in study.points:
        if broken := _problem_out_of_limits(study, point):
            yield from broken
            continue
        for name, entry in study.learners.items():
            context, planned = study.context(name, point), entry.samples
            start, cap = (resolve(planned.get(key, 1), context) for key in ("start", "cap"))
            at = ("learners", name, "samples")
            if start > cap:
                found = f"start {start} above cap {cap} at {point.coordinates}"
                yield Fault(study.file, at, found, "start <= cap")
            elif "near" in planned:
                near = resolve(planned["near"], context)
                outside.setdefault(name, []).append("" if start <= near <= cap else f"{near}, not in {start} .. {cap}")
            for variant in study.variants(name, point):
                yield from _learner_values(study, name, variant["learner"], point, met)
        for name, probe in study.probes.items():
            whole = registry.defaults("probes", probe.component["name"]) | probe.component
            yield from _component_values(study, ("probes", name, "probe"), "probes", whole, point, met)
        for name in study.representations:
            description = study.representation(name, point)
            yield from _component_values(study, ("representations", name), "representations", description, point, met)
        for part in PROBLEM:
            description = point.problem[part]
            yield from _component_values(study, ("problem", part), f"{part}s", description, point, met)
        yield from _more_than_there_are(study, point)
    for name in study.learners:
        if not any(study.reaches(name, point) and study.sample_sizes(name, point) for point in study.points):
            allowed = "a size between start and cap at a place that limits and only leave"
            yield Fault(study.file, ("learners", name), "no sample size at any place", allowed)
    for name, found in outside.items():
        # Where it lies beyond the lattice at some places, the search begins at the end.
        if all(found):
            allowed = "a size that lies between start and cap at some place"
            yield Fault(study.file, ("learners", name, "samples", "near"), f"{found[0]}, nor elsewhere", allowed)
    for (where, found, allowed), places in met.items():
        # What is met at every point does not hang on the place.
        place = f" at {places[0]}" if len(places) < len(study.points) else ""
        yield Fault(study.file, where, found + place, allowed)


def _more_than_there_are(study: Study, point: GridPoint) -> Iterator[Fault]:
    """Points of a finite set that a study wants more of than there are."""
    supply = point.law.supply()
    for role, count in vars(study.held_out).items():
        if count > supply.get(role, count):
            yield Fault(study.file, ("points", role), f"{count}", f"at most {supply[role]}, all that there are")
    for name in study.learners if "training" in supply else ():
        planned, largest = study.learners[name].samples, max(study.sample_sizes(name, point), default=0)
        if largest > supply["training"]:
            # What is written, not what of it lies on the lattice.
            key = "at" if "at" in planned else "cap"
            found = largest if key == "at" else resolve(planned["cap"], study.context(name, point))
            allowed = f"at most {supply['training']} training points, all that there are"
            yield Fault(study.file, ("learners", name, "samples", key), f"{found}", allowed)


def warnings(study: Study) -> Iterator[Fault]:
    """What a study may do, but may not mean, and does not say that it means."""
    yield from (note for parameter, note in _notes(study).items() if parameter not in study.intended)
    yield from _short_lines(study)
    yield from _unset_formulas(study)


def idle(studies: Sequence[Study]) -> Iterator[Fault]:
    """Parameters that a study says it means, of which nothing is noted at any of its presets."""
    study = studies[0]
    noted = {parameter for one in studies for parameter in (_notes(one) if study.intended else ())}
    for i, parameter in enumerate(study.intended):
        if parameter not in noted:
            allowed = nearest(parameter, noted) if noted else "none: nothing is noted of this input and teacher"
            yield Fault(study.file, ("intended", i), show(parameter), allowed)


def _notes(study: Study) -> dict[str, Note]:
    """A note on each parameter of the input and the teacher, with all points of the grid at which it is so."""
    met: dict[tuple[str, str, str, str], list[str]] = {}
    varied = [axis for axis, values in study.axes.items() if len(values) > 1]
    for point in study.points:
        for part in PROBLEM:
            for key, found, why in component_guards.warnings(f"{part}s", point.problem[part], point.law):
                place = " and ".join(f"{axis} {point.coordinates[axis]}" for axis in varied)
                met.setdefault((part, key, found, why), []).append(place)
    notes: dict[str, Note] = {}
    for (part, key, found, why), places in met.items():
        where = f" at {', '.join(places)}" if varied and len(places) < len(study.points) else ""
        notes.setdefault(key, Note(study.file, ("problem", part, key), found + where, why))
    return notes


def _unset_formulas(study: Study) -> Iterator[Fault]:
    """Texts with TeX that the page can only show as it is written."""
    # Here, as the converter is read for pages and for studies that are not known yet.
    from hierlearn.pipeline.claims.page.mathematics import unset

    texts: list[tuple[Path, str]] = [((key,), vars(study)[key]) for key in ("title", "place", "summary")]
    for name, claim in study.claims.items():
        said, keys = claim.said(), ("place", "statement", "beyond", "proof", "remark")
        texts += [(("claims", name, key), said.get(key, "")) for key in keys]
        texts.append((("claims", name, "rival", "is"), said.get("control", {}).get("rival", "")))
    for at, text in texts:
        for tex in unset(text):
            yield Fault(study.file, at, show(tex), "TeX between two dollars that MathML can be made of")


def _short_lines(study: Study) -> Iterator[Fault]:
    """Claims by a line through fewer sizes than an interval needs; smoke judges nothing in earnest.

    A description is of all sizes that there are, unless it names its own: nothing is judged by them.
    """
    # Here, as it brings scipy, which a run whose studies are known does without.
    from hierlearn.statistics.exponents import FEWEST_SIZES

    for name, claim in study.claims.items() if study.preset != "smoke" else ():
        for at, described in ((("quantity",), claim.quantity), (("rival", "quantity"), claim.rival())):
            if described is None:
                continue
            kind = described["name"]
            full = registry.defaults("quantities", kind) | described
            parameters = registry.parameters("quantities", kind)
            if registry.implementation("quantities", kind).UNIT not in LINES:
                continue
            for key in sorted(FITTED & set(parameters)):
                if claim.rule == "descriptive" and full.get(key) is None:
                    continue
                # A line along the number of samples names its own, three at least; what a user's own fits is not known.
                reference = parameters[key].get("reference", "")
                sizes = _fitted(study, full, key, reference) if reference.endswith(ALONG) else None
                if sizes is not None and len(sizes) < FEWEST_SIZES:
                    wanted = f"{FEWEST_SIZES} or more, as a line through fewer has no interval"
                    yield Fault(study.file, ("claims", name, *at, key), f"a line through {show(sizes)}", wanted)


def _fitted(study: Study, quantity: Mapping[str, Any], key: str, reference: str) -> list | None:
    """The sizes of a line that its learners are trained at; None where only a probe itself knows them."""
    axis = quantity.get("axis", "dimension")
    if reference.startswith("probe"):
        known = (study.probes[quantity["probe"]].axes or study.axes).get(axis)
    elif axis in study.axes:
        sides = (key.removesuffix("_sizes"),) if key.endswith("_sizes") else ("learner", "above", "below")
        learners = [quantity[side] for side in sides if quantity.get(side) in study.learners]
        # A list in `where` goes along with the axis.
        others, where = {*study.axes} - {axis}, quantity.get("where", {})
        fixed = [(at, value) for at, value in where.items() if at in others and not isinstance(value, list)]
        there = [point for point in study.points if all(point.coordinates[at] == value for at, value in fixed)]
        known = [p.coordinates[axis] for p in there if all(study.reaches(learner, p) for learner in learners)]
        known = list(dict.fromkeys(known))
    else:
        known = study.swept.get(axis)
    return quantity[key] if known is None else [v for v in known if quantity[key] is None or v in quantity[key]]


def _out_of_limits(
    study: Study, at: tuple, kind: str, description: Mapping[str, Any], point: GridPoint
) -> Iterator[Fault]:
    known = registry.parameters(kind, description["name"])
    for key, value in description.items():
        if key != "name" and not {"component", "components"} & set(known[key]):
            for error in violations(value, known[key]):
                found = f"{show(value)} at {point.coordinates}"
                yield Fault(study.file, (*at, key), found, allowed_by(error))


def _problem_out_of_limits(study: Study, point: GridPoint) -> list[Fault]:
    parts = ((("problem", part), f"{part}s", point.problem[part]) for part in PROBLEM)
    return [fault for part in parts for fault in _out_of_limits(study, *part, point)]


def _component_values(
    study: Study, at: tuple, kind: str, description: Mapping[str, Any], point: GridPoint, met: dict
) -> Iterator[Fault]:
    """Values that sizes become. met: takes up the objections, with their points; what an axis sets is found there."""
    faults = list(_out_of_limits(study, at, kind, description, point))
    yield from faults
    if not faults:
        _note(met, at, component_guards.validate(kind, description, point.law), point)


def _learner_values(
    study: Study, name: str, described: Mapping[str, Any], point: GridPoint, met: dict
) -> Iterator[Fault]:
    """What sizes become in a learner and its parts, and what they object to of the problem and of what shows it."""
    teacher, representation = point.problem["teacher"], study.representation(study.learners[name].representation, point)
    shown = [("teachers", teacher), ("representations", representation)]
    # A study may leave out the places where a learner would not fit the teacher.
    sound = study.reaches(name, point) and not any(
        component_guards.validate(kind, part, point.law) or any(_out_of_limits(study, (), kind, part, point))
        for kind, part in shown
    )
    for place, kind, part in registry.parts("learners", described):
        at = ("learners", name, "learner", *place)
        # A kernel of features knows nothing of the law of x.
        if kind != "kernels" or study.learners[name].representation == "raw":
            yield from _component_values(study, at, kind, part, point, met)
        if kind == "learners" and sound:
            built = [registry.built_once(below, one) for below, one in shown]
            _note(met, at, component_guards.validate_data(part, *built), point)


def _note(met: dict, at: tuple, validate: Iterable[Objection], point: GridPoint) -> None:
    """Takes up objections with the points at which they are met."""
    for key, found, allowed in validate:
        where = ("axes", key) if at[0] != "learners" and key in point.coordinates else (*at, key)
        places = met.setdefault((where, found, allowed), [])
        places += [point.coordinates] if point.coordinates not in places else []
