"""What a claim has to say beside its quantity: kind, regime and negative control."""

from typing import Any

from hierlearn.claims.verdicts import WITHOUT_REGIME
from hierlearn.core import registry
from hierlearn.core.words import show
from hierlearn.files.faults import Path, value_at
from hierlearn.plan import answers
from hierlearn.plan.declared import Claim, Component
from hierlearn.plan.validation_context import Draft

CONTROL = ("control", "quantity")


def inherit(draft: Draft, at: Path) -> None:
    """What a control takes over from its claim's quantity has been judged there. at: the path of any component."""
    if at[0] != "claims" or at[2:] != CONTROL:
        return
    for rest in draft.below(*at[:2], "quantity"):
        if not rest or value_at(draft.body, (*at, *rest)) is None:
            draft.mark((*at, *rest))


def check_kind(draft: Draft, at: Path, claim: Claim) -> None:
    """What a claim of its kind has to say of its rule and of its regime, and what it cannot say."""
    described = claim.kind == "description"
    if described != (claim.rule == "descriptive"):
        allowed = (
            "descriptive, as the kind is description" if described else "a rule that decides, or kind: description"
        )
        draft.add((*at, "rule"), show(claim.rule), allowed)
    wanted = None if claim.kind in WITHOUT_REGIME else "one of within, limit, beyond"
    _say(draft, (*at, "regime"), claim.regime, wanted, f"nothing, as the kind {claim.kind} has no regime")
    if not draft.is_faulty(*at, "regime"):
        wanted = "one line that says which hypothesis is violated" if claim.regime == "beyond" else None
        _say(draft, (*at, "beyond"), claim.beyond, wanted, "nothing, as this is for the regime beyond")
        if claim.regime != "limit":
            _say(draft, (*at, "proof"), claim.proof, None, "nothing, as this is for the regime limit")


def check_asked_after(draft: Draft, at: Path, claim: Claim) -> None:
    """A question that is asked after another one and yet primary, or asked after itself."""
    if claim.asked_after is None:
        return
    if claim.asked_after == at[-1]:
        draft.add((*at, "asked_after"), show(claim.asked_after), "another claim, which was registered before")
    elif claim.rank == "primary":
        draft.add((*at, "rank"), show(claim.rank), "secondary, as the question asked first keeps its rank")


def _say(draft: Draft, at: Path, said: Any, wanted: str | None, refused: str) -> None:
    """Notes what is not said but wanted, or said and refused."""
    if said is None and wanted is not None:
        draft.add(at, "nothing", wanted)
    elif said is not None and wanted is None:
        draft.add(at, show(said), refused)


def _in_full(quantity: Component) -> Component:
    """A quantity with its defaults."""
    return registry.defaults("quantities", quantity["name"]) | quantity


def check_quantity(draft: Draft, at: Path, claim: Claim) -> None:
    """What the parameters of a quantity cannot be together, and those of its rival that are not its own."""
    said: list[tuple[str, str, str]] = []
    for here, described in (((*at, "quantity"), claim.quantity), ((*at, *CONTROL), claim.rival())):
        for one in answers.objections("quantities", _in_full(described), None) if described else ():
            if one not in said:
                key, found, allowed = one
                draft.add((*here, key), found, allowed)
                said.append(one)


def check_control(draft: Draft, at: Path, claim: Claim) -> None:
    """A judged claim without a control, a description with one, and a control that is the claim itself."""
    here = (*at, "control")
    if claim.kind == "description":
        _say(draft, here, claim.control, None, "nothing, as a description is not judged")
    elif claim.control is None and claim.kind != "check":
        draft.add(here, "nothing", "a rival for which the claim should fail, {rival, quantity}, or {missing: why}")
    elif claim.control is not None:
        _check_parts(draft, here, claim)


def _check_parts(draft: Draft, at: Path, claim: Claim) -> None:
    """A control that says neither what it is nor why it is missing, or both, and one that is the claim itself."""
    lacking = "missing" not in claim.control
    refused = "nothing, as the control is said to be missing"
    for key, wanted in (("rival", "one line that names it"), ("quantity", "what is other in the claim's quantity")):
        _say(draft, (*at, key), claim.control.get(key), wanted if lacking else None, refused)
    rival = claim.rival()
    if rival is not None and _in_full(rival) == _in_full(claim.quantity):
        found = show(claim.control["quantity"])
        draft.add((*at, "quantity"), found, "something that the claim's own quantity does not say")
