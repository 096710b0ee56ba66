"""TeX between dollars as HTML that every browser shows without a script: letters, signs, indices, roots."""

import re
from html.entities import html5

from markupsafe import Markup, escape

THIN = "\u202f"
# Where TeX and HTML, which has most of these names, do not mean the same, and names that HTML lacks.
RELATIONS = {"leq": "≤", "geq": "≥", "neq": "≠", "asymp": "≍", "to": "→", "ll": "≪", "gg": "≫", "propto": "∝"}
RELATIONS |= {"le": "≤", "ge": "≥", "ne": "≠", "approx": "≈", "sim": "∼", "in": "∈"}
WORDS = ("log", "exp", "min", "max", "sup", "inf", "sin", "cos", "tr", "det", "rank", "dim")
SIGNS = {"star": "⋆", "infty": "∞", "cdot": "·", "varepsilon": "ε", "|": "‖", "{": "{", "}": "}", "!": "", " ": " "}
SIGNS |= {"left": "", "right": "", "dots": "…", "ldots": "…", ",": THIN, ";": THIN, ":": THIN, "quad": " "}
ACCENTS = {"hat": "\u0302", "widehat": "\u0302", "tilde": "\u0303", "widetilde": "\u0303", "bar": "\u0304"}
UPRIGHT = ("mathrm", "text", "operatorname", "mathbb", "mathcal", "mathbf")
# Before these a minus or a plus is a sign, with no space around it.
OPENING = ("", "(", "[", "⟨", "⌈", "⌊", "‖", "|", ",", "/", "±")
TOKEN = re.compile(r"\\(?:[A-Za-z]+|.)|\s+|.")


def html(text: str) -> Markup:
    """The text, escaped, with what stands between dollars set as mathematics; what is not understood stays as it is."""
    parts = text.split("$")
    if len(parts) % 2 == 0:
        return escape(text)
    return Markup("").join(_formula(part) if i % 2 else escape(part) for i, part in enumerate(parts))


def _formula(tex: str) -> Markup:
    try:
        tokens = TOKEN.findall(tex)[::-1]
        shown = _until(tokens, "")
    except (IndexError, KeyError):
        return Markup('<code class="tex">{}</code>').format(f"${tex}$")
    return Markup('<span class="tex">{}</span>').format(shown)


def _until(tokens: list[str], end: str) -> Markup:
    """What is read up to a token, which is taken too, or to the end of all. tokens: the next one last."""
    shown, last = Markup(""), ""
    while tokens or end:
        token = tokens.pop()
        if token == end:
            break
        relation = RELATIONS.get(token[1:]) if token[0] == "\\" else token if token in "=<>" else None
        if relation:
            shown, last = shown + THIN + relation + THIN, ""
        elif token in "+-":
            sign = token.replace("-", "−")
            shown, last = shown + (sign if last in OPENING else THIN + sign + THIN), ""
        elif not token.isspace():
            one = _one(token, tokens)
            # A name such as log stands apart from letters and digits beside it.
            word, index = token[1:] in WORDS, token in "^_"
            apart = (word and last.isalnum()) or (last in WORDS and not index and one.striptags()[:1].isalnum())
            shown += Markup(THIN if apart else "") + one
            last = token[1:] if word else last if index and last in WORDS else one.striptags()[-1:]
    return shown


def _one(token: str, tokens: list[str]) -> Markup:
    """A token with the arguments that it takes. Raises KeyError on an unknown command, IndexError at the end."""
    if token == "{":
        return _until(tokens, "}")
    if token == "}":
        raise KeyError(token)
    if token in "^_":
        return Markup("<sup>{}</sup>" if token == "^" else "<sub>{}</sub>").format(_argument(tokens))
    if token[0] != "\\":
        return Markup("<i>{}</i>").format(token) if token.isalpha() else escape("′" if token == "'" else token)
    name = token[1:]
    if name in ACCENTS:
        return Markup("<i>{}</i>").format(_argument(tokens).striptags() + ACCENTS[name])
    if name in UPRIGHT:
        return escape(_argument(tokens).striptags())
    if name == "sqrt":
        return Markup('√<span class="root">{}</span>').format(_argument(tokens))
    if name == "binom":
        return Markup("C({},{}{})").format(_argument(tokens), THIN, _argument(tokens))
    if name == "frac":
        above, below = (_argument(tokens) for _ in range(2))
        return Markup("{}/{}").format(*(_in_brackets(part) for part in (above, below)))
    if name in WORDS:
        return escape(name)
    sign = SIGNS[name] if name in SIGNS else html5[f"{name};"]
    return Markup("<i>{}</i>" if sign.isalpha() and sign != "ℓ" else "{}").format(sign)


def _argument(tokens: list[str]) -> Markup:
    while tokens[-1].isspace():
        tokens.pop()
    return _one(tokens.pop(), tokens)


def _in_brackets(part: Markup) -> Markup:
    return part if len(part.striptags()) == 1 else Markup("({})").format(part)
