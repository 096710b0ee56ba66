"""What a study says of published numbers is checked against the tables that lie beside it."""

import json

import pytest
import yaml
from small_study import at_quick_alone, panel

from hierlearn.pipeline.plan import checking, jobs

NUMBERS = """
paper: chen2020
source: Someone
tables:
  figure-7:
    title: Error
    place: Figure 7
    obtained: read
    units: "1"
    coordinates: {learner: who, dimension: d, samples: n}
    rows:
      - {learner: net, dimension: 3, samples: 4, value: 0.5}
      - {learner: net, dimension: 4, samples: 4, value: 0.7}
      - {learner: net, dimension: 4, samples: 16, low: 0.1, high: 0.2}
  figure-8:
    title: Error
    place: Figure 8
    obtained: printed
    units: "1"
    coordinates: {learner: who}
    rows: [{learner: net, value: 1}]
"""
RATIO = {
    "name": "published_ratio",
    "published": "figure-7",
    "published_where": {"learner": "net"},
    "learner": "kernel",
    "where": {"dimension": 3, "degree": 1, "width": 4},
    "samples": 4,
}


@pytest.fixture
def numbers(tmp_path, check):
    """A check of studies that lie beside published numbers."""
    (tmp_path / "published").mkdir()
    (tmp_path / "published" / "chen2020.yaml").write_text(NUMBERS)

    def checked(content):
        file = tmp_path / "studies" / "a-study.yaml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(yaml.safe_dump(content, sort_keys=False))
        return checking.study(file, "config/studies/a-study.yaml", "quick")

    return checked


def cited(content, quantity=None, lines=None):
    """The content with a claim on published numbers and with published lines in its figure."""
    claim = {
        "place": "Figure 7",
        "statement": "As printed",
        "printed": 1,
    }
    content["claims"]["C2"] = claim | {"quantity": RATIO | (quantity or {})}
    content["figure"] = panel(kind="risk", probe=None, x="samples", lines=lines or [{"published": "figure-8"}])
    del content["figure"]["panels"][0]["probe"]
    at_quick_alone(content)
    return content


def test_published_numbers_enter_the_jobs_that_compare_with_them_or_draw_them(content, numbers):
    study, faults = numbers(cited(content, lines=[{"published": "figure-7", "where": {"learner": "net"}}]))
    assert faults == []
    table = jobs.judge(study)["claims"]["C2"]["quantity"]["published"]
    assert (table["place"], table["coordinates"]) == ("Figure 7", ["learner", "dimension", "samples"])
    assert table["rows"] == yaml.safe_load(NUMBERS)["tables"]["figure-7"]["rows"]
    (line,) = jobs.figure(study)["figure"]["panels"][0]["lines"]
    assert line == {"published": table, "where": {"learner": "net"}}
    assert "net" not in json.dumps(
        [jobs.aggregate(study), *(jobs.train(study, t, "kernel") for t in study.tasks.values())]
    )


@pytest.mark.parametrize(
    ("quantity", "message"),
    [
        (
            {"published": "figure-9"},
            "quantity.published: found 'figure-9'; expected one of figure-7, figure-8 (nearest",
        ),
        ({"published_where": {"learner": "nte"}}, "published_where.learner: found 'nte'; expected one of net (nearest"),
        ({"published_where": {"lerner": "net"}}, "published_where.lerner: found an unknown coordinate; expected one"),
        ({"published_where": {}, "where": {"degree": 1}}, "published_where: found 2 rows at {'samples': 4}; expected"),
        ({"where": {"dimension": 5, "degree": 1}}, "published_where: found 0 rows at {'dimension': 5,"),
        ({"where": {"dimension": 4, "degree": 1}, "samples": 16}, "published_where: found a range at {"),
        ({"learner": "kernal"}, "quantity.learner: found 'kernal'; expected one of"),
    ],
)
def test_a_published_number_that_is_not_there_is_a_fault(content, numbers, quantity, message):
    lines = [str(fault) for fault in numbers(cited(content, quantity))[1]]
    assert any(message in line for line in lines), lines


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"published": "figure-77"}, "lines[0].published: found 'figure-77'; expected one of figure-7, figure-8"),
        (
            {"published": "figure-7", "where": {"degree": 1}},
            "where.degree: found an unknown coordinate; expected one of",
        ),
        ({"published": "figure-7", "where": {"dimension": 5}}, "where.dimension: found 5; expected one of 3, 4"),
        (
            {"published": "figure-7", "where": {"dimension": 3, "samples": 16}},
            "where: found no row at {'dimension': 3, 'samples': 16}; expected a place in Figure 7",
        ),
    ],
)
def test_a_published_line_that_is_not_there_is_a_fault(content, numbers, line, message):
    lines = [str(fault) for fault in numbers(cited(content, lines=[line]))[1]]
    assert any(message in line for line in lines), lines


def test_a_paper_without_published_numbers_has_none_to_name(content, check):
    lines = [str(fault) for fault in check(cited(content))[1]]
    assert any("quantity.published: found 'figure-7'; expected nothing here" in line for line in lines)
