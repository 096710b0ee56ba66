"""The page: what was found of each paper, and every claim with its result, its figure and its data."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from hierlearn.pipeline.claims import latex
from hierlearn.pipeline.claims.asked import MARK_OF, Asked, Records
from hierlearn.pipeline.claims.ledger import Row
from hierlearn.pipeline.claims.page import mathematics
from hierlearn.pipeline.claims.page.drawing import drawing
from hierlearn.pipeline.claims.page.findings import Finding
from hierlearn.pipeline.claims.readable import Units, logarithms, units, work
from hierlearn.pipeline.claims.rules import BOUNDARIES
from hierlearn.pipeline.claims.tally import NO_EVIDENCE
from hierlearn.pipeline.claims.verdicts import (
    CLASSES,
    INCONCLUSIVE,
    KINDS,
    MARKS,
    MISSING,
    OUTCOMES,
    REGIMES,
    RESULTS,
    SCOPES,
    SEEN,
    SEEN_TEXT,
    VACUOUS,
    WITHOUT_REGIME,
    result,
    scope,
)
from hierlearn.pipeline.quantities._ends import told as told_of_an_edge

HERE = Path(__file__).parent
# What may be told of a study beside its title, paper, place, summary, and whether it is present.
TOLD = {
    "settings": (),
    "panels": (),
    "file": "",
    "draw": "",
    "figure_size": None,
    "commit": "",
    "older": "",
}
TOLD |= {"numbers": {}, "seen": ()}
# Words of results where several rows have them.
SEVERAL = {"passes": "pass", "holds": "hold", "fails": "fail"}
# The share of false verdicts at one end of a 95 % interval, at most.
TAIL = 0.025


def page(
    rows: Sequence[Row],
    details: Mapping[str, Mapping[str, Any]],
    studies: Mapping[str, Mapping[str, Any]],
    preset: str,
    made: Mapping[str, str],
    papers: Mapping[str, Mapping[str, str]],
    note: str = "",
    earlier: Mapping[str, str] | None = None,
    folder: str = "",
    compared: Mapping[str, Any] | None = None,
    reading: str = "",
    records: Records | None = None,
    stored: Mapping[str, str] = MappingProxyType({}),
    findings: Sequence[tuple[Finding, str, str]] = (),
) -> str:
    """The page as HTML. details: what stands behind each row, by claim; studies: what `plan.inputs` tells of each, by
    name; made: which code and versions; papers: name, citation and link of each, in their order; note: what the run is,
    where it is not the first draw; earlier: what was found of claims at earlier revisions; folder: where the results
    lie, as a reader types it; compared: with another run;
    reading: where it is said how to read the page, from its folder; records: what is known of every question; stored:
    the stored outcomes of a run's rows, by claim; findings: what was found of papers, each
    with the address of its picture and that of what shows it large."""
    judged = [row for row in rows if row.kind not in NO_EVIDENCE]
    primary = [row for row in judged if row.rank == "primary"]
    boundaries = sum(BOUNDARIES[row.rule] for row in judged)
    questions = records.questions if records else {}
    told = [told_of(name, study, rows, questions) for name, study in studies.items() if study["present"]]
    seen = {claim for study in told for claim in study["seen"]}
    named = [key for key in papers if key in {study["paper"] for study in told}]
    shown = sorted(told, key=lambda study: named.index(study["paper"]))
    return render(
        "template.html",
        ("style.css", "script.js", "ledger.js"),
        told,
        details,
        earlier or {},
        questions,
        stored,
        bibtex=_bibtex(papers, rows),
        findings=findings,
        preset=preset,
        folder=folder or f"results/{preset}",
        note=note,
        compared=compared,
        reading=reading,
        made=made,
        rows=rows,
        kinds=_counted(Counter(row.kind for row in rows), KINDS),
        judged=judged,
        no_evidence=NO_EVIDENCE,
        without_scope=WITHOUT_REGIME,
        tally=_counted(Counter(result(row.verdict) for row in judged), RESULTS.values()) or "none",
        uncontrolled=sum(row.control_verdict == MISSING for row in judged),
        registered=sum(bool(row.digest) for row in judged),
        primary=primary,
        decided=sum(row.verdict not in (INCONCLUSIVE, VACUOUS) for row in primary),
        outcomes=records.tallied(row.claim for row in primary) if records else outcomes(primary),
        headline=[_code(line) for line in records.headline([vars(row) for row in rows])] if records else [],
        apart=records.seen if records else frozenset(),
        table=by_kind_and_scope(rows, questions, seen),
        papers=[_of_paper(key, papers[key], primary, records) for key in named],
        is_stored=any(study["commit"] for study in shown),
        boundaries=boundaries,
        expected=f"{TAIL * boundaries:.1f}",
        scopes=SCOPES,
        kind_texts=KINDS | ({SEEN: SEEN_TEXT} if seen else {}),
        missing=[study["title"] for study in studies.values() if not study["present"]],
        studies=shown,
        names=RESULTS,
        words=[*dict.fromkeys(standing(row, questions)[1] for row in rows)],
    )


def render(
    template: str,
    looks: Sequence[str],
    told: Sequence[Mapping[str, Any]],
    details: Mapping[str, Mapping[str, Any]],
    earlier: Mapping[str, str],
    questions: Mapping[str, Asked] = MappingProxyType({}),
    stored: Mapping[str, str] = MappingProxyType({}),
    **said: Any,
) -> str:
    """Return a page as its template says it. looks: its styles and scripts; told: of its studies, by `told_of`;
    details, earlier: as for `page`; questions: what is known of each,
    by claim; stored: outcomes that stand beside the results of a run's draw; said: what else the template asks for."""
    environment = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"tex": mathematics.html}
    environment.filters |= {"emphasised": _emphasised}
    environment.globals |= {function.__name__: function for function in (edge_note, fit_note, work)}
    texts = {name: HERE.joinpath(name).read_text(encoding="utf-8") for name in looks}
    numbers = {claim: one for study in told for claim, one in study["numbers"].items()}

    def label(row: Row) -> str:
        return numbers.get(row.claim, {}).get("unit", "")

    def written(row: Row) -> Units:
        return units(row, label(row))

    return environment.get_template(template).render(
        style=Markup("".join(text for name, text in texts.items() if name.endswith(".css"))),
        script=Markup("".join(text for name, text in texts.items() if name.endswith(".js"))),
        regimes=REGIMES,
        written=written,
        logarithms=lambda row: logarithms(row, label(row)),
        latex=lambda row: latex.line(row, label(row), standing(row, questions)[1]),
        latex_head=latex.HEAD,
        latex_foot=latex.FOOT,
        classes=CLASSES,
        marks=MARKS,
        mark_of=MARK_OF,
        results=RESULTS,
        several=SEVERAL,
        scope=scope,
        details=details,
        earlier=earlier,
        questions=questions,
        standing=lambda row: standing(row, questions),
        is_draw=lambda row: not questions,
        limit_seen=SEEN,
        nan=float("nan"),
        stored=stored,
        drawing=lambda row: drawing(row, written(row).spoken(row), written(row).number),
        **said,
    )


def told_of(
    name: str, study: Mapping[str, Any], rows: Sequence[Row], questions: Mapping[str, Asked] = MappingProxyType({})
) -> dict[str, Any]:
    """Return what a page tells of a study: its file's words, its panels, and its rows with their counts."""
    return {**TOLD, **study, "name": name, "panel_of": panel_of(study.get("panels", ()))} | _of_study(
        name, rows, questions
    )


def standing(row: Row, questions: Mapping[str, Asked]) -> tuple[str, str]:
    """The mark and the word of a row: where questions are known its outcome by its first question, else its result.

    One draw makes no outcome, so that a row whose first question is not run is undecided; a check needs no second.
    """
    one, mark = questions.get(row.claim), MARKS[row.verdict]
    if one and one.now:
        return MARK_OF[one.now], one.now
    if not questions:
        return mark, RESULTS[mark]
    mark = mark if row.kind in NO_EVIDENCE else MARKS[INCONCLUSIVE]
    return mark, OUTCOMES[mark]


def outcomes(rows: Iterable[Row]) -> list[tuple[str, str, int]]:
    """(class, name, number) of every result that some of the rows have."""
    counts = Counter(MARKS[row.verdict] for row in rows)
    return [(CLASSES[mark], name, counts[mark]) for mark, name in RESULTS.items() if counts[mark]]


def by_kind_and_scope(
    rows: Iterable[Row], questions: Mapping[str, Asked] = MappingProxyType({}), seen: Collection[str] = ()
) -> list[tuple[str, dict[str, list[tuple[str, str, int]]]]]:
    """For every kind and each scope, where its rows stand: (mark, word, number). seen: claims whose limit a result
    suggested, which are counted apart from their kinds."""
    # A description stands in the first column, without any scope.
    counts = Counter(
        (SEEN if row.claim in seen else row.kind, scope(row.kind, row.regime), *standing(row, questions))
        for row in rows
    )
    table = []
    for kind in (*KINDS, SEEN):
        cells = {
            within: [
                (mark, word, n)
                for mark in RESULTS
                if (n := counts[kind, within, mark, word := (OUTCOMES if questions else RESULTS)[mark]])
            ]
            for within in SCOPES
        }
        if any(cells.values()):
            table.append((kind, cells))
    return table


def _bibtex(papers: Mapping[str, Mapping[str, str]], rows: Iterable[Row]) -> dict[str, str]:
    """The entries of the papers that rows are of."""
    cited = {row.paper for row in rows}
    return {key: paper["bibtex"] for key, paper in papers.items() if key in cited and paper["bibtex"]}


def _emphasised(text: str) -> Markup:
    """A sentence with *words* between stars set off."""
    return Markup(re.sub(r"\*([^*]+)\*", r"<em>\1</em>", str(escape(text))))


def _code(text: str) -> Markup:
    """A sentence with names between backticks set as code."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def in_order(rows: Iterable[Row]) -> list[Row]:
    """Rows in the order of their names, C2 before C10."""
    return sorted(rows, key=lambda row: _natural(row.claim))


def _of_paper(key: str, paper: Mapping[str, str], primary: Sequence[Row], records: Records | None) -> dict[str, Any]:
    """A paper with its primary rows in order."""
    own = in_order(row for row in primary if row.paper == key)
    found = records.tallied(row.claim for row in own) if records else outcomes(own)
    return {**paper, "key": key, "rows": own, "outcomes": found}


def _natural(name: str) -> list[tuple[int, str]]:
    """Sorts C2 before C10."""
    return [(int(part or 0), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", name)]


def _counted(counts: Mapping[str, int], order: Iterable[str]) -> str:
    return ", ".join(f"{counts[name]} {name}" for name in order if counts[name])


def _of_study(name: str, rows: Sequence[Row], questions: Mapping[str, Asked]) -> dict[str, Any]:
    """The rows of a study, secondary ones under the primary row that they belong to, how many have which mark,
    checks apart, and the files that they were read from."""
    own = [row for row in rows if row.study == name]
    counts = Counter(standing(row, questions)[0] for row in own if row.kind != "check")
    checks = Counter(standing(row, questions)[0] for row in own if row.kind == "check")
    told = " ".join(f"{mark} {checks[mark]}" for mark in RESULTS if checks[mark])
    files = sorted({row.data for row in own})
    return {"rows": own, "groups": groups(own), "counts": counts, "checks": told, "files": files}


def panel_of(panels: Iterable[tuple[str, str, Sequence[str]]]) -> dict[str, str]:
    """The letters of the panels that show each claim. panels: (letter, title, claims)."""
    found: dict[str, str] = {}
    for letter, _, claims in panels:
        found |= {claim: f"{found[claim]}, {letter}" if claim in found else letter for claim in claims}
    return found


def groups(rows: Sequence[Row]) -> list[tuple[Row | None, list[Row]]]:
    """Every primary row with the secondary ones whose names begin most like its own, and last those of no such name."""
    primary = [row for row in rows if row.rank == "primary"]
    found: dict[str, list[Row]] = {row.claim: [] for row in primary}
    others = []
    for row in rows:
        if row.rank != "primary":
            best = max(primary, key=lambda one: _shared(row.claim, one.claim), default=None)
            (found[best.claim] if best and _shared(row.claim, best.claim) else others).append(row)
    return [*((row, found[row.claim]) for row in primary), *([(None, others)] if others else [])]


def _shared(one: str, other: str) -> int:
    """How many words two claims' names have in common from the first on."""
    words = list(zip(one.split("-"), other.split("-"), strict=False))
    return next((i for i, (a, b) in enumerate(words) if a != b), len(words))


def fit_note(detail: Mapping[str, Any]) -> str:
    """The sizes on a fitted line, where a row has one. The slopes between them are in the data."""
    fitted = detail.get("sizes_fitted", ())
    return f"fitted to {', '.join(f'{size:g}' for size in fitted)}" if fitted else ""


def edge_note(detail: Mapping[str, Any]) -> str:
    """Which learners, of rivals too, mostly chose an end of their rates or ridges: the best may lie beyond."""
    found = detail.get("edges", ())
    return "; ".join(told_of_an_edge(one) + " of the rival" * one.get("control", False) for one in found)
