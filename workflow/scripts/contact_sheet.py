"""All figures of a run on one sheet, light and dark."""

from hierlearn.pipeline.run import job

snakemake = job.start(globals())

import io
from collections.abc import Sequence
from math import ceil
from pathlib import Path

import numpy as np
from matplotlib.image import imread

from hierlearn.core import provenance
from hierlearn.pipeline.figures._style import blank
from hierlearn.pipeline.files import checksums

COLUMNS, WIDTH, HEIGHT = 4, 5.0, 3.6
# invert(.92) and hue-rotate(180deg), which turns colours around the grey of their luminance.
INVERT = 0.92
TURNED = 2 * np.array([[0.213, 0.715, 0.072]]) - np.eye(3)


def contact_sheet(pictures: Sequence[str], light: str, dark: str) -> None:
    """Write both sheets. pictures: the figures as PNG, in folders that are named as their studies."""
    found = {Path(file).parent.name: imread(file)[..., :3] for file in sorted(pictures)}
    for output, change, page, ink in ((light, np.array, "white", "black"), (dark, darken, "#111111", "white")):
        figure = blank(WIDTH * COLUMNS, HEIGHT * ceil(len(found) / COLUMNS))
        figure.set_facecolor(page)
        places = figure.subplots(ceil(len(found) / COLUMNS), COLUMNS, squeeze=False).ravel()
        for place in places:
            place.set_axis_off()
        for place, (name, picture) in zip(places, found.items(), strict=False):
            place.imshow(change(picture))
            place.set_title(name, color=ink)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=150, metadata={"Software": None})
        checksums.write(output, buffer.getvalue(), provenance.attributes("", {}))


def darken(picture: np.ndarray) -> np.ndarray:
    """The picture (h, w, 3) with values in [0, 1] as the page shows it in the dark, by the same two filters of CSS."""
    inverted = INVERT + picture * (1 - 2 * INVERT)
    return np.clip(inverted @ TURNED.T, 0.0, 1.0)


if snakemake:
    contact_sheet(list(snakemake.input), snakemake.output.light, snakemake.output.dark)
    job.end()
