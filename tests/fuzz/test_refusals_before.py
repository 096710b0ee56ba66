"""What was refused stays refused: refusals_before.csv has the lines of an earlier state for every kind of broken input.

A row is one line of a refusal: the case, the field, what was found, what is allowed (cut to a readable length). Words
may become better; the field stays named, and what is allowed is said. `python test_refusals_before.py` in this folder,
with the package on the path, writes the file anew.
"""

import csv
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from mutants import MANY, mutants, part, sample
from snakemake.cli import parse_config
from test_broken_settings import COMMAND_LINE, FILES, IN_A_FILE, NAMES, UNKNOWN, VALUES
from test_broken_settings import refusal as refusal_of_settings
from test_broken_studies import CONFIG, refusal
from test_broken_studies import FILES as STUDIES

BEFORE = Path(__file__).with_name("refusals_before.csv")
LINE = re.compile(r"error: [^:]*: ((?!found ).+?: )?found (.+?); expected (.+)")
# Fields that are called otherwise now.
RENAMED = {"cut": "split_jobs_by", "cut[0]": "split_jobs_by[0]"}

Lines = Callable[[], list[str]]


def study_cases(config: Path, wanted: set[str] | None = None) -> Iterator[tuple[str, Lines]]:
    """Mutants of studies and of published numbers: a sample of each kind, or those that are wanted."""
    everything = [mutant for file in STUDIES for mutant in mutants(file)]
    chosen = sample(everything, MANY, 0) if wanted is None else [one for one in everything if str(one) in wanted]
    for mutant in chosen:
        yield str(mutant), lambda mutant=mutant: refusal(mutant, config)


def settings_cases(here: Path) -> Iterator[tuple[str, Lines]]:
    """Settings on the command line and in config.yaml, and files that are no studies; in an empty folder."""

    def in_a_file(content: bytes, file: Path) -> list[str]:
        file.write_bytes(content)
        try:
            return refusal_of_settings({})
        finally:
            file.unlink()

    words = [f"{key}={value}" for key in COMMAND_LINE for value in VALUES]
    for word in (*words, *UNKNOWN):
        yield f"--config {word[:60]!a}", lambda word=word: refusal_of_settings(parse_config([word]))
    written = {f"{key}: {value}": f"{key}: {value}\n".encode() for key in IN_A_FILE for value in VALUES}
    for name, content in (written | FILES).items():
        if name.isprintable() and len(name) < 400:
            yield f"config.yaml {name[:60]!a}", lambda c=content: in_a_file(c, here / "config" / "config.yaml")
    for name in NAMES:
        yield f"the study {name!a}", lambda name=name: in_a_file(b"title: x\n", here / "studies" / name)


def parts(line: str) -> tuple[str, str, str]:
    """(field, found, allowed) of a line."""
    field, found, allowed = LINE.fullmatch(line).groups()
    # Lines are counted otherwise as soon as a study has one more.
    return re.sub(r"^line \d+$", "line", (field or "").removesuffix(": ")), found, allowed


def about(case: str, fields: set[str]) -> set[str]:
    """Those of a refusal's fields that lie where a study is broken; others follow from it and need not be said.

    Of a misspelt key the line that names it is enough, and of a preset's faults those that the body does not have.
    """
    place = re.search(r": ([a-z ]+) at (.+?): (?:.* -> )?(.*)", case)
    if not place:
        return fields
    kind, at, new = place.groups()
    if kind == "misspelt key":
        at = ".".join([*at.split(".")[:-1], new])
    related = {field for field in fields if field and (within(at, field) or within(field, at))}
    in_body = {field for field in related if not field.startswith("presets.")}
    return in_body or related


def within(field: str, other: str) -> bool:
    """Whether a field is another one or lies below it."""
    return field == other or field.startswith((f"{other}.", f"{other}["))


@pytest.fixture(scope="module")
def before() -> dict[str, list[tuple[str, str, str]]]:
    with BEFORE.open(newline="") as file:
        found: dict[str, list] = {}
        for case, *line in csv.reader(file):
            found.setdefault(case, []).append(tuple(line))
    return found


def still_refused(cases: Iterator[tuple[str, Lines]], before: dict[str, list], record_property, what: str) -> None:
    failing, tried = [], 0
    for case, lines in cases:
        if case not in before:
            continue
        tried += 1
        now = [parts(line) for line in lines() if line]
        said = {field for field, _, allowed in now if allowed}
        fields = {RENAMED.get(field, field) for field, _, _ in before[case]}
        lost = {field for field in about(case, fields) if not any(within(one, field) for one in said)}
        # A field may be named more exactly than before; what was told by its line alone may be told by its field.
        named = any(within(one, field) for one in said for field in fields) or (said and fields == {"line"})
        # Names are looked up before sizes are: a claim is told the sizes that follow from an absurd one.
        follows = ": absurd size at " in case and any(re.search(r"\b\d{14,}\b", allowed) for *_, allowed in now)
        if (lost or not named) and not follows and not (said and fields == {"line"}):
            failing.append(f"{case}: {sorted(lost or fields)} not named in {now}")
    record_property(f"as before, {what}", f"{tried - len(failing)} of {tried} refused with the same field")
    assert not failing, "\n".join(failing)
    assert tried


def test_broken_studies_are_refused_as_before(before, tmp_path, record_property):
    cases = study_cases(folder_of_config(tmp_path), set(part(sorted(before), 6)))
    still_refused(cases, before, record_property, "studies")


def test_broken_settings_are_refused_as_before(before, tmp_path, monkeypatch, record_property):
    monkeypatch.chdir(empty_folder(tmp_path))
    still_refused(settings_cases(tmp_path), before, record_property, "settings")


def folder_of_config(folder: Path) -> Path:
    """A folder with the published numbers and no study."""
    (folder / "config" / "studies").mkdir(parents=True)
    (folder / "config" / "published").mkdir()
    for file in (CONFIG / "published").iterdir():
        (folder / "config" / "published" / file.name).write_bytes(file.read_bytes())
    return folder / "config"


def empty_folder(folder: Path) -> Path:
    """A working folder beside a folder of studies that is empty."""
    (folder / "config").mkdir()
    (folder / "studies").mkdir()
    return folder


def write() -> None:
    with (
        tempfile.TemporaryDirectory() as one,
        tempfile.TemporaryDirectory() as two,
        BEFORE.open("w", newline="") as out,
    ):
        os.chdir(empty_folder(Path(two)))
        rows = csv.writer(out, lineterminator="\n")
        cases = (study_cases(folder_of_config(Path(one))), settings_cases(Path(two)))
        for case, lines in (case for kind in cases for case in kind):
            for field, found, allowed in (parts(line) for line in lines() if line):
                rows.writerow([case, field, found.replace(f"{two}/", "")[:160], allowed[:120]])


if __name__ == "__main__":
    write()
