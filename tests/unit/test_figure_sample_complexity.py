"""The figure of sample complexities draws what a cube of known curves says, in every preset of the study."""

import numpy as np
import pytest
import shipped
import xarray
from matplotlib.colors import to_hex
from matplotlib.markers import CARETRIGHTBASE

from hierlearn.core.provenance import PACKAGE
from hierlearn.core.registry import build
from hierlearn.pipeline.figures._identities import COLOURS, MARKERS

DIMENSIONS, SAMPLES, SPREAD = [6, 8, 10, 14, 20], np.round(2.0 ** np.arange(2, 15)), np.array([0.8, 1.0, 1.3])
STUDY = PACKAGE.parents[1] / "config/studies/chen2020-sample-complexity.yaml"


def cube(laws, dimensions=DIMENSIONS, caps=None, degrees=(4, 2)):
    """Risk n* / (2 n) up to a learner's cap. laws: learner -> n*(d, degree), None for one that is not trained there."""
    axes = ("learner", "dimension", "degree", "samples", "seed")
    risk = np.full((len(laws), len(dimensions), len(degrees), len(SAMPLES), len(SPREAD)), np.nan)
    for i, (name, law) in enumerate(laws.items()):
        for j, d in enumerate(dimensions):
            for k, p in enumerate(degrees):
                if law(d, p) is not None:
                    risk[i, j, k] = law(d, p) * SPREAD / (2 * SAMPLES[:, None])
                    risk[i, j, k, (caps or {}).get(name, np.inf) < SAMPLES] = np.nan
    return xarray.Dataset(
        {"test_risk": (axes, risk), "status": (axes, np.zeros(risk.shape, np.int8))},
        {
            "learner": list(laws),
            "dimension": dimensions,
            "degree": list(degrees),
            "samples": SAMPLES.astype(int),
            "seed": [0, 1, 2],
        },
    )


def drawn(scores, probes=None, **settings):
    given = {"name": "sample_complexity", "main": {"degree": 4}, "control": {"degree": 2}} | settings
    labels = {str(name): f"Learner {name}" for name in scores.learner.values}
    return build("figures", given).draw(scores, probes or {}, {"title": "T", "labels": labels})


def panels(figure):
    """The panels by their letter, and the small ones of the learning curves."""
    titles = {place: place.get_title(loc="left") for place in figure.axes}
    lettered = {title[0]: place for place, title in titles.items() if title[1:3] == "  "}
    return lettered, [place for place, title in titles.items() if place.get_title() and title == ""]


def points(place, look, hollow=False):
    """(N, 2) of the bare markers of a learner in a panel."""
    bare = [line for line in place.get_lines() if line.get_ls() == "None" and line.get_marker() == MARKERS[look]]
    bare = [line for line in bare if (to_hex(line.get_mfc()) == "#ffffff") == hollow]
    found = [line.get_xydata() for line in bare if to_hex(line.get_color()) == to_hex(COLOURS[look])]
    return np.concatenate([np.empty((0, 2)), *found])


def lines(place, look, style):
    return [
        line
        for line in place.get_lines()
        if line.get_ls() == style and to_hex(line.get_color()) == to_hex(COLOURS[look])
    ]


def test_crossings_are_drawn_where_the_curves_cross_with_the_line_through_them():
    figure = drawn(cube({"a": lambda d, p: 2.0 * d**2}))
    place = panels(figure)[0]["b"]
    np.testing.assert_allclose(points(place, 0), [(d, 2 * d**2) for d in DIMENSIONS], rtol=1e-6)
    (fitted,) = [line for line in lines(place, 0, "-") if line.get_xdata()[0] != line.get_xdata()[-1]]
    np.testing.assert_allclose(fitted.get_xydata(), [(6, 72), (20, 800)], rtol=1e-6)


def test_learning_curves_are_the_medians_over_seeds():
    _, (place,) = panels(drawn(cube({"a": lambda d, p: 2.0 * d})))
    for d, curve in zip(DIMENSIONS, place.get_lines(), strict=False):
        np.testing.assert_allclose(curve.get_xydata(), np.column_stack([SAMPLES, d / SAMPLES]))


def test_what_a_budget_does_not_reach_is_a_hollow_marker_of_the_learner_with_an_arrow():
    laws = {"a": lambda d, p: 2.0 * d**2, "b": lambda d, p: 3.0 * d**2}
    place = panels(drawn(cube(laws, caps={"a": 256, "b": 256})))[0]["b"]
    assert points(place, 0)[:, 0].tolist() == [6, 8, 10]
    np.testing.assert_allclose(points(place, 0, hollow=True), [(14, 256), (20, 256)])
    bounds = points(place, 1, hollow=True)
    np.testing.assert_allclose(bounds[:, 1], 256)
    # Beside those of the other learner, not under them.
    assert np.all(bounds[-2:, 0] > [14, 20])
    arrows = [text for text in place.texts if text.arrow_patch is not None]
    assert len(arrows) == 5


def test_exponents_are_those_of_the_counted_dimension_at_the_sizes_that_are_named():
    laws = {"a": lambda d, p: 4.0 * (d**2 if d < 20 else d**3)}
    figure = drawn(
        cube(laws, caps={"a": 1e5}),
        counted={"a": "dimension"},
        sizes={"a": [6, 8, 10]},
        control_sizes={"a": [8, 10, 14]},
    )
    markers = [line for line in panels(figure)[0]["e"].get_lines() if line.get_marker() == MARKERS[0]]
    np.testing.assert_allclose([line.get_xdata()[0] for line in markers], [2.0, 2.0], atol=1e-6)


def test_a_control_may_be_compared_with_another_count():
    figure = drawn(
        cube({"a": lambda d, p: 30.0 * d}),
        counted={"a": "polynomial_dimension"},
        control_counted={"a": "quadratic_dimension"},
    )
    labels = [text.get_text() for text in panels(figure)[0]["e"].get_yticklabels()]
    counts = [r"$P_{\lceil p/2\rceil}$", "$P_2$"]
    assert labels == [f"Learner a\nin {count}" for count in counts]


def test_an_interval_that_runs_off_the_panel_ends_in_an_arrow():
    wild = dict(zip(DIMENSIONS, (30.0, 400.0, 60.0, 900.0, 200.0), strict=True))
    place = panels(drawn(cube({"a": lambda d, p: wild[d]}), counted={"a": "dimension"}))[0]["e"]
    ends = [line.get_xdata()[0] for line in place.get_lines() if line.get_marker() == CARETRIGHTBASE]
    assert ends == [place.get_xlim()[1]] * 2


def test_theory_lines_have_the_marker_and_the_name_of_their_learner():
    line = xarray.Dataset(
        {"sample_complexity": (("dimension", "degree", "line", "threshold"), np.full((5, 2, 1, 1), 70.0))},
        {"dimension": DIMENSIONS, "degree": [4, 2], "line": ["k"], "threshold": [0.5]},
    )
    settings = {"theory": {"a": "k"}, "probe": "law", "counted": {"a": "harmonic_dimension"}}
    place = panels(drawn(cube({"a": lambda d, p: 2.0 * d**2}), {"law": line}, **settings))[0]["d"]
    assert [one.get_marker() for one in lines(place, 0, ":")] == [MARKERS[0]] * 2
    assert [text.get_text() for text in place.texts] == ["Learner a, $p=4$", "Learner a, $p=2$"]


def test_learners_without_data_have_no_panel_and_no_entry():
    laws = {"a": lambda d, p: 2.0 * d**2, "never": lambda d, p: None, "c": lambda d, p: 90.0 if p == 2 else None}
    figure = drawn(cube(laws))
    assert [place.get_title() for place in panels(figure)[1]] == ["Learner a"]
    entries = [text.get_text() for part in figure.subfigs for one in part.legends for text in one.get_texts()]
    assert entries[:2] == ["Learner a", "Learner c"]
    assert "Learner never" not in entries


@pytest.mark.parametrize("preset", ["quick", "standard", "full", "smoke"])
def test_every_preset_has_a_look_for_each_learner_and_draws(preset):
    study, faults = shipped.checked(STUDY, preset)
    assert not faults
    hidden = study.figure.get("hidden", [])
    names = [name for name in study.learners if name not in hidden]
    assert len(names) <= len(set(COLOURS)) == len(set(MARKERS))
    law = {name: lambda d, p, i=i: (20.0 + 5 * i) * d for i, name in enumerate(names)}
    scores = cube(law, study.axes["dimension"], degrees=study.axes["degree"])
    settings = {key: value for key, value in study.figure.items() if key != "name"}
    assert settings["counted"].keys() - set(hidden) == set(names)
    figure = drawn(scores, **settings)
    assert len(panels(figure)[1]) == len(names)
    rows = panels(figure)[0]["e"].get_yticklabels()
    assert len(rows) == 2 * len(names)


def test_the_least_number_of_points_is_drawn_where_unlabelled_ones_are_counted_too():
    """At d = 6 the learner with 100 unlabelled points needs fewer in all, at d = 20 the one with 400."""
    laws = {"a": lambda d, p: 20.0 * d, "few": lambda d, p: 2.0 * d**2, "many": lambda d, p: 10.0 * d}
    scores = cube(laws, dimensions=[6, 20])
    scores["unlabelled_samples"] = scores.test_risk * 0 + xarray.DataArray([0.0, 100.0, 400.0], dims="learner")
    figure = drawn(scores, hidden=["few", "many"], together={"a": ["few", "many", "not trained here"]})
    shown = [line for line in panels(figure)[0]["b"].get_lines() if line.get_marker() == "x"]
    (line,) = shown
    small, large = line.get_xydata()
    assert tuple(small) == pytest.approx((6, 72 + 100), rel=0.1) and tuple(large) == pytest.approx((20, 600), rel=0.1)
    assert not [line for line in panels(figure)[0]["c"].get_lines() if line.get_marker() == "x"]


def test_a_study_of_dimensions_alone_shows_its_samples_and_exponents_in_d():
    scores = cube({"a": lambda d, p: 3 * d**2.0, "b": lambda d, p: 40.0}).isel(degree=0, drop=True)
    figure = drawn(scores, main={}, control={})
    lettered, _ = panels(figure)
    assert lettered["b"].get_title(loc="left") == "b  Samples to risk 0.5"
    assert "c" not in lettered and len(lettered["b"].lines) > len(DIMENSIONS)
    labels = [text.get_text() for text in lettered["e"].get_yticklabels()]
    assert labels == ["Learner a\nin $d$", "Learner b\nin $d$"]
    (legend,) = [one for part in figure.subfigs for one in part.legends]
    assert not any("theory" in text.get_text() or "predicted" in text.get_text() for text in legend.get_texts())
