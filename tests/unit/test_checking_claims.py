"""What a claim has to say: kind, regime and control."""

import pytest
from small_study import put

AT = "claims.C1-kernel"
CONTROL = {"rival": "the linear model", "quantity": {"learner": "linear"}}


def lines(check, content):
    return [str(fault).partition(": ")[2] for fault in check(content)[1]]


@pytest.fixture
def small(content):
    del content["presets"]
    return content


def test_a_claim_with_kind_regime_and_control_is_sound(small, check):
    assert lines(check, put(small, f"{AT}.control", CONTROL)) == []


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        ("kind", None, "kind: found nothing; expected this required key"),
        ("kind", "theorm", "kind: found 'theorm'; expected one of"),
        ("rank", "first", "rank: found 'first'; expected one of primary, secondary"),
        ("asked_after", "C1-kernel", "asked_after: found 'C1-kernel'; expected another claim"),
        ("asked_after", "C1-first", "rank: found 'primary'; expected secondary, as the question asked first keeps its"),
        ("rule", "descriptive", "rule: found 'descriptive'; expected a rule that decides"),
        ("regime", None, "regime: found nothing; expected one of within, limit, beyond"),
        ("regime", "near", "regime: found 'near'; expected one of beyond, limit, within"),
        ("kind", "check", "regime: found 'limit'; expected nothing, as the kind check has no regime"),
        ("kind", "open", "regime: found 'limit'; expected nothing, as the kind open has no regime"),
        ("regime", "beyond", "beyond: found nothing; expected one line that says which hypothesis is violated"),
        ("beyond", "the loss", "beyond: found 'the loss'; expected nothing, as this is for the regime beyond"),
        ("control", None, "control: found nothing; expected a rival for which the claim should fail"),
        ("control", "none", "control: found 'none'; expected object"),
        ("control", {"rival": "r"}, "control.quantity: found nothing; expected what is other"),
        (
            "control",
            {"quantity": {"learner": "linear"}},
            "control.rival: found nothing; expected one line that names it",
        ),
        ("control", {"missing": "why", "rival": "r"}, "control.rival: found 'r'; expected nothing, as the control is"),
        ("control", CONTROL | {"rvial": "r"}, "control.rvial: found an unknown key; expected one of missing, quantity"),
        ("control.missing", "", "control.missing: found ''; expected one line that is not empty"),
        ("control", CONTROL | {"quantity": {}}, "control.quantity: found {}; expected at least 1 entry"),
        (
            "control",
            CONTROL | {"quantity": {"learner": "linaer"}},
            "control.quantity.learner: found 'linaer'; expected one of kernel, linear (nearest: linear)",
        ),
        (
            "control",
            CONTROL | {"quantity": {"lerner": "linear"}},
            "control.quantity.lerner: found an unknown parameter; expected one of",
        ),
        ("control", CONTROL | {"quantity": {"sizes": [3, 9]}}, "control.quantity.sizes[1]: found 9; expected one of"),
        (
            "control",
            CONTROL | {"quantity": {"where": {"degree": 7}}},
            "control.quantity.where.degree: found 7; expected one of 1, 2",
        ),
        (
            "control",
            CONTROL | {"quantity": {"name": "exponentt"}},
            "control.quantity.name: found 'exponentt'; expected one of",
        ),
        (
            "control",
            CONTROL | {"quantity": {"learner": "kernel"}},
            "control.quantity: found {'learner': 'kernel'}; expected something that the claim's own quantity",
        ),
    ],
)
def test_what_is_missing_or_makes_no_sense_is_one_line(small, check, path, value, line):
    found = lines(check, put(small, f"{AT}.{path}", value))
    assert [one for one in found if one.startswith(f"{AT}.{line}")] == found
    assert len(found) == 1


def test_a_proof_is_for_the_limit(small, check):
    assert lines(check, put(small, f"{AT}.proof", "by counting")) == []
    within = put(put(small, f"{AT}.proof", "by counting"), f"{AT}.regime", "within")
    (line,) = lines(check, within)
    assert line == f"{AT}.proof: found 'by counting'; expected nothing, as this is for the regime limit"


def test_a_description_has_a_rule_of_its_own_and_neither_regime_nor_control(small, check):
    found = lines(check, put(small, f"{AT}.kind", "description"))
    assert [line.partition(": ")[0] for line in found] == [f"{AT}.control", f"{AT}.regime", f"{AT}.rule"]
    assert found[2] == f"{AT}.rule: found 'upper'; expected descriptive, as the kind is description"


def test_a_description_has_no_control(small, check):
    (line,) = lines(check, put(small, "claims.C1-theory.control", {"missing": "why"}))
    assert line.startswith("claims.C1-theory.control: found")
    assert line.endswith("expected nothing, as a description is not judged")


def test_what_a_control_takes_over_from_its_claim_is_said_once(small, check):
    for path, value in (("learner", "kernl"), ("where.degree", 9), ("sizes", [3, 99]), ("threshold", 0.3)):
        other = put(small, f"{AT}.control", {"rival": "r", "quantity": {"risk": "test_error"}})
        changed = put(other, f"{AT}.quantity.{path}", value)
        (line,) = lines(check, changed)
        assert line.startswith(f"{AT}.quantity.{path}")


def test_a_control_that_mends_what_its_claim_has_wrong_is_judged_by_itself(small, check):
    changed = put(put(small, f"{AT}.control", CONTROL), f"{AT}.quantity.learner", "kernl")
    assert len(lines(check, changed)) == 1
    worse = put(changed, f"{AT}.control.quantity.learner", "linaer")
    assert [line.partition(": ")[0] for line in lines(check, worse)] == [
        f"{AT}.control.quantity.learner",
        f"{AT}.quantity.learner",
    ]


def test_an_overlay_of_the_claim_goes_into_its_control(content, check):
    content["claims"]["C1-kernel"]["control"] = CONTROL
    study, faults = check(content, "full")
    assert faults == []
    rival = study.claims["C1-kernel"].rival()
    assert (rival["learner"], rival["sizes"]) == ("linear", [6, 8, 10])


def test_a_control_of_another_quantity_starts_from_its_own_parameters(small, check):
    other = {"name": "theory_exponent", "probe": "theory", "line": "ntk", "where": {"degree": 1}, "sizes": [4, 8, 16]}
    study, faults = check(put(small, f"{AT}.control", {"rival": "theory", "quantity": other}))
    assert faults == []
    assert study.claims["C1-kernel"].rival() == other


def test_the_job_has_the_control_in_full(small, check):
    from hierlearn.plan import jobs

    study, _ = check(put(small, f"{AT}.control", CONTROL))
    claims = jobs.judge(study)["claims"]
    control = claims["C1-kernel"]["control"]
    assert control["rival"] == "the linear model"
    assert control["quantity"] == claims["C1-kernel"]["quantity"] | {"learner": "linear"}
    assert "control" not in claims["C1-theory"]


@pytest.mark.parametrize(
    ("other", "line"),
    [
        ({"degree": 1}, "other: found {'degree': 1}, the values in where; expected others"),
        ({}, "other.degree: found nothing; expected a value: one of 1, 2"),
        ({"degree": 2, "dimension": 4}, "other.dimension: found an axis that is never fixed; expected"),
    ],
)
def test_an_exponent_changes_from_a_place_to_another_one(small, check, other, line):
    change = {"name": "slope_change", "learner": "kernel", "where": {"degree": 1}, "other": other, "threshold": 0.5}
    rival = {"rival": "the same at fewer sizes", "quantity": {"sizes": [3, 4, 5]}}
    (found,) = lines(check, put(put(small, f"{AT}.control", rival), f"{AT}.quantity", change))
    assert found.startswith(f"{AT}.quantity.{line}")


def test_a_control_is_no_change_from_a_place_to_itself(small, check):
    change = {"name": "slope_change", "learner": "kernel", "where": {"degree": 1}, "other": {"degree": 2}}
    same = {"rival": "none", "quantity": {"other": {"degree": 1}}}
    (line,) = lines(check, put(put(small, f"{AT}.control", same), f"{AT}.quantity", change))
    assert line.startswith(f"{AT}.control.quantity.other: found {{'degree': 1}}, the values in where")
