"""Every broken study, and every broken file of published numbers, is refused in lines that say what is wrong.

HIERLEARN_FUZZ is the number of mutants of each kind that are tried (all of them if it is 0), HIERLEARN_FUZZ_SEED draws
others.
"""

import dataclasses
import itertools
import re
import shutil
from pathlib import Path

import pytest
from mutants import MOST, SEED, Mutant, mutants, part, sample, spliced

from hierlearn.pipeline.plan.configuration import configure

CONFIG = Path(__file__).parents[2] / "config"
FILES = sorted(CONFIG.glob("studies/*.yaml")) + sorted(CONFIG.glob("published/*.yaml"))
# Of these pairs are made.
PAIRED = MOST or 12
KINDS = (
    *("wrong type", "misspelt key", "misspelt word", "unknown key", "missing", "duplicate key", "duplicate entry"),
    *("out of range", "out of the grid", "absurd size", "name"),
)
LINE = re.compile(
    r"error: config/(studies|published)/[a-z0-9-]+\.yaml: ((?P<field>.+?): )?found (?P<found>.+?); expected (.+)"
)


@pytest.fixture(scope="module")
def everything() -> list[Mutant]:
    found = [mutant for file in FILES for mutant in mutants(file)]
    assert {mutant.kind for mutant in found} == set(KINDS)
    return found


@pytest.fixture(scope="module")
def chosen(everything) -> list[Mutant]:
    return sample(everything, MOST or len(everything), SEED)


@pytest.fixture(scope="module")
def config(tmp_path_factory) -> Path:
    """A folder with the published numbers and no study."""
    folder = tmp_path_factory.mktemp("broken") / "config"
    (folder / "studies").mkdir(parents=True)
    shutil.copytree(CONFIG / "published", folder / "published")
    return folder


def refusal(mutant: Mutant, config: Path, text: str | None = None) -> list[str]:
    """The lines that the workflow ends with; none if it takes the mutant, or another text in its place."""
    file = config / mutant.file.relative_to(CONFIG)
    whole = file.read_text() if file.exists() else None
    file.write_text(mutant.text if text is None else text)
    before = sorted(config.rglob("*"))
    try:
        configure({"preset": mutant.preset}, config / "config.yaml", config / "studies")
    except SystemExit as end:
        # A text is what Python prints before it ends with code 1.
        assert isinstance(end.code, str)
        return end.code.splitlines()
    finally:
        assert sorted(config.rglob("*")) == before
        file.unlink()
        if whole is not None:
            file.write_text(whole)
    return []


def complaint(mutant: Mutant, lines: list[str]) -> str | None:
    """What is wrong with a refusal, None if it tells a user what to mend."""
    if not lines:
        return "taken"
    said = [LINE.fullmatch(line) for line in lines]
    if not all(said):
        return f"a line without file, finding and what is allowed: {lines}"
    text = "\n".join(lines)
    if mutant.kind == "misspelt key":
        wrong = mutant.change.split(" -> ")[1]
        hints = f"(nearest: {mutant.word})", f"{mutant.word}: found nothing, but {wrong!r}"
        # Two letters are as near to many words.
        short = len(mutant.word) < 3 and re.search(rf"expected one of .*\b{mutant.word}\b", text)
        # And one of an x axis is as near to that of y; what a control does not name is as in its claim.
        short = (
            short
            or f"(nearest: y{mutant.word[1:]})" in text
            or f"rival.quantity.{wrong}: found" in text
            or f"at.{wrong}: found" in text
        )
        return (
            None if short or any(hint in text for hint in hints) else f"the nearest name is not {mutant.word}: {lines}"
        )
    parts = mutant.place.split(".")
    # A line of a panel may say another thing in the place of what is missing.
    instead = (f"{'.'.join(parts[:-1])}.",) if parts[-2:-1] and parts[-2].startswith("lines[") else ()
    named = {
        "duplicate key": (f"duplicate key {mutant.word!r}",),
        "unknown key": (mutant.word,),
        "missing": tuple(f"{'.'.join(parts[:i])}: found" for i in range(1, len(parts) + 1)) + instead,
        "out of the grid": ("found 7919",),
    }
    told = any(words in text for words in named.get(mutant.kind, ("",)))
    if mutant.kind == "absurd size":
        told = is_absurdity_told([one["found"] for one in said], lines)
    return None if told else f"not said what is wrong: {lines}"


def is_absurdity_told(found: list[str], lines: list[str]) -> bool:
    """Whether 10^15 is found, or the memory that it needs; names are looked up before sizes are, so that all that is
    said may be of claims of a size that is there no more, in whose place the absurd one is offered."""
    offered = all(re.search(r"expected .*\bone of .*\b\d{15,}\b", line) for line in lines)
    return offered or any(" MB of memory" in one or str(10**15) in one for one in found)


@pytest.mark.parametrize("kind", KINDS)
def test_broken_files_are_refused_in_lines_that_say_what_to_mend(kind, chosen, config, record_property):
    failing, tried = [], [mutant for mutant in chosen if mutant.kind == kind]
    for mutant in tried:
        try:
            found = complaint(mutant, refusal(mutant, config))
        except Exception as error:
            found = f"a traceback: {error!r}"
        if found:
            failing.append(f"{mutant}: {found}")
    record_property(kind, f"{len(tried) - len(failing)} of {len(tried)} refused")
    assert tried
    assert not failing, "\n".join(failing)


# Sizes in the body of a study, with one that no machine holds.
TOO_LARGE = {
    r"axes\.dimension\[\d+\]": 10**9,
    r"learners\.[^.]+\.samples\.(cap|at\[\d+\])": 10**12,
    r"learners\.[^.]+\.(learner|sweep)\.width(\[\d+\])?": 10**10,
}


@pytest.mark.parametrize("field", TOO_LARGE, ids=("dimension", "samples", "width"))
def test_sizes_that_no_machine_holds_are_refused_with_the_memory_they_need(field, config, record_property):
    # A dimension is added to the others, which limits and claims may name.
    added = 1 if "dimension" in field else 0
    mutants_of_size = [
        dataclasses.replace(
            mutant, splice=(mutant.splice[added], mutant.splice[1], ", " * added + str(TOO_LARGE[field]))
        )
        for file in FILES
        for mutant in mutants(file)
        if mutant.kind == "absurd size" and re.fullmatch(field, mutant.place)
    ]
    failing, tried = [], part(mutants_of_size, 3)
    for mutant in tried:
        lines = refusal(mutant, config)
        # A walk that would begin beyond its end, a teacher that has a largest dimension, and places, claims and lines
        # of a size that is there no more are refused as such.
        told = r"[\d,]+ MB of memory|found start \d+ above cap|at most \d+ for|\.samples\.(cap|at): found \d+; expected"
        # Names are looked up before sizes are: what must say now which size it means is told that it may mean this one.
        told += r"|(found|one of)\b.*\b10{9,}\b|found \d+\^\d strings of a level"
        if not any(re.search(told, line) for line in lines):
            failing.append(f"{mutant}: {lines[:3] or 'taken'}")
    record_property(f"size {field}", f"{len(tried) - len(failing)} of {len(tried)} refused with their memory")
    assert tried
    assert not failing, "\n".join(failing)


def named(lines: list[str]) -> set[tuple[str, str]]:
    """(field, what was found) of every line."""
    return {(said["field"] or "", said["found"]) for said in map(LINE.fullmatch, lines)}


def body(said: tuple[str, str]) -> tuple[str, str]:
    """The same of the body where it is of a preset."""
    return re.sub(r"^presets\.[a-z]+\.", "", said[0]), said[1]


def test_of_two_faults_one_at_least_is_named_and_nothing_else(everything, chosen, config, record_property):
    """Of different sections, of which the checks look at one after the other. No field is named for one fault more.

    Of two faults of one stage both are named. Where an alias repeats one, it is named in one of its places at least.
    What is allowed may be said otherwise: values that are broken themselves are not offered.
    """
    apart = ("wrong type", "misspelt word", "unknown key", "out of range", "out of the grid")
    by_file: dict[Path, list[Mutant]] = {}
    for mutant in chosen if PAIRED == MOST else sample(everything, PAIRED, SEED):
        if mutant.kind in apart and mutant.file.parent.name == "studies":
            by_file.setdefault(mutant.file, []).append(mutant)
    failing, both, tried = [], 0, 0
    for one, other in [pair for known in by_file.values() for pair in itertools.pairwise(known)]:
        if one.word == other.word == "unheard-of":
            # One wrong word or value twice is taken for one that is meant.
            start, end, new = other.splice
            other = dataclasses.replace(other, splice=(start, end, new.replace("unheard-of", "quixotic")))
        first, last = sorted((one, other), key=lambda mutant: mutant.splice[0])
        if one.place.split(".")[0] == other.place.split(".")[0] or first.splice[1] > last.splice[0]:
            continue
        if one.splice[2] == other.splice[2]:
            continue
        tried += 1
        alone = [named(refusal(mutant, config)) for mutant in (one, other)]
        together = named(refusal(one, config, spliced(last.text, first.splice)))
        # Of a fault in the body that a preset has as well, for a reason of its own, both may be named; of a list that
        # is wrong its entries may be.
        known = {body(said) for said in alone[0] | alone[1]}
        more = {at for at in together if body(at) not in known}
        # An entry of a list that is wrong stands for the list, and is not all that is said.
        is_named = any(body(at) in known for at in together)
        more = {at for at in more if not at[0].startswith((f"{one.place}[", f"{other.place}["))}
        if more or not is_named:
            failing.append(f"{one} and {other}: {sorted(more)}")
        both += all(own & together for own in alone)
    record_property("two faults at a time", f"{both} of {tried} listed in one round")
    assert tried
    assert not failing, "\n".join(failing)
