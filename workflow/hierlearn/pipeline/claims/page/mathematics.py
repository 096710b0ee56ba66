"""TeX between dollars as MathML, which browsers set without a script."""

import functools
import re

from latex2mathml import exceptions
from latex2mathml.converter import convert
from markupsafe import Markup, escape

# Browsers break no line within a formula: a long one is set as several, each from a relation on.
LONG = 24
RELATION = re.compile(r"\\(?:leq?|geq?|neq?|approx|asymp|sim|to|ll|gg|propto|in|subset)(?![A-Za-z])|[=<>]")
# A sign that ends a sentence, or a part of it, stays on the line of the formula before it.
CLOSED = re.compile(r"(<math>(?:(?!<math>).)*</math>)([,.;:)]+)")
TOKEN = re.compile(r"\\(?:[A-Za-z]+|.)|.", re.DOTALL)
# What the converter raises on a formula that is none: its own errors, which have no common class, and Python's.
FAULTS = (
    *(one for one in vars(exceptions).values() if isinstance(one, type)),
    *(IndexError, KeyError, RuntimeError, TypeError, ValueError),
)


def html(text: str) -> Markup:
    """The text, escaped, with what stands between dollars set as mathematics; what is not understood stays as it is."""
    parts = text.split("$")
    if len(parts) % 2 == 0:
        return escape(text)
    shown = "".join(_formula(part) if i % 2 else escape(part) for i, part in enumerate(parts))
    return Markup(CLOSED.sub(r'<span class="close">\1\2</span>', shown))


def unset(text: str) -> list[str]:
    """The formulas of a text that stay as they are written; all of it where a dollar stands alone."""
    parts = text.split("$")
    if len(parts) % 2 == 0:
        return [text]
    return [f"${tex}$" for tex in parts[1::2] if _formula(tex).startswith("<code")]


@functools.cache
def _formula(tex: str) -> Markup:
    try:
        return Markup(" ").join(_set(part) for part in _parts(tex))
    except FAULTS:
        return Markup('<code class="tex">{}</code>').format(f"${tex}$")


def _parts(tex: str) -> list[str]:
    """A formula cut before relations outside all brackets; whole where it is short. Raises KeyError on loose braces."""
    parts, depth, start, place = [], 0, 0, 0
    for token in TOKEN.findall(tex):
        depth += {"{": 1, "}": -1, r"\left": 1, r"\right": -1}.get(token, 0)
        if depth < 0:
            raise KeyError(token)
        if not depth and RELATION.fullmatch(token) and len(tex) > LONG and tex[start:place].strip():
            parts.append(tex[start:place])
            start = place
        place += len(token)
    if depth:
        raise KeyError(tex)
    return [*parts, tex[start:]]


def _set(tex: str) -> Markup:
    """One formula as MathML. Raises KeyError where a command is unknown, and FAULTS of the converter."""
    # The converter escapes no text: markup within it, which comes out as a command, is refused below, and so are links.
    shown = convert(tex.replace("<", r"\lt ").replace(">", r"\gt "))
    if "\\" in shown or "href" in shown:
        raise KeyError(tex)
    shown = shown.replace(' xmlns="http://www.w3.org/1998/Math/MathML" display="inline"', "")
    # A slash stands close, as between numbers.
    shown = shown.replace("<mo>&#x0002F;</mo>", '<mo lspace="0" rspace="0">/</mo>')
    # Signs as themselves, but for those that are markup.
    return Markup(re.sub(r"&#x0*([0-9A-F]{2,5});", lambda found: _sign(found.group()), shown))


def _sign(entity: str) -> str:
    sign = chr(int(entity[3:-1], 16))
    return entity if sign in "<>&\"'" else sign
