"""A learner looks the same in every panel of every study, and no two of a panel look alike."""

import runpy
from itertools import combinations, product

import numpy as np
import pytest
import shipped
from matplotlib.colors import to_rgb
from shipped import STUDIES

from hierlearn.core.registry import PACKAGE
from hierlearn.pipeline.figures._identities import COLOURS, FAMILIES, MARKERS, looks, of_lines, of_rows

DARKEN = runpy.run_path(str(PACKAGE.parents[0] / "scripts" / "contact_sheet.py"))["darken"]


def labels(file, preset="quick"):
    study, _ = shipped.checked(file, preset)
    return {name: entry.label for name, entry in study.learners.items()}


def test_there_is_a_marker_for_every_colour_and_a_colour_for_every_family():
    assert len(set(COLOURS)) == len(set(MARKERS)) == len(COLOURS) == len(FAMILIES)


@pytest.mark.parametrize("file", STUDIES, ids=[file.stem for file in STUDIES])
def test_learners_of_a_study_look_alike_only_where_they_are_called_alike(file):
    named = labels(file)
    found = looks(named)
    assert len(set(found.values())) == len(set(named.values()))
    assert set(found) == set(named)


def test_whoever_is_called_alike_in_several_studies_has_one_look():
    found = {}
    for file, preset in product(STUDIES, ("quick", "standard", "full")):
        named = labels(file, preset)
        for name, look in looks(named).items():
            found.setdefault(named[name], set()).add(look)
    assert len(found) > 90
    assert {label: several for label, several in found.items() if len(several) > 1} == {}


def lab(rgb):
    """CIE Lab (1976) of a colour of sRGB, for daylight."""
    rgb = np.asarray(rgb)
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ linear
    share = xyz / np.array([0.9505, 1.0, 1.089])
    cube = np.where(share > 216 / 24389, np.cbrt(share), (24389 / 27 * share + 16) / 116)
    return np.array([116 * cube[1] - 16, 500 * (cube[0] - cube[1]), 200 * (cube[1] - cube[2])])


def difference(one, other):
    """CIEDE2000, the difference that an eye sees between two colours in CIE Lab."""
    chroma = (np.hypot(*one[1:]) + np.hypot(*other[1:])) / 2
    stretch = 1 + 0.5 * (1 - np.sqrt(chroma**7 / (chroma**7 + 25.0**7)))
    (light, x, y), (light_2, x_2, y_2) = (np.array(colour) * [1, stretch, 1] for colour in (one, other))
    c, c_2, hue, hue_2 = np.hypot(x, y), np.hypot(x_2, y_2), np.arctan2(y, x), np.arctan2(y_2, x_2)
    turn = (hue_2 - hue + np.pi) % (2 * np.pi) - np.pi if c * c_2 else 0.0
    # The hue of a grey is that of the other colour.
    middle = hue + turn / 2 if c * c_2 else hue + hue_2
    mean_light, mean = (light + light_2) / 2, (c + c_2) / 2
    waves = ((-0.17, 1, -30), (0.24, 2, 0), (0.32, 3, 6), (-0.2, 4, -63))
    weight = 1 + sum(size * np.cos(k * middle + np.deg2rad(shift)) for size, k, shift in waves)
    away = (mean_light - 50) ** 2
    by_light = (light_2 - light) / (1 + 0.015 * away / np.sqrt(20 + away))
    by_chroma = (c_2 - c) / (1 + 0.045 * mean)
    by_hue = 2 * np.sqrt(c * c_2) * np.sin(turn / 2) / (1 + 0.015 * mean * weight)
    blue = np.deg2rad(60 * np.exp(-(((np.rad2deg(middle) % 360 - 275) / 25) ** 2)))
    rotated = -2 * np.sqrt(mean**7 / (mean**7 + 25.0**7)) * np.sin(blue)
    return np.sqrt(by_light**2 + by_chroma**2 + by_hue**2 + rotated * by_chroma * by_hue)


def test_the_difference_of_colours_is_the_published_one():
    """Pairs 1, 13 and 25 of the table of Sharma, Wu and Dalal, 2005."""
    assert difference((50, 2.6772, -79.7751), (50, 0, -82.7485)) == pytest.approx(2.0425, abs=1e-4)
    assert difference((50, 2.5, 0), (50, 0, -2.5)) == pytest.approx(4.3065, abs=1e-4)
    assert difference((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387)) == pytest.approx(1.2644, abs=1e-4)


@pytest.mark.parametrize("shown", [np.asarray, DARKEN], ids=["light", "dark"])
def test_any_two_colours_are_told_apart_and_from_their_ground(shown):
    colours = {colour: lab(shown(np.array(to_rgb(colour)))) for colour in (*COLOURS, "#FFFFFF")}
    found = {pair: difference(*map(colours.get, pair)) for pair in combinations(colours, 2)}
    assert {pair: value for pair, value in found.items() if value < 21} == {}


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


def test_a_label_of_no_learner_looks_the_same_in_all_panels_that_it_does_not_share_with_its_look():
    seen = {}
    first = of_lines([{"variable": "v", "label": "sphere"}, {"variable": "v", "label": "spiked"}], {}, seen)
    again = of_lines([{"variable": "w", "label": "skewed"}, {"variable": "w", "label": "spiked"}], {}, seen)
    assert again[1] == first[1] != again[0]
    taken = of_lines([{"learner": "a"}, {"variable": "w", "label": "sphere"}], {"a": first[0]}, seen)
    assert taken[0] == first[0] != taken[1]


def test_theory_of_a_learner_has_its_colour_and_at_another_place_another_marker():
    names = "NTK-Raw", "NTK of the network"
    lines = [{"variable": "v", "label": f"{name}, $p={p}$"} for p in (2, 3) for name in names]
    raw, network, higher_raw, higher_network = of_lines(lines, {})
    assert (raw, network) == (looks({"x": "NTK-Raw"})["x"], looks({"x": "NTK of the network"})["x"])
    assert (raw[0], network[0]) == (higher_raw[0], higher_network[0])
    assert len({raw, network, higher_raw, higher_network}) == 4


def test_lines_of_one_panel_never_look_alike():
    found = of_lines([{"variable": str(k)} for k in range(24)], {})
    assert len(set(found)) == 24


@pytest.mark.parametrize("preset", ["quick", "standard"])
@pytest.mark.parametrize("file", STUDIES, ids=[file.stem for file in STUDIES])
def test_every_primary_claim_has_a_panel(file, preset):
    study, _ = shipped.checked(file, preset)
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
    "probe_difference": "mean",
}


def taken(quantity):
    """What a row takes of the seeds."""
    if quantity["name"] in ("score_mean", "probe_mean"):
        return "geometric mean" if quantity.get("positive") or quantity.get("log") else "mean"
    return MEANS.get(quantity["name"], "median")


@pytest.mark.parametrize("file", STUDIES, ids=[file.stem for file in STUDIES])
def test_every_panel_shows_a_claim_and_of_the_seeds_what_its_first_claim_takes(file):
    study, _ = shipped.checked(file, "quick")
    for panel in study.figure.get("panels", []):
        assert panel.get("shows"), panel["title"]
        if panel["kind"] != "growth" and panel["shows"][0] in study.claims:
            assert panel.get("centre", "median") == taken(study.claims[panel["shows"][0]].quantity), panel["title"]
