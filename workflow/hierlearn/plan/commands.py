"""Words on Snakemake's command line that are answered at once: `snakemake plan`, `tally`, `register`, `record`,
`publish`."""

from collections.abc import Callable, Sequence
from pathlib import Path

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
    registration.append(plan.register, added)
    told = [f"{line.claim}: revision {line.revision} of {line.study} at {line.preset}, {line.digest}" for line in added]
    return [*told, f"{len(added)} lines added to {registration.FILE}"], False


def record(plan: Plan) -> Answer:
    """Adds the verdicts of the ledger's registered designs to verdicts.csv."""
    file = plan.register.with_name("verdicts.csv")
    known, faults = history.read(file)
    if faults:
        raise ValueError("\n".join(map(str, faults)))
    needed = tuple(dict.fromkeys([*ledger.NEEDED, *history.COLUMNS]))
    added = history.new(ledger.read(Path(plan.results, "claims.csv"), needed), known)
    history.append(file, added)
    return [f"{len(added)} lines added to {history.FILE}"], False


def publish(plan: Plan) -> Answer:
    """Stores rows and figures of the run in docs/ledger. Raises ValueError for a pilot and for a replicate."""
    # Imported where it is used: it needs what only the page does.
    from hierlearn.plan import publication

    if plan.settings["pilot"] or plan.settings["replicate"]:
        raise ValueError("publish: found a pilot or a replicate; expected the first draw")
    return publication.store(plan, plan.register.absolute().parents[1]), False


ANSWERS: dict[str, Callable[[Plan], Answer]] = {
    "plan": cost,
    "tally": tally,
    "register": register,
    "record": record,
    "publish": publish,
}
