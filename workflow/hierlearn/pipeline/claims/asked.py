"""What the records know of every question: how it was first asked, by how many designs, and what came of it.

A row has three columns. *Then* is the first recorded result at `standard`, else at `quick`. *Now* is the outcome of its
first question, judged again from two draws: those that are stored, or else their intervals. *Asked later* is the result
of the last run, where that had a question which came in the place of the first; that question has a row of its own
today, which is asked after this one.
"""

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from hierlearn.pipeline.claims.verdicts import CLASSES, MARKS, OUTCOMES, SCOPES, scope

FOLDER, LEDGER = "docs/records", "ledger"
LATER, AGAIN, THEN = "asked_later.csv", "judged_again.csv", "primary_then.csv"
EXCEPTIONS = "changed_questions.csv"
HISTORY, CONTRACT = "question_history.csv", "contract-3.csv"
# A field of a question whose name readers would not know, by its first part.
FIELDS = {"predicted": "limit", "quantity": "quantity", "learners": "learners", "probes": "what is measured"}
MARK_OF = {word: mark for mark, word in OUTCOMES.items()}
# Presets by whose first result a question is known, the first that has one.
PRESETS = ("standard", "quick")
IDENTITIES = "identities"
# Words of an outcome where rows are counted: of several now, of one now, of several then, of one then.
COUNTED = {
    "holds": ("hold", "holds", "held", "held"),
    "fails": ("fail", "fails", "failed", "failed"),
    "no test": ("are no test", "is no test", "were no test", "was no test"),
    "undecided": ("are undecided", "is undecided", "were undecided", "was undecided"),
}


class Line(Protocol):
    """A line of verdicts.csv."""

    claim: str
    preset: str
    digest: str
    verdict: str


@dataclass(frozen=True)
class Asked:
    """A question. fields: those in which the question of its last run differs from the first one; then, now: outcomes,
    "" where there is none."""

    fields: tuple[str, ...]
    designs: int
    then: str
    now: str

    def __str__(self) -> str:
        if not self.designs:
            return "It was not judged before."
        told = f"{self.designs} design{'s' * (self.designs > 1)} judged it."
        if not self.fields:
            return f"Its question is the first; {told}"
        return f"The run had a question that differs from the first in {_joined(self.fields)}; {told}"


@dataclass(frozen=True)
class Records:
    """questions: by claim; then, now: how many primary questions had and have which outcome; added: primary rows that
    were listed later; lacking_a_draw: primary rows that are undecided for want of one; differing: rows that do not
    ask their first question today; later: questions that came in the place of a first one; after_a_result: rows whose
    question was changed after a result of theirs was stored; identities: rows that the contract calls checks;
    lacking_a_rival, at_ends: primary rows that are undecided for want of a rival's measurement, or that rest on a rate
    at the end of its list; seen: rows whose limit a result suggested; frozen: those of them that are primary."""

    questions: Mapping[str, Asked]
    then: Mapping[str, int]
    now: Mapping[str, int]
    added: int
    lacking_a_draw: int
    differing: int
    later: int
    after_a_result: int
    identities: frozenset[str]
    lacking_a_rival: int = 0
    at_ends: int = 0
    seen: frozenset[str] = frozenset()
    frozen: int = 0

    def headline(self, rows: Iterable[Mapping[str, str]]) -> list[str]:
        """Return what the records come to in sentences. rows: the ledger, by its columns."""
        return [
            f"Of {sum(self.now.values())} primary rows, each judged again by its first question from the stored draws, "
            f"{_counts(self.now)}. Of the undecided ones {self.lacking_a_draw} lack a second draw of that question or "
            f"of its rival, {self.lacking_a_rival} a rival of their place that is not measured yet, and {self.at_ends} "
            "rest on a rate at the end of its list; some lack several.",
            f"By scope: {self.in_scopes(rows)}.",
            f"By the first design of every question, then: of {sum(self.then.values())} primary rows "
            f"{_counts(self.then, 2)}; {self.added} rows that were listed later are apart.",
            f"The questions of {self.after_a_result} rows were changed after a result of theirs was stored. Today "
            f"every row asks its first one again, but for {self.differing} that `{FOLDER}` lists; {self.later} that "
            "came in their place have rows of their own, which are secondary.",
            *self.of_seen(rows),
        ]

    def of_seen(self, rows: Iterable[Mapping[str, str]]) -> list[str]:
        """Return in a sentence how many rows have a limit that a result suggested, none where there are none."""
        found = [row for row in rows if row["claim"] in self.seen]
        if not found:
            return []
        known = Counter(one.now for row in found if (one := self.questions.get(row["claim"])) and one.now)
        rest, frozen = len(found) - known.total(), sum(row["rank"] == "primary" for row in found)
        told = ", ".join(filter(None, [_counts(known), f"{rest} not judged again" if rest else ""]))
        several = f"{len(found)} {'row' if len(found) == 1 else 'rows'}"
        several += f", {frozen} of frozen primary rank," if frozen else ""
        return [f"Apart stand {several} with a limit that a pilot or an earlier result suggested: {told}."]

    def in_short(self) -> str:
        """Return how many primary rows have which outcome now, in one sentence."""
        frozen = f"; {self.frozen} whose limit was seen stand apart" if self.frozen else ""
        return f"Of {sum(self.now.values())} main claims {_counts(self.now)}{frozen}."

    def in_scopes(self, rows: Iterable[Mapping[str, str]]) -> str:
        """Return the outcomes now of primary rows by scope, in words."""
        return "; ".join(f"{name}, {_counts(counts)}" for name, counts in self.by_scope(rows).items())

    def by_scope(self, rows: Iterable[Mapping[str, str]]) -> dict[str, Counter[str]]:
        """Return how many primary rows have which outcome now, by scope, identities apart."""
        found: dict[str, Counter[str]] = {name: Counter() for name in (*SCOPES, IDENTITIES)}
        for row in rows:
            one = self.questions.get(row["claim"])
            if row["rank"] == "primary" and one and one.now and row["claim"] not in self.seen:
                within = IDENTITIES if row["claim"] in self.identities else scope(row["kind"], row["regime"])
                found[within][one.now] += 1
        return {name: counts for name, counts in found.items() if counts}

    def told(self, claims: Iterable[str]) -> str:
        """Return the outcomes that the claims have now in words."""
        return _counts(Counter(self.questions[claim].now for claim in claims if claim in self.questions))

    def tallied(self, claims: Iterable[str]) -> list[tuple[str, str, int]]:
        """Return (class, outcome, number) of the outcomes that some of the claims have now, seen limits apart."""
        counts = Counter(self.questions[claim].now for claim in claims if claim in self.questions.keys() - self.seen)
        return [(CLASSES[mark], word, counts[word]) for mark, word in OUTCOMES.items() if counts[word]]


def read(folder: Path, lines: Iterable[Line], after: Mapping[str, str] = MappingProxyType({})) -> Records | None:
    """Return what the records say; None where the folder has none. lines: those of verdicts.csv; after: by claim the
    one that it is asked after, beside those that the records know of."""
    if not folder.is_dir():
        return None
    later, again, primary = (_table(folder / name) for name in (LATER, AGAIN, THEN))
    now, judged_now = outcomes(folder), current(folder)
    lines = list(lines)
    chain = {row["row"]: row["was"] for row in later} | dict(after)
    first, judged, fields = _first(lines), designs(lines, chain), _fields(later, lines)
    questions = {
        claim: Asked(fields.get(claim, ()), judged.get(claim, 0), first.get(claim, ""), now.get(claim, ""))
        for claim in {**fields, **now, **first}
    }
    seen = frozenset(claim for one in _stored(folder) for claim in one["study"].get("seen", ()))
    # Of what is judged from stored draws its own row says why.
    undecided = [row for row in again if row["rank"] == "primary" and row["now"] == "undecided"]
    undecided = [row for row in undecided if row["row"] not in {*judged_now, *seen}]
    return Records(
        questions,
        Counter(row["outcome"] for row in primary if not row["added"]),
        Counter(now[row["row"]] for row in again if row["rank"] == "primary" and row["row"] not in seen),
        sum(bool(row["added"]) for row in primary),
        sum(map(_lacks_a_draw, undecided)),
        len({row["row"] for row in _table(folder / EXCEPTIONS)}),
        len({row["row"] for row in later}),
        len({row["row"] for row in _table(folder / HISTORY) if row["verdict_before"]}),
        frozenset(row["row"] for row in _table(folder / CONTRACT) if row["change"] == "check"),
        sum(bool(row["not_measured"]) for row in undecided),
        sum(bool(row["at_ends"]) for row in undecided),
        seen,
        sum(row["rank"] == "primary" and row["row"] in seen for row in again),
    )


def outcomes(folder: Path) -> dict[str, str]:
    """Return the outcome that the first question of every row has now, by claim; of the rows that have one."""
    file = folder / AGAIN
    return ({row["row"]: row["now"] for row in _table(file)} if file.is_file() else {}) | current(folder)


def current(folder: Path) -> dict[str, str]:
    """Return the outcomes of the rows whose stored draws were judged as they were published, by claim: the present
    judgement, where `AGAIN` has that of intervals from before there were such draws."""
    return {claim: word for one in _stored(folder) for claim, word in one.get("now", {}).items()}


def _stored(folder: Path) -> Iterator[dict[str, Any]]:
    """What is stored of every study of the ledger beside the records."""
    for file in sorted(folder.parent.glob(f"{LEDGER}/*/claims.json")):
        yield json.loads(file.read_text(encoding="utf-8"))


def moved(folder: Path) -> dict[tuple[str, str], str]:
    """Return which row asks today what a line of verdicts.csv was asked, by claim and digest of that line; of lines
    whose question came in the place of the first one of their claim."""
    file = folder / LATER
    return {(row["was"], row["digest"]): row["row"] for row in _table(file)} if file.is_file() else {}


def marked(word: str) -> str:
    """Return an outcome behind its mark, or a dash where there is none."""
    return f"{MARK_OF[word]} {word}" if word else "–"


def designs(lines: Iterable[Line], after: Mapping[str, str] = MappingProxyType({})) -> dict[str, int]:
    """Return how many designs judged a claim and all that it is asked after, at every preset, whatever came of them.

    The level of an interval grows with this number. lines: those of verdicts.csv; after: by claim the one that it is
    asked after.
    """
    digests: dict[str, set[str]] = {}
    for line in lines:
        digests.setdefault(line.claim, set()).add(line.digest)
    return {
        claim: sum(len(digests.get(one, ())) for one in _asked_before(claim, after)) for claim in {**digests, **after}
    }


def _asked_before(claim: str, after: Mapping[str, str]) -> list[str]:
    """The claim, the one that it is asked after, the one before that, and so on."""
    chain = [claim]
    while chain[-1] in after and after[chain[-1]] not in chain:
        chain.append(after[chain[-1]])
    return chain


def _first(lines: Iterable[Line]) -> dict[str, str]:
    """The outcome of each claim's first line, at the first of `PRESETS` that has one."""
    found: dict[tuple[str, str], str] = {}
    for line in lines:
        found.setdefault((line.claim, line.preset), OUTCOMES[MARKS[line.verdict]])
    known = {claim: [found[claim, preset] for preset in PRESETS if (claim, preset) in found] for claim, _ in found}
    return {claim: words[0] for claim, words in known.items() if words}


def _fields(later: Iterable[Mapping[str, str]], lines: Iterable[Line]) -> dict[str, tuple[str, ...]]:
    """In words what differs from the first question in that of each claim's last line, at the first of `PRESETS`.

    later: the rows of `LATER`.
    """
    of_lines = {(row["was"], row["digest"]): tuple(dict.fromkeys(map(_word, row["fields"].split()))) for row in later}
    last: dict[tuple[str, str], tuple[str, ...]] = {}
    for line in lines:
        last[line.claim, line.preset] = of_lines.get((line.claim, line.digest), ())
    return {claim: last[claim, preset] for preset in reversed(PRESETS) for claim, at in last if at == preset}


def _lacks_a_draw(row: Mapping[str, str]) -> bool:
    """Whether the claim or the first rival of a row of `AGAIN` is undecided and lacks a second draw."""
    return any(row[f"{part}result"] == "undecided" and not row[f"{part}value_2"] for part in ("", "rival_"))


def _table(file: Path) -> list[dict[str, str]]:
    with open(file, newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def _word(field: str) -> str:
    name = field.partition(".")[0]
    return FIELDS.get(name, name)


def _joined(words: Iterable[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


def _counts(counts: Mapping[str, int], tense: int = 0) -> str:
    """Rows by outcome in words. tense: 0 now, 2 then."""
    found = {word: counts[word] for word in COUNTED if counts.get(word)}
    return ", ".join(f"{count} {COUNTED[word][tense + (count == 1)]}" for word, count in found.items())
