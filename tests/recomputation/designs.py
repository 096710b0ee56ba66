"""What a study file says of its claims at a preset, read anew."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml


@cache
def study_at(file: Path, preset: str) -> dict[str, Any]:
    """The study with the overlay of a preset: mappings merge key by key, everything else is replaced."""
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    overlays = content.pop("presets", None) or {}
    return overlaid(content, overlays.get(preset) or {})


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
