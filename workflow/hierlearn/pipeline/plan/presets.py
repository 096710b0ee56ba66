"""Presets: the body of a study is the quick one, the others lie over it, smoke over a small one that is made of it.

A claim says itself what changes at a preset.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from hierlearn.pipeline.files.errors import Path, value_at
from hierlearn.pipeline.plan.smallest import smallest

PRESETS = ("quick", "standard", "full", "paper", "smoke")
# The preset that every study has, stated or not.
DERIVED = "smoke"
# What is said of a study as a whole, so not in an overlay, and where instead.
OF_ALL = {
    "presets": "them beside one another",
    "revisions": "revisions.{preset} beside the presets",
    "intended": "intended beside the presets",
}
# What says by itself which rival a claim has, or why none.
WHICH = ("is", "missing")
# Lists of places, which are replaced as a whole.
PLACES = ("only",)
# Of two such keys of a claim a preset says one.
EITHER = {"regime": "beyond", "beyond": "regime", "test": "printed", "printed": "test"}


def base(content: Mapping[str, Any], preset: str) -> str | None:
    """The preset whose sizes a study has at a preset: quick where it states none, and None for paper then."""
    overlays = content.get("presets")
    if preset == DERIVED or (isinstance(overlays, dict) and preset in overlays):
        return preset
    return None if preset == "paper" else "quick"


def bodies(
    content: Mapping[str, Any], asked: str = "quick", derive: bool = True
) -> Iterator[tuple[str, dict[str, Any]]]:
    """(preset, what the study says there) of quick and every preset that it states; the content may be anything.

    asked: smoke, if that is there whether stated or not; derive: whether what smoke lies over is made small, which the
    older form did not do.
    """
    body = {key: value for key, value in content.items() if key != "presets"}
    yield "quick", _with_claims(body, "quick")
    for preset in PRESETS[1:]:
        overlay = value_at(content, ("presets", preset))
        overlay = {} if overlay is None and preset == asked == DERIVED else overlay
        if isinstance(overlay, dict):
            below = smallest(body) if preset == DERIVED and derive else body
            over = merge(below, {key: value for key, value in overlay.items() if key not in OF_ALL})
            yield preset, _with_claims(over, preset)


def _with_claims(body: dict[str, Any], preset: str) -> dict[str, Any]:
    """The body with the claims of a preset as they are there, each with its rival in the place of its name."""
    claims, rivals = body.get("claims"), body.get("rivals")
    if not isinstance(claims, dict):
        return body
    there = {name: claim for name, claim in claims.items() if preset in listed(claim, "presets", PRESETS)}
    return body | {"claims": {name: _claim(claim, preset, rivals) for name, claim in there.items()}}


def _claim(claim: Any, preset: str, rivals: Any) -> Any:
    if not isinstance(claim, dict):
        return claim
    said = {key: value for key, value in claim.items() if key not in ("at", "presets")}
    for overlay in (said, *(claim["at"][words] for words in changes(claim, preset))):
        named = value_at(rivals, (overlay.get("rival"),)) if isinstance(overlay.get("rival"), str) else None
        overlay = overlay | {"rival": named} if isinstance(named, dict) else overlay
        said = {key: value for key, value in said.items() if EITHER.get(key) not in overlay or key in overlay}
        said = merge(said, overlay)
    return said


def listed(claim: Any, key: str, usual: tuple[str, ...]) -> list | tuple:
    """A list of a claim, or what is usual where it says none that is one."""
    found = value_at(claim, (key,))
    return found if isinstance(found, list) else usual


def changes(claim: Mapping[str, Any], preset: str) -> list[str]:
    """The keys of `at` that change a claim at a preset: "standard full" changes it at both."""
    at = claim["at"] if isinstance(claim.get("at"), dict) else {}
    return [words for words in at if preset in words.split() and isinstance(at[words], dict)]


def path_in_file(preset: str, path: Path) -> Path:
    """Where a file says what a study says at a path of a preset, claims aside."""
    return path if preset == "quick" else ("presets", preset, *path)


def place(content: Mapping[str, Any], preset: str, path: Path) -> Path:
    """The same of any path: a claim says beside itself what changes, and may name its rival."""
    if path[0] != "claims":
        return path_in_file(preset, path)
    own, rest = path[:2], path[2:]
    claim = value_at(content, own)
    for words in reversed(changes(claim, preset) if isinstance(claim, dict) else ()):
        if rest and rest[0] in claim["at"][words]:
            own = (*own, "at", words)
            break
    name = value_at(content, (*own, "rival"))
    if rest[:1] == ("rival",) and len(rest) > 1 and isinstance(name, str):
        return path_in_file(preset if _has_rival(content, preset, name) else "quick", ("rivals", name, *rest[1:]))
    return (*own, *rest)


def _has_rival(content: Mapping[str, Any], preset: str, name: str) -> bool:
    return value_at(content, ("presets", preset, "rivals", name)) is not None


def merge(body: dict, overlay: dict) -> dict:
    """The body with an overlay: mappings are merged key by key, everything else and another rival are replaced."""
    merged = dict(body)
    for key, value in overlay.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict) and not _whole(key, value)
        merged[key] = merge_component(merged[key], value) if both else value
    return merged


def _whole(key: str, value: dict) -> bool:
    """Whether an overlay names another rival or lists places, which have nothing of the body's."""
    return key in PLACES or (key == "rival" and any(name in value for name in WHICH))


def merge_component(body: dict, overlay: dict) -> dict:
    """The same of a component: one of another name starts from its own defaults, not from the replaced one's."""
    renamed = "name" in overlay and overlay["name"] != body.get("name")
    return overlay if renamed else merge(body, overlay)
