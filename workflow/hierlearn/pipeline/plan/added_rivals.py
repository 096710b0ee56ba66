"""The rivals of config/rivals.csv that a claim meets beside its own, and how each is measured in its study."""

from typing import Any

from hierlearn.pipeline.claims import rivals
from hierlearn.pipeline.claims.rivals import Listed
from hierlearn.pipeline.claims.tally import NO_EVIDENCE
from hierlearn.pipeline.plan.descriptions import with_tables
from hierlearn.pipeline.plan.presets import merge_component
from hierlearn.pipeline.plan.study import Study


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
