"""Presets: the body of a study is the quick one, the others lie over it."""

from collections.abc import Iterator, Mapping
from typing import Any

from hierlearn.files.faults import Path, value_at

PRESETS = ("quick", "standard", "full", "paper", "smoke")
# What is said of a study as a whole, so not in an overlay, and where instead.
OF_ALL = {
    "presets": "them beside one another",
    "revisions": "revisions.{preset} beside the presets",
    "intended": "intended beside the presets",
}
# What says by itself which control a claim has, or why none.
WHICH = ("rival", "missing")


def base(content: Mapping[str, Any], preset: str) -> str | None:
    """The preset whose sizes a study has at a preset: quick where it states none, and None for paper then."""
    overlays = content.get("presets")
    if isinstance(overlays, dict) and preset in overlays:
        return preset
    return None if preset == "paper" else "quick"


def bodies(content: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(preset, what the study says there) of quick and every preset that it states; the content may be anything."""
    body = {key: value for key, value in content.items() if key != "presets"}
    yield "quick", body
    for preset in PRESETS[1:]:
        overlay = value_at(content, ("presets", preset))
        if isinstance(overlay, dict):
            yield preset, merge(body, {key: value for key, value in overlay.items() if key not in OF_ALL})


def path_in_file(preset: str, path: Path) -> Path:
    """Where a file says what a study says at a path of a preset."""
    return path if preset == "quick" else ("presets", preset, *path)


def merge(body: dict, overlay: dict) -> dict:
    """The body with an overlay: mappings are merged key by key, everything else and another control are replaced."""
    merged = dict(body)
    for key, value in overlay.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict) and not _whole(key, value)
        merged[key] = merge_component(merged[key], value) if both else value
    return merged


def _whole(key: str, value: dict) -> bool:
    """Whether an overlay names another control, which has nothing of the body's."""
    return key == "control" and any(name in value for name in WHICH)


def merge_component(body: dict, overlay: dict) -> dict:
    """The same of a component: one of another name starts from its own defaults, not from the replaced one's."""
    renamed = "name" in overlay and overlay["name"] != body.get("name")
    return overlay if renamed else merge(body, overlay)
