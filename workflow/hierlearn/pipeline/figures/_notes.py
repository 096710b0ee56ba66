"""What lines, bands and points of a figure stand for, said once below its panels."""

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

# Characters of small text in an inch.
CHARACTERS = 21
LOOK = {"fontsize": 6.5, "color": "#777777", "x": 0.01, "ha": "left"}


@dataclass
class Told:
    """What a panel has drawn: whether lines join the seeds' centres, of how many seeds, and vertical lines by place."""

    letter: str
    panel: Mapping[str, Any]
    joined: bool = True
    seeds: set[int] = field(default_factory=set)
    slopes: bool = False
    to_0: bool = False
    marks: list[tuple[float, str, str]] = field(default_factory=list)

    def add(self, values, *, joined: bool = True, to_0: bool = False) -> None:
        """Add a line of values (K, S)."""
        self.joined, self.to_0 = joined, self.to_0 or to_0
        self.seeds.add(values.shape[1])

    def said(self) -> str:
        """What the panel's marks stand for; "" where nothing was drawn."""
        if not self.seeds:
            return ""
        many = f"{min(self.seeds)} to {max(self.seeds)}" if len(self.seeds) > 1 else str(max(self.seeds))
        if many == "1":
            return "one seed"
        middle = f"{self.panel.get('centre', 'median')} of {many} seeds"
        if not self.joined:
            return f"large markers: {middle}, dots: every seed"
        return f"lines: {middle}, bands: from the lowest to the highest seed"


def words(panels: Iterable[Told]) -> str:
    """One sentence for panels that show the same, and one on the guides."""
    panels = list(panels)
    groups: dict[str, list[str]] = {}
    for panel in panels:
        if panel.said():
            groups.setdefault(panel.said(), []).append(panel.letter)
    if len(groups) == 1:
        parts = [text[0].upper() + text[1:] + "." for text in groups]
    else:
        parts = [f"{', '.join(letters)}: {text}." for text, letters in groups.items()]
    parts += ["Dashes with a slope: predicted."] * any(panel.slopes for panel in panels)
    parts += ["Bands to the lower edge: a seed at 0."] * any(panel.to_0 for panel in panels)
    return " ".join(parts)


def note(figure, text: str) -> None:
    """Small words below all panels, in lines of the figure's width."""
    if text:
        letters = int(CHARACTERS * figure.get_figwidth())
        figure.supxlabel(textwrap.fill(" ".join(text.split()), letters), **LOOK)
