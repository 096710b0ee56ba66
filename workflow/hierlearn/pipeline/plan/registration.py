"""Designs that are registered before they are judged: a digest of all that a claim's verdict rests on, and its lines.

A digest is over the claim with its quantity and control in full, defaults and published numbers included, and over the
problems, seeds, sizes, learners, representations and probes that these name. Not in it: words, so that language can
improve without a new draw, figures and labels, other claims and learners, where the grid is cut into jobs, needs of
jobs, and parameters that components mark as EXECUTION. Lines from before 2026-11-30 have the words in their digest;
config/registered_designs.csv has the digest without words of each that was then the last one of its study.
"""

import csv
import functools
import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from hierlearn.core import aliases, folders, provenance, registry
from hierlearn.pipeline.claims import digests as canonical
from hierlearn.pipeline.claims import scopes
from hierlearn.pipeline.claims.question_forms import WORDS
from hierlearn.pipeline.files import append_only_csv
from hierlearn.pipeline.files.errors import Fault, entries
from hierlearn.pipeline.plan import descriptions
from hierlearn.pipeline.plan.sizes import product
from hierlearn.pipeline.plan.study import Study

NAME = "registered.csv"
FILE = f"config/{NAME}"
# Says nothing of what is judged and how.
UNJUDGED = ("remark", "digest", "asked_after", "limit_from", "withdrawn")
# The digests of earlier lines, with words and without.
EARLIER = folders.PACKAGE.parents[1] / "config" / "registered_designs.csv"


@dataclass(frozen=True)
class Line:
    """A registered design: a claim at a revision of its study's preset, with the draw that it is judged on first.

    question, design: its canonical digests (`claims/digests.py`), "" in lines from before there were any.
    """

    claim: str
    study: str
    preset: str
    revision: int
    digest: str
    draw: str
    question: str = ""
    design: str = ""


COLUMNS = tuple(field.name for field in fields(Line))
# The columns that came later, the last ones.
LATER = 2


def designs(study: Study) -> dict[str, dict[str, Any]]:
    """Return what the digest of every claim of a study is over, its learners and probes in full."""

    @functools.cache
    def part(say: Callable[[Study, str], dict[str, Any]], name: str) -> dict[str, Any]:
        return say(study, name)

    found = {}
    for name, claim in descriptions.claims(study).items():
        judged = {key: value for key, value in claim.items() if key not in UNJUDGED}
        judged["rule"] = aliases.first_rule(judged["rule"])
        named = {part for _, part in entries(judged) if isinstance(part, str)}
        learners = {one: part(_learner, one) for one in study.learners if one in named}
        probes = {one: part(_probe, one) for one in study.probes if one in named}
        found[name] = {"claim": judged, "seeds": study.seeds, "learners": learners, "probes": probes}
    return found


def scopes_of(study: Study) -> dict[str, scopes.Scope]:
    """Return the scope of every judged claim of a study at a place that the paper lists."""
    return scopes.of_claims(study.paper, study.claims, lambda: designs(study))


def digests(study: Study) -> dict[str, str]:
    """The digest of every claim of a study at its preset."""
    known: dict[tuple[str, str], str] = {}

    def part(section: str, name: str, content: dict[str, Any]) -> str:
        if (section, name) not in known:
            known[section, name] = _hash(content)
        return known[section, name]

    found = {}
    for claim, design in designs(study).items():
        parts = {
            section: {name: part(section, name, content) for name, content in design[section].items()}
            for section in ("learners", "probes")
        }
        found[claim] = _hash(design | parts | {"claim": _without_words(design["claim"])})
    return found


def _without_words(claim: Mapping[str, Any]) -> dict[str, Any]:
    """A claim without its sentences; of a rival that is missing the digest says so, and not why."""
    control = {key: value for key, value in claim.get("control", {}).items() if key != "rival"}
    control |= {"missing": True} if "missing" in control else {}
    bare = {key: value for key, value in claim.items() if key not in WORDS}
    return bare | ({"control": control} if "control" in claim else {})


@functools.cache
def _earlier() -> dict[str, str]:
    """The digests without words of earlier lines, by the digest that stands in the line."""
    if not EARLIER.is_file():
        return {}
    with EARLIER.open(encoding="utf-8", newline="") as file:
        return {row["digest"]: row["without_words"] for row in csv.DictReader(file)}


def without_words(digest: str) -> str:
    """Return the digest of a line as one without words, which all later lines have."""
    return _earlier().get(digest, digest)


def _hash(content: Any) -> str:
    return hashlib.sha256(provenance.canonical(content).encode()).hexdigest()[:16]


def _learner(study: Study, name: str) -> dict[str, Any]:
    """What a learner meets and is, at every point of the grid at which it runs."""
    entry, sizes = study.learners[name], asdict(study.samples)
    # What start, cap, at and per_doubling mean is said by the sizes themselves.
    walk = {key: value for key, value in sizes.items() if key not in ("stated", "per_doubling")}
    walk |= {key: value for key, value in entry.samples.items() if key not in ("start", "cap", "at")}
    points = [point for point in study.points if study.within_limits(name, point) and study.sample_sizes(name, point)]
    return {
        "walk": walk,
        "points": asdict(study.held_out),
        "grid": [
            {
                "coordinates": point.coordinates,
                "problem": _problem(point.problem),
                "representation": _full("representations", study.representation(entry.representation, point)),
                "samples": study.sample_sizes(name, point),
                "variants": [
                    variant | {"learner": _full("learners", variant["learner"])}
                    for variant in study.variants(name, point)
                ],
            }
            for point in points
        ],
    }


def _probe(study: Study, name: str) -> dict[str, Any]:
    """What a probe measures and where."""
    entry = study.probes[name]
    points = [study.point(coordinates) for coordinates in product(study.axes | entry.axes)]
    return {
        "probe": _full("probes", entry.component),
        "grid": [{"coordinates": point.coordinates, "problem": _problem(point.problem)} for point in points],
    }


def _problem(content: Mapping[str, Any]) -> dict[str, Any]:
    return dict(content) | {part: _full(f"{part}s", content[part]) for part in ("input", "teacher")}


def _full(kind: str, description: Mapping[str, Any]) -> dict[str, Any]:
    """A description with the defaults of all components in it, and without what says only how it is executed."""
    name = description["name"]
    known, full = registry.parameters(kind, name), registry.defaults(kind, name) | dict(description)
    for key, schema in known.items():
        if schema.get("execution"):
            full.pop(key, None)
        elif "component" in schema and key in full:
            full[key] = _full(schema["component"], full[key])
        elif "components" in schema and key in full:
            full[key] = {label: _full(schema["components"], part) for label, part in full[key].items()}
    return {"name": name} | full


def _sound(row: Sequence[str]) -> bool:
    """Whether all is there that a line has always had."""
    return all(row[: len(row) - LATER]) and row[3].isdigit() and int(row[3]) > 0


def read(file: Path, name: str = FILE) -> tuple[list[Line], list[Fault]]:
    """The lines of registered.csv and its faults. name: what messages call it."""
    rows, faults = append_only_csv.read(file, name, COLUMNS, _sound, LATER)
    lines, seen = [], {}
    for number, row in rows:
        line = Line(*row[:3], int(row[3]), *row[4:])
        first, before = seen.setdefault((*row[:3], line.revision), (number, line))
        # A question that stands again with its first form has a second line on the same draw, with its own digest.
        if first != number and line.question in ("", before.question):
            found = f"{line.claim} of {line.study} at revision {line.revision} of {line.preset} again"
            faults.append(Fault(name, (f"line {number}",), found, f"one line, which line {first} is"))
        lines.append(line)
    return lines, faults


def of(study: Study, lines: Iterable[Line]) -> dict[str, str]:
    """claim -> digest of the lines of a study's present revision; none for a pilot, which judges nothing.

    Of two lines of a claim the later one counts.
    """
    here = study.name, study.preset, study.revision
    if study.run.pilot:
        return {}
    return {one.claim: one.digest for one in lines if (one.study, one.preset, one.revision) == here}


def file_beside(study: Study) -> str:
    """What messages call the file with the registered designs of a study."""
    folder, below, _ = study.file.rpartition("/studies/")
    return f"{folder}/{NAME}" if below else FILE


def other_designs(study: Study, lines: Sequence[Line], restored: Collection[str] = ()) -> Iterator[Fault]:
    """Claims whose design is not the one that is registered at the study's revision.

    restored: claims that stand again with their first question, or as checks, on the draw of the revision, once.
    """
    if study.run.pilot:
        return
    beside = file_beside(study)
    raised = f"the design that was registered, or revisions.{study.preset}: {study.revision + 1}"
    at_preset = [line for line in lines if (line.study, line.preset) == (study.name, study.preset)]
    latest = max((line.revision for line in at_preset), default=0)
    if latest > study.revision:
        found = f"{study.revision}, less than the {latest} in {beside}"
        yield Fault(study.file, ("revisions", study.preset), found, f"at least {latest}: designs are only added")
        return
    known = of(study, at_preset)
    bound = {line.claim for line in at_preset if line.revision == study.revision and line.question}
    present = digests(study) if known else {}
    for claim, digest in known.items():
        if claim not in present:
            yield Fault(study.file, ("claims",), f"no {claim}, which {beside} has at this revision", raised)
        elif present[claim] != _earlier().get(digest, digest) and (claim in bound or claim not in restored):
            found = f"another design than that of its line in {beside}"
            yield Fault(study.file, ("claims", claim), found, raised)


def new_lines(study: Study, lines: Sequence[Line]) -> list[Line]:
    """What registering a study adds: a line for every claim that has none at its revision, or one of another design."""
    known, draw = of(study, lines), study.run.word(study.name, study.preset, study.revision)
    without_words = {claim: _earlier().get(digest, digest) for claim, digest in known.items()}
    new = {claim: digest for claim, digest in digests(study).items() if without_words.get(claim) != digest}
    resolved = designs(study) if new else {}
    return [
        Line(
            *(claim, study.name, study.preset, study.revision, digest, draw),
            question=canonical.of_question(resolved[claim]),
            design=canonical.of_design(resolved[claim]),
        )
        for claim, digest in new.items()
    ]
