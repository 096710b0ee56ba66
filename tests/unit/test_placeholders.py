"""Numbers in the words of a claim: filled from its fields, refused where there is no such field."""

import math

import pytest
from small_study import put, study_of

from hierlearn.pipeline.plan import descriptions, placeholders

CLAIM = "claims.C1-kernel"


def told(content, text, key="statement", **changes):
    """A text of the small study's first claim as a row says it. changes: other fields of the claim."""
    for name, value in {key: text, **changes}.items():
        content = put(content, f"{CLAIM}.{name}", value)
    return descriptions.claims(study_of(content, "small", "small.yaml", "quick"))["C1-kernel"][key]


@pytest.mark.parametrize(
    ("test", "text", "said"),
    [
        ("<= 1 + 0.25", "at most {limit}, by {predicted} and {slack}", "at most 1.25, by 1 and 0.25"),
        (">= 1 - 0.25", "at least {limit}", "at least 0.75"),
        ("> 0.2231", "{factor} times as many, {percent} % more", "1.25 times as many, 25 % more"),
        ("< -0.2231", "{factor} times fewer", "1.25 times fewer"),
        ("= 0 +- 0.0953", "within {percent} %", "within 10 %"),
        ("~ 12 */ 1.5", "within a factor of {factor} of {predicted}", "within a factor of 1.5 of 12"),
    ],
)
def test_a_test_gives_its_numbers(content, test, text, said):
    assert told(content, text, test=test) == said


def test_factors_are_those_of_the_logarithm(content):
    assert float(told(content, "{factor}", test="> 0.7")) == pytest.approx(math.exp(0.7), rel=1e-2)


def test_sizes_coordinates_and_parameters_give_theirs(content):
    assert told(content, "for d = {sizes}, degree {degree}, width {width}") == "for d = 3 to 5, degree 1, width 4"
    assert told(content, "order {order}", **{"quantity.learner": "linear"}) == "order 1"


def test_a_changed_field_changes_the_number(content):
    assert told(content, "d = {sizes}", "remark", **{"quantity.sizes": [6, 8, 10]}) == "d = 6 to 10"
    assert told(content, "d = {sizes}", "remark", **{"quantity.sizes": [6]}) == "d = 6"


def test_the_name_of_a_rival_has_the_numbers_of_its_own_quantity(content):
    rival = {"is": "the same at width {width}", "quantity": {"where": {"width": 8}}}
    study = study_of(put(content, f"{CLAIM}.rival", rival), "small", "small.yaml", "quick")
    assert descriptions.claims(study)["C1-kernel"]["control"]["rival"] == "the same at width 8"


@pytest.mark.parametrize("text", ["$x_{degree}$", "$\\frac{a}{b}$ and {0, 1}", "a set {}", "$d$ and $n^{width}$"])
def test_braces_of_formulas_and_sets_stay(content, check, text):
    assert told(content, text) == text
    assert check(put(content, f"{CLAIM}.statement", text))[1] == []


def test_an_unknown_placeholder_is_refused_in_one_line(content, check):
    (fault,) = check(put(content, f"{CLAIM}.statement", "at most {limt}"))[1]
    assert "claims.C1-kernel.statement: found {limt}; expected one of degree, factor, limit" in str(fault)
    assert str(fault).endswith("(nearest: limit)")
    rival = {"is": "at width {wdth}", "quantity": {"where": {"width": 8}}}
    (fault,) = check(put(content, f"{CLAIM}.rival", rival))[1]
    assert "rival.is: found {wdth}" in str(fault)


def test_numbers_of_a_two_sided_test_have_no_limit(content):
    study = study_of(put(content, f"{CLAIM}.test", "= 1 +- 0.1"), "small", "small.yaml", "quick")
    claim = study.claims["C1-kernel"]
    assert "limit" not in placeholders.values(study, claim, claim.quantity)
