"""Verdicts: the rule first, then the control, in the words of the regime."""

import itertools

import pytest

from hierlearn.pipeline.claims import tally
from hierlearn.pipeline.claims.rules import OUTCOMES
from hierlearn.pipeline.claims.verdicts import CONTROL_OUTCOMES, KINDS, VERDICTS, WITHOUT_REGIME, verdict

CONTROLS = ("fails", "passes", "undecided", "missing")
OPEN = ("inconclusive",) * 4


@pytest.mark.parametrize(
    ("kind", "regime", "rule", "words"),
    [
        # The control:            fails         passes     undecided       missing
        ("theorem", "within", "passes", ("supported", "vacuous", "inconclusive", "inconclusive")),
        ("theorem", "within", "fails", ("contradicted",) * 4),
        ("theorem", "within", "undecided", OPEN),
        ("rate", "limit", "passes", ("consistent", "vacuous", "inconclusive", "inconclusive")),
        ("rate", "limit", "fails", ("not seen",) * 4),
        ("rate", "limit", "undecided", OPEN),
        ("conjecture", "beyond", "passes", ("extends", "vacuous", "inconclusive", "inconclusive")),
        ("conjecture", "beyond", "fails", ("ends",) * 4),
        ("conjecture", "beyond", "undecided", OPEN),
        ("open", "", "passes", ("extends", "vacuous", "inconclusive", "inconclusive")),
        ("open", "", "fails", ("ends",) * 4),
        ("check", "", "passes", ("supported", "vacuous", "inconclusive", "inconclusive")),
        ("check", "", "fails", ("contradicted",) * 4),
        ("description", "", "undecided", ("",) * 4),
    ],
)
def test_the_word_is_that_of_the_regime_for_what_rule_and_control_found(kind, regime, rule, words):
    assert tuple(verdict(kind, regime, rule, control) for control in CONTROLS) == words


def test_a_check_may_go_without_a_control_and_nothing_else_that_is_judged():
    assert verdict("check", "", "passes", "") == "supported"
    for kind in set(KINDS) - {"check", "description"}:
        with pytest.raises(ValueError, match="without a control"):
            verdict(kind, "" if kind == "open" else "within", "passes", "")


def test_a_proof_turns_what_is_not_seen_in_the_limit_into_a_contradiction():
    assert verdict("assumption", "limit", "fails", "fails", proof=True) == "contradicted"
    assert verdict("assumption", "limit", "passes", "fails", proof=True) == "consistent"
    assert verdict("assumption", "beyond", "fails", "fails", proof=True) == "ends"


def test_every_combination_has_a_word_or_is_refused():
    regimes = ("", "within", "limit", "beyond")
    for kind, regime, rule, control in itertools.product(KINDS, regimes, OUTCOMES, CONTROL_OUTCOMES):
        sound = (kind in WITHOUT_REGIME) == (regime == "") and (control or kind == "check")
        if kind == "description":
            assert verdict(kind, regime, rule, control) == ""
        elif sound:
            assert verdict(kind, regime, rule, control) in VERDICTS
        else:
            with pytest.raises(ValueError, match=kind):
                verdict(kind, regime, rule, control)


def test_words_that_nobody_knows_are_refused():
    for given in (("hunch", "within", "passes", "fails"), ("rate", "near", "passes", "fails")):
        with pytest.raises(ValueError):
            verdict(*given)
    with pytest.raises(ValueError, match="supported"):
        verdict("rate", "limit", "supported", "fails")


def test_the_schema_knows_the_words():
    from hierlearn.pipeline.files.schema_errors import schema

    said = schema("study")["properties"]["claims"]["additionalProperties"]["properties"]
    # A claim is a description by having no test.
    assert said["kind"]["enum"] == [kind for kind in KINDS if kind != "description"]
    # `beyond` is the key that names what is broken.
    assert said["regime"]["enum"] == ["within", "limit"]


def counted(claim, **changes):
    """A row as claims.csv has it."""
    said = {"claim": claim, "kind": "rate", "regime": "limit", "rank": "secondary", "verdict": "consistent"}
    return said | {"value": "1", "low": "0.5", "high": "1.5", "study": "s", "place": "p"} | changes


def test_rows_with_a_seen_limit_are_counted_apart_and_exact_ones_are_named():
    exact = {"low": "1", "high": "1"}
    rows = [counted("C1", rank="primary"), counted("C2"), counted("C3", **exact), counted("C4", verdict="", **exact)]
    *lines, last = tally.counts(rows, {"C2"})
    found = [line.split("  ")[0] for line in lines]
    assert found.count("limit seen") == 1
    assert lines[-1] == "4 rows; 1 of 1 primary rows are decided, checks apart"
    assert last == "1 row is exact: nothing is random there, and one draw is enough"
    failing = [counted("C5", rank="primary", verdict="not seen", **exact)]
    assert list(tally.unconvincing(failing)) == ["(✗) fails, exact  C5 (s, p)"]
