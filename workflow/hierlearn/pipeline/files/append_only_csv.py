"""CSV files of a study's folder to which lines are only added."""

import csv
import io
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from hierlearn.core import folders
from hierlearn.core.words import reason, show
from hierlearn.pipeline.files import texts
from hierlearn.pipeline.files.errors import Fault


def read(
    file: Path, name: str, columns: Sequence[str], sound: Callable[[list[str]], bool], later: int = 0
) -> tuple[list[tuple[int, list[str]]], list[Fault]]:
    """(number of the line, its values) of the sound lines of a file, none where there is no file, and its faults.

    name: what messages call it; sound: whether values, as many as there are columns, are what they should be; later:
    how many of the last columns came later, which a file or a line may lack and which are "" there.
    """
    first = list(columns)[: len(columns) - later]
    # A link that leads nowhere may mean lines on a disk that is not there now.
    if not os.path.lexists(file):
        return [], []
    try:
        rows = list(csv.reader(io.StringIO(folders.ending(file).read_text(encoding="utf-8-sig")), strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        return [], [Fault(name, (), f"a file that cannot be read ({reason(error)})", "lines of values")]
    if not rows or rows[0] not in (first, list(columns)):
        return [], [Fault(name, ("line 1",), show(",".join(rows[0]) if rows else ""), ",".join(columns))]
    lines = list(enumerate(rows[1:], start=2))
    filled = [(number, row + [""] * later if len(row) == len(first) else row) for number, row in lines]
    good = [(number, row) for number, row in filled if len(row) == len(columns) and sound(row)]
    whole = {number for number, _ in good}
    faults = [
        Fault(name, (f"line {number}",), show(",".join(row)), f"values of {', '.join(columns)}")
        for number, row in lines
        if number not in whole
    ]
    return good, faults


def by_study(lines: Iterable[Any]) -> dict[str, list[Any]]:
    """Lines by the study that they are of."""
    found: dict[str, list[Any]] = {}
    for line in lines:
        found.setdefault(line.study, []).append(line)
    return found


def append(file: Path, columns: Sequence[str], lines: Iterable[Sequence[object]]) -> None:
    """Add lines to a file, which is made with its header where there is none; its last line may lack its end.

    A header of fewer columns, which were all that there were once, becomes that of all.
    """
    before = file.read_bytes().decode() if file.exists() else ""
    header, end, rest = before.partition("\n")
    known = header.strip("\ufeff\r").split(",")
    if end and len(known) < len(columns) and known == list(columns)[: len(known)]:
        before = f"{','.join(columns)}\n{rest}"
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if not before:
        writer.writerow(columns)
    elif not before.endswith("\n"):
        text.write("\n")
    writer.writerows(lines)
    texts.put(file, before + text.getvalue())
