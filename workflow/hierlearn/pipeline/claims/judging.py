"""Turns what was measured of a claim and of its control into a row of the ledger."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hierlearn.pipeline.claims.ledger import Row, to_json
from hierlearn.pipeline.claims.rules import FAILS, PASSES, UNDECIDED, outcome
from hierlearn.pipeline.claims.tally import NO_EVIDENCE
from hierlearn.pipeline.claims.verdicts import MISSING, NO_CONTROL, verdict
from hierlearn.pipeline.quantities._ends import told
from hierlearn.statistics.estimates import Measurement, decisive_cases

NOT_MEASURED = Measurement(np.nan, np.nan, np.nan, "", 0)


@dataclass(frozen=True)
class Added:
    """A rival of config/rivals.csv beside a claim's own. measured_by: the learner, probe or claim that measures it, ""
    where none does; measured: None where the study has nothing that does."""

    rival: str
    measured_by: str
    measured: Measurement | None

    def judged(self, claim: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the rule of a claim makes of it, with its numbers, None where there are none."""
        measured = _finite(self.measured or NOT_MEASURED)
        found, why = _outcome(claim, measured)
        if math.isnan(measured.value):
            why = "; ".join(filter(None, [f"rival {self.rival} not measured", measured.reason]))
        elif found == UNDECIDED:
            why = f"the rival, {self.rival}, is undecided: {why}"
        elif found == PASSES:
            why = f"the rival, {self.rival}, passes too"
        value, low, high = map(_number, (measured.value, measured.low, measured.high))
        numbers = {"value": value, "low": low, "high": high}
        said = {"rival": self.rival, "measured_by": self.measured_by, "result": found}
        return said | numbers | {"reason": why, "seeds": measured.seeds, "dof": measured.detail.get("dof")}


def judge_claim(
    name: str,
    claim: Mapping[str, Any],
    measured: Measurement,
    rival: Measurement | None,
    flops: float,
    source: str,
    study: Mapping[str, str],
    added: Sequence[Added] = (),
    at_ends: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """The row of a claim, with the detail of its measurement beside the columns.

    claim: its words, rule and control as in the study file, perhaps with the digest of its design and the dimension of
    its probe's own problem; rival: the control, measured, if there is one; source: the file that the measurement was
    read from, in the study's folder; study: name, paper, preset, perhaps draw and revision; added: further rivals, for
    each of which the rule must fail; at_ends: what claim or rivals chose at an end of its list, which decides nothing.
    """
    measured, rival = _finite(measured), rival and _finite(rival)
    if claim["rule"] == "bound" and rival is not None:
        measured = decisive_cases(measured, rival)
    found, why = _outcome(claim, measured)
    control, control_why = _control(claim, rival)
    others = [one.judged(claim) for one in added] if claim["rule"] != "descriptive" else []
    against_all = together([control, *(one["result"] for one in others)])
    kind = claim["kind"], claim.get("regime", "")
    # A check is true whatever was chosen, and a description has no rule.
    undecided = bool(at_ends) and claim["kind"] not in NO_EVIDENCE
    word = verdict(*kind, UNDECIDED if undecided else found, against_all, "proof" in claim)
    described = {"rank": "secondary", "regime": "", "digest": ""} | claim
    run = {"draw": "", "revision": ""} | study
    slack, against = claim.get("slack"), rival or NOT_MEASURED
    row = Row(
        **{key: described[key] for key in ("place", "kind", "rank", "regime", "statement", "rule", "digest")},
        **{key: run[key] for key in ("paper", "preset", "draw")},
        claim=name,
        side=_side(claim),
        value=measured.value,
        low=measured.low,
        high=measured.high,
        predicted=float(_predicted(claim)),
        slack=np.nan if slack is None else float(slack),
        rival=claim.get("control", {}).get("rival", ""),
        control_value=against.value,
        control_low=against.low,
        control_high=against.high,
        control_verdict=control,
        verdict=word,
        sizes=_sizes(measured.sizes, claim),
        reason=_reason(claim, found, why, control_why, others, at_ends if undecided else ()),
        skipped=_skipped(claim, measured, rival),
        outside=claim.get("beyond", "").strip(),
        remark=_remark(claim),
        before="",
        revision=str(run["revision"]),
        seeds=measured.seeds,
        flops=flops,
        study=study["name"],
        figure=f"{study['name']}/figure.svg",
        data=f"{study['name']}/{source}",
    )
    of_rival = {"control": {"seeds": rival.seeds, "dof": rival.detail.get("dof")}} if rival else {}
    beside = of_rival | ({"rivals": others} if others else {}) | ({"edges": [*at_ends]} if at_ends else {})
    return {**to_json(row, measured.positive), "detail": measured.detail | beside}


def together(results: Sequence[str]) -> str:
    """Return what the results of several rivals come to, in the words of one: any that passes makes a claim no test,
    any that is undecided or missing leaves it undecided. The first is a claim's own, which may be none at all."""
    own, *others = results
    for word in (PASSES, MISSING, UNDECIDED):
        if word in results:
            return word
    return FAILS if others else own


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _finite(measured: Measurement) -> Measurement:
    """The measurement, without numbers where one is infinite, as of the logarithm of 0."""
    if not np.isinf([measured.value, measured.low, measured.high]).any():
        return measured
    reason = "; ".join(part for part in ("a number of it is infinite", measured.reason) if part)
    return replace(measured, value=np.nan, low=np.nan, high=np.nan, reason=reason)


def _sizes(sizes: str, claim: Mapping[str, Any]) -> str:
    """The sizes, at the dimension of the probe's own problem where it has one."""
    return re.sub(r"\bd = [^,]+", f"d = {claim['dimension']}", sizes) if "dimension" in claim else sizes


def _predicted(claim: Mapping[str, Any]) -> float:
    return 1.0 if claim["rule"] == "bound" else claim.get("predicted", np.nan)


def _side(claim: Mapping[str, Any]) -> str:
    return claim.get("side", "above") if claim["rule"] == "ordering" else ""


def _outcome(claim: Mapping[str, Any], measured: Measurement) -> tuple[str, str]:
    """What the claim's rule makes of a measurement, and why."""
    if claim["rule"] == "descriptive":
        return UNDECIDED, ""
    high = math.inf if measured.bound and not math.isnan(measured.high) else measured.high
    given = measured.value, measured.low, high, _predicted(claim), claim.get("slack")
    return outcome(claim["rule"], *given, _side(claim))


def _control(claim: Mapping[str, Any], rival: Measurement | None) -> tuple[str, str]:
    """The outcome of a claim's rival by the same rule, and why where it keeps the claim from its verdict."""
    described = claim.get("control", {})
    if "missing" in described:
        return MISSING, f"no rival yet ({described['missing']})"
    if rival is None:
        return NO_CONTROL, ""
    found, why = _outcome(claim, rival)
    said = {PASSES: f"the rival, {described['rival']}, passes too", UNDECIDED: f"the rival is undecided: {why}"}
    return found, said.get(found, "")


def _reason(
    claim: Mapping[str, Any],
    found: str,
    why: str,
    control_why: str,
    others: Sequence[Mapping[str, Any]],
    at_ends: Sequence[Mapping[str, Any]],
) -> str:
    """Why the verdict is what it is: by what was chosen, by the rule, or, where the rule passes, by the rivals."""
    if at_ends:
        return "; ".join(["the best may lie beyond the list", *map(told, at_ends)])
    if found == FAILS and "proof" in claim:
        return f"{why}, as a proof says: {claim['proof'].strip()}"
    if found != PASSES:
        return why
    # A rival that passes decides, whatever is not known of the others.
    passing = [one["reason"] for one in others if one["result"] == PASSES]
    unknown = [one["reason"] for one in others if one["result"] == UNDECIDED]
    return "; ".join(filter(None, [control_why, *(passing or unknown)])) or why


def _remark(claim: Mapping[str, Any]) -> str:
    """What else a reader must know: of a withdrawn question first the sentence by which it is."""
    quoted = claim.get("withdrawn")
    said = f"Withdrawn by “{quoted['quote'].strip()}” ({quoted['where'].strip()})." if quoted else ""
    return " ".join(filter(None, [said, claim.get("remark", "").strip()]))


def _skipped(claim: Mapping[str, Any], measured: Measurement, rival: Measurement | None) -> str:
    """What did not count in the measurement and, where the rival has a rule of its own, in the rival's."""
    of_rival = rival.reason if rival and claim["rule"] != "bound" else ""
    return "; ".join(filter(None, [measured.reason, of_rival and f"of the rival: {of_rival}"]))
