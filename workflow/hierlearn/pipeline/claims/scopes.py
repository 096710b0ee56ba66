"""Whether the hypotheses of a place in a paper hold where a claim is measured: its scope, computed from its design.

`papers.yaml` lists the places of a paper, and for each the hypotheses of the statement there. A hypothesis with `when`
or `least` is compared with what runs: the problem, the representation and the learner or probe of the claim's own
quantity, at its own sizes. One without is declared by a claim in `beyond`, since no parameter says it.
"""

import fnmatch
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hierlearn.pipeline.claims.question_forms import cells_of, selectors
from hierlearn.pipeline.claims.tally import NO_EVIDENCE
from hierlearn.pipeline.files import papers
from hierlearn.pipeline.files.errors import entries

if TYPE_CHECKING:
    from hierlearn.pipeline.plan.study_spec import Claim

# Kinds whose statements leave a constant or a size open.
ASYMPTOTIC = ("rate", "conjecture")
Fields = dict[str, Any]


@dataclass(frozen=True)
class Scope:
    """place: as `papers.yaml` has it; broken: the ids of the hypotheses; sentences: what each says."""

    place: Mapping[str, Any]
    broken: tuple[str, ...]
    sentences: tuple[str, ...]

    def of_kind(self, kind: str) -> str:
        """Return what holds of a claim of a kind, in the words of `verdicts`, "" for an open question.

        A conjecture at a proved statement is this project's own.
        """
        if kind == "open":
            return ""
        if kind == "conjecture" and not self.place.get("remark"):
            return "ours"
        if self.broken:
            return "beyond"
        return "limit" if kind in ASYMPTOTIC or self.place.get("asymptotic") else "within"

    def said(self, kind: str) -> dict[str, str]:
        """Return the keys of a claim of a kind that say it."""
        regime = {"regime": self.of_kind(kind)} if kind != "open" else {}
        return regime | ({"beyond": "; ".join(self.sentences)} if self.sentences else {})


def of_claims(paper: str, claims: Mapping[str, "Claim"], designs: Callable[[], Mapping[str, Any]]) -> dict[str, Scope]:
    """Return the scope of every judged claim at a place that the paper lists; checks and descriptions have none.

    designs: asked for what their registered digests are over, where there is such a claim.
    """
    places, hypotheses = papers.places(paper), papers.hypotheses(paper)
    listed = {
        name: places[claim.place]
        for name, claim in claims.items()
        if claim.place in places and claim.kind not in NO_EVIDENCE
    }
    measured = designs() if listed else {}
    found = {}
    for name, place in listed.items():
        claim, parts = claims[name], list(_own(measured[name]))
        declared, told = (claim.beyond or "").split("; "), {}
        for key in place.get("hypotheses", ()):
            said = hypotheses[key]
            sentence = _broken(said, parts) if papers.is_computed(said) else papers.sentence(said)
            if sentence and (papers.is_computed(said) or sentence in declared):
                told[key] = sentence
        found[name] = Scope(place, tuple(told), tuple(told.values()))
    return found


def _own(design: Mapping[str, Any]) -> Iterator[list[Fields]]:
    """The fields of every learner and probe of the claim's own quantity, cell by cell where the quantity looks."""
    quantity = design["claim"]["quantity"]
    named = {part for _, part in entries(quantity) if isinstance(part, str)}
    where = list(selectors(quantity))
    for section in ("learners", "probes"):
        for name in named & design[section].keys():
            part = design[section][name]
            shared = {"probe": part["probe"]} if section == "probes" else {}
            yield [_flat(shared | cell) for cell in cells_of(part["grid"], where)]


def _flat(content: Mapping[str, Any], at: str = "") -> Fields:
    """A cell as dotted fields, without the problem that a probe has in its own place."""
    found: Fields = {}
    for key, value in content.items():
        field = f"{at}.{key}" if at else key
        found |= _flat(value, field) if isinstance(value, Mapping) else {field: value}
    for part in ("input", "teacher"):
        if f"probe.{part}.name" in found:
            found = {key: value for key, value in found.items() if not key.startswith(f"problem.{part}.")}
    return found


def _broken(hypothesis: Mapping[str, Any], parts: Sequence[list[Fields]]) -> str:
    """The sentence of a hypothesis that some cell breaks, "" where none does."""
    unless = hypothesis.get("unless")
    if unless and any(_matches(cell, unless) for cells in parts for cell in cells):
        return ""
    asked = hypothesis.get("when", {})
    conditions = asked if isinstance(asked, list) else [asked]
    cells = [cell for part in parts for cell in part if any(_matches(cell, one) for one in conditions)]
    if "least" not in hypothesis:
        return papers.sentence(hypothesis) if cells else ""
    lacking = [found for cell in cells if (found := _lacks(hypothesis, cell))]
    if not lacking:
        return ""
    value, needed = max(lacking, key=lambda one: one[1] / one[0])
    return papers.sentence(hypothesis, found=_number(value), needs=_number(needed))


def _lacks(hypothesis: Mapping[str, Any], cell: Fields) -> tuple[float, float] | None:
    """What a cell has of a number and what the hypothesis needs, where that is more."""
    values = [value for field, value in cell.items() if fnmatch.fnmatch(field, hypothesis["least"])]
    numbers = [one for value in values for one in (value if isinstance(value, list) else [value])]
    known = [float(one) for one in numbers if isinstance(one, int | float) and not isinstance(one, bool) and one > 0]
    needed = _needed(hypothesis["needs"], cell)
    return (max(known), needed) if known and max(known) < needed else None


def _needed(needs: Any, cell: Fields) -> float:
    """The number that a hypothesis needs: as it stands, or a product of powers of a cell's own numbers."""
    if not isinstance(needs, Mapping):
        return float(needs)
    values = {field.rpartition(".")[2]: value for field, value in cell.items()}
    return math.prod(float(values[name]) ** power for name, power in needs.items() if name in values)


def _matches(cell: Fields, condition: Mapping[str, Any]) -> bool:
    """Whether every pattern of a condition has a field with one of its values."""
    return all(
        any(
            value in (allowed if isinstance(allowed, list) else [allowed])
            for field, value in cell.items()
            if fnmatch.fnmatch(field, pattern) and not isinstance(value, list)
        )
        for pattern, allowed in condition.items()
    )


def _number(value: float) -> str:
    """A number as a sentence has it: whole ones with thin spaces, large ones by their power of ten."""
    if value < 1e6:
        return f"{value:,.0f}".replace(",", "\\,") if value >= 10000 else f"{value:g}"
    exponent = int(math.log10(value))
    return f"{value / 10**exponent:.2g}\\cdot10^{{{exponent}}}"
