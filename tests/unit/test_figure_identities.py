"""A learner looks the same in every panel of every study, and no two of a panel look alike."""

import pytest

from hierlearn.core.registry import PACKAGE
from hierlearn.figures._identities import COLOURS, FAMILIES, MARKERS, looks, of_lines, of_rows
from hierlearn.plan import checking

STUDIES = sorted((PACKAGE.parents[1] / "config" / "studies").glob("*.yaml"))


def labels(file):
    study, _ = checking.study(file, file.name, "quick")
    return {name: entry.label for name, entry in study.learners.items()}


def test_there_is_a_marker_for_every_colour_and_a_colour_for_every_family():
    assert len(set(COLOURS)) == len(set(MARKERS)) == len(COLOURS) == len(FAMILIES)


@pytest.mark.parametrize("file", STUDIES, ids=[file.stem for file in STUDIES])
def test_learners_of_a_study_look_alike_only_where_they_are_called_alike(file):
    named = labels(file)
    found = looks(named)
    assert len(set(found.values())) == len(set(named.values()))
    assert set(found) == set(named)


@pytest.mark.parametrize("label", ["ResNet", "Quad-Raw", "RBF", "NTK-Neural", "staged", "joint"])
def test_a_learner_of_several_studies_has_one_look(label):
    studies = [named for named in map(labels, STUDIES) if label in named.values()]
    found = {looks(named)[name] for named in studies for name, text in named.items() if text == label}
    assert len(studies) > 1 and len(found) == 1


def test_the_longest_beginning_of_a_label_decides():
    assert looks({"a": "ResNet"})["a"] != looks({"a": "ResNet (NTK)"})["a"]
    assert looks({"a": "NTK-Neural"})["a"] == looks({"a": "NTK-Neural, with bias"})["a"]


def test_who_belongs_to_no_family_takes_a_colour_that_is_left():
    found = looks({"a": "of my own", "b": "Quad-Neural"})
    assert found["b"] == (COLOURS[0], MARKERS[0]) and found["a"] == (COLOURS[1], MARKERS[1])


def test_more_learners_than_colours_differ_by_their_markers():
    found = looks({str(k): f"of my own, {k}" for k in range(24)})
    assert len(set(found.values())) == 24


def test_lines_look_as_their_learners_and_otherwise_unlike_each_other():
    learners = looks({"ours": "Quad-Neural", "theirs": "RBF"})
    lines = [{"variable": "v"}, {"learner": "theirs"}, {"learner": "ours"}, {"variable": "w", "colour_of": 2}]
    first, second, third, fourth = of_lines(lines, learners)
    assert (second, third) == (learners["theirs"], learners["ours"]) and fourth == second
    assert first[0] not in {second[0], third[0]}


def test_lines_of_one_learner_are_told_apart_and_look_as_their_labels_say():
    lines = [{"learner": "a", "label": "joint"}, {"learner": "a", "label": "staged"}, {"learner": "a"}]
    joint, staged, third = of_lines(lines, looks({"a": "student"}))
    assert joint == looks({"x": "joint"})["x"] and staged == looks({"x": "staged"})["x"]
    assert len({joint, staged, third}) == 3


def test_rows_look_as_their_labels_say_where_a_learner_has_several_and_else_as_their_learners():
    learners = looks({"a": "student", "b": "last layer refitted"})
    rows = [
        {"learner": "a", "label": "joint"},
        {"learner": "a", "label": "elsewhere"},
        {"learner": "b", "label": "RBF"},
    ]
    assert of_rows(rows, learners) == [looks({"x": "joint"})["x"], learners["a"], learners["b"]]


def test_lines_of_one_panel_never_look_alike():
    found = of_lines([{"variable": str(k)} for k in range(24)], {})
    assert len(set(found)) == 24


@pytest.mark.parametrize("file", STUDIES, ids=[file.stem for file in STUDIES])
def test_every_primary_claim_has_a_panel(file):
    study, _ = checking.study(file, file.name, "quick")
    figure = study.figure
    shown = (
        figure.get("shows", {}).values() if "shows" in figure else [one.get("shows", []) for one in figure["panels"]]
    )
    primary = {name for name, claim in study.claims.items() if claim.rank == "primary"}
    assert primary <= {name for names in shown for name in names}


# What a row takes of the seeds, by its quantity; what has no line here takes medians, or is no number of one panel.
MEANS = {
    "log_risk_ratio": "geometric mean",
    "paired_log_ratio": "geometric mean",
    "largest_log_risk_ratio": "geometric mean",
    "log_fall_ratio": "geometric mean",
    "score_difference": "mean",
}


def taken(quantity):
    """What a row takes of the seeds."""
    if quantity["name"] in ("score_mean", "probe_mean"):
        return "geometric mean" if quantity.get("positive") or quantity.get("log") else "mean"
    return MEANS.get(quantity["name"], "median")


@pytest.mark.parametrize("file", STUDIES, ids=[file.stem for file in STUDIES])
def test_every_panel_shows_a_claim_and_of_the_seeds_what_its_first_claim_takes(file):
    study, _ = checking.study(file, file.name, "quick")
    for panel in study.figure.get("panels", []):
        assert panel.get("shows"), panel["title"]
        if panel["kind"] != "growth" and panel["shows"][0] in study.claims:
            assert panel.get("centre", "median") == taken(study.claims[panel["shows"][0]].quantity), panel["title"]
