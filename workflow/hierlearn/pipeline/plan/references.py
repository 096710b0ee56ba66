"""Names in a study that refer to other parts of it: learners, probes and what they measure, axes and their values,
tables of published numbers.

A parameter's schema says by the keyword `reference` which of the classes below says what it may name.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hierlearn.core import registry
from hierlearn.core.protocols import FLOPS, Learner
from hierlearn.core.words import show
from hierlearn.pipeline.files.errors import Path
from hierlearn.pipeline.plan.coordinates import (
    LARGEST,
    Grid,
    PanelPlace,
    Place,
    PublishedPlace,
    WholePlace,
    described,
    has_probe,
    panel_axes,
    panel_table,
    probe_class,
    probe_grid,
    probe_table,
    sample_sizes,
    score_grid,
)
from hierlearn.pipeline.plan.study import Study
from hierlearn.pipeline.plan.validation_context import Draft, Reference, Scope

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


@dataclass(frozen=True)
class Section(Reference):
    """The names in a section of the study."""

    name: str

    def allowed(self, draft: Draft, scope: Scope) -> list | None:
        return list(getattr(draft.study, self.name))


class Published(Reference):
    """The published tables of the paper; of a file with faults they are not known."""

    def allowed(self, draft: Draft, scope: Scope) -> list | None:
        return None if draft.study.published is None else list(draft.study.published)


class Samples(Reference):
    """The sample sizes of all learners."""

    def allowed(self, draft: Draft, scope: Scope) -> list | None:
        return [*draft.once(sample_sizes), LARGEST]


class Scores(Reference):
    """The variables of scores.nc."""

    def allowed(self, draft: Draft, scope: Scope) -> list | None:
        study = draft.study
        measured = [measure for name in study.learners for measure in _class_of(study, name).MEASURES]
        chosen = [f"selected_{key}" for entry in study.learners.values() for key in entry.select]
        always = [score for score in SCORES if score != _score_of_other_teachers(study)]
        return [*always, *dict.fromkeys(measured + chosen)]


@dataclass(frozen=True)
class OfLearner(Reference):
    """What the learner in scope records: MEASURES or TRACES."""

    what: str

    def allowed(self, draft: Draft, scope: Scope) -> list | None:
        name = scope.get("learner")
        return list(getattr(_class_of(draft.study, name), self.what)) if name in list(draft.study.learners) else None


class PanelVariables(Reference):
    """What a panel of traces or of a probe draws."""

    def allowed(self, draft: Draft, scope: Scope) -> list | None:
        word = "learner traces" if scope.get("kind") == "trace" else "probe measures"
        return REFERENCES[word].allowed(draft, scope)


class PanelLearners(Reference):
    """The learners that a panel can draw: of traces those that leave some."""

    def allowed(self, draft: Draft, scope: Scope) -> list | None:
        traced = scope.get("kind") == "trace" or "errors" in scope
        return [name for name in draft.study.learners if not traced or _class_of(draft.study, name).TRACES]


@dataclass(frozen=True)
class Axis(Reference):
    """The axes of a grid."""

    grid: Grid

    def allowed(self, draft: Draft, scope: Scope) -> list | None:
        grid = self.grid(draft, scope)
        return None if grid is None else list(grid)


@dataclass(frozen=True)
class AxisValues(Reference):
    """The values of the axis in scope."""

    grid: Grid

    def allowed(self, draft: Draft, scope: Scope) -> list | None:
        grid = self.grid(draft, scope)
        return None if grid is None or scope.get("axis") not in list(grid) else grid[scope["axis"]]


class ProbeMeasures(Reference):
    """What the probe in scope measures."""

    def allowed(self, draft: Draft, scope: Scope) -> list | None:
        name = scope.get("probe")
        return sorted({*FLOPS, *probe_class(draft.study, name).MEASURES}) if has_probe(draft, name) else None


@dataclass(frozen=True)
class ProbeParameter(Reference):
    """The entries of a parameter of the probe in scope: its lines or thresholds."""

    name: str

    def allowed(self, draft: Draft, scope: Scope) -> list | None:
        probe = scope.get("probe")
        offered = described(draft.study, probe).get(self.name) if has_probe(draft, probe) else None
        return list(offered) if isinstance(offered, list | dict) else None


class ProbeDimension(Reference):
    """The dimensions of the probe in scope."""

    def allowed(self, draft: Draft, scope: Scope) -> list | None:
        grid = probe_grid(draft, scope)
        return None if grid is None else grid.get("dimension")


class Thresholds(Reference):
    """The risks whose crossings all learners in scope look for."""

    def allowed(self, draft: Draft, scope: Scope) -> list | None:
        study = draft.study
        named = [study.learners.get(str(scope.get(key))) for key in ("learner", "above", "below")]
        own = [risks for one in named if one and isinstance(risks := one.samples.get("thresholds"), list)]
        return [risk for risk in study.samples.thresholds if all(risk in risks for risks in own)]


class Dimensions(Reference):
    """The dimensions of the study's own grid."""

    def allowed(self, draft: Draft, scope: Scope) -> list | None:
        return draft.study.axes.get("dimension")


def check_size(draft: Draft, at: Path, value: Mapping[str, Any]) -> None:
    """A size that refers to what its place does not know: features before there are any, a degree of no polynomial."""
    known = ["dimension", "quadratic_dimension"]
    if at[0] != "problem":
        if "degree" in registry.parameters("teachers", draft.study.problem.teacher["name"]):
            known += ["harmonic_dimension", "polynomial_dimension", "quad_raw_dimension"]
        if (at[0], at[-1]) != ("representations", "count"):
            known.append("features")
    if value.get("of") not in known:
        draft.add((*at, "of"), show(value.get("of")), f"one of {', '.join(known)}")


def check_reference(draft: Draft, at: Path, against: Mapping[str, Any], value: Any, scope: Scope) -> None:
    """A parameter that names something of the study: its schema says {"reference": "learners"}.

    Goes into lists and objects.
    """
    if value is None or draft.is_faulty(*at):
        return
    if "reference" in against:
        REFERENCES[against["reference"]].check(draft, at, value, scope)
    elif isinstance(value, dict):
        for key, part in against.get("properties", {}).items():
            if key in value or "default" in part:
                check_reference(draft, (*at, key), part, value.get(key, part.get("default")), {**scope, **value})
        names, rest = against.get("propertyNames", {}), against.get("additionalProperties")
        for key in value if isinstance(rest, dict) else ():
            check_reference(draft, (*at, key), names, key, scope)
            check_reference(draft, (*at, key), rest, value[key], scope)
    elif isinstance(value, list) and "items" in against:
        for i, one in enumerate(value):
            check_reference(draft, (*at, i), against["items"], one, scope)


def _score_of_other_teachers(study: Study) -> str | None:
    """The score that no learner has of this teacher: classes have no error, and a regression no accuracy."""
    teacher = study.problem.teacher
    if "kind" in study.axes:
        return None
    kind = teacher.get("kind", registry.implementation("teachers", teacher["name"]).kind)
    return {"classes": "test_error", "regression": "test_accuracy"}.get(kind) if isinstance(kind, str) else None


def _class_of(study: Study, learner: str) -> type[Learner]:
    return registry.implementation("learners", study.learners[learner].component["name"])


REFERENCES: dict[str, Reference] = {
    **{section: Section(section) for section in ("learners", "probes", "claims", "representations")},
    "published": Published(),
    "published place": PublishedPlace(),
    "samples": Samples(),
    "scores": Scores(),
    "thresholds": Thresholds(),
    "dimensions": Dimensions(),
    "learner measures": OfLearner("MEASURES"),
    "learner traces": OfLearner("TRACES"),
    "axis": Axis(score_grid),
    "axis values": AxisValues(score_grid),
    "coordinates": Place(score_grid),
    "paired coordinates": Place(score_grid, is_paired=True),
    "some coordinates": Place(score_grid, is_partial=True),
    "place": WholePlace(score_grid),
    "probe measures": ProbeMeasures(),
    "probe lines": ProbeParameter("lines"),
    "probe thresholds": ProbeParameter("thresholds"),
    "probe dimension": ProbeDimension(),
    "probe axis": Axis(probe_table),
    "probe axis values": AxisValues(probe_table),
    "probe coordinates": Place(probe_table),
    "probe grid coordinates": Place(probe_grid),
    "some probe coordinates": Place(probe_table, is_partial=True),
    "probe place": WholePlace(probe_table),
    "panel axis": Axis(panel_axes),
    "panel variables": PanelVariables(),
    "panel learners": PanelLearners(),
    "panel coordinates": PanelPlace(panel_table),
}
