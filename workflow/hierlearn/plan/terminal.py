"""Lines at the end of a terminal that are drawn again and again, and others that stay above them."""

import os
import re
import shutil
from collections.abc import Sequence
from typing import TextIO

CLEAR = "\r\x1b[J"
CODES = {"green": "32", "red": "31", "yellow": "33", "dim": "2"}
COLOURED = re.compile(r"\x1b\[[0-9;]*m")


class Terminal:
    """A stream with lines at its end, `live`, that the next ones replace; none where it is no terminal.

    The cursor waits at the first of them, so that what others print there is not lost: it stays above.
    """

    def __init__(self, stream: TextIO, coloured: bool = True):
        self.stream, self.live = stream, []
        self.is_live = stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self.coloured = coloured and self.is_live and "NO_COLOR" not in os.environ

    def paint(self, text: str, colour: str) -> str:
        """A text in a colour, where there are some."""
        return f"\x1b[{CODES[colour]}m{text}\x1b[0m" if self.coloured else text

    def say(self, *lines: str) -> None:
        """Lines that stay."""
        if lines:
            self._write((CLEAR if self.live else "") + "".join(f"{line}\n" for line in lines) + self._drawn(self.live))

    def draw(self, lines: Sequence[str]) -> None:
        """Lines that stay until the next ones."""
        if self.is_live:
            self._write(CLEAR + self._drawn(lines))
            self.live = list(lines)

    def clear(self) -> None:
        """No line but those that stay."""
        if self.live:
            self.live = []
            self._write(CLEAR)

    def _drawn(self, lines: Sequence[str]) -> str:
        """Lines as wide and high as fit, and the cursor back at their first."""
        if not lines:
            return ""
        columns, rows = shutil.get_terminal_size()
        shown = [cut(line, columns - 1) for line in lines[: max(1, rows - 1)]]
        return "\n".join(shown) + "\r" + (f"\x1b[{len(shown) - 1}A" if len(shown) > 1 else "")

    def _write(self, text: str) -> None:
        try:
            self.stream.write(text)
            self.stream.flush()
        except (OSError, ValueError):
            # Nobody reads any more; the run goes on.
            self.is_live = False


def cut(line: str, width: int) -> str:
    """The first characters of a line; its colours take no place, and go where it must be cut."""
    plain = COLOURED.sub("", line)
    return line if len(plain) <= width else plain[: max(0, width - 1)] + "…"
