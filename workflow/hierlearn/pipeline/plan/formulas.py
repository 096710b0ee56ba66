"""Formulas in the texts of a figure: one that cannot be drawn would end the figure's job, after all the others."""

import functools
import importlib
import os
import re
from collections.abc import Callable, Iterator
from typing import Any

from hierlearn.core.words import show
from hierlearn.pipeline.files.errors import Path
from hierlearn.pipeline.plan.validation_context import Draft
from hierlearn.pipeline.run.job import SETTINGS

TEXTS = ("title", "xlabel", "ylabel", "label")
WORD = r"[A-Za-z0-9,.=+\-*/|()<>:]"
SCRIPT = rf"(?:[A-Za-z0-9*]|\\star(?![A-Za-z])|\{{{WORD}+\}})"
# To ask matplotlib takes half a second, which formulas of these forms need not.
NAMED = "alpha|beta|gamma|eta|kappa|sigma|Sigma|Vert|langle|rangle"
SYMBOL = rf"(?:{WORD}|\\(?:{NAMED})(?![A-Za-z])|\\\||\\hat [A-Za-z]|\\sqrt\{{{WORD}+\}})"
SCRIPTS = rf"(?:_{SCRIPT}(?:\^{SCRIPT})?|\^{SCRIPT}(?:_{SCRIPT})?)?"
PLAIN = re.compile(rf" *(?:{SYMBOL}{SCRIPTS}(?: |\\,|\\(?:gg|leq)(?![A-Za-z]))*)+")


def check_texts(draft: Draft) -> None:
    """Texts of the figure and labels of learners with a formula that cannot be drawn."""
    labels = {name: {"label": entry.label} for name, entry in draft.study.learners.items()}
    for at, text in (*_texts(draft.body.get("figure"), ("figure",)), *_texts(labels, ("learners",))):
        if wrong := undrawable(text):
            draft.add(at, show(text), f"a text with formulas that can be drawn ({wrong})")


def undrawable(text: str) -> str | None:
    """What is wrong with the formulas of a text; None if they can be drawn."""
    for line in text.split("\n"):
        parts = re.split(r"(?<!\\)\$", line)
        # With an odd number of dollars, none of them begins a formula.
        if len(parts) % 2 == 0 or all(PLAIN.fullmatch(formula) for formula in parts[1::2]):
            continue
        parse = _parser()
        try:
            parse(line)
        except ValueError as error:
            return str(error).strip().splitlines()[-1]
    return None


@functools.cache
def _parser() -> Callable[[str], Any]:
    """matplotlib's, loaded as jobs load it: a setting of a user's that it refuses is no fault of a formula."""
    before = {name: os.environ.get(name) for name in SETTINGS}
    os.environ.update(SETTINGS)
    try:
        return importlib.import_module("matplotlib.mathtext").MathTextParser("path").parse
    finally:
        for name, value in before.items():
            del os.environ[name]
            if value is not None:
                os.environ[name] = value


def _texts(content: Any, at: Path) -> Iterator[tuple[Path, str]]:
    parts = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, part in parts:
        if key in TEXTS and isinstance(part, str):
            yield (*at, key), part
        else:
            yield from _texts(part, (*at, key))
