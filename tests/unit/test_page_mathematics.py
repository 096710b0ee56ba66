"""TeX between dollars reads as mathematics on the page, and stays as it is where it is not understood."""

import csv
import re
from html import unescape

import pytest
import yaml
from markupsafe import escape

from hierlearn.core.registry import PACKAGE
from hierlearn.pipeline.claims.page.mathematics import html

CONFIG = PACKAGE.parents[1] / "config"


@pytest.mark.parametrize(
    ("tex", "shown"),
    [
        ("$n$", "n"),
        ("$-1/2$", "−1/2"),
        ("$d = 20$", "d=20"),
        ("$q-k+1$", "q−k+1"),
        (r"$9\lambda\|W_\star\|^4$", "9λ‖W⋆‖4"),
        (r"$B_w^2/\sqrt{dn}$", "Bw2/dn"),
        (r"$\lambda_{min} \le \min_i \Sigma_{ii}$", "λmin ≤miniΣii"),
        (r"$\mathrm{relu}$ of $a<b$", "relu of a<b"),
    ],
)
def test_a_formula_has_the_signs_of_its_tex(tex, shown):
    assert unescape(re.sub("<[^>]*>", "", html(tex))) == shown


def test_indices_are_raised_and_lowered_and_fractions_and_roots_are_set():
    assert "<msup><mi>m</mi>" in html("$m^{-1/4}$")
    assert "<msub><mi>W</mi><mn>0</mn></msub>" in html("$W_0$")
    assert "<mfrac>" in html(r"$\frac{1}{m+1}$") and "<msqrt>" in html(r"$\sqrt{n}$")


def test_a_long_formula_may_break_before_a_relation_outside_brackets_and_a_short_one_nowhere():
    long = html(r"$L(\hat W)+\lambda\|\hat W\|^4 \le L(W_{a=b})+9\lambda\|W_\star\|^4$")
    assert long.count("<math>") == 2 and re.search(r"</math> <math><mrow><mo>≤</mo>", long)
    assert html("$a=b$").count("<math>") == 1


def test_a_full_stop_stays_beside_its_formula():
    assert re.fullmatch(r'at <span class="close"><math>.*</math>,</span> and <math>.*</math>', html("at $d$, and $n$"))


@pytest.mark.parametrize("tex", [r"$\unheard{x}$", "$a^$", "${a$", "$a}$", r"$n^{2}\bigl$", r"$\text$"])
def test_what_is_not_understood_stays_as_it_is(tex):
    assert html(tex) == f'<code class="tex">{tex}</code>'


def test_nothing_becomes_markup():
    assert "a &lt; b &amp; <math>" in html("a < b & $<$ <script>")
    assert "<script" not in html(r"$\mathrm{<script>}$<script>")
    for tex in (r"\text{<b>}", r"\href{javascript:alert()}{x}"):
        assert html(f"$x<b+{tex}$") == f'<code class="tex">{escape(f"$x<b+{tex}$")}</code>'
    assert html("costs $5") == "costs $5"


def said(content):
    """Every text of a study."""
    if isinstance(content, dict):
        return [text for value in content.values() for text in said(value)]
    if isinstance(content, list):
        return [text for value in content for text in said(value)]
    return [content] if isinstance(content, str) else []


def test_every_formula_of_the_studies_and_of_the_list_of_primary_rows_is_understood():
    texts = [
        text
        for file in (CONFIG / "studies").glob("*.yaml")
        for text in said(yaml.safe_load(file.read_text())["claims"])
    ]
    with open(CONFIG / "primary_rows.csv", newline="", encoding="utf-8") as file:
        texts += [text for row in csv.DictReader(file) for text in row.values()]
    assert any("$" in text for text in texts)
    assert [text for text in texts if '<code class="tex">' in html(text)] == []
