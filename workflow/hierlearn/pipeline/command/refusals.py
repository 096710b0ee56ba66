"""What a run refuses before its first job: unknown targets, missing files, designs that are not registered."""

import os
import sys
from collections.abc import Collection, Iterable
from pathlib import Path

from hierlearn.core.words import similar
from hierlearn.pipeline.command import removed_rivals
from hierlearn.pipeline.files import append_only_csv, papers
from hierlearn.pipeline.plan import registration
from hierlearn.pipeline.plan.configuration import COMMANDS, RULES, Plan
from hierlearn.pipeline.run import command_line

# The folder of what every job leaves besides its outputs.
LOGS = "logs"


def targets(workflow: Path, main: Path) -> tuple[str, ...]:
    """Return the targets on Snakemake's command line, or the studies of the jobs that a run hands to a process.

    There are none where another program or another Snakefile asks: a workflow that has this one as a module has
    targets of its own. workflow: the folder of the package; main: the file that Snakemake reads.
    """
    if main.resolve() not in (workflow / "Snakefile", workflow.parent / "Snakefile"):
        return ()
    if not _is_of_snakemake(sys.argv[0]):
        return ()
    given = command_line.asked(tuple(sys.argv[1:]))
    # The ledger's job has no study, as it is of all.
    return (*(given.targets or ()), *(job.wildcards_dict.get("study", "all") for job in given.target_jobs or ()))


def _is_of_snakemake(program: str) -> bool:
    """Whether a program is Snakemake's command, or its package."""
    return "snakemake" in (Path(program).name, Path(program).parent.name)


def refuse_what_is_given_twice() -> None:
    """End the program with one line where the command line has a setting twice, or a key in a setting."""
    if _is_of_snakemake(sys.argv[0]) and (found := command_line.twice(tuple(sys.argv[1:]))):
        sys.exit(f"error: --config: found {found} twice; expected it once")


def refuse_unknown_targets(plan: Plan, asked: Iterable[str], workflow: Path) -> None:
    """End the program with one line for every target that does not exist.

    asked: see `targets`; workflow: the folder of the package, with the studies in config/studies beside it.
    """
    studies = [path.stem for path in (workflow.parent / "config" / "studies").glob("*.yaml")]
    if lines := unknown_targets(asked, plan, [*studies, *plan.own]):
        sys.exit("\n".join(lines))


def refuse_other_designs(plan: Plan) -> None:
    """End the program with a line for every claim whose design is not the one that is registered, and for every rival
    that is gone."""
    lines = append_only_csv.by_study(plan.registered)
    faults = [
        fault
        for name, study in plan.studies.items()
        for fault in registration.other_designs(study, lines.get(name, []))
    ]
    faults += removed_rivals.of_plan(plan)
    if faults:
        sys.exit("\n".join(f"error: {fault}" for fault in faults))


def refuse_absent_files(plan: Plan) -> None:
    """Ends the program with a line for every file outside the project that a study would read, and cannot."""
    if plan.absent:
        sys.exit("\n".join(f"error: {fault}" for fault in plan.absent))


def refuse_files_for_folders(plan: Plan) -> None:
    """End the program with one line where something else lies in place of a folder of results."""
    names = {os.path.dirname(file) for file in plan.targets.all_files}
    for folder in sorted({folder for name in names for folder in (Path(name), *Path(name).parents)}):
        # A link that leads nowhere, too.
        if os.path.lexists(folder) and not folder.is_dir():
            sys.exit(f"error: {folder}: found a file; expected a folder of results, or nothing")


def unknown_targets(asked: Iterable[str], plan: Plan, studies: Collection[str]) -> list[str]:
    """One line for every target that is no study, paper, rule or file of this run; files have a slash.

    studies: the names of all of them, of this run or not.
    """
    names = [*plan.targets.by_name(), *(rule for rule in RULES if rule != "ledger" or plan.targets.is_whole)]
    lines = []
    for word in sorted(asked):
        if "/" in word:
            if word.startswith(f"{plan.results}/{LOGS}/") or plan.inputs.identity(word) is not None:
                continue
            found, allowed = "no file of this run", f"a file that it makes below {plan.results}"
            close = _nearest_file(word, plan)
        elif word in names:
            continue
        elif word in COMMANDS:
            lines.append(f"error: target {word!r}: found a command; expected a target; run `hierlearn {word}`")
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
