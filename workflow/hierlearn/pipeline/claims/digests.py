"""Two digests of a registered design in canonical form: one of its question, one of the design that answers it.

Defaults are left out, components and parameters have their first names, and a learner or a probe is called by the order
in which the quantity and the rival name it, so that neither a new parameter with its default nor another name moves a
digest. No words are in either.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

from hierlearn.core import provenance
from hierlearn.pipeline.claims import question_forms
from hierlearn.pipeline.claims.question_forms import Question, part_of, parts_of


def of_question(design: Mapping[str, Any]) -> str:
    """Return the digest of a design's question, 16 hexadecimal digits. design: one of `registration.designs`."""
    return of_form(question_forms.question(design))


def of_form(form: Question) -> str:
    """Return the digest of a question, 16 hexadecimal digits. form: as `question_forms.question` gives it."""
    # Of a value that hangs on a size the question says only on which coordinates it does.
    bare = {field: {"by": value["by"]} if question_forms.varies(value) else value for field, value in form.items()}
    return _digest(_canonical(bare, form))


def of_design(design: Mapping[str, Any]) -> str:
    """Return the digest of what a design says beside its question, 16 hexadecimal digits."""
    return _digest(_canonical(question_forms.amounts(design), question_forms.question(design)))


def _order(form: Question) -> dict[str, str]:
    """What stands for the name of every learner and probe: its place among those that a question names, from 1."""
    names = {part.partition(".")[2] for part in parts_of(form)}
    said = (value for field, value in sorted(form.items()) if part_of(field) is None)
    mentioned = [one for value in said for one in (value if isinstance(value, list) else [value])]
    ordered = dict.fromkeys(one for one in [*mentioned, *sorted(names)] if isinstance(one, str) and one in names)
    return {name: f"part {number}" for number, name in enumerate(ordered, start=1)}


def _canonical(fields: Question, form: Question) -> Question:
    """Fields without defaults, and without the names of learners and probes. form: of the whole question."""
    names, whole = _order(form), form | fields
    found = {}
    for field, value in fields.items():
        if question_forms.is_default(field, value, whole):
            continue
        if part := part_of(field):
            name = part.partition(".")[2]
            field = f"{names.get(name, name)}{field.removeprefix(part)}"
        elif isinstance(value, str):
            value = names.get(value, value)
        elif isinstance(value, list):
            value = [names.get(one, one) if isinstance(one, str) else one for one in value]
        found[field] = value
    return found


def _digest(content: Any) -> str:
    return hashlib.sha256(provenance.canonical(content).encode()).hexdigest()[:16]
