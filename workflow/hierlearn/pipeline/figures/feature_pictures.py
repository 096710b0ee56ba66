"""What the units of a layer look for, as pictures, in time, and how near they stay to what they were."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import MinLen

from hierlearn.core import protocols
from hierlearn.core.parameters import UNIQUE, Reference
from hierlearn.pipeline.figures._axes import tidy
from hierlearn.pipeline.figures._identities import COLOURS, MARKERS
from hierlearn.pipeline.figures._notes import note
from hierlearn.pipeline.figures._parameters import Shown
from hierlearn.pipeline.figures._style import blank, explain, has_points, headed, name_claims, remark
from hierlearn.pipeline.quantities._tables import along

# Of a mosaic, between two pictures, in pixels.
APART = 1
# Room above 0 for its name, as a share of the panel.
ABOVE = 0.08
# Half of what layers are apart, where comparisons are 1 apart.
ASIDE = 0.08
Letter = Literal["a", "b"]
WIDTHS: dict[Letter, float] = {"a": 2, "b": 1.2}
AXES = ("unit", "row", "column")
PICTURES = {
    "picture_start": "before training",
    "picture_before": "before correction",
    "picture": "after correction",
}
COMPARED = {"nearness": "before\ncorrection", "start_nearness": "before\ntraining"}


@dataclass(frozen=True, kw_only=True)
class FeaturePictures(protocols.Figure):
    """Pictures of units of the last layer in time, and how near those of all are to those of the same unit before."""

    probe: Annotated[str, Reference("probes"), "An experiment of `feature_pictures`."]
    shows: Annotated[dict[Letter, Shown], "Panel -> claims that it shows; their names stand above it."] = field(
        default_factory=dict
    )
    only: Annotated[list[Letter], MinLen(1), UNIQUE, "The panels that are drawn."] = field(
        default_factory=lambda: list(WIDTHS)
    )

    @property
    def letters(self) -> tuple[str, ...]:
        return tuple(self.only)

    def alone(self, letter: Any) -> "FeaturePictures":
        return replace(self, only=[letter])

    def draw(self, cube: Any, probes: Mapping[str, Any], study: Mapping[str, Any], traces: Any = None) -> Any:
        """cube, study, traces: unused; probes by name."""
        found = probes[self.probe]
        figure = blank(8.2, 3.2)
        ratios = [WIDTHS[letter] for letter in self.only]
        (row,) = figure.subplots(1, len(ratios), width_ratios=ratios, squeeze=False)
        places = dict(zip(self.only, row, strict=True))
        layer = found.layers.values.max()
        of_layer = [found[name].sel(layers=layer) for name in PICTURES]
        first = [one.isel({axis: 0 for axis in one.dims if axis not in AXES}).transpose(*AXES) for one in of_layer]
        if "a" in places:
            self._mosaic(places["a"], layer, np.stack([one.values for one in first]))
        if "b" in places:
            self._nearness(places["b"], found)
        for letter, place in places.items():
            name_claims(place, self.shows.get(letter, ()))
        return figure

    def _mosaic(self, place, layer, pictures) -> None:
        """A row of pictures (3, units, height, width) for each stage, grey at 0, each on a scale of its own."""
        stages, units, height, width = pictures.shape
        tall, wide = height + APART, width + APART
        whole = np.full((stages * tall - APART, units * wide - APART), np.nan)
        for i, j in np.ndindex(stages, units):
            one = pictures[i, j]
            largest = np.max(np.abs(one)) or 1.0
            whole[i * tall : i * tall + height, j * wide : j * wide + width] = one / largest
        place.imshow(whole, cmap="gray", vmin=-1.0, vmax=1.0, interpolation="nearest")
        place.set_title(headed("a", f"What the first units of layer {layer} look for", len(self.only)))
        place.set_axis_off()
        if not np.isfinite(pictures).any():
            remark(place, "no training ended")
        for i, name in enumerate(PICTURES.values()):
            place.text(-2.0, i * tall + (height - 1) / 2, name, ha="right", va="center")

    def _nearness(self, place, found) -> None:
        """Every seed, and their mean, of each layer."""
        for number, variable in enumerate(COMPARED):
            layers, values = along(found, variable, "layers", {})
            for i, (layer, of_layer) in enumerate(zip(layers, values, strict=True)):
                look = {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)], "ls": "none"}
                x = number + ASIDE * (2 * i + 1 - len(layers))
                place.plot(np.full(len(of_layer), x), of_layer, alpha=0.5, ms=2.5, **{**look, "marker": "."})
                mean = np.mean(of_layer[np.isfinite(of_layer)]) if np.isfinite(of_layer).any() else np.nan
                place.plot(x, mean, label="_" * number + f"layer {layer}", **look)
        place.set_title(headed("b", "Units stay near themselves", len(self.only)))
        if not has_points(place):
            explain(place, "no training ended")
            return
        place.axhline(0.0, color="#777777", lw=0.8, ls=":")
        place.set(ylabel="log ratio of distances:\nto itself over to others", xlim=(-0.5, 1.5))
        place.set_ylim(top=max(place.get_ylim()[1], ABOVE * np.ptp(place.get_ylim())))
        place.text(1.48, 0.0, "no nearer than to others", fontsize=6.5, color="#777777", ha="right", va="bottom")
        place.set_xlabel("compared with its picture")
        seeds = max(found[name].sizes.get("seed", 1) for name in COMPARED)
        note(place.figure, f"Large markers: mean of {seeds} seeds, dots: every seed. Below 0: nearer to itself.")
        place.set_xticks(range(len(COMPARED)), COMPARED.values())
        place.legend(loc="lower right")
        tidy(place)
