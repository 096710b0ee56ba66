"""The panels figure draws what the data say."""

import runpy
from math import comb

import numpy as np
import pytest
import xarray
from matplotlib.figure import Figure

from hierlearn.core.registry import PACKAGE, build
from hierlearn.pipeline.figures._axes import tick_values

STUDY = {"title": "t", "labels": {"a": "learner A", "b": "learner B", "c": "learner C"}}


def probes():
    values = np.array([1.0, 0.5, 0.25])[:, None] * np.array([0.9, 1.0, 1.2])
    return {"p": xarray.Dataset({"law": (("width", "seed"), values)}, {"width": [10, 20, 40], "seed": [0, 1, 2]})}


def cube():
    axes = ("learner", "dimension", "samples", "seed")
    n = np.array([10.0, 20.0, 40.0, 80.0])
    risk = np.stack([(d * 4.0 / n)[:, None] * np.array([0.9, 1.0, 1.1]) for d in (4, 8)])
    both = np.stack([risk, 20 * risk])
    return xarray.Dataset(
        {"test_risk": (axes, both), "status": (axes, np.zeros(both.shape, np.int8))},
        {"learner": ["a", "b"], "dimension": [4, 8], "samples": n.astype(int), "seed": [0, 1, 2]},
    )


TABLE = {
    "place": "Figure 7",
    "coordinates": ["learner", "samples"],
    "rows": [
        {"learner": "net", "samples": 40, "value": 0.5},
        {"learner": "net", "samples": 10, "value": 2.0},
        {"learner": "net", "samples": 20, "low": 0.7, "high": 0.9},
        {"learner": "other", "low": 0.1, "high": 0.3},
        {"learner": "last", "value": 1.45},
    ],
}


def traces():
    """Learner a, trained with seeds 0 and 1 of three, recorded at 0, 1, 10 and 100; b at 3."""
    loss = np.full((2, 1, 3, 5), np.nan)
    loss[0, 0, 0, [0, 1, 3, 4]] = [9.0, 4.0, 2.0, 1.0]
    loss[0, 0, 1, [0, 1, 3, 4]] = [9.0, 6.0, 4.0, 1.0]
    loss[1, 0, :, 2] = 5.0
    return xarray.Dataset(
        {"train_loss": (("learner", "dimension", "seed", "step"), loss)},
        {"learner": ["a", "b"], "dimension": [4], "seed": [0, 1, 2], "step": [0, 1, 3, 10, 100]},
    )


def drawn(panel, scores=None, recorded=None):
    figure = build("figures", {"name": "panels", "panels": [panel]}).draw(scores, probes(), STUDY, recorded)
    return figure.axes[0]


def overlaid(*lines):
    ours = {"learner": "a", "where": {"dimension": 4}}
    return drawn({"kind": "risk", "title": "T", "x": "samples", "lines": [*lines, ours]}, cube())


def test_a_probe_is_drawn_as_medians_with_the_predicted_slope_through_the_last():
    place = drawn(
        {"kind": "probe", "title": "T", "probe": "p", "x": "width", "lines": [{"variable": "law", "slope": -1}]}
    )
    line, guide = place.get_lines()
    np.testing.assert_allclose(line.get_xydata(), [[10, 1.0], [20, 0.5], [40, 0.25]])
    np.testing.assert_allclose(guide.get_ydata(), [1.0, 0.5, 0.25])
    assert place.get_xscale() == place.get_yscale() == "log"


def test_a_bound_has_the_colour_of_the_line_that_it_bounds():
    lines = [{"variable": "law"}, {"variable": "law", "label": "again"}]
    lines += [{"variable": "law", "bound": True, "colour_of": 2}]
    first, second, bound = drawn(
        {"kind": "probe", "title": "T", "probe": "p", "x": "width", "lines": lines}
    ).get_lines()
    assert bound.get_color() == second.get_color() != first.get_color()


def test_risks_are_drawn_along_samples_at_the_named_place_with_the_counting_bound():
    place = drawn(
        {
            "kind": "risk",
            "title": "T",
            "x": "samples",
            "counting": {"dimension": 8, "degree": 2},
            "lines": [{"learner": "a", "where": {"dimension": 8}}],
        },
        cube(),
    )
    line, bound = place.get_lines()
    np.testing.assert_allclose(line.get_ydata(), 32.0 / np.array([10, 20, 40, 80]))
    assert line.get_label() == "learner A"
    x, y = bound.get_xydata().T
    np.testing.assert_allclose(y, 1 - x / 35)


def test_theory_is_dotted_beside_its_learner_and_ends_soon_after_it():
    """The learner was measured at n = 10 to 80."""
    n = [5, 20, 150, 500]
    risk = xarray.Dataset({"risk": (("line", "samples"), [[4.0, 2.0, 1.0, 0.5]])}, {"line": ["k"], "samples": n})
    lines = [
        {"learner": "a", "where": {"dimension": 4}},
        {"learner": "b", "where": {"dimension": 4}},
        {"probe": "theory", "variable": "risk", "where": {"line": "k"}, "colour_of": 1},
        {"probe": "theory", "variable": "risk", "where": {"line": "k"}, "colour_of": 2, "label": "theory"},
    ]
    panel = {"kind": "risk", "title": "T", "x": "samples", "lines": lines}
    figure = build("figures", {"name": "panels", "panels": [panel]}).draw(cube(), {"theory": risk}, STUDY)
    (place,) = figure.axes
    first, second, quiet, named = place.get_lines()
    np.testing.assert_allclose(quiet.get_xydata(), [[5, 4.0], [20, 2.0], [150, 1.0]])
    assert quiet.get_linestyle() == named.get_linestyle() == ":"
    assert (quiet.get_color(), named.get_color()) == (first.get_color(), second.get_color())
    assert [text.get_text() for text in place.get_legend().get_texts()] == ["learner A", "learner B", "theory"]


def test_the_counting_bound_of_compositions_is_drawn_in_their_units():
    panel = {"kind": "risk", "title": "T", "x": "samples", "counting": {"dimension": 8, "order": 3, "alpha": 0.5}}
    place = drawn(panel | {"lines": [{"learner": "a", "where": {"dimension": 8}}]}, cube())
    x, y = place.get_lines()[-1].get_xydata().T
    np.testing.assert_allclose(y, 3 * 0.25 * (1 - x / 56))


def test_the_samples_that_counting_asks_of_kernels_stand_beside_growth():
    counting = {"order": 3, "alpha": 0.5}
    panel = {"kind": "growth", "title": "T", "x": "dimension", "threshold": 0.5, "counting": counting}
    place = drawn(panel | {"lines": [{"learner": "a"}]}, cube())
    x, y = place.get_lines()[-1].get_xydata().T
    np.testing.assert_allclose(y, (1 - 0.5 / 0.75) * x * (x - 1) * (x - 2) / 6)


def test_what_counting_asks_along_the_order_is_drawn_in_units_of_the_target():
    unit, paper = ({"dimension": 9, "alpha": 0.5, "scale": scale} for scale in ("unit", "paper"))
    panel = {"kind": "growth", "title": "T", "x": "order", "threshold": 0.15, "lines": [{"learner": "a"}]}
    orders = cube().rename(dimension="order").assign_coords(order=[2, 3])
    x, y = drawn(panel | {"counting": unit}, orders).get_lines()[-1].get_xydata().T
    np.testing.assert_allclose(y, 0.25 * np.array([36, 84]))
    x, y = drawn(panel | {"counting": paper}, orders).get_lines()[-1].get_xydata().T
    np.testing.assert_allclose(y, [(1 - 0.15 / (k * 0.25)) * comb(9, int(k)) for k in x])


def test_the_bound_for_fixed_features_stands_beside_that_for_samples():
    counting = {"dimension": 8, "order": 3, "alpha": 0.5, "features": 14}
    panel = {"kind": "risk", "title": "T", "x": "samples", "counting": counting}
    place = drawn(panel | {"lines": [{"learner": "a", "where": {"dimension": 8}}]}, cube())
    fixed = next(line for line in place.get_lines() if "$D=14$" in line.get_label())
    assert list(fixed.get_ydata()) == pytest.approx([3 * 0.25 * (1 - 14 / 56)] * 2)


def named(place):
    """The words in a panel, in its legend or beside what they name."""
    legend = place.get_legend()
    return {text.get_text() for text in [*place.texts, *(legend.get_texts() if legend else ())]}


@pytest.mark.parametrize("kind", ["risk", "bars"])
def test_named_levels_cross_the_panel_and_are_named(kind):
    levels = [{"value": 0.3, "label": "first"}, {"value": 0.7, "label": "second"}]
    line = {"learner": "a", "where": {"dimension": 8} | ({"samples": 40} if kind == "bars" else {})}
    panel = {"kind": kind, "title": "T", "x": "samples", "lines": [line], "level": 0.1, "levels": levels}
    place = drawn(panel, cube())
    crossing = [one.get_xdata() if kind == "bars" else one.get_ydata() for one in place.get_lines()]
    assert [list(one) for one in crossing if len(one) == 2][-3:] == [[0.1] * 2, [0.3] * 2, [0.7] * 2]
    assert {"first", "second"} <= named(place)


def test_norms_are_drawn_at_matched_training_errors_beside_a_probe():
    recorded = traces()
    recorded["frobenius_norm"] = 1 / recorded.train_loss
    line = {"learner": "a", "errors": [2.0, 1.0, 0.5], "where": {"dimension": 4}}
    panel = {"kind": "probe", "title": "T", "probe": "p", "x": "width", "lines": [line]}
    recorded = recorded.isel(seed=[0, 1])
    (curve,) = drawn(panel, cube(), recorded).get_lines()
    # no training error is as small as 0.5
    np.testing.assert_allclose(curve.get_xydata(), [[2.0, 0.5], [1.0, 1.0]])


def test_growth_shows_crossings_and_named_open_triangles_where_there_are_none():
    lines = [{"learner": "a"}, {"learner": "b"}]
    place = drawn({"kind": "growth", "title": "T", "x": "dimension", "threshold": 0.5, "lines": lines}, cube())
    crossing = place.get_lines()[0].get_xydata()
    np.testing.assert_allclose(crossing, [[4, 32], [8, 64]], rtol=0.02)
    triangles = [line for line in place.get_lines() if line.get_markerfacecolor() == "white"]
    assert [line.get_ydata().tolist() for line in triangles] == [[80.0, 80.0]]
    assert [text.get_text() for text in place.get_legend().get_texts()] == ["learner A", "learner B: at least"]


def of_probe(probe, x, **said):
    """The axes of a panel of one line of a probe."""
    panel = {"kind": "probe", "title": "T", "probe": "p", "x": x, "lines": [{"variable": "law"}]} | said
    return build("figures", {"name": "panels", "panels": [panel]}).draw(None, {"p": probe}, {"labels": {}}).axes[0]


@pytest.mark.parametrize(("centre", "value"), [("median", 2.0), ("mean", 11 / 3), ("geometric mean", 16 ** (1 / 3))])
def test_a_panel_shows_of_the_seeds_what_it_says(centre, value):
    probe = xarray.Dataset({"law": (("width", "seed"), [[1.0, 2.0, 8.0]] * 2)}, {"width": [10, 20], "seed": [0, 1, 2]})
    place = of_probe(probe, "width", centre=centre)
    np.testing.assert_allclose(place.get_lines()[0].get_ydata(), [value, value])


def test_few_whole_numbers_on_a_linear_axis_are_its_ticks():
    probe = xarray.Dataset({"law": (("layers", "seed"), [[0.5], [0.7]])}, {"layers": [0, 1], "seed": [0]})
    assert of_probe(probe, "layers", xscale="linear").get_xticks().tolist() == [0, 1]


@pytest.mark.parametrize(("end", "shown"), [(1e3, [129, 386, 772, 1000]), (1e4, [129, 386, 772]), (1e30, [129, 1000])])
def test_a_logarithmic_axis_has_the_ticks_whose_labels_have_room_and_at_least_two(end, shown):
    place = Figure().subplots()
    place.loglog([129, 386, 772, 1000], [4, 3, 2, 1], marker="o")
    place.set_xlim(100, end)
    tick_values(place, "samples")
    assert place.get_xticks().tolist() == shown


def test_bars_have_a_row_for_every_learner():
    lines = [{"learner": name, "where": {"dimension": 4, "samples": 40}} for name in "ab"]
    place = drawn({"kind": "bars", "title": "T", "x": "samples", "lines": lines}, cube())
    assert [text.get_text() for text in place.get_yticklabels()] == ["learner A", "learner B"]
    medians = [line.get_xdata()[0] for line in place.get_lines() if len(line.get_xdata()) == 1]
    assert medians == pytest.approx([0.4, 8.0])


def test_trajectories_are_medians_of_the_seeds_that_were_trained_at_their_own_steps():
    line = {"learner": "a", "variable": "train_loss", "where": {"dimension": 4}}
    panel = {"kind": "trace", "title": "T", "x": "step", "lines": [line]}
    place = drawn(panel, cube(), traces())
    (curve,) = place.get_lines()
    np.testing.assert_allclose(curve.get_xydata(), [[1, 5.0], [10, 3.0], [100, 1.0]])
    assert place.get_xscale() == place.get_yscale() == "log"
    assert (place.get_xlabel(), place.get_ylabel(), curve.get_label()) == ("step", "train loss", "learner A")
    low, high = place.collections[0].get_datalim(place.transData).extents[[1, 3]]
    assert (low, high) == pytest.approx((1.0, 6.0))
    (linear,) = drawn(panel | {"xscale": "linear"}, cube(), traces()).get_lines()
    np.testing.assert_allclose(linear.get_xdata(), [0, 1, 10, 100])


def test_marks_stand_at_the_median_step_of_the_seeds_that_have_one():
    scores = cube().isel(samples=[0], dimension=[0])
    scores["layer_start"] = scores.test_risk.copy(data=np.array([30.0, np.nan, 50.0, 1, 1, 1]).reshape(2, 1, 1, 3))
    line = {"learner": "a", "variable": "train_loss", "where": {"dimension": 4}, "marks": {"layer_start": "it starts"}}
    place = drawn({"kind": "trace", "title": "T", "x": "step", "lines": [line]}, scores, traces())
    assert [list(mark.get_xdata()) for mark in place.get_lines() if mark.get_linestyle() == ":"] == [[40.0, 40.0]]
    assert "it starts" in named(place)


@pytest.mark.parametrize("line", [{"learner": "b", "variable": "norm"}, {"learner": "c", "variable": "train_loss"}])
def test_what_nobody_recorded_is_not_drawn(line):
    panel = {"kind": "trace", "title": "T", "x": "step", "lines": [line | {"label": "L"}]}
    for recorded in (traces(), xarray.Dataset(), None):
        assert not drawn(panel, cube(), recorded).get_lines()


def test_published_numbers_are_hollow_and_black_beside_our_own():
    place = overlaid({"published": TABLE, "where": {"learner": "net"}})
    ours, points, between = place.get_lines()
    np.testing.assert_allclose(points.get_xydata(), [[10, 2.0], [40, 0.5]])
    np.testing.assert_allclose(between.get_xydata(), [[20, 0.7], [20, 0.9]])
    for drawn_line in (points, between):
        assert (drawn_line.get_markerfacecolor(), drawn_line.get_markeredgecolor()) == ("none", "black")
    assert points.get_linestyle() == "None"
    assert ours.get_color() == overlaid().get_lines()[0].get_color()
    assert [text.get_text() for text in place.get_legend().get_texts()] == ["learner A", "published"]


def test_published_numbers_in_other_units_are_multiplied():
    place = overlaid({"published": TABLE, "where": {"learner": "net"}, "times": 3})
    _, points, between = place.get_lines()
    np.testing.assert_allclose(points.get_ydata(), [6.0, 1.5])
    np.testing.assert_allclose(between.get_ydata(), [2.1, 2.7])


def test_a_published_level_is_a_line_and_a_range_a_band():
    place = overlaid(*({"published": TABLE, "where": {"learner": name}} for name in ("other", "last")))
    (band,) = place.patches
    corners = band.get_extents().transformed(place.transData.inverted())
    assert (corners.y0, corners.y1) == pytest.approx((0.1, 0.3))
    level = place.get_lines()[-1]
    assert list(level.get_ydata()) == [1.45, 1.45]
    # one entry of the legend for all of them
    assert [text.get_text() for text in place.get_legend().get_texts()] == ["learner A", "published"]


def test_published_numbers_have_rows_of_their_own_among_bars():
    lines = [
        {"learner": "a", "where": {"dimension": 4, "samples": 40}},
        {"published": TABLE, "where": {"learner": "last"}, "label": "Figure 7"},
        {"published": TABLE, "where": {"learner": "other"}},
    ]
    place = drawn({"kind": "bars", "title": "T", "x": "samples", "lines": lines}, cube())
    assert [text.get_text() for text in place.get_yticklabels()] == ["learner A", "Figure 7", "published"]
    assert [list(map(tuple, line.get_xydata())) for line in place.get_lines()[-2:]] == [
        [(1.45, 1)],
        [(0.1, 2), (0.3, 2)],
    ]


def test_places_without_panels_stay_empty():
    panel = {"kind": "probe", "title": "T", "probe": "p", "x": "width", "lines": [{"variable": "law"}]}
    figure = build("figures", {"name": "panels", "columns": 2, "panels": [panel] * 3}).draw(None, probes(), STUDY)
    assert [place.axison for place in figure.axes] == [True, True, True, False]


def notes_of(models):
    script = runpy.run_path(str(PACKAGE.parent / "scripts" / "figure.py"), run_name="imported")
    return script["reachability_notes"](models, STUDY["labels"])


def test_degrees_out_of_reach_are_said_only_by_learners_that_know():
    even, odd = ({"name": "ridge_polynomial", "degree": degree} for degree in (4, 3))
    blind, network = {"name": "randomised", "activation": "sin"}, {"name": "network"}
    models = [
        {"name": "a", "learner": learner, "teacher": teacher, "dimension": 6}
        for learner, teacher in ((blind, even), (blind, odd), (network, even))
    ]
    assert [len(notes_of([model])) for model in models] == [1, 0, 0]


def test_a_degree_that_a_kernel_cannot_represent_is_a_warning():
    kernel = {"name": "kernel_ridge", "kernel": {"name": "arccos", "order": 1}}
    models = [
        {"name": "a", "learner": kernel, "teacher": {"name": "ridge_polynomial", "degree": p}, "dimension": 5}
        for p in (2, 3, 3)
    ]
    (line,) = notes_of(models)
    assert line.startswith("learner A: the kernel has no eigenvalue at degree 3")
