"""Snakemake's command line: words that are answered at once, `snakemake plan`, `tally`, `register`, `record` and
`publish`, and targets that are none, with the nearest study."""

import os
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import astuple
from pathlib import Path
from types import ModuleType

from hierlearn.claims import tally as ledger
from hierlearn.plan import estimates, history, kept_lines, papers, registration
from hierlearn.plan.checking import load_study
from hierlearn.plan.configuration import COMMANDS, RULES, Plan
from hierlearn.plan.faults import similar

# Folders of what every job leaves besides its outputs; Snakemake makes these too.
OF_JOBS = ("logs", "benchmarks")
# The lines to print, and whether a promise is broken.
Answer = tuple[list[str], bool]


def obey(plan: Plan, workflow: Path, main: Path) -> None:
    """Ends the program with an answer if the command line of Snakemake asks for one, and with a line for every target
    that is none.

    workflow: the folder of the package, with the studies in config/studies beside it; main: the file that Snakemake
    reads, for a workflow that has this one as a module has targets of its own.
    """
    if main.resolve() not in (workflow / "Snakefile", workflow.parent / "Snakefile"):
        return
    if Path(sys.argv[0]).name != "snakemake" and Path(sys.argv[0]).parent.name != "snakemake":
        return
    # Snakemake itself knows its targets only once all files are read; it has taken these words already.
    from snakemake.cli import get_argument_parser

    given, _ = get_argument_parser().parse_known_args(sys.argv[1:])
    try:
        answered = answer(given.targets or (), plan)
    except ValueError as error:
        sys.exit(f"error: {error}")
    if answered:
        lines, broken = answered
        print("\n".join(lines), flush=True)
        sys.exit(int(broken))
    studies = [path.stem for path in (workflow.parent / "config" / "studies").glob("*.yaml")]
    if lines := unknown_targets(given.targets or (), plan, [*studies, *plan.own]):
        sys.exit("\n".join(lines))


def answer(asked: Sequence[str], plan: Plan) -> Answer | None:
    """The answer to the words of a command line; None where they are targets. Raises ValueError, one line, on a word
    beside other targets, and where there is no answer."""
    words = [word for word in asked if word in ANSWERS]
    if not words:
        return None
    if len(asked) > 1:
        raise ValueError(f"{words[0]}: found {len(asked) - 1} more targets beside it; expected it alone")
    return ANSWERS[words[0]](plan)


def cost(plan: Plan) -> Answer:
    """What the preset costs, by study, on the machine that has run quick, if one has."""
    ran = Path(plan.settings["results"], "quick")
    files = [*plan.config.glob("studies/*.yaml"), *plan.own.values()]
    pace = estimates.pace((load_study(file, "quick") for file in files if (ran / "logs" / file.stem).exists()), ran)
    lines = list(estimates.table(plan.studies.values(), Path(plan.results), pace or 1.0))
    if pace:
        lines.append(f"Scaled by {pace:.2g}, what the jobs in {ran} took over what was estimated for them.")
    else:
        lines.append(f"They are for machine A of docs/cost.md, and for this one once quick has run in {ran}.")
    # Sizes are known without them; a run asks for them.
    lines += [f"To run it needs a file that is not there: {fault}" for fault in plan.absent]
    return lines, False


def tally(plan: Plan) -> Answer:
    """The ledger's rows by kind, regime and verdict; fails where a promise is broken."""
    rows, left_out = _judged(plan, ("study", *ledger.NEEDED))
    broken = list(ledger.breaches(rows))
    return [*ledger.counts(rows), *left_out, *(f"broken: {line}" for line in broken)], bool(broken)


def _judged(plan: Plan, needed: Sequence[str]) -> tuple[list[dict[str, str]], list[str]]:
    """The rows of the chosen studies in the run's claims.csv, and a line that names those that have none there.

    Raises ValueError where none has: the file is of other studies.
    """
    file, asked = Path(plan.results, "claims.csv"), {name for name, study in plan.studies.items() if study.claims}
    rows = [row for row in ledger.read(file, needed) if row["study"] in asked]
    lacking = sorted(asked - {row["study"] for row in rows})
    if lacking and not rows:
        raise ValueError(f"{file}: found no row of {', '.join(lacking)}; expected one of each claim; run the studies")
    return rows, [f"not judged yet: {', '.join(lacking)}"] if lacking else []


def register(plan: Plan) -> Answer:
    """Adds the designs of the chosen studies to registered.csv. Raises ValueError where one has another line."""
    studies = plan.studies.values()
    if plan.settings["pilot"] or plan.settings["replicate"]:
        raise ValueError("register: found a pilot or a replicate; expected the first draw, which the others follow")
    if faults := [fault for study in studies for fault in registration.other_designs(study, plan.registered)]:
        raise ValueError("\n".join(f"error: {fault}" for fault in faults).removeprefix("error: "))
    added = [line for study in studies for line in registration.new_lines(study, plan.registered)]
    told = [f"{line.claim}: revision {line.revision} of {line.study} at {line.preset}, {line.digest}" for line in added]
    return [*told, *_add(plan, added, registration)], False


def record(plan: Plan) -> Answer:
    """Adds the verdicts of the ledger's registered designs to verdicts.csv."""
    files = {plan.config / history.NAME, *(plan.beside(study, history.NAME) for study in plan.own)}
    known = [one for file in files for one in history.read(file)[0]]
    needed = tuple(dict.fromkeys([*ledger.NEEDED, *history.COLUMNS]))
    rows, left_out = _judged(plan, needed)
    added = history.new(rows, known)
    return [*_add(plan, added, history), *left_out], False


def _add(plan: Plan, lines: Iterable[registration.Line | history.Verdict], kept: ModuleType) -> list[str]:
    """Adds lines of claims to the files that keep those of their studies, and says to which. kept: what says their name
    and columns."""
    of_files: dict[Path, list[tuple]] = {}
    for line in lines:
        of_files.setdefault(plan.beside(line.study, kept.NAME), []).append(astuple(line))
    for file, new in of_files.items():
        kept_lines.append(file, kept.COLUMNS, new)
    told = [
        f"{len(new)} line{'s' if len(new) > 1 else ''} added to {os.path.relpath(file)}"
        for file, new in of_files.items()
    ]
    return told or [f"nothing to add to {kept.NAME}"]


def publish(plan: Plan) -> Answer:
    """Stores rows and figures of the run in docs/ledger. Raises ValueError for a pilot and for a replicate."""
    # Imported where it is used: it needs what only the page does.
    from hierlearn.plan import publication

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


def refuse_other_designs(plan: Plan) -> None:
    """Ends the program with a line for every claim whose design is not the one that is registered."""
    unknown = [study for name, study in plan.studies.items() if name not in plan.kept.entries]
    faults = [fault for study in unknown for fault in registration.other_designs(study, plan.registered)]
    if faults:
        sys.exit("\n".join(f"error: {fault}" for fault in faults))


def refuse_absent_files(plan: Plan) -> None:
    """Ends the program with a line for every file outside the project that a study would read, and cannot."""
    if plan.absent:
        sys.exit("\n".join(f"error: {fault}" for fault in plan.absent))


def unknown_targets(asked: Iterable[str], plan: Plan, studies: Collection[str]) -> list[str]:
    """One line for every target that is no study, paper, rule or file of this run; files have a slash.

    studies: the names of all of them, of this run or not.
    """
    names = [*plan.targets.by_name(), *RULES, *COMMANDS]
    lines, of_jobs = [], tuple(f"{plan.results}/{folder}/" for folder in OF_JOBS)
    for word in sorted(asked):
        if "/" in word:
            if word.startswith(of_jobs) or plan.inputs.identity(word) is not None:
                continue
            found, allowed = "no file of this run", f"a file that it makes below {plan.results}"
            close = _nearest_file(word, plan)
        elif word in names:
            continue
        elif word in studies or word in papers.known():
            found = f"a {'study' if word in studies else 'paper'} that this run leaves out"
            allowed, close = f"one of {', '.join(plan.targets.by_name())}, or other `studies` in the configuration", []
        else:
            found = "no study of this name"
            allowed, close = "a study of this run, a paper, a rule or a file of results", similar(word, names)
        hint = f" (nearest: {close[0]})" if close else ""
        lines.append(f"error: target {word!r}: found {found}; expected {allowed}{hint}")
    return lines


def _nearest_file(word: str, plan: Plan) -> list[str]:
    below = word.removeprefix(f"{plan.results}/").split("/")
    study = similar(below[0], plan.targets.studies)
    known = [*plan.targets.ledger, *plan.targets.files_of(study)]
    return similar("/".join([plan.results, *study, *below[1:]]), known)
