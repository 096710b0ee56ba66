"""One sheet shows every figure, as it is and in the dark."""

import runpy

import matplotlib
import numpy as np
import pytest
from matplotlib.image import imread, imsave

from hierlearn.core.registry import PACKAGE
from hierlearn.pipeline.files import checksums

SCRIPT = runpy.run_path(str(PACKAGE.parents[0] / "scripts" / "contact_sheet.py"))


def test_the_dark_is_that_of_the_page():
    """The luminance (of CSS) is turned around, and what a colour adds to its grey stays as it is, each to 0.84."""
    style = (PACKAGE / "pipeline" / "claims" / "page" / "style.css").read_text()
    assert style.count("filter: invert(.92) hue-rotate(180deg)") == 2
    white, blue = np.ones((1, 1, 3)), np.array([[[0.1, 0.4, 0.7]]])
    assert SCRIPT["darken"](white) == pytest.approx(np.full((1, 1, 3), 0.08))
    grey = 0.213 * 0.1 + 0.715 * 0.4 + 0.072 * 0.7
    assert SCRIPT["darken"](blue) == pytest.approx(0.92 - 0.84 * grey + 0.84 * (blue - grey))


def test_both_sheets_hold_every_picture(tmp_path):
    pictures = []
    for name, colour in (("one", (1.0, 0.0, 0.0)), ("two", (0.0, 1.0, 0.0))):
        (tmp_path / name).mkdir()
        pictures.append(str(tmp_path / name / "figure.png"))
        imsave(pictures[-1], np.full((40, 60, 3), colour))
    SCRIPT["contact_sheet"](pictures, tmp_path / "light.png", tmp_path / "dark.png")
    for sheet in ("light.png", "dark.png"):
        assert checksums.fault(tmp_path / sheet, {}) == ""
        shown = imread(tmp_path / sheet)[..., :3].reshape(-1, 3)
        for colour in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)):
            colour = colour if sheet == "light.png" else SCRIPT["darken"](np.array([colour]))
            assert (np.abs(shown - colour).max(axis=1) < 0.05).sum() > 100


def test_no_setting_of_a_users_changes_a_byte_of_a_sheet(tmp_path):
    picture = tmp_path / "one" / "figure.png"
    picture.parent.mkdir()
    imsave(picture, np.full((40, 60, 3), 0.5))

    def sheets() -> list[bytes]:
        files = [tmp_path / "light.png", tmp_path / "dark.png"]
        SCRIPT["contact_sheet"]([str(picture)], *map(str, files))
        return [file.read_bytes() for file in files]

    plain = sheets()
    with matplotlib.rc_context():
        matplotlib.rcParams.update({"savefig.bbox": "tight", "font.size": 20, "image.cmap": "gray", "axes.grid": True})
        assert sheets() == plain
