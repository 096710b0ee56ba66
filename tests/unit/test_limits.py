"""Where the limits of tests come from: one that moved after a result was seen, and is in no primary row."""

import shipped


def claims():
    for file in shipped.STUDIES:
        yield from shipped.content(file).get("claims", {}).items()


def test_a_later_question_with_another_limit_says_that_its_limit_was_seen():
    every = dict(claims())
    later = {name: one for name, one in every.items() if name.endswith("-later") and one.get("asked_after") in every}
    moved = {name for name, one in later.items() if one.get("test") != every[one["asked_after"]].get("test")}
    assert len(moved) > 20
    assert {name for name in moved if every[name].get("limit_from") != "seen" and "test" in every[name]} == set()


def test_no_primary_row_has_a_limit_that_was_seen():
    assert [name for name, one in claims() if one.get("rank") == "primary" and one.get("limit_from") == "seen"] == []


def test_a_printed_number_and_a_bound_are_no_choice():
    for name, one in claims():
        if one.get("test", "").startswith("~"):
            assert one.get("limit_from", "paper") == "paper", name
        if one.get("test") == "bound":
            assert one.get("limit_from", "theory") == "theory", name
