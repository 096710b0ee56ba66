"""The checks that a reader's own tools would make."""

import pytest
from conftest import ROOT, tool


@pytest.mark.parametrize(
    "words",
    [
        ["ruff", "check", "--no-cache", "workflow", "tests", "benchmarks", "envs"],
        ["ruff", "format", "--no-cache", "--check", "workflow", "tests", "benchmarks", "envs"],
        ["snakefmt", "--check", "Snakefile", "workflow"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_the_code_is_formatted_and_linted(words):
    done = tool(*words, folder=ROOT)
    assert done.code == 0, done.end


def test_snakemake_finds_nothing_to_improve(tmp_path):
    done = tool(
        "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--lint", "--directory", str(tmp_path), folder=ROOT
    )
    assert done.code == 0, done.end
    assert "Congratulations" in done.text
