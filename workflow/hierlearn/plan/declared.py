"""What a study file declares, as typed parts; of a file with faults, what of it is sound.

Components stay mappings {name, parameter: value}: a job's parameters have them as they are.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from hierlearn.core import registry
from hierlearn.plan.faults import Broken, Path, value_at
from hierlearn.plan.presets import merge_component
from hierlearn.plan.violations import fill_defaults, schema

Component = dict[str, Any]


@dataclass(frozen=True)
class ProblemSection:
    """What is to be learned. A component is None where it has no name that is known."""

    input: Component | None
    teacher: Component | None
    scale: str
    label_noise: float


@dataclass(frozen=True)
class Samples:
    """The lattice of sample sizes. thresholds: risks whose crossings are looked for; curves: places, axes with values,
    at which every size is visited."""

    per_doubling: int
    thresholds: list[float]
    curves: list[dict[str, Any]]


@dataclass(frozen=True)
class HeldOut:
    """Numbers of held-out points per seed."""

    validation: int
    test: int


@dataclass(frozen=True)
class Learner:
    """A learner. samples: the size near which a search begins, its own thresholds, whether it visits whole `curves`,
    start and cap of the lattice, or the sizes themselves in `at`; limits: largest values of axes; skip: places, axes
    with values, at which it does not run.
    """

    label: str | None
    component: Component | None
    representation: str | None
    select: dict[str, list]
    sweep: dict[str, list]
    samples: dict[str, Any]
    limits: dict[str, float]
    skip: list[dict[str, Any]]


@dataclass(frozen=True)
class Probe:
    """What a probe or an experiment measures. axes: its own grid where that is not the study's."""

    component: Component | None
    axes: dict[str, list]


@dataclass(frozen=True)
class Claim:
    """A claim with its rule and its negative control; None is what it does not say.

    control: its rival with what is other in the quantity that measures it, or why it is missing."""

    place: str | None
    statement: str | None
    kind: str | None
    rank: str | None
    regime: str | None
    beyond: str | None
    proof: str | None
    quantity: Component | None
    rule: str | None
    predicted: float | None
    slack: float | None
    control: dict[str, Any] | None
    remark: str | None
    side: str | None

    def rival(self) -> Component | None:
        """The quantity that measures the control; None where there is none."""
        overlay = (self.control or {}).get("quantity")
        return None if overlay is None or self.quantity is None else merge_component(self.quantity, overlay)

    def said(self) -> dict[str, Any]:
        """What it says, by key."""
        return {key: value for key, value in vars(self).items() if value is not None}


def parts(body: Mapping[str, Any], broken: Broken) -> dict[str, Any]:
    """The fields of a study that its file declares; what is broken has its default, or is None or left out."""
    read = Reader(fill_defaults(body, schema("study")), broken)
    return {
        **{key: read.value((key,), "") for key in ("title", "paper", "place", "summary")},
        "problem": ProblemSection(
            read.component("inputs", "problem", "input"),
            read.component("teachers", "problem", "teacher"),
            **read.values("problem", ("scale", "label_noise")),
        ),
        "axes": read.lists("axes"),
        "seed_count": read.value(("seeds",), 1),
        "split_jobs_by": read.entries("split_jobs_by"),
        "intended": read.entries("intended"),
        "held_out": HeldOut(**read.values("points", ("validation", "test"))),
        "samples": Samples(
            **read.values("samples", ("per_doubling",)),
            thresholds=read.entries("samples", "thresholds"),
            curves=[mapping(place) for place in read.entries("samples", "curves")],
        ),
        "representations": {
            name: read.component("representations", "representations", name) for name in read.mapping("representations")
        },
        "learners": {name: _learner(read, name) for name in read.mapping("learners")},
        "probes": {
            name: Probe(read.component("probes", "probes", name, "probe"), read.lists("probes", name, "axes"))
            for name in read.mapping("probes")
        },
        "figure": read.component("figures", "figure"),
        "claims": {name: _claim(read, name) for name in read.mapping("claims")},
        "revisions": read.lists("revisions"),
    }


def mapping(part: Any) -> dict[str, Any]:
    """A part of a file if it is a mapping, else an empty one."""
    return part if isinstance(part, dict) else {}


@dataclass(frozen=True)
class Reader:
    """Reads parts of a study's content, defaults filled in, and leaves out what is broken."""

    content: Mapping[str, Any]
    broken: Broken

    def value(self, at: Path, default: Any = None) -> Any:
        """What stands at a path; the default where nothing does, or nothing sound."""
        found = None if self.broken.over(*at) else value_at(self.content, at)
        return default if found is None else found

    def values(self, section: str, keys: Iterable[str]) -> dict[str, Any]:
        """Values of a section by key; a broken one is the schema's default."""
        usual = {key: part.get("default") for key, part in schema("study")["properties"][section]["properties"].items()}
        return {key: self.value((section, key), usual[key]) for key in keys}

    def mapping(self, *at: str) -> dict[str, Any]:
        return mapping(self.value(at))

    def lists(self, *at: str) -> dict[str, list]:
        """Lists by name, each without its broken entries; empty where a list itself is broken."""
        return {key: self.entries(*at, key) for key in self.mapping(*at)}

    def entries(self, *at: str) -> list:
        values = self.value(at)
        if not isinstance(values, list):
            return []
        return [value for i, value in enumerate(values) if not self.broken.over(*at, i)]

    def component(self, kind: str, *at: str) -> Component | None:
        part, name = self.value(at), self.value((*at, "name"))
        return part if isinstance(part, dict) and isinstance(name, str) and name in registry.available(kind) else None


def _learner(read: Reader, name: str) -> Learner:
    at = ("learners", name)
    skip = read.value((*at, "skip"))
    return Learner(
        label=read.value((*at, "label")),
        component=read.component("learners", *at, "learner"),
        representation=read.value((*at, "representation")),
        select=read.lists(*at, "select"),
        sweep=read.lists(*at, "sweep"),
        samples=read.mapping(*at, "samples"),
        limits=read.mapping(*at, "limits"),
        skip=[mapping(place) for place in skip] if isinstance(skip, list) else [],
    )


def _claim(read: Reader, name: str) -> Claim:
    at = ("claims", name)
    words = {part.name: read.value((*at, part.name)) for part in fields(Claim)}
    words["quantity"] = read.component("quantities", *at, "quantity")
    if words["control"] is not None:
        said = read.mapping(*at, "control")
        words["control"] = {key: part for key, part in said.items() if not read.broken.over(*at, "control", key)}
    return Claim(**words)
