"""The rivals of config/rivals.csv that a claim meets beside its own, and how each is measured in its study."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from hierlearn.pipeline.claims import rivals
from hierlearn.pipeline.claims.rivals import Listed
from hierlearn.pipeline.claims.tally import NO_EVIDENCE
from hierlearn.pipeline.files import append_only_csv
from hierlearn.pipeline.files.errors import Fault
from hierlearn.pipeline.plan import history
from hierlearn.pipeline.plan.descriptions import with_tables
from hierlearn.pipeline.plan.presets import merge_component
from hierlearn.pipeline.plan.study import Study

# In `docs/records`, every line that was ever in a project's lists: the list, its paper or row, the place and the rival.
KEPT, KEPT_COLUMNS = "listed_rivals.csv", ("list", "of", "place", "rival")
NAMED = 3


def of_study(study: Study) -> dict[str, list[dict[str, Any]]]:
    """Return the added rivals of every judged claim that has some: each one's name, and the quantity that measures it
    with what it is measured by; no quantity where the study has none."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name, claim in study.claims.items():
        if claim.kind in NO_EVIDENCE or claim.quantity is None:
            continue
        # A later question stands in the places of the one that it is asked after.
        known = study.rivals.of_row(name, claim.place) or study.rivals.of_row(claim.asked_after or "", claim.place)
        control, by_row = claim.control or {}, study.rivals.measuring(name)
        added = rivals.added(known, control.get("rival", ""), claim.quantity, control.get("quantity"))
        own = [
            _described(study, name, one, by_row.get(one.rival, "")) for one in added if by_row.get(one.rival) != name
        ]
        if own:
            found[name] = own
    return found


def removed(study: Study, recorded: Iterable[history.Rival]) -> Iterator[Fault]:
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


def _described(study: Study, name: str, one: Listed, measured_by: str) -> dict[str, Any]:
    """A rival of a claim, with the quantity that measures it."""
    claim = study.claims[name]
    if measured_by in study.claims:
        quantity, by = study.claims[measured_by].quantity, measured_by
    else:
        overlay = (claim.control or {}).get("quantity")
        other = rivals.measured(claim.quantity, overlay, one.learner, {*study.learners, *study.probes})
        # A learner that sweeps what the claim leaves open has no one place there.
        quantity = other and merge_component(claim.quantity, other)
        quantity, by = quantity if quantity and _is_closed(study, one.learner, quantity) else None, one.learner
    said = {"rival": one.rival, "measured_by": by}
    return said | ({"quantity": with_tables(study, "quantities", quantity)} if quantity else {})


def _is_closed(study: Study, learner: str, quantity: dict[str, Any]) -> bool:
    """Whether a quantity names a value of everything that a learner sweeps; a probe sweeps nothing."""
    if learner not in study.learners:
        return "probe" in quantity
    named = {key for part, places in quantity.items() if part.endswith("where") for key in places}
    swept = {key for key, values in study.learners[learner].sweep.items() if len(values) > 1}
    return "probe" not in quantity and swept <= {*named, quantity.get("axis", "")}
