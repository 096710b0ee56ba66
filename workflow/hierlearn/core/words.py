"""Values and names as a message shows them."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any
from unicodedata import category

# Types of JSON Schema that have other names in YAML.
KINDS = {"array": "a list", "object": "object: a mapping of keys to values"}

BETWEEN = "\n\u200c\u200d"


def show(value: Any) -> str:
    """Return a value as a message shows it, cut to a readable length."""
    text = repr(value).replace("\n", " ")
    return text if len(text) <= 80 else text[:77] + "..."


def reason(error: Exception) -> str:
    """Say in words why a file cannot be read."""
    if isinstance(error, UnicodeDecodeError):
        line = error.object.count(b"\n", 0, error.start) + 1
        return f"line {line} is not UTF-8"
    text = error.strerror if isinstance(error, OSError) else str(error)
    return text.lower() if text else type(error).__name__


def unshowable(text: str) -> str:
    """Return the first character of a text that no page and no figure shows as a letter or a space; "" for none.

    A line break counts as a space. What joins letters of some languages, or keeps them apart, is part of a word.
    """
    if text.isprintable():
        return ""
    return next((one for one in text if not one.isprintable() and one not in BETWEEN and category(one) != "Zs"), "")


def meaning(against: Mapping[str, Any]) -> str:
    """Return what a JSON Schema allows, in words: its description, or the rule itself."""
    if "description" in against:
        return against["description"].rstrip(".")
    if "const" in against:
        return str(against["const"])
    if "enum" in against:
        return f"one of {', '.join(map(str, against['enum']))}"
    if "not" in against:
        return f"anything but {meaning(against['not'])}"
    forms = against.get("oneOf") or against.get("anyOf") or ()
    kinds = against.get("type", ())
    kinds = [kinds] if isinstance(kinds, str) else kinds
    return " or ".join(map(meaning, forms)) or " or ".join(KINDS.get(kind, kind) for kind in kinds) or "another value"


def similar(word: Any, known: Iterable[Any], cutoff: float = 0.5) -> list[str]:
    """Return the most similar one of some words, none if none is: the same letters in another order come first.

    A key of YAML may be a number, which is like no word.
    """
    words = [name for name in known if isinstance(name, str)]
    forms = (word, word.lower()) if isinstance(word, str) else ()
    close = next(filter(None, (get_close_matches(form, words, n=3, cutoff=cutoff) for form in forms)), [])
    return sorted(close, key=lambda name: sorted(name) != sorted(word))[:1]


def nearest(word: Any, known: Iterable[Any]) -> str:
    """Return the allowed names, the most similar one first."""
    known = sorted(str(name) for name in known)
    if not known:
        return "nothing here"
    close = similar(str(word), known)
    listed = f"one of {', '.join(known)}"
    return f"{listed} (nearest: {close[0]})" if close else listed
