"""Values and names as a message shows them."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


def show(value: Any) -> str:
    """A value as a message shows it, cut to a readable length."""
    text = repr(value).replace("\n", " ")
    return text if len(text) <= 80 else text[:77] + "..."


def similar(word: str, known: Iterable[str], cutoff: float = 0.5) -> list[str]:
    """The most similar one of some words, none if none is: the same letters in another order before all others."""
    close = get_close_matches(word, known, n=3, cutoff=cutoff)
    return sorted(close, key=lambda name: sorted(name) != sorted(word))[:1]


def nearest(word: Any, known: Iterable[Any]) -> str:
    """The allowed names, the most similar one first."""
    known = sorted(str(name) for name in known)
    if not known:
        return "nothing here"
    close = similar(str(word), known)
    listed = f"one of {', '.join(known)}"
    return f"{listed} (nearest: {close[0]})" if close else listed
