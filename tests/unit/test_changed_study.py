"""`hierlearn run STUDY --set KEY=VALUE`: it is sound, and what no longer applies is set aside and said."""

import pytest
import yaml

from hierlearn.core.registry import PACKAGE
from hierlearn.pipeline.command import changed_study
from hierlearn.pipeline.command.__main__ import main
from hierlearn.pipeline.plan import checking

STUDIES = PACKAGE.parents[1] / "config" / "studies"


def changed(tmp_path, study, *words, preset="quick"):
    """The changed study as its file says it, and the line of what is set aside."""
    file, aside = changed_study.write(study, words, preset, tmp_path)
    found, faults = checking.study(file, file.name, "quick")
    assert not faults and set(found.claims) == set(yaml.safe_load(file.read_text())["claims"])
    return yaml.safe_load(file.read_text()), aside


@pytest.mark.parametrize(
    ("study", "key", "value"),
    [
        ("chen2020-sample-complexity", "degree", 3),
        ("bai2020-single-polynomial", "degree", 4),
        ("allenzhu2020-dimension", "depth", 4),
        ("allenzhu2020-samples", "depth", 4),
    ],
)
def test_another_value_of_an_axis_sets_the_claims_about_the_old_ones_aside(tmp_path, study, key, value):
    content, aside = changed(tmp_path, study, f"{key}={value}")
    count = len(yaml.safe_load((STUDIES / f"{study}.yaml").read_text())["claims"])
    assert content["axes"][key] == [value]
    assert content["claims"] == {} and content["learners"]
    there = aside.split(" which")[0]
    assert there.startswith("set aside: ") and int(there.split()[4]) <= count
    assert "\n" not in aside


def test_other_dimensions_keep_the_claims_that_name_none(tmp_path):
    content, aside = changed(tmp_path, "chen2020-sample-complexity", "dimension=6,8,10")
    assert content["axes"] == {"dimension": [6, 8, 10], "degree": [4, 2]}
    assert "C1-p4" in content["claims"] and "C3-ntk-raw-p4" not in content["claims"]
    assert "C3-ntk-raw-p4" in aside
    # What is judged here is no row of the paper's.
    assert {claim["rank"] for claim in content["claims"].values()} == {"secondary"}


def test_a_parameter_of_the_target_sets_all_claims_aside(tmp_path):
    content, aside = changed(tmp_path, "bai2020-xor", "order=3")
    assert content["problem"]["teacher"]["order"] == 3
    assert content["claims"] == {} and "claims, which are about other values of order" in aside


def test_more_seeds_leave_every_claim(tmp_path):
    content, aside = changed(tmp_path, "chen2020-features", "seeds=7")
    assert content["seeds"] == 7 and aside == ""
    assert "C6-unlabelled" in content["claims"]


def test_the_sizes_are_those_of_the_preset(tmp_path):
    body = yaml.safe_load((STUDIES / "chen2020-sample-complexity.yaml").read_text())
    content, _ = changed(tmp_path, "chen2020-sample-complexity", "degree=3", preset="standard")
    assert content["axes"]["dimension"] == body["presets"]["standard"]["axes"]["dimension"] != body["axes"]["dimension"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["degre=3"], "found 'degre'; expected"),
        (["degree"], "found 'degree'; expected KEY=VALUE"),
        (["degree=3", "degree=4"], "found degree twice"),
        (["degree=-1"], "degree"),
    ],
)
def test_a_wrong_value_is_one_line(tmp_path, words, line):
    with pytest.raises(ValueError, match=r"^[^\n]*$") as error:
        changed_study.write("chen2020-sample-complexity", words, "quick", tmp_path)
    assert line in str(error.value)


@pytest.mark.parametrize("studies", [[], ["bai2020-xor", "chen2020-features"]])
def test_one_study_is_changed_at_a_time(studies, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as end:
        main(["run", *studies, "--set", "seeds=3"])
    assert "expected one" in str(end.value.code)
