"""Rows of a run as LaTeX and BibTeX, and one panel of a figure."""

import math
from argparse import Namespace

import pytest

from hierlearn.pipeline.claims import latex
from hierlearn.pipeline.claims.ledger import Row
from hierlearn.pipeline.command import panel
from hierlearn.pipeline.figures._style import LOWEST, blank, lay_out, name_claims, narrow
from hierlearn.pipeline.files import papers

NAN = math.nan
TEXTS = (
    *("side", "rival", "control_verdict", "sizes", "reason", "draw", "revision", "digest"),
    *("skipped", "outside", "remark", "before"),
)


def row(**changed):
    texts = dict.fromkeys(TEXTS, "")
    numbers = dict.fromkeys(("control_value", "control_low", "control_high", "flops"), NAN)
    said = {
        "claim": "C1-p4",
        "paper": "chen2020",
        "place": "Theorem 2",
        "kind": "rate",
        "rank": "primary",
        "regime": "limit",
        "statement": "Samples of $n^*$ grow by 50 % & more in d_max.",
        "rule": "upper",
        "value": 0.79,
        "low": 0.77,
        "high": 0.82,
        "predicted": 0.667,
        "slack": 0.166,
        "verdict": "consistent",
        "preset": "quick",
        "seeds": 5,
        "study": "mine",
        "figure": "mine/figure.svg",
        "data": "mine/scores.nc",
    }
    return Row(**{**texts, **numbers, **said, **changed})


def test_a_row_is_a_line_of_a_table():
    *_, line, bottom, end = latex.table([row()]).splitlines()
    cells = line.removesuffix(r" \\").split(" & ")
    assert cells == [
        "C1-p4",
        r"Samples of $n^*$ grow by 50 \% \& more in d\_max.",
        "$0.79$ [0.77, 0.82]",
        r"$\le 0.667 + 0.166$",
        "passes",
    ]
    assert (bottom, end) == (r"\bottomrule", r"\end{tabular}")


@pytest.mark.parametrize(
    ("changed", "limit"),
    [
        ({"rule": "lower"}, r"$\ge 0.667 - 0.166$"),
        ({"rule": "ordering", "side": "below", "slack": 0.0}, "$< 0.667$"),
        ({"predicted": NAN}, ""),
    ],
)
def test_a_limit_says_its_side_and_its_slack(changed, limit):
    assert latex.table([row(**changed)]).splitlines()[-3].split(" & ")[3] == limit


@pytest.mark.parametrize(
    ("changed", "label", "cells"),
    [
        ({"value": 0.7943, "low": -0.768}, "slope", ("$0.794$ [$-0.768$, 0.82] slope", r"$\le 0.667 + 0.166$")),
        (
            {"value": 9.6445, "low": 9.36, "high": 9.929, "predicted": 0.693, "slack": 0.0953},
            "log ratio",
            ("$15{,}400$ times [11,600, 20,500]", r"$\le 2 \times 1.1$"),
        ),
        (
            {"value": 1.5e-5, "low": 1e-5, "high": 2e-5, "rule": "published", "slack": 1.5},
            "ratio",
            (
                r"$1.5 \cdot 10^{-5}$ [$10^{-5}$, $2 \cdot 10^{-5}$] ratio",
                r"$\approx 0.667 \times\!/\!\div 1.5$",
            ),
        ),
        ({"value": NAN, "low": NAN, "high": NAN}, "slope", ("", r"$\le 0.667 + 0.166$")),
    ],
)
def test_numbers_have_three_digits_and_their_units(changed, label, cells):
    line = latex.line(row(**changed), label, "holds")
    assert tuple(line.removesuffix(r" \\").split(" & ")[2:]) == (*cells, "holds")


def test_a_paper_that_appeared_nowhere_has_no_proceedings():
    assert papers.bibtex({"allenzhu2020"}).startswith("@misc{allenzhu2020,\n  title = {{Backward")
    assert papers.said({papers.YOURS})[papers.YOURS]["bibtex"] == ""


def test_papers_are_cited_in_the_order_of_the_page():
    text = papers.bibtex({"bai2020", "chen2020"})
    assert [line for line in text.splitlines() if line.startswith("@")] == [
        "@inproceedings{chen2020,",
        "@inproceedings{bai2020,",
    ]
    assert "  author = {Bai and Lee}," in text and "  url = {https://arxiv.org/abs/1910.01619}," in text


@pytest.mark.parametrize(("text", "found"), [("single", 89.0), ("double", 183.0), ("120", 120.0)])
def test_a_width_is_a_word_or_millimetres(text, found):
    assert panel.width(text) == found


@pytest.mark.parametrize("text", ["wide", "5", "nan", ""])
def test_other_widths_are_refused(text):
    with pytest.raises(ValueError, match=r"^--width: found .*; expected single, double or 20 to 1000 millimetres$"):
        panel.width(text)


def test_a_panel_is_written_as_pdf_svg_or_png_alone(tmp_path):
    asked = Namespace(study="mine", panel="b", out=str(tmp_path / "b.gif"))
    with pytest.raises(ValueError, match=r"^--out: found '.*b.gif'; expected a name that ends in pdf, svg, png$"):
        panel.draw(asked)
    assert list(tmp_path.iterdir()) == []


def test_a_narrow_figure_has_no_letter_no_claims_and_its_legend():
    figure = blank(11, 4)
    place = figure.subplots()
    lines = place.plot([1, 2], [1, 2], label="a learner with a long name")
    place.set_title("b  Samples")
    name_claims(place, ["C1-p4"])
    figure.legend(handles=lines * 6, loc="outside lower center", ncols=6)
    lay_out(narrow(figure, 3.5))
    assert figure.get_figwidth() == 3.5 and figure.get_figheight() >= LOWEST * 3.5
    assert place.get_title("left") == "Samples"
    assert not [text for text in place.texts if text.get_visible()]
    (legend,) = figure.legends
    assert legend.get_window_extent().width <= figure.bbox.width
