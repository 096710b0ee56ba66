"""What a study may do, but may not mean, is said before anything runs."""

from dataclasses import replace
from pathlib import Path

import pytest
from small_study import SLOPE

from hierlearn.core.words import show
from hierlearn.pipeline.plan import checking, grid_checks, jobs, registration

STUDIES = Path(__file__).parents[2] / "config" / "studies"
MARGINAL = STUDIES / "allenzhu2020-marginal-accuracy.yaml"


@pytest.mark.parametrize("preset", ["smoke", "quick", "standard", "full"])
@pytest.mark.parametrize("name", ["allenzhu2020-gap", "allenzhu2020-marginal-accuracy"])
def test_a_study_that_breaks_a_hypothesis_on_purpose_is_silent_at_every_preset(name, preset):
    study = checking.load_study(STUDIES / f"{name}.yaml", preset)
    assert list(grid_checks.warnings(study)) == []
    assert list(grid_checks.warnings(replace(study, intended=[])))


def test_what_is_unwise_but_possible_is_noted_in_words_once():
    study = replace(checking.load_study(MARGINAL, "quick"), intended=[], file="mine.yaml")
    assert list(map(str, grid_checks.warnings(study))) == [
        "mine.yaml: problem.teacher.depth: the target is a polynomial of degree 16 of the input gaussian at depth 4; "
        "no sample shows the mean of its square; it does for a bounded input such as uniform; add `intended: [depth]` "
        "if you mean it"
    ]


def test_a_note_names_all_places_at_which_it_is_so():
    study = replace(checking.load_study(STUDIES / "allenzhu2020-gap.yaml", "standard"), intended=[])
    (note,) = map(str, grid_checks.warnings(study))
    assert "the weights of the layers do not fall at gap 1, gap 10, gap 100; the theorems assume" in note


def test_an_intention_that_silences_nothing_is_a_fault(content, check):
    content["intended"] = ["gap"]
    (fault,) = check(content, "quick")[1]
    assert str(fault) == (
        "config/studies/a-study.yaml: intended[0]: found 'gap'; "
        "expected none: nothing is noted of this input and teacher"
    )


def test_an_intention_silences_what_it_names_alone():
    study = replace(checking.load_study(MARGINAL, "quick"), intended=["deptj"])
    (fault,) = grid_checks.idle([study])
    assert str(fault).endswith("intended[0]: found 'deptj'; expected one of depth (nearest: depth)")
    assert len(list(grid_checks.warnings(study))) == 1


def test_an_intention_holds_at_every_preset_and_stands_beside_them(content, check):
    content["presets"]["full"]["intended"] = ["gap"]
    (fault,) = check(content, "quick")[1]
    assert str(fault).endswith(
        "presets.full.intended: found intended of a preset; expected intended beside the presets"
    )


def test_an_intention_is_no_part_of_a_design():
    study = checking.load_study(STUDIES / "allenzhu2020-gap.yaml", "quick")
    silent = replace(study, intended=[])
    assert registration.digests(study) == registration.digests(silent)
    assert jobs.rests_on(study) == jobs.rests_on(silent)


@pytest.mark.parametrize(
    ("quantity", "found"),
    [
        ({"name": "exponent", "learner": "kernel", "where": {"degree": 1}, "sizes": [3, 4, 5]}, "sizes: [3, 4]"),
        (
            {"name": "exponent", "learner": "linear", "where": {"degree": 1, "width": 4}, "sizes": [3, 5]},
            "sizes: [3, 5]",
        ),
        ({"name": "exponent", "learner": "linear", "where": {"degree": 1, "width": 4}}, ""),
        (
            {"name": "risk_slope", "learner": "linear", "axis": "width", "where": {"degree": 1, "dimension": 3}},
            "values: [4, 8]",
        ),
        (SLOPE | {"values": [4, 16]}, "values: [4, 16]"),
        (SLOPE, ""),
    ],
)
def test_a_line_that_cannot_be_judged_is_warned_of_before_the_run(content, check, quantity, found):
    content["claims"]["C1-kernel"]["quantity"] = quantity
    del content["presets"]["full"], content["claims"]["C1-kernel"]["at"]
    study, faults = check(content, "quick")
    assert faults == []
    key, _, sizes = found.partition(": ")
    start = f"config/studies/a-study.yaml: claims.C1-kernel.quantity.{key}: found a line through {sizes}; expected 3"
    said = list(map(str, grid_checks.warnings(study)))
    assert [one[: len(start)] for one in said] == ([start] if found else [])


def test_a_description_by_a_line_through_one_size_is_warned_of_too(content, check):
    content["claims"]["C1-theory"]["quantity"]["sizes"] = [8]
    del content["presets"]["full"], content["claims"]["C1-kernel"]["at"]
    lines = [str(one) for one in grid_checks.warnings(check(content, "quick")[0]) if "C1-theory" in str(one)]
    assert len(lines) == 1 and "claims.C1-theory.quantity.sizes: found a line through [8]; expected 3" in lines[0]


def test_a_line_along_the_number_of_samples_names_its_own():
    file = STUDIES / "allenzhu2019-samples.yaml"
    study, faults = checking.study(file, file.name, "quick")
    assert not faults
    assert any(claim.quantity["name"] == "samples_slope" for claim in study.claims.values())
    assert list(grid_checks.warnings(study)) == []


@pytest.mark.parametrize("reference", [None, "dimensions"])
def test_a_quantity_of_ones_own_may_name_less_than_the_projects_do(content, check, monkeypatch, reference):
    said = {"axis": {}, "sizes": {} if reference is None else {"reference": reference}}
    content["axes"]["dimension"] = [3, 4]
    content["claims"]["C1-kernel"]["quantity"] |= {"sizes": [3, 4]}
    del content["presets"]["full"], content["claims"]["C1-kernel"]["at"]
    study, faults = check(content, "quick")
    assert faults == []
    monkeypatch.setattr(grid_checks.registry, "parameters", lambda kind, name: said)
    monkeypatch.setattr(grid_checks.registry, "defaults", lambda kind, name: {})
    for part in ("learner", "where"):
        study.claims["C1-kernel"].quantity.pop(part, None)
    found = [str(one) for one in grid_checks.warnings(study)]
    lines = [one for one in found if "C1-kernel" in one]
    assert [": found a line through [3, 4]" in one for one in lines] == ([] if reference is None else [True])


def test_tex_that_the_page_cannot_set_is_warned_of_wherever_it_stands(content, check):
    for path in ("title", "place", "summary"):
        content[path] = r"At $\unheard{x}$"
    content["claims"]["C1-theory"]["place"] = r"Theorem $n^{2}\bigl$"
    study, faults = check(content, "quick")
    assert faults == []
    found = {".".join(map(str, one.path)) for one in grid_checks.warnings(study) if "expected TeX" in str(one)}
    assert found == {"title", "place", "summary", "claims.C1-theory.place"}


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        (r"The exponent of $n_*$ is at most $\lceil p/2\rceil$.", None),
        (r"The exponent of $n_*$ is at most $\lciel p/2\rciel$.", r"$\lciel p/2\rciel$"),
        (r"The risk falls below $\frac{1}{2$.", r"$\frac{1}{2$"),
        ("A price of 5$ a sample.", "A price of 5$ a sample."),
    ],
)
def test_tex_that_the_page_cannot_set_is_warned_of(content, check, statement, found):
    content["claims"]["C1-theory"]["statement"] = statement
    study, faults = check(content, "quick")
    assert faults == []
    said = [str(one) for one in grid_checks.warnings(study) if one.path[-1] == "statement"]
    shown = f"config/studies/a-study.yaml: claims.C1-theory.statement: found {show(found)}; expected TeX"
    assert [one[: len(shown)] for one in said] == ([] if found is None else [shown])
