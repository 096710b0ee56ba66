"""One sheet shows every figure, as it is and in the dark."""

import runpy

import numpy as np
import pytest
from matplotlib.image import imread, imsave

from hierlearn.core.registry import PACKAGE

SCRIPT = runpy.run_path(str(PACKAGE.parents[0] / "scripts" / "contact_sheet.py"))


def test_in_the_dark_lightness_is_turned_around_and_hues_stay():
    white, blue = np.ones((1, 1, 3)), np.array([[[0.0, 0.4, 0.8]]])
    assert SCRIPT["darken"](white) == pytest.approx(np.zeros((1, 1, 3)))
    assert SCRIPT["darken"](blue) == pytest.approx(np.array([[[0.2, 0.6, 1.0]]]))
    assert SCRIPT["darken"](SCRIPT["darken"](blue)) == pytest.approx(blue)


def test_both_sheets_hold_every_picture(tmp_path):
    pictures = []
    for name, colour in (("one", (1.0, 0.0, 0.0)), ("two", (0.0, 1.0, 0.0))):
        (tmp_path / name).mkdir()
        pictures.append(str(tmp_path / name / "figure.png"))
        imsave(pictures[-1], np.full((40, 60, 3), colour))
    SCRIPT["contact_sheet"](pictures, tmp_path / "light.png", tmp_path / "dark.png")
    for sheet in ("light.png", "dark.png"):
        shown = imread(tmp_path / sheet)[..., :3].reshape(-1, 3)
        for colour in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)):
            assert (np.abs(shown - colour).max(axis=1) < 0.05).sum() > 100
