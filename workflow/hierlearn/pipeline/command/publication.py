"""Stores a run with the code: rows and figures of every study in docs/ledger, and what is made of all that are stored.

A study is a folder by itself, {study}/claims.json and {study}/figure.svg, which a later run of that study replaces.
Beside them lie claims.csv and the page of all stored studies. The README says what was found of each paper, with
pictures that are cut out of the stored figures.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hierlearn.pipeline.claims import asked, history
from hierlearn.pipeline.claims.ledger import COLUMNS, csv_text, from_json, noted
from hierlearn.pipeline.claims.scopes import Scope
from hierlearn.pipeline.claims.tally import NO_EVIDENCE, comparison, judged
from hierlearn.pipeline.claims.verdicts import MARKS, REGIMES
from hierlearn.pipeline.command import recording, rejudging
from hierlearn.pipeline.files import checksums, figures, papers, texts
from hierlearn.pipeline.plan import descriptions, page_context, quantity_labels, registration
from hierlearn.pipeline.plan.configuration import Plan, configure
from hierlearn.pipeline.plan.study import Study

FOLDER, README = "docs/ledger", "README.md"
# Bytes that figures and what rows were judged from may take together.
MOST = 14_000_000
# From the page.
READING, PICTURES = "../reading.md", "../pictures"
# A stored study is replaced by a run of its own preset or of a later one.
BY_SIZE = ("smoke", "quick", "standard", "full", "paper")
# What the page shows of a row beside its columns.
SHOWN = ("sizes_fitted", "dof", "edges", "rivals")
# Columns with words of a study, and where its claims have them.
WORDS = {"statement": "statement", "outside": "beyond", "remark": "remark"}
# Of a row of a second draw what may differ from the first, whose design it shares, and what says which draw it is.
MEASURED = ("value", "low", "high", "verdict")
DRAWN = ("claim", "digest", "draw", *MEASURED, *(f"control_{name}" for name in MEASURED))


def store(plan: Plan, root: Path) -> list[str]:
    """Stores the studies of a plan whose results are there and of this code and configuration; says of the others why
    not, and marks those as older that were stored with another identity: it covers the design and the code of all jobs
    that claims rest on. root: the folder of the project."""
    folder, commit = root / FOLDER, recording.commit(root)
    second = {row["claim"]: row for file in plan.inputs.second() for row in judged(file)}
    lines, plans = [], {plan.settings["preset"]: plan}
    for name, study in plan.studies.items():
        if name in plan.own:
            lines.append(f"{name}: not stored: {FOLDER} has the project's studies; {plan.results}/{name} has it")
            continue
        files = [Path(plan.targets.file(name, part)) for part in ("claims.json", "figure.svg", rejudging.FIRST)]
        file, drawn, evidence = files
        identity = plan.inputs.identity(file)
        stored = folder / name / "claims.json"
        known = json.loads(stored.read_text(encoding="utf-8")) if stored.is_file() else None
        at = known["study"]["preset"] if known else study.preset
        wrong = ((one, checksums.fault(one, plan.inputs.identity(one))) for one in files)
        fault = next((f"{one}: {what}" for one, what in wrong if what), "")
        if not fault and BY_SIZE.index(at) > BY_SIZE.index(study.preset):
            fault = f"{FOLDER} has it at {at}, which is larger than {study.preset}"
        if fault:
            lines.append(f"{name}: not stored: {fault}")
            if known and at == study.preset:
                # The first draw may have been stored where the second was not there yet.
                known["second"] = _second(known["rows"], known, second)
                known["study"]["numbers"] = known["study"].get("numbers", {}) | _numbers(study, known["rows"])
                if known["study"]["draw"] == study.draw:
                    known["earlier"] = study.earlier
                _write(stored, known)
                _keep_second(plan, stored.parent, known["second"])
            if known and at not in plans:
                plans[at] = _at(plan, root, at)
            now = plans.get(at) if known else None
            if known and now:
                known["rows"] = reworded(known["rows"], now.studies[name])
                known["study"] |= {key: getattr(now.studies[name], key) for key in ("title", "summary")}
                known["study"]["seen"] = page_context.seen(now.studies[name])
                _write(stored, known)
            current = now and now.inputs.identity(now.targets.file(name, "claims.json"))
            if current and current != known["identity"]:
                # The parameters have the design, and the code of all that measures.
                same = current["parameters_hash"] == known["identity"]["parameters_hash"]
                changed = (
                    "the code that judges has changed, not what it judges," if same else "code or design has changed"
                )
                known["study"]["older"] = f"{changed} since commit {known['study']['commit']}."
                _write(stored, known)
            elif current and known["study"].pop("older", ""):
                _write(stored, known)
            continue
        rows = json.loads(file.read_bytes())["rows"]
        said = page_context.of_study(study, FOLDER) | {"commit": commit, "preset": study.preset}
        said["figure_size"] = figures.size(drawn)
        content = {
            "identity": identity,
            "study": said,
            "earlier": study.earlier,
            "second": _second(rows, known, second),
            "rows": [{key: row[key] for key in COLUMNS} | {"detail": _shown(row["detail"])} for row in rows],
        }
        _write(stored, content)
        texts.put(stored.with_name("figure.svg"), drawn.read_bytes())
        texts.put(stored.with_name(rejudging.FIRST), evidence.read_bytes())
        _keep_second(plan, stored.parent, content["second"])
        lines.append(f"{name}: {len(rows)} rows stored")
    return lines + together(root, plan.settings.get("compare", "")) + _too_large(folder)


def _keep_second(plan: Plan, folder: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Store what the rows of a second draw were judged from, where a run has it; without rows there is nothing to keep.

    folder: of the stored study; rows: the second draw's that are stored.
    """
    kept = folder / rejudging.SECOND
    drawn = [
        Path(file).with_name(rejudging.FIRST) for file in plan.inputs.second() if Path(file).parent.name == folder.name
    ]
    if not rows:
        kept.unlink(missing_ok=True)
    elif drawn and drawn[0].is_file():
        texts.put(kept, drawn[0].read_bytes())


def _too_large(folder: Path) -> list[str]:
    """A line where figures and what rows were judged from take more than is meant to lie beside the code."""
    size = sum(file.stat().st_size for part in ("figure.svg", "judged*.nc") for file in folder.glob(f"*/{part}"))
    told = f"{FOLDER}: figures and {rejudging.FIRST} take {size / 1e6:.1f} MB; expected at most {MOST / 1e6:g}"
    return [told] if size > MOST else []


def reworded(rows: Sequence[Mapping[str, Any]], study: Study) -> list[Mapping[str, Any]]:
    """Return stored rows in the present words of their study, where their design is its present one: words may improve
    without a new draw. Scopes are those that are computed for their places."""
    said, designs, computed = descriptions.claims(study), registration.digests(study), registration.scopes_of(study)
    found = []
    for row in rows:
        name = row["claim"]
        if name in said and designs[name] == registration.without_words(row["digest"]):
            row = dict(row) | {column: said[name].get(key, "") for column, key in WORDS.items()}
            row["rival"] = said[name].get("control", {}).get("rival", "")
        if name in computed and row["kind"] not in NO_EVIDENCE and row["place"] == said[name]["place"]:
            row = dict(row) | _scoped(row["kind"], row["verdict"], computed[name])
        found.append(row)
    return found


def _scoped(kind: str, verdict: str, scope: Scope) -> dict[str, str]:
    """What a stored row says of its scope: the same result has another word in another regime."""
    regime = scope.of_kind(kind)
    known = {} if not regime or verdict == REGIMES["within"][1] else dict(zip("✓✗", REGIMES[regime], strict=True))
    word = known.get(MARKS[verdict], verdict)
    return {"regime": regime, "verdict": word, "outside": "; ".join(scope.sentences)}


def together(root: Path, compare: str = "") -> list[str]:
    """Makes claims.csv, the page, the README's findings and their pictures from all that is stored. compare: claims.csv
    of another run."""
    # Imported where it is used: a plan of a run sets no mathematics.
    from hierlearn.pipeline.claims.page import findings
    from hierlearn.pipeline.claims.page.index import page

    folder = root / FOLDER
    files = sorted(folder.glob("*/claims.json"))
    contents = {file.parent.name: json.loads(file.read_text(encoding="utf-8")) for file in files}
    if not contents:
        raise ValueError(f"{FOLDER}: found no study to store; expected the results of a run with this code")
    for file in files:
        # What is stored of two draws is judged by the present code and the designs that are recorded now.
        content, now = contents[file.parent.name], rejudging.current(file.parent)
        if now != content.get("now", {}):
            contents[file.parent.name] = content | {"now": now}
            _write(file, content | {"now": now})
    stored = [row for content in contents.values() for row in content["rows"]]
    details = {row["claim"]: row["detail"] for row in stored}
    rows = [from_json({key: row[key] for key in COLUMNS}) for row in stored]
    earlier = {claim: text for content in contents.values() for claim, text in content["earlier"].items()}
    studies = {name: content["study"] | {"present": True} for name, content in contents.items()}
    presets = sorted({study["preset"] for study in studies.values()})
    compared = comparison(rows, compare) if compare else None
    lines = history.read(root / history.FILE)[0]
    known = asked.read(root / asked.FOLDER, lines)
    preset = ", ".join(presets)
    said, readme = findings.read(root / findings.FILE), root / README
    drawn, cited = findings.pictures(said, folder), papers.said()
    found = findings.in_one_sentence(said, rows, cited)
    shown = [(one, *[f"{PICTURES}/{one.picture}.svg"] * 2) for one in found if one.picture in drawn]
    beside = {"reading": READING, "records": known, "findings": shown}
    text = page(rows, details, studies, preset, {}, cited, "", earlier, "", compared, **beside)
    between = findings.sections(said, rows, cited, known)
    put = findings.put(readme.read_text(encoding="utf-8"), between)
    texts.put(folder / "claims.csv", csv_text(noted(rows, earlier)))
    texts.put(folder / "index.html", text)
    texts.put(readme, put)
    for name, picture in drawn.items():
        texts.put(root / findings.PICTURES / f"{name}.svg", picture)
    return [f"{FOLDER}: {len(rows)} rows of {len(studies)} studies"]


def _at(plan: Plan, root: Path, preset: str) -> Plan | None:
    """The plan of all studies at another preset; None where that one has faults of its own, such as too large a job."""
    given = {key: value for key, value in plan.settings.items() if key not in ("studies", "compare")}
    try:
        return configure(given | {"preset": preset}, root / "none", root / "config" / "studies")
    except SystemExit:
        return None


def _second(
    rows: Sequence[Mapping[str, Any]], known: Mapping[str, Any] | None, drawn: Mapping[str, Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """The second draw of rows: of each what is drawn of its design, or else what is stored, without the columns that
    repeat the first draw's."""
    stored = {row["claim"]: row for row in (known["second"] if known else ())}
    digests = {row["claim"]: row["digest"] for row in rows}
    again = stored | {claim: row for claim, row in drawn.items() if row["digest"] == digests.get(claim)}
    found = (again[row["claim"]] for row in rows if row["claim"] in again)
    return [{key: row[key] for key in DRAWN if key in row} for row in found]


def _numbers(study: Study, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the numbers of stored rows are, of those whose design is the study's."""
    found, digests = quantity_labels.of_claims(study), {row["claim"]: row["digest"] for row in rows}
    return {claim: one for claim, one in found.items() if digests.get(claim) == study.registered.get(claim, "")}


def _shown(detail: Mapping[str, Any]) -> dict[str, Any]:
    """Of what stands behind a row only what the page shows."""
    shown = {key: detail[key] for key in SHOWN if key in detail}
    return shown | ({"local": [{"value": one["value"]} for one in detail["local"]]} if "local" in detail else {})


def _write(file: Path, content: Mapping[str, Any]) -> None:
    texts.put(file, json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
