"""What claims and components say in full: numbers in their words, tables of papers in their places."""

from collections.abc import Mapping
from typing import Any

from hierlearn.core import registry
from hierlearn.pipeline.plan import placeholders
from hierlearn.pipeline.plan.study import Study


def claims(study: Study) -> dict[str, dict[str, Any]]:
    """What every claim of a study says, its quantity and that of its control in full, numbers in its words."""
    found = {}
    for name, claim in study.claims.items():
        said, known = claim.said(), placeholders.values(study, claim, claim.quantity)
        words = {key: placeholders.fill(said[key], known) for key in placeholders.WORDS if key in said}
        found[name] = said | words | {"quantity": with_tables(study, "quantities", claim.quantity)}
        if rival := claim.rival():
            called = placeholders.fill(claim.control["rival"], placeholders.values(study, claim, rival))
            quantity = with_tables(study, "quantities", rival)
            found[name]["control"] = claim.control | {"rival": called, "quantity": quantity}
    return found


def with_tables(study: Study, kind: str, description: Mapping[str, Any]) -> dict[str, Any]:
    """A description with its defaults, and with published tables in place of their names: a job knows no other files,
    and a number that changes runs again what rests on it."""

    def put(value: Any, against: Mapping[str, Any]) -> Any:
        if against.get("reference") == "published":
            table = study.published[value]
            return {"place": table["place"], "coordinates": list(table["coordinates"]), "rows": table["rows"]}
        if isinstance(value, dict):
            known = against.get("properties", {})
            return {key: put(part, known.get(key, {})) for key, part in value.items()}
        return [put(part, against.get("items", {})) for part in value] if isinstance(value, list) else value

    full = {"name": description["name"]} | registry.defaults(kind, description["name"]) | description
    return put(full, {"properties": registry.parameters(kind, description["name"])})
