"""What a study file says of its claims at a preset, read anew.

A claim has `rule`, `predicted`, `slack` and `side` here for its test, and `control` for its rival.
"""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

SIGNS = {
    **{"<=": "upper", ">=": "lower", "=": "two-sided", "~": "published", "bound": "bound"},
    **dict.fromkeys("<>", "ordering"),
}


@cache
def study_at(file: Path, preset: str) -> dict[str, Any]:
    """The study with the overlay of a preset: mappings merge key by key, everything else is replaced."""
    content = yaml.load(file.read_text(encoding="utf-8"), yaml.CSafeLoader)
    overlays = content.pop("presets", None) or {}
    study = overlaid(content, overlays.get(preset) or {})
    claims = {name: one for name, one in study.get("claims", {}).items() if preset in one.get("presets", [preset])}
    return study | {"claims": {name: claim_at(one, preset, study.get("rivals", {})) for name, one in claims.items()}}


def claim_at(claim: dict[str, Any], preset: str, rivals: dict[str, Any]) -> dict[str, Any]:
    """A claim with what changes in it at a preset."""
    changes = [one for words, one in claim.get("at", {}).items() if preset in words.split()]
    said: dict[str, Any] = {}
    for part in (claim, *changes):
        part = {key: value for key, value in part.items() if key not in ("at", "presets")}
        if isinstance(part.get("rival"), str):
            part["rival"] = rivals[part["rival"]]
        for key, other in (("regime", "beyond"), ("test", "printed")):
            if key in part or other in part:
                said = {known: value for known, value in said.items() if known not in (key, other)}
        if {"is", "missing"} & part.get("rival", {}).keys():
            said.pop("rival", None)
        said = overlaid(said, part)
    control = {"rival" if key == "is" else key: value for key, value in said.pop("rival", {}).items()}
    said |= {"control": control} if control else {}
    said |= {"regime": "beyond"} if "beyond" in said else {}
    return said | judged(said.pop("test", None))


def judged(test: str | None) -> dict[str, Any]:
    """The rule, the prediction, the slack and the side of a test."""
    if test is None:
        return {"kind": "description", "rule": "descriptive"}
    sign, *words = test.split()
    rule = {"rule": SIGNS[sign]} | dict(zip(("predicted", "slack"), map(float, words[::2]), strict=False))
    return rule | ({"side": "below"} if sign == "<" else {})


def overlaid(body: dict, overlay: dict) -> dict:
    """The body with an overlay; a component of another name is replaced as a whole."""
    merged = dict(body)
    for key, new in overlay.items():
        old = merged.get(key)
        if not (isinstance(new, dict) and isinstance(old, dict)) or new.get("name", old.get("name")) != old.get("name"):
            merged[key] = new
        else:
            merged[key] = overlaid(old, new)
    return merged


def rival(claim: dict[str, Any]) -> dict[str, Any] | None:
    """The quantity of a claim's control, which says only what is other in the claim's own; None where there is none."""
    other = claim.get("control", {}).get("quantity")
    return None if other is None else overlaid({"quantity": claim["quantity"]}, {"quantity": other})["quantity"]


def printed(file: Path, table: str, where: dict[str, Any], ours: dict[str, Any], lowest: bool) -> float:
    """The number of a table of config/published at our coordinates, those in `where` taking precedence."""
    found = yaml.safe_load(file.read_text(encoding="utf-8"))["tables"][table]
    wanted = {axis: value for axis, value in ours.items() if axis in found["coordinates"]} | where
    (row,) = (row for row in found["rows"] if wanted.items() <= row.items())
    return float(row["low"] if lowest and "low" in row else row["value"])
