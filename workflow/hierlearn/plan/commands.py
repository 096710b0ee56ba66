"""Words on Snakemake's command line that are answered at once: `snakemake plan`, `tally`, `register`, `record`,
`publish`."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from hierlearn.claims import tally as ledger
from hierlearn.plan import estimates, history, registration
from hierlearn.plan.configuration import Plan

# The lines to print, and whether a promise is broken.
Answer = tuple[list[str], bool]


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
    """What the preset costs, by study."""
    gflops = plan.settings.get("core_gflops", estimates.CORE_GFLOPS)
    return list(estimates.table(plan.studies.values(), Path(plan.results), gflops)), False


def tally(plan: Plan) -> Answer:
    """The ledger's rows by kind, regime and verdict; fails where a promise is broken."""
    rows = ledger.read(Path(plan.results, "claims.csv"))
    broken = list(ledger.breaches(rows))
    return [*ledger.counts(rows), *(f"broken: {line}" for line in broken)], bool(broken)


def register(plan: Plan) -> Answer:
    """Adds the designs of the chosen studies to registered.csv. Raises ValueError where one has another line."""
    studies = plan.studies.values()
    settings = plan.settings
    if settings["pilot"] or settings["replicate"]:
        raise ValueError("register: found a pilot or a replicate; expected the first draw, which the others follow")
    if faults := [fault for study in studies for fault in registration.other_designs(study, plan.registered)]:
        raise ValueError("\n".join(f"error: {fault}" for fault in faults).removeprefix("error: "))
    added = [line for study in studies for line in registration.new_lines(study, plan.registered)]
    for file, lines in _by_file(plan, added, registration.NAME):
        registration.append(file, lines)
    told = [f"{line.claim}: revision {line.revision} of {line.study} at {line.preset}, {line.digest}" for line in added]
    return [*told, f"{len(added)} lines added to {registration.NAME}"], False


def record(plan: Plan) -> Answer:
    """Adds the verdicts of the ledger's registered designs to verdicts.csv."""
    files = {plan.config / history.NAME, *(plan.beside(study, history.NAME) for study in plan.own)}
    known = [one for file in files for one in history.read(file)[0]]
    needed = tuple(dict.fromkeys([*ledger.NEEDED, *history.COLUMNS]))
    added = history.new(ledger.read(Path(plan.results, "claims.csv"), needed), known)
    for file, lines in _by_file(plan, added, history.NAME):
        history.append(file, lines)
    return [f"{len(added)} lines added to {history.NAME}"], False


def _by_file(plan: Plan, lines: Iterable[Any], name: str) -> Iterator[tuple[Path, list[Any]]]:
    """Lines of claims by the file that keeps those of their study."""
    found: dict[Path, list[Any]] = {}
    for line in lines:
        found.setdefault(plan.beside(line.study, name), []).append(line)
    yield from found.items()


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
