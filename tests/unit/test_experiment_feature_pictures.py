"""Pictures of units: gradient ascent finds what is known to be best, and distances say who stayed near."""

import numpy as np
import pytest
import xarray
from matplotlib.figure import Figure

from hierlearn.core.needs import Sizes
from hierlearn.core.problem import pose
from hierlearn.core.registry import build, defaults, needs, validate
from hierlearn.core.streams import Streams
from hierlearn.pipeline.measurements.feature_pictures import nearness

SEEDS = (3, 5)
NETWORK = {"name": "convolutional", "architecture": "plain", "depth": 3, "width": 4, "batch": 16, "steps": 6}
DIGITS = {
    "input": {"name": "shifted_digits"},
    "teacher": {"name": "picture_class"},
    "dimension": 196,
    "learner": NETWORK,
    "layers": [1, 2],
    "learning_rate": 0.1,
    "samples": 64,
}


def problem():
    law, teacher = build("inputs", {"name": "sphere"}, dimension=6), build("teachers", {"name": "ridge_polynomial"})
    return pose(law, teacher, "unit", 0.0, Streams(("a test",), SEEDS, 1), 40)


def described(**parameters):
    return {"name": "feature_pictures"} | defaults("probes", "feature_pictures") | DIGITS | parameters


@pytest.fixture(scope="module")
def found():
    return build("probes", described(ascent=5, shown=3)).measure(problem())


def test_a_picture_of_the_first_layer_is_the_one_that_its_linear_units_take_most_from():
    """Before its activation a unit of layer 1 is linear: the mean over places is largest along its gradient."""
    import torch

    experiment = build("probes", described())
    posed, features = experiment.posed(problem())
    learner = build("learners", NETWORK | {"schedule": "only", "trained": 1})
    fit = experiment.train(learner, posed, features)
    pictures = learner.pictures(fit.state, 1, 1, np.full((14, 14, 1), 0.01, np.float32), 200, 0.2, 4.0)
    kernels = torch.tensor(fit.state["layer0_weight0"][1])
    # Places that see each pixel through each weight, by a convolution written out.
    best = np.zeros((len(pictures), 14, 14))
    for unit, (i, j) in ((u, p) for u in range(len(pictures)) for p in np.ndindex(3, 3)):
        weight = float(kernels.reshape(3, 3, 1, -1)[i, j, 0, unit])
        rows, columns = (slice(max(0, k - 1), 14 + min(0, k - 1)) for k in (i, j))
        best[unit, rows, columns] += weight
    best *= 4.0 / np.linalg.norm(best, axis=(1, 2), keepdims=True)
    np.testing.assert_allclose(pictures[..., 0], best, atol=0.02)


def test_the_pictures_lie_in_the_ball_and_change_while_a_network_learns(found):
    kept = [found[name] for name in ("picture", "picture_before", "picture_start")]
    for one in kept:
        assert one.dimensions == ("seed", "layers", "unit", "row", "column")
        assert one.values.shape == (2, 2, 3, 14, 14)
        assert np.all(np.linalg.norm(one.values, axis=(-2, -1)) <= 4.0 + 1e-4)
    for one, other in ((0, 1), (1, 2), (0, 2)):
        assert np.max(np.abs(kept[one].values - kept[other].values)) > 1e-3


def test_units_that_a_layer_does_not_have_are_unknown():
    found = build("probes", described(ascent=1, layers=[1], shown=5)).measure(problem())
    assert np.isfinite(found["picture"].values[:, :, :4]).all() and np.isnan(found["picture"].values[:, :, 4]).all()


def test_the_numbers_are_of_the_seeds_and_layers(found):
    for name in ("nearness", "start_nearness", "found", "start_found"):
        assert found[name].dimensions == ("seed", "layers")
        assert np.isfinite(found[name].values).all()
    assert np.all((found["found"].values >= 0) & (found["found"].values <= 1))


def test_nearness_is_the_mean_log_distance_to_the_own_picture_less_that_to_the_others():
    others = np.eye(3)[:, :, None]
    corrected = others + 0.1
    own = 0.1 * np.sqrt(3)
    # Two coordinates are 1 away, with 0.1 more of one and less of the other, and the third 0.1.
    rest = np.sqrt(1.1**2 + 0.9**2 + 0.1**2)
    assert nearness(corrected, others) == pytest.approx((np.log(own / rest), 1.0))
    swapped = nearness(corrected, others[[1, 2, 0]])
    assert swapped[0] == pytest.approx(np.log(rest) - np.log(rest * own) / 2) and swapped[1] == 0.0


def test_it_asks_for_the_work_of_both_phases():
    few, many = (
        needs("probes", described(learner=NETWORK | {"steps": steps}, test=1), Sizes(seeds=2)).work["measure"]
        for steps in (100, 1000)
    )
    assert many / few == pytest.approx(10, rel=0.01)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"layers": [3]}, ("learner", "l = 3: trained 3 of 3 layers with schedule 'fixed'", "at most 2")),
        (
            {"learner": NETWORK | {"width": 1}},
            ("learner", "width 1", "at least 2 units, one to compare the other with"),
        ),
        ({"learner": {"name": "linear"}}, ("learner", "'linear'", "convolutional, whose units these are")),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_runs(change, said):
    assert validate("probes", described(**change), None) == [said]


def test_the_figure_shows_every_stage_and_both_comparisons(found):
    drawing = build("figures", {"name": "feature_pictures", "probe": "one", "shows": {"b": ["X1"]}})
    probe = xarray.Dataset({name: (one.dimensions, one.values) for name, one in found.items()})
    figure = drawing.draw(None, {"one": probe}, {})
    assert isinstance(figure, Figure)
    left, right = figure.axes
    (mosaic,) = left.get_images()
    assert mosaic.get_array().shape == (3 * 15 - 1, 3 * 15 - 1)
    assert [text.get_text() for text in left.texts] == ["before training", "before correction", "after correction"]
    assert [text.get_text() for text in right.get_legend().get_texts()] == ["layer 1", "layer 2"]
