"""The JSON Schema that editors check study files with: generated, complete, and of one mind with the checks."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from hierlearn.core import registry
from hierlearn.pipeline.command import study_schema
from hierlearn.pipeline.files.load import load
from hierlearn.pipeline.files.schema_errors import SCHEMAS
from hierlearn.pipeline.plan import presets

STUDIES = sorted((Path(__file__).parents[2] / "config" / "studies").glob("*.yaml"))
WRITTEN = SCHEMAS / "study.schema.json"
VALIDATOR = Draft202012Validator(json.loads(WRITTEN.read_text()))
COMPONENTS = [(kind, name) for kind in registry.KINDS for name in registry.available(kind)]


def bodies(file):
    """The study as it is written, and at every preset."""
    content, faults = load(file, file.name)
    assert not faults
    return [content, *dict(presets.bodies(content, "smoke")).values()]


def broken(**changes):
    """The faults of a study in which one component has other parameters."""
    (body, *_) = bodies(next(file for file in STUDIES if file.stem == "chen2020-sample-complexity"))
    (section, change), *_ = changes.items()
    return [error.message for error in VALIDATOR.iter_errors(body | {section: change(body[section])})]


def test_the_file_is_what_the_components_declare():
    assert WRITTEN.read_text() == study_schema.text(), "run `make schema`"


def test_it_is_a_schema_of_draft_2020_12_that_refers_to_itself_alone():
    Draft202012Validator.check_schema(VALIDATOR.schema)
    references = [part.split('"')[1].removeprefix("#/$defs/") for part in WRITTEN.read_text().split('"$ref": ')[1:]]
    assert set(references) <= set(VALIDATOR.schema["$defs"])


@pytest.mark.parametrize("file", STUDIES, ids=lambda file: file.stem)
def test_every_study_is_valid_at_every_preset(file):
    assert [error.message for body in bodies(file) for error in VALIDATOR.iter_errors(body)] == []


@pytest.mark.parametrize("file", STUDIES, ids=lambda file: file.stem)
def test_every_study_says_which_schema_editors_check_it_with(file):
    first = file.read_text().partition("\n")[0]
    assert (file.parent / first.removeprefix("# yaml-language-server: $schema=")).resolve() == WRITTEN.resolve()


def test_a_size_may_stand_for_a_number_of_a_problem_a_representation_or_a_learner():
    size = {"coefficient": 2, "of": "dimension"}
    assert broken(problem=lambda posed: posed | {"teacher": {"name": "parity", "order": size}}) == []
    assert broken(problem=lambda posed: posed | {"teacher": {"name": "parity", "kind": size}})


@pytest.mark.parametrize(
    "teacher",
    [{"name": "party"}, {"name": "parity", "ordre": 3}, {"name": "parity", "order": 0}, {"order": 3}],
    ids=["name", "parameter", "limit", "nameless"],
)
def test_a_wrong_component_is_a_fault(teacher):
    assert broken(problem=lambda posed: posed | {"teacher": teacher})


def test_what_a_learner_selects_and_sweeps_is_of_that_learner():
    def chosen(**entry):
        return lambda learners: {"one": {"label": "One", "samples": {"at": [4]}} | entry}

    taylor = {"name": "taylor"}
    assert broken(learners=chosen(learner=taylor, select={"ridge": [1e-3]}, sweep={"width": [2, 4]})) == []
    assert broken(learners=chosen(learner=taylor, sweep={"ridge": [1e-3]})) == []
    assert broken(learners=chosen(learner=taylor))
    assert broken(learners=chosen(learner=taylor, select={"ridge": [-1.0]}))
    assert broken(learners=chosen(learner=taylor, select={"ridge": [1.0], "learning_rate": [1.0]}))
    assert broken(learners=chosen(learner=taylor, select={"ridge": [1.0]}, sweep={"width": [3]}))
    assert broken(
        learners=chosen(learner={"name": "network"}, select={"learning_rate": [0.1], "selected_on": ["test"]})
    )
