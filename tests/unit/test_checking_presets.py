"""What a study says of its presets and of the revisions of its designs."""

import pytest
from small_study import at_quick_alone, put


def test_a_preset_that_a_study_does_not_state_has_the_sizes_of_the_body_and_paper_none(content, check):
    quick, standard = check(content, "quick")[0], check(content, "standard")[0]
    assert standard.preset == "standard"
    assert (standard.axes, standard.seeds) == (quick.axes, quick.seeds)
    assert check(content, "paper") == (None, [])
    at_quick_alone(content)
    stated = content | {"presets": {"standard": {"seeds": 7}, "paper": {"seeds": 9}}}
    assert [len(check(stated, preset)[0].seeds) for preset in ("quick", "standard", "paper")] == [2, 7, 9]


def test_the_revision_of_a_preset_is_the_number_of_its_design(content, check):
    stated = content | {"revisions": {"quick": 2, "full": 1}}
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
        ("revisions", {"medium": 1}, "revisions.medium: found an unknown key; expected one of full, paper"),
        ("revisions", {"quick": "first"}, "revisions.quick: found 'first'; expected integer"),
        ("revisions", {"quick": 0}, "revisions.quick: found 0; expected at least 1"),
        ("presets.smoke.seeds", 0, "presets.smoke.seeds: found 0; expected at least 1"),
        ("claims.C1-kernel.presets", ["standard"], "presets[0]: found 'standard'; expected one of full, quick, smoke"),
        ("claims.C1-kernel.presets", "full", "claims.C1-kernel.presets: found 'full'; expected a list"),
        (
            "claims.C1-kernel.at",
            {"fulll": {"test": "<= 2"}},
            "at.fulll: found 'fulll'; expected one of full, full smoke",
        ),
        ("claims.C1-kernel.at", {"full": {}}, "claims.C1-kernel.at.full: found {}; expected at least 1 entry"),
        ("claims.C1-kernel.at", {"full": {"at": {}}}, "claims.C1-kernel.at.full.at: found at of a change"),
        ("claims.C1-kernel.at", {"full": {"tset": "<= 2"}}, "claims.C1-kernel.at.full.tset: found an unknown key"),
        ("claims.C1-kernel.at", {"full": {"test": "2"}}, "claims.C1-kernel.at.full.test: found '2'; expected"),
    ],
)
def test_a_fault_of_a_preset_or_a_revision_is_named(content, check, path, value, message):
    study, faults = check(put(content | {"revisions": {}}, path, value))
    assert study is None
    assert any(message in str(fault) for fault in faults), [str(fault) for fault in faults]


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("claims.C1-kernel.rule", "upper", "claims.C1-kernel.rule"),
        ("learners.kernel.skip", [{"dimension": 3}], "learners.kernel.skip"),
        ("presets.full.claims", {"C1-kernel": {"predicted": 2}}, "presets.full.claims.C1-kernel.predicted"),
        ("revisions", {"quick": ["first design"]}, "revisions.quick"),
    ],
)
def test_the_older_form_is_named_with_the_command_that_converts_it(content, check, path, value, field):
    study, (fault,) = check(put(content, path, value))
    assert study is None
    assert (fault.field, fault.found) == (field, "a key of an older form of studies")
    assert fault.allowed == "the present one, which `hierlearn convert config/studies/a-study.yaml` writes"


def test_a_claim_changes_at_the_presets_that_it_says_and_is_new_at_others(content, check):
    claim = content["claims"]["C1-kernel"]
    claim["at"] = {"full smoke": {"test": ">= 2"}, "full": {"beyond": "the loss", "quantity": {"sizes": [6, 8, 10]}}}
    content["claims"]["C2"] = {key: part for key, part in claim.items() if key != "at"} | {"presets": ["smoke"]}
    found = {preset: check(content, preset)[0].claims for preset in ("quick", "full", "smoke")}
    tests = {preset: (claims["C1-kernel"].rule, claims["C1-kernel"].predicted) for preset, claims in found.items()}
    assert tests == {"quick": ("upper", 1), "full": ("lower", 2), "smoke": ("lower", 2)}
    assert [claims["C1-kernel"].regime for claims in found.values()] == ["limit", "beyond", "limit"]
    assert ["C2" in claims for claims in found.values()] == [False, False, True]


RIVAL = {"is": "the linear learner", "quantity": {"learner": "linear"}}
CONTROL = {"rival": "the linear learner", "quantity": {"learner": "linear"}}


@pytest.mark.parametrize("own", [RIVAL, {"missing": "nothing is compared"}])
def test_a_rival_of_a_preset_that_says_which_takes_the_place_of_the_bodys(content, check, own):
    other = {"missing": "none here"} if "is" in own else RIVAL
    stated = put(content, "claims.C1-kernel.rival", own)
    stated["presets"]["standard"] = {}
    stated["claims"]["C1-kernel"]["at"]["standard"] = {"rival": other}
    study, faults = check(stated, "standard")
    assert faults == []
    assert study.claims["C1-kernel"].control == ({"missing": "none here"} if "is" in own else CONTROL)
    assert check(stated)[0].claims["C1-kernel"].control == (CONTROL if "is" in own else own)


@pytest.mark.parametrize("named", [False, True])
def test_a_rival_of_a_preset_that_changes_a_quantity_keeps_what_it_is(content, check, named):
    stated = put(content, "claims.C1-kernel.rival", "linear" if named else RIVAL)
    stated |= {"rivals": {"linear": RIVAL}} if named else {}
    stated["presets"]["standard"] = {}
    stated["claims"]["C1-kernel"]["at"]["standard"] = {"rival": {"quantity": {"threshold": 0.5}}}
    study, faults = check(stated, "standard")
    assert faults == []
    assert study.claims["C1-kernel"].control == CONTROL | {"quantity": {"learner": "linear", "threshold": 0.5}}


def test_what_a_rival_of_a_preset_lacks_is_said_of_the_preset(content, check):
    stated = put(content, "claims.C1-kernel.rival", RIVAL)
    stated["claims"]["C1-kernel"]["at"]["smoke"] = {"rival": {"is": "another"}}
    assert any("claims.C1-kernel.at.smoke.rival.quantity: found nothing" in str(one) for one in check(stated)[1])
