"""Turns a measured quantity and a claim's rule into a row of the ledger."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hierlearn.claims.ledger import Row, to_json
from hierlearn.claims.rules import judge
from hierlearn.statistics.estimates import Measurement


def judge_claim(
    name: str, claim: Mapping[str, Any], measured: Measurement, flops: float, source: str, study: Mapping[str, str]
) -> dict[str, Any]:
    """The row of a claim, with the detail of its measurement beside the columns.

    claim: place, statement, label, rule, predicted, slack, side as in the study file; source: the file that the
    measurement was read from, in the study's folder; study: name, paper, preset.
    """
    predicted, slack = claim.get("predicted", np.nan), claim.get("slack")
    verdict, reason = judge(
        claim["rule"],
        measured.value,
        measured.low,
        measured.high,
        predicted,
        slack,
        claim.get("side", "above"),
        measured.reason,
    )
    reason = "; ".join(part for part in (reason, claim.get("remark", "").strip()) if part)
    row = Row(
        claim=name,
        paper=study["paper"],
        place=claim["place"],
        statement=claim["statement"],
        rule=claim["rule"],
        label=claim["label"],
        value=measured.value,
        low=measured.low,
        high=measured.high,
        predicted=float(predicted),
        slack=np.nan if slack is None else float(slack),
        verdict=verdict,
        reason=reason,
        preset=study["preset"],
        seeds=measured.seeds,
        flops=flops,
        study=study["name"],
        figure=f"{study['name']}/figure.svg",
        data=f"{study['name']}/{source}",
    )
    return {**to_json(row), "detail": measured.detail}
