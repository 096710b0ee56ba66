"""What every figure must do: draw what studies ask of it, in equal bytes for equal data, which stay as they are."""

import io
import itertools

import numpy as np
import pytest
import xarray
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from hierlearn.core.registry import available, build, parameters
from hierlearn.pipeline.figures._style import has_points, lay_out, save

DIMENSIONS, SAMPLES = [6, 8, 10, 14], np.array([16, 32, 64, 128, 256, 512])
STUDY = {"title": "A study", "labels": {"a": "learner A", "b": "learner B"}}
SETTINGS = {
    "panels": {
        "panels": [
            {
                "kind": "risk",
                "title": "Risk",
                "x": "samples",
                "lines": [{"learner": "a", "where": {"dimension": 8, "degree": 2}}],
            },
            {"kind": "probe", "title": "Probe", "probe": "p", "x": "width", "lines": [{"variable": "law"}]},
        ]
    },
    "sample_complexity": {
        "main": {"degree": 2},
        "control": {"degree": 1},
        "counted": {"a": "dimension", "b": "harmonic_dimension"},
    },
    "feature_pictures": {"probe": "units"},
}


def cube():
    """Risk n* / (2 n) with n* = d^2 times a factor of the learner and the seed; b is never trained at degree 1."""
    axes = ("learner", "dimension", "degree", "samples", "seed")
    d, factor = np.array(DIMENSIONS, float)[:, None, None, None], np.array([0.9, 1.0, 1.2])
    risk = np.stack([scale * d**2 * factor / (2 * SAMPLES[:, None]) * np.ones((1, 2, 1, 1)) for scale in (1.0, 6.0)])
    risk[1, :, 1] = np.nan
    return xarray.Dataset(
        {"test_risk": (axes, risk), "status": (axes, np.zeros(risk.shape, np.int8))},
        {
            "learner": ["a", "b"],
            "dimension": DIMENSIONS,
            "degree": [2, 1],
            "samples": SAMPLES,
            "seed": [0, 1, 2],
        },
    )


def with_risk(risk):
    """The cube with one risk everywhere, or with one for each learner."""
    scores = cube()
    values = np.broadcast_to(np.reshape(risk, (-1, 1, 1, 1, 1)), scores.test_risk.shape)
    return scores.assign(test_risk=scores.test_risk.copy(data=np.array(values)))


def without_a_seed():
    scores = cube()
    return scores.assign(test_risk=scores.test_risk.where(scores.seed > 0))


# Scores that leave a figure little to show, and what a panel of n* then says; "" where n* is known somewhere.
SPARSE = {
    "no points": (lambda: with_risk(np.nan), "no n* was measured"),
    "all n* censored from below": (lambda: with_risk(1.0), "n* above 512"),
    "all n* censored from above": (lambda: with_risk(1e-3), "n* at most 16"),
    "risks of 0": (lambda: with_risk(0.0), "n* at most 16"),
    "n* censored on both sides": (lambda: with_risk([1e-3, 1.0]), "no n* observed: bounds alone"),
    "one size, above": (lambda: with_risk(1.0).isel(samples=[0]), "n* above 16"),
    "one size, below": (lambda: with_risk(1e-3).isel(samples=[0]), "n* at most 16"),
    "one dimension": (lambda: cube().sel(dimension=[8]), ""),
    "one seed": (lambda: cube().isel(seed=[0]), ""),
    "one of all, above": (lambda: with_risk(1.0).isel(seed=[0], samples=[2]).sel(dimension=[8]), "n* above 64"),
    "one of all, below": (lambda: with_risk(1e-3).isel(seed=[0], samples=[2]).sel(dimension=[8]), "n* at most 64"),
    "a seed that stopped": (without_a_seed, "no n* observed: bounds alone"),
    "one large size, above": (
        lambda: with_risk(1.0).isel(samples=[0]).assign_coords(samples=[10**5]),
        "n* above 100000",
    ),
    "one large size, reached": (lambda: with_risk(0.5).isel(samples=[0]).assign_coords(samples=[10**5]), ""),
}


def probes():
    values = np.array([1.0, 0.5, 0.25])[:, None] * np.array([0.9, 1.0, 1.2])
    law = xarray.Dataset({"law": (("width", "seed"), values)}, {"width": [10, 20, 40], "seed": [0, 1, 2]})
    near = {name: (("layers", "seed"), -values[:2]) for name in ("nearness", "start_nearness")}
    pictures = np.sin(np.arange(3.0 * 2 * 2 * 4 * 4)).reshape(3, 2, 2, 4, 4)
    pictures[:, :, 1] = np.nan
    axes = ("seed", "layers", "unit", "row", "column")
    kept = {name: (axes, pictures) for name in ("picture", "picture_before", "picture_start")}
    coordinates = {"layers": [1, 2], "seed": [0, 1, 2], "unit": [0, 1], "row": range(4), "column": range(4)}
    return {"p": law, "units": xarray.Dataset(near | kept, coordinates)}


@pytest.fixture(params=available("figures"))
def name(request):
    return request.param


def drawn(name, scores, settings=None):
    return build("figures", {"name": name} | (settings or {})).draw(scores, probes(), STUDY, None)


def written(figure, kind):
    buffer = io.BytesIO()
    save(lay_out(figure), buffer, kind, {"code_hash": "0"})
    return buffer.getvalue()


def test_its_parameters_have_defaults_that_draw(name):
    known = parameters("figures", name)
    assert all(schema["description"] for schema in known.values())
    required = {key: SETTINGS[name][key] for key, schema in known.items() if "default" not in schema}
    assert isinstance(drawn(name, cube().sel(degree=[2]), required), Figure)


def test_it_draws_the_data_with_a_title_on_every_panel_in_use(name):
    figure = drawn(name, cube(), SETTINGS.get(name))
    used = [place for place in figure.axes if place.axison]
    assert used
    assert all(place.get_title() or place.get_title(loc="left") for place in used)
    assert any(np.isfinite(line.get_ydata()).any() for place in used for line in place.get_lines())


def words_of(place):
    return " ".join(text.get_text() for text in place.texts).strip()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("case", [*SPARSE, "no probe measured"])
def test_it_draws_what_little_there_is_and_says_so_in_words(name, case):
    found = {key: one.where(case != "no probe measured") for key, one in probes().items()}
    figure = build("figures", {"name": name} | SETTINGS.get(name, {})).draw(
        SPARSE.get(case, [cube])[0](), found, STUDY, None
    )
    assert len(written(figure, "svg")) > 1000
    for place in figure.axes:
        # A panel shows a point, or a picture, or says why it has none.
        assert has_points(place) or place.images or place.texts, place.get_title(loc="left")


@pytest.mark.parametrize("learners", [2, 5, 12])
def test_the_legend_of_sample_complexity_lies_inside_the_figure_and_on_no_words(learners):
    names = [f"a{i}" for i in range(learners)]
    scores = cube().sel(learner=["a"] * learners, degree=[2], dimension=[8]).assign_coords(learner=names)
    labels = {name: f"randomised model of width 128, data-dependent regulariser {name}" for name in names}
    figure = build("figures", {"name": "sample_complexity"}).draw(
        scores.isel(degree=0, drop=True), {}, {"title": "A study", "labels": labels}, None
    )
    lay_out(figure)
    renderer = FigureCanvasAgg(figure).get_renderer()
    (legend,) = figure.subfigs[1].legends
    box = legend.get_window_extent(renderer)
    assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 and figure.bbox.y0 <= box.y0
    for place in figure.axes:
        assert not box.overlaps(place.get_tightbbox(renderer))
    titles = [place.title.get_window_extent(renderer) for place in figure.axes if place.title.get_text()]
    assert not any(left.overlaps(right) for left, right in itertools.pairwise(titles))


def test_markers_of_one_dimension_stand_together_about_its_tick():
    names = [f"a{i}" for i in range(8)]
    scores = with_risk(1.0).sel(learner=["a"] * 8, dimension=[8]).assign_coords(learner=names)
    figure = build("figures", {"name": "sample_complexity", "main": {"degree": 2}}).draw(
        scores, {}, {"title": "A study", "labels": dict(zip(names, names, strict=True))}, None
    )
    (growth,) = [place for place in figure.axes if place.get_title(loc="left").startswith("b")]
    drawn_at = [
        line.get_xdata()[0] for line in growth.get_lines() if line.get_marker() != "None" and len(line.get_xdata())
    ]
    left, right = growth.get_xlim()
    assert list(growth.get_xticks()) == [8] and min(drawn_at) == 8
    # All of them lie in the middle half of the axis.
    assert np.log(max(drawn_at) / min(drawn_at)) < np.log(right / left) / 2


@pytest.mark.parametrize("case", SPARSE)
def test_samples_that_nobody_observed_are_bounds_in_words(case):
    scores, said = SPARSE[case]
    figure = drawn("sample_complexity", scores(), SETTINGS["sample_complexity"])
    (growth,) = [place for place in figure.axes if place.get_title(loc="left").startswith("b")]
    assert words_of(growth).startswith(said)
    assert bool(words_of(growth)) == bool(said)


@pytest.mark.parametrize(("risk", "label"), [(1.0, "learner A: at least"), (1e-3, "learner A: at most")])
def test_panels_of_growth_show_bounds_on_the_side_where_they_are(risk, label):
    line = {"learner": "a", "where": {"degree": 2}}
    panel = {"kind": "growth", "title": "Growth", "x": "dimension", "lines": [line]}
    (place,) = drawn("panels", with_risk(risk), {"panels": [panel]}).axes
    (bounds,) = [one for one in place.get_lines() if one.get_label() == label]
    assert list(bounds.get_ydata()) == [512 if risk == 1.0 else 16] * len(DIMENSIONS)


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_equal_data_gives_equal_bytes(name, kind):
    first, second = (written(drawn(name, cube(), SETTINGS.get(name)), kind) for _ in range(2))
    assert first == second
    assert len(first) > 1000


def test_drawing_leaves_the_data_alone(name):
    scores = cube()
    drawn(name, scores, SETTINGS.get(name))
    assert scores.identical(cube())
