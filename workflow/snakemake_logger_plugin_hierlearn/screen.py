"""The terminal of a run, by rich: lines and tables that stay, and lines at its end that are drawn again and again."""

import os
from collections.abc import Iterable, Sequence
from typing import TextIO

from rich.console import Console, RenderableType
from rich.control import Control
from rich.segment import ControlType
from rich.table import Table
from rich.text import Text

# From the cursor to the end of the window.
ERASE = "\x1b[J"
# Columns of what is no terminal: nothing is cut there.
WIDE = 1000
# Columns in which a sentence can be cut.
LEAST = 24


class Screen(Console):
    """A stream with lines at its end that the next ones replace; none where it is no terminal, nor any control code.

    The cursor waits at the first of them, so that what others print there is not lost: it stays above.
    """

    def __init__(self, stream: TextIO, coloured: bool = True):
        self.is_live = stream.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "unknown")
        is_coloured = coloured and self.is_live and not os.environ.get("NO_COLOR")
        super().__init__(
            file=stream,
            force_terminal=self.is_live,
            color_system="standard" if is_coloured else None,
            width=None if self.is_live else WIDE,
            **dict.fromkeys(("markup", "emoji", "highlight"), False),
        )
        self.drawn: list[RenderableType] = []

    def say(self, *lines: RenderableType) -> None:
        """Print lines and tables that stay."""
        if lines:
            self._replace(lines, self.drawn)

    def draw(self, lines: Sequence[RenderableType]) -> None:
        """Print lines that stay until the next ones."""
        if self.is_live:
            self._replace((), list(lines))

    def table(
        self, head: Sequence[str], rows: Sequence[Sequence[str | Text]], words: Sequence[str] = (), cut: str = ""
    ) -> Table:
        """Return a table without lines.

        words: the columns that hold words, not numbers; cut: the one among them that is cut where the rest leaves no
        room. As the last column it is left out where it would be cut to nearly nothing.
        """
        widths = [max(map(len, map(str, column))) + 2 for column in zip(head, *rows, strict=True)]
        if cut == head[-1] and sum(widths[:-1]) + LEAST > self.width:
            head, rows = head[:-1], [row[:-1] for row in rows]
        is_narrow = sum(widths) > self.width
        found = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for name in head:
            heading = name.replace(" ", "\n").replace("\n%", " %") if is_narrow else name
            found.add_column(heading, justify="left" if name in words else "right", no_wrap=name != cut)
        for row in rows:
            cells = [cell if isinstance(cell, Text) else Text(cell) for cell in row]
            for name, cell in zip(head, cells, strict=True):
                cell.no_wrap, cell.overflow = True, "ellipsis" if name == cut else None
            found.add_row(*cells)
        return found

    def on_broken_pipe(self) -> None:
        """Say nothing more, since nobody reads; the run goes on."""
        self.quiet = True

    def _replace(self, lines: Iterable[RenderableType], drawn: list[RenderableType]) -> None:
        try:
            # All of it in one piece.
            with self:
                if self.drawn:
                    self.control(Control(ControlType.CARRIAGE_RETURN))
                    self.out(ERASE, end="")
                for line in lines:
                    self.print(line, soft_wrap=not isinstance(line, Table))
                self.drawn = drawn[: max(1, self.height - 1)]
                for line in self.drawn:
                    self.print(line, no_wrap=True, overflow="ellipsis")
                if self.drawn:
                    self.control(Control.move(0, -len(self.drawn)))
        except (OSError, ValueError):
            # The terminal is gone, or closed.
            self.quiet = True
