"""What a claim has to say beside its quantity: test, kind, regime and rival."""

from collections.abc import Mapping
from typing import Any

from hierlearn.core import registry
from hierlearn.core.words import nearest, show
from hierlearn.pipeline.claims.tally import NO_EVIDENCE
from hierlearn.pipeline.claims.verdicts import WITHOUT_REGIME
from hierlearn.pipeline.files import papers
from hierlearn.pipeline.files.errors import Path, value_at
from hierlearn.pipeline.files.schema_errors import schema
from hierlearn.pipeline.plan import component_guards, placeholders, tests
from hierlearn.pipeline.plan.study_spec import Claim, Component
from hierlearn.pipeline.plan.validation_context import Draft

CONTROL = ("rival", "quantity")
KINDS = schema("study")["properties"]["claims"]["additionalProperties"]["properties"]["kind"]["enum"]


def inherit(draft: Draft, at: Path) -> None:
    """What a control takes over from its claim's quantity has been judged there. at: the path of any component."""
    if at[0] != "claims" or at[2:] != CONTROL:
        return
    for rest in draft.below(*at[:2], "quantity"):
        if not rest or value_at(draft.body, (*at, *rest)) is None:
            draft.mark((*at, *rest))


def check_written(draft: Draft) -> None:
    """What a claim writes in words of ours: its test, its broken hypotheses by id, its rival by name."""
    known, places = papers.hypotheses(draft.body["paper"]), papers.places(draft.body["paper"])
    for name, claim in draft.body.get("claims", {}).items():
        at = ("claims", name)
        if "test" in claim:
            try:
                tests.read(claim["test"])
            except ValueError as error:
                draft.add((*at, "test"), show(claim["test"]), str(error))
        if isinstance(claim.get("rival"), str):
            draft.one_of((*at, "rival"), claim["rival"], draft.body.get("rivals", {}))
        if isinstance(claim.get("beyond"), str) and claim.get("place") in places:
            allowed = "a list of hypotheses of this place, which papers.yaml has"
            draft.add((*at, "beyond"), show(claim["beyond"]), allowed)
        for i, broken in enumerate(claim["beyond"] if isinstance(claim.get("beyond"), list) else ()):
            draft.one_of((*at, "beyond", i), broken, known)
            if broken in known:
                _check_declared(draft, (*at, "beyond", i), broken, known[broken], places.get(claim.get("place")))


def _check_declared(
    draft: Draft, at: Path, broken: str, hypothesis: Mapping[str, Any], place: Mapping[str, Any] | None
) -> None:
    """A hypothesis that is declared where what runs says whether it is broken, or that its place does not have."""
    if place is not None and papers.is_computed(hypothesis):
        draft.add(at, show(broken), "nothing, as it is computed from what runs")
    elif place is not None and broken not in place.get("hypotheses", ()):
        known = ", ".join(place.get("hypotheses", ())) or "it has none"
        draft.add(at, show(broken), f"a hypothesis of this place: {known}")


def check_kind(draft: Draft, at: Path, claim: Claim) -> None:
    """What a claim of its kind has to say of its test and of its regime, and what it cannot say."""
    body = value_at(draft.body, at)
    if claim.kind == "description" and "kind" in body:
        allowed = f"a test, as the kind is {body['kind']}; a claim without one is a description, which has no kind"
        draft.add((*at, "test"), "nothing", allowed)
        for key in ("regime", "beyond", "rival"):
            draft.mark((*at, key))
    elif claim.kind is None:
        draft.add((*at, "kind"), "nothing", f"one of {', '.join(KINDS)}, as it has a test")
    if claim.kind != "description":
        _say(draft, (*at, "printed"), body.get("printed"), None, "nothing, as this is for a claim without a test")
    is_listed = claim.place in papers.places(draft.body["paper"])
    refused = f"nothing, as the kind {claim.kind} has no regime"
    if is_listed and claim.kind not in NO_EVIDENCE:
        listed = "nothing, as the scope is computed: papers.yaml lists the hypotheses of this place"
        _say(draft, (*at, "regime"), body.get("regime"), None, listed)
    elif claim.kind in WITHOUT_REGIME:
        _say(draft, (*at, "beyond"), body.get("beyond"), None, refused)
        _say(draft, (*at, "regime"), body.get("regime"), None, refused)
    elif "beyond" in body:
        _say(draft, (*at, "regime"), body.get("regime"), None, "nothing, as `beyond` says it")
    else:
        wanted = "within or limit, or the hypotheses that are broken in `beyond`"
        _say(draft, (*at, "regime"), body.get("regime"), wanted, "")
    if not is_listed and claim.regime != "limit":
        _say(draft, (*at, "proof"), claim.proof, None, "nothing, as this is for the regime limit")


def check_limit(draft: Draft, at: Path, claim: Claim) -> None:
    """A primary claim whose limit a result suggested, and a limit or a withdrawal of what is not judged."""
    is_frozen = isinstance(claim.limit_from, dict) and "frozen" in claim.limit_from
    if claim.is_seen and claim.rank == "primary" and not is_frozen:
        draft.add((*at, "limit_from"), show("seen"), "paper, theory or a margin, as the rank is primary")
    if is_frozen and claim.rank != "primary":
        draft.add((*at, "limit_from", "frozen"), "true", "nothing, as the rank is secondary")
    if claim.kind == "description":
        for key in ("limit_from", "withdrawn"):
            _say(draft, (*at, key), vars(claim)[key], None, "nothing, as a description is not judged")


def check_asked_after(draft: Draft, at: Path, claim: Claim) -> None:
    """A question that is asked after another one and yet primary, asked after itself, or after none of its study."""
    if claim.asked_after is None:
        return
    if claim.asked_after == at[-1]:
        draft.add((*at, "asked_after"), show(claim.asked_after), "another claim, which was registered before")
    elif claim.rank == "primary":
        draft.add((*at, "rank"), show(claim.rank), "secondary, as the question asked first keeps its rank")
    else:
        draft.one_of((*at, "asked_after"), claim.asked_after, [name for name in draft.body["claims"] if name != at[-1]])


def _say(draft: Draft, at: Path, said: Any, wanted: str | None, refused: str) -> None:
    """Notes what is not said but wanted, or said and refused."""
    if said is None and wanted is not None:
        draft.add(at, "nothing", wanted)
    elif said is not None and wanted is None:
        draft.add(at, show(said), refused)


def _in_full(quantity: Component) -> Component:
    """A quantity with its defaults."""
    return registry.defaults("quantities", quantity["name"]) | quantity


def check_words(draft: Draft, at: Path, claim: Claim) -> None:
    """Placeholders in the words of a claim and in the name of its rival that stand for nothing."""
    texts = [((*at, key), getattr(claim, key), claim.quantity) for key in placeholders.WORDS]
    texts.append(((*at, "rival", "is"), (claim.control or {}).get("rival"), claim.rival()))
    for here, text, quantity in texts:
        if text and "{" in text:
            known = placeholders.values(draft.study, claim, quantity)
            for name in placeholders.unknown(text, known):
                draft.add(here, f"{{{name}}}", nearest(name, sorted(known)))


def check_quantity(draft: Draft, at: Path, claim: Claim) -> None:
    """What the parameters of a quantity cannot be together, and those of its rival that are not its own."""
    said: list[tuple[str, str, str]] = []
    for here, described in (((*at, "quantity"), claim.quantity), ((*at, *CONTROL), claim.rival())):
        for one in component_guards.validate("quantities", _in_full(described), None) if described else ():
            if one not in said:
                key, found, allowed = one
                draft.add((*here, key), found, allowed)
                said.append(one)


def check_control(draft: Draft, at: Path, claim: Claim) -> None:
    """A judged claim without a rival, a description with one, and a rival that is the claim itself."""
    here = (*at, "rival")
    if claim.kind == "description":
        _say(draft, here, claim.control, None, "nothing, as a description is not judged")
    elif claim.control is None and claim.kind != "check":
        wanted = "one for which the claim should fail: {is, quantity}, its name in `rivals`, or {missing: why}"
        draft.add(here, "nothing", wanted)
    elif claim.control is not None:
        _check_parts(draft, here, claim)


def _check_parts(draft: Draft, at: Path, claim: Claim) -> None:
    """A rival that says neither what it is nor why it is missing, or both, and one that is the claim itself."""
    lacking = "missing" not in claim.control
    refused = "nothing, as the rival is said to be missing"
    said = value_at(draft.body, at)
    for key, wanted in (("is", "one line that says what it is"), ("quantity", "what is other in the claim's quantity")):
        _say(draft, (*at, key), said.get(key), wanted if lacking else None, refused)
    rival = claim.rival()
    if rival is not None and _in_full(rival) == _in_full(claim.quantity):
        found = show(claim.control["quantity"])
        draft.add((*at, "quantity"), found, "something that the claim's own quantity does not say")
