"""Rivals that are gone from the lists of the project, or from that of a paper: they are only added."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from hierlearn.pipeline.claims import history, rivals
from hierlearn.pipeline.files import append_only_csv
from hierlearn.pipeline.files.errors import Fault
from hierlearn.pipeline.plan.configuration import Plan
from hierlearn.pipeline.plan.study import Study

# In `docs/records`, every line that was ever in a project's lists: the list, its paper or row, the place and the rival.
KEPT, KEPT_COLUMNS = "listed_rivals.csv", ("list", "of", "place", "rival")
NAMED = 3


def of_plan(plan: Plan) -> list[Fault]:
    """Return a fault for every rival that a claim of the plan was judged against and that is no longer listed, and for
    each list of the project that lacks a line which it had."""
    config = plan.config.absolute()
    lists = gone(config, config.parent / "docs" / "records")
    files = {name: plan.beside(name, history.RIVALS) for name in plan.studies}
    recorded = {file: append_only_csv.by_study(history.read_rivals(file)[0]) for file in {*files.values()}}
    judged = (
        fault for name, study in plan.studies.items() for fault in _judged(study, recorded[files[name]].get(name, ()))
    )
    return [*lists, *judged]


def _judged(study: Study, recorded: Iterable[history.Rival]) -> Iterator[Fault]:
    """Yield a fault for every rival that a claim was judged against and that its paper's list no longer has.

    recorded: the lines of verdict_rivals.csv beside the study.
    """
    listed = {one.rival for one in study.rivals.listed}
    # What a claim itself names is in its question; "measured_by" is only said of rivals of the list.
    judged = {(one.claim, one.rival): None for one in recorded if one.study == study.name and one.measured_by}
    for claim, rival in judged:
        if claim in study.claims and rival not in listed:
            folder = study.file.rpartition("/studies/")[0] or "config"
            found = f"no {rival!r}, against which {claim} was judged"
            yield Fault(f"{folder}/{rivals.NAME}", (), found, "every rival that a row has met; rivals are only added")


def gone(config: Path, records: Path) -> Iterator[Fault]:
    """Yield a fault for each list of rivals of a project that lacks a line which it had.

    config: the folder of the lists; records: `docs/records`, which a folder of your own need not have.
    """
    now = set(_lines(config))
    lost = [line for line in _kept(records) if line not in now]
    for name in dict.fromkeys(line[0] for line in lost):
        missing = [f"{rival!r} of {of}, {place}" for where, of, place, rival in lost if where == name]
        more = f" and {len(missing) - NAMED} more" if len(missing) > NAMED else ""
        found = f"no {'; '.join(missing[:NAMED])}{more}"
        yield Fault(f"config/{name}", (), found, "every rival that was ever listed; rivals are only added")


def keep(config: Path, records: Path) -> None:
    """Add what the lists of a project have to its records, where it keeps them."""
    known = set(_kept(records))
    new = [line for line in _lines(config) if line not in known]
    if new and (records / KEPT).is_file():
        append_only_csv.append(records / KEPT, KEPT_COLUMNS, new)


def _lines(config: Path) -> Iterator[tuple[str, ...]]:
    """What the lists have: rivals that must fail, and rivals that other rows measure."""
    for listed in rivals.read(config / rivals.NAME)[0]:
        if listed.rival and listed.role == rivals.MUST_FAIL:
            yield rivals.NAME, listed.paper, listed.place, listed.rival
    for measured in rivals.read_measured(config / rivals.MEASURED)[0]:
        yield rivals.MEASURED, measured.row, measured.place, measured.rival


def _kept(records: Path) -> list[tuple[str, ...]]:
    """The lines of the records, none where there is no file."""
    lines, _ = append_only_csv.read(records / KEPT, KEPT, KEPT_COLUMNS, all)
    return [tuple(line) for _, line in lines]
