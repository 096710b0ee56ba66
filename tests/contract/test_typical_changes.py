"""A rule and a key of studies are added in the files that docs/architecture.md names, in a copy of the project."""

import os
import shutil
import subprocess
import sys

import pytest

from hierlearn.core.registry import PACKAGE

ROOT = PACKAGE.parents[1]
RULES = "workflow/hierlearn/pipeline/claims/rules.py"
SCHEMA = "workflow/hierlearn/pipeline/schemas/study.schema.yaml"
FIELDS = "workflow/hierlearn/pipeline/plan/study_spec.py"
STUDY = "config/studies/bai2020-isotropy.yaml"
TITLE = '  title: {description: One line for people., $ref: "#/$defs/heading"}\n'
RULE = [
    ('"descriptive": ("", "±"),', '"descriptive": ("", "±"),\n    "outside": ("≠", "±"),'),
    ('"bound": 0, "descriptive": 0}', '"bound": 0, "descriptive": 0, "outside": 2}'),
    ("SIGNS = {\n", 'SIGNS = {\n    "!=": ("outside", "+-", \'"!= 1 +- 0.1"\'),\n'),
    (
        '    if rule == "upper":\n        limit, yes',
        '    if rule == "outside":\n'
        "        yes, no = high < predicted - slack or low > predicted + slack, False\n"
        '        return _outcome(yes, no), "the interval"\n'
        '    if rule == "upper":\n        limit, yes',
    ),
]


@pytest.fixture
def project(tmp_path):
    for part in ("workflow/hierlearn", "config"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def change(file, *pairs):
    text = file.read_text()
    for before, after in pairs:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    file.write_text(text)


def printed(project, program):
    environment = os.environ | {"PYTHONPATH": str(project / "workflow")}
    run = subprocess.run([sys.executable, "-c", program], cwd=project, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_a_rule_is_one_module(project):
    change(project / RULES, *RULE)
    program = """
from hierlearn.pipeline.claims.rules import outcome
from hierlearn.pipeline.plan import tests
claim = tests.read("!= 1 +- 0.1")
print(claim["rule"], outcome(claim["rule"], 2.0, 1.9, 2.1, claim["predicted"], claim["slack"])[0])
print(outcome(claim["rule"], 1.0, 0.9, 1.1, claim["predicted"], claim["slack"])[0])
"""
    assert printed(project, program).split() == ["outside", "passes", "undecided"]


def test_a_key_of_studies_is_its_schema_and_its_field(project):
    change(project / SCHEMA, (TITLE, TITLE + "  audience: {description: Who reads it., type: string, default: all}\n"))
    change(
        project / FIELDS,
        ("    revisions: dict[str, int]\n", "    revisions: dict[str, int]\n    audience: str\n"),
        (
            '        "problem": ProblemSection(',
            '        "audience": said["audience"],\n        "problem": ProblemSection(',
        ),
    )
    program = f"""
from hierlearn.pipeline.plan.checking import load_study
print(load_study("{STUDY}").audience)
"""
    assert printed(project, program) == "all"
    study = project / STUDY
    study.write_text(study.read_text().replace("\ntitle: ", "\naudience: students\ntitle: ", 1))
    assert printed(project, program) == "students"
