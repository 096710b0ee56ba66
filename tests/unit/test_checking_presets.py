"""What a study says of its presets and of the revisions of its designs."""

import pytest
from small_study import put


def test_a_preset_that_a_study_does_not_state_has_the_sizes_of_the_body_and_paper_none(content, check):
    quick, standard = check(content, "quick")[0], check(content, "standard")[0]
    assert standard.preset == "standard"
    assert (standard.axes, standard.seeds) == (quick.axes, quick.seeds)
    assert check(content, "paper") == (None, [])
    stated = content | {"presets": {"standard": {"seeds": 7}, "paper": {"seeds": 9}}}
    assert [len(check(stated, preset)[0].seeds) for preset in ("quick", "standard", "paper")] == [2, 7, 9]


def test_the_revision_of_a_preset_counts_its_designs(content, check):
    reasons = {"quick": ["first design", "more seeds: the pilot's spread was too small"], "full": ["first design"]}
    stated = content | {"revisions": reasons}
    assert [check(stated, preset)[0].revision for preset in ("quick", "full", "standard")] == [2, 1, 1]
    assert check(stated)[0].draw == "a-study/quick/2"
    assert check(content)[0].revision == 1


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("presets.smoke.presets", {"full": {}}, "presets.smoke.presets: found presets of a preset"),
        ("presets.medium", {}, "presets.medium: found an unknown key; expected one of full, paper, smoke, standard"),
        ("presets.smoke.revisions", {}, "presets.smoke.revisions: found revisions of a preset"),
        ("presets.standard", {"seeds": 0}, "presets.standard.seeds: found 0; expected at least 1"),
        ("presets.paper", {"seeds": 0}, "presets.paper.seeds: found 0; expected at least 1"),
        ("revisions", {"medium": ["first"]}, "revisions.medium: found an unknown key; expected one of full, paper"),
        ("revisions", {"quick": "first"}, "revisions.quick: found 'first'; expected a list"),
        ("revisions", {"quick": ["a\nb"]}, "revisions.quick[0]: found"),
        ("revisions", {"quick": []}, "revisions.quick: found []; expected at least 1 entry"),
        ("presets.smoke.seeds", 0, "presets.smoke.seeds: found 0; expected at least 1"),
    ],
)
def test_a_fault_of_a_preset_or_a_revision_is_named(content, check, path, value, message):
    study, faults = check(put(content | {"revisions": {}}, path, value))
    assert study is None
    assert any(message in str(fault) for fault in faults), [str(fault) for fault in faults]


CONTROL = {"rival": "the linear learner", "quantity": {"learner": "linear"}}


@pytest.mark.parametrize("own", [CONTROL, {"missing": "nothing is compared"}])
def test_a_control_of_a_preset_that_says_which_takes_the_place_of_the_bodys(content, check, own):
    other = {"missing": "none here"} if "rival" in own else CONTROL
    stated = put(content, "claims.C1-kernel.control", own)
    stated["presets"]["standard"] = {"claims": {"C1-kernel": {"control": other}}}
    study, faults = check(stated, "standard")
    assert faults == []
    assert study.claims["C1-kernel"].control == other
    assert check(stated)[0].claims["C1-kernel"].control == own


def test_a_control_of_a_preset_that_changes_a_quantity_keeps_its_rival(content, check):
    stated = put(content, "claims.C1-kernel.control", CONTROL)
    stated["presets"]["standard"] = {"claims": {"C1-kernel": {"control": {"quantity": {"threshold": 0.5}}}}}
    study, faults = check(stated, "standard")
    assert faults == []
    assert study.claims["C1-kernel"].control == CONTROL | {"quantity": {"learner": "linear", "threshold": 0.5}}


def test_what_a_control_of_a_preset_lacks_is_said_of_the_preset(content, check):
    stated = put(content, "claims.C1-kernel.control", CONTROL)
    stated["presets"]["smoke"]["claims"] = {"C1-kernel": {"control": {"rival": "another"}}}
    assert any("presets.smoke.claims.C1-kernel.control.quantity: found nothing" in str(one) for one in check(stated)[1])
