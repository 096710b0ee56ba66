"""The first registered form of every question, kept in `docs/records`, and what differs from it."""

import csv
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hierlearn.core import provenance
from hierlearn.core.words import show
from hierlearn.pipeline.claims import digests
from hierlearn.pipeline.claims.question_forms import Question, changes, part_of, parts_of, question
from hierlearn.pipeline.files.errors import Fault
from hierlearn.pipeline.plan import checking, registration
from hierlearn.pipeline.plan.study import Study

FILE, CHANGED, CONTRACT = "first_questions.json", "changed_questions.csv", "contract-3.csv"
# Every question has a line of its own at this preset; at smaller ones a study may leave some out.
PRESET = "standard"
# What a question was that no study asks any more.
ASKED = "asked"


def write(file: Path, records: Mapping[str, Mapping[str, Any]]) -> None:
    """Write records of questions by claim, a line each. Learners and probes that are equal stand once, as `parts`."""
    shared: dict[str, Question] = {}
    lines: list[str] = []
    for claim, record in records.items():
        form = record["question"]
        own = {field: value for field, value in form.items() if part_of(field) is None}
        keys = {}
        for name, fields in parts_of(form).items():
            key = hashlib.sha256(provenance.canonical(fields).encode()).hexdigest()[:8]
            shared[key], keys[name] = fields, key
        lines.append(f" {json.dumps(claim)}: {_line(dict(record) | {'question': own, 'parts': keys})}")
    of_parts = [f" {json.dumps(key)}: {_line(shared[key])}" for key in sorted(shared)]
    questions, parts = (",\n".join(block) for block in (lines, of_parts))
    file.write_text(f'{{"questions": {{\n{questions}\n}},\n"parts": {{\n{parts}\n}}}}\n', encoding="utf-8")


def read(file: Path) -> dict[str, dict[str, Any]]:
    """Return the records of a file that `write` wrote, by claim."""
    content = json.loads(file.read_text(encoding="utf-8"))
    records = {}
    for claim, record in content["questions"].items():
        parts = record.pop("parts")
        for name, key in parts.items():
            record["question"] |= {name + field: value for field, value in content["parts"][key].items()}
        records[claim] = record
    return records


def _line(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False)


def changed(records: Mapping[str, Mapping[str, Any]], studies: Path) -> Iterator[tuple[str, str, Any, Any]]:
    """Yield (claim, field, first value, present value) of every change since the first form. studies: their folder.

    A claim that no study has any more differs in the field `question`. Raises ValueError where a study has faults.
    """
    present: dict[tuple[str, str], dict[str, Any]] = {}
    for claim, record in records.items():
        place = record["study"], record["preset"]
        if place not in present:
            present[place] = registration.designs(checking.load_study(studies / f"{place[0]}.yaml", place[1]))
        if claim not in present[place]:
            yield claim, "question", ASKED, None
            continue
        for field, first, now in changes(record["question"], question(present[place][claim])):
            yield claim, field, first, now


def exceptions(folder: Path) -> set[tuple[str, str]]:
    """Return the (claim, field) that may differ from the first form: changed before, or an identity now a check.

    folder: `docs/records`.
    """
    return {(row["row"], row["field"]) for row in _table(folder / CHANGED)} | identities(folder)


def identities(folder: Path) -> set[tuple[str, str]]:
    """Return the (claim, field) of identities that are checks now, which changes their kind. folder: `docs/records`."""
    return {(row["row"], "kind") for row in _table(folder / CONTRACT) if row["change"] == "check"}


def restored(folder: Path) -> set[str]:
    """Return the claims that stand again with their first question, and those that are checks now.

    folder: `docs/records`, which a folder of your own need not have.
    """
    rows = _table(folder / CONTRACT) if (folder / CONTRACT).is_file() else []
    return {row["row"] for row in rows if row["change"] in ("restored", "check")}


def _table(file: Path) -> list[dict[str, str]]:
    with open(file, newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def other_questions(study: Study, folder: Path, lines: Sequence[registration.Line]) -> Iterator[Fault]:
    """Yield what differs between the claims of a study and their first forms, the `exceptions` apart.

    folder: `docs/records`, which a folder of your own need not have; lines: those of registered.csv. Where the records
    have no form of a question, its first line at the study's preset says by its digest what it was.
    """
    records = read(folder / FILE) if (folder / FILE).is_file() else {}
    listed = exceptions(folder) if records else set()
    for claim, design in registration.designs(study).items():
        record = records.get(claim)
        yield from _names_nothing(study, claim, records, lines)
        if record is None or record["study"] != study.name:
            yield from _other_digest(study, claim, design, lines)
            yield from _same_again(study, claim, question(design), records)
        elif record["preset"] == study.preset:
            for field, first, now in changes(record["question"], question(design)):
                if (claim, field) not in listed:
                    allowed = f"{show(first)}, as first registered on {record['date']}, or a claim with a new name"
                    yield Fault(study.file, ("claims", claim, *_written(field)), show(now), allowed)


def gone(study: Study, folder: Path, lines: Iterable[registration.Line] = ()) -> Iterator[Fault]:
    """Yield the registered questions that a study asks no more: a mistaken one stays, and quotes the paper.

    folder: `docs/records`, which a folder of your own need not have. Those that went before are `exceptions`. lines: of
    registered.csv, for questions at `standard` that came after the records.
    """
    records = read(folder / FILE) if (folder / FILE).is_file() else {}
    listed = exceptions(folder) if records else set()
    here, lost = (study.name, study.preset), {}
    for claim, record in records.items():
        if here == (record["study"], record["preset"]) and (claim, "question") not in listed:
            lost[claim] = f"on {record['date']}"
    for line in lines:
        if here == (line.study, line.preset) == (line.study, PRESET) and line.claim not in records:
            lost.setdefault(line.claim, f"at revision {line.revision}")
    for claim, said in lost.items():
        if claim not in study.claims:
            allowed = f"{claim}, with the paper's sentence in `withdrawn` where the question is mistaken"
            yield Fault(study.file, ("claims",), f"no {claim}, which was registered {said}", allowed)


def _written(field: str) -> list[str]:
    """Where a claim writes a field of its question: its test says four of them."""
    first, *rest = field.split(".")
    if first in ("rule", "predicted", "slack", "side"):
        return ["test", first]
    return [first, "quantity", *rest] if first == "rival" and rest else [first, *rest]


def _other_digest(
    study: Study, claim: str, design: Mapping[str, Any], lines: Sequence[registration.Line]
) -> Iterator[Fault]:
    """A question with another digest than its first line."""
    here = claim, study.name, study.preset
    known = [line for line in lines if (line.claim, line.study, line.preset) == here and line.question]
    if known and known[0].question != digests.of_question(design):
        found = f"another question than at revision {known[0].revision}, {registration.file_beside(study)} says"
        yield Fault(study.file, ("claims", claim), found, "the question first registered, or a claim with a new name")


def _names_nothing(
    study: Study, claim: str, records: Mapping[str, Any], lines: Sequence[registration.Line]
) -> Iterator[Fault]:
    """A question that is asked after none that was registered."""
    first = study.claims[claim].asked_after
    if first is not None and first not in records and all(line.claim != first for line in lines):
        yield Fault(study.file, ("claims", claim, "asked_after"), show(first), "a claim that was registered before")


def _same_again(study: Study, claim: str, form: Question, records: Mapping[str, Any]) -> Iterator[Fault]:
    """A new name for a question with the place, the quantity and the learner of one that was registered."""
    if study.claims[claim].asked_after is not None:
        return
    for first, record in records.items():
        if record["study"] == study.name and _measure(record["question"]) == _measure(form):
            found = f"the place, the quantity and the learner of {first} in a claim with a new name"
            yield Fault(study.file, ("claims", claim), found, f"asked_after: {first}, or {first} itself")
            return


def _measure(form: Question) -> Question:
    """The place and the quantity of a question, the learners that it names among them."""
    return {field: value for field, value in form.items() if field == "place" or field.startswith("quantity.")}
