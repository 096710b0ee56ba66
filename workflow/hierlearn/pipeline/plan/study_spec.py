"""What a study file declares, as typed parts.

Components stay mappings {name, parameter: value}: a job's parameters have them as they are.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from hierlearn.pipeline.files import papers
from hierlearn.pipeline.files.schema_errors import fill_defaults, schema
from hierlearn.pipeline.plan import tests
from hierlearn.pipeline.plan.presets import merge_component

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
    start and cap of the lattice, or the sizes themselves in `at`; limits: largest values of axes; only: where it runs,
    places with values of some axes; everywhere if there is none.
    """

    label: str | None
    component: Component | None
    representation: str | None
    select: dict[str, list]
    sweep: dict[str, list]
    samples: dict[str, Any]
    limits: dict[str, float]
    only: list[dict[str, list]]


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
    asked_after: str | None
    limit_from: str | dict[str, Any] | None
    withdrawn: dict[str, str] | None
    side: str | None

    @property
    def is_seen(self) -> bool:
        """Whether a pilot or an earlier result suggested its limit."""
        return self.limit_from is not None and "seen" in self.limit_from

    def rival(self) -> Component | None:
        """The quantity that measures the control; None where there is none."""
        overlay = (self.control or {}).get("quantity")
        return None if overlay is None or self.quantity is None else merge_component(self.quantity, overlay)

    def said(self) -> dict[str, Any]:
        """What it says, by key."""
        return {key: value for key, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class Declared:
    """What the file of a study declares at one preset.

    published: the tables of its paper by name, None where their file cannot be used. Of a study with faults, what is
    broken is None or left out.
    """

    name: str
    file: str
    preset: str
    published: dict[str, Any] | None
    title: str
    paper: str
    place: str
    summary: str

    problem: ProblemSection
    axes: dict[str, list]
    seed_count: int
    split_jobs_by: list[str]
    held_out: HeldOut
    samples: Samples
    representations: dict[str, Component | None]
    learners: dict[str, Learner]
    probes: dict[str, Probe]
    figure: Component | None
    claims: dict[str, Claim]
    # Parameters of the input and the teacher with values that break a hypothesis on purpose.
    intended: list[str]
    # How many designs were judged, by preset.
    revisions: dict[str, int]


def parts(body: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a study that its file declares; the file's shape must be sound."""
    said = fill_defaults(body, schema("study"))
    hypotheses = papers.hypotheses(said.get("paper", ""))
    return {
        **{key: said.get(key, "") for key in ("title", "paper", "place", "summary")},
        "problem": ProblemSection(**said["problem"]),
        "axes": said["axes"],
        "seed_count": said["seeds"],
        "split_jobs_by": said["split_jobs_by"],
        "intended": said.get("intended", []),
        "held_out": HeldOut(**said["points"]),
        "samples": Samples(**said["samples"]),
        "representations": said["representations"],
        "learners": {name: _learner(entry) for name, entry in said["learners"].items()},
        "probes": {
            name: Probe(entry["probe"], entry.get("axes", {})) for name, entry in said.get("probes", {}).items()
        },
        "figure": said.get("figure", {}),
        "claims": {name: _claim(entry, hypotheses) for name, entry in said.get("claims", {}).items()},
        "revisions": said.get("revisions", {}),
    }


def mapping(part: Any) -> dict[str, Any]:
    """A part of a file if it is a mapping, else an empty one."""
    return part if isinstance(part, dict) else {}


def _learner(entry: Mapping[str, Any]) -> Learner:
    usual = {"select": {}, "sweep": {}, "limits": {}}
    said = {key: value for key, value in entry.items() if key != "learner"}
    return Learner(component=entry["learner"], **usual | said | {"only": places(entry.get("only", []))})


def places(only: dict | list) -> list[dict[str, list]]:
    """The places of `only`, one or several, each with lists of values."""
    listed = only if isinstance(only, list) else [only]
    return [{axis: value if isinstance(value, list) else [value] for axis, value in one.items()} for one in listed]


def _claim(entry: Mapping[str, Any], hypotheses: Mapping[str, Mapping[str, Any]]) -> Claim:
    """A claim from its written form: its test is a rule, its rival a control, broken hypotheses are their sentences."""
    said: dict[str, Any] = {key: entry.get(key) for key in (part.name for part in fields(Claim))}
    described = {"kind": "description", "rule": "descriptive", "side": "above", "predicted": entry.get("printed")}
    said |= tests.read(entry["test"]) if "test" in entry else described
    if "beyond" in entry:
        broken = entry["beyond"]
        sentences = [broken] if isinstance(broken, str) else [papers.sentence(hypotheses[key]) for key in broken]
        said |= {"regime": "beyond", "beyond": "; ".join(sentences)}
    if "rival" in entry:
        said["control"] = {"rival" if key == "is" else key: value for key, value in entry["rival"].items()}
    return Claim(**said)
