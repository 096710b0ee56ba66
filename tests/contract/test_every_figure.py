"""What every figure must do: draw what studies ask of it, in equal bytes for equal data, which stay as they are."""

import io

import numpy as np
import pytest
import xarray
from matplotlib.figure import Figure

from hierlearn.core.registry import available, build, parameters
from hierlearn.figures._style import lay_out, save

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


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_equal_data_gives_equal_bytes(name, kind):
    first, second = (written(drawn(name, cube(), SETTINGS.get(name)), kind) for _ in range(2))
    assert first == second
    assert len(first) > 1000


def test_drawing_leaves_the_data_alone(name):
    scores = cube()
    drawn(name, scores, SETTINGS.get(name))
    assert scores.identical(cube())
