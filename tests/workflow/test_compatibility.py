"""The lowest Snakemake that is promised is one that runs the workflow, and the same one everywhere."""

import re
from importlib.metadata import version

import compatibility
import pytest
from conftest import ROOT, TOOLS
from packaging.version import Version


def test_the_same_floor_is_promised_everywhere():
    (asked,) = re.findall(r'^min_version\("(.*)"\)$', (ROOT / "workflow" / "Snakefile").read_text(), re.MULTILINE)
    told = re.findall(r"Snakemake\*{0,2} (\d[\d.]*\d)", (ROOT / "docs" / "installation.md").read_text())
    assert told == [asked]
    assert Version(asked) == compatibility.floor() <= Version(version("snakemake"))


@pytest.mark.slow
def test_a_study_runs_whole_at_the_floor_with_the_bytes_of_the_pin(tmp_path):
    try:
        lowest, *_ = compatibility.released()
    except LookupError as reason:
        pytest.skip(str(reason))
    tools = compatibility.programs(lowest, tmp_path / "environment")
    at_the_floor = compatibility.claims(tools, tmp_path / "tree")
    assert at_the_floor == compatibility.claims(TOOLS, tmp_path / "pinned")
