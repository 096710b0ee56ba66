"""Which random numbers a run is made of: its draw keys the streams of every problem, so that no two studies, presets or
revisions of a design share data, and a pilot none with what is judged."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Draw:
    """pilot: whether designs are tried out; replicate: number of a further independent draw, 0 for the first."""

    pilot: bool = False
    replicate: int = 0

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> "Draw":
        """The draw that the settings of a run ask for."""
        return cls(settings.get("pilot", False), settings.get("replicate", 0))

    def word(self, study: str, preset: str, revision: int) -> str:
        """What keys the streams of a study: pilot, STUDY/PRESET/REVISION, or that with /replicate-K."""
        parts = [study, preset, str(revision), *([f"replicate-{self.replicate}"] if self.replicate else [])]
        return "pilot" if self.pilot else "/".join(parts)

    def folder(self, preset: str) -> str:
        """The folder of a preset's results: PRESET, PRESET-pilot or PRESET-replicate-K."""
        return preset + ("-pilot" if self.pilot else f"-replicate-{self.replicate}" if self.replicate else "")

    def note(self) -> str:
        """What the page says of a run that is not the first draw of its designs; "" for that one."""
        if self.pilot:
            return "A pilot: it serves to design studies. Nothing on this page is a verdict for the record."
        return f"Replicate {self.replicate}: an independent draw of the same designs." if self.replicate else ""


FIRST = Draw()
