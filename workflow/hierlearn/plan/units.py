"""What the number of a claim is in a word or two, and the sizes that its local slopes lie between."""

from collections.abc import Mapping
from typing import Any

from hierlearn.core import registry
from hierlearn.plan.study import Study

SLOPE, LOG_RATIO, DIFFERENCE, RATIO = "slope", "log ratio", "difference of", "ratio"
LARGEST_RATIO = "largest ratio to the bound"
# By the quantity's name. Of a mean, or of a difference of means, what is averaged follows.
WORDS = {
    "accuracy_exponent": SLOPE,
    "composed_counting_bound": LARGEST_RATIO,
    "counting_bound": LARGEST_RATIO,
    "counting_exponent": SLOPE,
    "exponent": SLOPE,
    "failure_rate": "share of seeds",
    "isotropy_slope": SLOPE,
    "largest_log_risk_ratio": LOG_RATIO,
    "log_fall_ratio": LOG_RATIO,
    "log_risk_ratio": LOG_RATIO,
    "lowest_risk_slope": SLOPE,
    "lowest_score_mean": "",
    "norm_at_error": "norm",
    "order_table": "largest distance of slopes",
    "paired_log_ratio": LOG_RATIO,
    "paired_log_ratio_slope": SLOPE,
    "probe_difference": DIFFERENCE,
    "probe_holds": LARGEST_RATIO,
    "probe_mean": "",
    "probe_slope": SLOPE,
    "probe_theory_ratio": LOG_RATIO,
    "published_ratio": RATIO,
    "risk_slope": SLOPE,
    "samples_slope": SLOPE,
    "score_difference": DIFFERENCE,
    "score_mean": "",
    "score_over_root": RATIO,
    "slope_change": "difference of slopes",
    "slope_difference": "difference of slopes",
    "theory_exponent": SLOPE,
    "theory_ratio": LOG_RATIO,
    "total_samples_log_ratio": LOG_RATIO,
}


def of_claims(study: Study) -> dict[str, dict[str, Any]]:
    """claim -> unit: a word or two, "" for a quantity of a user's own; and a slope's sizes: all values of its axis."""
    found = {name: {"unit": unit(claim.quantity)} for name, claim in study.claims.items()}
    slopes = [name for name, one in found.items() if SLOPE in one["unit"]]
    return found | {name: found[name] | {"sizes": _sizes(study, study.claims[name].quantity)} for name in slopes}


def unit(quantity: Mapping[str, Any]) -> str:
    """slope, log ratio (natural), ratio, or what is averaged, such as risk."""
    known = registry.defaults("quantities", quantity["name"]) | dict(quantity)
    word = WORDS.get(known["name"])
    if word not in ("", DIFFERENCE):
        return word or ""
    if known.get("over"):
        return LOG_RATIO if known.get("log") else RATIO
    averaged = known["variable"].removeprefix("test_").replace("_", " ")
    return f"log of {averaged}" if known.get("log") else f"{word} {averaged}".strip()


def _sizes(study: Study, quantity: Mapping[str, Any]) -> list[Any]:
    known = registry.defaults("quantities", quantity["name"]) | dict(quantity)
    # An axis that is no parameter is the same for all studies.
    axis = known.get("axis", getattr(registry.implementation("quantities", quantity["name"]), "axis", "dimension"))
    probe = study.probes.get(known.get("probe", ""))
    if probe is None:
        return sorted(study.coordinates.get(axis, ()))
    own = registry.implementation("probes", probe.component["name"]).COORDINATES
    described = registry.defaults("probes", probe.component["name"]) | dict(probe.component)
    values = described.get(own[axis]) if axis in own else (study.axes | probe.axes).get(axis)
    return sorted(values) if isinstance(values, list) else []
