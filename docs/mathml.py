"""Formulas of the pages as MathML, which browsers set without a script or a font from elsewhere."""

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.errors import ExtensionError


def mathml(tex: str, display: str) -> str:
    """The formula as MathML. Raises ExtensionError, which ends the build, for what the converter does not know."""
    shown = convert(tex.replace("<", r"\lt ").replace(">", r"\gt "), display=display)
    if "\\" in shown or re.search(r"<mi>&</mi>", shown):
        raise ExtensionError(f"{tex}: found a command that is not set; expected one that latex2mathml knows")
    # Bars of a norm are as high as a letter.
    return re.sub(r"<mo>(&#x0?2(?:016|225);)</mo>", r'<mo stretchy="false">\1</mo>', shown)


def inline(translator, node: nodes.math) -> None:
    """A formula in a line."""
    translator.body.append(mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def block(translator, node: nodes.math_block) -> None:
    """A formula of its own."""
    translator.body.append(f'<div class="math">{mathml(node.astext(), "block")}</div>')
    raise nodes.SkipNode


def setup(app) -> None:
    """Names the renderer for conf.py."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
