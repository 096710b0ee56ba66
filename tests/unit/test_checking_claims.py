"""What a claim has to say: test, kind, regime and rival."""

import pytest
from small_study import at_quick_alone, put

AT = "claims.C1-kernel"
RIVAL = {"is": "the linear model", "quantity": {"learner": "linear"}}


def lines(check, content):
    return [str(fault).partition(": ")[2] for fault in check(content)[1]]


@pytest.fixture
def small(content):
    at_quick_alone(content)
    return content


def test_a_claim_with_test_kind_regime_and_rival_is_sound(small, check):
    assert lines(check, put(small, f"{AT}.rival", RIVAL)) == []


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        ("kind", None, "kind: found nothing; expected one of theorem, rate"),
        ("kind", "theorm", "kind: found 'theorm'; expected one of"),
        ("rank", "first", "rank: found 'first'; expected one of primary, secondary"),
        ("asked_after", "C1-kernel", "asked_after: found 'C1-kernel'; expected another claim"),
        ("asked_after", "C1-first", "rank: found 'primary'; expected secondary, as the question asked first keeps its"),
        ("limit_from", "seen", "limit_from: found 'seen'; expected paper, theory or a margin, as the rank is primary"),
        ("limit_from", {"seen": "the pilot"}, "limit_from: found 'seen'; expected paper, theory or a margin"),
        ("limit_from", {"theory": ""}, "limit_from"),
        ("limit_from", {"margin": "half", "frozen": True}, "limit_from"),
        ("limit_from", "pilot", "limit_from: found 'pilot'; expected"),
        ("limit_from", {"margin": ""}, "limit_from"),
        ("withdrawn", {"quote": "We assume it."}, "withdrawn.where: found nothing; expected"),
        ("withdrawn", "since it is wrong", "withdrawn: found 'since it is wrong'; expected"),
        ("test", None, "test: found nothing; expected a test, as the kind is rate"),
        ("test", "<= one", "test: found '<= one'; expected \"<= 1 + 0.1\""),
        ("test", "<= 1 - 0.1", "test: found '<= 1 - 0.1'; expected \"<= 1 + 0.1\""),
        ("test", "~ 1 */ 0.9", "test: found '~ 1 */ 0.9'; expected a number above 0 and a factor of at least 1"),
        ("test", "<= 1e999", "test: found '<= 1e999'; expected"),
        ("test", 1, "test: found 1; expected string"),
        ("printed", 1, "printed: found 1; expected nothing, as this is for a claim without a test"),
        ("regime", None, "regime: found nothing; expected within or limit, or the hypotheses that are broken"),
        ("regime", "near", "regime: found 'near'; expected one of limit, within"),
        ("kind", "check", "regime: found 'limit'; expected nothing, as the kind check has no regime"),
        ("kind", "open", "regime: found 'limit'; expected nothing, as the kind open has no regime"),
        ("beyond", "the loss", "regime: found 'limit'; expected nothing, as `beyond` says it"),
        ("beyond", ["loss-slop"], "beyond[0]: found 'loss-slop'; expected one of"),
        ("beyond", [], "beyond: found []; expected at least 1 entry"),
        ("rival", None, "rival: found nothing; expected one for which the claim should fail"),
        ("rival", "none", "rival: found 'none'; expected nothing here"),
        ("rival", {"is": "r"}, "rival.quantity: found nothing; expected what is other"),
        (
            "rival",
            {"quantity": {"learner": "linear"}},
            "rival.is: found nothing; expected one line that says what it is",
        ),
        ("rival", {"missing": "why", "is": "r"}, "rival.is: found 'r'; expected nothing, as the rival is"),
        ("rival", RIVAL | {"iss": "r"}, "rival.iss: found an unknown key; expected one of is, missing, quantity"),
        ("rival.missing", "", "rival.missing: found ''; expected one line that is not empty"),
        ("rival", RIVAL | {"quantity": {}}, "rival.quantity: found {}; expected at least 1 entry"),
        (
            "rival",
            RIVAL | {"quantity": {"learner": "linaer"}},
            "rival.quantity.learner: found 'linaer'; expected one of kernel, linear (nearest: linear)",
        ),
        (
            "rival",
            RIVAL | {"quantity": {"lerner": "linear"}},
            "rival.quantity.lerner: found an unknown parameter; expected one of",
        ),
        (
            "rival",
            RIVAL | {"quantity": {"namee": "probe_mean", "probe": "one", "variable": "loss"}},
            "rival.quantity.namee: found an unknown parameter; expected one of",
        ),
        ("rival", RIVAL | {"quantity": {"sizes": [3, 9]}}, "rival.quantity.sizes[1]: found 9; expected one of"),
        (
            "rival",
            RIVAL | {"quantity": {"where": {"degree": 7}}},
            "rival.quantity.where.degree: found 7; expected one of 1, 2",
        ),
        (
            "rival",
            RIVAL | {"quantity": {"name": "exponentt"}},
            "rival.quantity.name: found 'exponentt'; expected one of",
        ),
        (
            "rival",
            RIVAL | {"quantity": {"learner": "kernel"}},
            "rival.quantity: found {'learner': 'kernel'}; expected something that the claim's own quantity",
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


def test_a_claim_without_a_test_is_a_description_and_has_neither_kind_nor_regime_nor_rival(small, check):
    found = lines(check, put(put(small, f"{AT}.test", None), f"{AT}.kind", None))
    assert [line.partition(": ")[0] for line in found] == [f"{AT}.regime", f"{AT}.rival"]
    assert check(small)[0].claims["C1-theory"].kind == "description"


def test_a_description_has_no_rival(small, check):
    (line,) = lines(check, put(small, "claims.C1-theory.rival", {"missing": "why"}))
    assert line.startswith("claims.C1-theory.rival: found")
    assert line.endswith("expected nothing, as a description is not judged")


def test_a_description_may_stand_beside_a_printed_number(small, check):
    assert check(put(small, "claims.C1-theory.printed", 205))[0].claims["C1-theory"].predicted == 205


@pytest.mark.parametrize(
    ("test", "rule"),
    [
        ("<= 0.667 + 0.166", ("upper", 0.667, 0.166, "above")),
        (">= -1 - 0", ("lower", -1, 0, "above")),
        ("= 1 +- 0.1", ("two-sided", 1, 0.1, "above")),
        ("> 0.2231", ("ordering", 0.2231, None, "above")),
        ("<-4", ("ordering", -4, None, "below")),
        ("~ 1 */ 1.5", ("published", 1, 1.5, "above")),
        ("~ 2.5e-3", ("published", 0.0025, None, "above")),
        ("bound", ("bound", None, None, "above")),
    ],
)
def test_every_rule_has_a_test(small, check, test, rule):
    claim = check(put(small, f"{AT}.test", test))[0].claims["C1-kernel"]
    assert (claim.rule, claim.predicted, claim.slack, claim.side) == rule
    assert isinstance(claim.predicted, int) == (str(claim.predicted).lstrip("-").isdigit())


def test_hypotheses_are_named_by_their_ids_and_told_in_sentences(small, check):
    broken = put(put(small, f"{AT}.regime", None), f"{AT}.beyond", ["loss-slope", "truncated"])
    claim = check(broken)[0].claims["C1-kernel"]
    assert claim.regime == "beyond"
    assert claim.beyond == (
        "squared loss, where the theorem assumes a loss of slope at most 1; only the leading directions are whitened, "
        "where the theorem whitens all"
    )
    own = put(put(small, f"{AT}.regime", None), f"{AT}.beyond", "the loss")
    assert check(own)[0].claims["C1-kernel"].beyond == "the loss"


def test_a_rival_that_several_claims_name_stands_once(small, check):
    small["rivals"] = {"linear": RIVAL}
    study, faults = check(put(small, f"{AT}.rival", "linear"))
    assert faults == []
    assert study.claims["C1-kernel"].rival()["learner"] == "linear"
    (line,) = lines(check, put(small, f"{AT}.rival", "linaer"))
    assert line == f"{AT}.rival: found 'linaer'; expected one of linear (nearest: linear)"


def test_a_fault_of_a_named_rival_is_named_where_it_stands(small, check):
    small["rivals"] = {"linear": {"is": "r", "quantity": {"learner": "linaer"}}}
    (line,) = lines(check, put(small, f"{AT}.rival", "linear"))
    assert line.startswith("rivals.linear.quantity.learner: found 'linaer'")


def test_what_a_control_takes_over_from_its_claim_is_said_once(small, check):
    for path, value in (("learner", "kernl"), ("where.degree", 9), ("sizes", [3, 99]), ("threshold", 0.3)):
        other = put(small, f"{AT}.rival", {"is": "r", "quantity": {"risk": "test_error"}})
        changed = put(other, f"{AT}.quantity.{path}", value)
        (line,) = lines(check, changed)
        assert line.startswith(f"{AT}.quantity.{path}")


def test_a_control_that_mends_what_its_claim_has_wrong_is_judged_by_itself(small, check):
    changed = put(put(small, f"{AT}.rival", RIVAL), f"{AT}.quantity.learner", "kernl")
    assert len(lines(check, changed)) == 1
    worse = put(changed, f"{AT}.rival.quantity.learner", "linaer")
    assert [line.partition(": ")[0] for line in lines(check, worse)] == [
        f"{AT}.rival.quantity.learner",
        f"{AT}.quantity.learner",
    ][::-1]


def test_an_overlay_of_the_claim_goes_into_its_control(content, check):
    content["claims"]["C1-kernel"]["rival"] = RIVAL
    study, faults = check(content, "full")
    assert faults == []
    rival = study.claims["C1-kernel"].rival()
    assert (rival["learner"], rival["sizes"]) == ("linear", [6, 8, 10])


def test_a_control_of_another_quantity_starts_from_its_own_parameters(small, check):
    other = {"name": "theory_exponent", "probe": "theory", "line": "ntk", "where": {"degree": 1}, "sizes": [4, 8, 16]}
    study, faults = check(put(small, f"{AT}.rival", {"is": "theory", "quantity": other}))
    assert faults == []
    assert study.claims["C1-kernel"].rival() == other


def test_the_job_has_the_control_in_full(small, check):
    from hierlearn.pipeline.plan import jobs

    study, _ = check(put(small, f"{AT}.rival", RIVAL))
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
    rival = {"is": "the same at fewer sizes", "quantity": {"sizes": [3, 4, 5]}}
    (found,) = lines(check, put(put(small, f"{AT}.rival", rival), f"{AT}.quantity", change))
    assert found.startswith(f"{AT}.quantity.{line}")


def test_a_control_is_no_change_from_a_place_to_itself(small, check):
    change = {"name": "slope_change", "learner": "kernel", "where": {"degree": 1}, "other": {"degree": 2}}
    same = {"is": "none", "quantity": {"other": {"degree": 1}}}
    (line,) = lines(check, put(put(small, f"{AT}.rival", same), f"{AT}.quantity", change))
    assert line.startswith(f"{AT}.rival.quantity.other: found {{'degree': 1}}, the values in where")
