"""Answers about a preset: what it costs, what it decided, which designs are registered."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple
from pathlib import Path

from hierlearn.pipeline.claims import asked, history
from hierlearn.pipeline.claims import tally as ledger
from hierlearn.pipeline.command import costs, design_sizes, first_questions, recording, removed_rivals
from hierlearn.pipeline.files import append_only_csv
from hierlearn.pipeline.plan import page_context, registration
from hierlearn.pipeline.plan.checking import load_study
from hierlearn.pipeline.plan.configuration import Plan

# The lines to print, and whether a promise is broken.
Answer = tuple[list[str], bool]


def cost(plan: Plan) -> Answer:
    """List core-hours, memory and the longest job of every study, scaled to this machine if it has run quick."""
    ran = Path(plan.settings["results"], "quick")
    files = [*plan.config.glob("studies/*.yaml"), *plan.own.values()]
    pace = costs.pace((load_study(file, "quick") for file in files if (ran / "logs" / file.stem).exists()), ran)
    lines = list(costs.table(plan.studies.values(), Path(plan.results), pace or 1.0))
    if pace:
        lines.append(f"Scaled by {pace:.2g}, what the jobs in {ran} took over what was estimated for them.")
    else:
        lines.append(f"They are for machine H of docs/records/cost.md, and for this one once quick has run in {ran}.")
    # Sizes are known without them; a run asks for them.
    lines += [f"To run it needs a file that is not there: {fault}" for fault in plan.absent]
    return lines, False


def tally(plan: Plan) -> Answer:
    """Count the rows by kind, scope and result; fails where a promise is broken."""
    rows, left_out = _judged(plan)
    broken = list(ledger.breaches(rows))
    seen = [name for study in plan.studies.values() for name in page_context.seen(study)]
    lines = [*ledger.counts(rows, seen), *left_out, *(f"broken: {line}" for line in broken)]
    return [*lines, *stored_headline(plan)], bool(broken)


def stored_headline(plan: Plan) -> list[str]:
    """Return what the stored ledger comes to, as its page has it; no lines where none is stored."""
    root = plan.config.absolute().parent
    stored, known = root / "docs" / "ledger" / "claims.csv", asked.read(root / asked.FOLDER, _recorded(plan))
    if known is None or not stored.is_file():
        return []
    rows = ledger.read(stored, ("claim", "rank", "kind", "regime"))
    return ["", "The stored ledger, docs/ledger:", *known.headline(rows)]


def _recorded(plan: Plan) -> list[history.Verdict]:
    """The lines of the project's verdicts.csv."""
    return history.read(plan.config / history.NAME)[0]


def _judged(plan: Plan) -> tuple[list[dict[str, str]], list[str]]:
    """Read the rows of the chosen studies from their claims.json, and name the studies that are not judged yet.

    Raises ValueError where no study is.
    """
    there, left_out = _files(plan)
    return [row for file in there.values() for row in ledger.judged(file)], left_out


def _files(plan: Plan) -> tuple[dict[str, Path], list[str]]:
    """The claims.json of the chosen studies that are judged, by study, and a line that names the others.

    Raises ValueError where no study is.
    """
    files = {name: Path(plan.targets.file(name, "claims.json")) for name, study in plan.studies.items() if study.claims}
    lacking = sorted(name for name, file in files.items() if not file.is_file())
    if lacking and len(lacking) == len(files):
        raise ValueError(f"{plan.results}: found no claims.json of {', '.join(lacking)}; expected a run of the studies")
    there = {name: file for name, file in files.items() if name not in lacking}
    return there, [f"not judged yet: {', '.join(lacking)}"] if lacking else []


def register(plan: Plan) -> Answer:
    """Add the designs of the chosen studies to registered.csv. Raises ValueError for a design that may not be."""
    studies = plan.studies.values()
    if plan.settings["pilot"] or plan.settings["replicate"]:
        raise ValueError("register: found a pilot or a replicate; expected the first draw, which the others follow")
    folder = plan.config.absolute().parent / "docs" / "records"
    again = first_questions.restored(folder)
    known = plan.registered
    questions = [fault for study in studies for fault in first_questions.other_questions(study, folder, known)]
    questions += [fault for study in studies for fault in first_questions.gone(study, folder, known)]
    # Another question is another design too, of which its own line says more.
    said = {(fault.file, fault.path[:2]) for fault in questions}
    designs = [fault for study in studies for fault in registration.other_designs(study, known, again)]
    faults = (
        [fault for fault in designs if (fault.file, fault.path[:2]) not in said]
        + removed_rivals.of_plan(plan)
        + questions
    )
    faults += [fault for study in studies for fault in design_sizes.smaller_designs(study, folder)]
    if faults:
        raise ValueError("\n".join(f"error: {fault}" for fault in faults).removeprefix("error: "))
    added = [line for study in studies for line in registration.new_lines(study, plan.registered)]
    told = [f"{line.claim}: revision {line.revision} of {line.study} at {line.preset}, {line.digest}" for line in added]
    told += _add(plan, added, registration.NAME, registration.COLUMNS)
    removed_rivals.keep(plan.config.absolute(), folder)
    design_sizes.keep([study for study in studies if study.name in {line.study for line in added}], folder)
    return told, False


def record(plan: Plan) -> Answer:
    """Add the verdicts of registered designs to verdicts.csv, and what was found of their rivals to a table beside."""
    files = {plan.config / history.NAME, *(plan.beside(study, history.NAME) for study in plan.own)}
    earlier = [verdict for file in files for verdict in history.read(file)[0]]
    there, left_out = _files(plan)
    judged = recording.lines((plan.studies[name], file) for name, file in there.items())
    new = history.new((one.verdict for one in judged), earlier)
    added = {line.first_columns for line in new}
    rivals = [rival for one in judged for rival in one.rivals if recording.key(one.verdict) in added]
    told = _add(plan, new, history.NAME, history.COLUMNS)
    told += _add(plan, rivals, history.RIVALS, history.RIVAL_COLUMNS) if rivals else []
    return [*told, *left_out], False


def _add(
    plan: Plan,
    lines: Iterable[registration.Line | history.Verdict | history.Rival],
    name: str,
    columns: Sequence[str],
) -> list[str]:
    """Append lines of claims to the file beside each study, and say to which. name: of the file."""
    of_files: dict[Path, list[tuple]] = {}
    for line in lines:
        of_files.setdefault(plan.beside(line.study, name), []).append(astuple(line))
    for file, new in of_files.items():
        append_only_csv.append(file, columns, new)
    told = [
        f"{len(new)} line{'s' if len(new) > 1 else ''} added to {os.path.relpath(file)}"
        for file, new in of_files.items()
    ]
    return told or [f"nothing to add to {name}"]


def publish(plan: Plan) -> Answer:
    """Store rows and figures of the run in docs/ledger. Raises ValueError for a pilot and for a replicate."""
    # Imported where it is used: it needs what only the page does.
    from hierlearn.pipeline.command import publication

    if plan.settings["pilot"] or plan.settings["replicate"]:
        raise ValueError("publish: found a pilot or a replicate; expected the first draw")
    return publication.store(plan, plan.config.absolute().parent), False


ANSWERS: dict[str, Callable[[Plan], Answer]] = {
    "plan": cost,
    "tally": tally,
    "register": register,
    "record": record,
    "publish": publish,
}
