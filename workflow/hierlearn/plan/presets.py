"""Presets: the body of a study is the quick one, the others lie over it."""

from collections.abc import Iterator, Mapping
from typing import Any

from hierlearn.plan.faults import Path, value_at

PRESETS = ("quick", "full", "smoke")


def bodies(content: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(preset, what the study says there) of every preset that can be read; the content may be anything."""
    body = {key: value for key, value in content.items() if key != "presets"}
    overlays = content.get("presets")
    for preset in PRESETS:
        overlay = overlays.get(preset, {}) if isinstance(overlays, dict) else {}
        if preset == "quick":
            yield preset, body
        elif isinstance(overlay, dict):
            yield preset, merge(body, {key: value for key, value in overlay.items() if key != "presets"})


def path_in_file(preset: str, path: Path) -> Path:
    """Where a file says what a study says at a path of a preset."""
    return path if preset == "quick" else ("presets", preset, *path)


def sets(content: Mapping[str, Any], preset: str, path: Path) -> bool:
    """Whether a preset says itself what stands at a path, and does not repeat a list or mapping of the body."""
    overlay, body, replaced = value_at(content, ("presets", preset)) or {}, content, False
    for part in path:
        if not isinstance(overlay, dict | list) or value_at(overlay, (part,)) is None:
            return replaced or not isinstance(overlay, dict | list)
        replaced = replaced or isinstance(overlay, list)
        overlay, body = value_at(overlay, (part,)), value_at(body, (part,))
        if overlay is body and isinstance(overlay, dict | list):
            return False
    return True


def merge(body: dict, overlay: dict) -> dict:
    """The body with an overlay: mappings are merged key by key, everything else is replaced."""
    merged = dict(body)
    for key, value in overlay.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        # A component of another name starts from its own defaults, not from the replaced one's parameters.
        renamed = both and "name" in value and value["name"] != merged[key].get("name")
        merged[key] = merge(merged[key], value) if both and not renamed else value
    return merged
