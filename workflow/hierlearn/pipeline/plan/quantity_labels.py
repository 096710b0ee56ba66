"""What the number of a claim is in a word or two, and the sizes that its local slopes lie between."""

from collections.abc import Mapping
from typing import Any

from hierlearn.core import registry
from hierlearn.pipeline.plan.coordinates import own_coordinates
from hierlearn.pipeline.plan.study import Study


def of_claims(study: Study) -> dict[str, dict[str, Any]]:
    """claim -> unit: a word or two, "" for a quantity of a user's own; and a slope's sizes: all values of its axis."""
    found = {name: {"unit": unit(claim.quantity)} for name, claim in study.claims.items()}
    slopes = [name for name, one in found.items() if "slope" in one["unit"]]
    return found | {name: found[name] | {"sizes": _sizes(study, study.claims[name].quantity)} for name in slopes}


def unit(quantity: Mapping[str, Any]) -> str:
    """slope, log ratio (natural), ratio, or what is averaged, such as risk: `UNIT` of the quantity."""
    known = registry.defaults("quantities", quantity["name"]) | dict(quantity)
    word = registry.implementation("quantities", known["name"]).UNIT
    if "{averaged}" not in word:
        return word
    if known.get("over"):
        return "log ratio" if known.get("log") else "ratio"
    averaged = known["variable"].removeprefix("test_").replace("_", " ")
    return word.format(averaged=f"log of {averaged}" if known.get("log") else averaged)


def _sizes(study: Study, quantity: Mapping[str, Any]) -> list[Any]:
    known = registry.defaults("quantities", quantity["name"]) | dict(quantity)
    axis = known.get("axis", registry.implementation("quantities", quantity["name"]).ALONG)
    probe = study.probes.get(known.get("probe", ""))
    if probe is None:
        return sorted(study.coordinates.get(axis, ()))
    return sorted((study.axes | probe.axes | own_coordinates(study, known["probe"])).get(axis, ()))
