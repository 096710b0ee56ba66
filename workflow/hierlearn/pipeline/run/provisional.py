"""Files that a question needs before it is known whether it runs: what a dry run or a refusal wrote goes again."""

import atexit
from contextlib import suppress
from pathlib import Path

from hierlearn.pipeline.files import texts

# The files that this process wrote: what they say, what they said before, None of those that were not there, and the
# folders that were made for them.
_WRITTEN: dict[Path, tuple[str, str | None, list[Path]]] = {}


def keep() -> None:
    """Leave the files as they are, since what they ask is run; else they are put back as the program ends."""
    _WRITTEN.clear()


def put(file: Path, text: str) -> None:
    """Write a file, unless it says so already: every job of a run reads the configuration.

    Ends where a run that works in this folder has another question.
    """
    # Here, as it brings much of Snakemake.
    from hierlearn.pipeline.run.recovery import lock

    there = file.is_file()
    before = file.read_text(encoding="utf-8") if there else None
    if before != text:
        if there:
            lock().close()
        if not _WRITTEN:
            atexit.register(_put_back)
        made = [folder for folder in file.absolute().parents if not folder.exists()]
        _WRITTEN[file.absolute()] = (text, before, made)
        file.parent.mkdir(parents=True, exist_ok=True)
        texts.put(file, text)


def _put_back() -> None:
    """Take away what a dry run or a refused question wrote: the study stays the one that the results answer."""
    from hierlearn.pipeline.run.recovery import lock

    # Where another run works it may be of this question.
    with suppress(OSError, SystemExit), lock():
        for file, (text, before, _) in _WRITTEN.items():
            if file.read_text(encoding="utf-8") != text:
                continue
            if before is None:
                file.unlink()
            else:
                texts.put(file, before)
        for folder in sorted({folder for *_, made in _WRITTEN.values() for folder in made}, reverse=True):
            with suppress(OSError):
                folder.rmdir()
