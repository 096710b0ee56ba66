"""Rules say what is made of what; the Python that they ask lies in the package, where tests and tools reach it."""

import re
from pathlib import Path

import pytest

RULES = sorted((Path(__file__).parents[2] / "workflow" / "rules").glob("*"))


@pytest.mark.parametrize("file", RULES, ids=lambda file: file.name)
def test_no_rule_file_holds_a_function_or_an_import(file):
    assert file.suffix == ".smk"
    text = re.sub(r"#.*", "", file.read_text())
    found = re.findall(r"\b(?:def|class|lambda|import|run|try|while|if|with|global)\b(?!=)", text)
    assert found == []


def test_every_rule_file_is_included():
    snakefile = (RULES[0].parents[1] / "Snakefile").read_text()
    assert sorted(re.findall(r'include: "rules/(.*)"', snakefile)) == [file.name for file in RULES]


def test_the_snakefile_itself_defines_no_function():
    text = re.sub(r"#.*", "", (RULES[0].parents[1] / "Snakefile").read_text())
    assert re.findall(r"\b(?:def|class|lambda)\b", text) == []
