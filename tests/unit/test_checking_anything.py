"""Whatever stands anywhere in a study is refused in lines, or every job of it can be planned."""

import copy
import json

import pytest
import yaml
from small_study import STUDY, at_quick_alone

from hierlearn.pipeline.files.load import load
from hierlearn.pipeline.plan import checking, jobs


def paths(content, at=()):
    for key, value in content.items() if isinstance(content, dict) else enumerate(content):
        yield (*at, key)
        if isinstance(value, dict | list):
            yield from paths(value, (*at, key))


WRONG = (None, -1, 6.0, "text", [], {"a": 1}, {"name": "x"}, {"coefficient": 1, "of": "features"}, [[1]], True, 10**30)
PLACES = [place for place in paths(yaml.safe_load(STUDY)) if not {"presets", "at"} & {*place}]


@pytest.mark.parametrize("first", range(4))
def test_whatever_is_written_anywhere_is_refused_in_lines_or_can_be_planned(content, check, first):
    """Every place of a study with a few wrong values each; what is accepted expands to parameters of every job."""
    at_quick_alone(content)
    for number, place in enumerate(PLACES):
        if number % 4 != first:
            continue
        for step in range(3):
            value = WRONG[(number * 3 + step) % len(WRONG)]
            changed = copy.deepcopy(content)
            part = changed
            for key in place[:-1]:
                part = part[key]
            part[place[-1]] = value
            study, faults = check(changed)
            assert (study is None) == bool(faults), (place, value)
            assert all("\n" not in str(fault) for fault in faults), (place, value)
            if study is not None:
                planned(study)


def planned(study):
    """The parameters of every job, as strict JSON."""
    found = [jobs.aggregate(study), jobs.figure(study), jobs.judge(study)]
    for task in study.tasks.values():
        found += [jobs.generate(study, task), jobs.evaluate(study, task)]
        found += [jobs.represent(study, task, name) for name in study.representations_in(task)]
        found += [jobs.train(study, task, name) for name in study.learners_in(task)]
    found += [jobs.probe(study, name) for name in study.probes]
    for parameters in found:
        json.dumps(parameters, allow_nan=False)
        jobs.components_of(parameters)


def test_the_studies_of_this_project_are_sound():
    from hierlearn.pipeline.files.schema_errors import SCHEMAS

    for file in (SCHEMAS.parents[3] / "config" / "studies").glob("*.yaml"):
        assert load(file, file.name)[1] == []
        study, faults = checking.study(file, file.name, "quick")
        assert faults == []
        planned(study)
