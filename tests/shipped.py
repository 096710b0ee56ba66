"""The studies that the project ships, each read and checked once in a process. Nobody changes what stands here."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

from hierlearn.pipeline.files.errors import Fault
from hierlearn.pipeline.plan import checking
from hierlearn.pipeline.plan.study import Study

STUDIES = sorted((Path(__file__).parents[1] / "config" / "studies").glob("*.yaml"))


@cache
def checked(file: Path, preset: str) -> tuple[Study | None, list[Fault]]:
    """The study of a file at a preset, and the faults that it has there."""
    return checking.study(file, file.name, preset, at_all=False)


@cache
def content(file: Path) -> dict[str, Any]:
    """What a file says, by a loader that knows nothing of studies."""
    return yaml.load(file.read_text(encoding="utf-8"), yaml.CSafeLoader)
