"""The page of one study: its answer first, tables of n* and of risks, and claims where it has some."""

import re

import numpy as np
import pytest
import xarray
from browser import chromium, executable
from bs4 import BeautifulSoup
from test_page import row
from test_rules import rules

from hierlearn.core.protocols import STATUS
from hierlearn.pipeline.claims.ledger import csv_text, to_json
from hierlearn.pipeline.claims.page import answer, study
from hierlearn.pipeline.files import papers

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 300"><path d="M0 0L400 300" stroke="blue"/></svg>'
SIZES, SEEDS = [4, 8, 16], 3
GRID = np.array([10, 20, 40, 80, 160, 320, 640])
SAID = {
    "labels": {"fast": "Fast $x^2$", "slow": "Slow", "never": "Never"},
    "axes": ["dimension", "degree"],
    "risks": {"fast": [0.5, 0.1], "slow": [0.5], "never": [0.5]},
    "first": {"risk": 0.5, "place": {"degree": 4}},
}


def cube(sizes=SIZES, seeds=SEEDS, degrees=(2, 4), grid=GRID):
    """Scores of a learner that needs 5 d samples, of one that needs d squared, and of one that never gets there; the
    second does not run at the largest dimension."""
    names = list(SAID["labels"])
    shape = len(names), len(sizes), len(degrees), len(grid), seeds
    risk = np.full(shape, 0.9)
    status = np.full(shape, STATUS["ok"], dtype=np.int8)
    noise = np.linspace(0.9, 1.1, seeds)
    for k, d in enumerate(sizes):
        for i, needed in enumerate((5 * d, d**2)):
            # It is 0.5 where n is what the learner needs, and goes on falling.
            risk[i, k] = 0.5 * (needed * noise)[None] / grid[:, None]
    risk[1, -1], status[1, -1] = np.nan, STATUS["not_planned"]
    axes = ("learner", "dimension", "degree", "samples", "seed")
    values = {"test_risk": (axes, risk), "status": (axes, status)}
    places = {"learner": names, "dimension": sizes, "degree": list(degrees), "samples": grid, "seed": range(seeds)}
    return xarray.Dataset(values, places)


def test_the_number_of_samples_is_the_median_over_seeds_with_its_range_and_a_bound_where_it_is_not_reached():
    (first, *_), _ = answer.tables(cube(), SAID)
    fast, slow, never = first.lines
    assert first.sizes == SIZES and first.risk == 0.5 and first.place == "degree 4"
    assert [one.value for one in fast.cells] == ["20", "40", "80"]
    assert fast.cells[1].interval == "36 to 44"
    assert [one.value for one in slow.cells] == ["16", "64", ""] and slow.cells[2].note == answer.NOT_RUN
    assert [one.value for one in never.cells] == ["> 640"] * 3
    assert [line.exponent.value for line in first.lines] == ["1.00", "", ""]
    assert fast.exponent.interval == "1.00 to 1.00"


def test_the_smallest_number_of_each_size_is_marked():
    (first, *_), _ = answer.tables(cube(), SAID)
    ranks = [[line.cells[k].rank for line in first.lines] for k in range(3)]
    assert [column.index(least) for column, least in zip(ranks, first.least, strict=True)] == [1, 0, 0]


def test_the_sentence_names_every_learner_in_the_order_of_its_need():
    (first, *_), _ = answer.tables(cube(), SAID)
    assert first.sentence == (
        "To reach a test risk of 0.5 at $d = 8$, degree 4: Fast $x^2$ needs 40, Slow needs 64 and Never needs more "
        "than 640 labelled samples."
    )


def test_a_risk_that_a_learner_does_not_look_for_is_not_told_of_it():
    needed, _ = answer.tables(cube(), SAID)
    assert [(table.risk, table.place) for table in needed] == [
        (0.5, "degree 4"),
        (0.5, "degree 2"),
        (0.1, "degree 4"),
        (0.1, "degree 2"),
    ]
    assert [line.label for line in needed[2].lines] == ["Fast $x^2$"]


def test_from_six_seeds_on_the_interval_is_that_of_the_median():
    (first, *_), _ = answer.tables(cube(seeds=9), SAID)
    # Of nine seeds from 36 to 44 the second and the eighth.
    assert first.lines[0].cells[1].interval == "37 to 43"


def test_seeds_that_did_not_reach_the_risk_are_counted_and_open_the_interval():
    (first, *_), _ = answer.tables(cube(sizes=[4, 8, 125]), SAID)
    assert first.lines[0].cells[2].value == "625"
    assert first.lines[0].cells[2].interval == "562 to > 640"
    assert first.lines[0].cells[2].note == "1 of 3 seeds did not reach it"


def test_a_training_that_failed_leaves_no_number():
    scores = cube()
    scores.test_risk.loc[{"learner": "fast", "dimension": 8}] = np.nan
    scores.status.loc[{"learner": "fast", "dimension": 8}] = STATUS["diverged"]
    (first, *_), (risks, *_) = answer.tables(scores, SAID)
    assert [one.note for one in first.lines[0].cells] == ["", answer.FAILURE, ""]
    assert risks.lines[0].cells[1].note == answer.FAILURE


def test_what_a_learner_sweeps_has_a_line_of_each_value_and_what_others_sweep_none():
    one, other = cube(), cube()
    other["test_risk"] = other.test_risk.where(other.learner != "fast", other.test_risk / 2)
    (first, *_), _ = answer.tables(xarray.concat([one, other], xarray.Variable("width", [4, 8])), SAID)
    assert [line.label for line in first.lines] == ["Fast $x^2$, width 4", "Fast $x^2$, width 8", "Slow", "Never"]
    assert [line.cells[1].value for line in first.lines[:2]] == ["40", "20"]


def test_a_learner_that_is_trained_at_one_size_alone_has_a_risk_and_no_number_of_samples():
    scores = cube()
    single = (scores.learner != "fast") | (scores.samples == GRID[-1])
    scores["status"] = scores.status.where(single, STATUS["not_planned"]).astype(np.int8)
    scores["test_risk"] = scores.test_risk.where(single)
    (first, *_), (risks, *_) = answer.tables(scores, SAID)
    assert [line.label for line in first.lines] == ["Slow", "Never"]
    assert risks.lines[0].label == "Fast $x^2$" and risks.lines[0].cells[1].value


def test_without_a_risk_to_reach_there_are_risks_alone_and_without_learners_nothing():
    needed, reached = answer.tables(cube(), SAID | {"risks": {}})
    assert needed == [] and reached[0].place == "degree 4"
    cells = reached[0].lines[0].cells
    assert (cells[1].value, cells[1].interval, cells[1].note) == ("0.031", "0.028 to 0.034", "n = 640")
    assert answer.tables(None, SAID) == ([], [])


def test_with_one_dimension_the_sizes_are_those_of_another_axis():
    (first, *_), _ = answer.tables(cube(sizes=[8], degrees=(1, 2, 3)), SAID)
    assert first.letter == "degree" and first.sizes == [1, 2, 3] and first.place == ""


@pytest.mark.parametrize(
    ("number", "text"),
    [(2.345, "2.3"), (59.3, "59"), (362.4, "362"), (1234.5, "1,230"), (9.96, "10")],
)
def test_numbers_of_samples_have_three_digits(number, text):
    assert answer.count(number) == text


@pytest.mark.parametrize(("number", "text"), [(0.4567, "0.46"), (4.5e-6, "4.5·10⁻⁶"), (0.0, "0"), (1.0, "1")])
def test_small_risks_have_a_power_of_ten(number, text):
    assert answer.decimal(number) == text


@pytest.fixture
def made(tmp_path):
    """A function: rows of claims and changes of what the page is told -> the page, in a file with its figure."""

    def write(rows=(), scores=None, **changes):
        (tmp_path / "figure.svg").write_text(SVG)
        told = {
            "title": "Do learners need $d^2$ samples?",
            "place": "Theorem 1",
            "summary": "What they need.",
            "name": "one",
        }
        said = {"study": SAID | told, "preset": "quick", "note": "", "folder": "results/quick", "reading": ""}
        said |= {"citation": papers.said()["chen2020"], "earlier": {}, "compare": "", "stored": {}}
        found = [to_json(one) | {"detail": {}} for one in rows]
        text = study.html(found, scores, str(tmp_path / "figure.svg"), said | changes, {"versions": "none"})
        (tmp_path / "index.html").write_text(text)
        return tmp_path / "index.html"

    return write


def words(file):
    """The text that a reader sees."""
    page = BeautifulSoup(file.read_text(), "html.parser")
    for part in page(["script", "style"]):
        part.decompose()
    return re.sub(r"\s+", " ", page.get_text(" "))


def test_the_figure_stands_before_the_tables_and_these_before_claims_and_methods(made):
    page = BeautifulSoup(made([row(claim="C1")], cube()).read_text(), "html.parser")
    found = [tag.get("id") or tag.name for tag in page.main.find_all(["h1", "figure", "section", "article"])]
    assert found == ["asked", "question", "figure-one", "needed", "reached", "claims", "C1", "methods"]
    assert page.img["src"] == "figure.svg"
    links = [tag["href"] for tag in page.nav.find_all("a")]
    assert all(page.find(id=link.removeprefix("#")) for link in links)


@pytest.mark.parametrize(
    "rows", [[], [row(kind="description", rule="descriptive", verdict="", regime="", control_verdict="")]]
)
def test_a_study_without_judged_claims_has_no_empty_ledger(made, rows):
    file = made(rows, cube())
    page, text = BeautifulSoup(file.read_text(), "html.parser"), words(file)
    assert not re.search(r"\b0 rows|false results|Filter|no result yet|primary rows|surviv", text)
    assert page.find("table", class_="answer") and not page.find(class_="filters")
    assert (page.find(id="claims") is not None) == bool(rows)
    assert all(tag.get_text(strip=True) for tag in page.find_all(["h1", "h2", "h3", "caption", "th"]))


def test_a_study_that_trains_nothing_has_its_figure_and_its_claims_alone(made):
    page = BeautifulSoup(made([row(claim="C1", data="one/theory.probe.nc")]).read_text(), "html.parser")
    assert not page.find("table", class_="answer") and page.find("article", id="C1") and page.figure
    assert 'open_dataset("results/quick/one/theory.probe.nc")' in page.find(id="methods").pre.get_text()


def test_a_question_has_no_paper_and_no_numbers_twice(made):
    described = row(kind="description", rule="descriptive", verdict="", regime="", control_verdict="")
    text = words(made([described], cube(), citation={}))
    assert "Chen" not in text and "without a result" not in text and "Theorem 1" not in text


def test_another_run_is_compared_with(made, tmp_path):
    other = tmp_path / "claims.csv"
    other.write_text(csv_text([row(verdict="inconclusive")]))
    assert "1 of 1 shared rows has another result" in words(made([row()], cube(), compare=str(other)))
    other.write_text(csv_text([row()]))
    assert "no shared row has another result" in words(made([row()], cube(), compare=str(other)))


def test_a_page_is_told_what_it_needs_of_its_study_and_of_no_other():
    plan = rules()
    parameters, _ = plan.inputs.job("page", "small")
    told = parameters["study"]
    assert told["labels"] == {"kernel": "Kernel", "linear": "Linear"} and told["axes"] == ["dimension", "degree"]
    assert parameters["citation"] == papers.said()["chen2020"] and "probing" not in str(parameters)


@pytest.mark.skipif(executable() is None, reason="no Chromium (Debian's package chromium)")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1200])
def test_nothing_of_the_page_is_wider_than_the_window_and_a_figure_opens_large(made, width, scheme):
    file = made([row(claim="C1"), row(claim="C1-b", rank="secondary")], cube())
    with chromium() as tab:
        tab.show(width, scheme=scheme)
        tab.open(file.as_uri() + "#C1-b")
        assert tab("document.documentElement.scrollWidth") == width
        assert tab("document.querySelector('#C1-b').getClientRects().length > 0")
        assert tab("getComputedStyle(document.querySelector('thead')).display == 'none'") == (width == 375)
        tab("document.querySelector('a.zoom').click()")
        assert tab("document.querySelector('#zoom').open")
        assert tab.complaints == []
