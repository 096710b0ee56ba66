"""No sound study is refused: the studies of this project at every preset, and however else they may be written."""

import dataclasses
import itertools
import re

import pytest
import shipped
import yaml
from mutants import MANY, MOST, part, places, replaced, spliced
from shipped import STUDIES as FILES

from hierlearn.pipeline.plan import checking, presets

PRESETS = [preset for preset in presets.PRESETS if preset != "paper"]


def reverse(value):
    """The same mappings in the other order."""
    if isinstance(value, dict):
        return {key: reverse(value[key]) for key in reversed(value)}
    return [reverse(one) for one in value] if isinstance(value, list) else value


def dumped(text, **style):
    return yaml.safe_dump(reverse(yaml.safe_load(text)), sort_keys=False, width=1000, **style)


def seeded(text):
    """The same with other numbers of seeds."""
    for place in reversed(places(text)):
        if place.word == "seeds":
            text = spliced(text, replaced(text, place.value, str(3 + len(text) % 7)))
    return text


WAYS = {
    "blocks, turned around": lambda text: dumped(text, default_flow_style=False),
    "braces": lambda text: dumped(text, default_flow_style=True),
    "escapes": lambda text: dumped(text, default_flow_style=None, allow_unicode=False, explicit_start=True),
    "comments and white space": lambda text: re.sub("\n(?=[a-z])", "\n\n# é\n\n", f"# one\n\n{text}") + "\n...\n",
    "other line ends": lambda text: text.replace("\n", "\r\n"),
    "other seeds": seeded,
}


@pytest.fixture(scope="module")
def contents():
    """What the studies say at every preset, after a check that they are sound."""
    found = {}
    for file, preset in itertools.product(FILES, PRESETS):
        study, faults = shipped.checked(file, preset)
        assert faults == []
        found[file, preset] = study
    return found


@pytest.mark.parametrize("way", WAYS)
def test_the_studies_written_otherwise_say_the_same(way, contents, tmp_path, record_property):
    config = FILES[0].parents[1]
    studies = tmp_path / config.name / "studies"
    studies.mkdir(parents=True)
    for beside in {*config.iterdir()} - {config / "studies"}:
        (studies.parent / beside.name).symlink_to(beside)
    # Of a part of the studies another one for each way: every study is written in two ways at least.
    tried, failing = part(list(zip(FILES, itertools.cycle(PRESETS), strict=False)), 3, list(WAYS).index(way)), []
    for file, preset in tried:
        copy = studies / file.name
        copy.write_bytes(WAYS[way](file.read_text()).encode())
        study, faults = checking.study(copy, file.name, preset, at_all=MOST == 0 or MOST >= MANY)
        wanted = contents[file, preset]
        if study and way == "other seeds":
            wanted = dataclasses.replace(wanted, seed_count=study.seed_count)
        if faults or study != wanted:
            failing.append(f"{file.name} at {preset}: {faults or 'another content'}")
    record_property(f"sound, {way}", f"{len(tried) - len(failing)} of {len(tried)} taken")
    assert not failing, "\n".join(failing)
