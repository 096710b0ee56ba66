"""The page that tells where a line belongs names what there is."""

import re

import pytest

from hierlearn.core.registry import PACKAGE

ROOT = PACKAGE.parents[1]
TEXT = (ROOT / "docs" / "architecture.md").read_text()
# Words in code style with a slash or the ending of a file; <name> stands for any file.
NAMED = sorted(set(re.findall(r"`([\w<>./-]+(?:/|\.(?:md|py|smk|toml|yaml)))`", TEXT)))
CHANGES = [line for line in TEXT.split("## Ten typical changes")[1].splitlines() if line.startswith("| ")][1:]


def exists(name: str) -> bool:
    pattern = re.sub("<[a-z]+>", "*", name).rstrip("/")
    return any(list(base.glob(pattern)) for base in (ROOT, ROOT / "workflow", PACKAGE, PACKAGE / "pipeline"))


@pytest.mark.parametrize("name", NAMED)
def test_what_the_page_names_is_there(name):
    assert exists(name)


def test_every_room_is_on_the_page():
    library = {file.parent.name for file in PACKAGE.glob("*/__init__.py")} - {"pipeline"}
    workflow = {file.parent.name for file in PACKAGE.glob("pipeline/*/__init__.py")}
    assert sorted(room for room in library | workflow if f"{room}/`" not in TEXT) == []


def test_the_ten_changes_name_two_files_or_fewer():
    changes = [line for line in CHANGES if not line.startswith("| ---")]
    assert len(changes) == 10
    many = [line for line in changes if len(re.findall(r"`[^`]*\.(?:py|yaml|toml|md|smk)`", line)) > 2]
    assert many == []
