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
