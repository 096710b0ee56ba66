"""TeX between dollars reads as mathematics on the page, and stays as it is where it is not understood."""

import csv

import pytest
import yaml

from hierlearn.claims.page.mathematics import html
from hierlearn.core.registry import PACKAGE

CONFIG = PACKAGE.parents[1] / "config"


@pytest.mark.parametrize(
    ("tex", "shown"),
    [
        ("$n$", "n"),
        ("$-1/2$", "−1/2"),
        ("$d = 20$", "d = 20"),
        ("$q-k+1$", "q − k + 1"),
        (r"$9\lambda\|W_\star\|^4$", "9λ‖W⋆‖4"),
        (r"$\hat W$", "W\u0302"),
        (r"$B_w^2/\sqrt{dn}$", "Bw2/√dn"),
        (r"$\frac{1}{m+1}$", "1/(m + 1)"),
        (r"$\lambda_{min} \le \min_i \Sigma_{ii}$", "λmin ≤ mini Σii"),
        (r"$\binom{d}{e}^{1/e}$", "C(d, e)1/e"),
        (r"$\log N(d,4)$", "log N(d,4)"),
        (r"$\mathrm{relu}$ of $a<b$", "relu of a < b"),
    ],
)
def test_a_formula_reads_as_it_is_spoken(tex, shown):
    # A space between letters of one line, thin or not, is a space.
    assert str(html(tex).striptags()).replace("\u202f", " ").replace("  ", " ").strip() == shown


def test_indices_are_raised_and_lowered_and_letters_slanted():
    assert "<i>m</i><sup>−1/4</sup>" in html("$m^{-1/4}$")
    assert "<i>W</i><sub>0</sub>" in html("$W_0$")


@pytest.mark.parametrize("tex", [r"$\unheard{x}$", "$a^$", "${a$", "$a}$"])
def test_what_is_not_understood_stays_as_it_is(tex):
    assert html(tex).striptags() == tex


def test_nothing_becomes_markup():
    assert html("a < b & $<$ <script>").count("<") == html("a $=$").count("<")
    assert "<script>" not in html(r"$\mathrm{<script>}$") and "&lt;script&gt;" in html("<script>")
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
