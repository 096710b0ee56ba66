"""A study without its faults: what later checks are asked, so that one round of corrections is enough for a user.

A check of names needs parts that are sound. What is at fault is replaced by what its line says is allowed, or left out,
and the study is checked again; faults that only come from that are not the user's.
"""

import copy
import re
from collections.abc import Iterable
from typing import Any

from hierlearn.plan.load import Fault, schema, shown

Path = tuple[str | int, ...]
# Sections of parts with names, which others may refer to.
NAMED = ("axes", "representations", "learners", "probes")


def path_of(field: str) -> Path:
    """The path that `reading.dotted` wrote as a.b[2].c."""
    parts = re.findall(r"\[(\d+)\]|([^.\[\]]+)", field)
    return tuple(int(number) if number else word for number, word in parts)


def mended(content: dict[str, Any], faults: Iterable[Fault]) -> tuple[dict[str, Any], set[Path]]:
    """A copy of a study's content without what is at fault, and the paths that are replaced or left out."""
    content, changed = copy.deepcopy(content), set()
    for fault in sorted(faults, key=lambda fault: len(path_of(fault.field))):
        path = path_of(fault.field)
        for at in (path, ("presets", "quick", *path)):
            if at and _mend(content, at, _allowed(fault)):
                changed.add(at)
    return content, changed


def follows(fault: Fault, changed: Iterable[Path]) -> bool:
    """Whether a fault lies where something was changed, or names a part that is gone."""
    path = path_of(fault.field)
    for at in changed:
        if path[: len(at)] == at or at[: len(path)] == path:
            return True
        if len(at) == 2 and at[0] in NAMED and (at[1] in path or fault.found in (shown(at[1]), at[1])):
            return True
    return False


def settles_names(changed: Iterable[Path]) -> bool:
    """Whether all that others may name is as the user wrote it: axes, and values in lists but for choices."""
    return not any("axes" in at or (isinstance(at[-1], int) and "select" not in at) for at in changed)


def _allowed(fault: Fault) -> Any:
    """A value that a fault's line allows; None if it names none."""
    if fault.found.startswith("an unknown"):
        return None
    for form in (r"\(nearest: (.+)\)$", r"^one of ([^,]+)", r"^(?:more than|at least|at most) (-?[\d.e+]+)$"):
        if found := re.search(form, fault.allowed):
            word = found[1].strip("'")
            number = re.fullmatch(r"-?\d+(\.\d+)?(e[+-]?\d+)?", word)
            value = (float(word) if "." in word or "e" in word else int(word)) if number else word
            return value + 1 if fault.allowed.startswith("more than") else value
    return None


def _mend(content: Any, path: Path, value: Any) -> bool:
    """Replace what lies at a path by a value, or remove it, in place; False if nothing is there."""
    for part in path[:-1]:
        known = range(len(content)) if isinstance(content, list) else content if isinstance(content, dict) else ()
        if part not in known:
            return False
        content = content[part]
    last = path[-1]
    if isinstance(content, list):
        if last not in range(len(content)):
            return False
        # Without one entry the others would have another place.
        content[last] = content[0 if last else -1] if value is None else value
        return True
    if not isinstance(content, dict):
        return False
    needed = schema("study") if len(path) == 1 else {}
    if value is None and last in needed.get("required", ()):
        described = needed["properties"][last]
        value = {"integer": described.get("minimum"), "string": "-"}.get(described.get("type"))
    if value is None:
        return content.pop(last, content) is not content
    content[last] = value
    return True
